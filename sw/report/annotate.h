// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// A model's file again, with what a run measured as metadata that viewers show beside the network. Nothing else of the file
// changes: interpreters compute the same.
#ifndef KAITEN_REPORT_ANNOTATE_H
#define KAITEN_REPORT_ANNOTATE_H

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "report/run_report.h"

namespace kaiten {

// Of a layer: the tensor it is named after, and names and values to show.
struct Annotation {
  std::string layer;
  std::vector<std::pair<std::string, std::string>> properties;
};

// Engine, cycles and their share, utilisation, what limits the layer, bytes off chip.
std::vector<Annotation> annotations_of(const RunReport& report);

struct AnnotatedModel {
  std::vector<std::uint8_t> file;
  int layers = 0;  // that the file has a place for
};

// ONNX: properties `kaiten.<name>` of the node that writes the layer's tensor, and of those before it that belong to the same
// layer. TensorFlow Lite has no place for them at an operator: an entry `kaiten: <layer>` of the model's metadata. What an
// earlier run wrote goes. Throws InputError for files that are none, or keep tensors outside the flatbuffer.
AnnotatedModel annotate_onnx(std::span<const std::uint8_t> file, const std::vector<Annotation>& annotations);
AnnotatedModel annotate_tflite(std::span<const std::uint8_t> file,
                               const std::vector<Annotation>& annotations);

}  // namespace kaiten

#endif  // KAITEN_REPORT_ANNOTATE_H
