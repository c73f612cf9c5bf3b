// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// A folder of a test's own, gone when it ends.
#ifndef KAITEN_TESTS_SUPPORT_TEMPORARY_FOLDER_H
#define KAITEN_TESTS_SUPPORT_TEMPORARY_FOLDER_H

#include <stdlib.h>

#include <filesystem>
#include <stdexcept>
#include <string>

namespace kaiten::test {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "kaiten-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace kaiten::test

#endif  // KAITEN_TESTS_SUPPORT_TEMPORARY_FOLDER_H
