// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Where a command's report goes: a page and JSON where they are wanted, text to standard output unless that is one of them.
#ifndef KAITEN_CLI_REPORT_OUTPUT_H
#define KAITEN_CLI_REPORT_OUTPUT_H

#include "cli/outputs.h"
#include "cli/terminal.h"
#include "report/json_report.h"

namespace kaiten::cli {

// Report: to_text(report, width), json_of(report), to_html(report).
template <class Report>
void write_report(const Report& report, const Outputs& outputs) {
  if (outputs.wanted("html")) outputs.write("html", to_html(report));
  if (outputs.wanted("json")) outputs.write_json("json", json_of(report));
  outputs.print(to_text(report, output_width()));
}

}  // namespace kaiten::cli

#endif  // KAITEN_CLI_REPORT_OUTPUT_H
