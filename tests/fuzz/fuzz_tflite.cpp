// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// TFLite files: a graph, refusals, or InputError; never anything else. What they say besides the network throws nothing.
#include "import/signatures.h"
#include "metadata/metadata.h"
#include "tests/fuzz/models.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  kaiten::fuzz::use_model([&] { return kaiten::import_tflite({data, size}); });
  kaiten::tflite_metadata({data, size});
  kaiten::tflite_signatures({data, size});
  return 0;
}
