// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// In place of fft_oracle.cpp in builds without FFTW (web/): whoever asks for this oracle is told.
#include "base/error.h"
#include "reference/fft_oracle.h"

namespace kaiten {

FftOracle::FftOracle(int, std::uint64_t) : workers_(1), memory_(0) {
  throw InputError("this build has no oracle by Fourier transforms");
}

bool FftOracle::run(const Op&, const ConvParams&, Nhwc, reference::Input, reference::Input, Nhwc,
                    reference::Output) {
  return false;
}

std::vector<std::string> FftOracle::notes() const { return notices_; }

}  // namespace kaiten
