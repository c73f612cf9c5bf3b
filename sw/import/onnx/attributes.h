// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Attributes of a node, and what its operator's name tells of it.
#ifndef KAITEN_IMPORT_ONNX_ATTRIBUTES_H
#define KAITEN_IMPORT_ONNX_ATTRIBUTES_H

#include <cstdint>
#include <string>
#include <vector>

#include "onnx.pb.h"

namespace kaiten::importing::from_onnx {

using Node = onnx::NodeProto;

const onnx::AttributeProto* attribute(const Node& node,
                                      const std::string& name);  // nullptr: absent
std::int64_t integer(const Node& node, const std::string& name, std::int64_t otherwise);
float real(const Node& node, const std::string& name, float otherwise);
std::vector<std::int64_t> integers(const Node& node, const std::string& name);  // absent: none
// `otherwise` where it is empty, too.
std::string text(const Node& node, const std::string& name, const std::string& otherwise);

bool has_input(const Node& node, int i);

// Operators that change a shape and no value.
bool is_reshape(const std::string& op_type);

}  // namespace kaiten::importing::from_onnx

#endif  // KAITEN_IMPORT_ONNX_ATTRIBUTES_H
