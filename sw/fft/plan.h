// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Batches of one-dimensional FFTW transforms, planned once and kept: the planner takes its time and is not
/// thread-safe, executing a plan is. Plans serve any arrays whose addresses are multiples of kPlanAlignment.
#ifndef KAITEN_FFT_PLAN_H
#define KAITEN_FFT_PLAN_H

#include <compare>
#include <complex>
#include <cstddef>

namespace kaiten::fft {

/// How FFTW chooses: by rule, the same in every run, or by timing candidates on this computer.
enum class Effort { Estimate, Measure };

enum class Direction { RealToComplex, ComplexToReal, Forward, Backward };

/// `count` transforms of `length`, none scaled. Steps are between elements of a transform, distances between
/// transforms, in elements of their own type; input and output are different arrays.
struct Batch {
  Direction direction = Direction::Forward;
  Effort effort = Effort::Estimate;
  int length = 1;
  int count = 1;
  int in_step = 1;
  int in_distance = 1;
  int out_step = 1;
  int out_distance = 1;

  auto operator<=>(const Batch&) const = default;
};

/// FFTW's vector instructions want no more of an address.
constexpr std::size_t kPlanAlignment = 16;

/// T: float or double.
template <typename T>
class Plan {
 public:
  /// The plan of a batch; made when it is asked for first. Valid for as long as the program runs.
  static Plan of(const Batch& batch);

  Plan() = default;
  /// By direction; the input of ComplexToReal is destroyed.
  void run(const T* in, std::complex<T>* out) const;
  void run(std::complex<T>* in, T* out) const;
  void run(const std::complex<T>* in, std::complex<T>* out) const;

 private:
  explicit Plan(void* plan) : plan_(plan) {}
  void* plan_ = nullptr;
};

extern template class Plan<float>;
extern template class Plan<double>;

}  // namespace kaiten::fft

#endif  // KAITEN_FFT_PLAN_H
