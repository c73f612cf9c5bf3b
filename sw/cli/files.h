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

// The most that a file of a kind may hold; looked at before it is read where its size is known.
enum class FileKind : std::uint64_t {
  kText = std::uint64_t(1) << 28,      // tables, JSON, CSV, names of classes
  kElements = std::uint64_t(1) << 32,  // tensors, images, models
};
// Of what comes through a pipe and tells no size, at most.
constexpr std::uint64_t kMaxPipedBytes = std::uint64_t(1) << 28;

// '-' is standard input, which can be read once. Throws InputError naming the file and the reason: a folder, a device, which
// may have no end, more than the limit.
std::vector<std::uint8_t> read_file(const std::filesystem::path& path, FileKind kind = FileKind::kElements);

// The lines of a file, names of classes; none without a name. Throws InputError.
std::vector<std::string> read_labels(const std::string& file);

}  // namespace kaiten::cli

#endif  // KAITEN_CLI_FILES_H
