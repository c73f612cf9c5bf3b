// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "observe/watcher.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <sstream>
#include <tuple>
#include <utility>

namespace kaiten {

void TensorComparison::add(const Mismatch& m) {
  const auto place = [](const Mismatch& x) { return std::tuple(x.image, x.row, x.column, x.channel); };
  if (different == 0 || place(m) < place(first)) first = m;
  different++;
  largest = std::max(largest, std::abs(m.found - m.expected));
}

Watcher::Watcher(const Graph& graph, const Program& program, std::span<const Int8Values> expected)
    : Watcher(graph, program, [expected, tensors = graph.tensors.size()](int image, int tensor) {
        return expected[std::size_t(image) * tensors + std::size_t(tensor)].data();
      }) {}

Watcher::Watcher(const Graph& graph, const Program& program, Expected expected)
    : graph_(graph),
      program_(program),
      shapes_(graph.tensors.size()),
      comparisons_(graph.tensors.size()),
      expected_(std::move(expected)) {
  for (int input : graph.inputs) {
    const auto reads = [&](const Op& op) {
      return std::find(op.inputs.begin(), op.inputs.end(), input) != op.inputs.end();
    };
    watch(input, int(std::find_if(graph.ops.begin(), graph.ops.end(), reads) - graph.ops.begin()));
  }
  for (const LayerInfo& layer : program.layers) watch(graph.ops[std::size_t(layer.op)].output, layer.op);
}

void Watcher::watch(int t, int op) {
  const std::size_t tensor = std::size_t(t);
  if (program_.results[tensor] == 0) return;
  const Nhwc shape = graph_.tensors[tensor].nhwc();
  shapes_[tensor] = {std::vector<const std::int8_t*>(std::size_t(program_.images)), shape.w, shape.c};
  comparisons_[tensor].tensor = t;
  comparisons_[tensor].op = op;
  watched_.push_back(tensor);
}

void Watcher::differ(const CommandMeta& m, int row, int column, int channel, const std::int8_t* want,
                     std::span<const std::int8_t> found) {
  TensorComparison& c = comparisons_[std::size_t(m.tensor)];
  for (std::size_t i = 0; i < found.size(); i++) {
    if (want[i] == found[i]) continue;
    c.add({m.tensor, m.op, row, column, channel + int(i), double(want[i]), double(found[i]), m.image});
  }
}

std::vector<TensorComparison> Watcher::comparisons() const {
  std::vector<TensorComparison> all;
  for (std::size_t tensor : watched_) all.push_back(comparisons_[tensor]);
  return all;
}

std::uint64_t Watcher::checked() const {
  std::uint64_t n = 0;
  for (const TensorComparison& c : comparisons_) n += c.seen;
  return n;
}

std::string Watcher::verdict() const {
  const std::vector<TensorComparison> all = comparisons();
  std::uint64_t differences = 0;
  for (const TensorComparison& c : all) differences += c.different;
  for (const TensorComparison& c : all) {
    if (c.different > 0)
      return to_text(c.first, graph_) + " (" + std::to_string(differences) + " elements differ)";
  }
  for (const TensorComparison& c : all) {
    const std::uint64_t elements = std::uint64_t(program_.images) * program_.results[std::size_t(c.tensor)];
    if (c.seen != elements) {
      return "layer '" + graph_.ops[std::size_t(c.op)].name + "': " + std::to_string(c.seen) +
             " results instead of " + std::to_string(elements);
    }
  }
  return {};
}

std::string to_text(const Mismatch& m, const Graph& graph) {
  const auto number = [](double value) {
    std::ostringstream text;
    text << std::setprecision(9) << value;
    return text.str();
  };
  const Op& op = graph.ops[std::size_t(m.op)];
  return "layer '" + op.name + "' (" + std::string(name_of(op.kind)) + "), tensor '" +
         graph.tensors[std::size_t(m.tensor)].name + "'" +
         (m.image > 0 ? ", image " + std::to_string(m.image) : "") + ", row " + std::to_string(m.row) +
         ", column " + std::to_string(m.column) + ", channel " + std::to_string(m.channel) + ": " +
         number(m.found) + " instead of " + number(m.expected);
}

}  // namespace kaiten
