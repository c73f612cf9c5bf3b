// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "evaluate/journal.h"

#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include "base/error.h"
#include "base/output.h"

namespace kaiten {

namespace {

[[noreturn]] void fail(const std::filesystem::path& path) {
  throw InputError("cannot write '" + path.string() + "': " + std::strerror(errno));
}

}  // namespace

Journal::Journal(std::filesystem::path path, const std::string& first_line) : path_(std::move(path)) {
  file_ = open_kept(path_);
  if (::flock(file_, LOCK_EX | LOCK_NB) != 0) {
    ::close(file_);
    throw InputError("'" + path_.string() + "' is in use by another run");
  }
  std::ifstream stream(path_, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(stream), {});
  std::size_t whole = 0;  // up to the last line break: what follows was cut off
  for (std::size_t end = 0; (end = text.find('\n', whole)) != std::string::npos; whole = end + 1)
    lines_.push_back(text.substr(whole, end - whole));
  // Without a whole line it is the beginning of the first one or no journal.
  if (lines_.empty() ? !first_line.starts_with(text) : lines_.front() != first_line) {
    ::close(file_);
    throw InputError("'" + path_.string() + "' belongs to another run (model, images or options): remove it");
  }
  if (::ftruncate(file_, off_t(whole)) != 0 || ::lseek(file_, 0, SEEK_END) < 0) {
    ::close(file_);
    fail(path_);
  }
  if (lines_.empty()) {
    add(first_line);
  } else {
    lines_.erase(lines_.begin());
  }
}

Journal::~Journal() { ::close(file_); }

void Journal::add(const std::string& line) {
  const std::string whole = line + "\n";
  std::size_t at = 0;
  while (at < whole.size()) {
    const ssize_t n = ::write(file_, whole.data() + at, whole.size() - at);
    if (n < 0 && errno != EINTR) fail(path_);
    at += n < 0 ? 0 : std::size_t(n);
  }
}

void Journal::finish() {
  std::error_code error;
  std::filesystem::remove(path_, error);
}

}  // namespace kaiten
