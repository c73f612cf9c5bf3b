// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "board/board.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "cli/demo.h"
#include "cli/inputs.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/outputs.h"
#include "cli/source.h"
#include "cli/terminal.h"
#include "cli/tool.h"
#include "observe/interpretation.h"
#include "report/table.h"
#include "run/session.h"

namespace kaiten::cli {

namespace po = boost::program_options;

namespace {

struct Request {
  std::string model, device, until;
  InputSource input;
  bool check = true;
  int runs = 1;
};

constexpr int kMostRuns = 1'000'000;

// What was seen, for text and JSON.
struct Report {
  std::string network, device, origin;
  const Board* board = nullptr;
  BoardRun run;  // the last one
  double seconds = 0;
  int runs = 0;
  std::optional<std::string> difference;  // empty: none; nothing: not compared

  double per_second(int images) const { return seconds > 0 ? double(runs) * images / seconds : 0; }
};

// The first element that differs, told as `run` does; empty: none does.
std::string difference_of(const Graph& graph, const std::vector<Int8Values>& found,
                          const std::vector<Int8Values>& expected) {
  if (found == expected) return "";
  TensorComparison all;
  for (std::size_t i = 0; i < expected.size(); i++) {
    const int output = graph.outputs[i % graph.outputs.size()];
    const auto op = std::ranges::find(graph.ops, output, &Op::output) - graph.ops.begin();
    if (std::size_t(op) < graph.ops.size())
      compare_values(graph, int(op), int(i / graph.outputs.size()), found[i], expected[i], all);
  }
  return all.different > 0 ? to_text(all.first, graph) : "an output that is an input";
}

std::size_t elements(const std::vector<Int8Values>& tensors) {
  std::size_t n = 0;
  for (const Int8Values& t : tensors) n += t.size();
  return n;
}

std::string to_text(const Report& r, int batch) {
  const Config& c = r.board->config();
  std::string verdict = "DONE, nothing compared";
  if (r.difference && r.difference->empty())
    verdict = fmt::format("PASS: {} elements of the outputs equal to the reference executor's",
                          grouped(elements(r.run.outputs)));
  else if (r.difference)
    verdict = "FAIL: " + *r.difference;
  return fmt::format(
      "{} on {}: {} rows x {} columns, '{}'\ninput: {}\n"
      "{} cycles ({:.1f} % of the model's {}), array busy {:.1f} %\n"
      "{} bytes read, {} written, {} in memory, {} programs\n"
      "{} runs in {:.3f} s, {:.4g} images/s with what the host does\n{}\n",
      r.network, r.device, c.kp, c.cp, c.name, r.origin, grouped(r.run.cycles),
      r.board->modelled_cycles() > 0 ? 100.0 * double(r.run.cycles) / double(r.board->modelled_cycles())
                                     : 0.0,
      grouped(r.board->modelled_cycles()),
      r.run.cycles > 0 ? 100.0 * double(r.run.array_busy) / double(r.run.cycles) : 0.0,
      grouped(r.run.bytes_read), grouped(r.run.bytes_written), grouped(r.board->memory_bytes()),
      r.board->programs(), r.runs, r.seconds, r.per_second(batch), verdict);
}

nlohmann::ordered_json json_of(const Report& r, int batch) {
  nlohmann::ordered_json j{{"network", r.network},
                           {"device", r.device},
                           {"config", r.board->config().name},
                           {"cycles", r.run.cycles},
                           {"modelled_cycles", r.board->modelled_cycles()},
                           {"array_busy", r.run.array_busy},
                           {"bytes", {{"read", r.run.bytes_read}, {"written", r.run.bytes_written}}},
                           {"memory_bytes", r.board->memory_bytes()},
                           {"programs", r.board->programs()},
                           {"batch", batch},
                           {"runs", r.runs},
                           {"seconds", r.seconds},
                           {"images_per_second", r.per_second(batch)}};
  if (r.difference) {
    j["exact"] = r.difference->empty();
    if (!r.difference->empty()) j["difference"] = *r.difference;
  }
  return j;
}

std::optional<Request> read_request(const Arguments& arguments, po::variables_map& values) {
  Request r;
  bool no_check = false;
  po::options_description all("options");
  auto add = all.add_options();
  add("help,h", "print this text");
  add("model", po::value(&r.model)->value_name("FILE"),
      "TensorFlow Lite or ONNX model, 'demo', '-': standard input (also as first argument)");
  add("device", po::value(&r.device)->value_name("DEVICE"),
      "UIO,BUFFER as 'uio0,udmabuf0', or 'bridge:FOLDER' of a 'kaiten bridge'");
  add("input", po::value(&r.input.file)->value_name("FILE"),
      "input tensors in the model's type and layout, one after the other, or an image; without it random "
      "values");
  add("until", po::value(&r.until)->value_name("TENSOR"), "the network up to this tensor");
  add("batch", po::value(&r.input.batch)->value_name("N")->default_value(1), "images of a run");
  add("runs", po::value(&r.runs)->value_name("N")->default_value(1), "so many runs with the same input");
  add("seed", po::value(&r.input.seed)->value_name("N")->default_value(1), "seed of random inputs");
  add("no-check", po::bool_switch(&no_check), "do not compare the outputs with the reference");
  add("output", po::value<std::string>()->value_name("FILE"), "write the output tensors, raw");
  add("json", po::value<std::string>()->value_name("FILE"), "write the report as JSON");
  constexpr const char* kUsage =
      "usage: kaiten board MODEL --device DEVICE [OPTIONS]\n"
      "Runs a model on an accelerator of this machine's board, or on a simulated one in another process.\n";
  constexpr const char* kEnding =
      "\nexit code: 0 exact, 1 an output differs from the reference, 2 bad input, 3 hardware error, 130 "
      "interrupted\n";
  if (!read_options(arguments, all, "model", kUsage, values, kEnding)) return std::nullopt;
  if (r.model.empty()) throw InputError("board needs a model (see kaiten board --help)");
  if (r.device.empty()) throw InputError("board needs a --device (see kaiten board --help)");
  if (r.runs < 1 || r.runs > kMostRuns)
    throw InputError(fmt::format("--runs is 1 to {}, not {}", kMostRuns, r.runs));
  r.check = !no_check;
  return r;
}

}  // namespace

int board_command(const Arguments& arguments) {
  po::variables_map values;
  const std::optional<Request> request = read_request(arguments, values);
  if (!request) return kDone;
  const Outputs outputs("board", values, {"output", "json"}, {"model", "input"});
  ProgressLine progress;
  progress.show("compiling");
  BoardOptions options;
  options.batch = request->input.batch;
  options.cancellation_check = check_interrupt;
  InputSource source = request->input;
  source.demo = request->model == kDemoName;
  Board board(require_graph(import_model(request->model, request->until)), open_device(request->device),
              options);
  const ModelInputs inputs = make_inputs(board.graph(), source);
  Report report{.network = board.graph().name,
                .device = request->device,
                .origin = inputs.origin,
                .board = &board,
                .run = {},
                .seconds = 0,
                .runs = request->runs,
                .difference = {}};
  for (int i = 0; i < request->runs; i++) {
    progress.show(fmt::format("run {} of {}", i + 1, request->runs), double(i) / request->runs);
    report.run = board.run(inputs.values);
    report.seconds += report.run.seconds;
  }
  if (request->check) {
    progress.show("computing the reference");
    report.difference = difference_of(board.graph(), report.run.outputs, board.expected(inputs.values));
  }
  progress.clear();
  if (outputs.wanted("output")) outputs.write("output", raw_bytes(board.graph(), report.run.outputs));
  if (outputs.wanted("json")) outputs.write_json("json", json_of(report, options.batch));
  outputs.print(to_text(report, options.batch));
  return report.difference && !report.difference->empty() ? kDiffers : kDone;
}

}  // namespace kaiten::cli
