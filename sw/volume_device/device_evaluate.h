// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// A plan in int8 on the simulated accelerator, stage by stage (stages.h): a stage is a program, or one for each part of its
// maps, that runs once for each brick and sub-batch. Between runs the host puts the maps where the next one reads them; the
// time of that is not counted, nor is that of the host's memory.
#ifndef KAITEN_VOLUME_DEVICE_DEVICE_EVALUATE_H
#define KAITEN_VOLUME_DEVICE_DEVICE_EVALUATE_H

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "run/session.h"
#include "volume/int8_evaluate.h"
#include "volume/slices.h"
#include "volume_device/stages.h"

namespace kaiten::volume {

struct DeviceOptions {
  std::string config = "base";
  bool check = true;                // every tensor and every result, against the references
  std::function<void()> tick = {};  // called now and then; may throw
  std::uint64_t memory = 0;         // of the accelerator, bytes; 0: enough
};

// Of all runs so far.
struct DeviceWork {
  std::uint64_t cycles = 0;
  std::uint64_t predicted_cycles = 0;  // by the compiler's model
  std::uint64_t macs = 0;              // multiply-accumulates of the 3-D network
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_written = 0;
  std::uint64_t checked = 0;  // elements compared, of all tensors

  // Of the array's multipliers in all cycles: what the 3-D network asks for, zeros among grouped kernels left out.
  double utilization(const Config& config) const;
};

// Multiply-accumulates of a run, of layers [begin, end).
std::uint64_t volume_macs(const Network& network, const Plan& plan, std::size_t begin, std::size_t end);

// Network and memory must outlive it.
class DeviceEvaluator : public BlockEvaluator<std::int8_t> {
 public:
  // Compiles. Stages cover the network; without any, whole maps. Throws InputError, naming the layers, for what the configuration cannot run or its
  // memory cannot hold.
  DeviceEvaluator(const Int8Network& network, Plan plan, std::span<const Stage> stages, fft::Memory& memory,
                  const DeviceOptions& options);
  ~DeviceEvaluator() override;

  const Plan& plan() const override { return plan_; }
  fft::Array<std::int8_t> make_images() const override;
  // Throws DeviceError where anything differs from the references, or the bytes moved are not those predicted.
  fft::Array<std::int8_t> evaluate(fft::Array<std::int8_t> images) const override;
  std::int8_t stored(float voxel) const override { return network_.maps.front().stored(voxel); }

  const DeviceWork& work() const { return work_; }
  std::size_t programs() const { return parts_.size(); }
  std::uint64_t memory_bytes() const;  // of the accelerator, most of all programs

 private:
  struct Part;
  void compile(const Stage& stage, int first, int count);
  void check_maps(std::span<const std::int8_t> images, const fft::Array<std::int8_t>& results) const;
  // All runs of a program: its maps of the results.
  void run(Part& part, const fft::Array<std::int8_t>& images, fft::Array<std::int8_t>& results) const;
  // One of them: images from `image` on, the brick that begins there.
  void run(Part& part, const fft::Array<std::int8_t>& images, int image, const fft::Size& brick,
           fft::Array<std::int8_t>& results) const;

  const Int8Network& network_;
  Plan plan_;
  fft::Memory& memory_;
  DeviceOptions options_;
  std::vector<Maps> maps_;
  std::vector<std::unique_ptr<Part>> parts_;
  mutable DeviceWork work_;
};

}  // namespace kaiten::volume

#endif  // KAITEN_VOLUME_DEVICE_DEVICE_EVALUATE_H
