// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Bandwidth of links that several transfers share: max-min fair shares by progressive filling (Bertsekas and Gallager, Data
// Networks, section 6.5.2). All shares grow together until a link is full; those that cross it keep what they have.
#ifndef KAITEN_SWAP_FAIR_H
#define KAITEN_SWAP_FAIR_H

#include <vector>

namespace kaiten::swap {

// Of each flow its share, in the unit of `capacity`; a flow lists the links it crosses, at least one, each once.
std::vector<double> fair_shares(const std::vector<double>& capacity,
                                const std::vector<std::vector<int>>& flows);

}  // namespace kaiten::swap

#endif  // KAITEN_SWAP_FAIR_H
