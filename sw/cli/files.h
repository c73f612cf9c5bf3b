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

}  // namespace kaiten::cli

#endif  // KAITEN_CLI_FILES_H
