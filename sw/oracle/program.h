// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Another program as a child process, without a shell, and a folder for the files it is handed.
#ifndef KAITEN_ORACLE_PROGRAM_H
#define KAITEN_ORACLE_PROGRAM_H

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace kaiten::oracle {

// A new folder among the temporary files that its owner alone may enter; gone with the object.
class PrivateFolder {
 public:
  PrivateFolder();  // throws InputError where none can be made
  ~PrivateFolder();
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

struct Ended {
  int code = 0;           // exit code, 128 + signal where one ended it, 127 where it could not be started
  std::string last_line;  // of its standard error
};

// Runs arguments[0] (looked up in PATH) without input, what it writes going to files of the folder. `cancellation_check` is
// called a few times a second; where it throws, the program is killed first.
Ended run_program(const std::vector<std::string>& arguments, const std::filesystem::path& folder,
                  const std::function<void()>& cancellation_check = {});

}  // namespace kaiten::oracle

#endif  // KAITEN_ORACLE_PROGRAM_H
