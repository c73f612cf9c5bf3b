// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "fft/pooling.h"

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <vector>

namespace kaiten::fft {
namespace {

std::size_t index(const Size& size, int z, int y, int x) {
  return (std::size_t(z) * std::size_t(size.height) + std::size_t(y)) * std::size_t(size.width) +
         std::size_t(x);
}

Size offset_of(int fragment, const Size& window) {
  return {fragment / (window.height * window.width), fragment / window.width % window.height,
          fragment % window.width};
}

// to[i] becomes the larger of both.
template <typename T>
void raise(T* to, const T* from, int count) {
  for (int i = 0; i < count; i++) to[i] = to[i] < from[i] ? from[i] : to[i];
}

// For each x the maximum of a window that begins at (z, y, x), as far as windows fit. `columns` holds a row.
template <typename T>
void maxima_of_row(const T* image, const Size& size, const Size& window, int z, int y, T* columns,
                   T* maxima) {
  std::copy_n(image + index(size, z, y, 0), size.width, columns);
  for (int dz = 0; dz < window.depth; dz++) {
    for (int dy = dz == 0 ? 1 : 0; dy < window.height; dy++)
      raise(columns, image + index(size, z + dz, y + dy, 0), size.width);
  }
  const int count = size.width - window.width + 1;
  std::copy_n(columns, count, maxima);
  for (int dx = 1; dx < window.width; dx++) raise(maxima, columns + dx, count);
}

// Every `step`-th.
template <typename T>
void thin(const T* from, int step, T* to, int count) {
  for (int i = 0; i < count; i++) to[i] = from[std::ptrdiff_t(i) * step];
}

[[noreturn]] void refuse(const PoolShape& shape, const char* what) {
  throw std::invalid_argument("windows of " + shape.window.text() + " on images of " + shape.image.text() +
                              ": " + what);
}

std::size_t images_of(const PoolShape& shape) {
  return std::size_t(shape.batch) * std::size_t(shape.channels);
}

}  // namespace

Size PoolShape::pooled() const {
  return {image.depth / window.depth, image.height / window.height, image.width / window.width};
}

Size PoolShape::fragment() const {
  // A window of 1 leaves an axis as it is, (n + 1) / 1 - 1 = n.
  return {(image.depth + 1) / window.depth - 1, (image.height + 1) / window.height - 1,
          (image.width + 1) / window.width - 1};
}

template <typename T>
Array<T> max_pool(const PoolShape& shape, const Array<T>& images, Workers& workers, Memory& memory) {
  const Size pooled = shape.pooled();
  if (pooled.elements() * shape.window.elements() != shape.image.elements())
    refuse(shape, "the image is no multiple of the window");
  const std::size_t n = shape.image.elements(), m = pooled.elements();
  Array<T> result(memory, images_of(shape) * m);
  const Size& w = shape.window;
  workers.each(std::int64_t(images_of(shape)), [&](std::int64_t i, int) {
    const T* image = images.data() + std::size_t(i) * n;
    T* to = result.data() + std::size_t(i) * m;
    std::vector<T> row(std::size_t(shape.image.width) * 2);
    T* maxima = row.data() + shape.image.width;
    for (int z = 0; z < pooled.depth; z++) {
      for (int y = 0; y < pooled.height; y++, to += pooled.width) {
        maxima_of_row(image, shape.image, w, z * w.depth, y * w.height, row.data(), maxima);
        thin(maxima, w.width, to, pooled.width);
      }
    }
  });
  return result;
}

template <typename T>
Array<T> max_pool_fragments(const PoolShape& shape, const Array<T>& images, Workers& workers,
                            Memory& memory) {
  const auto fits = [](int image, int window) { return (image + 1) % window == 0 && image + 1 > window; };
  const Size fragment = shape.fragment();
  if (!fits(shape.image.depth, shape.window.depth) || !fits(shape.image.height, shape.window.height) ||
      !fits(shape.image.width, shape.window.width))
    refuse(shape, "the image plus 1 is no multiple of the window, or no larger than it");
  const std::size_t n = shape.image.elements(), m = fragment.elements();
  const auto channels = std::size_t(shape.channels), fragments = std::size_t(shape.fragments());
  Array<T> result(memory, images_of(shape) * fragments * m);
  const Size& w = shape.window;
  workers.each(std::int64_t(images_of(shape)), [&](std::int64_t i, int) {
    const std::size_t s = std::size_t(i) / channels, c = std::size_t(i) % channels;
    const T* image = images.data() + std::size_t(i) * n;
    std::vector<T> row(std::size_t(shape.image.width) * 2);
    T* maxima = row.data() + shape.image.width;
    // Every position of a window once: it belongs to one fragment.
    for (int z = 0; z < fragment.depth * w.depth; z++) {
      for (int y = 0; y < fragment.height * w.height; y++) {
        maxima_of_row(image, shape.image, w, z, y, row.data(), maxima);
        for (int dx = 0; dx < w.width; dx++) {
          const std::size_t f = index(w, z % w.depth, y % w.height, dx);
          T* to = result.data() + ((s * fragments + f) * channels + c) * m;
          thin(maxima + dx, w.width, to + index(fragment, z / w.depth, y / w.height, 0), fragment.width);
        }
      }
    }
  });
  return result;
}

Size assembled(const Size& fragment, std::span<const Size> windows) {
  Size whole = fragment;
  for (const Size& w : windows)
    whole = {whole.depth * w.depth, whole.height * w.height, whole.width * w.width};
  return whole;
}

template <typename T>
Array<T> assemble(int batch, int channels, const Size& fragment, std::span<const Size> windows,
                  const Array<T>& fragments, Memory& memory) {
  const Size whole = assembled(fragment, windows);
  Array<T> result(memory, std::uint64_t(batch) * std::uint64_t(channels) * whole.elements());
  int count = 1;
  for (const Size& w : windows) count *= int(w.elements());
  const T* from = fragments.data();
  for (int s = 0; s < batch; s++) {
    for (int f = 0; f < count; f++) {
      // Where the fragment begins, and how far apart its elements are: the last window's offset counts most.
      Size begin = {0, 0, 0}, step = {1, 1, 1};
      int left = count, rest = f;
      for (const Size& w : windows) {
        left /= int(w.elements());
        const Size offset = offset_of(rest / left, w);
        rest %= left;
        begin = {begin.depth + step.depth * offset.depth, begin.height + step.height * offset.height,
                 begin.width + step.width * offset.width};
        step = {step.depth * w.depth, step.height * w.height, step.width * w.width};
      }
      for (int c = 0; c < channels; c++) {
        T* to = result.data() + (std::size_t(s) * std::size_t(channels) + std::size_t(c)) * whole.elements();
        for (int z = 0; z < fragment.depth; z++) {
          for (int y = 0; y < fragment.height; y++) {
            for (int x = 0; x < fragment.width; x++) {
              to[index(whole, begin.depth + z * step.depth, begin.height + y * step.height,
                       begin.width + x * step.width)] = *from++;
            }
          }
        }
      }
    }
  }
  return result;
}

#define KAITEN_INSTANTIATE(T)                                                                    \
  template Array<T> max_pool<T>(const PoolShape&, const Array<T>&, Workers&, Memory&);           \
  template Array<T> max_pool_fragments<T>(const PoolShape&, const Array<T>&, Workers&, Memory&); \
  template Array<T> assemble<T>(int, int, const Size&, std::span<const Size>, const Array<T>&, Memory&);
KAITEN_INSTANTIATE(float)
KAITEN_INSTANTIATE(double)
KAITEN_INSTANTIATE(std::int8_t)
#undef KAITEN_INSTANTIATE

}  // namespace kaiten::fft
