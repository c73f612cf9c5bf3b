// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// A plan, prepared once and run on any number of blocks.
#ifndef KAITEN_VOLUME_EVALUATE_H
#define KAITEN_VOLUME_EVALUATE_H

#include <memory>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "fft/memory.h"
#include "fft/workers.h"
#include "volume/halos.h"
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

// What computes the blocks of a volume by a plan. One thread at a time.
template <typename T>
class BlockEvaluator {
 public:
  BlockEvaluator() = default;
  virtual ~BlockEvaluator() = default;
  BlockEvaluator(const BlockEvaluator&) = delete;
  BlockEvaluator& operator=(const BlockEvaluator&) = delete;

  virtual const Plan& plan() const = 0;
  virtual fft::Array<T> make_images() const = 0;  // of a batch, uninitialised
  // [batch][map][voxel] to [batch * fragments][map][voxel].
  virtual fft::Array<T> evaluate(fft::Array<T> images) const = 0;
  // For plans that keep halos: those of a batch of runs, and the batch on the block after the one that left them. Of
  // fewer layers than all nothing comes out. Throws std::logic_error where layers are not run one by one.
  virtual Halos<T> make_halos() const { throw std::logic_error("halos are not kept here"); }
  fft::Array<T> evaluate_next(fft::Array<T> images, Halos<T>& halos, std::size_t layers) const;
  virtual T stored(float voxel) const = 0;  // as the network reads it

 private:
  virtual fft::Array<T> run_layer(std::size_t /*i*/, fft::Array<T> /*images*/) const {
    throw std::logic_error("layers are not run one by one here");
  }
};

// In float32. Network, workers and memory must outlive it.
class Evaluator : public BlockEvaluator<float> {
 public:
  // Throws fft::OutOfMemory, naming the bytes, where a layer needs more than the memory has.
  Evaluator(const Network& network, Plan plan, std::span<const LayerWeights> weights, fft::Workers& workers,
            fft::Memory& memory, fft::Effort effort = fft::Effort::Measure);

  const Plan& plan() const override { return plan_; }
  std::uint64_t peak_bytes() const { return peak_; }  // of one run; weights, blocks and halos not counted
  // Adds to the seconds of every layer where these are given.
  fft::Array<float> run(fft::Array<float> images, std::vector<Seconds>* seconds = nullptr) const;
  fft::Array<float> evaluate(fft::Array<float> images) const override { return run(std::move(images)); }
  Halos<float> make_halos() const override { return {network_, plan_, workers_, memory_}; }
  fft::Array<float> make_images() const override;
  float stored(float voxel) const override { return voxel; }

 private:
  fft::Array<float> run_layer(std::size_t i, fft::Array<float> images) const override;

  const Network& network_;
  Plan plan_;
  std::span<const LayerWeights> weights_;
  fft::Workers& workers_;
  fft::Memory& memory_;
  std::vector<Maps> maps_;
  std::vector<std::unique_ptr<fft::Convolution<float>>> convolutions_;  // empty for pooling
  std::uint64_t peak_ = 0;
};

// Puts one input's fragments of run `run` where they belong in the block's result [map][voxel]. T: float or int8.
template <typename T>
void scatter(const Network& network, const Plan& plan, int run, const T* fragments, std::span<T> block);

}  // namespace kaiten::volume

#endif  // KAITEN_VOLUME_EVALUATE_H
