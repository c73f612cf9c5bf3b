// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "fft/plan.h"

#include <fftw3.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <stdexcept>

#include "fft/memory.h"

namespace kaiten::fft {
namespace {

// FFTW's two libraries under one name.
template <typename T>
struct Fftw;

#define KAITEN_FFTW(T, prefix)                                \
  template <>                                                 \
  struct Fftw<T> {                                            \
    using Plan = prefix##_plan;                               \
    using Complex = prefix##_complex;                         \
    static constexpr auto r2c = prefix##_plan_many_dft_r2c;   \
    static constexpr auto c2r = prefix##_plan_many_dft_c2r;   \
    static constexpr auto dft = prefix##_plan_many_dft;       \
    static constexpr auto run_r2c = prefix##_execute_dft_r2c; \
    static constexpr auto run_c2r = prefix##_execute_dft_c2r; \
    static constexpr auto run_dft = prefix##_execute_dft;     \
  };
KAITEN_FFTW(float, fftwf)
KAITEN_FFTW(double, fftw)
#undef KAITEN_FFTW

template <typename T>
typename Fftw<T>::Complex* fftw_complex_of(const std::complex<T>* p) {
  return reinterpret_cast<typename Fftw<T>::Complex*>(const_cast<std::complex<T>*>(p));
}

// Elements that `length` of them, `step` apart, in `count` transforms `distance` apart, span.
std::uint64_t span_of(int length, int step, int count, int distance) {
  return product({std::uint64_t(length - 1), std::uint64_t(step)}) +
         product({std::uint64_t(count - 1), std::uint64_t(distance)}) + 1;
}

template <typename T>
typename Fftw<T>::Plan make(const Batch& b) {
  const int half = b.length / 2 + 1;
  const bool to_complex = b.direction == Direction::RealToComplex;
  const bool to_real = b.direction == Direction::ComplexToReal;
  const std::uint64_t in = span_of(to_real ? half : b.length, b.in_step, b.count, b.in_distance);
  const std::uint64_t out = span_of(to_complex ? half : b.length, b.out_step, b.count, b.out_distance);
  // Arrays to plan with; measuring reads and writes them. Twice T is a complex number.
  static Memory& memory = *new Memory;
  Array<T> in_array(memory, 2 * in);
  Array<T> out_array(memory, 2 * out);
  if (b.effort == Effort::Measure) {
    std::fill(in_array.begin(), in_array.end(), T(0));
    std::fill(out_array.begin(), out_array.end(), T(0));
  }
  auto* in_complex = reinterpret_cast<typename Fftw<T>::Complex*>(in_array.data());
  auto* out_complex = reinterpret_cast<typename Fftw<T>::Complex*>(out_array.data());
  unsigned flags = b.effort == Effort::Measure ? FFTW_MEASURE : FFTW_ESTIMATE;
  flags |= to_real ? FFTW_DESTROY_INPUT : FFTW_PRESERVE_INPUT;
  switch (b.direction) {
    case Direction::RealToComplex:
      return Fftw<T>::r2c(1, &b.length, b.count, in_array.data(), nullptr, b.in_step, b.in_distance,
                          out_complex, nullptr, b.out_step, b.out_distance, flags);
    case Direction::ComplexToReal:
      return Fftw<T>::c2r(1, &b.length, b.count, in_complex, nullptr, b.in_step, b.in_distance,
                          out_array.data(), nullptr, b.out_step, b.out_distance, flags);
    case Direction::Forward:
    case Direction::Backward:
      break;
  }
  return Fftw<T>::dft(1, &b.length, b.count, in_complex, nullptr, b.in_step, b.in_distance, out_complex,
                      nullptr, b.out_step, b.out_distance,
                      b.direction == Direction::Forward ? FFTW_FORWARD : FFTW_BACKWARD, flags);
}

// The planners of the two precisions are apart, but the lock costs nothing.
std::mutex planner;

}  // namespace

template <typename T>
Plan<T> Plan<T>::of(const Batch& batch) {
  // FFTW's own state lives as long.
  static std::map<Batch, typename Fftw<T>::Plan>& plans = *new std::map<Batch, typename Fftw<T>::Plan>;
  const std::lock_guard lock(planner);
  auto found = plans.find(batch);
  if (found == plans.end()) {
    auto plan = make<T>(batch);
    if (plan == nullptr)
      throw std::runtime_error("FFTW has no plan for length " + std::to_string(batch.length));
    found = plans.emplace(batch, plan).first;
  }
  return Plan(found->second);
}

template <typename T>
void Plan<T>::run(const T* in, std::complex<T>* out) const {
  Fftw<T>::run_r2c(static_cast<typename Fftw<T>::Plan>(plan_), const_cast<T*>(in), fftw_complex_of(out));
}

template <typename T>
void Plan<T>::run(std::complex<T>* in, T* out) const {
  Fftw<T>::run_c2r(static_cast<typename Fftw<T>::Plan>(plan_), fftw_complex_of(in), out);
}

template <typename T>
void Plan<T>::run(const std::complex<T>* in, std::complex<T>* out) const {
  Fftw<T>::run_dft(static_cast<typename Fftw<T>::Plan>(plan_), fftw_complex_of(in), fftw_complex_of(out));
}

template class Plan<float>;
template class Plan<double>;

}  // namespace kaiten::fft
