// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Protobuf files of ONNX, for tests: models and tensors.
#ifndef KAITEN_TESTS_SUPPORT_ONNX_MESSAGES_H
#define KAITEN_TESTS_SUPPORT_ONNX_MESSAGES_H

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "import/import.h"
#include "onnx.pb.h"

namespace kaiten::test {

// onnx::ModelProto or onnx::TensorProto.
template <typename Message>
Message parse(const std::filesystem::path& path) {
  const std::vector<std::uint8_t> bytes = read_model_file(path);
  Message message;
  EXPECT_TRUE(message.ParseFromArray(bytes.data(), int(bytes.size()))) << path;
  return message;
}

// Input or output `i` of a node test of ONNX.
inline onnx::TensorProto node_data(const std::filesystem::path& test, const std::string& kind, int i) {
  return parse<onnx::TensorProto>(test / "test_data_set_0" / (kind + "_" + std::to_string(i) + ".pb"));
}

}  // namespace kaiten::test

#endif  // KAITEN_TESTS_SUPPORT_ONNX_MESSAGES_H
