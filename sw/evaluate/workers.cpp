// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "evaluate/workers.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include "base/error.h"

namespace kaiten {

namespace {

constexpr int kPollMilliseconds = 100;

enum class Kind : std::uint8_t { Answer, BadInput, Failure };

// What stands before every answer in a pipe.
struct Head {
  std::uint64_t item = 0;
  std::uint32_t bytes = 0;
  Kind kind = Kind::Answer;
};

// False: the reader is gone.
bool send(int pipe, std::uint64_t item, Kind kind, const std::string& text) {
  const Head head{item, std::uint32_t(text.size()), kind};
  std::string all(reinterpret_cast<const char*>(&head), sizeof head);
  all += text;
  for (std::size_t at = 0; at < all.size();) {
    const ssize_t n = ::write(pipe, all.data() + at, all.size() - at);
    if (n < 0 && errno != EINTR) return false;
    at += n < 0 ? 0 : std::size_t(n);
  }
  return true;
}

// The life of a child.
[[noreturn]] void serve(int pipe, std::size_t first, std::size_t step, std::span<const std::size_t> items,
                        const std::function<std::string(std::size_t)>& work) {
  std::signal(SIGINT, SIG_IGN);  // the parent decides
  std::signal(SIGTERM, SIG_DFL);
  std::signal(SIGHUP, SIG_DFL);
  std::signal(SIGPIPE, SIG_IGN);
  for (std::size_t i = first; i < items.size(); i += step) {
    bool heard = false;
    try {
      heard = send(pipe, items[i], Kind::Answer, work(items[i]));
    } catch (const InputError& e) {
      send(pipe, items[i], Kind::BadInput, e.what());
    } catch (const std::exception& e) {
      send(pipe, items[i], Kind::Failure, e.what());
    }
    if (!heard) break;
  }
  ::_exit(0);  // not this process's to flush or to tidy up
}

class Children {
 public:
  Children() = default;
  ~Children() {
    for (Child& c : children_) {
      if (c.pid > 0) ::kill(c.pid, SIGKILL);
      close(c);
    }
  }
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;

  void start(std::size_t worker, std::size_t workers, std::span<const std::size_t> items,
             const std::function<std::string(std::size_t)>& work) {
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) throw std::runtime_error(std::string("pipe: ") + std::strerror(errno));
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::close(ends[0]);
      for (const Child& c : children_) ::close(c.pipe);
      serve(ends[1], worker, workers, items, work);
    }
    ::close(ends[1]);
    children_.push_back({.pid = pid, .pipe = ends[0]});
    if (pid < 0) throw std::runtime_error(std::string("fork: ") + std::strerror(errno));
  }

  // Waits a moment for answers and hands them on; false when all children have ended.
  bool listen(const std::function<void(std::size_t, const std::string&)>& done) {
    std::vector<pollfd> waiting;
    for (const Child& c : children_)
      waiting.push_back({c.pipe, POLLIN, 0});  // poll() leaves out those below 0
    const bool any =
        std::any_of(children_.begin(), children_.end(), [](const Child& c) { return c.pipe >= 0; });
    if (!any) return false;
    if (::poll(waiting.data(), waiting.size(), kPollMilliseconds) <= 0) return true;
    for (std::size_t i = 0; i < waiting.size(); i++) {
      if (children_[i].pipe >= 0 && waiting[i].revents != 0) receive(children_[i], done);
    }
    return true;
  }

 private:
  struct Child {
    pid_t pid = -1;
    int pipe = -1;
    std::string heard = {};
    int status = 0;
  };

  static void close(Child& c) {
    if (c.pipe >= 0) ::close(std::exchange(c.pipe, -1));
    int status = 0;
    if (c.pid > 0) ::waitpid(std::exchange(c.pid, -1), &status, 0);
    c.status = status;
  }

  static void receive(Child& c, const std::function<void(std::size_t, const std::string&)>& done) {
    std::array<char, 1 << 16> buffer{};
    const ssize_t n = ::read(c.pipe, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) return;
    if (n <= 0) {
      close(c);
      if (c.status != 0 || !c.heard.empty()) throw std::runtime_error("a worker process died");
      return;
    }
    c.heard.append(buffer.data(), std::size_t(n));
    std::size_t at = 0;
    Head head;
    while (c.heard.size() - at >= sizeof head) {
      std::memcpy(&head, c.heard.data() + at, sizeof head);
      if (c.heard.size() - at < sizeof head + head.bytes) break;
      const std::string text = c.heard.substr(at + sizeof head, head.bytes);
      at += sizeof head + head.bytes;
      if (head.kind == Kind::BadInput) throw InputError(text);
      if (head.kind == Kind::Failure) throw DeviceError(text);
      done(head.item, text);
    }
    c.heard.erase(0, at);
  }

  std::vector<Child> children_;
};

}  // namespace

void in_processes(int workers, std::span<const std::size_t> items,
                  const std::function<std::string(std::size_t)>& work,
                  const std::function<void(std::size_t, const std::string&)>& done,
                  const std::function<void()>& cancellation_check) {
  std::fflush(nullptr);  // or children would write it again
  Children children;
  const std::size_t count = std::min(std::size_t(workers), items.size());
  for (std::size_t w = 0; w < count; w++) children.start(w, count, items, work);
  while (children.listen(done)) cancellation_check();
}

}  // namespace kaiten
