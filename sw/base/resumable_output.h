// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// A large output that is written in parts over a long run and survives its end: NAME.part holds what is written, and
// NAME.part.state what of it is finished, so that a later run goes on there. When all is there it becomes NAME.
#ifndef KAITEN_BASE_RESUMABLE_OUTPUT_H
#define KAITEN_BASE_RESUMABLE_OUTPUT_H

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

namespace kaiten {

class ResumableOutput {
 public:
  // The state that an interrupted run left for NAME, nothing where there is none. Throws InputError.
  static std::optional<std::string> state_of(const std::filesystem::path& name);

  // Opens NAME.part, anew and empty or, to go on, as it is, makes it `bytes` long and notes the state. Replaces what an
  // interrupted run left, and nothing else: a NAME.part without a state stays. All members throw InputError "cannot write
  // 'NAME.part': REASON".
  ResumableOutput(std::filesystem::path name, std::uint64_t bytes, bool go_on, const std::string& state);
  ~ResumableOutput();
  ResumableOutput(const ResumableOutput&) = delete;
  ResumableOutput& operator=(const ResumableOutput&) = delete;

  void write(std::uint64_t offset, std::span<const std::uint8_t> bytes);
  // What is written so far is on the disk before the state says so.
  void note(const std::string& state);
  // Once: NAME is there, the state gone.
  void commit();

 private:
  std::filesystem::path name_, part_;
  int file_ = -1;
};

}  // namespace kaiten

#endif  // KAITEN_BASE_RESUMABLE_OUTPUT_H
