// Products of spectra.
#ifndef KAITEN_FFT_PRODUCTS_H
#define KAITEN_FFT_PRODUCTS_H

#include <complex>
#include <cstdint>

namespace kaiten::fft {

// sum[b] (+)= image[b] * conj(kernel[b]) for every bin: the spectrum of the correlation. `first` overwrites.
void multiply(std::uint64_t bins, const std::complex<float>* image, const std::complex<float>* kernel,
              std::complex<float>* sum, bool first);
void multiply(std::uint64_t bins, const std::complex<double>* image, const std::complex<double>* kernel,
              std::complex<double>* sum, bool first);

}  // namespace kaiten::fft

#endif  // KAITEN_FFT_PRODUCTS_H
