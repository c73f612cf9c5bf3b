// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// A program as a file for systems without this compiler: commands, constants, where inputs and outputs lie, what the device
// must be. docs/formats/program_image.md is the format; sw/firmware reads it.
#ifndef KAITEN_DEVICE_PROGRAM_IMAGE_H
#define KAITEN_DEVICE_PROGRAM_IMAGE_H

#include <cstdint>
#include <vector>

#include "graph/graph.h"
#include "program/program.h"

namespace kaiten {

// Bytes of an image. Inputs and outputs are those of the device: operators on the host at the network's ends are not part of
// it. Throws InputError where a size does not fit into 32 bits.
std::vector<std::uint8_t> program_image(const Program& program, const Graph& graph);

}  // namespace kaiten

#endif  // KAITEN_DEVICE_PROGRAM_IMAGE_H
