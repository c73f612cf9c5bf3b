// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What the tool reads.
#ifndef KAITEN_CLI_FILES_H
#define KAITEN_CLI_FILES_H

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace kaiten::cli {

constexpr std::string_view kStandardInput = "-";

// '-' is standard input, which can be read once. Throws InputError naming the file and the reason.
std::vector<std::uint8_t> read_file(const std::filesystem::path& path);

// The lines of a file, names of classes; none without a name. Throws InputError.
std::vector<std::string> read_labels(const std::string& file);

}  // namespace kaiten::cli

#endif  // KAITEN_CLI_FILES_H
