#include "device/watcher.h"

#include <algorithm>

namespace kaiten {

Watcher::Watcher(const Graph& graph, const Program& program, std::span<const Int8Values> expected)
    : graph_(graph), program_(program), shapes_(graph.tensors.size()), seen_(graph.tensors.size()) {
  for (const LayerInfo& layer : program.layers) {
    if (layer.on_host) continue;
    const std::size_t tensor = std::size_t(graph.ops[std::size_t(layer.op)].output);
    const Nhwc shape = graph.tensors[tensor].nhwc();
    shapes_[tensor] = {expected[tensor].data(), shape.w, shape.c};
  }
}

void Watcher::differ(const CommandMeta& m, int row, int column, int channel, const std::int8_t* want,
                     std::span<const std::int8_t> found) {
  for (std::size_t i = 0; i < found.size(); i++) {
    if (want[i] == found[i]) continue;
    differences_++;
    if (!first_ || m.op < first_->op) {
      first_ = Mismatch{m.tensor, m.op, row, column, channel + int(i), want[i], found[i]};
    }
  }
}

std::uint64_t Watcher::checked() const {
  std::uint64_t n = 0;
  for (std::uint64_t s : seen_) n += s;
  return n;
}

std::string Watcher::verdict() const {
  if (first_) return to_text(*first_, graph_) + " (" + std::to_string(differences_) + " elements differ)";
  for (const LayerInfo& layer : program_.layers) {
    if (layer.on_host) continue;
    const Op& op = graph_.ops[std::size_t(layer.op)];
    const std::size_t tensor = std::size_t(op.output);
    const std::uint64_t all = graph_.tensors[tensor].nhwc().elements();
    if (seen_[tensor] != all) {
      return "layer '" + op.name + "': " + std::to_string(seen_[tensor]) + " results instead of " +
             std::to_string(all);
    }
  }
  return {};
}

std::string to_text(const Mismatch& m, const Graph& graph) {
  const Op& op = graph.ops[std::size_t(m.op)];
  return "layer '" + op.name + "' (" + std::string(name_of(op.kind)) + "), tensor '" +
         graph.tensors[std::size_t(m.tensor)].name + "', row " + std::to_string(m.row) + ", column " +
         std::to_string(m.column) + ", channel " + std::to_string(m.channel) + ": " +
         std::to_string(m.found) + " instead of " + std::to_string(m.expected);
}

}  // namespace kaiten
