// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The split of ZNNi, section VII: the first theta layers on the processors, the others on the accelerator, in sublayers
// (stages.h), a queue of one block between them. Time is simulated: the accelerator's cycles at a stated clock, the processors' seconds by the
// calibrated model, so that neither the simulator's speed nor other work on this computer counts.
#ifndef KAITEN_VOLUME_DEVICE_SPLIT_H
#define KAITEN_VOLUME_DEVICE_SPLIT_H

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "volume/search.h"
#include "volume_device/device_evaluate.h"
#include "volume_device/device_plan.h"

namespace kaiten::volume {

// When the last block is done: each is produced in its first time, waits for room in the queue, and is consumed in its second
// one. A block leaves the queue when the consumer begins with it; the producer waits with a finished block until then.
struct BlockTimes {
  double producer = 0, consumer = 0;
};
double pipeline_seconds(std::span<const BlockTimes> blocks);
// The same where all blocks are alike.
double pipeline_seconds(const BlockTimes& block, std::int64_t blocks);

struct SplitPlanned {
  Plan plan;
  std::size_t theta = 0;         // layers on the processors
  int groups = 1;                // of what they make: the accelerator's layers take one after the other
  double processor_seconds = 0;  // of a run, by the model
  StagesPlanned device;          // of a run; stages count the layers from theta on
  // Of the computer's memory: what both sides take at the same time, the block in the queue and the volume's blocks.
  std::uint64_t bytes = 0;
  double voxels_a_second = 0;  // of the whole volume
};

struct SplitSearch {
  DeviceSearch device;         // with a clock
  std::uint64_t memory = 0;    // of the computer, bytes
  std::size_t theta_from = 0;  // both ends included
  std::size_t theta_to = 0;
};

// The best plan of every theta that can run, best first. Throws InputError with the first reason where none can.
std::vector<SplitPlanned> split_plans(const Int8Network& network, const Calibration& calibration,
                                      const SplitSearch& search, fft::Workers& workers);

// Network, workers and memory must outlive it.
class SplitEvaluator : public BlockEvaluator<std::int8_t> {
 public:
  // `groups` without a rest of what the first layers make; stages as in SplitPlanned.
  SplitEvaluator(const Int8Network& network, const Plan& plan, std::size_t theta, int groups,
                 std::span<const Stage> stages, fft::Workers& workers, fft::Memory& memory,
                 const DeviceOptions& options);

  const Plan& plan() const override { return plan_; }
  fft::Array<std::int8_t> make_images() const override { return first_.make_images(); }
  fft::Array<std::int8_t> evaluate(fft::Array<std::int8_t> images) const override;
  std::int8_t stored(float voxel) const override { return network_.maps.front().stored(voxel); }

  const DeviceEvaluator& device() const { return rest_; }
  const std::vector<std::uint64_t>& cycles() const { return cycles_; }  // of every run so far

 private:
  fft::Array<std::int8_t> by_groups(const fft::Array<std::int8_t>& images) const;

  const Int8Network& network_;
  Plan plan_;
  int groups_;
  fft::Memory& memory_;
  Int8Network first_network_, rest_network_;
  Int8Evaluator first_;
  DeviceEvaluator rest_;
  mutable std::vector<std::uint64_t> cycles_;
};

}  // namespace kaiten::volume

#endif  // KAITEN_VOLUME_DEVICE_SPLIT_H
