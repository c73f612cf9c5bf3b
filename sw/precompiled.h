// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What most of the software includes, compiled once (cmake/KaitenPrecompiled.cmake). Sources include what they use all the same.
#ifndef KAITEN_PRECOMPILED_H
#define KAITEN_PRECOMPILED_H

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#endif  // KAITEN_PRECOMPILED_H
