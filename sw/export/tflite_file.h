// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// A TensorFlow Lite model file, field by field, and its bytes: for programs and tests that make models.
// Nothing is checked: tests of refusals write nonsense.
#ifndef KAITEN_EXPORT_TFLITE_FILE_H
#define KAITEN_EXPORT_TFLITE_FILE_H

#include <cstdint>
#include <string>
#include <vector>

namespace kaiten {

// TensorType values of the file format.
enum class FileType : int8_t { Float32 = 0, Int32 = 2, UInt8 = 3, Int64 = 4, Int16 = 7, Int8 = 9 };

// A tensor as it will stand in the file.
struct FileTensor {
  std::string name;
  FileType type = FileType::Int8;
  std::vector<int> shape;
  std::vector<int> shape_signature;  // written if not empty
  std::vector<float> scale;          // no quantisation is written if empty
  std::vector<int64_t> zero_point;
  int axis = 0;
  std::vector<uint8_t> data;
  int shares_data_of = -1;  // an earlier tensor whose bytes are used instead
  bool is_variable = false;
  bool is_sparse = false;
};

// An operator as it will stand in the file. Only the options of its code are written.
struct FileOp {
  int code = 0;  // BuiltinOperator
  std::vector<int> inputs;
  std::vector<int> outputs;
  bool write_options = true;
  int padding = 0;  // 0 same, 1 valid
  int stride_h = 1;
  int stride_w = 1;
  int dilation_h = 1;
  int dilation_w = 1;
  int filter_h = 1;  // pooling
  int filter_w = 1;
  int depth_multiplier = 1;
  int activation = 0;  // ActivationFunctionType: 0 none, 1 relu, 2 relu_n1_to_1, 3 relu6
  int weights_format = 0;
  bool keep_num_dims = false;  // FULLY_CONNECTED
  bool transpose_b = false;    // BATCH_MATMUL
  int axis = 0;                // concatenation
  bool keep_dims = true;
  float beta = 1.0F;
  int block = 2;             // DEPTH_TO_SPACE, SPACE_TO_DEPTH
  int begin_mask = 0;        // STRIDED_SLICE
  int end_mask = 0;          // STRIDED_SLICE
  int shrink_axis_mask = 0;  // STRIDED_SLICE
};

struct TfLiteFile {
  std::vector<FileTensor> tensors;
  std::vector<FileOp> ops;
  std::vector<int> inputs;
  std::vector<int> outputs;
  int subgraphs = 1;  // further ones are copies
  int version = 3;
  std::string description;

  std::vector<uint8_t> file() const;
};

}  // namespace kaiten

#endif  // KAITEN_EXPORT_TFLITE_FILE_H
