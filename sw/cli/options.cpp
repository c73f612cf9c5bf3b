// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <typeinfo>

#include "base/error.h"
#include "cli/misused.h"
#include "cli/terminal.h"
#include "plan/network.h"
#include "report/json_report.h"

namespace kaiten::cli {

namespace po = boost::program_options;

namespace {

// Letters to insert, delete, replace or swap with their neighbour, from one word to the other.
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); i++) {
    for (std::size_t j = 0; j <= b.size(); j++) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      d[i][j] =
          std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1] ? 1 : 0)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

std::vector<std::string> names_of(const po::options_description& all) {
  std::vector<std::string> names;
  for (const auto& option : all.options()) names.push_back("--" + option->long_name());
  return names;
}

nlohmann::ordered_json described(const po::options_description& all, const std::string& usage) {
  nlohmann::ordered_json options = nlohmann::ordered_json::array();
  for (const auto& option : all.options()) {
    const std::string shown = option->format_name();  // "-h [ --help ]" where it has a letter
    options.push_back({{"name", option->long_name()},
                       {"letter", shown.starts_with("--") ? "" : shown.substr(1, 1)},
                       {"value", option->semantic()->max_tokens() > 0 ? option->format_parameter() : ""},
                       {"text", option->description()}});
  }
  return {{"usage", usage}, {"options", options}};
}

// Read as an unsigned number, a negative one becomes a large one.
void require_no_wrap(const po::option& o, const po::variables_map& values) {
  const std::type_info& type = values[o.string_key].value().type();
  const bool without_sign =
      type == typeid(std::uint64_t) || type == typeid(unsigned long long) || type == typeid(unsigned);
  if (without_sign && o.value.size() == 1 && o.value.front().find('-') != std::string::npos) {
    throw InputError(
        fmt::format("--{}: expected a number, 0 or more, found '{}'", o.string_key, o.value.front()));
  }
}

}  // namespace

std::string suggestion(const std::string& word, const std::vector<std::string>& known) {
  const std::size_t most = word.size() < 4 ? 1 : word.size() < 9 ? 2 : 3;
  const std::string* best = nullptr;
  std::size_t least = most + 1;
  for (const std::string& k : known) {
    const std::size_t d = distance(word, k);
    if (d < least && d < k.size()) best = &k, least = d;
  }
  return best == nullptr ? "" : ", did you mean '" + *best + "'?";
}

bool read_options(const Arguments& arguments, const po::options_description& all,
                  const std::string& positional, const std::string& usage, po::variables_map& values,
                  const std::string& ending) {
  po::options_description known("options");
  for (const auto& option : all.options()) known.add(option);
  known.add_options()("wide", "tables complete, however narrow the terminal is");
  if (arguments.size() == 1 && arguments.front() == "--help=json") {
    std::cout << json_text(described(known, usage));
    return false;
  }
  po::positional_options_description places;
  std::istringstream names(positional);
  for (std::string name; names >> name;) places.add(name.c_str(), 1);
  try {
    const po::parsed_options parsed =
        po::command_line_parser(arguments).options(known).positional(places).run();
    po::store(parsed, values);
    for (const po::option& o : parsed.options) require_no_wrap(o, values);
  } catch (const po::unknown_option& e) {
    std::string name = e.get_option_name();
    if (!name.starts_with('-')) name = "--" + name;
    throw Misused("no option '" + name + "'" + suggestion(name, names_of(known)));
  }
  if (values.count("help") != 0) {
    std::cout << wrapped(usage) << "\n" << known << wrapped(ending);
    return false;
  }
  if (values.count("wide") != 0) print_wide();
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

void require_efficiency(const po::variables_map& values, double efficiency) {
  if (values.count("efficiency") != 0 && efficiency > 1)
    throw InputError(
        fmt::format("--efficiency: expected a part of the peak rate, to 1, found {}", efficiency));
}

void require_density(const po::variables_map& values, double density, const std::string& densities) {
  if (values.count("density") == 0) return;
  if (!(density >= 0 && density <= 1))
    throw InputError(fmt::format("--density: expected 0 to 1, found {}", density));
  if (!densities.empty()) throw InputError("--density and --densities exclude each other");
}

}  // namespace kaiten::cli
