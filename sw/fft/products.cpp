#include "fft/products.h"

namespace kaiten::fft {
namespace {

template <bool First, typename T>
void multiply_bins(std::uint64_t bins, const T* image, const T* kernel, T* sum) {
  for (std::uint64_t b = 0; b < 2 * bins; b += 2) {
    const T re = image[b] * kernel[b] + image[b + 1] * kernel[b + 1];
    const T im = image[b + 1] * kernel[b] - image[b] * kernel[b + 1];
    sum[b] = First ? re : sum[b] + re;
    sum[b + 1] = First ? im : sum[b + 1] + im;
  }
}

template <typename T>
void multiply_any(std::uint64_t bins, const std::complex<T>* image, const std::complex<T>* kernel,
                  std::complex<T>* sum, bool first) {
  const T* a = reinterpret_cast<const T*>(image);
  const T* w = reinterpret_cast<const T*>(kernel);
  T* s = reinterpret_cast<T*>(sum);
  first ? multiply_bins<true>(bins, a, w, s) : multiply_bins<false>(bins, a, w, s);
}

}  // namespace

void multiply(std::uint64_t bins, const std::complex<float>* image, const std::complex<float>* kernel,
              std::complex<float>* sum, bool first) {
  multiply_any(bins, image, kernel, sum, first);
}
void multiply(std::uint64_t bins, const std::complex<double>* image, const std::complex<double>* kernel,
              std::complex<double>* sum, bool first) {
  multiply_any(bins, image, kernel, sum, first);
}

}  // namespace kaiten::fft
