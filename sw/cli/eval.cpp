// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <sstream>
#include <thread>

#include "base/error.h"
#include "base/fingerprint.h"
#include "base/output.h"
#include "cli/classes.h"
#include "cli/eval_page.h"
#include "cli/feed.h"
#include "cli/files.h"
#include "cli/image.h"
#include "cli/inputs.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/outputs.h"
#include "cli/ranks.h"
#include "cli/source.h"
#include "cli/terminal.h"
#include "cli/tool.h"
#include "evaluate/dataset.h"
#include "evaluate/journal.h"
#include "evaluate/workers.h"
#include "oracle/interpreter.h"
#include "reference/reference.h"
#include "run/session.h"

namespace kaiten::cli {

namespace po = boost::program_options;

namespace {

constexpr std::size_t kRanks = 5;
constexpr const char* kUsage =
    "usage: kaiten eval MODEL FOLDER|FILE.npz [OPTIONS]\n"
    "Runs a model on every image of a folder or a .npz file, on the reference or on the simulated "
    "accelerator, and\n"
    "counts how often the class of an image is the best answer, or among the five best.\n";

struct EvalOptions {
  std::string model, images, config = "base", labels, truth, rounding = "litert", oracle;
  int jobs = 0;
  double clock_mhz = 0;  // 0: none
  std::size_t limit = 0;
  bool rtl = false;
  ImageRule rule;
};

// What came of one image.
struct Row {
  std::array<int, kRanks> best{};  // classes, the best first; -1: the model has no more
  bool exact = true;               // with --rtl: every tensor is the reference's
  bool agrees = true;              // with --rtl: the reference has the same best class
  std::uint64_t cycles = 0;        // with --rtl

  // The numbers with commas between them, `index` first, and back; nothing from other lines.
  std::string text(std::size_t index) const {
    return fmt::format("{},{},{},{},{}", index, fmt::join(best, ","), int(exact), int(agrees), cycles);
  }
  static std::optional<std::pair<std::size_t, Row>> of(const std::string& text) {
    std::vector<std::int64_t> numbers;
    for (const char *at = text.data(), *end = at + text.size(); at < end;) {
      const auto read = std::from_chars(at, end, numbers.emplace_back());
      if (read.ec != std::errc{}) return std::nullopt;
      at = read.ptr + 1;
    }
    if (numbers.size() != kRanks + 4) return std::nullopt;
    Row row;
    for (std::size_t i = 0; i < kRanks; i++) row.best[i] = int(numbers[1 + i]);
    row.exact = numbers[kRanks + 1] != 0;
    row.agrees = numbers[kRanks + 2] != 0;
    row.cycles = std::uint64_t(numbers[kRanks + 3]);
    return std::pair{std::size_t(numbers[0]), row};
  }
};

// The classes of the largest values of the first output; the smaller one of equals first.
std::array<int, kRanks> best_of(const Tensor& tensor, const Int8Values& values) {
  std::vector<float> numbers;
  if (tensor.type == ElementType::Float32) {
    numbers = floats_of(values);
  } else if (tensor.type == ElementType::Int8) {
    numbers.assign(values.begin(), values.end());
  }
  std::vector<int> order(numbers.size());
  std::iota(order.begin(), order.end(), 0);
  const std::size_t count = std::min(kRanks, order.size());
  std::partial_sort(order.begin(), order.begin() + std::ptrdiff_t(count), order.end(), [&](int a, int b) {
    const float x = numbers[std::size_t(a)], y = numbers[std::size_t(b)];
    return x != y ? x > y : a < b;
  });
  std::array<int, kRanks> best{};
  best.fill(kNoLabel);
  std::copy_n(order.begin(), count, best.begin());
  return best;
}

// What answers: the reference, or a session that was made before the workers are.
class Answerer {
 public:
  Answerer(const Graph& graph, const EvalOptions& o)
      : graph_(graph), style_(o.rounding == "tflm" ? RoundingStyle::Tflm : RoundingStyle::LiteRt) {
    if (!o.rtl) return;
    SessionOptions options;
    options.config = o.config;
    options.rounding = style_;
    options.cancellation_check = check_interrupt;
    session_.emplace(graph, options);
  }

  Row operator()(const std::vector<Int8Values>& inputs) {
    const auto output = std::size_t(graph_.outputs.front());
    Row row;
    if (!session_) {
      row.best = best_of(graph_.tensors[output], run_reference(graph_, inputs, style_)[output]);
      return row;
    }
    const RunResult result = session_->run(inputs);
    row.best = best_of(graph_.tensors[output], result.outputs.front());
    row.exact = result.report.exact.value_or(false);
    row.cycles = result.report.cycles;
    if (!row.exact) {
      const auto expected = best_of(graph_.tensors[output], run_reference(graph_, inputs, style_)[output]);
      row.agrees = expected.front() == row.best.front();
    }
    return row;
  }

 private:
  const Graph& graph_;
  RoundingStyle style_;
  std::optional<Session> session_;
};

// All images, and what is counted over them.
struct Evaluation {
  const EvalOptions& options;
  const Dataset& set;
  std::vector<std::optional<Row>> rows;
  int jobs = 1;  // processes
  std::size_t resumed = 0;
  double seconds = 0;
  std::string interpreter;   // with --oracle: its name and version
  std::size_t as_there = 0;  // images whose best class is the interpreter's
  std::string input;         // how pixels became values
  std::vector<std::string> notes;

  std::size_t count(const std::function<bool(const Row&, int label)>& what) const {
    std::size_t n = 0;
    for (std::size_t i = 0; i < rows.size(); i++) n += what(*rows[i], set.labels[i]) ? 1 : 0;
    return n;
  }
  bool ranked(const Row& row, int label, std::size_t ranks) const {
    return label != kNoLabel && std::find(row.best.begin(), row.best.begin() + std::ptrdiff_t(ranks),
                                          label) != row.best.begin() + std::ptrdiff_t(ranks);
  }
  std::size_t labelled() const {
    return count([](const Row&, int label) { return label != kNoLabel; });
  }
  std::size_t right(std::size_t ranks) const {
    return count([&](const Row& row, int label) { return ranked(row, label, ranks); });
  }
  std::size_t exact() const {
    return count([](const Row& row, int) { return row.exact; });
  }
  double mean_cycles() const {
    double sum = 0;
    for (const auto& row : rows) sum += double(row->cycles);
    return rows.empty() ? 0 : sum / double(rows.size());
  }
  std::size_t agreeing() const {
    return count([](const Row& row, int) { return row.agrees; });
  }
};

Confusion confusion(const Evaluation& e) {
  Confusion counts;
  for (std::size_t i = 0; i < e.rows.size(); i++) {
    if (e.set.labels[i] != kNoLabel) counts[{e.set.labels[i], e.rows[i]->best.front()}]++;
  }
  return counts;
}

nlohmann::ordered_json json_of(const Evaluation& e, const std::string& model) {
  using Json = nlohmann::ordered_json;
  const double images = double(e.rows.size()), labelled = double(e.labelled());
  const bool rtl = e.options.rtl;
  Json j;
  j["model"] = model;
  j["config"] = rtl ? Json(e.options.config) : Json();
  j["images"] = e.rows.size();
  j["labelled"] = e.labelled();
  j["top1"] = labelled > 0 ? Json(double(e.right(1)) / labelled) : Json();
  j["top5"] = labelled > 0 ? Json(double(e.right(kRanks)) / labelled) : Json();
  j["agreement"] = rtl ? Json(double(e.agreeing()) / images) : Json();
  j["exact"] = rtl ? Json(e.exact() == e.rows.size()) : Json();
  const bool asked = !e.interpreter.empty();
  j["mean_cycles"] = rtl ? Json(e.mean_cycles()) : Json();
  const double mhz = e.options.clock_mhz;
  j["milliseconds"] = mhz > 0 ? Json(e.mean_cycles() / (mhz * 1e3)) : Json();
  j["frames_per_second"] = mhz > 0 ? Json(mhz * 1e6 / e.mean_cycles()) : Json();
  j["interpreter"] = asked ? Json(e.interpreter) : Json();
  j["interpreter_agreement"] = asked ? Json(double(e.as_there) / images) : Json();
  j["seconds"] = e.seconds;
  j["images_per_second"] = e.seconds > 0 ? double(e.rows.size() - e.resumed) / e.seconds : 0;
  j["input"] = e.input;
  j["notes"] = e.notes;
  j["jobs"] = e.jobs;
  j["resumed"] = e.resumed;
  j["confusion"] = Json::array();
  for (const auto& [pair, n] : confusion(e))
    j["confusion"].push_back({{"label", pair.first}, {"best", pair.second}, {"images", n}});
  j["wrong"] = Json::array();
  for (std::size_t i = 0; i < e.rows.size(); i++) {
    const int label = e.set.labels[i];
    if (label == kNoLabel || e.rows[i]->best.front() == label) continue;
    j["wrong"].push_back({{"image", e.set.names[i]}, {"label", label}, {"best", e.rows[i]->best.front()}});
  }
  return j;
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string csv_of(const Evaluation& e) {
  std::string text = "image,label,best1,best2,best3,best4,best5,exact,cycles\n";
  const auto number = [](int n) { return n == kNoLabel ? std::string() : std::to_string(n); };
  for (std::size_t i = 0; i < e.rows.size(); i++) {
    const Row& row = *e.rows[i];
    text += csv_field(e.set.names[i]) + "," + number(e.set.labels[i]);
    for (const int best : row.best) text += "," + number(best);
    text += e.options.rtl ? fmt::format(",{},{}\n", row.exact ? "yes" : "no", row.cycles) : ",,\n";
  }
  return text;
}

std::string text_of(const Evaluation& e, const std::string& model) {
  const std::size_t images = e.rows.size(), labelled = e.labelled();
  std::string text = fmt::format("input: {}\n", e.input);
  for (const std::string& note : e.notes) text += note + "\n";
  if (labelled > 0) {
    text += fmt::format("labels: {} of {} images, {}\n", labelled, images, e.set.label_rule);
    text += fmt::format("top-1 {:.2f} % ({}), top-5 {:.2f} % ({})\n",
                        100.0 * double(e.right(1)) / double(labelled), e.right(1),
                        100.0 * double(e.right(kRanks)) / double(labelled), e.right(kRanks));
  }
  if (!e.interpreter.empty()) {
    text +=
        fmt::format("{} has the same best class for {} of {} images\n", e.interpreter, e.as_there, images);
  }
  if (e.resumed > 0) text += fmt::format("{} images are from an interrupted run\n", e.resumed);
  text += fmt::format("{} images in {:.1f} s, {:.1f} a second, {} jobs\n", images - e.resumed, e.seconds,
                      e.seconds > 0 ? double(images - e.resumed) / e.seconds : 0, e.jobs);
  if (e.options.clock_mhz > 0)
    text += fmt::format("{:g} MHz: {:.4g} ms an image in the mean, {:.4g} frames/s\n", e.options.clock_mhz,
                        e.mean_cycles() / (e.options.clock_mhz * 1e3),
                        e.options.clock_mhz * 1e6 / e.mean_cycles());
  if (!e.options.rtl)
    return text +
           fmt::format("{}: {} images on the reference alone (--rtl: on the accelerator)\n", model, images);
  if (e.exact() == images)
    return text + fmt::format("PASS {} on {}: every tensor of {} images equals the reference\n", model,
                              e.options.config, images);
  return text + fmt::format("DIFFERS {} on {}: {} of {} images, {} with another best class\n", model,
                            e.options.config, images - e.exact(), images, images - e.agreeing());
}

EvalPage page_of(const Evaluation& e, const std::string& model, const std::vector<std::string>& classes,
                 const std::string& text) {
  EvalPage page{model, {}, classes, confusion(e), {}};
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    page.summary.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  for (std::size_t i = 0; i < e.rows.size(); i++) {
    const int label = e.set.labels[i], best = e.rows[i]->best.front();
    if (label != kNoLabel && label != best && page.wrong.size() < kMostWrongShown)
      page.wrong.push_back({e.set.names[i], label, best, picture_of(e.set, i)});
  }
  return page;
}

// The images in the interpreter, some at a time: it shows every tensor of each.
void ask_interpreter(Evaluation& e, std::span<const std::uint8_t> model, const Graph& graph,
                     const Feed& feed) {
  constexpr std::size_t kAtOnce = 16;
  const oracle::Interpreter which = *oracle::interpreter_of(e.options.oracle);
  const auto output = std::size_t(graph.outputs.front());
  ProgressLine progress;
  for (std::size_t first = 0; first < e.rows.size(); first += kAtOnce) {
    const std::size_t images = std::min(kAtOnce, e.rows.size() - first);
    progress.show(fmt::format("{}: {} of {} images", e.options.oracle, first, e.rows.size()),
                  double(first) / double(e.rows.size()));
    std::vector<Int8Values> inputs;
    for (std::size_t i = first; i < first + images; i++) inputs.push_back(feed(i).front());
    const Interpretation shown = oracle::interpret(which, model, graph, int(images), inputs, check_interrupt);
    e.interpreter = shown.name + " " + shown.version;
    for (std::size_t i = 0; i < images; i++) {
      const Int8Values& values = shown.tensors[i * graph.tensors.size() + output];
      if (values.empty())
        throw InputError("--oracle " + e.options.oracle + " does not show the model's output");
      e.as_there += best_of(graph.tensors[output], values).front() == e.rows[first + i]->best.front() ? 1 : 0;
    }
  }
}

// What a journal belongs to: FNV-1a over everything that the answers depend on.
std::string key_of(const EvalOptions& o, std::span<const std::uint8_t> model, const Dataset& set,
                   const std::string& feed) {
  Fingerprint print;
  print.add(model);
  print.add(set.images.data);
  for (const std::string& text :
       {std::string(o.rtl ? o.config : ""), o.rounding, feed, std::to_string(int(o.rule.fit))})
    print.add(text);
  for (std::size_t i = 0; i < set.names.size(); i++)
    print.add(set.names[i] + "=" + std::to_string(set.labels[i]));
  return fmt::format("# kaiten eval, {}: one line an image; the same command goes on from here",
                     print.text());
}

// Calls work(item) for each item once, on one of the ranks, and done(item, answer) on all of them, some at a time.
void on_all_ranks(cluster::Exchange& ranks, std::span<const std::size_t> items,
                  const std::function<std::string(std::size_t)>& work,
                  const std::function<void(std::size_t, const std::string&)>& done) {
  const auto each = std::size_t(ranks.ranks());
  for (std::size_t first = 0; first < items.size(); first += each) {
    check_interrupt();
    const auto some = items.subspan(first, std::min(each, items.size() - first));
    const std::vector<std::string> answers =
        shared_by(ranks, some.size(), [&](const std::vector<std::size_t>& places) {
          std::vector<std::string> own;
          own.reserve(places.size());
          for (const std::size_t item : picked(some, places)) own.push_back(work(item));
          return own;
        });
    for (std::size_t i = 0; i < some.size(); i++) done(some[i], answers[i]);
  }
}

// What an earlier run has left behind, of which the first rank alone has the journal.
std::vector<std::string> known_lines(const Journal* journal, cluster::Exchange* ranks) {
  if (ranks == nullptr) return journal == nullptr ? std::vector<std::string>() : journal->lines();
  std::string own;
  if (journal != nullptr) {
    for (const std::string& line : journal->lines()) own += line + "\n";
  }
  std::istringstream told(ranks->gather(own).front());
  std::vector<std::string> lines;
  for (std::string line; std::getline(told, line);) lines.push_back(line);
  return lines;
}

void evaluate(Evaluation& e, const Feed& feed, Answerer& answer, Journal* journal, cluster::Exchange* ranks) {
  for (const std::string& line : known_lines(journal, ranks)) {
    const auto known = Row::of(line);
    if (known && known->first < e.rows.size()) e.rows[known->first] = known->second;
  }
  std::vector<std::size_t> items;
  for (std::size_t i = 0; i < e.rows.size(); i++) {
    if (!e.rows[i]) items.push_back(i);
  }
  e.resumed = e.rows.size() - items.size();
  const auto start = std::chrono::steady_clock::now();
  const auto since = [&start] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  ProgressLine progress;
  std::size_t done = e.resumed;
  const auto work = [&](std::size_t i) { return answer(feed(i)).text(i); };
  const auto note = [&](std::size_t i, const std::string& text) {
    e.rows[i] = Row::of(text)->second;
    if (journal != nullptr) journal->add(text);
    done++;
    const double rate = double(done - e.resumed) / std::max(since(), 1e-9);
    progress.show(fmt::format("{} of {} images, {:.1f} a second, {:.0f} s left", done, e.rows.size(), rate,
                              double(e.rows.size() - done) / rate));
  };
  if (ranks != nullptr) {
    on_all_ranks(*ranks, items, work, note);
  } else {
    in_processes(e.options.jobs, items, work, note, check_interrupt);
  }
  e.seconds = since();
}

// The options, or nothing after --help.
std::optional<EvalOptions> parse(const Arguments& arguments, po::variables_map& values) {
  EvalOptions o;
  po::options_description all("options");
  auto add = all.add_options();
  add("help,h", "print this text");
  add("model", po::value(&o.model)->value_name("FILE"),
      "TensorFlow Lite or ONNX model (also as first argument)");
  add("images", po::value(&o.images)->value_name("FOLDER|FILE"),
      "images in folders of their classes, or a .npz of images and labels (also as second argument)");
  add("rtl", po::bool_switch(&o.rtl),
      "on the simulated accelerator, every tensor compared with the reference");
  add("config", po::value(&o.config)->value_name("NAME")->default_value(o.config), "configuration for --rtl");
  add("rounding", po::value(&o.rounding)->value_name("litert|tflm")->default_value(o.rounding),
      "whose answers to give: LiteRT's reference kernels or tflite-micro's");
  add("jobs", po::value(&o.jobs)->value_name("N")->default_value(0), "images at once; 0: one a processor");
  add("ranks", po::bool_switch(),
      "under mpirun, share the images with the other processes (so they do without this option)");
  add("limit", po::value(&o.limit)->value_name("N")->default_value(0), "the first N images only; 0: all");
  add("labels", po::value(&o.labels)->value_name("FILE"),
      "names of the classes, one a line: what folders are called");
  add("truth", po::value(&o.truth)->value_name("FILE"),
      "CSV of images of the folder and their classes, instead of the folders' names");
  add("oracle", po::value(&o.oracle)->value_name("litert|onnxruntime"),
      "run the images in this interpreter, too, and count where its best class is the same");
  add_clock_option(all, o.clock_mhz);
  add_image_options(all);
  add("csv", po::value<std::string>()->value_name("FILE"),
      "a line an image; an interrupted run leaves FILE.part, and the same command goes on from there");
  add("html", po::value<std::string>()->value_name("FILE"),
      "write a page with the confusion matrix and the images that went wrong");
  add("json", po::value<std::string>()->value_name("FILE"), "write the report as JSON");
  // The second word that is no option names the images.
  Arguments rest = arguments;
  if (rest.size() >= 2 && !rest[0].starts_with('-') && !rest[1].starts_with('-'))
    rest.insert(rest.begin() + 1, "--images");
  if (!read_options(rest, all, "model", kUsage, values)) return std::nullopt;
  if (o.model.empty() || o.images.empty())
    throw InputError("eval needs a model and images (see kaiten eval --help)");
  if (o.rounding != "litert" && o.rounding != "tflm")
    throw InputError("--rounding is litert or tflm, not '" + o.rounding + "'");
  if (!o.oracle.empty() && !oracle::interpreter_of(o.oracle))
    throw InputError("--oracle is litert or onnxruntime, not '" + o.oracle + "'");
  require_clock(values, o.clock_mhz);
  if (o.clock_mhz > 0 && !o.rtl) throw InputError("--clock needs --rtl: the reference counts no cycles");
  if (o.jobs < 0 || o.jobs > kMostWorkers)
    throw InputError(fmt::format("--jobs is 0 to {}, not {}", kMostWorkers, o.jobs));
  if (o.jobs == 0) o.jobs = int(std::clamp(std::thread::hardware_concurrency(), 1U, unsigned(kMostWorkers)));
  o.rule = image_rule(values);
  return o;
}

int run_eval_command(const Arguments& arguments) {
  po::variables_map values;
  std::optional<EvalOptions> options = parse(arguments, values);
  if (!options) return kDone;
  const Outputs outputs("eval", values, {"csv", "html", "json"}, {"model", "images", "labels", "truth"});
  std::vector<std::string> labels = read_labels(options->labels);
  const std::vector<std::uint8_t> file = model_bytes(options->model);
  const Graph graph = require_graph(import_model(options->model, file));
  std::vector<std::string> notes;
  if (options->rule.reads_metadata) {
    const ModelMetadata metadata = metadata_of(options->model, file);
    options->rule.complete(metadata);
    for (const std::string& note : metadata.notes) notes.push_back("metadata: " + note);
    if (options->labels.empty()) {
      Classes classes = classes_of_metadata(graph, metadata);
      labels = std::move(classes.names);
      if (!classes.note.empty()) notes.push_back(std::move(classes.note));
    }
  }
  Dataset set = read_dataset(options->images, labels, options->truth);
  take_first(set, options->limit);
  const Feed feed("eval", graph, set, options->rule);
  Answerer answer(graph, *options);
  Evaluation e{
      *options,    set,  std::vector<std::optional<Row>>(set.names.size()), options->jobs, 0, 0, {}, 0,
      feed.text(), notes};
  std::optional<Journal> journal;
  cluster::Exchange* const ranks = other_ranks();
  if (ranks != nullptr) e.jobs = ranks->ranks();
  if (first_rank() && outputs.wanted("csv") && is_replaceable(values["csv"].as<std::string>()))
    journal.emplace(values["csv"].as<std::string>() + ".part", key_of(*options, file, set, feed.text()));
  evaluate(e, feed, answer, journal ? &*journal : nullptr, ranks);
  if (ranks != nullptr) ranks->finish();
  if (!first_rank()) return kDone;
  if (!options->oracle.empty()) ask_interpreter(e, file, graph, feed);
  const std::string text = text_of(e, graph.name);
  if (outputs.wanted("html")) outputs.write("html", to_html(page_of(e, graph.name, labels, text)));
  outputs.write("csv", csv_of(e));
  outputs.write_json("json", json_of(e, graph.name));
  outputs.print(text);
  if (journal) journal->finish();
  return e.exact() == e.rows.size() ? kDone : kDiffers;
}

}  // namespace

int eval_command(const Arguments& arguments) {
  return on_ranks([&] { return run_eval_command(arguments); });
}

}  // namespace kaiten::cli
