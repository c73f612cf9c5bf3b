// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "fft/cut.h"

#include <limits>
#include <vector>

#include "base/arithmetic.h"

namespace kaiten::fft {
namespace {

// Measured on one processor, in passes of a transform over a bin (element_cost()): rows, which are taken
// apart after it, and a product.
constexpr double kRows = 1.5;
constexpr double kProduct = 0.2;

// Cuts tried along an axis.
constexpr int kMostCuts = 16;
// Elements a transform of patches may have.
constexpr std::uint64_t kMostElements = 1U << 24;

// Time in passes.
double cost(const Cut& cut, const LayerShape& l) {
  const Work w = work_of(cut, l);
  return w.image_passes + w.kernel_passes + kProduct * w.products;
}

std::vector<Axis> cuts_of(int image, int kernel) {
  std::vector<Axis> cuts;
  for (int n = 1; n <= std::min(image - kernel + 1, kMostCuts); n++) {
    const Axis a = cut_axis(image, kernel, n);
    if (cuts.empty() || a.transform != cuts.back().transform) cuts.push_back(a);
  }
  return cuts;
}

}  // namespace

Axis cut_axis(int image, int kernel, int count) {
  const int result = image - kernel + 1;
  Axis a;
  a.transform = good_length(ceil_div(result, count) + kernel - 1);
  a.extent = std::min(a.transform, image);
  a.result = a.extent - kernel + 1;
  a.count = ceil_div(result, a.result);
  return a;
}

Work work_of(const Cut& cut, const LayerShape& l) {
  const Size n = cut.transform();
  const int columns = n.width / 2 + 1;  // of the transform of real values
  const double half = columns, depth = n.depth, height = n.height;
  const double row = kRows * element_cost(n.width), column = element_cost(n.height),
               across = element_cost(n.depth);
  // Transforms of an image of extent z and y: rows, columns of its planes, lines across planes.
  const auto transform = [&](double z, double y) {
    return half * (row * z * y + z * height * column + depth * height * across);
  };
  const double patches = double(cut.count()) * l.batch, kernels = double(l.channels) * l.outputs;
  Work w;
  w.image_passes = patches * (l.channels * transform(cut.depth.extent, cut.height.extent) +
                              l.outputs * transform(cut.depth.result, cut.height.result));
  w.kernel_passes = kernels * transform(l.kernel.depth, l.kernel.height);
  w.products = kernels * patches * depth * height * half;
  return w;
}

Cut best_cut(const LayerShape& l) {
  Cut best = {cut_axis(l.image.depth, l.kernel.depth, 1), cut_axis(l.image.height, l.kernel.height, 1),
              cut_axis(l.image.width, l.kernel.width, 1)};
  double least = std::numeric_limits<double>::infinity();
  const auto depths = cuts_of(l.image.depth, l.kernel.depth),
             heights = cuts_of(l.image.height, l.kernel.height),
             widths = cuts_of(l.image.width, l.kernel.width);
  for (const Axis& z : depths) {
    for (const Axis& y : heights) {
      for (const Axis& x : widths) {
        const Cut c = {z, y, x};
        if (c.transform().elements() > kMostElements) continue;
        if (const double t = cost(c, l); t < least) {
          least = t;
          best = c;
        }
      }
    }
  }
  return best;
}

Work work_of(const LayerShape& l, Method method) {
  if (method == Method::Patches) return work_of(best_cut(l), l);
  const Size result = l.result();
  if (method == Method::Naive || method == Method::Blocked) {
    constexpr int kLanes = 16;  // of the widest registers
    Work w;
    w.multiplies = double(l.batch) * l.channels * l.outputs * double(l.kernel.elements()) * result.depth *
                   result.height * (method == Method::Naive ? result.width : align_up(result.width, kLanes));
    return w;
  }
  return work_of({cut_axis(l.image.depth, l.kernel.depth, 1), cut_axis(l.image.height, l.kernel.height, 1),
                  cut_axis(l.image.width, l.kernel.width, 1)},
                 l);
}

}  // namespace kaiten::fft
