// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "fft/transform.h"

#include <algorithm>
#include <stdexcept>

#include "base/arithmetic.h"
#include "fft/memory.h"

namespace kaiten::fft {
namespace {

constexpr int kForward = 0;
constexpr int kInverse = 1;

// Columns transformed across planes at a time: 64 of them of 256 bytes stay in the nearest cache.
template <typename T>
constexpr int kBlockColumns = 256 / int(sizeof(std::complex<T>));

template <typename T>
constexpr int kAlignedComplex = int(kAlignment / sizeof(std::complex<T>));

// Lines this far apart share their sets in a cache of 64 sets of 64 bytes.
constexpr int kSetPeriodBytes = 4096;

Size planes_first(const Size& size) { return {size.height, 1, size.width}; }

// Columns of a plane, in a size that has planes.
int columns_of(const Size& size) { return size.height * (size.width / 2 + 1); }

template <typename T>
int plane_pitch(const Size& size) {
  constexpr int kPeriod = kSetPeriodBytes / int(sizeof(std::complex<T>));
  const int pitch = align_up(columns_of(size), kAlignedComplex<T>);
  // A period that divides the pitch, or nearly: lines across planes would meet in a few sets.
  return size.depth > 1 && pitch % (kPeriod / 4) == 0 ? pitch + kAlignedComplex<T> : pitch;
}

}  // namespace

template <typename T>
std::uint64_t spectrum_bins(const Size& size) {
  const Size s = size.depth == 1 ? planes_first(size) : size;
  const std::uint64_t columns = product({std::uint64_t(s.height), std::uint64_t(s.width / 2 + 1)});
  if (columns > (std::uint64_t(1) << 30)) return product({std::uint64_t(s.depth), columns});
  return product({std::uint64_t(s.depth), std::uint64_t(plane_pitch<T>(s))});
}

Pitch dense(const Size& size) { return {size.width, std::int64_t(size.width) * size.height}; }

template <typename T>
Transform<T>::Transform(const Size& size, const Size& extent, Effort effort)
    : size_(size), extent_(extent), flat_(size.depth == 1), scale_(T(1) / T(size.elements())) {
  if (extent.depth < 1 || extent.height < 1 || extent.width < 1 || !extent.inside(size))
    throw std::invalid_argument("an image of " + extent.text() + " in a transform of " + size.text());
  if (size.elements() > (std::uint64_t(1) << 31))
    throw std::invalid_argument("transforms have up to 2^31 elements, not " + size.text());
  if (flat_) {
    size_ = planes_first(size);
    extent_ = planes_first(extent);
  }
  half_ = size_.width / 2 + 1;
  columns_ = columns_of(size_);
  pitch_ = plane_pitch<T>(size_);
  bins_ = std::uint64_t(pitch_) * std::uint64_t(size_.depth);
  constexpr int kBlock = kBlockColumns<T>;
  blocks_ = size_.depth > 1 ? ceil_div(pitch_, kBlock) : 0;
  const int last = pitch_ - (blocks_ - 1) * kBlock;

  constexpr int kValues = 2 * kAlignedComplex<T>;
  pairs_ = extent_.height > 1 ? (extent_.height + 1) / 2 : 0;
  row_scratch_ =
      pairs_ == 0 ? std::uint64_t(align_up(size_.width, kValues)) : 4 * std::uint64_t(pair_values());
  const std::uint64_t complex = std::max(std::uint64_t(align_up(columns_, kAlignedComplex<T>)),
                                         std::uint64_t(size_.depth) * std::uint64_t(kBlock));
  plane_scratch_ = 2 * complex;

  const auto columns = [&](int length, int count, int in_step, int out_step, Plan<T>(&plans)[2]) {
    plans[kForward] = Plan<T>::of({Direction::Forward, effort, length, count, in_step, 1, out_step, 1});
    plans[kInverse] = Plan<T>::of({Direction::Backward, effort, length, count, out_step, 1, in_step, 1});
  };
  if (pairs_ == 0) {
    rows_[kForward] = Plan<T>::of({Direction::RealToComplex, effort, size_.width});
    rows_[kInverse] = Plan<T>::of({Direction::ComplexToReal, effort, size_.width});
  } else {
    columns(size_.width, pairs_, pairs_, pairs_, rows_);
  }
  if (size_.height > 1) columns(size_.height, half_, half_, half_, in_plane_);
  if (blocks_ > 1) columns(size_.depth, kBlock, kBlock, pitch_, across_);
  if (blocks_ > 0) columns(size_.depth, last, kBlock, pitch_, across_last_);
}

template <typename T>
int Transform<T>::pair_values() const {
  return align_up(pairs_ * size_.width, kAlignedComplex<T>);
}

// FFTW's transforms of real numbers use no vector instructions, so two rows are transformed as one of complex
// numbers, one row in each part. Pairs lie beside each other; coefficient x of both is in x and in -x.
template <typename T>
void Transform<T>::forward_rows(const T* image, std::int64_t row_pitch, Complex* transformed,
                                T* scratch) const {
  const int height = extent_.height, width = extent_.width;
  if (pairs_ == 0) {
    std::copy_n(image, width, scratch);
    std::fill(scratch + width, scratch + size_.width, T(0));
    rows_[kForward].run(scratch, transformed);
    return;
  }
  Complex* in = reinterpret_cast<Complex*>(scratch);
  Complex* out = in + pair_values();
  for (int p = 0; p < pairs_; p++) {
    const T* a = image + 2 * p * row_pitch;
    if (2 * p + 1 < height) {
      const T* b = a + row_pitch;
      for (int x = 0; x < width; x++) in[x * pairs_ + p] = Complex(a[x], b[x]);
    } else {
      for (int x = 0; x < width; x++) in[x * pairs_ + p] = Complex(a[x], T(0));
    }
  }
  std::fill(in + width * pairs_, in + size_.width * pairs_, Complex(0));
  rows_[kForward].run(const_cast<const Complex*>(in), out);
  for (int p = 0; p < pairs_; p++) {
    Complex* a = transformed + 2 * p * std::int64_t(half_);
    Complex* b = 2 * p + 1 < height ? a + half_ : in;  // a last row alone: zeros are not read
    const Complex* up = out + p;
    a[0] = up->real();
    b[0] = up->imag();
    const Complex* down = out + p + size_.width * pairs_;
    for (int x = 1; x < half_; x++) {
      up += pairs_;
      down -= pairs_;
      a[x] = Complex(up->real() + down->real(), up->imag() - down->imag()) * T(0.5);
      b[x] = Complex(up->imag() + down->imag(), down->real() - up->real()) * T(0.5);
    }
  }
}

template <typename T>
void Transform<T>::inverse_rows(Complex* transformed, T* image, std::int64_t row_pitch, T* scratch) const {
  const int height = extent_.height, width = extent_.width;
  if (pairs_ == 0) {
    rows_[kInverse].run(transformed, scratch);
    for (int x = 0; x < width; x++) image[x] = scratch[x] * scale_;
    return;
  }
  Complex* in = reinterpret_cast<Complex*>(scratch);
  Complex* out = in + pair_values();
  for (int p = 0; p < pairs_; p++) {
    const Complex* a = transformed + 2 * p * std::int64_t(half_);
    const bool two = 2 * p + 1 < height;
    const Complex* b = two ? a + half_ : a;
    const T has = T(two);
    Complex* up = in + p;
    Complex* down = in + p + size_.width * pairs_;
    *up = Complex(a[0].real(), has * b[0].real());
    for (int x = 1; x < half_; x++) {
      up += pairs_;
      down -= pairs_;
      const Complex other = has * b[x];
      // Where both are the same, in the middle of an even length, the coefficient is real.
      *down = Complex(a[x].real() + other.imag(), other.real() - a[x].imag());
      *up = up == down ? Complex(a[x].real(), other.real())
                       : Complex(a[x].real() - other.imag(), a[x].imag() + other.real());
    }
  }
  rows_[kInverse].run(const_cast<const Complex*>(in), out);
  for (int p = 0; p < pairs_; p++) {
    T* a = image + 2 * p * row_pitch;
    for (int x = 0; x < width; x++) a[x] = out[x * pairs_ + p].real() * scale_;
    if (2 * p + 1 == height) break;
    T* b = a + row_pitch;
    for (int x = 0; x < width; x++) b[x] = out[x * pairs_ + p].imag() * scale_;
  }
}

template <typename T>
void Transform<T>::forward_plane(int plane, const T* image, Pitch pitch, Complex* spectrum,
                                 T* scratch) const {
  const std::int64_t plane_step = flat_ ? pitch.row : pitch.plane;
  const T* source = image + plane * plane_step;
  Complex* result = spectrum + std::int64_t(plane) * pitch_;
  Complex* lines = reinterpret_cast<Complex*>(scratch);
  // Transformed rows go where the next axis is read; without one, or with one of extent 1, to the result.
  const bool straight = extent_.height == 1;
  Complex* transformed = straight ? result : lines;
  if (extent_.width == 1) {
    for (int y = 0; y < extent_.height; y++)
      std::fill_n(transformed + std::int64_t(y) * half_, half_, Complex(source[y * pitch.row]));
  } else {
    forward_rows(source, pitch.row, transformed, scratch + plane_scratch_);
  }
  if (straight) {
    for (int y = 1; y < size_.height; y++) std::copy_n(result, half_, result + std::int64_t(y) * half_);
  } else {
    std::fill(lines + std::int64_t(extent_.height) * half_, lines + columns_, Complex(0));
    in_plane_[kForward].run(lines, result);
  }
  std::fill(result + columns_, result + pitch_, Complex(0));
}

template <typename T>
void Transform<T>::forward_block(int block, Complex* spectrum, T* scratch) const {
  constexpr int kBlock = kBlockColumns<T>;
  Complex* column = spectrum + std::int64_t(block) * kBlock;
  const bool is_last = block == blocks_ - 1;
  const int width = is_last ? pitch_ - block * kBlock : kBlock;
  if (extent_.depth == 1) {
    for (int z = 1; z < size_.depth; z++) std::copy_n(column, width, column + std::int64_t(z) * pitch_);
    return;
  }
  Complex* lines = reinterpret_cast<Complex*>(scratch);
  for (int z = 0; z < extent_.depth; z++)
    std::copy_n(column + std::int64_t(z) * pitch_, width, lines + std::int64_t(z) * kBlock);
  std::fill(lines + std::int64_t(extent_.depth) * kBlock, lines + std::int64_t(size_.depth) * kBlock,
            Complex(0));
  (is_last ? across_last_ : across_)[kForward].run(lines, column);
}

template <typename T>
void Transform<T>::inverse_block(int block, Complex* spectrum, T* scratch) const {
  constexpr int kBlock = kBlockColumns<T>;
  Complex* column = spectrum + std::int64_t(block) * kBlock;
  const bool is_last = block == blocks_ - 1;
  const int width = is_last ? pitch_ - block * kBlock : kBlock;
  Complex* lines = reinterpret_cast<Complex*>(scratch);
  (is_last ? across_last_ : across_)[kInverse].run(const_cast<const Complex*>(column), lines);
  for (int z = 0; z < extent_.depth; z++)
    std::copy_n(lines + std::int64_t(z) * kBlock, width, column + std::int64_t(z) * pitch_);
}

template <typename T>
void Transform<T>::inverse_plane(int plane, Complex* spectrum, T* image, Pitch pitch, T* scratch) const {
  Complex* source = spectrum + std::int64_t(plane) * pitch_;
  Complex* lines = reinterpret_cast<Complex*>(scratch);
  if (size_.height > 1) {
    in_plane_[kInverse].run(const_cast<const Complex*>(source), lines);
    source = lines;
  }
  inverse_rows(source, image + plane * (flat_ ? pitch.row : pitch.plane), pitch.row,
               scratch + plane_scratch_);
}

template <typename T>
void Transform<T>::forward(const T* image, Pitch pitch, Complex* spectrum, T* scratch) const {
  for (int z = 0; z < planes(); z++) forward_plane(z, image, pitch, spectrum, scratch);
  for (int b = 0; b < blocks(); b++) forward_block(b, spectrum, scratch);
}

template <typename T>
void Transform<T>::inverse(Complex* spectrum, T* image, Pitch pitch, T* scratch) const {
  for (int b = 0; b < blocks(); b++) inverse_block(b, spectrum, scratch);
  for (int z = 0; z < planes(); z++) inverse_plane(z, spectrum, image, pitch, scratch);
}

template std::uint64_t spectrum_bins<float>(const Size&);
template std::uint64_t spectrum_bins<double>(const Size&);
template class Transform<float>;
template class Transform<double>;

}  // namespace kaiten::fft
