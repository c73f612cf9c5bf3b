// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Files of the tool. Output appears under its name only when it is complete.
#ifndef KAITEN_CLI_FILES_H
#define KAITEN_CLI_FILES_H

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace kaiten::cli {

// Both throw InputError naming the file and the reason.
std::vector<std::uint8_t> read_file(const std::filesystem::path& path);
void write_file(const std::filesystem::path& path, std::span<const std::uint8_t> bytes);
void write_file(const std::filesystem::path& path, const std::string& text);
// The same error before the work rather than after it: the folder of an output is missing or may not be
// written.
void require_writable(const std::filesystem::path& path);

}  // namespace kaiten::cli

#endif  // KAITEN_CLI_FILES_H
