// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Weight-shared SuperNets: the convolutions of the largest network, of which every SubNet keeps the first kernels and the
/// first channels, and the first blocks of every stage. Depthwise kernels of another size are other weights (Once-for-All
/// transforms them), so each size is a slot of its own. Sizes are int8 weights, batch normalisation folded, without biases.
/// Source: Cai et al., "Once-for-All" (ICLR 2020), and mit-han-lab/once-for-all for the encodings.
#ifndef KAITEN_SUPERNET_SUPERNET_H
#define KAITEN_SUPERNET_SUPERNET_H

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace kaiten::supernet {

/// What a SubNet or a SubGraph has of a slot. Both 0: nothing.
struct Extent {
  int kernels = 0;   ///< the first so many output channels
  int channels = 0;  ///< of each, the first so many input channels; depthwise: 1
  auto operator<=>(const Extent&) const = default;  ///< field by field
};

/// A convolution or fully connected layer of the SuperNet.
struct Slot {
  std::string name;         ///< "stage3.block2.conv1"
  int kernel = 1;           ///< rows and columns
  std::int64_t pixels = 1;  ///< of the output, the same in every SubNet
  bool depthwise = false;   ///< one channel a kernel
  bool classifier = false;  ///< the last layer, which the published sizes leave out
  Extent most = {};         ///< in the largest SubNet

  /// Weights of one kernel and channel.
  std::int64_t area() const { return std::int64_t(kernel) * kernel; }
};

/// One extent a slot: the vector of kernels and channels that stands for a SubNet or a SubGraph.
using Encoding = std::vector<Extent>;

/// The convolutions of a SuperNet for one size of image.
struct SuperNet {
  std::string name;         ///< "ofa-resnet50"
  int image = 0;            ///< rows and columns
  std::vector<Slot> slots;  ///< in the order of the network
};

/// int8 weights of an encoding; one that does not fit the slots is a std::logic_error.
std::int64_t weight_bytes(const SuperNet& net, const Encoding& encoding, bool classifier = true);
/// Multiply-accumulates of an inference.
std::int64_t macs(const SuperNet& net, const Encoding& encoding);
/// What both hold, slot by slot: both are prefixes, so the smaller of each number.
Encoding intersection(const Encoding& a, const Encoding& b);

/// Once-for-All's rounding of channels: to multiples of 8, nearest, never below 90 % of `wish`.
int rounded_channels(double wish);

}  // namespace kaiten::supernet

#endif  // KAITEN_SUPERNET_SUPERNET_H
