// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "export/tflite_file.h"

#include <algorithm>
#include <map>

#include "tflite_generated.h"

namespace kaiten {
namespace {

namespace fb = flatbuffers;

fb::Offset<void> write_options(fb::FlatBufferBuilder& out, const FileOp& op, tflite::Options& type) {
  const auto padding = tflite::PaddingKind(op.padding);
  const auto activation = tflite::FusedActivation(op.activation);
  switch (tflite::Operator(op.code)) {
    case tflite::Operator::CONV_2D:
      type = tflite::Options::Conv2DOptions;
      return tflite::CreateConv2DOptions(out, padding, op.stride_w, op.stride_h, activation, op.dilation_w,
                                         op.dilation_h)
          .Union();
    case tflite::Operator::DEPTHWISE_CONV_2D:
      type = tflite::Options::DepthwiseConv2DOptions;
      return tflite::CreateDepthwiseConv2DOptions(out, padding, op.stride_w, op.stride_h, op.depth_multiplier,
                                                  activation, op.dilation_w, op.dilation_h)
          .Union();
    case tflite::Operator::FULLY_CONNECTED:
      type = tflite::Options::FullyConnectedOptions;
      return tflite::CreateFullyConnectedOptions(out, activation, int8_t(op.weights_format), op.keep_num_dims)
          .Union();
    case tflite::Operator::ADD:
      type = tflite::Options::AddOptions;
      return tflite::CreateAddOptions(out, activation).Union();
    case tflite::Operator::MUL:
      type = tflite::Options::MulOptions;
      return tflite::CreateMulOptions(out, activation).Union();
    case tflite::Operator::SUB:
      type = tflite::Options::SubOptions;
      return tflite::CreateSubOptions(out, activation).Union();
    case tflite::Operator::GELU:
      type = tflite::Options::GeluOptions;
      return tflite::CreateGeluOptions(out).Union();
    case tflite::Operator::AVERAGE_POOL_2D:
    case tflite::Operator::MAX_POOL_2D:
      type = tflite::Options::Pool2DOptions;
      return tflite::CreatePool2DOptions(out, padding, op.stride_w, op.stride_h, op.filter_w, op.filter_h,
                                         activation)
          .Union();
    case tflite::Operator::CONCATENATION:
      type = tflite::Options::ConcatenationOptions;
      return tflite::CreateConcatenationOptions(out, op.axis, activation).Union();
    case tflite::Operator::DEPTH_TO_SPACE:
      type = tflite::Options::DepthToSpaceOptions;
      return tflite::CreateDepthToSpaceOptions(out, op.block).Union();
    case tflite::Operator::SPACE_TO_DEPTH:
      type = tflite::Options::SpaceToDepthOptions;
      return tflite::CreateSpaceToDepthOptions(out, op.block).Union();
    case tflite::Operator::STRIDED_SLICE:
      type = tflite::Options::StridedSliceOptions;
      return tflite::CreateStridedSliceOptions(out, op.begin_mask, op.end_mask, 0, 0, op.shrink_axis_mask)
          .Union();
    case tflite::Operator::REDUCE_MAX:
    case tflite::Operator::MEAN:
      type = tflite::Options::ReducerOptions;
      return tflite::CreateReducerOptions(out, op.keep_dims).Union();
    case tflite::Operator::BATCH_MATMUL:
      type = tflite::Options::BatchMatMulOptions;
      return tflite::CreateBatchMatMulOptions(out, false, op.transpose_b).Union();
    case tflite::Operator::SOFTMAX:
      type = tflite::Options::SoftmaxOptions;
      return tflite::CreateSoftmaxOptions(out, op.beta).Union();
    default:
      type = tflite::Options::NONE;
      return {};
  }
}

}  // namespace

std::vector<uint8_t> TfLiteFile::file() const {
  fb::FlatBufferBuilder out;
  std::vector<fb::Offset<tflite::Buffer>> buffers = {
      tflite::CreateBuffer(out)};  // buffer 0 is empty by definition
  std::vector<uint32_t> buffer_of;
  for (const FileTensor& tensor : tensors) {
    if (tensor.shares_data_of >= 0) {
      buffer_of.push_back(buffer_of[size_t(tensor.shares_data_of)]);
      continue;
    }
    buffer_of.push_back(tensor.data.empty() ? 0 : uint32_t(buffers.size()));
    if (tensor.data.empty()) continue;
    out.ForceVectorAlignment(tensor.data.size(), sizeof(uint8_t), 16);
    buffers.push_back(tflite::CreateBuffer(out, out.CreateVector(tensor.data)));
  }

  std::map<int, uint32_t> code_index;
  std::vector<fb::Offset<tflite::OperatorCode>> codes;
  for (const FileOp& op : ops) {
    if (!code_index.try_emplace(op.code, uint32_t(codes.size())).second) continue;
    codes.push_back(
        tflite::CreateOperatorCode(out, int8_t(std::min(op.code, 127)), 0, 1, tflite::Operator(op.code)));
  }

  std::vector<fb::Offset<tflite::SubGraph>> graphs;
  for (int g = 0; g < subgraphs; g++) {
    std::vector<fb::Offset<tflite::Tensor>> file_tensors;
    for (size_t i = 0; i < tensors.size(); i++) {
      const FileTensor& t = tensors[i];
      fb::Offset<tflite::Quantization> quantization;
      if (!t.scale.empty()) {
        quantization = tflite::CreateQuantization(out, out.CreateVector(t.scale),
                                                  out.CreateVector(t.zero_point), 0, t.axis);
      }
      fb::Offset<tflite::Sparsity> sparsity;
      if (t.is_sparse) sparsity = tflite::CreateSparsity(out);
      fb::Offset<fb::Vector<int>> signature;
      if (!t.shape_signature.empty()) signature = out.CreateVector(t.shape_signature);
      file_tensors.push_back(tflite::CreateTensor(out, out.CreateVector(t.shape), tflite::TensorType(t.type),
                                                  buffer_of[i], out.CreateString(t.name), quantization,
                                                  t.is_variable, sparsity, signature));
    }
    std::vector<fb::Offset<tflite::OperatorNode>> nodes;
    for (const FileOp& op : ops) {
      tflite::Options type = tflite::Options::NONE;
      fb::Offset<void> options;
      if (op.write_options) options = write_options(out, op, type);
      nodes.push_back(tflite::CreateOperatorNode(out, code_index[op.code], out.CreateVector(op.inputs),
                                                 out.CreateVector(op.outputs), type, options));
    }
    graphs.push_back(tflite::CreateSubGraph(out, out.CreateVector(file_tensors), out.CreateVector(inputs),
                                            out.CreateVector(outputs), out.CreateVector(nodes),
                                            out.CreateString("main")));
  }
  const auto text = out.CreateString(description);
  tflite::FinishModelBuffer(
      out, tflite::CreateModel(out, uint32_t(version), out.CreateVector(codes), out.CreateVector(graphs),
                               text, out.CreateVector(buffers)));
  return {out.GetBufferPointer(), out.GetBufferPointer() + out.GetSize()};
}

}  // namespace kaiten
