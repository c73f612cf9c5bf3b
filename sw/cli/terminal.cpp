// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
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

bool wide = false;  // for the rest of the process

bool coloured(int file) {
  const char* no_colour = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return isatty(file) != 0 && (no_colour == nullptr || *no_colour == '\0') && terminal != nullptr &&
         std::string_view(terminal) != "dumb";
}

// Verdicts begin a line.
std::string with_colours(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string_view line = std::string_view(text).substr(at, end - at);
    const bool pass = line.starts_with("PASS "), fail = line.starts_with("FAIL ");
    if (pass || fail) out.append(pass ? "\033[32m" : "\033[31m").append(line.substr(0, 4)).append("\033[0m");
    out.append(line.substr(pass || fail ? 4 : 0));
    at = end;
  }
  return out;
}

}  // namespace

void print(std::string_view text) {
  const std::string shown = printable_lines(text);
  std::cout << (coloured(STDOUT_FILENO) ? with_colours(shown) : shown);
}

void print_error(const std::string& program, std::string message) {
  std::replace(message.begin(), message.end(), '\n', ' ');
  std::cout.flush();
  std::fprintf(stderr, "%s: %s\n", program.c_str(), printable(message).c_str());
}

std::size_t output_width() { return wide ? 0 : width_of(STDOUT_FILENO); }

void print_wide() { wide = true; }

std::string fitted_line(std::string line) {
  constexpr std::string_view kCut = "..";
  const std::size_t width = output_width();
  if (width <= kCut.size() || display_width(line) <= width) return line;
  return std::string(first_columns(line, width - kCut.size())) + std::string(kCut);
}

std::string wrapped(std::string_view text) {
  constexpr std::size_t kColumns = 80;
  std::string out;
  while (!text.empty()) {
    std::string line(text.substr(0, text.find('\n')));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::size_t gap = line.substr(0, kColumns / 2).rfind("  ");
    const std::size_t indent = gap == std::string::npos ? 0 : gap + 2;
    while (line.size() > kColumns) {
      const std::size_t space = line.rfind(' ', kColumns);
      if (space == std::string::npos || space <= indent) break;
      out += line.substr(0, space) + "\n";
      line = std::string(indent, ' ') + line.substr(space + 1);
    }
    out += line + "\n";
  }
  return out;
}

ProgressLine::ProgressLine()
    : start_(std::chrono::steady_clock::now()), terminal_(isatty(STDERR_FILENO) != 0) {}

void ProgressLine::show(const std::string& text, double done) {
  if (!terminal_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - start_ < kQuiet || now - drawn_ < kBetween) return;
  drawn_ = now;
  const std::size_t width = width_of(STDERR_FILENO);
  std::string shown = printable(text);
  if (done > 0 && done < 1) {
    const double seconds = std::chrono::duration<double>(now - start_).count();
    shown += ", " + duration_text(seconds * (1 - done) / done) + " left";
  }
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
