// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The machine's vector registers as plain arithmetic types. For files compiled for the machine
// (CMakeLists.txt).
#ifndef KAITEN_FFT_VECTORS_H
#define KAITEN_FFT_VECTORS_H

#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>

namespace kaiten::fft {

#if defined(__AVX512F__)
constexpr std::size_t kVectorBytes = 64;
#elif defined(__AVX__)
constexpr std::size_t kVectorBytes = 32;
#else
constexpr std::size_t kVectorBytes = 16;
#endif

// Numbers of type T in a register; of complex numbers half as many.
template <typename T>
constexpr int kLanes = int(kVectorBytes / sizeof(T));

template <typename T>
struct VectorOf {
  using type __attribute__((vector_size(kVectorBytes))) = T;
};
template <typename T>
using Vector = typename VectorOf<T>::type;

// From and to any address.
template <typename T>
inline Vector<T> load(const T* from) {
  Vector<T> v;
  std::memcpy(&v, from, sizeof v);
  return v;
}
template <typename T>
inline void store(T* to, Vector<T> v) {
  std::memcpy(to, &v, sizeof v);
}

// Elements of a (below kLanes) and b (from there on) in the order of the indices.
template <typename T, int... Index>
inline Vector<T> shuffle(Vector<T> a, Vector<T> b) {
#ifdef __clang__
  return __builtin_shufflevector(a, b, Index...);
#else
  using Int = std::conditional_t<sizeof(T) == 4, int, long long>;
  typedef Int Mask __attribute__((vector_size(kVectorBytes)));
  return __builtin_shuffle(a, b, Mask{Index...});
#endif
}

// Real and imaginary parts exchanged.
template <typename T>
inline Vector<T> swap_parts(Vector<T> v) {
  return [&]<int... I>(std::integer_sequence<int, I...>) { return shuffle<T, (I ^ 1)...>(v, v); }
  (std::make_integer_sequence<int, kLanes<T>>());
}

// Sums of image * conj(kernel) over channels without exchanging parts of the kernels: two products a channel
// are summed, and put together once at the end.
template <typename T>
struct ConjugateSum {
  Vector<T> straight = {};  // re re, im im
  Vector<T> crossed = {};   // im re, re im

  void add(Vector<T> image, Vector<T> swapped, Vector<T> kernel) {
    straight += image * kernel;
    crossed += swapped * kernel;
  }
  Vector<T> value() const {
    const Vector<T> re = straight + swap_parts<T>(straight);
    const Vector<T> im = swap_parts<T>(crossed) - crossed;  // right in the odd lanes
    return [&]<int... I>(std::integer_sequence<int, I...>) {
      return shuffle<T, (I % 2 == 0 ? I : I + kLanes<T>)...>(re, im);
    }
    (std::make_integer_sequence<int, kLanes<T>>());
  }
};

}  // namespace kaiten::fft

#endif  // KAITEN_FFT_VECTORS_H
