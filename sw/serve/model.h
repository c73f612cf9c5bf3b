// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What a SubNet costs with a SubGraph in PB, by an analytic model, and the tables it fills. Its rules:
///  - the array takes ceil(K / KP) * ceil(C / CP) * pixels * ceil(k * k / 9) cycles for a k x k layer of K kernels and C
///    channels; a 1x1 or fully connected one ceil(K / KP) * ceil(C / (9 * CP)) * pixels;
///  - the vector engine takes ceil(C / (3 * CP)) * pixels * ceil(k / 3)^2 for a depthwise layer: 1, 4, 9 slots for 3x3, 5x5,
///    7x7;
///  - weights that PB lacks are read at the bus's width while the layer computes: a layer takes the larger of both times, and
///    the weights of the first one are waited for;
///  - weights that PB holds are not read: of a layer, those in both prefixes;
///  - activations stay on chip but for image and result; other operators (pooling, additions, activations) take no time;
///    biases and scales are not counted.
/// Sizes of buffers other than PB play no part.
#ifndef KAITEN_SERVE_MODEL_H
#define KAITEN_SERVE_MODEL_H

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "serve/table.h"
#include "supernet/families.h"

namespace kaiten::serve {

/// What the model knows of an accelerator.
struct Accelerator {
  std::string name;           ///< for reports
  int kp = 0;                 ///< kernels of a tile
  int cp = 0;                 ///< channels of a tile, of nine multipliers each
  double bus_bytes = 0;       ///< a cycle
  double megahertz = 0;       ///< of its clock
  std::int64_t pb_bytes = 0;  ///< of weights; 0: no PB
};

/// Of one inference.
struct Cost {
  std::int64_t array_cycles = 0;   ///< of the array alone
  std::int64_t vector_cycles = 0;  ///< of the vector engine alone
  double bus_cycles = 0;           ///< weights, image and result at the bus's width
  double cycles = 0;               ///< all together
  std::int64_t weight_bytes = 0;   ///< read from memory
  std::int64_t other_bytes = 0;    ///< image read, result written
};

/// By the rules above.
Cost analytic_cost(const Accelerator& accelerator, const supernet::SuperNet& net,
                   const supernet::Encoding& subnet, const supernet::Encoding& subgraph);

/// Anything that knows the cost of a SubNet with a SubGraph; called by several threads at once.
using Costs = std::function<Cost(const supernet::Encoding& subnet, const supernet::Encoding& subgraph)>;

/// A SubGraph and what it is called.
struct Candidate {
  std::string name;             ///< unique
  supernet::Encoding encoding;  ///< within PB
};

/// The table of a family's SubNets and these SubGraphs, the empty PB before them, by `threads` threads. `origin` says what
/// the costs come from.
Table fill(const supernet::Family& family, std::span<const Candidate> candidates,
           const Accelerator& accelerator, const Costs& costs, const std::string& origin, int threads = 1);

/// As much of a slot as some SubNet can use: PB serves whole tiles of kernels and whole passes of channels, unless a SubNet
/// ends there.
supernet::Extent useful(const Accelerator& accelerator, const supernet::Family& family, std::size_t slot,
                        supernet::Extent e);

/// SubGraphs of at most the accelerator's PB and near it, at most `count`, none twice: intersections of SubNets, SubNets with
/// all kernels scaled, then layers taken in orders drawn from the seed, each as far as PB reaches, all of it useful.
std::vector<Candidate> candidates(const supernet::Family& family, const Accelerator& accelerator,
                                  std::size_t count, std::uint64_t seed);

}  // namespace kaiten::serve

#endif  // KAITEN_SERVE_MODEL_H
