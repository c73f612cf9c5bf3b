// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/job.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "cli/demo.h"
#include "cli/image.h"
#include "cli/interrupt.h"
#include "cli/misused.h"
#include "cli/options.h"
#include "cli/source.h"
#include "cli/terminal.h"
#include "report/inspect.h"
#include "sim/sim_device.h"

namespace kaiten::cli {

namespace po = boost::program_options;

namespace {

// "BYTE" or "BYTE:BIT".
std::pair<std::size_t, int> fault_of(const std::string& text) {
  std::size_t byte = 0;
  int bit = 0;
  const char* end = text.data() + text.size();
  auto [at, error] = std::from_chars(text.data(), end, byte);
  if (error == std::errc{} && at != end && *at == ':') {
    const auto rest = std::from_chars(at + 1, end, bit);
    at = rest.ptr;
    error = rest.ec;
  }
  if (error != std::errc{} || at != end) throw InputError("--fault is BYTE or BYTE:BIT, not '" + text + "'");
  return {byte, bit};
}

}  // namespace

Job::Job(po::options_description& all, bool is_tb)
    : all_(all), is_tb_(is_tb), latency_(SessionOptions{}.latency) {
  std::string configs;
  for (const std::string& name : sim::sim_configs()) configs += (configs.empty() ? "" : "|") + name;
  auto add = all.add_options();
  add("help,h", "print this text");
  add("model", po::value(&model_)->value_name("FILE"),
      is_tb ? "TensorFlow Lite or ONNX model, '-': standard input; without it the demo network"
            : "TensorFlow Lite or ONNX model, '-': standard input (also as first argument)");
  add("input", po::value(&input_)->value_name("FILE"),
      "input tensors in the model's type and layout, one after the other, or an image (PNG, JPEG, BMP, PPM); "
      "without it random values");
  add("until", po::value(&until_)->value_name("TENSOR"),
      "run the network up to this tensor, which becomes its only output");
  add_image_options(all);
  add("config",
      po::value(&session_options_.config)->value_name("NAME")->default_value(session_options_.config),
      ("configuration: " + configs).c_str());
  add("latency", po::value(&latency_)->value_name("CYCLES")->default_value(latency_),
      "latency of the memory, 1 to 1000000");
  add("bytes-per-cycle", po::value(&session_options_.bytes_per_cycle)->value_name("N"),
      "bandwidth of the memory, both directions together, 0.01 to 1e6; without it the bus width, 0: no "
      "limit");
  add("stall", po::value(&stall_)->value_name("PERCENT")->default_value(0),
      "random stalls on every channel of the bus");
  add("seed", po::value(&session_options_.seed)->value_name("N")->default_value(session_options_.seed),
      "seed of random inputs and stalls");
  add("rounding", po::value(&rounding_)->value_name("litert|tflm")->default_value(rounding_),
      "whose answers to give: LiteRT's reference kernels or tflite-micro's");
  add("oracle", po::value(&oracle_)->value_name("direct|fft|litert|onnxruntime")->default_value(oracle_),
      "who computes the sums of the reference's convolutions: multiply-accumulates or Fourier transforms; or "
      "which interpreter every tensor is compared with besides");
  add("block-pixels", po::value(&session_options_.block_pixels)->value_name("N")->default_value(0),
      "output pixels of a command; 0: a number that suits the array");
  add("compress", po::value(&compress_)->value_name("auto|on|off")->default_value(compress_),
      "compress maps and weights on their way through memory: on, all maps that can be, and weights where "
      "that is shorter; auto, what becomes 3 % smaller, of maps in a reference run with the same input");
  add("optimise", po::value(&optimise_)->value_name("bytes|time")->default_value(optimise_),
      "what plans are ranked by first: bytes that cross the memory bus, or modelled cycles");
  add("spill", po::bool_switch(&session_options_.spill),
      "every map goes through memory, to measure what that costs");
  add("debug", po::bool_switch(&session_options_.debug),
      "simulator with assertions, random initial state and dead rows destroyed");
  add("wave", po::value(&session_options_.wave)->value_name("FILE"),
      "write an FST trace of the signals (implies --debug)");
  add("wave-from", po::value(&wave_from_)->value_name("CYCLE")->default_value(wave_from_),
      "first cycle of the run in it");
  add("wave-to", po::value(&wave_to_)->value_name("CYCLE"), "cycle after the last in it");
  add("fault", po::value(&fault_)->value_name("BYTE[:BIT]"),
      "invert a bit of the weights and parameters in the device's memory, to see what a difference looks "
      "like");
}

std::optional<po::variables_map> Job::parse(const Arguments& arguments, const std::string& usage,
                                            const std::string& second) {
  po::variables_map values;
  constexpr const char* kEnding =
      "\nexit code: 0 exact, 1 a tensor differs from the reference, 2 bad input, 3 hardware error, 130 "
      "interrupted\n";
  if (!read_options(arguments, all_,
                    is_tb_           ? ""
                    : second.empty() ? "model"
                                     : "model " + second,
                    usage, values, kEnding))
    return std::nullopt;
  if (!is_tb_ && model_.empty()) throw Misused("a model is missing");
  if (model_ == kDemoName) model_.clear();
  if (rounding_ == "tflm") {
    session_options_.rounding = RoundingStyle::Tflm;
  } else if (rounding_ != "litert") {
    throw InputError("--rounding is litert or tflm, not '" + rounding_ + "'");
  }
  if (oracle_ == "fft") {
    session_options_.oracle = Oracle::Fft;
  } else if (oracle_ != "direct") {
    interpreter_ = oracle::interpreter_of(oracle_);
    if (!interpreter_)
      throw InputError("--oracle is direct, fft, litert or onnxruntime, not '" + oracle_ + "'");
  }
  require_clock(values, clock_mhz_);
  session_options_.compress = compress_of(compress_);
  session_options_.optimise = optimise_of(optimise_);
  if (latency_ < 1 || latency_ > kMostLatency) {
    throw InputError("--latency is 1 to " + std::to_string(kMostLatency) + ", not " +
                     std::to_string(latency_));
  }
  session_options_.latency = unsigned(latency_);
  const double rate = session_options_.bytes_per_cycle;
  if (values.count("bytes-per-cycle") != 0 && rate != 0 &&
      !(rate >= kLeastBytesPerCycle && rate <= kMostBytesPerCycle)) {
    throw InputError(fmt::format("--bytes-per-cycle is 0 or {} to {}, not {}", kLeastBytesPerCycle,
                                 kMostBytesPerCycle, rate));
  }
  if (session_options_.block_pixels < 0) throw InputError("--block-pixels is 0 or more");
  if (stall_ < 0 || stall_ > 99) throw InputError("--stall is 0 to 99, not " + std::to_string(stall_));
  session_options_.stall = unsigned(stall_);
  if (wave_from_ < 0) throw InputError("--wave-from is 0 or more, not " + std::to_string(wave_from_));
  if (wave_from_ >= wave_to_) {
    throw InputError("--wave-from " + std::to_string(wave_from_) + " is not before --wave-to " +
                     std::to_string(wave_to_));
  }
  session_options_.wave_from = std::uint64_t(wave_from_);
  session_options_.wave_to = std::uint64_t(wave_to_);
  if (session_options_.wave.empty() && (!values["wave-from"].defaulted() || values.count("wave-to") != 0))
    throw InputError("--wave-from and --wave-to need --wave");
  rule_ = image_rule(values);
  for (const char* file : {"json", "output"})
    quiet_ = quiet_ || (values.count(file) != 0 && values[file].as<std::string>() == "-");
  if (!fault_.empty()) fault_of(fault_);
  return values;
}

std::string Job::model() const { return model_.empty() ? kDemoName : model_; }

Session Job::open(ProgressLine& progress) {
  const std::string model = this->model();
  const bool keep = interpreter_ || keeps_file_ || !input_.empty();
  if (keep) file_ = model_bytes(model);
  ImportResult imported = keep ? import_model(model, file_, until_) : import_model(model, until_);
  if (imported.refusals.size() > 1 && !quiet_) print(inspect_text(imported));
  Graph graph = require_graph(std::move(imported));
  if (!input_.empty() && rule_.reads_metadata) {
    metadata_ = metadata_of(model, file_);
    rule_.complete(metadata_);
  }
  check_interrupt();
  SessionOptions options = session_options_;
  options.cancellation_check = check_interrupt;
  if (options.compress != Compress::kOff) {
    inputs_ = inputs(graph);
    options.calibration = inputs_->values;
  }
  Session session(std::move(graph), options);
  session.set_progress([&progress](const std::string& what) {
    check_interrupt();
    progress.show(what);
  });
  if (!fault_.empty()) {
    const auto [byte, bit] = fault_of(fault_);
    fault_note_ = "fault: " + session.flip_constant_bit(byte, bit);
  }
  return session;
}

Optimise optimise_of(const std::string& text) {
  if (text == "bytes") return Optimise::kBytes;
  if (text == "time") return Optimise::kTime;
  throw InputError("--optimise is bytes or time, not '" + text + "'");
}

Compress compress_of(const std::string& text) {
  if (text == "off") return Compress::kOff;
  if (text == "on") return Compress::kOn;
  if (text == "auto") return Compress::kAuto;
  throw InputError("--compress is auto, on or off, not '" + text + "'");
}

std::function<Interpretation(std::span<const Int8Values>)> Job::interpreter(const Graph& graph) const {
  if (!interpreter_) return {};
  return [this, &graph](std::span<const Int8Values> inputs) {
    return oracle::interpret(*interpreter_, file_, graph, session_options_.batch, inputs, check_interrupt);
  };
}

ModelInputs Job::inputs(const Graph& graph) {
  if (inputs_) return *std::exchange(inputs_, std::nullopt);
  return make_inputs(graph, {model_.empty(), input_, session_options_.seed, rule_, session_options_.batch});
}

}  // namespace kaiten::cli
