// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/system/cover.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <utility>
#include <vector>

namespace kaiten::test {

namespace {

const char* const kQueueNames[] = {"LOAD", "CONV", "VECTOR", "STORE"};
const std::vector<std::string> kKernels{"1x1", "3x3", "5x5", "other"};
const std::vector<std::string> kStrides{"1", "2", "more"};
const std::vector<std::string> kPaddings{"none", "even", "uneven"};
const std::vector<std::string> kRests{"full", "rest"};
// kt_counters' first counter of the sixteen that tell which queue waits for which.
constexpr unsigned kFirstWait = 9;

std::string kernel(const Window& w) {
  if (w.kernel_h != w.kernel_w) return "other";
  for (const int size : {1, 3, 5}) {
    if (w.kernel_h == size) return std::to_string(size) + "x" + std::to_string(size);
  }
  return "other";
}

std::string stride(const Window& w) {
  const int most = std::max(w.stride_h, w.stride_w);
  return most > 2 ? "more" : std::to_string(most);
}

std::string padding(const Window& w) {
  const Padding& p = w.pad;
  if (p.top == 0 && p.bottom == 0 && p.left == 0 && p.right == 0) return "none";
  return p.top == p.bottom && p.left == p.right ? "even" : "uneven";
}

std::string rest(int channels, int group) { return channels % group == 0 ? "full" : "rest"; }

std::string window_case(const std::string& what, const std::string& k, const std::string& s,
                        const std::string& p, const std::string& channels) {
  return what + " | kernel " + k + " | stride " + s + " | padding " + p + " | " + channels;
}

std::string conv_channels(const std::string& in, const std::string& out) {
  return "in " + in + ", out " + out;
}

}  // namespace

Cover* Cover::table() {
  const char* folder = std::getenv("KAITEN_COVER");
  if (!folder || !*folder) return nullptr;
  static Cover cover(folder);
  return &cover;
}

Cover::Cover(std::string folder) : folder_(std::move(folder)) {
  for (const auto& k : kKernels) {
    for (const auto& s : kStrides) {
      for (const auto& p : kPaddings) {
        if (k == "1x1" && p != "none") continue;  // a window that touches nothing of the map
        for (const auto& in : kRests) {
          for (const auto& out : kRests) met_[window_case("conv", k, s, p, conv_channels(in, out))] = 0;
          for (const char* what : {"depthwise", "average_pool", "max_pool"})
            met_[window_case(what, k, s, p, in)] = 0;
        }
      }
    }
  }
}

Cover::~Cover() {
  std::ofstream out(folder_ + "/cover_" + std::to_string(getpid()) + ".txt");
  for (const auto& [name, count] : met_) out << count << '\t' << name << '\n';
  for (std::size_t a = 0; a < 4; a++) {
    for (std::size_t b = 0; b < 4; b++) {
      out << after_[a][b] << "\tqueues | " << kQueueNames[b] << " completes after " << kQueueNames[a] << '\n';
      // A queue's own commands run one after the other: none waits for an earlier one of the same queue.
      if (a != b)
        out << waits_[a][b] << "\tqueues | " << kQueueNames[a] << " waits for " << kQueueNames[b] << '\n';
    }
  }
  for (std::size_t set = 1; set < heads_.size(); set++) {
    std::string names;
    for (std::size_t q = 0; q < 4; q++) {
      if (set >> q & 1) names += (names.empty() ? "" : ", ") + std::string(kQueueNames[q]);
    }
    out << heads_[set] << "\tqueues | at their heads wait " << names << '\n';
  }
}

void Cover::network(const Graph& graph, const Config& config) {
  for (const Op& op : graph.ops) {
    const Window& w = op.window;
    const auto channels = [&](int tensor) { return graph.tensors[std::size_t(tensor)].nhwc().c; };
    std::string rests;
    if (op.kind == OpKind::Conv2D) {
      rests = conv_channels(rest(channels(op.inputs[0]), config.cp), rest(channels(op.output), config.kp));
    } else if (op.kind == OpKind::DepthwiseConv2D || op.kind == OpKind::AveragePool ||
               op.kind == OpKind::MaxPool) {
      rests = rest(channels(op.output), config.cp);
    } else {
      continue;
    }
    const auto found =
        met_.find(window_case(std::string(name_of(op.kind)), kernel(w), stride(w), padding(w), rests));
    if (found != met_.end()) found->second++;
  }
}

void Cover::start() {
  completed_ = {};
  last_ = -1;
}

void Cover::events(std::uint64_t flags) {
  for (unsigned a = 0; a < 4; a++) {
    for (unsigned b = 0; b < 4; b++) waits_[a][b] += flags >> (kFirstWait + 4 * a + b) & 1;
  }
}

void Cover::queues(std::uint32_t heads, std::span<const std::uint32_t, 4> completed) {
  heads_[heads & 15]++;
  for (int q = 0; q < 4; q++) {
    if (completed[std::size_t(q)] == completed_[std::size_t(q)]) continue;
    completed_[std::size_t(q)] = completed[std::size_t(q)];
    if (last_ >= 0) after_[std::size_t(last_)][std::size_t(q)]++;
    last_ = q;
  }
}

}  // namespace kaiten::test
