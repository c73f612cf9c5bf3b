// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// How dense the output of each layer of a network is, by name. The tool carries values for the six networks
// of the cDMA paper: they are this project's own, made by models/tables/make_densities.py, which says how,
// because the paper prints those of single layers as bars only.
#ifndef KAITEN_OFFLOAD_DENSITIES_H
#define KAITEN_OFFLOAD_DENSITIES_H

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "plan/network.h"

namespace kaiten::offload {

struct Densities {
  int batch = 1;                         // that the paper trains with (table II)
  std::map<std::string, double> layers;  // 0 to 1
};

// Those of a network the tool knows, by its name.
std::optional<Densities> known_densities(const std::string& network);

// The same form for other networks: {"batch": 64, "layers": {"conv1": 0.5, ...}}, the batch optional. Throws
// InputError "FILE:LINE:COLUMN: ...".
Densities read_densities(std::string_view text, const std::string& file);

}  // namespace kaiten::offload

#endif  // KAITEN_OFFLOAD_DENSITIES_H
