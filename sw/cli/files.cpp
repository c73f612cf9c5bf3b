// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/files.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "base/error.h"

namespace kaiten::cli {

namespace {

constexpr std::uintmax_t kMaxFileBytes = std::uintmax_t(1) << 32;

}  // namespace

std::vector<std::uint8_t> read_file(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    throw InputError("cannot read '" + path.string() + "': it is a folder");
  std::ifstream file(path, std::ios::binary);
  if (!file) throw InputError("cannot read '" + path.string() + "': " + std::strerror(errno));
  std::vector<std::uint8_t> bytes;
  char block[65536];
  while (file.read(block, sizeof block) || file.gcount() > 0) {
    bytes.insert(bytes.end(), block, block + file.gcount());
    if (bytes.size() > kMaxFileBytes)
      throw InputError("cannot read '" + path.string() + "': larger than 4 GiB");
  }
  return bytes;
}

void write_file(const std::filesystem::path& path, std::span<const std::uint8_t> bytes) {
  const auto fail = [&] {
    throw InputError("cannot write '" + path.string() + "': " + std::strerror(errno));
  };
  // A device or a pipe cannot be replaced.
  std::error_code error;
  const bool special = std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error);
  const std::string partial = special ? path.string() : path.string() + ".part" + std::to_string(getpid());
  std::FILE* file = std::fopen(partial.c_str(), "wb");
  if (file == nullptr) fail();
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  const bool closed = std::fclose(file) == 0;
  if (!written || !closed || (!special && std::rename(partial.c_str(), path.c_str()) != 0)) {
    const int reason = errno;
    if (!special) std::remove(partial.c_str());
    errno = reason;
    fail();
  }
}

void write_file(const std::filesystem::path& path, const std::string& text) {
  write_file(path, std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
}

void require_writable(const std::filesystem::path& path) {
  if (path.empty() || path == "-") return;
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  std::error_code error;
  const bool exists = std::filesystem::exists(path, error);
  const bool special = exists && !std::filesystem::is_regular_file(path, error);
  if (std::filesystem::is_directory(path, error))
    throw InputError("cannot write '" + path.string() + "': it is a folder");
  // A file is replaced, which its folder must allow; a device or a pipe is written to.
  if (access((special ? path : folder).c_str(), W_OK) != 0)
    throw InputError("cannot write '" + path.string() + "': " + std::strerror(errno));
}

}  // namespace kaiten::cli
