// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The register `options`: what of it commands need, for the driver, which asks the device, and for program images, whose
// reader does.
#ifndef KAITEN_DEVICE_OPTIONS_H
#define KAITEN_DEVICE_OPTIONS_H

#include <cstdint>
#include <string>

#include "program/command.h"

namespace kaiten {

// The bits that a command needs.
std::uint32_t options_of(const Command& command);
// The first of these bits that a device with the bits `there` lacks, in words: "mode 3x3, the device has 1x1, 3x1". Empty where it
// has all.
std::string lacking(std::uint32_t needed, std::uint32_t there);

}  // namespace kaiten

#endif  // KAITEN_DEVICE_OPTIONS_H
