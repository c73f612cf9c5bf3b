// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "base/text.h"
#include "import/common/verified_buffer.h"
#include "metadata/archive.h"
#include "metadata/labels.h"
#include "metadata/metadata.h"
#include "tflite_extras_generated.h"

namespace kaiten {

namespace {

namespace fb = flatbuffers;
namespace extras = tflite_extras;

using importing::items;
using importing::text_of;
using importing::VerifiedBuffer;

// The bytes of the flatbuffer of metadata; empty where there is none.
std::span<const std::uint8_t> metadata_bytes(const extras::Model& model, std::vector<std::string>& notes) {
  for (const extras::Metadata* entry : items(model.metadata())) {
    if (text_of(entry->name()) != "TFLITE_METADATA") continue;
    const auto buffers = items(model.buffers());
    const auto* data = entry->buffer() < buffers.size() ? buffers[entry->buffer()]->data() : nullptr;
    if (data != nullptr) return {data->data(), data->size()};
    notes.emplace_back("TFLITE_METADATA left out: its buffer is empty");
  }
  return {};
}

// One number, or three, all finite.
bool are_sound(const fb::Vector<float>* numbers) {
  if (numbers == nullptr || (numbers->size() != 1 && numbers->size() != 3)) return false;
  for (const float n : *numbers) {
    if (!std::isfinite(n)) return false;
  }
  return true;
}

void read_normalisation(const extras::TensorMetadata& input, ModelMetadata& found) {
  for (const extras::ProcessUnit* unit : items(input.process_units())) {
    const extras::NormalizationOptions* options = unit->options_as_NormalizationOptions();
    if (options == nullptr) continue;
    bool sound = are_sound(options->mean()) && are_sound(options->std());
    if (sound) {
      for (const float s : *options->std()) sound = sound && s != 0;
    }
    if (!sound) {
      found.notes.emplace_back(
          "normalisation left out: limit: one mean and one std or three, finite, std not 0");
      continue;
    }
    found.mean.assign(options->mean()->begin(), options->mean()->end());
    found.scale.clear();
    for (const float s : *options->std()) found.scale.push_back(1 / double(s));
    return;
  }
}

void read_labels(const extras::TensorMetadata& output, std::span<const std::uint8_t> file,
                 ModelMetadata& found) {
  const extras::AssociatedFile* best = nullptr;
  for (const extras::AssociatedFile* f : items(output.associated_files())) {
    const auto type = extras::AssociatedFileType(f->type());
    const bool is_list = type == extras::AssociatedFileType::TENSOR_AXIS_LABELS ||
                         type == extras::AssociatedFileType::TENSOR_VALUE_LABELS;
    // Of several the one in no particular language.
    if (is_list && (best == nullptr || text_of(f->locale()).empty())) best = f;
  }
  if (best == nullptr) return;
  const std::string name = text_of(best->name());
  try {
    found.labels = metadata::lines_of(metadata::entry_of(file, name));
    found.labels_from = printable(name);
  } catch (const InputError& e) {
    found.notes.push_back(fmt::format("labels '{}' left out: {}", printable(name), e.what()));
  }
}

}  // namespace

ModelMetadata tflite_metadata(std::span<const std::uint8_t> file) {
  ModelMetadata found;
  const VerifiedBuffer bytes(file);
  const auto* model = bytes.root<extras::Model>("TFL3");
  if (model == nullptr) return found;
  const std::span<const std::uint8_t> buffer = metadata_bytes(*model, found.notes);
  if (buffer.empty()) return found;
  const VerifiedBuffer inner(buffer);
  const auto* metadata = inner.root<extras::ModelMetadata>("M001");
  if (metadata == nullptr) {
    found.notes.emplace_back("TFLITE_METADATA left out: truncated or corrupt");
    return found;
  }
  const auto subgraphs = items(metadata->subgraph_metadata());
  if (subgraphs.empty()) return found;
  const auto inputs = items(subgraphs.front()->input_tensor_metadata());
  if (!inputs.empty()) read_normalisation(*inputs.front(), found);
  for (const extras::TensorMetadata* output : items(subgraphs.front()->output_tensor_metadata())) {
    if (found.labels.empty()) read_labels(*output, file, found);
  }
  return found;
}

}  // namespace kaiten
