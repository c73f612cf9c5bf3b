// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "compile/spans/shared_weights.h"

#include "program/memory_layout.h"

namespace kaiten {

SharedWeights::SharedWeights(const Lowering& lowering, const Config& config) {
  const std::vector<std::size_t> owners = weight_owners(lowering.ops);
  std::vector<int> users(owners.size());
  for (const std::size_t owner : owners) users[owner]++;
  for (std::size_t i = 0; i < owners.size(); i++) {
    const LoweredOp& op = lowering.ops[i];
    if (!on_device(op.engine)) continue;
    Place place{owners[i], users[owners[i]] > 1, 0};
    if (place.shared)
      place.bytes = std::int64_t(op.weight_rows(0, op.tiles())) * 9 * config.cp +
                    std::int64_t(op.param_words(op.tiles())) * kRequantBytes;
    places_.push_back(place);
  }
}

bool SharedWeights::brings(std::size_t p, std::size_t i) const {
  if (!places_[i].shared) return true;
  for (std::size_t k = p; k < i; k++) {
    if (places_[k].owner == places_[i].owner) return false;
  }
  return true;
}

std::int64_t SharedWeights::bytes(std::size_t p, std::size_t q) const {
  std::int64_t sum = 0;
  for (std::size_t i = p; i < q; i++) {
    if (places_[i].shared && brings(p, i)) sum += places_[i].bytes;
  }
  return sum;
}

}  // namespace kaiten
