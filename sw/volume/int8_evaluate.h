// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// A plan in int8 on the processors: convolutions directly (Method::Blocked) or by exact Fourier transforms
// (Method::TaskParallel, fft/exact.h), with equal results.
#ifndef KAITEN_VOLUME_INT8_EVALUATE_H
#define KAITEN_VOLUME_INT8_EVALUATE_H

#include <array>
#include <vector>

#include "volume/evaluate.h"
#include "volume/int8_network.h"

namespace kaiten::volume {

// What the search chooses among.
constexpr std::array kInt8Methods = {fft::Method::Blocked, fft::Method::TaskParallel};

// Whether the method's sums are exact for all stored values and kernels: of transforms while the bound on their error says so.
bool int8_exact(const fft::LayerShape& shape, fft::Method method);
// Most bytes in use at a time while a layer works, the layer's input and result included; exact.
std::uint64_t int8_layer_bytes(const Layer& layer, const Choice& choice, const Maps& in,
                               const fft::Workers& workers);

// Network, workers and memory must outlive it.
class Int8Evaluator : public BlockEvaluator<std::int8_t> {
 public:
  // Throws fft::OutOfMemory, naming the bytes, where a layer needs more than the memory has, and std::invalid_argument for
  // methods that are not among kInt8Methods or not exact.
  Int8Evaluator(const Int8Network& network, Plan plan, fft::Workers& workers, fft::Memory& memory);

  const Plan& plan() const override { return plan_; }
  std::uint64_t peak_bytes() const { return peak_; }  // of one run; weights, blocks and halos not counted
  fft::Array<std::int8_t> make_images() const override;
  fft::Array<std::int8_t> evaluate(fft::Array<std::int8_t> images) const override;
  Halos<std::int8_t> make_halos() const override { return {network_.network, plan_, workers_, memory_}; }
  std::int8_t stored(float voxel) const override { return network_.maps.front().stored(voxel); }

 private:
  fft::Array<std::int8_t> run_layer(std::size_t i, fft::Array<std::int8_t> images) const override;
  fft::Array<std::int8_t> convolve(std::size_t i, const fft::Array<std::int8_t>& images) const;
  void directly(std::size_t i, const fft::Array<std::int8_t>& images, fft::Array<std::int8_t>& result) const;
  void by_transforms(std::size_t i, const fft::Array<std::int8_t>& images,
                     fft::Array<std::int8_t>& result) const;

  const Int8Network& network_;
  Plan plan_;
  fft::Workers& workers_;
  fft::Memory& memory_;
  std::vector<Maps> maps_;
  std::vector<std::vector<std::int16_t>> wide_;   // kernels of layers by transforms
  std::vector<std::vector<std::int32_t>> zeros_;  // of direct layers: zero point times the sum of a kernel
  std::uint64_t peak_ = 0;
};

}  // namespace kaiten::volume

#endif  // KAITEN_VOLUME_INT8_EVALUATE_H
