// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Everything that is written for the user goes through here. A name of a regular file, or of none yet, gets a whole new file:
// it is written in a folder of its own beside it, which only its owner may enter, and renamed; a file that is replaced hands on
// its mode and owner. A device, a FIFO or a symbolic link is opened as it is and never replaced. '-' is standard output.
#ifndef KAITEN_BASE_OUTPUT_H
#define KAITEN_BASE_OUTPUT_H

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace kaiten {

constexpr std::string_view kStandardOutput = "-";

// All throw InputError "cannot write 'NAME': REASON".
void write_output(const std::filesystem::path& name, std::span<const std::uint8_t> bytes);
void write_output(const std::filesystem::path& name, std::string_view text);
// The same errors before the work, as far as they can be foreseen.
void require_writable(const std::filesystem::path& name);

// Whether a new file takes the name: a regular file has it, or nothing yet. Not '-', and no link, whatever it leads to.
bool is_replaceable(const std::filesystem::path& name);
// Renames a file, which takes over mode, owner and group of the regular file that had the name, as far as the user may.
void move_to(const std::filesystem::path& file, const std::filesystem::path& name);
// Opens a file that outlives the program (a journal, a part) to read and write, created where there is none. Throws
// InputError for anything but a regular file of this user that has one name: what else stands there is somebody's.
int open_kept(const std::filesystem::path& name);

// An output of someone who opens a file by its name (waves): path() is a name in a private folder, which commit() moves to
// the wanted one, or copies where that is no regular file. Without commit() nothing is left.
class StagedOutput {
 public:
  explicit StagedOutput(std::filesystem::path name);
  ~StagedOutput();
  StagedOutput(const StagedOutput&) = delete;
  StagedOutput& operator=(const StagedOutput&) = delete;

  const std::filesystem::path& path() const { return path_; }
  // Once, when the file at path() is closed.
  void commit();

 private:
  std::filesystem::path name_;
  std::filesystem::path folder_;
  std::filesystem::path path_;
};

}  // namespace kaiten

#endif  // KAITEN_BASE_OUTPUT_H
