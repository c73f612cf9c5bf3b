// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "import/signatures.h"

#include "import/common/verified_buffer.h"
#include "tflite_extras_generated.h"

namespace kaiten {

using importing::items;
using importing::text_of;

namespace {

std::map<std::string, int> tensors_of(
    const flatbuffers::Vector<flatbuffers::Offset<tflite_extras::TensorMap>>* map) {
  std::map<std::string, int> tensors;
  for (const tflite_extras::TensorMap* t : items(map)) tensors[text_of(t->name())] = int(t->tensor_index());
  return tensors;
}

}  // namespace

std::map<std::string, Signature> tflite_signatures(std::span<const std::uint8_t> file) {
  const importing::VerifiedBuffer bytes(file);
  const auto* model = bytes.root<tflite_extras::Model>("TFL3");
  if (model == nullptr) return {};
  std::map<std::string, Signature> signatures;
  for (const tflite_extras::SignatureDef* s : items(model->signature_defs())) {
    if (s->subgraph_index() == 0)
      signatures[text_of(s->signature_key())] = {tensors_of(s->inputs()), tensors_of(s->outputs())};
  }
  return signatures;
}

}  // namespace kaiten
