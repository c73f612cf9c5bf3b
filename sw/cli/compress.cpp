// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "cli/demo.h"
#include "cli/files.h"
#include "cli/image.h"
#include "cli/inputs.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/report_output.h"
#include "cli/source.h"
#include "cli/terminal.h"
#include "cli/tool.h"
#include "codec/codec.h"
#include "codec/statistics.h"
#include "report/compress_report.h"

namespace kaiten::cli {

namespace po = boost::program_options;

namespace {

constexpr std::size_t kMaxDimension = std::size_t(1) << 32;
constexpr int kMaxBatch = 256;
// All maps of a batch together: they are kept side by side, and a map in its layouts beside them.
constexpr std::size_t kMaxMapBytes = std::size_t(1) << 28;
constexpr std::string_view kScalar = "zvc_scalar";

struct CompressOptions {
  std::string file;
  int bits = 8;
  long long zero_point = 0;
  std::string shape;
  std::string from;
  std::string layout = "all";
  std::string codec = "all";
  std::size_t window = codec::kDefaultWindow;
  double seconds = 0;
  int batch = 1;
  std::uint64_t seed = 1;
  std::string input;
  ImageRule rule;
  std::vector<std::uint8_t> standard_input;  // where the file is that
};

// What comes from standard input has no name to go by: TensorFlow Lite files show what they are.
bool asks_for_model(const CompressOptions& o) {
  return o.file == kStandardInput
             ? is_model(o.file, o.standard_input)
             : o.file == kDemoName || o.file.ends_with(".tflite") || o.file.ends_with(".onnx");
}

std::optional<codec::MapLayout> layout_of(const std::string& name) {
  for (codec::MapLayout l : codec::kMapLayouts) {
    if (name_of(l) == name) return l;
  }
  return std::nullopt;
}

// "N,C,H,W".
codec::MapShape shape_of(const std::string& text) {
  std::array<std::size_t, 4> d{};
  const char* at = text.data();
  const char* end = at + text.size();
  for (std::size_t i = 0; i < 4; i++) {
    const auto [next, error] = std::from_chars(at, end, d[i]);
    const bool last = i == 3;
    if (error != std::errc{} || d[i] < 1 || d[i] > kMaxDimension ||
        (last ? next != end : next == end || *next != ','))
      throw InputError("--shape: expected N,C,H,W, four numbers from 1, found '" + text + "'");
    at = next + 1;
  }
  return {d[0], d[1], d[2], d[3]};
}

// Throws InputError for the first option that does not fit the file or the others; settles the layouts.
void check(const po::variables_map& values, CompressOptions& o) {
  if (o.file.empty())
    throw InputError("compress needs a file of elements or a model (see kaiten compress --help)");
  const char* const raw_only[] = {"bits", "zero-point", "shape", "from"};
  const char* const model_only[] = {"input", "mean", "scale", "batch", "seed"};
  const bool model = asks_for_model(o);
  const auto given = [&](const char* name) { return values.count(name) != 0 && !values[name].defaulted(); };
  for (const char* name : raw_only) {
    if (model && given(name))
      throw InputError(fmt::format("--{} is for raw files, '{}' is a model", name, o.file));
  }
  for (const char* name : model_only) {
    if (!model && given(name))
      throw InputError(fmt::format("--{} is for models (.tflite, .onnx), '{}' is none", name, o.file));
  }
  if (o.bits != 8 && o.bits != 16 && o.bits != 32)
    throw InputError(fmt::format("--bits: expected 8, 16 or 32, found {}", o.bits));
  const long long least = -(1LL << (o.bits - 1)), most = (1LL << o.bits) - 1;
  if (o.zero_point < least || o.zero_point > most)
    throw InputError(fmt::format("--zero-point: expected {} to {} for {} bits, found {}", least, most, o.bits,
                                 o.zero_point));
  if (o.from.empty()) o.from = o.layout == "all" ? "nchw" : o.layout;
  if (o.layout != "all" && !layout_of(o.layout))
    throw InputError("--layout: expected one of nchw, nhwc, chwn, all, found '" + o.layout + "'");
  if (!layout_of(o.from))
    throw InputError("--from: expected one of nchw, nhwc, chwn, found '" + o.from + "'");
  // Of one row all orders are the same.
  if (!model && o.shape.empty() && o.layout == "all") o.layout = "nchw";
  const auto names = codec::codec_names();
  if (o.codec != "all" && o.codec != kScalar && std::find(names.begin(), names.end(), o.codec) == names.end())
    throw InputError("--codec: expected one of zvc, zvc_scalar, rle, zlib, lz4, zstd, all, found '" +
                     o.codec + "'");
  const std::size_t element = std::size_t(o.bits / 8);
  if (o.window < element || o.window > codec::kMaxWindow || o.window % element != 0)
    throw InputError(fmt::format("--window: expected {0} to {1} bytes, whole elements of {0}, found {2}",
                                 element, codec::kMaxWindow, o.window));
  if (!(o.seconds >= 0 && o.seconds <= 3600))
    throw InputError(fmt::format("--seconds: expected 0 to 3600, found {}", o.seconds));
  if (o.batch < 1 || o.batch > kMaxBatch)
    throw InputError(fmt::format("--batch: expected 1 to {}, found {}", kMaxBatch, o.batch));
  if (o.batch > 1 && !o.input.empty()) throw InputError("--batch needs random inputs, --input gives one");
}

bool parse(const Arguments& arguments, po::variables_map& values, CompressOptions& o) {
  po::options_description all("options");
  auto add = all.add_options();
  add("help,h", "print this text");
  add("file", po::value(&o.file)->value_name("FILE"),
      "raw elements, or a TensorFlow Lite or ONNX model (.tflite, .onnx, 'demo'), '-': standard input, raw "
      "or "
      "TensorFlow Lite; also as first argument");
  add("codec", po::value(&o.codec)->value_name("NAME")->default_value(o.codec),
      "zvc, rle, zlib, lz4, zstd or all; zvc_scalar: ZVC without vectors");
  add("layout", po::value(&o.layout)->value_name("NAME")->default_value(o.layout),
      "order of the elements to compress: nchw, nhwc, chwn or all");
  add("window", po::value(&o.window)->value_name("BYTES")->default_value(o.window),
      "what is compressed on its own");
  add("seconds", po::value(&o.seconds)->value_name("S")->default_value(o.seconds),
      "repeat each measurement of speed so long");
  add("bits", po::value(&o.bits)->value_name("8|16|32")->default_value(o.bits),
      "of an element of a raw file");
  add("zero-point", po::value(&o.zero_point)->value_name("Z")->default_value(o.zero_point),
      "of a raw file: the value that ZVC and RLE leave out");
  add("shape", po::value(&o.shape)->value_name("N,C,H,W"),
      "of a raw file; without it one row, and layouts are all the same");
  add("from", po::value(&o.from)->value_name("NAME"),
      "order of the elements in a raw file: nchw, nhwc or chwn; without it that of --layout, else nchw");
  add("input", po::value(&o.input)->value_name("FILE"),
      "of a model: its inputs, or an image; without it random ones");
  add_image_options(all);
  add("batch", po::value(&o.batch)->value_name("N")->default_value(o.batch),
      "of a model: so many random inputs, side by side in CHWN");
  add("seed", po::value(&o.seed)->value_name("N")->default_value(o.seed), "of random inputs");
  add("html", po::value<std::string>()->value_name("FILE"), "write a page with the ratios as bars");
  add("json", po::value<std::string>()->value_name("FILE"), "write JSON");
  constexpr const char* kUsage =
      "usage: kaiten compress FILE|MODEL [OPTIONS]\n"
      "How much smaller lossless codecs make a file of elements, or the activations and weights of a "
      "model.\n";
  if (!read_options(arguments, all, "file", kUsage, values)) return false;
  if (o.file == kStandardInput) o.standard_input = read_file(o.file);
  check(values, o);
  o.rule = image_rule(values);
  return true;
}

// The codecs that were asked for; of "all" those that the build has.
void choose_codecs(const CompressOptions& o, CompressReport& report) {
  if (o.codec == kScalar) report.codecs.emplace_back(kScalar);
  for (std::string_view name : codec::codec_names()) {
    if (o.codec != "all" && o.codec != name) continue;
    if (const std::string missing = codec::codec_missing(name); !missing.empty()) {
      if (o.codec != "all") throw InputError(missing);
      report.notes.push_back(missing);
      continue;
    }
    report.codecs.emplace_back(name);
  }
}

CompressItem measure_item(const CompressOptions& o, const CompressReport& report,
                          std::span<const std::uint8_t> map, const codec::Elements& elements,
                          const codec::MapShape& shape, codec::MapLayout from) {
  CompressItem item;
  item.bytes = map.size();
  const std::size_t count = map.size() / std::size_t(elements.bytes);
  item.elements = double(count);
  item.coded = codec::density_of(map, elements) * item.elements;
  item.entropy_bits = codec::entropy_of(map, elements) * item.elements;
  item.by.resize(report.codecs.size() * report.layouts.size());
  for (std::size_t l = 0; l < report.layouts.size(); l++) {
    const std::vector<std::uint8_t> in =
        codec::in_layout(map, elements.bytes, shape, from, report.layouts[l]);
    for (std::size_t c = 0; c < report.codecs.size(); c++) {
      check_interrupt();
      const auto codec = codec::make_codec(report.codecs[c], elements);
      item.by[report.index(c, l)] = codec::measure(*codec, in, o.window, o.seconds);
    }
  }
  return item;
}

void compress_file(const CompressOptions& o, CompressReport& report) {
  const std::vector<std::uint8_t> bytes = o.file == kStandardInput ? o.standard_input : read_file(o.file);
  const std::size_t size = std::size_t(o.bits / 8);
  codec::MapShape shape{1, 1, 1, bytes.size() / size};
  if (!o.shape.empty()) {
    shape = shape_of(o.shape);
    // Dimensions below 2^32: the product of two fits, that of all perhaps not.
    double needed = double(size);
    for (std::size_t d : {shape.n, shape.c, shape.h, shape.w}) needed *= double(d);
    if (needed != double(bytes.size()))
      throw InputError(fmt::format("'{}' has {} bytes, --shape {} of {} bits needs {:.0f}", o.file,
                                   bytes.size(), o.shape, o.bits, needed));
  } else if (bytes.size() % size != 0) {
    throw InputError(fmt::format("'{}' has {} bytes, elements of {} bits need a multiple of {}", o.file,
                                 bytes.size(), o.bits, size));
  }
  if (bytes.empty()) throw InputError("'" + o.file + "' is empty");
  const std::uint32_t mask = o.bits == 32 ? 0xffffffffU : (1U << o.bits) - 1;
  const codec::Elements elements{int(size), std::uint32_t(o.zero_point) & mask};
  CompressItem item = measure_item(o, report, bytes, elements, shape, *layout_of(o.from));
  item.name = o.file;
  report.element_bits = o.bits;
  report.groups.push_back({"file", {std::move(item)}});
}

codec::MapShape map_shape(const Tensor& tensor, int batch) {
  const Nhwc s = tensor.nhwc();
  return {std::size_t(s.n) * std::size_t(batch), std::size_t(s.c), std::size_t(s.h), std::size_t(s.w)};
}

std::span<const std::uint8_t> as_bytes(std::span<const std::int8_t> values) {
  return {reinterpret_cast<const std::uint8_t*>(values.data()), values.size()};
}

// Before anything is run: a small file may describe maps of any size.
void require_maps_fit(const CompressOptions& o, const Graph& graph) {
  std::size_t bytes = 0;
  for (const Tensor& t : graph.tensors) {
    if (t.data.empty()) bytes += t.bytes();
  }
  bytes *= std::size_t(o.batch);
  if (bytes > kMaxMapBytes) {
    throw InputError(fmt::format("'{}': limit: {} bytes of maps, found: {} in a batch of {}", o.file,
                                 kMaxMapBytes, bytes, o.batch));
  }
}

void compress_model(const CompressOptions& o, CompressReport& report) {
  ProgressLine progress;
  const std::vector<std::uint8_t> bytes = o.file == kStandardInput ? o.standard_input : model_bytes(o.file);
  const Graph graph = require_graph(import_model(o.file, bytes));
  ImageRule rule = o.rule;
  rule.complete(metadata_of(o.file, bytes));
  require_maps_fit(o, graph);
  report.title = graph.name;
  // One run an input; the maps of a batch follow each other.
  std::vector<std::vector<std::uint8_t>> maps(graph.tensors.size());
  for (int i = 0; i < o.batch; i++) {
    const ModelInputs inputs =
        make_inputs(graph, {o.file == kDemoName, o.input, o.seed + std::uint64_t(i), rule});
    if (i == 0) report.origin = inputs.origin + (o.batch > 1 ? fmt::format(" and {} more", o.batch - 1) : "");
    std::size_t done = 0;
    const std::vector<Int8Values> values = run_reference(graph, inputs.values, RoundingStyle::LiteRt, [&] {
      check_interrupt();
      done++;
      progress.show(fmt::format("reference, layer {} of {}", done, graph.ops.size()),
                    (i + double(done) / double(graph.ops.size())) / o.batch);
    });
    for (std::size_t t = 0; t < maps.size(); t++)
      maps[t].insert(maps[t].end(), as_bytes(values[t]).begin(), as_bytes(values[t]).end());
  }
  progress.clear();
  ProgressLine measuring;
  std::size_t measured = 0;
  CompressGroup activations{"activations", {}}, weights{"weights", {}};
  const auto add = [&](CompressGroup& group, const Tensor& tensor, std::span<const std::uint8_t> map,
                       int batch, const std::string& name, std::string_view op) {
    measuring.show("measuring " + name, double(measured) / double(graph.ops.size()));
    const codec::Elements elements{1, std::uint8_t(tensor.zero_point())};
    CompressItem item =
        measure_item(o, report, map, elements, map_shape(tensor, batch), codec::MapLayout::kNhwc);
    item.name = name;
    item.op = op;
    item.shape = shape_text(tensor.shape);
    group.items.push_back(std::move(item));
  };
  for (int t : graph.inputs) {
    const Tensor& tensor = graph.tensors[std::size_t(t)];
    if (tensor.type == ElementType::Int8)
      add(activations, tensor, maps[std::size_t(t)], o.batch, tensor.name, "input");
  }
  for (const Op& op : graph.ops) {
    measured++;
    const Tensor& output = graph.output_of(op);
    if (output.type == ElementType::Int8 && op.kind != OpKind::Reshape)
      add(activations, output, maps[std::size_t(op.output)], o.batch, op.name, name_of(op.kind));
    if (op.weights != kNoTensor && graph.weights_of(op).type == ElementType::Int8) {
      const Tensor& w = graph.weights_of(op);
      add(weights, w, w.data, 1, op.name, name_of(op.kind));
    }
  }
  measuring.clear();
  for (CompressGroup* group : {&activations, &weights}) {
    if (!group->items.empty()) report.groups.push_back(std::move(*group));
  }
  if (report.groups.empty()) throw InputError("'" + o.file + "' has no int8 tensors");
}

}  // namespace

int compress_command(const Arguments& arguments) {
  CompressOptions o;
  po::variables_map values;
  if (!parse(arguments, values, o)) return kDone;
  const Outputs outputs("compress", values, {"html", "json"}, {"file", "input"});
  CompressReport report;
  report.title = o.file;
  report.window = o.window;
  choose_codecs(o, report);
  for (codec::MapLayout l : codec::kMapLayouts) {
    if (o.layout == "all" || o.layout == name_of(l)) report.layouts.push_back(l);
  }
  if (asks_for_model(o)) {
    compress_model(o, report);
  } else {
    compress_file(o, report);
  }
  write_report(report, outputs);
  return kDone;
}

}  // namespace kaiten::cli
