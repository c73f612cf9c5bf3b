#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <chrono>
#include <iostream>

#include "cli/demo.h"
#include "cli/files.h"
#include "cli/inputs.h"
#include "cli/interrupt.h"
#include "cli/terminal.h"
#include "cli/tool.h"
#include "compile/compiler.h"
#include "device/driver.h"
#include "device/watcher.h"
#include "graph/error.h"
#include "import/import.h"
#include "report/run_report.h"
#include "tb/sim_device.h"

namespace kaiten::cli {

namespace {

namespace po = boost::program_options;

constexpr const char* kDefaultConfig = "base";
constexpr unsigned kDefaultLatency = 100;
constexpr std::uint64_t kMaxLatency = 1'000'000;

struct RunOptions {
  std::string model;  // empty: the demo network
  std::string input;
  std::string output;
  std::string config = kDefaultConfig;
  std::uint64_t latency = kDefaultLatency;
  double bytes_per_cycle = -1;
  std::uint64_t seed = 1;
  RoundingStyle rounding = RoundingStyle::LiteRt;
  bool check = true;
  std::string json;
  std::string labels;
  Normalisation normalisation;
  double seconds = 0;
  unsigned stall = 0;
  int block_pixels = 0;
  bool debug = false;
  std::string wave;
  std::uint64_t wave_from = 0;
  std::uint64_t wave_to = UINT64_MAX;
};

// Nothing after --help was printed.
std::optional<RunOptions> parse(const Arguments& arguments, bool is_tb) {
  RunOptions o;
  std::string rounding = "litert";
  std::string configs;
  for (const std::string& name : tb::sim_configs()) configs += (configs.empty() ? "" : "|") + name;
  po::options_description all("options");
  auto add = all.add_options();
  add("help,h", "print this text");
  add("model", po::value(&o.model)->value_name("FILE"),
      is_tb ? "TensorFlow Lite or ONNX model; without it the demo network"
            : "TensorFlow Lite or ONNX model (also as first argument)");
  add("input", po::value(&o.input)->value_name("FILE"),
      "input tensors in the model's type and layout, one after the other, or a PNG or PPM image; without it "
      "random values");
  add("output", po::value(&o.output)->value_name("FILE"), "write the output tensors, raw, to a file");
  add("config", po::value(&o.config)->value_name("NAME")->default_value(kDefaultConfig),
      ("machine: " + configs).c_str());
  add("latency", po::value(&o.latency)->value_name("CYCLES")->default_value(kDefaultLatency),
      "latency of the memory");
  add("bytes-per-cycle", po::value(&o.bytes_per_cycle)->value_name("N"),
      "bandwidth of the memory, both directions together; without it the bus width, 0: no limit");
  add("seed", po::value(&o.seed)->value_name("N")->default_value(1), "seed of random inputs and stalls");
  add("stall", po::value(&o.stall)->value_name("PERCENT")->default_value(0),
      "random stalls on every channel of the bus");
  add("rounding", po::value(&rounding)->value_name("litert|tflm")->default_value("litert"),
      "whose answers to give: LiteRT's reference kernels or tflite-micro's");
  add("check", "compare every tensor with the reference (the default)");
  add("no-check", "do not compare");
  add("json", po::value(&o.json)->value_name("FILE"),
      "write the report as JSON; '-': to standard output, nothing else is");
  add("labels", po::value(&o.labels)->value_name("FILE"), "names of the classes, one a line");
  add("mean", po::value<double>()->value_name("M"), "image pixels become (pixel - mean) * scale");
  add("scale", po::value<double>()->value_name("S"),
      "see --mean; without both the 256 values of a pixel are the 256 stored values");
  add("seconds", po::value(&o.seconds)->value_name("S")->default_value(0),
      "repeat the run until the simulation has lasted so long, to measure its speed");
  add("block-pixels", po::value(&o.block_pixels)->value_name("N")->default_value(0),
      "output pixels of a command; 0: a number that suits the array");
  add("debug", "simulator with assertions and random initial state");
  add("wave", po::value(&o.wave)->value_name("FILE"), "write an FST trace (implies --debug)");
  add("wave-from", po::value(&o.wave_from)->value_name("CYCLE")->default_value(0),
      "first cycle of the trace");
  add("wave-to", po::value(&o.wave_to)->value_name("CYCLE"), "cycle after the last of the trace");

  po::positional_options_description positional;
  if (!is_tb) positional.add("model", 1);
  po::variables_map values;
  po::store(po::command_line_parser(arguments).options(all).positional(positional).run(), values);
  if (values.count("help") != 0) {
    std::cout << (is_tb ? "usage: tb [OPTIONS]\nWithout arguments: the demo network on the default "
                          "configuration, checked bit for bit.\n\n"
                        : "usage: kaiten run MODEL [OPTIONS]\nRuns a model on the simulated accelerator. "
                          "MODEL 'demo' is the embedded demo network.\n\n")
              << all
              << "\nexit code: 0 exact, 1 a tensor differs from the reference, 2 bad input, 3 hardware "
                 "error, 130 interrupted\n";
    return std::nullopt;
  }
  po::notify(values);
  if (!is_tb && o.model.empty()) throw InputError("run needs a model (see kaiten run --help)");
  if (o.model == kDemoName) o.model.clear();
  if (rounding == "tflm") {
    o.rounding = RoundingStyle::Tflm;
  } else if (rounding != "litert") {
    throw InputError("--rounding is litert or tflm, not '" + rounding + "'");
  }
  if (o.latency < 1 || o.latency > kMaxLatency) {
    throw InputError("--latency is 1 to " + std::to_string(kMaxLatency) + ", not " +
                     std::to_string(o.latency));
  }
  if (values.count("bytes-per-cycle") != 0 && !(o.bytes_per_cycle >= 0))
    throw InputError("--bytes-per-cycle is 0 or more");
  if (o.block_pixels < 0) throw InputError("--block-pixels is 0 or more");
  if (o.stall > 99) throw InputError("--stall is 0 to 99");
  if (values.count("check") != 0 && values.count("no-check") != 0)
    throw InputError("--check and --no-check together");
  o.check = values.count("no-check") == 0;
  o.debug = values.count("debug") != 0 || !o.wave.empty();
  if (values.count("mean") != 0) o.normalisation.mean = values["mean"].as<double>();
  if (values.count("scale") != 0) o.normalisation.scale = values["scale"].as<double>();
  return o;
}

std::vector<std::string> read_labels(const std::string& file) {
  std::vector<std::string> labels;
  if (file.empty()) return labels;
  const std::vector<std::uint8_t> bytes = read_file(file);
  std::string line;
  for (std::uint8_t b : bytes) {
    if (b == '\n') {
      labels.push_back(line);
      line.clear();
    } else if (b != '\r') {
      line.push_back(char(b));
    }
  }
  if (!line.empty()) labels.push_back(line);
  return labels;
}

// Shows the results of the simulated device to the watcher and to the clock of the layers.
class Observer : public tb::ResultWatcher {
 public:
  Observer(const Program& program, Watcher* watcher) : clock_(program), watcher_(watcher) {}

  void result(const tb::ResultWord& r) override {
    if (watcher_ != nullptr) watcher_->result({r.command, int(r.tiles), int(r.rows), int(r.columns)}, r.data);
    if ((r.tiles | r.rows | r.columns) == 0) clock_.last_result(r.command);
  }
  void events(std::uint32_t flags) override { clock_.events(flags); }
  LayerClock& clock() { return clock_; }

 private:
  LayerClock clock_;
  Watcher* watcher_;
};

int run(const RunOptions& o) {
  const ImportResult imported =
      o.model.empty() ? import_tflite(demo_model(), kDemoName) : import_file(o.model);
  const Graph graph = require_graph(imported);
  CompileOptions compile_options;
  compile_options.rounding = o.rounding;
  compile_options.block_pixels = o.block_pixels;
  const Program program = compile(graph, preset(o.config), compile_options);
  const std::vector<std::string> labels = read_labels(o.labels);
  const auto [inputs, origin] = make_inputs(graph, {o.model.empty(), o.input, o.seed, o.normalisation});
  check_interrupt();
  std::vector<Int8Values> expected;
  if (o.check) expected = run_reference(graph, inputs, o.rounding);
  check_interrupt();

  tb::SimOptions sim;
  sim.memory.bytes = std::max<std::uint64_t>(memory_needed(program), 1 << 16);
  sim.memory.read_latency = sim.memory.write_latency = unsigned(o.latency);
  sim.memory.bytes_per_cycle = o.bytes_per_cycle < 0 ? program.config.axi_bytes : o.bytes_per_cycle;
  sim.memory.seed = o.seed;
  sim.memory.stall_ar = sim.memory.stall_r = sim.memory.stall_aw = sim.memory.stall_w = sim.memory.stall_b =
      o.stall;
  sim.debug = o.debug;
  sim.wave_file = o.wave;
  sim.wave_from = o.wave_from;
  sim.wave_to = o.wave_to;
  const std::unique_ptr<tb::SimDevice> device = tb::make_sim_device(o.config, sim);
  Driver driver(*device, graph, program, o.rounding);

  std::optional<Watcher> watcher;
  if (o.check) watcher.emplace(graph, program, expected);
  Observer observer(program, watcher ? &*watcher : nullptr);
  device->watch(&observer);
  ProgressLine progress;
  std::uint64_t modelled = 1;
  for (const CommandMeta& m : program.meta) {
    if (m.kind == CommandMeta::Bytes::kNone) modelled += std::uint64_t(m.cycles);
  }
  driver.set_progress([&](std::uint64_t cycles) {
    check_interrupt();
    progress.show(fmt::format("{} on {}: {} cycles, about {} %", graph.name, o.config, cycles,
                              std::min<std::uint64_t>(99, 100 * cycles / modelled)));
  });
  const std::vector<Int8Values> outputs = driver.run(inputs);
  const Counters counters = driver.read_counters();
  device->watch(nullptr);

  RunReport report = make_report(graph, program, counters, observer.clock().finish());
  report.seconds = device->loop_seconds();
  report.loop_cycles = device->loop_cycles();
  if (o.seconds > 0) {
    // The speed of the simulation alone: nobody watches.
    const double before = device->loop_seconds();
    const std::uint64_t cycles_before = device->loop_cycles();
    while (device->loop_seconds() - before < o.seconds) {
      driver.execute();
      check_interrupt();
      progress.show(fmt::format("{} on {}: repeating", graph.name, o.config));
    }
    report.seconds = device->loop_seconds() - before;
    report.loop_cycles = device->loop_cycles() - cycles_before;
  }
  progress.clear();
  report.notes.push_back("input: " + origin);
  for (std::size_t i = 0; i < outputs.size(); i++) {
    report.outputs.push_back(output_report(graph.tensors[std::size_t(graph.outputs[i])], outputs[i], labels));
  }
  if (o.check) {
    report.checked = watcher->checked();
    report.difference = watcher->verdict();
    for (std::size_t i = 0; i < outputs.size() && report.difference.empty(); i++) {
      const int t = graph.outputs[i];
      if (outputs[i] != expected[std::size_t(t)])
        report.difference = "output '" + graph.tensors[std::size_t(t)].name + "' differs";
    }
    report.exact = report.difference.empty();
  }

  if (!o.output.empty()) {
    std::vector<std::uint8_t> bytes;
    for (std::size_t i = 0; i < outputs.size(); i++) {
      const auto part = to_model(graph.tensors[std::size_t(graph.outputs[i])], outputs[i]);
      bytes.insert(bytes.end(), part.begin(), part.end());
    }
    write_file(o.output, bytes);
  }
  if (o.json == "-") {
    std::cout << to_json(report);
  } else {
    if (!o.json.empty()) write_file(o.json, to_json(report));
    std::cout << to_text(report, output_width());
  }
  return report.exact.value_or(true) ? kDone : kDiffers;
}

}  // namespace

int run_command(const Arguments& arguments, bool is_tb) {
  const std::optional<RunOptions> options = parse(arguments, is_tb);
  return options ? run(*options) : kDone;
}

}  // namespace kaiten::cli
