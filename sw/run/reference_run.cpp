// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "run/reference_run.h"

#include <iterator>
#include <limits>
#include <system_error>
#include <utility>

#include "reference/reference.h"

namespace kaiten {

namespace {

// A millisecond of the executor, many times what a thread costs.
constexpr std::uint64_t kLeastMacs = 5'000'000;
constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

}  // namespace

bool ReferenceRun::pays(const Graph& graph, int images) {
  return std::thread::hardware_concurrency() > 1 && macs(graph) * std::uint64_t(images) >= kLeastMacs;
}

ReferenceRun::ReferenceRun(const Graph& graph, int images, std::span<const Int8Values> inputs,
                           RoundingStyle style)
    : graph_(graph),
      style_(style),
      tensors_(tensors_with(graph, images, inputs)),
      ready_after_(graph.tensors.size(), 0) {
  for (std::size_t i = 0; i < graph.ops.size(); i++) ready_after_[std::size_t(graph.ops[i].output)] = i + 1;
  try {
    thread_ = std::thread([this] { compute(); });
  } catch (const std::system_error&) {  // there are none, as in a browser: first the reference, then the rest
    compute();
  }
}

ReferenceRun::~ReferenceRun() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
}

void ReferenceRun::compute() {
  try {
    std::size_t done = 0;
    for (std::vector<Int8Values>& image : tensors_) {
      for (const Op& op : graph_.ops) {
        if (stop_) return;
        run_operator(graph_, op, style_, image);
        say_done(++done);
      }
    }
  } catch (...) {
    error_ = std::current_exception();
    failed_ = true;
    say_done(kAll);
  }
}

void ReferenceRun::say_done(std::size_t operators) {
  done_ = operators;
  done_.notify_all();
}

const std::int8_t* ReferenceRun::values(int image, int tensor) {
  const std::size_t needed = std::size_t(image) * graph_.ops.size() + ready_after_[std::size_t(tensor)];
  for (std::size_t done = done_; done < needed; done = done_) done_.wait(done);
  if (failed_) return nullptr;
  return tensors_[std::size_t(image)][std::size_t(tensor)].data();
}

std::vector<Int8Values> ReferenceRun::take() {
  if (thread_.joinable()) thread_.join();
  if (error_) std::rethrow_exception(error_);
  std::vector<Int8Values> all;
  for (std::vector<Int8Values>& image : tensors_)
    std::move(image.begin(), image.end(), std::back_inserter(all));
  return all;
}

}  // namespace kaiten
