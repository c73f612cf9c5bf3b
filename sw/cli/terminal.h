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

// To standard output: all text of the commands goes here. What a terminal would obey is made harmless (base/text.h).
void print(std::string_view text);
// One line to standard error, the same way; line breaks become spaces.
void print_error(const std::string& program, std::string message);

// Columns of standard output; 0 when it is not a terminal.
std::size_t output_width();

class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // Cheap: draws a few times a second at most.
  void show(const std::string& text);
  void clear();

 private:
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point drawn_;
  bool terminal_ = false;
  bool visible_ = false;
};

}  // namespace kaiten::cli

#endif  // KAITEN_CLI_TERMINAL_H
