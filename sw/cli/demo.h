// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The demo network (models/demo), part of the program so that it runs anywhere.
#ifndef KAITEN_CLI_DEMO_H
#define KAITEN_CLI_DEMO_H

#include <cstddef>
#include <cstdint>
#include <span>

namespace kaiten::cli {

inline constexpr const char* kDemoName = "demo";

std::span<const std::uint8_t> demo_model();
// A hundred images of 32 x 32 pixels, one byte each.
std::span<const std::uint8_t> demo_images();
inline constexpr std::size_t kDemoImageBytes = 1024;

}  // namespace kaiten::cli

#endif  // KAITEN_CLI_DEMO_H
