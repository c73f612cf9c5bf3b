// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>

#include "base/text.h"

namespace kaiten::cli {

namespace {

constexpr std::chrono::seconds kQuiet{2};
constexpr std::chrono::milliseconds kBetween{200};

std::size_t width_of(int file) {
  winsize size{};
  if (!isatty(file) || ioctl(file, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

}  // namespace

void print(std::string_view text) { std::cout << printable_lines(text); }

void print_error(const std::string& program, std::string message) {
  std::replace(message.begin(), message.end(), '\n', ' ');
  std::cout.flush();
  std::fprintf(stderr, "%s: %s\n", program.c_str(), printable(message).c_str());
}

std::size_t output_width() { return width_of(STDOUT_FILENO); }

ProgressLine::ProgressLine()
    : start_(std::chrono::steady_clock::now()), terminal_(isatty(STDERR_FILENO) != 0) {}

void ProgressLine::show(const std::string& text) {
  if (!terminal_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - start_ < kQuiet || now - drawn_ < kBetween) return;
  drawn_ = now;
  const std::size_t width = width_of(STDERR_FILENO);
  std::string shown = printable(text);
  if (width > 1) shown = first_columns(shown, width - 1);
  std::fprintf(stderr, "\r%s\033[K", shown.c_str());
  std::fflush(stderr);
  visible_ = true;
}

void ProgressLine::clear() {
  if (!visible_) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
  visible_ = false;
}

}  // namespace kaiten::cli
