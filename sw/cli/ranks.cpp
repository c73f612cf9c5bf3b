// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/ranks.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <thread>
#include <utility>

#include "base/error.h"
#include "cli/tool.h"
#include "cluster/mpi.h"

namespace kaiten::cli {

namespace {

// Beside the program, or where `cmake --install` puts it.
std::filesystem::path mpi_library() {
  const std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const std::filesystem::path beside = folder / "kaiten_mpi.so";
  return std::filesystem::exists(beside) ? beside
                                         : folder.parent_path() / KAITEN_MPI_FOLDER / "kaiten_mpi.so";
}

// Each with its length before it.
std::string joined(const std::vector<std::string>& answers) {
  std::string lengths, texts;
  for (const std::string& answer : answers) {
    lengths += std::to_string(answer.size()) + " ";
    texts += answer;
  }
  return lengths + "\n" + texts;
}

std::vector<std::string> parted(std::string_view text) {
  std::vector<std::string> answers;
  std::size_t begin = text.find('\n') + 1;
  for (std::size_t at = 0; text[at] != '\n'; at = text.find(' ', at) + 1) {
    const std::size_t length = std::stoull(std::string(text.substr(at, text.find(' ', at) - at)));
    answers.emplace_back(text.substr(begin, length));
    begin += length;
  }
  return answers;
}

}  // namespace

bool first_rank() { return cluster::launched_rank().value_or(0) == 0; }

cluster::Exchange* other_ranks() {
  return cluster::launched_rank() ? &cluster::open_mpi(mpi_library()) : nullptr;
}

int threads_of_rank() {
  return cluster::launched_rank() ? 1 : int(std::max(1U, std::thread::hardware_concurrency()));
}

std::vector<std::string> shared_by(cluster::Exchange& ranks, std::size_t items, const RankWork& work) {
  const auto all = std::size_t(ranks.ranks());
  std::vector<std::size_t> mine;
  for (auto i = std::size_t(ranks.rank()); i < items; i += all) mine.push_back(i);
  const std::vector<std::string> told = ranks.gather(cluster::encode_bytes(joined(work(mine))));
  std::vector<std::string> answers(items);
  for (std::size_t r = 0; r < all; r++) {
    std::size_t i = r;
    for (std::string& answer : parted(cluster::decode_bytes(told[r], int(r)))) {
      answers.at(i) = std::move(answer);
      i += all;
    }
  }
  return answers;
}

int on_ranks(const std::function<int()>& command) {
  try {
    return command();
  } catch (const InputError&) {
    if (first_rank()) throw;
    return kDone;
  }
}

}  // namespace kaiten::cli
