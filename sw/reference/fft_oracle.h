// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The second oracle for convolutions: their sums by pruned FFT in float64 instead of multiply-accumulates,
// rounded to the exact integers (fft/exact.h). Requantisation is the first oracle's.
#ifndef KAITEN_REFERENCE_FFT_ORACLE_H
#define KAITEN_REFERENCE_FFT_ORACLE_H

#include <string>
#include <vector>

#include "fft/memory.h"
#include "fft/workers.h"
#include "graph/graph.h"
#include "graph/quantize.h"
#include "reference/kernels.h"

namespace kaiten {

class FftOracle {
 public:
  // 0 threads: as many as the computer has. With a limit in bytes layers that need more are left to the direct
  // oracle.
  explicit FftOracle(int threads = 0, std::uint64_t limit = fft::Memory::physical_bytes());

  // Computes a Conv2D or DepthwiseConv2D and returns true; or returns false and keeps the reason as a notice:
  // the error bound does not hold, or memory is short.
  bool run(const Op& op, const ConvParams& params, Nhwc in, reference::Input input, reference::Input weights,
           Nhwc out, reference::Output output);

  // What it did, and one notice for each layer that it left to the direct oracle.
  std::vector<std::string> notes() const;

 private:
  fft::Workers workers_;
  fft::Memory memory_;
  int layers_ = 0;
  double bound_ = 0;     // the largest of all layers
  double distance_ = 0;  // from an integer, the largest met
  std::vector<std::string> notices_;
};

}  // namespace kaiten

#endif  // KAITEN_REFERENCE_FFT_ORACLE_H
