// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "base/resumable_output.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include "base/error.h"
#include "base/output.h"

namespace kaiten {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(const fs::path& name) {
  throw InputError("cannot write '" + name.string() + "': " + std::strerror(errno));
}

fs::path part_of(const fs::path& name) { return name.string() + ".part"; }
fs::path state_file(const fs::path& name) { return name.string() + ".part.state"; }

}  // namespace

std::optional<std::string> ResumableOutput::state_of(const fs::path& name) {
  std::ifstream in(state_file(name), std::ios::binary);
  if (!in || !fs::exists(part_of(name))) return std::nullopt;
  std::string text(std::istreambuf_iterator<char>(in), {});
  if (in.bad()) throw InputError("cannot read '" + state_file(name).string() + "'");
  return text;
}

ResumableOutput::ResumableOutput(fs::path name, std::uint64_t bytes, bool go_on, const std::string& state)
    : name_(std::move(name)), part_(part_of(name_)) {
  require_writable(name_);
  if (!is_replaceable(name_))
    throw InputError("cannot write '" + name_.string() + "': it grows in parts and must be a regular file");
  const bool ours = fs::is_regular_file(fs::symlink_status(state_file(name_)));
  const bool fresh = !fs::exists(fs::symlink_status(part_));
  if (!fresh && !ours) {
    throw InputError("cannot write '" + part_.string() +
                     "': something else than a file of an interrupted run stands there");
  }
  file_ = open_kept(part_);
  try {
    if ((!go_on && ::ftruncate(file_, 0) != 0) || ::ftruncate(file_, off_t(bytes)) != 0) fail(part_);
    note(state);
  } catch (...) {
    ::close(std::exchange(file_, -1));
    std::error_code ignored;
    if (fresh) fs::remove(part_, ignored);
    throw;
  }
}

ResumableOutput::~ResumableOutput() {
  if (file_ >= 0) ::close(file_);
}

void ResumableOutput::write(std::uint64_t offset, std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::pwrite(file_, bytes.data(), bytes.size(), off_t(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(part_);
    bytes = bytes.subspan(std::size_t(n));
    offset += std::uint64_t(n);
  }
}

void ResumableOutput::note(const std::string& state) {
  if (::fdatasync(file_) != 0) fail(part_);
  write_output(state_file(name_), state);
}

void ResumableOutput::commit() {
  if (::fsync(file_) != 0) fail(part_);
  if (::close(std::exchange(file_, -1)) != 0) fail(part_);
  move_to(part_, name_);
  std::error_code ignored;
  fs::remove(state_file(name_), ignored);
}

}  // namespace kaiten
