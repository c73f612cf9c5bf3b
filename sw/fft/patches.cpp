// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The layer by FFT of overlapping patches. The images are cut into patches of one transform's size that
// overlap by the kernel's size less one; to the kernels they are images of one larger batch, so each kernel
// is transformed at a small size and meets all patches. Work across planes is done column by column, some
// bins at a time: the kernels' last transform, the products (a matrix product of patches x channels and
// channels x outputs for every bin), and the results' first inverse transform, all in near caches.
// docs/software/fft.md says what that saves.
#include <complex>

#include "base/arithmetic.h"
#include "fft/algorithm.h"
#include "fft/cut.h"
#include "fft/products.h"
#include "fft/transform.h"

namespace kaiten::fft {
namespace {

// Outputs that one task computes: each reads all spectra of the images once.
constexpr int kMostOutputs = 16;
// What multiply_cell works on best: groups have a multiple of it.
constexpr int kOutputStep = 4;

template <typename T>
class Patches : public Convolution<T>::Algorithm {
  using Complex = std::complex<T>;

 public:
  explicit Patches(const Setting& s)
      : s_(s),
        cut_(best_cut(s.shape)),
        of_image_(cut_.transform(), cut_.extent(), s.effort),
        of_kernel_(cut_.transform(), s.shape.kernel, s.effort),
        of_result_(cut_.transform(), cut_.result(), s.effort),
        depth_(of_image_.depth()),
        pitch_(int(of_image_.bins()) / depth_),
        cells_(pitch_ / kCell<T>),
        patches_(s.shape.batch * int(cut_.count())) {
    const LayerShape& l = s.shape;
    scratch_ = std::max({of_image_.scratch(), of_kernel_.scratch(), of_result_.scratch()});
    const int threads = s.workers.count();
    const int share = ceil_div(l.outputs, threads);
    group_ = std::min(align_up(share, kOutputStep), kMostOutputs);
    group_ = std::min(group_, l.outputs);
    // From plane to plane of the images' cells the distance is no multiple of 4 KiB.
    panel_ = std::int64_t(patches_) * l.channels;
    if (panel_ * cells_ % 16 == 0) panel_ += 1;
    if (depth_ > 1) {
      const auto across = [&](Direction d, std::int64_t in, std::int64_t out) {
        return Plan<T>::of({d, s.effort, depth_, kCell<T>, int(in), 1, int(out), 1});
      };
      image_across_ = across(Direction::Forward, kCell<T>, panel_ * cells_ * kCell<T>);
      kernel_across_ = across(Direction::Forward, kCell<T>, std::int64_t(l.channels) * group_ * kCell<T>);
      result_across_ = across(Direction::Backward, kCell<T>, kCell<T>);
    }
  }

  Size transform_size() const override { return cut_.transform(); }

  std::uint64_t bytes_needed() const override {
    const LayerShape& l = s_.shape;
    const std::uint64_t spectra = array_bytes(spectra_elements(), sizeof(Complex));
    const std::uint64_t images = sum({array_bytes(image_elements(l), sizeof(T)),
                                      each_bytes(s_.workers, of_image_.bins(), sizeof(Complex))});
    const std::uint64_t results = sum({array_bytes(result_elements(l), sizeof(T)),
                                       each_bytes(s_.workers, kernel_planes(), sizeof(Complex)),
                                       each_bytes(s_.workers, kernel_cells(), sizeof(Complex)),
                                       each_bytes(s_.workers, sum_cells(), sizeof(Complex)),
                                       each_bytes(s_.workers, result_planes(), sizeof(Complex))});
    return sum({each_bytes(s_.workers, scratch_, sizeof(T)), spectra, std::max(images, results)});
  }

  Array<T> run(Array<T> images, const Weights<T>& weights) const override {
    const LayerShape& l = s_.shape;
    std::vector<Array<T>> scratch = array_each<T>(s_.workers, s_.memory, scratch_);
    Array<Complex> spectra(s_.memory, spectra_elements());
    {
      std::vector<Array<Complex>> planes = array_each<Complex>(s_.workers, s_.memory, of_image_.bins());
      s_.workers.each(std::int64_t(patches_) * l.channels, [&](std::int64_t i, int worker) {
        transform_patch(int(i / l.channels), int(i % l.channels), images.data(),
                        planes[std::size_t(worker)].data(), spectra.data(),
                        scratch[std::size_t(worker)].data());
      });
    }
    images = {};
    Array<T> results(s_.memory, result_elements(l));
    std::vector<Own> own;
    own.reserve(std::size_t(s_.workers.count()));
    for (int w = 0; w < s_.workers.count(); w++) {
      own.push_back({scratch[std::size_t(w)].data(), Array<Complex>(s_.memory, kernel_planes()),
                     Array<Complex>(s_.memory, kernel_cells()), Array<Complex>(s_.memory, sum_cells()),
                     Array<Complex>(s_.memory, result_planes())});
    }
    s_.workers.each(ceil_div(l.outputs, group_), [&](std::int64_t g, int worker) {
      const int first = int(g) * group_;
      compute_outputs(first, std::min(group_, l.outputs - first), weights, spectra.data(), results.data(),
                      own[std::size_t(worker)]);
    });
    return results;
  }

 private:
  // A thread's arrays while outputs are computed.
  struct Own {
    T* scratch;
    Array<Complex> kernel_planes;  // [output][channel][plane][column]: before the transform across planes
    Array<Complex> kernels;        // [plane][channel][output][cell]: one column of cells
    Array<Complex> sums;           // [patch][output][plane][cell]
    Array<Complex> result_planes;  // [patch][output][plane][column]: after the inverse across planes
  };

  // The spectra of all patches: [cell][patch][channel][bin].
  std::uint64_t spectra_elements() const {
    return product(
        {std::uint64_t(panel_), std::uint64_t(cells_) * std::uint64_t(depth_), std::uint64_t(kCell<T>)});
  }
  std::uint64_t kernel_planes() const {
    return product({std::uint64_t(group_), std::uint64_t(s_.shape.channels),
                    std::uint64_t(of_kernel_.planes()), std::uint64_t(pitch_)});
  }
  std::uint64_t kernel_cells() const {
    return product({std::uint64_t(depth_), std::uint64_t(s_.shape.channels), std::uint64_t(group_),
                    std::uint64_t(kCell<T>)});
  }
  std::uint64_t sum_cells() const {
    return product(
        {std::uint64_t(patches_), std::uint64_t(group_), std::uint64_t(depth_), std::uint64_t(kCell<T>)});
  }
  std::uint64_t result_planes() const {
    return product({std::uint64_t(patches_), std::uint64_t(group_), std::uint64_t(of_result_.planes()),
                    std::uint64_t(pitch_)});
  }

  // Where patch p of an image, or of a result, begins in the whole.
  std::int64_t begin_of(int patch, const Size& whole) const {
    const Size result = s_.shape.result();
    const int p = patch % int(cut_.count());
    const int z = cut_.depth.begin(p / (cut_.height.count * cut_.width.count), result.depth);
    const int y = cut_.height.begin(p / cut_.width.count % cut_.height.count, result.height);
    const int x = cut_.width.begin(p % cut_.width.count, result.width);
    return (std::int64_t(z) * whole.height + y) * whole.width + x;
  }

  // Column `cell` of `planes` planes, side by side, zeros up to the transform's length.
  void gather(const Complex* column, int planes, Complex* lines) const {
    for (int z = 0; z < planes; z++)
      std::copy_n(column + std::int64_t(z) * pitch_, kCell<T>, lines + std::int64_t(z) * kCell<T>);
    std::fill(lines + std::int64_t(planes) * kCell<T>, lines + std::int64_t(depth_) * kCell<T>, Complex(0));
  }

  void transform_patch(int patch, int channel, const T* images, Complex* planes, Complex* spectra,
                       T* scratch) const {
    const LayerShape& l = s_.shape;
    const std::int64_t image = std::int64_t(patch / int(cut_.count())) * l.channels + channel;
    const T* from = images + image * std::int64_t(l.image.elements()) + begin_of(patch, l.image);
    for (int z = 0; z < of_image_.planes(); z++)
      of_image_.forward_plane(z, from, dense(l.image), planes, scratch);
    Complex* lines = reinterpret_cast<Complex*>(scratch);
    for (int c = 0; c < cells_; c++) {
      Complex* to =
          spectra + (std::int64_t(c) * panel_ + std::int64_t(patch) * l.channels + channel) * kCell<T>;
      if (depth_ == 1) {
        std::copy_n(planes + std::int64_t(c) * kCell<T>, kCell<T>, to);
        continue;
      }
      gather(planes + std::int64_t(c) * kCell<T>, of_image_.planes(), lines);
      image_across_.run(const_cast<const Complex*>(lines), to);
    }
  }

  void compute_outputs(int first, int outputs, const Weights<T>& weights, const Complex* spectra, T* results,
                       Own& own) const {
    const LayerShape& l = s_.shape;
    const std::int64_t kernel_pitch = std::int64_t(of_kernel_.planes()) * pitch_;
    const std::int64_t result_pitch = std::int64_t(of_result_.planes()) * pitch_;
    const auto taps = std::int64_t(l.kernel.elements());
    for (int o = 0; o < outputs; o++) {
      for (int c = 0; c < l.channels; c++) {
        const T* kernel = weights.kernels.data() + (std::int64_t(first + o) * l.channels + c) * taps;
        Complex* planes = own.kernel_planes.data() + (std::int64_t(o) * l.channels + c) * kernel_pitch;
        for (int z = 0; z < of_kernel_.planes(); z++)
          of_kernel_.forward_plane(z, kernel, dense(l.kernel), planes, own.scratch);
      }
    }
    Complex* lines = reinterpret_cast<Complex*>(own.scratch);
    for (int column = 0; column < cells_; column++) {
      for (int o = 0; o < outputs; o++) {
        for (int c = 0; c < l.channels; c++) {
          const Complex* planes = own.kernel_planes.data() +
                                  (std::int64_t(o) * l.channels + c) * kernel_pitch +
                                  std::int64_t(column) * kCell<T>;
          transform_kernel(planes, lines, own.kernels.data() + (std::int64_t(c) * outputs + o) * kCell<T>);
        }
      }
      const std::int64_t sum_step = std::int64_t(depth_) * kCell<T>;
      for (int z = 0; z < depth_; z++) {
        multiply_cell<T>(patches_, l.channels, outputs,
                         spectra + (std::int64_t(z) * cells_ + column) * panel_ * kCell<T>,
                         own.kernels.data() + std::int64_t(z) * l.channels * group_ * kCell<T>,
                         own.sums.data() + std::int64_t(z) * kCell<T>, group_ * sum_step, sum_step);
      }
      for (int p = 0; p < patches_; p++) {
        for (int o = 0; o < outputs; o++) {
          const std::int64_t at = std::int64_t(p) * group_ + o;
          const Complex* sums = own.sums.data() + at * sum_step;
          Complex* to = own.result_planes.data() + at * result_pitch + std::int64_t(column) * kCell<T>;
          if (depth_ > 1) {
            result_across_.run(sums, lines);
            sums = lines;
          }
          for (int z = 0; z < of_result_.planes(); z++)
            std::copy_n(sums + std::int64_t(z) * kCell<T>, kCell<T>, to + std::int64_t(z) * pitch_);
        }
      }
    }
    const Size whole = l.result();
    for (int p = 0; p < patches_; p++) {
      for (int o = 0; o < outputs; o++) {
        Complex* planes = own.result_planes.data() + (std::int64_t(p) * group_ + o) * result_pitch;
        const std::int64_t result = std::int64_t(p / int(cut_.count())) * l.outputs + first + o;
        T* to = results + result * std::int64_t(whole.elements()) + begin_of(p, whole);
        for (int z = 0; z < of_result_.planes(); z++)
          of_result_.inverse_plane(z, planes, to, dense(whole), own.scratch);
      }
    }
    for (int s = 0; s < l.batch; s++) {
      for (int o = 0; o < outputs; o++) {
        T* result = results + (std::int64_t(s) * l.outputs + first + o) * std::int64_t(whole.elements());
        finish(weights, first + o, std::span<T>(result, whole.elements()));
      }
    }
  }

  // One column of cells of a kernel across planes; `to` is its place in plane 0.
  void transform_kernel(const Complex* planes, Complex* lines, Complex* to) const {
    const std::int64_t step = std::int64_t(s_.shape.channels) * group_ * kCell<T>;
    if (of_kernel_.planes() == 1) {
      for (int z = 0; z < depth_; z++) std::copy_n(planes, kCell<T>, to + z * step);
      return;
    }
    gather(planes, of_kernel_.planes(), lines);
    kernel_across_.run(const_cast<const Complex*>(lines), to);
  }

  Setting s_;
  Cut cut_;
  Transform<T> of_image_, of_kernel_, of_result_;
  int depth_;           // planes of a spectrum
  int pitch_;           // bins of a plane
  int cells_;           // of a plane
  int patches_;         // of all images
  int group_ = 1;       // outputs of a task
  std::int64_t panel_;  // cells from one cell of the spectra to the next
  std::uint64_t scratch_ = 0;
  Plan<T> image_across_, kernel_across_, result_across_;
};

}  // namespace

template <typename T>
AlgorithmPointer<T> make_patches(const Setting& setting) {
  return std::make_unique<Patches<T>>(setting);
}

template AlgorithmPointer<float> make_patches<float>(const Setting&);
template AlgorithmPointer<double> make_patches<double>(const Setting&);

}  // namespace kaiten::fft
