// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Where the third-party models and vectors are (docs/third_party_models.md says how to obtain them): KAITEN_SHARED if set, else
// `shared` beside the source tree. A test that needs them and gets nullopt calls GTEST_SKIP() naming what it skips.
#ifndef KAITEN_TESTS_SUPPORT_SHARED_H
#define KAITEN_TESTS_SUPPORT_SHARED_H

#include <cstdlib>
#include <filesystem>
#include <optional>

#include "tests/support/source_file.h"

namespace kaiten::test {

inline std::optional<std::filesystem::path> shared_dir() {
  const char* text = std::getenv("KAITEN_SHARED");
  const std::filesystem::path dir =
      text && *text ? std::filesystem::path(text) : std::filesystem::path(source_file("../shared"));
  std::error_code ignored;
  if (std::filesystem::is_directory(dir / "models", ignored)) return dir;
  return std::nullopt;
}

}  // namespace kaiten::test

#endif  // KAITEN_TESTS_SUPPORT_SHARED_H
