// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Damaged model files: every one ends in an InputError of one line, a list of refusals or a sound graph, in
// bounded time and memory.

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "import/import.h"
#include "reference/reference.h"
#include "report/inspect.h"
#include "tests/support/byte_flips.h"
#include "tests/support/model_builder.h"
#include "tests/support/seed.h"
#include "tests/support/source_file.h"

namespace kaiten {
namespace {

using File = std::vector<uint8_t>;

File demo_file() { return read_model_file(test::source_file("models/demo/demo.tflite")); }

// A small model with every operator the importer knows.
File every_operator() {
  test::ModelBuilder model(3);
  int x = model.input({1, 12, 10, 3}, {0.02F, -128});
  x = model.conv(x, {.channels = 8, .stride_h = 2, .activation = Activation::Relu});
  x = model.depthwise(x, {.dilation_w = 2, .activation = Activation::Relu6});
  x = model.add(x, model.conv(x, {.channels = 8, .kernel_h = 1, .kernel_w = 1}));
  x = model.max_pool(x, {.same = true});
  x = model.average_pool(x, {.kernel_h = 1, .stride_h = 1});
  x = model.mean(x, {0.05F, 3});
  x = model.reshape(x, {1, 8});
  x = model.fully_connected(x, {.channels = 6});
  model.output(model.softmax(x));
  return model.file();
}

// The operators that need no options, on uint8: quantise, pad, slice, split, tables, channel shuffle and
// argmax.
File operators_without_options() {
  test::ModelBuilder model(5);
  const auto tensor = [&](const std::string& name, std::vector<int> shape, test::FileType type,
                          int zero_point) {
    model.tensors.push_back({.name = name,
                             .type = type,
                             .shape = std::move(shape),
                             .scale = {0.02F},
                             .zero_point = {zero_point}});
    return int(model.tensors.size()) - 1;
  };
  const auto numbers = [&](const std::string& name, const std::vector<int32_t>& values) {
    test::FileTensor constant{.name = name, .type = test::FileType::Int32, .shape = {int(values.size())}};
    const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
    constant.data.assign(bytes, bytes + values.size() * 4);
    model.tensors.push_back(std::move(constant));
    return int(model.tensors.size()) - 1;
  };
  const auto op = [&](int code, std::vector<int> inputs, std::vector<int> outputs) {
    model.ops.push_back(
        {.code = code, .inputs = std::move(inputs), .outputs = std::move(outputs), .write_options = false});
  };
  const auto kUInt8 = test::FileType::UInt8;
  const auto kInt8 = test::FileType::Int8;
  const int in = tensor("in", {1, 5, 4, 6}, kUInt8, 128);
  model.inputs = {in};
  const int quantised = tensor("quantised", {1, 5, 4, 6}, kInt8, 3);
  op(114, {in}, {quantised});
  const int padded = tensor("padded", {1, 8, 4, 7}, kInt8, 3);
  op(34, {quantised, numbers("paddings", {0, 0, 1, 2, 0, 0, 0, 1})}, {padded});
  const int sliced = tensor("sliced", {1, 3, 4, 4}, kInt8, 3);
  op(65, {padded, numbers("begin", {0, 2, 0, 3}), numbers("size", {1, 3, 4, 4})}, {sliced});
  const int first = tensor("first", {1, 3, 4, 2}, kInt8, 3);
  const int second = tensor("second", {1, 3, 4, 2}, kInt8, 3);
  op(49, {numbers("axis", {3}), sliced}, {first, second});
  const int swish = tensor("swish", {1, 3, 4, 2}, kInt8, -100);
  op(117, {first}, {swish});
  const int sigmoid = tensor("sigmoid", {1, 3, 4, 2}, kInt8, -128);
  op(14, {second}, {sigmoid});
  const int shuffled = model.channel_shuffle(swish, 2);
  model.outputs = {shuffled, sigmoid, model.arg_max(shuffled, 3)};
  return model.file();
}

// Peak memory of this program. Sanitizers keep freed memory for a while: there it says nothing.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kPeakIsMeaningful = false;
#elif defined(__has_feature)
constexpr bool kPeakIsMeaningful = !__has_feature(address_sanitizer);
#else
constexpr bool kPeakIsMeaningful = true;
#endif

long peak_kib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

enum class Outcome { Error, Refused, Graph };

// Imports, and fails the test unless the outcome is one of the three that are allowed.
Outcome import_any(const File& file) {
  try {
    const ImportResult result = import_tflite(file);
    EXPECT_EQ(result.graph.has_value(), result.refusals.empty());
    EXPECT_FALSE(inspect_text(result).empty());
    for (const Refusal& refusal : result.refusals) {
      EXPECT_EQ(refusal.text().find('\n'), std::string::npos);
    }
    if (!result.graph) return Outcome::Refused;
    return Outcome::Graph;
  } catch (const InputError& error) {
    const std::string message = error.what();
    EXPECT_FALSE(message.empty());
    EXPECT_EQ(printable(message), message);
    return Outcome::Error;
  }
}

void run(const File& file, std::mt19937_64& random) {
  const Graph graph = require_graph(import_tflite(file));
  std::vector<Int8Values> inputs;
  for (const int index : graph.inputs) {
    inputs.push_back(test::random_values(graph.tensors[size_t(index)].elements(), random));
  }
  const auto tensors = run_reference(graph, inputs);
  for (const int index : graph.outputs) {
    EXPECT_EQ(tensors[size_t(index)].size(), graph.tensors[size_t(index)].bytes());
  }
}

TEST(BadInput, EveryPrefixIsRefused) {
  const File demo = demo_file();
  for (size_t percent = 0; percent < 100; percent++) {
    const File prefix(demo.begin(), demo.begin() + ptrdiff_t(demo.size() * percent / 100));
    EXPECT_EQ(import_any(prefix), Outcome::Error) << percent << " %";
  }
  EXPECT_EQ(import_any(demo), Outcome::Graph);
  // Every single length of a small file.
  const File small = every_operator();
  for (size_t size = 0; size < small.size(); size++) {
    const File prefix(small.begin(), small.begin() + ptrdiff_t(size));
    EXPECT_EQ(import_any(prefix), Outcome::Error) << size << " of " << small.size() << " bytes";
  }
  EXPECT_EQ(import_any(small), Outcome::Graph);
}

// One byte changed at random, a thousand times; most flips hit weights and leave a sound model.
void import_flipped(const File& file, size_t flips_per_file, size_t run_every, uint64_t salt) {
  std::mt19937_64 random(test::seed() + salt);
  const long before = peak_kib();
  size_t graphs = 0;
  size_t errors = 0;
  for (int i = 0; i < 1000; i++) {
    const File damaged = test::flip_bytes(file, flips_per_file, random);
    const Outcome outcome = import_any(damaged);
    if (outcome == Outcome::Error) errors++;
    if (outcome == Outcome::Graph && graphs++ % run_every == 0) run(damaged, random);
  }
  EXPECT_GT(errors, 0U);
  if (kPeakIsMeaningful) {
    EXPECT_LT(peak_kib() - before, 256 * 1024) << "KiB";
  }
  std::printf("1000 files with %zu bytes changed: %zu sound, %zu damaged, %zu refused\n", flips_per_file,
              graphs, errors, 1000 - graphs - errors);
}

TEST(BadInput, ByteFlipsOfTheDemo) { import_flipped(demo_file(), 1, 20, 0); }
TEST(BadInput, ManyByteFlipsOfTheDemo) { import_flipped(demo_file(), 50, 1, 1); }
TEST(BadInput, ByteFlipsOfEveryOperator) { import_flipped(every_operator(), 1, 1, 2); }
TEST(BadInput, ManyByteFlipsOfEveryOperator) { import_flipped(every_operator(), 4, 1, 3); }

// Structure is dense at both ends of the small file: every byte in turn set to its extremes.
TEST(BadInput, EveryByteSetToItsExtremes) {
  const File file = every_operator();
  std::mt19937_64 random(test::seed());
  for (size_t i = 0; i < file.size(); i++) {
    for (const uint8_t value : {0x00, 0x7f, 0x80, 0xff}) {
      File damaged = file;
      damaged[i] = value;
      if (import_any(damaged) == Outcome::Graph && i % 7 == 0) run(damaged, random);
    }
  }
}

TEST(BadInput, ByteFlipsOfOperatorsWithoutOptions) { import_flipped(operators_without_options(), 1, 1, 4); }
TEST(BadInput, ManyByteFlipsOfOperatorsWithoutOptions) {
  import_flipped(operators_without_options(), 4, 1, 5);
}

TEST(BadInput, OperatorsWithoutOptionsAreSound) {
  const ImportResult result = import_tflite(operators_without_options());
  ASSERT_TRUE(result.graph) << result.refusals.front().text();
  EXPECT_EQ(result.graph->ops.size(), 9U);  // the split is two
}

TEST(BadInput, NotAModel) {
  EXPECT_EQ(import_any({}), Outcome::Error);
  EXPECT_EQ(import_any(File(4096, 0)), Outcome::Error);
  File only_header(64, 0);
  std::copy_n("TFL3", 4, only_header.begin() + 4);
  EXPECT_EQ(import_any(only_header), Outcome::Error);
  EXPECT_THROW(read_model_file(test::source_file("does-not-exist.tflite")), InputError);
  EXPECT_THROW(read_model_file(test::source_file("")), InputError);
}

TEST(BadInput, MisalignedMemoryMakesNoDifference) {
  const File file = every_operator();
  for (size_t shift = 1; shift < 8; shift++) {
    File moved(file.size() + shift);
    std::copy(file.begin(), file.end(), moved.begin() + ptrdiff_t(shift));
    const ImportResult result = import_tflite(std::span(moved).subspan(shift));
    ASSERT_TRUE(result.graph);
    EXPECT_EQ(result.graph->ops.size(), 10U);
  }
}

}  // namespace
}  // namespace kaiten
