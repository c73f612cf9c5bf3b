// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// FNV-1a by its authors' published values, and texts that run into each other.
#include "base/fingerprint.h"

#include <gtest/gtest.h>

namespace kaiten {
namespace {

std::string of_bytes(std::string_view text) {
  Fingerprint print;
  print.add({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  return print.text();
}

std::string of_texts(std::string_view first, std::string_view second) {
  Fingerprint print;
  print.add(first);
  print.add(second);
  return print.text();
}

TEST(Fingerprint, IsFnv1a) {
  EXPECT_EQ(of_bytes(""), "cbf29ce484222325");
  EXPECT_EQ(of_bytes("a"), "af63dc4c8601ec8c");
  EXPECT_EQ(of_bytes("foobar"), "85944171f73967e8");
}

TEST(Fingerprint, TextsHaveEnds) {
  EXPECT_NE(of_texts("ab", "c"), of_texts("a", "bc"));
  EXPECT_EQ(of_texts("ab", "c"), of_texts("ab", "c"));
}

}  // namespace
}  // namespace kaiten
