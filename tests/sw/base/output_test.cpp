// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "base/output.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <future>
#include <string>

#include "base/error.h"
#include "tests/support/temporary_folder.h"

namespace kaiten {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kNobody = 65534;

class Output : public testing::Test {
 protected:
  static std::string slurp(const fs::path& name) {
    std::ifstream file(name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void put(const char* name, const std::string& text) const { std::ofstream(folder_ / name) << text; }
  std::size_t entries() const { return std::size_t(std::distance(fs::directory_iterator(folder_), {})); }
  static mode_t mode_of(const fs::path& name) {
    struct stat s {};
    return ::stat(name.c_str(), &s) == 0 ? s.st_mode & 07777 : 0;
  }
  std::string refusal(const fs::path& name) const {
    std::string before;
    try {
      require_writable(name);
    } catch (const InputError& e) {
      before = e.what();
    }
    return before;
  }

  const test::TemporaryFolder own_;
  const fs::path& folder_ = own_.path();
};

TEST_F(Output, WritesANewFileWithTheUsualMode) {
  const mode_t mask = ::umask(027);
  write_output(folder_ / "new", "text");
  ::umask(mask);
  EXPECT_EQ(slurp(folder_ / "new"), "text");
  EXPECT_EQ(mode_of(folder_ / "new"), 0640U);
  EXPECT_EQ(entries(), 1U);
}

TEST_F(Output, ReplacesAFileAndKeepsItsMode) {
  put("old", "what stood there before");
  fs::permissions(folder_ / "old", fs::perms(0604));
  write_output(folder_ / "old", "new");
  EXPECT_EQ(slurp(folder_ / "old"), "new");
  EXPECT_EQ(mode_of(folder_ / "old"), 0604U);
  EXPECT_EQ(entries(), 1U);
}

TEST_F(Output, WritesThroughALink) {
  put("target", "before");
  fs::create_symlink("target", folder_ / "link");
  write_output(folder_ / "link", "after");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(slurp(folder_ / "target"), "after");
  fs::create_symlink("not-yet", folder_ / "hanging");
  EXPECT_EQ(refusal(folder_ / "hanging"), "");
  write_output(folder_ / "hanging", "made");
  EXPECT_EQ(slurp(folder_ / "not-yet"), "made");
}

TEST_F(Output, FeedsAFifo) {
  ASSERT_EQ(::mkfifo((folder_ / "fifo").c_str(), 0600), 0);
  auto reader = std::async(std::launch::async, [&] { return slurp(folder_ / "fifo"); });
  write_output(folder_ / "fifo", "through");
  EXPECT_EQ(reader.get(), "through");
  EXPECT_TRUE(fs::is_fifo(folder_ / "fifo"));
}

TEST_F(Output, NeverReplacesADevice) {
  EXPECT_EQ(refusal("/dev/null"), "");
  write_output("/dev/null", "gone");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  StagedOutput staged("/dev/null");
  std::ofstream(staged.path()) << "gone";
  staged.commit();
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(Output, TellsOfAFullDevice) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  EXPECT_THROW(write_output("/dev/full", "text"), InputError);
}

TEST_F(Output, RefusesWhatCannotBeWritten) {
  EXPECT_NE(refusal("").find("empty"), std::string::npos);
  EXPECT_NE(refusal(folder_).find("folder"), std::string::npos);
  EXPECT_NE(refusal(folder_ / "no" / "file").find("No such file"), std::string::npos);
  EXPECT_EQ(refusal("-"), "");
  EXPECT_THROW(write_output(folder_ / "no" / "file", "x"), InputError);
  EXPECT_THROW(write_output(folder_, "x"), InputError);
}

TEST_F(Output, RefusesWhatOthersOwn) {
  put("theirs", "kept");
  fs::permissions(folder_, fs::perms(0755));
  const uid_t me = ::geteuid();
  if (me == 0) {
    ASSERT_EQ(::seteuid(kNobody), 0);  // root may write everywhere
  } else {
    fs::permissions(folder_ / "theirs", fs::perms(0444));
    fs::permissions(folder_, fs::perms(0555));
  }
  const std::string there = refusal(folder_ / "theirs"), beside = refusal(folder_ / "mine");
  EXPECT_THROW(write_output(folder_ / "theirs", "x"), InputError);
  EXPECT_THROW(StagedOutput(folder_ / "mine"), InputError);
  ASSERT_EQ(::seteuid(me), 0);
  fs::permissions(folder_, fs::perms(0755));
  EXPECT_NE(there.find("Permission"), std::string::npos);
  EXPECT_NE(beside.find("Permission"), std::string::npos);
  EXPECT_EQ(slurp(folder_ / "theirs"), "kept");
}

// A file of someone else's in a folder where everybody may write: replaced by root, it is still theirs.
TEST_F(Output, GivesAReplacedFileToItsOwner) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  put("theirs", "before");
  ASSERT_EQ(::chown((folder_ / "theirs").c_str(), kNobody, kNobody), 0);
  write_output(folder_ / "theirs", "after");
  struct stat s {};
  ASSERT_EQ(::stat((folder_ / "theirs").c_str(), &s), 0);
  EXPECT_EQ(s.st_uid, uid_t(kNobody));
}

// Whoever knew the name of a temporary file could have put a link there.
TEST_F(Output, StagesInAFolderOfItsOwn) {
  put("wave", "before");
  {
    StagedOutput staged(folder_ / "wave");
    EXPECT_EQ(staged.path().parent_path().parent_path(), folder_);
    EXPECT_EQ(mode_of(staged.path().parent_path()), 0700U);
    std::ofstream(staged.path()) << "half";
    std::ofstream(staged.path().string() + ".hier") << "what the writer leaves beside it";
  }
  EXPECT_EQ(slurp(folder_ / "wave"), "before");
  EXPECT_EQ(entries(), 1U);
  {
    StagedOutput staged(folder_ / "wave");
    std::ofstream(staged.path()) << "whole";
    staged.commit();
  }
  EXPECT_EQ(slurp(folder_ / "wave"), "whole");
  EXPECT_EQ(entries(), 1U);
}

}  // namespace
}  // namespace kaiten
