// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The terminal: its width, and a line of progress on standard error that appears only on a terminal, only
// after two seconds, and is gone afterwards.
#ifndef KAITEN_CLI_TERMINAL_H
#define KAITEN_CLI_TERMINAL_H

#include <chrono>
#include <string>
#include <string_view>

namespace kaiten::cli {

// To standard output: all text of the commands goes here. What a terminal would obey is made harmless (base/text.h). On a
// terminal that is not dumb, and unless NO_COLOR is set (https://no-color.org), verdicts have their colour: PASS green, FAIL red.
void print(std::string_view text);
// One line to standard error, the same way; line breaks become spaces.
void print_error(const std::string& program, std::string message);

// Columns of standard output; 0, no limit, when it is not a terminal or after print_wide().
std::size_t output_width();
void print_wide();
// A line of printable text cut to output_width(), ".." at its end.
std::string fitted_line(std::string line);

// Text of help: lines of at most 80 columns, broken at spaces. What follows stands below the second column of a list ("  name
// text"), or below the line's own beginning.
std::string wrapped(std::string_view text);

class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // Cheap: draws a few times a second at most. `done`: share of the work, 0..1, which tells the time left; below 0: unknown.
  void show(const std::string& text, double done = -1);
  void clear();

 private:
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point drawn_;
  bool terminal_ = false;
  bool visible_ = false;
};

}  // namespace kaiten::cli

#endif  // KAITEN_CLI_TERMINAL_H
