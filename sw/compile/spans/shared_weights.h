// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Operators of one span that have the same weights and parameters, as the slices of a volume have: the first of them brings
// these, the others find them there. Places are positions among the operators of the device, in their order.
#ifndef KAITEN_COMPILE_SPANS_SHARED_WEIGHTS_H
#define KAITEN_COMPILE_SPANS_SHARED_WEIGHTS_H

#include <cstddef>
#include <cstdint>
#include <vector>

#include "compile/lower/lowered.h"
#include "program/config.h"

namespace kaiten {

class SharedWeights {
 public:
  SharedWeights(const Lowering& lowering, const Config& config);

  // False where an operator of the span, which begins at p, has the weights of the one at i and comes before it.
  bool brings(std::size_t p, std::size_t i) const;
  // What a span [p, q) loads for those of its operators that share weights, inside the span or beyond: the others load
  // theirs once in any plan.
  std::int64_t bytes(std::size_t p, std::size_t q) const;

 private:
  struct Place {
    std::size_t owner = 0;
    bool shared = false;
    std::int64_t bytes = 0;
  };
  std::vector<Place> places_;
};

}  // namespace kaiten

#endif  // KAITEN_COMPILE_SPANS_SHARED_WEIGHTS_H
