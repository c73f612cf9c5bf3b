// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// ONNX files: a graph, refusals, or InputError; never anything else. What they say besides the network throws nothing.
#include "metadata/metadata.h"
#include "tests/fuzz/models.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  kaiten::fuzz::use_model([&] { return kaiten::import_onnx({data, size}); });
  kaiten::onnx_metadata({data, size});
  return 0;
}
