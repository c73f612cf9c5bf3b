// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>

#include "base/error.h"
#include "plan/network.h"

namespace kaiten::cli {

namespace po = boost::program_options;

bool read_options(const Arguments& arguments, const po::options_description& all, const std::string& first,
                  const std::string& usage, po::variables_map& values, const std::string& ending) {
  po::positional_options_description positional;
  if (!first.empty()) positional.add(first.c_str(), 1);
  po::store(po::command_line_parser(arguments).options(all).positional(positional).run(), values);
  if (values.count("help") != 0) {
    std::cout << usage << "\n" << all << ending;
    return false;
  }
  po::notify(values);
  return true;
}

std::int64_t bytes_of(const std::string& text, const std::string& option) {
  const auto fail = [&](const std::string& found) {
    throw InputError(
        fmt::format("{}: expected bytes from 1 to {}, as a number or with KiB, MiB or GiB, found {}", option,
                    plan::kMaxCapacity, found));
  };
  std::size_t end = 0;
  double number = 0;
  const std::size_t digits = text.find_first_not_of("0123456789.");
  try {
    number = std::stod(text.substr(0, digits), &end);
  } catch (const std::exception&) {
    fail("'" + text + "'");
  }
  const std::string unit = text.substr(std::min(digits, text.size()));
  const double scale = unit.empty() || unit == "B" ? 1
                       : unit == "KiB"             ? 1024
                       : unit == "MiB"             ? 1048576
                       : unit == "GiB"             ? 1073741824
                                                   : 0;
  if (end != std::min(digits, text.size()) || scale == 0) fail("'" + text + "'");
  const double bytes = number * scale;
  if (!(bytes >= 1) || bytes > double(plan::kMaxCapacity) || bytes != std::floor(bytes))
    fail("'" + text + "'");
  return std::int64_t(bytes);
}

void add_clock_option(po::options_description& all, double& mhz) {
  all.add_options()("clock", po::value(&mhz)->value_name("MHZ"),
                    "of the accelerator: cycles as milliseconds and frames/s, too");
}

void require_clock(const po::variables_map& values, double mhz) {
  constexpr double kLeast = 1e-3, kMost = 1e6;
  if (values.count("clock") != 0 && !(mhz >= kLeast && mhz <= kMost))
    throw InputError(fmt::format("--clock: expected {:g} to {:g} MHz, found {:g}", kLeast, kMost, mhz));
}

}  // namespace kaiten::cli
