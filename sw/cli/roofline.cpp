// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/options.h"
#include "cli/report_output.h"
#include "cli/tool.h"
#include "report/roofline_report.h"

namespace kaiten::cli {

namespace po = boost::program_options;

int roofline_command(const Arguments& arguments) {
  // The SUSHI paper's system of figures 10 and 11: 1.296 TFLOPS and 19.2 GB/s at 100 MHz; PB of table 3.
  constexpr double kMacs = 6480, kBytes = 192, kMegahertz = 100, kMost = 1e9;
  std::string supernet = "ofa-resnet50", pb = "1728KiB";
  RooflineReport report;
  report.roof = {kMacs, kBytes, 0};
  report.clock_mhz = kMegahertz;
  po::options_description all("options");
  auto add = all.add_options();
  add("help,h", "print this text");
  add("supernet", po::value(&supernet)->value_name("NAME")->default_value(supernet),
      "ofa-resnet50, ofa-mobilenetv3 or compofa; also as first argument");
  add("macs", po::value(&report.roof.macs_per_cycle)->value_name("N")->default_value(kMacs),
      "multiply-accumulates a cycle");
  add("bandwidth", po::value(&report.roof.bytes_per_cycle)->value_name("BYTES")->default_value(kBytes),
      "of the memory, a cycle");
  add("pb", po::value(&pb)->value_name("BYTES")->default_value(pb), "of PB");
  add("kernel", po::value(&report.kernel)->value_name("N")->default_value(0),
      "only layers of N x N that are not depthwise; 0: all");
  add("clock", po::value(&report.clock_mhz)->value_name("MHZ")->default_value(kMegahertz), "of the machine");
  add("html", po::value<std::string>()->value_name("FILE"), "write a page with the roof");
  add("json", po::value<std::string>()->value_name("FILE"), "write JSON");
  po::variables_map values;
  constexpr const char* kUsage =
      "usage: kaiten roofline [SUPERNET] [OPTIONS]\n"
      "What SubNets attain at most on a machine, with and without weights that stay in PB.\n";
  if (!read_options(arguments, all, "supernet", kUsage, values)) return kDone;
  for (const auto& [option, value] :
       {std::pair{"macs", report.roof.macs_per_cycle}, {"bandwidth", report.roof.bytes_per_cycle}}) {
    if (!(value > 0 && value <= kMost))
      throw InputError(
          fmt::format("--{}: expected a number above 0 and up to {:g}, found {:g}", option, kMost, value));
  }
  require_clock(values, report.clock_mhz);
  if (report.kernel < 0)
    throw InputError(fmt::format("--kernel: expected 0 or more, found {}", report.kernel));
  report.roof.pb_bytes = bytes_of(pb, "--pb");
  const Outputs outputs("roofline", values, {"html", "json"}, {});
  report.supernet = supernet;
  report.points = serve::roofline(kaiten::supernet::family(supernet), report.roof, report.kernel);
  write_report(report, outputs);
  return kDone;
}

}  // namespace kaiten::cli
