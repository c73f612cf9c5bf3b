// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/files.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>
#include <utility>

#include "base/error.h"
#include "cli/interrupt.h"
#include "metadata/labels.h"

namespace kaiten::cli {

namespace fs = std::filesystem;

namespace {

std::vector<std::uint8_t> read_all(std::istream& in, const std::string& shown, std::uint64_t limit) {
  std::vector<std::uint8_t> bytes;
  char block[65536];
  while (in.read(block, sizeof block) || in.gcount() > 0) {
    bytes.insert(bytes.end(), block, block + in.gcount());
    if (bytes.size() > limit)
      throw InputError("cannot read " + shown + ": limit " + std::to_string(limit) + " bytes, found more");
    check_interrupt();
  }
  return bytes;
}

}  // namespace

std::vector<std::uint8_t> read_file(const fs::path& path, FileKind kind) {
  const auto limit = std::uint64_t(kind);
  if (path == kStandardInput) {
    static bool read = false;
    if (std::exchange(read, true)) throw InputError("standard input is one file, not two");
    return read_all(std::cin, "standard input", std::min(limit, kMaxPipedBytes));
  }
  const std::string shown = "'" + path.string() + "'";
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) throw InputError("cannot read " + shown + ": it is a folder");
  const bool device = fs::is_block_file(status) || fs::is_character_file(status);
  std::ifstream file(path, std::ios::binary);
  if (!file) throw InputError("cannot read " + shown + ": " + std::strerror(errno));
  if (device) throw InputError("cannot read " + shown + ": it is a device");
  if (!fs::is_regular_file(status)) return read_all(file, shown, std::min(limit, kMaxPipedBytes));
  if (const std::uint64_t bytes = fs::file_size(path, error); !error && bytes > limit) {
    throw InputError("cannot read " + shown + ": limit " + std::to_string(limit) + " bytes, found " +
                     std::to_string(bytes));
  }
  return read_all(file, shown, limit);
}

std::vector<std::string> read_labels(const std::string& file) {
  if (file.empty()) return {};
  const std::vector<std::uint8_t> bytes = read_file(file, FileKind::kText);
  return metadata::lines_of({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace kaiten::cli
