// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/launch.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <regex>

#include "base/error.h"
#include "cli/interrupt.h"
#include "cli/tool.h"

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX declares it in no header

namespace kaiten::cli {

namespace {

// mpirun, and what it and the ranks write to standard error.
class Mpirun {
 public:
  explicit Mpirun(std::vector<std::string> words) {
    std::array<int, 2> pipe{};
    if (::pipe2(pipe.data(), O_CLOEXEC) != 0) throw DeviceError(std::strerror(errno));
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, pipe[1], STDERR_FILENO);
    // In a group of its own it does not see a terminal's Ctrl-C, which it would take for a second one after ours.
    posix_spawnattr_t group;
    posix_spawnattr_init(&group);
    posix_spawnattr_setflags(&group, POSIX_SPAWN_SETPGROUP);
    const int error = ::posix_spawnp(&id_, arguments.front(), &files, &group, arguments.data(), environ);
    posix_spawnattr_destroy(&group);
    posix_spawn_file_actions_destroy(&files);
    ::close(pipe[1]);
    errors_ = pipe[0];
    if (error != 0) {
      ::close(errors_);
      throw DeviceError("--ranks: cannot start mpirun: " + std::string(std::strerror(error)) +
                        " (package openmpi-bin)");
    }
  }
  ~Mpirun() { ::close(errors_); }
  Mpirun(const Mpirun&) = delete;
  Mpirun& operator=(const Mpirun&) = delete;

  // Until the last process has closed it. A signal that asks this program to end is passed on once.
  std::string errors() const {
    std::string text;
    std::array<char, 4096> part{};
    bool told = false;
    for (;;) {
      const ssize_t n = ::read(errors_, part.data(), part.size());
      if (n > 0) {
        text.append(part.data(), std::size_t(n));
      } else if (n == 0 || errno != EINTR) {
        return text;
      }
      if (!told && interrupt_signal() != 0) {
        ::kill(id_, interrupt_signal());
        told = true;
      }
    }
  }
  // Its exit code.
  int wait() const {
    int status = 0;
    while (::waitpid(id_, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : kOfSignal + WTERMSIG(status);
  }

 private:
  pid_t id_ = -1;
  int errors_ = -1;
};

// What the ranks wrote: mpirun frames its own reports with lines of dashes.
std::string without_frames(const std::string& text) {
  static const std::regex frame("(-{60,}\n[^]*?\n-{60,}\n)|(\\[[^\\]\n]*\\] [^\n]*\n)");
  return std::regex_replace(text, frame, "");
}

}  // namespace

int launch_ranks(int ranks, const std::vector<std::string>& command) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  std::vector<std::string> words{"mpirun", "--oversubscribe", "-n", std::to_string(ranks)};
  if (::geteuid() == 0) words.insert(words.begin() + 1, "--allow-run-as-root");
  words.push_back(program);
  words.insert(words.end(), command.begin(), command.end());
  Mpirun mpirun(std::move(words));
  const std::string errors = mpirun.errors();
  const int code = mpirun.wait();
  check_interrupt();
  std::cerr << without_frames(errors) << std::flush;
  static const std::regex died(
      "process rank ([0-9]+) with PID [0-9]+ on node \\S+ exited on\\s+signal ([0-9]+)");
  std::smatch found;
  if (std::regex_search(errors, found, died)) {
    const int signal = std::stoi(found[2]);
    throw DeviceError("rank " + found[1].str() + " was ended by signal " + std::to_string(signal) + " (" +
                      ::strsignal(signal) + ")");
  }
  return code;
}

}  // namespace kaiten::cli
