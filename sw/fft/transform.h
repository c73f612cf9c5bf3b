// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Pruned Fourier transforms of real images and kernels that are small beside the transform, in two and three
/// dimensions, after ZNNi (Zlateski, Lee, Seung 2016), section III: one-dimensional transforms along one axis
/// after the other, of those lines only that are not known to be zero (forward) or that are wanted (inverse).
/// Rows go first, from real to complex; then columns within a plane; then lines across planes.
///
/// An image of extent e in a transform of size N takes e0 * e1 transforms of rows, e0 * (N2/2 + 1) of columns
/// and N1 * (N2/2 + 1) across planes, where all would be N0 * N1, N0 * (N2/2 + 1) and N1 * (N2/2 + 1). Along
/// an axis of extent 1 the transform is constant and copied.
///
/// A spectrum holds, for each of its N0 planes, N1 * (N2/2 + 1) complex numbers and some that are zero, so
/// that planes start at aligned addresses that do not fall on the same cache sets.
#ifndef KAITEN_FFT_TRANSFORM_H
#define KAITEN_FFT_TRANSFORM_H

#include <complex>
#include <cstdint>

#include "fft/plan.h"
#include "fft/size.h"

namespace kaiten::fft {

/// Complex numbers a spectrum of transforms of this size takes.
template <typename T>
std::uint64_t spectrum_bins(const Size& size);

/// Distances in a real image, in elements.
struct Pitch {
  std::int64_t row = 0;    ///< from row to row
  std::int64_t plane = 0;  ///< from plane to plane
};
/// Without gaps.
Pitch dense(const Size& size);

/// T: float or double. Immutable: threads may share one, each with its scratch memory and its arrays. Spectra
/// and scratch start at addresses that are multiples of kAlignment (memory.h).
template <typename T>
class Transform {
 public:
  using Complex = std::complex<T>;  ///< elements of a spectrum

  /// Images of `extent`, zero beyond it up to `size`; of inverse transforms, the corner that is wanted. Throws
  /// std::invalid_argument where the extent is not inside the size, or the size has more than 2^31 elements.
  Transform(const Size& size, const Size& extent, Effort effort = Effort::Estimate);

  std::uint64_t bins() const { return bins_; }  ///< complex numbers of a spectrum: spectrum_bins()
  /// Numbers of type T a thread needs.
  std::uint64_t scratch() const { return plane_scratch_ + row_scratch_; }

  /// Not scaled. Fills all bins() of the spectrum.
  void forward(const T* image, Pitch pitch, Complex* spectrum, T* scratch) const;
  /// Divided by the number of elements, so that it inverts `forward`. The spectrum is overwritten.
  void inverse(Complex* spectrum, T* image, Pitch pitch, T* scratch) const;

  /// The same as tasks that do not touch each other's data: forward is all planes, then all blocks; inverse
  /// all blocks, then all planes.
  int planes() const { return extent_.depth; }  ///< of the image; of a 2-D one its rows
  int depth() const { return size_.depth; }     ///< planes of the spectrum
  int blocks() const { return blocks_; }        ///< of columns across planes; 0 for a single plane
  /// Of the image to the same plane of the spectrum; image and spectrum begin at plane 0.
  void forward_plane(int plane, const T* image, Pitch pitch, Complex* spectrum, T* scratch) const;
  /// Across the planes of the spectrum, in place.
  void forward_block(int block, Complex* spectrum, T* scratch) const;
  /// Across the planes of the spectrum, in place.
  void inverse_block(int block, Complex* spectrum, T* scratch) const;
  /// Of the spectrum, which is overwritten, to the same plane of the image.
  void inverse_plane(int plane, Complex* spectrum, T* image, Pitch pitch, T* scratch) const;

 private:
  void forward_rows(const T* image, std::int64_t row_pitch, Complex* transformed, T* scratch) const;
  void inverse_rows(Complex* transformed, T* image, std::int64_t row_pitch, T* scratch) const;
  /// Complex numbers of all pairs of rows, a multiple of 64 bytes.
  int pair_values() const;

  Size size_;  ///< of a 2-D transform: one row a plane
  Size extent_;
  bool flat_ = false;  ///< 2-D: the user's rows are planes here
  int half_ = 1;       ///< complex numbers of a transformed row
  int columns_ = 1;    ///< of a plane
  int pitch_ = 1;      ///< from plane to plane
  int blocks_ = 0;
  int pairs_ = 0;  ///< of rows of a plane; 0: a single row
  std::uint64_t bins_ = 0;
  std::uint64_t plane_scratch_ = 0;
  std::uint64_t row_scratch_ = 0;
  T scale_ = 1;
  Plan<T> rows_[2];      ///< forward, inverse
  Plan<T> in_plane_[2];  ///< columns of a plane
  Plan<T> across_[2];    ///< a full block of columns across planes
  Plan<T> across_last_[2];
};

extern template class Transform<float>;
extern template class Transform<double>;

}  // namespace kaiten::fft

#endif  // KAITEN_FFT_TRANSFORM_H
