// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// ONNX's own node tests: each is a model of one operator with inputs and expected outputs. The first input
// stays an input, the others (weights, scales, zero points, axes) become constants, as quantised models have
// them. A test either runs, and must agree, or stands in onnx_inapplicable.tsv with the reason, which must be
// the one the importer gives.

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "import/import.h"
#include "reference/reference.h"
#include "tests/support/onnx_messages.h"
#include "tests/support/shared.h"
#include "tests/support/source_file.h"

namespace kaiten {
namespace {

namespace fs = std::filesystem;

std::vector<uint8_t> bytes_of_tensor(const onnx::TensorProto& tensor) {
  if (tensor.has_raw_data()) return {tensor.raw_data().begin(), tensor.raw_data().end()};
  std::vector<uint8_t> bytes;
  for (const float value : tensor.float_data()) {
    const auto* p = reinterpret_cast<const uint8_t*>(&value);
    bytes.insert(bytes.end(), p, p + sizeof(value));
  }
  for (const int32_t value : tensor.int32_data()) bytes.push_back(uint8_t(value));
  return bytes;
}

// Runs the test; the reason if it cannot run.
std::string run(const fs::path& folder) {
  auto model = test::parse<onnx::ModelProto>(folder / "model.onnx");
  onnx::GraphProto& graph_file = *model.mutable_graph();
  for (int i = 1; i < graph_file.input_size(); i++) {
    onnx::TensorProto tensor = test::node_data(folder, "input", i);
    tensor.set_name(graph_file.input(i).name());
    *graph_file.add_initializer() = std::move(tensor);
  }
  const std::string bytes = model.SerializeAsString();
  ImportResult result;
  try {
    result = import_onnx({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()},
                         folder.filename().string(), {.float_models = true});
  } catch (const InputError& error) {
    return error.what();
  }
  if (!result.graph) {
    const Refusal& refusal = result.refusals.front();
    if (refusal.limit.starts_with("the operators ")) return "no operator of the importer: " + refusal.value;
    return "limit: " + refusal.limit + ", found: " + refusal.value;
  }
  const Graph& graph = *result.graph;
  const Tensor& in = graph.tensors[size_t(graph.inputs.at(0))];
  const Int8Values input = from_model(in, bytes_of_tensor(test::node_data(folder, "input", 0)));
  const auto tensors = run_reference(graph, std::vector<Int8Values>{input});
  for (size_t o = 0; o < graph.outputs.size(); o++) {
    const Tensor& out = graph.tensors[size_t(graph.outputs[o])];
    const std::vector<uint8_t> made = to_model(out, tensors[size_t(graph.outputs[o])]);
    std::vector<uint8_t> expected = bytes_of_tensor(test::node_data(folder, "output", int(o)));
    // Its -235.7 has become 20 in the file; onnxruntime saturates, as the operator's definition says.
    if (folder.filename() == "test_qlinearmatmul_2D_int8_float32" && expected.back() == 20)
      expected.back() = uint8_t(-128);
    if (out.type != ElementType::Float32) {
      EXPECT_EQ(made, expected) << folder;
      continue;
    }
    const std::vector<float> a = floats_of(std::vector<int8_t>(made.begin(), made.end()));
    const std::vector<float> b = floats_of(std::vector<int8_t>(expected.begin(), expected.end()));
    EXPECT_EQ(a.size(), b.size()) << folder;
    for (size_t i = 0; i < a.size() && i < b.size(); i++) {
      // The tolerance of ONNX's own runner: some expected values have four digits.
      EXPECT_LE(std::abs(a[i] - b[i]), 1.0e-6F + 1.0e-3F * std::abs(b[i])) << folder << " element " << i;
    }
  }
  return "";
}

// test, tab, reason.
std::map<std::string, std::string> inapplicable() {
  std::map<std::string, std::string> reasons;
  std::ifstream file(test::source_file("tests/sw/reference/onnx_inapplicable.tsv"));
  EXPECT_TRUE(file);
  for (std::string line; std::getline(file, line);) {
    const size_t tab = line.find('\t');
    if (tab != std::string::npos) reasons[line.substr(0, tab)] = line.substr(tab + 1);
  }
  return reasons;
}

constexpr size_t kRun = 148;

TEST(OnnxNodeTests, RunAndAgreeOrAreListedWithTheReason) {
  const auto shared = test::shared_dir();
  if (!shared) GTEST_SKIP() << "KAITEN_SHARED is absent: ONNX node tests are not run";
  const std::map<std::string, std::string> listed = inapplicable();
  std::set<std::string> refused;
  size_t ran = 0;
  for (const auto& entry : fs::directory_iterator(*shared / "models/conformance/onnx-node")) {
    const std::string name = entry.path().filename().string();
    const std::string reason = run(entry.path());
    if (reason.empty()) {
      ran++;
      EXPECT_FALSE(listed.contains(name)) << name << " runs but is listed as inapplicable";
      continue;
    }
    refused.insert(name);
    const auto found = listed.find(name);
    if (found == listed.end()) {
      ADD_FAILURE() << "not listed: " << name << "\t" << reason;
    } else {
      EXPECT_EQ(found->second, reason) << name;
    }
  }
  EXPECT_EQ(refused.size(), listed.size());
  EXPECT_EQ(ran + refused.size(), 190U);
  EXPECT_EQ(ran, kRun);
  std::printf("%zu node tests run, %zu inapplicable\n", ran, refused.size());
}

// Debian's package of the node tests, of whatever version: what the importer takes must agree. Operators of
// float models and types that nobody quantises are refused; how many run depends on the version.
TEST(OnnxNodeTests, DebiansAgreeWhereTheyRun) {
  const fs::path folder = "/usr/share/libonnx-testdata/data/node";
  std::error_code absent;
  if (!fs::is_directory(folder, absent))
    GTEST_SKIP() << "libonnx-testdata is absent: Debian's ONNX node tests are not run";
  size_t ran = 0;
  size_t refused = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (!fs::exists(entry.path() / "test_data_set_0/input_0.pb")) continue;
    (run(entry.path()).empty() ? ran : refused)++;
  }
  EXPECT_GT(ran, 0U);
  std::printf("%zu node tests run, %zu inapplicable\n", ran, refused);
}

}  // namespace
}  // namespace kaiten
