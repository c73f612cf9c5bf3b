// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/outputs.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/output.h"
#include "cli/demo.h"
#include "cli/files.h"
#include "cli/interrupt.h"
#include "cli/terminal.h"
#include "cli/tool.h"
#include "report/json_report.h"

namespace kaiten::cli {

namespace fs = std::filesystem;
namespace po = boost::program_options;

namespace {

bool same(const struct stat& a, const struct stat& b) { return a.st_dev == b.st_dev && a.st_ino == b.st_ino; }

// Files that are there are compared themselves, whatever leads to them; others by name. Two users of a character device, such
// as /dev/null, do not disturb each other.
bool same_file(const std::string& a, const std::string& b) {
  struct stat of_a {
  }, of_b{};
  const bool has_a = ::stat(a.c_str(), &of_a) == 0, has_b = ::stat(b.c_str(), &of_b) == 0;
  if (has_a && has_b) return same(of_a, of_b) && !S_ISCHR(of_a.st_mode);
  std::error_code error;
  return !has_a && !has_b && fs::weakly_canonical(a, error) == fs::weakly_canonical(b, error);
}

bool is_standard_output(const std::string& name) {
  struct stat file {
  }, out{};
  return ::stat(name.c_str(), &file) == 0 && ::fstat(STDOUT_FILENO, &out) == 0 && same(file, out) &&
         !S_ISCHR(file.st_mode);
}

template <class T>
bool add_as(nlohmann::ordered_json& options, const std::string& name, const boost::any& value) {
  const T* as = boost::any_cast<T>(&value);
  if (as != nullptr) options[name] = *as;
  return as != nullptr;
}

nlohmann::ordered_json options_of(const po::variables_map& values) {
  nlohmann::ordered_json options = nlohmann::ordered_json::object();
  for (const auto& [name, value] : values) {
    const boost::any& any = value.value();
    add_as<std::string>(options, name, any) || add_as<bool>(options, name, any) ||
        add_as<int>(options, name, any) || add_as<unsigned>(options, name, any) ||
        add_as<long>(options, name, any) || add_as<unsigned long>(options, name, any) ||
        add_as<long long>(options, name, any) || add_as<double>(options, name, any);
  }
  return options;
}

std::optional<std::string> name_of(const po::variables_map& values, const char* option) {
  if (values.count(option) == 0) return std::nullopt;
  return values[option].as<std::string>();
}

}  // namespace

Outputs::Outputs(std::string command, const po::variables_map& values,
                 std::initializer_list<const char*> outputs, std::initializer_list<const char*> inputs,
                 std::initializer_list<const char*> several)
    : command_(std::move(command)), values_(values) {
  std::vector<std::pair<std::string, std::string>> known;  // option, file
  const auto require_other = [&](const std::string& option, const std::string& name) {
    for (const auto& [other, file] : known) {
      if (same_file(file, name))
        throw InputError(fmt::format("--{} '{}' is the file of --{}, too", option, name, other));
    }
  };
  for (const char* option : inputs) {
    const std::optional<std::string> name = name_of(values, option);
    if (name && *name != kStandardInput && *name != kDemoName) known.emplace_back(option, *name);
  }
  for (const char* option : several) {
    std::istringstream names(name_of(values, option).value_or(""));
    std::error_code error;  // a network that has a name of its own is no file
    for (std::string name; std::getline(names, name, ',');) {
      if (fs::exists(name, error)) known.emplace_back(option, name);
    }
  }
  for (const char* option : outputs) {
    const std::optional<std::string> name = name_of(values, option);
    if (!name) continue;
    if (name->empty()) throw InputError("--" + std::string(option) + ": the name of the file is empty");
    if (*name == kStandardOutput) {
      if (std::exchange(standard_output_taken_, true))
        throw InputError("standard output takes one output, not two");
    } else {
      require_other(option, *name);
      if (is_standard_output(*name))
        throw InputError("--" + std::string(option) + " '" + *name +
                         "' is where standard output goes: name it '-'");
      require_writable(*name);
      known.emplace_back(option, *name);
    }
    names_[option] = *name;
  }
}

void Outputs::write(const std::string& option, std::span<const std::uint8_t> bytes) const {
  const auto name = names_.find(option);
  if (name == names_.end()) return;
  try {
    write_output(name->second, bytes);
  } catch (const InputError&) {
    check_interrupt();
    throw;
  }
}

void Outputs::write(const std::string& option, std::string_view text) const {
  write(option, std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
}

void Outputs::write_json(const std::string& option, nlohmann::ordered_json report) const {
  if (!wanted(option)) return;
  nlohmann::ordered_json head;
  head["schema_version"] = kSchemaVersion;
  head["command"] = command_;
  head["program"] = version_text();
  const nlohmann::ordered_json options = options_of(values_);
  head["seed"] = options.contains("seed") ? options["seed"] : nlohmann::ordered_json();
  head["options"] = options;
  nlohmann::ordered_json& body = report.is_array() && !report.empty() ? report.front() : report;
  head.update(body);
  body = std::move(head);
  write(option, json_text(report));
}

void Outputs::print(std::string_view text) const {
  if (!standard_output_taken_) cli::print(text);
}

}  // namespace kaiten::cli
