// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// A plan, prepared once and run on any number of blocks.
#ifndef KAITEN_VOLUME_EVALUATE_H
#define KAITEN_VOLUME_EVALUATE_H

#include <memory>
#include <span>
#include <vector>

#include "fft/memory.h"
#include "fft/workers.h"
#include "volume/plan.h"
#include "volume/weights.h"

namespace kaiten::volume {

// Most bytes in use at a time while a layer works, the layer's input and result included; exact.
std::uint64_t layer_bytes(const Layer& layer, const Choice& choice, const Maps& in, fft::Workers& workers);

// Seconds of the clock and of all processors.
struct Seconds {
  double wall = 0;
  double processor = 0;
};
Seconds now();
Seconds operator-(const Seconds& a, const Seconds& b);

// Network, workers and memory must outlive it. One thread at a time.
class Evaluator {
 public:
  // Throws fft::OutOfMemory, naming the bytes, where a layer needs more than the memory has.
  Evaluator(const Network& network, Plan plan, std::span<const LayerWeights> weights, fft::Workers& workers,
            fft::Memory& memory, fft::Effort effort = fft::Effort::Measure);

  const Plan& plan() const { return plan_; }
  std::uint64_t peak_bytes() const { return peak_; }  // of one run; weights and blocks not counted
  // [batch][map][voxel] to [batch * fragments][map][voxel]; adds to the seconds of every layer where these are given.
  fft::Array<float> run(fft::Array<float> images, std::vector<Seconds>* seconds = nullptr) const;
  fft::Array<float> make_images() const;

 private:
  fft::Array<float> run_layer(std::size_t i, fft::Array<float> images) const;

  const Network& network_;
  Plan plan_;
  std::span<const LayerWeights> weights_;
  fft::Workers& workers_;
  fft::Memory& memory_;
  std::vector<Maps> maps_;
  std::vector<std::unique_ptr<fft::Convolution<float>>> convolutions_;  // empty for pooling
  std::uint64_t peak_ = 0;
};

// Puts one input's fragments of run `run` where they belong in the block's result [map][voxel].
void scatter(const Network& network, const Plan& plan, int run, const float* fragments,
             std::span<float> block);

}  // namespace kaiten::volume

#endif  // KAITEN_VOLUME_EVALUATE_H
