// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "oracle/program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>

#include "base/error.h"

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX declares it in no header

namespace kaiten::oracle {

namespace fs = std::filesystem;

namespace {

constexpr auto kPoll = std::chrono::milliseconds(10);

// A child process that does not outlive the object.
class Child {
 public:
  Child(std::vector<char*> arguments, const fs::path& folder) {
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    const std::string out = (folder / "out").string(), errors = (folder / "errors").string();
    constexpr int kNew = O_WRONLY | O_CREAT | O_TRUNC;
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, out.c_str(), kNew, 0600);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, errors.c_str(), kNew, 0600);
    arguments.push_back(nullptr);
    error_ = ::posix_spawnp(&id_, arguments.front(), &files, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    if (error_ != 0) id_ = -1;
  }
  ~Child() {
    if (id_ < 0) return;
    ::kill(id_, SIGKILL);
    while (::waitpid(id_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  int error() const { return error_; }  // why it could not be started, or 0
  // True once it has ended, with its code.
  bool ended(int& code) {
    int status = 0;
    if (::waitpid(id_, &status, WNOHANG) != id_) return false;
    id_ = -1;
    code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return true;
  }

 private:
  pid_t id_ = -1;
  int error_ = 0;
};

std::string last_line_of(const fs::path& file) {
  std::ifstream in(file);
  std::string last;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty()) last = line;
  }
  return last;
}

}  // namespace

PrivateFolder::PrivateFolder() {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  std::string name = (parent / "kaiten-XXXXXX").string();
  if (error || ::mkdtemp(name.data()) == nullptr)
    throw InputError("cannot make a temporary folder '" + name + "': " + std::strerror(errno));
  path_ = name;
}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

Ended run_program(const std::vector<std::string>& arguments, const fs::path& folder,
                  const std::function<void()>& cancellation_check) {
  std::vector<std::string> copies = arguments;
  std::vector<char*> pointers;
  pointers.reserve(copies.size() + 1);
  for (std::string& argument : copies) pointers.push_back(argument.data());
  Child child(std::move(pointers), folder);
  if (child.error() != 0) return {127, std::strerror(child.error())};
  Ended result;
  while (!child.ended(result.code)) {
    if (cancellation_check) cancellation_check();
    std::this_thread::sleep_for(kPoll);
  }
  result.last_line = last_line_of(folder / "errors");
  return result;
}

}  // namespace kaiten::oracle
