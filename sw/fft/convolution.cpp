// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "fft/convolution.h"

#include <complex>
#include <stdexcept>
#include <string>

#include "base/arithmetic.h"
#include "fft/algorithm.h"
#include "fft/direct.h"
#include "fft/products.h"
#include "fft/transform.h"

namespace kaiten::fft {
namespace {

// Memory: S f n + S f' n', in both direct forms.
template <typename T>
class Direct : public Convolution<T>::Algorithm {
 public:
  Direct(const Setting& s, bool blocked) : s_(s), blocked_(blocked) {}

  std::uint64_t bytes_needed() const override {
    return sum({array_bytes(image_elements(s_.shape), sizeof(T)),
                array_bytes(result_elements(s_.shape), sizeof(T))});
  }
  Size transform_size() const override { return s_.shape.image; }

  Array<T> run(Array<T> images, const Weights<T>& weights) const override {
    const LayerShape& l = s_.shape;
    Array<T> results(s_.memory, result_elements(l));
    const std::size_t n = l.image.elements(), k = l.kernel.elements(), out = l.result().elements();
    const int at_once = blocked_ ? kDirectOutputs : 1;
    const int groups = ceil_div(l.outputs, at_once);
    s_.workers.each(std::int64_t(l.batch) * groups, [&](std::int64_t task, int) {
      const auto s = std::size_t(task / groups);
      const int o = int(task % groups) * at_once;
      const int outputs = std::min(at_once, l.outputs - o);
      const T* from = images.data() + s * std::size_t(l.channels) * n;
      const T* kernels = weights.kernels.data() + std::size_t(o) * std::size_t(l.channels) * k;
      T* result = results.data() + (s * std::size_t(l.outputs) + std::size_t(o)) * out;
      if (blocked_) {
        correlate_blocked(l.channels, outputs, l.image, l.kernel, from, kernels, result);
      } else {
        naive(from, kernels, result);
      }
      for (int i = 0; i < outputs; i++)
        finish(weights, o + i, std::span<T>(result + std::size_t(i) * out, out));
    });
    return results;
  }

 private:
  void naive(const T* images, const T* kernels, T* result) const {
    const LayerShape& l = s_.shape;
    const Size out = l.result();
    std::fill_n(result, out.elements(), T(0));
    for (int c = 0; c < l.channels; c++, images += l.image.elements(), kernels += l.kernel.elements()) {
      T* to = result;
      for (int z = 0; z < out.depth; z++) {
        for (int y = 0; y < out.height; y++) {
          for (int x = 0; x < out.width; x++, to++) {
            const T* kernel = kernels;
            for (int dz = 0; dz < l.kernel.depth; dz++) {
              for (int dy = 0; dy < l.kernel.height; dy++) {
                const T* row = images +
                               (std::size_t(z + dz) * std::size_t(l.image.height) + std::size_t(y + dy)) *
                                   std::size_t(l.image.width) +
                               std::size_t(x);
                for (int dx = 0; dx < l.kernel.width; dx++) *to += row[dx] * *kernel++;
              }
            }
          }
        }
      }
    }
  }

  Setting s_;
  bool blocked_;
};

// What both FFT forms of the paper share: one transform size, whole spectra.
template <typename T>
class WholeImages : public Convolution<T>::Algorithm {
 protected:
  using Complex = std::complex<T>;

  explicit WholeImages(const Setting& s)
      : s_(s),
        size_(good_size(s.shape.image)),
        of_image_(size_, s.shape.image, s.effort),
        of_kernel_(size_, s.shape.kernel, s.effort),
        of_result_(size_, s.shape.result(), s.effort),
        bins_(of_image_.bins()),
        scratch_(std::max({of_image_.scratch(), of_kernel_.scratch(), of_result_.scratch()})) {}

  Size transform_size() const override { return size_; }
  std::uint64_t spectra_bytes(std::uint64_t count) const {
    return array_bytes(product({count, bins_}), sizeof(Complex));
  }
  std::uint64_t image_spectra() const {
    return product({std::uint64_t(s_.shape.batch), std::uint64_t(s_.shape.channels)});
  }
  const T* kernel(const Weights<T>& weights, int output, int channel) const {
    const LayerShape& l = s_.shape;
    return weights.kernels.data() +
           (std::size_t(output) * std::size_t(l.channels) + std::size_t(channel)) * l.kernel.elements();
  }

  Setting s_;
  Size size_;
  Transform<T> of_image_, of_kernel_, of_result_;
  std::uint64_t bins_;
  std::uint64_t scratch_;
};

// Algorithm 2 of the paper: loops over transforms and products, each shared by all threads.
template <typename T>
class DataParallel : public WholeImages<T> {
  using Base = WholeImages<T>;
  using Base::bins_, Base::of_image_, Base::of_kernel_, Base::of_result_, Base::s_, Base::scratch_;
  using typename Base::Complex;

 public:
  explicit DataParallel(const Setting& s) : Base(s) {}

  // Stage 1: S f (n + n~). Stage 2: S f' n' + (S f + S + 1) n~; the paper's table has S f + 1, without the
  // sums, which its algorithm allocates as this one does.
  std::uint64_t bytes_needed() const override {
    const LayerShape& l = s_.shape;
    const std::uint64_t spectra = Base::spectra_bytes(Base::image_spectra());
    const std::uint64_t transforms = sum({array_bytes(image_elements(l), sizeof(T)), spectra});
    const std::uint64_t sums = sum({spectra, array_bytes(result_elements(l), sizeof(T)),
                                    Base::spectra_bytes(std::uint64_t(l.batch)), Base::spectra_bytes(1)});
    return sum({each_bytes(s_.workers, scratch_, sizeof(T)), std::max(transforms, sums)});
  }

  Array<T> run(Array<T> images, const Weights<T>& weights) const override {
    const LayerShape& l = s_.shape;
    const std::size_t n = l.image.elements(), out = l.result().elements();
    std::vector<Array<T>> scratch = array_each<T>(s_.workers, s_.memory, scratch_);
    const auto mine = [&](int worker) { return scratch[std::size_t(worker)].data(); };
    const auto forward = [&](const Transform<T>& transform, const T* image, Pitch pitch, Complex* spectrum) {
      s_.workers.each(transform.planes(), [&](std::int64_t plane, int worker) {
        transform.forward_plane(int(plane), image, pitch, spectrum, mine(worker));
      });
      s_.workers.each(transform.blocks(), [&](std::int64_t block, int worker) {
        transform.forward_block(int(block), spectrum, mine(worker));
      });
    };
    Array<Complex> spectra(s_.memory, Base::image_spectra() * bins_);
    for (std::size_t i = 0; i < Base::image_spectra(); i++)
      forward(of_image_, images.data() + i * n, dense(l.image), spectra.data() + i * bins_);
    images = {};
    Array<T> results(s_.memory, result_elements(l));
    Array<Complex> sums(s_.memory, std::uint64_t(l.batch) * bins_);
    Array<Complex> kernel(s_.memory, bins_);
    // Parts of a spectrum that are worth a thread's while.
    constexpr std::uint64_t kPart = 4096;
    const auto parts = std::int64_t(ceil_div(bins_, kPart));
    for (int o = 0; o < l.outputs; o++) {
      for (int c = 0; c < l.channels; c++) {
        forward(of_kernel_, Base::kernel(weights, o, c), dense(l.kernel), kernel.data());
        s_.workers.each(parts, [&](std::int64_t part, int) {
          const std::uint64_t from = std::uint64_t(part) * kPart;
          const auto count = std::int64_t(std::min(kPart, bins_ - from));
          for (std::size_t s = 0; s < std::size_t(l.batch); s++) {
            const std::size_t image = s * std::size_t(l.channels) + std::size_t(c);
            inner_product<T>(1, count, {spectra.data() + image * bins_ + from, 0}, {kernel.data() + from, 0},
                             sums.data() + s * bins_ + from, c == 0);
          }
        });
      }
      for (std::size_t s = 0; s < std::size_t(l.batch); s++) {
        Complex* spectrum = sums.data() + s * bins_;
        T* result = results.data() + (s * std::size_t(l.outputs) + std::size_t(o)) * out;
        s_.workers.each(of_result_.blocks(), [&](std::int64_t block, int worker) {
          of_result_.inverse_block(int(block), spectrum, mine(worker));
        });
        s_.workers.each(of_result_.planes(), [&](std::int64_t plane, int worker) {
          of_result_.inverse_plane(int(plane), spectrum, result, dense(l.result()), mine(worker));
        });
        finish(weights, o, std::span<T>(result, out));
      }
    }
    return results;
  }
};

// The paper's tasks in three stages: images, sums of an output, results.
template <typename T>
class TaskParallel : public WholeImages<T> {
  using Base = WholeImages<T>;
  using Base::bins_, Base::of_image_, Base::of_kernel_, Base::of_result_, Base::s_, Base::scratch_;
  using typename Base::Complex;

 public:
  explicit TaskParallel(const Setting& s) : Base(s) {}

  // S f (n + n~); S (f + f') n~ + T n~; S f' (n' + n~): the largest.
  std::uint64_t bytes_needed() const override {
    const LayerShape& l = s_.shape;
    const std::uint64_t in = Base::spectra_bytes(Base::image_spectra());
    const std::uint64_t out = Base::spectra_bytes(sum_spectra());
    return sum({each_bytes(s_.workers, scratch_, sizeof(T)),
                std::max({sum({array_bytes(image_elements(l), sizeof(T)), in}),
                          sum({in, out, each_bytes(s_.workers, bins_, sizeof(Complex))}),
                          sum({array_bytes(result_elements(l), sizeof(T)), out})})});
  }

  Array<T> run(Array<T> images, const Weights<T>& weights) const override {
    const LayerShape& l = s_.shape;
    const std::size_t n = l.image.elements(), out = l.result().elements();
    const auto channels = std::size_t(l.channels), outputs = std::size_t(l.outputs),
               batch = std::size_t(l.batch);
    std::vector<Array<T>> scratch = array_each<T>(s_.workers, s_.memory, scratch_);
    const auto mine = [&](int worker) { return scratch[std::size_t(worker)].data(); };
    Array<Complex> spectra(s_.memory, Base::image_spectra() * bins_);
    s_.workers.each(std::int64_t(batch * channels), [&](std::int64_t i, int worker) {
      of_image_.forward(images.data() + std::size_t(i) * n, dense(l.image),
                        spectra.data() + std::size_t(i) * bins_, mine(worker));
    });
    images = {};
    Array<Complex> sums(s_.memory, sum_spectra() * bins_);
    {
      std::vector<Array<Complex>> kernels = array_each<Complex>(s_.workers, s_.memory, bins_);
      s_.workers.each(std::int64_t(outputs), [&](std::int64_t o, int worker) {
        Complex* kernel = kernels[std::size_t(worker)].data();
        for (std::size_t c = 0; c < channels; c++) {
          of_kernel_.forward(Base::kernel(weights, int(o), int(c)), dense(l.kernel), kernel, mine(worker));
          for (std::size_t s = 0; s < batch; s++) {
            inner_product<T>(1, std::int64_t(bins_), {spectra.data() + (s * channels + c) * bins_, 0},
                             {kernel, 0}, sums.data() + (s * outputs + std::size_t(o)) * bins_, c == 0);
          }
        }
      });
    }
    spectra = {};
    Array<T> results(s_.memory, result_elements(l));
    s_.workers.each(std::int64_t(batch * outputs), [&](std::int64_t i, int worker) {
      T* result = results.data() + std::size_t(i) * out;
      of_result_.inverse(sums.data() + std::size_t(i) * bins_, result, dense(l.result()), mine(worker));
      finish(weights, int(std::size_t(i) % outputs), std::span<T>(result, out));
    });
    return results;
  }

 private:
  std::uint64_t sum_spectra() const {
    return product({std::uint64_t(s_.shape.batch), std::uint64_t(s_.shape.outputs)});
  }
};

template <typename T>
AlgorithmPointer<T> make_algorithm(Method method, const Setting& setting) {
  switch (method) {
    case Method::DataParallel:
      return std::make_unique<DataParallel<T>>(setting);
    case Method::TaskParallel:
      return std::make_unique<TaskParallel<T>>(setting);
    case Method::Patches:
      return make_patches<T>(setting);
    case Method::Naive:
    case Method::Blocked:
      break;
  }
  return std::make_unique<Direct<T>>(setting, method == Method::Blocked);
}

}  // namespace

std::string_view name_of(Method method) {
  constexpr std::string_view kNames[] = {"naive", "blocked", "data-parallel", "task-parallel", "patches"};
  return kNames[int(method)];
}

template <typename T>
Convolution<T>::Convolution(const LayerShape& shape, Method method, Workers& workers, Memory& memory,
                            Effort effort)
    : shape_(shape), workers_(workers), memory_(memory) {
  if (shape.batch < 1 || shape.channels < 1 || shape.outputs < 1 || !shape.kernel.inside(shape.image) ||
      shape.kernel.elements() < 1)
    throw std::invalid_argument("a layer with kernels of " + shape.kernel.text() + " on images of " +
                                shape.image.text());
  const std::string what = "the layer (" + std::string(name_of(method)) + ", " +
                           std::to_string(shape.channels) + " to " + std::to_string(shape.outputs) +
                           " channels, images of " + shape.image.text() + ")";
  // Before anything is planned for sizes that cannot be.
  memory.require(what, sum({array_bytes(image_elements(shape), sizeof(T)),
                            array_bytes(result_elements(shape), sizeof(T))}));
  algorithm_ = make_algorithm<T>(method, {shape, workers, memory, effort});
  memory.require(what, bytes_needed());
}

template <typename T>
Convolution<T>::~Convolution() = default;

template <typename T>
std::uint64_t Convolution<T>::bytes_needed() const {
  return algorithm_->bytes_needed();
}

template <typename T>
Size Convolution<T>::transform_size() const {
  return algorithm_->transform_size();
}

template <typename T>
Array<T> Convolution<T>::make_images() const {
  return Array<T>(memory_, image_elements(shape_));
}

template <typename T>
Array<T> Convolution<T>::run(Array<T> images, const Weights<T>& weights) const {
  const std::uint64_t kernels =
      product({std::uint64_t(shape_.outputs), std::uint64_t(shape_.channels), shape_.kernel.elements()});
  if (images.size() != image_elements(shape_) || weights.kernels.size() != kernels ||
      (!weights.bias.empty() && weights.bias.size() != std::size_t(shape_.outputs)))
    throw std::invalid_argument("images or weights of other sizes than the layer's");
  return algorithm_->run(std::move(images), weights);
}

template class Convolution<float>;
template class Convolution<double>;

}  // namespace kaiten::fft
