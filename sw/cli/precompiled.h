// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What most commands include, compiled once (cmake/KaitenPrecompiled.cmake). Sources include what they use all the same.
#ifndef KAITEN_CLI_PRECOMPILED_H
#define KAITEN_CLI_PRECOMPILED_H

#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <nlohmann/json.hpp>

#endif  // KAITEN_CLI_PRECOMPILED_H
