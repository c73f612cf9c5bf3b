// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Files of the source tree, from wherever a test is started. A function and not a macro, so that objects of tests do not
// depend on the tree's place and clones share the compiler's cache.
#ifndef KAITEN_TESTS_SUPPORT_SOURCE_FILE_H
#define KAITEN_TESTS_SUPPORT_SOURCE_FILE_H

#include <string>

namespace kaiten::test {

// Absolute path of a file named relative to the root of the source tree.
std::string source_file(const std::string& relative);

}  // namespace kaiten::test

#endif  // KAITEN_TESTS_SUPPORT_SOURCE_FILE_H
