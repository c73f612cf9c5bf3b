// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "bridge/shared_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>

#include "base/error.h"

namespace kaiten {

namespace {

[[noreturn]] void fail(const std::filesystem::path& path, int error) {
  throw InputError("cannot use '" + path.string() + "' for a bridge: " + std::strerror(error));
}

// What an earlier bridge left.
bool is_a_page(int file, const struct stat& status) {
  std::uint32_t magic = 0;
  return S_ISREG(status.st_mode) && status.st_size == KAITEN_BRIDGE_PAGE_BYTES &&
         pread(file, &magic, sizeof magic, 0) == ssize_t(sizeof magic) && magic == KAITEN_BRIDGE_MAGIC;
}

}  // namespace

SharedFolder::SharedFolder(std::filesystem::path folder, std::uint64_t memory_address,
                           std::uint64_t memory_bytes)
    : folder_(std::move(folder)), memory_bytes_(memory_bytes) {
  std::error_code error;
  made_folder_ = std::filesystem::create_directory(folder_, error);
  if (error) fail(folder_, error.value());
  try {
    registers_file_ = open_file(KAITEN_BRIDGE_REGISTERS, KAITEN_BRIDGE_PAGE_BYTES);
    memory_file_ = open_file(KAITEN_BRIDGE_MEMORY, memory_bytes);
    page_ = static_cast<kaiten_bridge_page*>(map(registers_file_, KAITEN_BRIDGE_PAGE_BYTES));
    memory_ = static_cast<std::uint8_t*>(map(memory_file_, memory_bytes));
  } catch (...) {
    close_all();
    throw;
  }
  page_->memory_address = memory_address;
  page_->memory_bytes = memory_bytes;
}

SharedFolder::~SharedFolder() {
  kaiten_bridge_set(&page_->magic, 0);
  close_all();
}

void SharedFolder::publish() {
  page_->version = KAITEN_BRIDGE_VERSION;
  page_->server = std::uint32_t(getpid());
  kaiten_bridge_set(&page_->magic, KAITEN_BRIDGE_MAGIC);
}

// Zeros of the wanted size, with room on the disk: of a new file, or of one that an earlier bridge left. The page comes first;
// its lock says who works in the folder.
int SharedFolder::open_file(const char* name, std::uint64_t bytes) {
  const std::filesystem::path path = folder_ / name;
  const bool is_page = registers_file_ < 0;
  int file = left_ ? -1 : open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  const bool made = file >= 0;
  if (!made && (left_ || (is_page && errno == EEXIST)))
    file = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) fail(path, errno);
  const auto refuse = [&](const std::string& why) {
    close(file);
    if (made) std::filesystem::remove(path);
    throw InputError("cannot use '" + path.string() + "' for a bridge: " + why);
  };
  struct stat status {};
  if (fstat(file, &status) != 0) refuse(std::strerror(errno));
  if (is_page && !made && !is_a_page(file, status)) refuse("it is another file");
  if (is_page && flock(file, LOCK_EX | LOCK_NB) != 0) refuse("another bridge works there");
  if (is_page) left_ = !made;
  if (ftruncate(file, 0) != 0 || ftruncate(file, off_t(bytes)) != 0) refuse(std::strerror(errno));
  if (const int error = posix_fallocate(file, 0, off_t(bytes)); error != 0) refuse(std::strerror(error));
  return file;
}

void* SharedFolder::map(int file, std::uint64_t bytes) const {
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (at == MAP_FAILED) fail(folder_, errno);
  return at;
}

void SharedFolder::close_all() {
  if (page_ != nullptr) munmap(page_, KAITEN_BRIDGE_PAGE_BYTES);
  if (memory_ != nullptr) munmap(memory_, memory_bytes_);
  std::error_code ignored;
  if (memory_file_ >= 0) {
    close(memory_file_);
    std::filesystem::remove(folder_ / KAITEN_BRIDGE_MEMORY, ignored);
  }
  if (registers_file_ >= 0) {
    std::filesystem::remove(folder_ / KAITEN_BRIDGE_REGISTERS, ignored);
    close(registers_file_);
  }
  if (made_folder_) std::filesystem::remove(folder_, ignored);
}

}  // namespace kaiten
