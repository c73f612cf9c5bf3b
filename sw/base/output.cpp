// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "base/output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <utility>

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

fs::path folder_of(const fs::path& name) {
  return name.has_parent_path() ? name.parent_path() : fs::path(".");
}

// What is opened as it is.
int open_through(const fs::path& name) {
  return is_standard_output(name) ? ::dup(STDOUT_FILENO)
                                  : ::open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
}

void write_through(const fs::path& name, std::span<const std::uint8_t> bytes) {
  Descriptor out(name, open_through(name));
  out.write(bytes);
  out.close();
}

void copy_through(const fs::path& from, const fs::path& name) {
  std::ifstream file(from, std::ios::binary);
  if (!file) fail(name, "'" + from.string() + "' cannot be read");
  Descriptor out(name, open_through(name));
  std::array<char, 65536> block;
  while (file.read(block.data(), block.size()) || file.gcount() > 0)
    out.write({reinterpret_cast<const std::uint8_t*>(block.data()), std::size_t(file.gcount())});
  if (file.bad()) fail(name, "'" + from.string() + "' cannot be read");
  out.close();
}

// In a folder with the sticky bit a file can be replaced by its owner and by that of the folder.
bool may_replace(const fs::path& name, const struct stat& there) {
  struct stat folder {};
  if (::stat(folder_of(name).c_str(), &folder) != 0 || (folder.st_mode & S_ISVTX) == 0) return true;
  const uid_t user = ::geteuid();
  return user == 0 || user == there.st_uid || user == folder.st_uid;
}

}  // namespace

bool is_replaceable(const fs::path& name) {
  if (is_standard_output(name)) return false;
  const fs::file_status status = fs::symlink_status(name);
  return !fs::exists(status) || fs::is_regular_file(status);
}

void write_output(const fs::path& name, std::span<const std::uint8_t> bytes) {
  if (!is_replaceable(name)) {
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
  if (exists && is_replaceable(name) && !may_replace(name, there))
    fail(name, "it is another user's, and so is the folder, whose files are replaced by their owners only");
}

StagedOutput::StagedOutput(fs::path name) : name_(std::move(name)) {
  const bool beside = is_replaceable(name_);
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
  if (is_replaceable(name_)) {
    move_to(path_, name_);
  } else {
    copy_through(path_, name_);
  }
}

void move_to(const fs::path& file, const fs::path& name) {
  struct stat old {};
  if (::lstat(name.c_str(), &old) == 0) {
    // Who may not give files away keeps them, in the same group where possible; no group gains rights by that.
    mode_t mode = old.st_mode & 0777;
    const bool group = ::chown(file.c_str(), old.st_uid, old.st_gid) == 0 ||
                       ::chown(file.c_str(), uid_t(-1), old.st_gid) == 0;
    if (!group) mode &= ~mode_t(S_IRWXG) | (mode & S_IRWXO) << 3;
    if (::chmod(file.c_str(), mode) != 0) fail(name);
  }
  if (::rename(file.c_str(), name.c_str()) != 0) fail(name);
}

int open_kept(const fs::path& name) {
  const int file = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
  if (file < 0) fail(name);
  struct stat there {};
  if (::fstat(file, &there) == 0 && S_ISREG(there.st_mode) && there.st_nlink == 1 &&
      there.st_uid == ::geteuid())
    return file;
  ::close(file);
  fail(name, "something else than a file of an interrupted run stands there");
}

}  // namespace kaiten
