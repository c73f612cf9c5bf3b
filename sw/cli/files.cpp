// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/files.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>
#include <utility>

#include "base/error.h"
#include "cli/interrupt.h"

namespace kaiten::cli {

namespace {

constexpr std::uintmax_t kMaxFileBytes = std::uintmax_t(1) << 32;

std::vector<std::uint8_t> read_all(std::istream& in, const std::string& shown) {
  std::vector<std::uint8_t> bytes;
  char block[65536];
  while (in.read(block, sizeof block) || in.gcount() > 0) {
    bytes.insert(bytes.end(), block, block + in.gcount());
    if (bytes.size() > kMaxFileBytes) throw InputError("cannot read " + shown + ": larger than 4 GiB");
    check_interrupt();
  }
  return bytes;
}

}  // namespace

std::vector<std::uint8_t> read_file(const std::filesystem::path& path) {
  if (path == kStandardInput) {
    static bool read = false;
    if (std::exchange(read, true)) throw InputError("standard input is one file, not two");
    return read_all(std::cin, "standard input");
  }
  const std::string shown = "'" + path.string() + "'";
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    throw InputError("cannot read " + shown + ": it is a folder");
  std::ifstream file(path, std::ios::binary);
  if (!file) throw InputError("cannot read " + shown + ": " + std::strerror(errno));
  return read_all(file, shown);
}

std::vector<std::string> read_labels(const std::string& file) {
  std::vector<std::string> labels;
  if (file.empty()) return labels;
  const std::vector<std::uint8_t> bytes = read_file(file);
  std::string line;
  for (std::uint8_t b : bytes) {
    if (b == '\n') {
      labels.push_back(line);
      line.clear();
    } else if (b != '\r') {
      line.push_back(char(b));
    }
  }
  if (!line.empty()) labels.push_back(line);
  return labels;
}

}  // namespace kaiten::cli
