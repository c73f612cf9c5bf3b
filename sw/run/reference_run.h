// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What the reference makes of a run's inputs, computed by a thread of its own while the accelerator is simulated: whoever
// compares a tensor waits until it is there.
#ifndef KAITEN_RUN_REFERENCE_RUN_H
#define KAITEN_RUN_REFERENCE_RUN_H

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <thread>
#include <vector>

#include "device/driver.h"
#include "graph/graph.h"
#include "graph/rounding_style.h"
#include "graph/values.h"

namespace kaiten {

class ReferenceRun {
 public:
  // Whether the thread costs less than it gains: there is another core, and enough work for it.
  static bool pays(const Graph& graph, int images);

  // Begins. `inputs` of all images, one after the other; throws InputError where they are not the graph's. The graph must
  // outlive it.
  ReferenceRun(const Graph& graph, int images, std::span<const Int8Values> inputs, RoundingStyle style);
  ~ReferenceRun();  // ends it after the operator under way
  ReferenceRun(const ReferenceRun&) = delete;
  ReferenceRun& operator=(const ReferenceRun&) = delete;

  // Of a tensor that an operator makes, or of an input: waits. Null where the reference has failed.
  const std::int8_t* values(int image, int tensor);
  // All, indexed like graph.tensors, one image after the other; once. Waits, and throws what the reference threw.
  std::vector<Int8Values> take();

 private:
  void compute();
  void say_done(std::size_t operators);

  const Graph& graph_;
  const RoundingStyle style_;
  Tensors tensors_;
  std::vector<std::size_t> ready_after_;  // by tensor: operators of its image
  std::atomic<std::size_t> done_ = 0;     // operators, of all images
  std::atomic<bool> stop_ = false;
  std::atomic<bool> failed_ = false;
  std::exception_ptr error_;  // before done_ says so
  std::thread thread_;
};

}  // namespace kaiten

#endif  // KAITEN_RUN_REFERENCE_RUN_H
