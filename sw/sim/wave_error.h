// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What Verilator's writer of FST files does when a write fails: it throws. Without this it ends the program, and leaves what
// it wrote. Included before its source (cmake/KaitenVerilate.cmake).
#ifndef KAITEN_SIM_WAVE_ERROR_H
#define KAITEN_SIM_WAVE_ERROR_H

#include <exception>

namespace kaiten::sim {

struct WaveError : std::exception {};

}  // namespace kaiten::sim

#ifdef KAITEN_WAVE_WRITER
#if __has_include("fstcpp/fstcpp_assertion.h")
#include "fstcpp/fstcpp_assertion.h"
#define KAITEN_WAVE_CHECK(holds) \
  if (!(holds)) [[unlikely]]     \
    throw ::kaiten::sim::WaveError {}
#undef FST_CHECK
#undef FST_CHECK_EQ
#undef FST_CHECK_NE
#undef FST_CHECK_GT
#undef FST_CHECK_GE
#undef FST_CHECK_LT
#undef FST_CHECK_LE
#define FST_CHECK(a) KAITEN_WAVE_CHECK(a)
#define FST_CHECK_EQ(a, b) KAITEN_WAVE_CHECK((a) == (b))
#define FST_CHECK_NE(a, b) KAITEN_WAVE_CHECK((a) != (b))
#define FST_CHECK_GT(a, b) KAITEN_WAVE_CHECK((a) > (b))
#define FST_CHECK_GE(a, b) KAITEN_WAVE_CHECK((a) >= (b))
#define FST_CHECK_LT(a, b) KAITEN_WAVE_CHECK((a) < (b))
#define FST_CHECK_LE(a, b) KAITEN_WAVE_CHECK((a) <= (b))
#endif
#endif

#endif  // KAITEN_SIM_WAVE_ERROR_H
