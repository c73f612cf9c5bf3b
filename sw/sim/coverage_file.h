// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What a verilated model has counted (lines reached, bits that changed), for scripts/coverage.py. Only models of KIND
// coverage count; without KAITEN_COVER=folder nothing is written.
#ifndef KAITEN_SIM_COVERAGE_FILE_H
#define KAITEN_SIM_COVERAGE_FILE_H

#include "verilated.h"

#if VM_COVERAGE
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>

#include "verilated_cov.h"

namespace kaiten::sim {

// The sum over all models of a program: one file, written when it ends.
class CoverageFile {
 public:
  static void add(VerilatedContext& context) {
    const char* folder = std::getenv("KAITEN_COVER");
    if (!folder || !*folder) return;
    static CoverageFile file(std::string(folder) + "/" + std::to_string(getpid()));
    file.add_counts(context);
  }

 private:
  explicit CoverageFile(std::string name) : name_(std::move(name)) {}
  ~CoverageFile() {
    std::ofstream out(name_ + ".dat");
    for (const auto& [point, count] : counts_) out << point << ' ' << count << '\n';
  }

  // Verilator tells its counts to files only. Lines of points read: C 'description' count
  void add_counts(VerilatedContext& context) {
    const std::string part = name_ + ".part";
    context.coveragep()->write(part.c_str());
    std::ifstream in(part);
    for (std::string line; std::getline(in, line);) {
      if (const auto end = line.rfind(' '); line.starts_with("C '"))
        counts_[line.substr(0, end)] += std::stoull(line.substr(end + 1));
    }
    in.close();
    unlink(part.c_str());
  }

  std::string name_;
  std::map<std::string, std::uint64_t> counts_;
};

inline void save_coverage(VerilatedContext& context) { CoverageFile::add(context); }

// For VerilatedContext::randReset: registers start at random, but not where what changes is counted, as random bits would.
inline constexpr int kInitialState = 0;

}  // namespace kaiten::sim

#else

namespace kaiten::sim {

inline void save_coverage(VerilatedContext&) {}

inline constexpr int kInitialState = 2;

}  // namespace kaiten::sim

#endif

#endif  // KAITEN_SIM_COVERAGE_FILE_H
