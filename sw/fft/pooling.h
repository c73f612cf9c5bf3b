// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Pooling layers for networks that slide over a volume (ZNNi, section V). Plain maximum pooling leaves one
/// result for p x p x p positions of the network; max-pooling fragments keep all of them, as p^3 times as many
/// smaller images, so that every layer is computed once for all positions. Images [batch][channel][element],
/// dense.
#ifndef KAITEN_FFT_POOLING_H
#define KAITEN_FFT_POOLING_H

#include <span>

#include "fft/memory.h"
#include "fft/size.h"
#include "fft/workers.h"

namespace kaiten::fft {

/// Of a pooling layer.
struct PoolShape {
  int batch = 1;     ///< images
  int channels = 1;  ///< of an image
  Size image;        ///< elements of a channel
  Size window;       ///< also the distance between windows

  Size pooled() const;    ///< result of max_pool: image / window
  Size fragment() const;  ///< image of max_pool_fragments: (image + 1) / window - 1
  int fragments() const {
    return int(window.elements());
  }  ///< of an image: one for each offset in the window
};

/// The maximum of every window; windows lie side by side from the first element on, and the image is a
/// multiple of them: std::invalid_argument otherwise. Throws OutOfMemory. T: float, double or int8.
template <typename T>
Array<T> max_pool(const PoolShape& shape, const Array<T>& images, Workers& workers, Memory& memory);

/// Fragment (z, y, x) of an image is what max_pool gives from that offset on. All have one size when image + 1
/// is a multiple of the window: std::invalid_argument otherwise. The results' batch is batch * fragments():
/// [image of the batch][z][y][x][channel][element]. Throws OutOfMemory.
template <typename T>
Array<T> max_pool_fragments(const PoolShape& shape, const Array<T>& images, Workers& workers, Memory& memory);

/// Puts what a network made of fragments together again: `windows` are those of its fragment layers, first
/// layer first, `fragment` is the size of its last images, `batch` what it began with. Per axis, element f of
/// the fragment with offsets o1, o2, ... is element o1 + w1 * (o2 + w2 * (... f)) of the whole, which has the
/// size assembled(). Throws OutOfMemory.
template <typename T>
Array<T> assemble(int batch, int channels, const Size& fragment, std::span<const Size> windows,
                  const Array<T>& fragments, Memory& memory);
/// Size of the whole that assemble() makes of fragments of this size.
Size assembled(const Size& fragment, std::span<const Size> windows);

}  // namespace kaiten::fft

#endif  // KAITEN_FFT_POOLING_H
