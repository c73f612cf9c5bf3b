// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "base/output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <utility>
#include <vector>

#include "base/error.h"

namespace kaiten {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(const fs::path& name, const std::string& reason) {
  throw InputError("cannot write '" + name.string() + "': " + reason);
}
[[noreturn]] void fail(const fs::path& name) { fail(name, std::strerror(errno)); }

class Descriptor {
 public:
  Descriptor(fs::path name, int file) : name_(std::move(name)), file_(file) {
    if (file_ < 0) fail(name_);
  }
  ~Descriptor() {
    if (file_ >= 0) ::close(file_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  void write(std::span<const std::uint8_t> bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::write(file_, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) fail(name_);
      bytes = bytes.subspan(std::size_t(n));
    }
  }
  // Errors of a delayed write show here.
  void close() {
    if (::close(std::exchange(file_, -1)) != 0) fail(name_);
  }

 private:
  fs::path name_;
  int file_;
};

// By the rights that opening will have.
bool may(const fs::path& name, int mode) {
  return ::faccessat(AT_FDCWD, name.c_str(), mode, AT_EACCESS) == 0;
}

bool is_standard_output(const fs::path& name) { return name == kStandardOutput; }

// Of the name itself, not of what a link leads to.
bool is_replaceable(const fs::path& name) {
  const fs::file_status status = fs::symlink_status(name);
  return !fs::exists(status) || fs::is_regular_file(status);
}

fs::path folder_of(const fs::path& name) {
  return name.has_parent_path() ? name.parent_path() : fs::path(".");
}

// Where something stands that is opened as it is.
void write_through(const fs::path& name, std::span<const std::uint8_t> bytes) {
  const int file = is_standard_output(name)
                       ? ::dup(STDOUT_FILENO)
                       : ::open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  Descriptor out(name, file);
  out.write(bytes);
  out.close();
}

}  // namespace

void write_output(const fs::path& name, std::span<const std::uint8_t> bytes) {
  if (is_standard_output(name) || !is_replaceable(name)) {
    write_through(name, bytes);
    return;
  }
  StagedOutput staged(name);
  Descriptor out(name, ::open(staged.path().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  out.write(bytes);
  out.close();
  staged.commit();
}

void write_output(const fs::path& name, std::string_view text) {
  write_output(name, std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
}

void require_writable(const fs::path& name) {
  if (name.empty()) throw InputError("cannot write '': the name is empty");
  if (is_standard_output(name)) return;
  std::error_code error;
  if (fs::is_directory(name, error)) fail(name, "it is a folder");
  // What stands there must allow it, and the folder where that is replaced.
  struct stat there {};
  const bool exists = ::lstat(name.c_str(), &there) == 0;
  if (exists && !may(name, W_OK) && !(S_ISLNK(there.st_mode) && errno == ENOENT)) fail(name);
  if (is_replaceable(name) && !may(folder_of(name), W_OK | X_OK)) fail(name);
}

StagedOutput::StagedOutput(fs::path name) : name_(std::move(name)) {
  const bool beside = !is_standard_output(name_) && is_replaceable(name_);
  const char* temporary = std::getenv("TMPDIR");
  const fs::path parent = beside ? folder_of(name_) : fs::path(temporary != nullptr ? temporary : "/tmp");
  std::string folder = (parent / ".kaiten-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) fail(name_);
  folder_ = folder;
  path_ = folder_ / "output";
}

StagedOutput::~StagedOutput() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

void StagedOutput::commit() {
  if (is_standard_output(name_) || !is_replaceable(name_)) {
    std::ifstream file(path_, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    write_through(name_, {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
    return;
  }
  struct stat old {};
  if (::lstat(name_.c_str(), &old) == 0) {
    // Who may not give files away keeps them.
    [[maybe_unused]] const int given = ::chown(path_.c_str(), old.st_uid, old.st_gid);
    if (::chmod(path_.c_str(), old.st_mode & 07777) != 0) fail(name_);
  }
  if (::rename(path_.c_str(), name_.c_str()) != 0) fail(name_);
}

}  // namespace kaiten
