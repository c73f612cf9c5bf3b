// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Where a command's report goes: a page and JSON into files where they are wanted, text to standard output, or JSON alone.
#ifndef KAITEN_CLI_REPORT_OUTPUT_H
#define KAITEN_CLI_REPORT_OUTPUT_H

#include <iostream>
#include <string>

#include "cli/files.h"
#include "cli/terminal.h"

namespace kaiten::cli {

// Report: to_text(report, width), to_json(report), to_html(report). Empty names: not wanted; json '-': standard output.
template <class Report>
void write_report(const Report& report, const std::string& html, const std::string& json) {
  if (!html.empty()) write_file(html, to_html(report));
  if (json == "-") {
    std::cout << to_json(report);
    return;
  }
  if (!json.empty()) write_file(json, to_json(report));
  std::cout << to_text(report, output_width());
}

}  // namespace kaiten::cli

#endif  // KAITEN_CLI_REPORT_OUTPUT_H
