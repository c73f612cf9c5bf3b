// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What a model's file says besides the network: how pixels become its input, and the names of its classes.
///   TensorFlow Lite  the flatbuffer TFLITE_METADATA (metadata_schema.fbs of TensorFlow Lite Support): NormalizationOptions of
///                    the first input, real = (pixel - mean) / std; labels of an output, a file in the zip archive that is
///                    appended to the model.
///   ONNX             metadata_props: Image.BitmapPixelFormat and Image.NominalPixelRange (ONNX's MetadataProps); `mean`
///                    and `std`, numbers with commas between them, of values in that range, without it of pixels, 0..255;
///                    `names`, `labels`, `classes` or `class_names`: a list or a dictionary of the numbers from 0, as JSON or
///                    Python write them, or names with commas or line breaks between them.
/// Nothing of it is needed to run a model: what is damaged, or not understood, is left out, and a note says so.
#ifndef KAITEN_METADATA_METADATA_H
#define KAITEN_METADATA_METADATA_H

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace kaiten {

/// What was found.
struct ModelMetadata {
  /// real = (pixel - mean) * scale, pixels 0..255: one number, or one each for red, green and blue. Both or neither.
  std::vector<double> mean;
  std::vector<double> scale;        ///< see mean
  bool is_bgr = false;              ///< the channels of the input are blue, green, red
  std::vector<std::string> labels;  ///< names of the classes
  std::string labels_from;          ///< the file or the key that has them
  std::vector<std::string> notes;   ///< a line for everything that was left out
};

/// Never throws for what stands in the file: one that is no model has no metadata.
ModelMetadata tflite_metadata(std::span<const std::uint8_t> file);
/// Likewise.
ModelMetadata onnx_metadata(std::span<const std::uint8_t> file);

}  // namespace kaiten

#endif  // KAITEN_METADATA_METADATA_H
