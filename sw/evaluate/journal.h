// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Lines that outlive an interrupted program: each is in the file when add() returns. The first line says what the others
// belong to; opened again with the same words, the journal hands back the lines it has.
#ifndef KAITEN_EVALUATE_JOURNAL_H
#define KAITEN_EVALUATE_JOURNAL_H

#include <filesystem>
#include <string>
#include <vector>

namespace kaiten {

class Journal {
 public:
  // Throws InputError where the file cannot be written, is no file of this user or begins with another line.
  Journal(std::filesystem::path path, const std::string& first_line);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // Of earlier programs, whole ones only.
  const std::vector<std::string>& lines() const { return lines_; }
  void add(const std::string& line);
  // Removes the file.
  void finish();

 private:
  std::filesystem::path path_;
  std::vector<std::string> lines_;
  int file_ = -1;
};

}  // namespace kaiten

#endif  // KAITEN_EVALUATE_JOURNAL_H
