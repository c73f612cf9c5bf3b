// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Attributes and inputs of a node.
#ifndef KAITEN_IMPORT_ONNX_ATTRIBUTES_H
#define KAITEN_IMPORT_ONNX_ATTRIBUTES_H

#include <cstdint>
#include <string>
#include <vector>

#include "onnx.pb.h"

namespace kaiten::onnx_import {

const onnx::AttributeProto* attribute(const onnx::NodeProto& node,
                                      const std::string& name);  // nullptr: absent
int64_t integer(const onnx::NodeProto& node, const std::string& name, int64_t otherwise);
float real(const onnx::NodeProto& node, const std::string& name, float otherwise);
std::vector<int64_t> integers(const onnx::NodeProto& node, const std::string& name);  // absent: none

bool has_input(const onnx::NodeProto& node, int i);

// Operators that change a shape and no value.
bool is_reshape(const std::string& op_type);

}  // namespace kaiten::onnx_import

#endif  // KAITEN_IMPORT_ONNX_ATTRIBUTES_H
