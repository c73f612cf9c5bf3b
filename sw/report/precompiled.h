// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What most reports include, compiled once (cmake/KaitenPrecompiled.cmake). Sources include what they use all the same.
#ifndef KAITEN_REPORT_PRECOMPILED_H
#define KAITEN_REPORT_PRECOMPILED_H

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#endif  // KAITEN_REPORT_PRECOMPILED_H
