// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "base/text.h"

#include <gtest/gtest.h>

#include <random>

namespace kaiten {
namespace {

TEST(Text, KeepsWhatIsPrintable) {
  for (const char* text : {"", "plain ~ text", "Größe", "層/畳み込み", "emoji 🙂", "e\u0301"})
    EXPECT_EQ(printable(text), text);
}

TEST(Text, ReplacesWhatATerminalObeys) {
  EXPECT_EQ(printable("a\x1b[2Jb"), "a?[2Jb");
  EXPECT_EQ(printable(std::string_view("\0\t\r\n\x7f", 5)), "?????");
  EXPECT_EQ(printable("\u009b31m"), "?31m");                // C1: a control sequence in one character
  EXPECT_EQ(printable("a\u202eb\u2066c\u200f"), "a?b?c?");  // turns the direction
  EXPECT_EQ(printable("a\u2028b\ufeff"), "a?b?");
}

TEST(Text, ReplacesWhatIsNoUtf8ByteByByte) {
  EXPECT_EQ(printable("a\xff\xfez"), "a??z");
  EXPECT_EQ(printable("\xc3"), "?");                 // ends too early
  EXPECT_EQ(printable("\xc0\x9b"), "??");            // a control character, written longer than it is
  EXPECT_EQ(printable("\xed\xa0\x80"), "???");       // half a surrogate pair
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "????");  // beyond Unicode
}

TEST(Text, KeepsLinesWhereAsked) { EXPECT_EQ(printable_lines("a\nb\r\tc\n"), "a\nb??c\n"); }

TEST(Text, CleanTextStaysAsItIs) {
  std::mt19937 random(1);
  for (int round = 0; round < 20000; round++) {
    std::string bytes(random() % 12, ' ');
    for (char& c : bytes) c = char(random() & 0xff);
    const std::string once = printable(bytes);
    EXPECT_EQ(printable(once), once);
    for (const unsigned char c : once) EXPECT_TRUE(c >= 0x20 && c != 0x7f);
  }
}

TEST(Text, CountsColumns) {
  EXPECT_EQ(display_width("plain"), 5U);
  EXPECT_EQ(display_width("Größe"), 5U);
  EXPECT_EQ(display_width("層"), 2U);       // East Asian characters take two
  EXPECT_EQ(display_width("e\u0301"), 1U);  // a combining accent none
}

TEST(Text, CutsBetweenCharacters) {
  EXPECT_EQ(first_columns("Größe", 3), "Grö");
  EXPECT_EQ(last_columns("Größe", 2), "ße");
  EXPECT_EQ(first_columns("層層", 3), "層");
  EXPECT_EQ(last_columns("層層", 3), "層");
  EXPECT_EQ(first_columns("ab", 5), "ab");
  EXPECT_EQ(last_columns("ab", 5), "ab");
  EXPECT_EQ(last_columns("ab", 0), "");
}

}  // namespace
}  // namespace kaiten
