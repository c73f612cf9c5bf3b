#include "report/run_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

#include "program/bus_beats.h"
#include "report/table.h"

namespace kaiten {

namespace {

constexpr std::size_t kTop = 5;

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

void add_losses(LayerReport& l, const LayerTime& t, double time) {
  // A layer that hides behind the other engine has less time of its own than work: then only padding is lost.
  const double busy = double(t.cycles >= t.engine_cycles ? t.busy_cycles : t.engine_cycles);
  l.losses.emplace_back("padding", std::max(0.0, busy / time - l.utilization));
  if (t.cycles >= t.engine_cycles) {
    for (std::size_t w = 0; w < kWaits; w++)
      l.losses.emplace_back(name_of(Wait(w)), double(t.waits[w]) / time);
  }
  std::erase_if(l.losses, [](const auto& loss) { return loss.second <= 0; });
  std::stable_sort(l.losses.begin(), l.losses.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
}

// "padding 57 %, rows 12 %": what is worth a word.
std::string losses_text(const LayerReport& l) {
  constexpr double kWorthAWord = 0.02;
  std::string text;
  for (const auto& [name, share] : l.losses) {
    if (share < kWorthAWord) continue;
    text += (text.empty() ? "" : ", ") + fmt::format("{} {:.0f} %", name, 100 * share);
  }
  return text.empty() ? "-" : text;
}

void add_bytes(BytesReport& b, CommandMeta::Bytes kind, std::int64_t read, std::int64_t written) {
  switch (kind) {
    case CommandMeta::Bytes::kWeights:
      b.weights += std::uint64_t(read);
      break;
    case CommandMeta::Bytes::kParameters:
      b.parameters += std::uint64_t(read);
      break;
    case CommandMeta::Bytes::kActivations:
      b.activations += std::uint64_t(read);
      b.written += std::uint64_t(written);
      break;
    case CommandMeta::Bytes::kNone:
      break;
  }
}

// "1.43": before compression over behind it.
std::string ratio_text(std::uint64_t raw, std::uint64_t packed) {
  return packed == 0 ? "-" : fmt::format("{:.2f}", double(raw) / double(packed));
}

nlohmann::ordered_json json_of(const BytesReport& b) {
  return {{"read",
           {{"weights", b.weights},
            {"parameters", b.parameters},
            {"activations", b.activations},
            {"commands", b.commands}}},
          {"written", {{"activations", b.written}}}};
}

nlohmann::ordered_json json_of(const BusReport& b) { return {{"read", b.read}, {"written", b.written}}; }

}  // namespace

double RunReport::array_utilization() const {
  return cycles == 0 ? 0 : double(array_macs) / (double(cycles) * config.array_multipliers());
}

double RunReport::mac_utilization() const {
  return cycles == 0
             ? 0
             : double(macs) / (double(cycles) * (config.array_multipliers() + config.vector_multipliers()));
}

RunReport make_report(const Graph& graph, const Program& program, const Counters& counters,
                      const std::vector<LayerTime>& times) {
  RunReport r;
  r.model = graph.name;
  r.config = program.config;
  r.batch = program.images;
  r.counters = counters;
  r.cycles = counters["cycles"];
  r.notes = program.notes;
  r.bytes = {counters["read_weights"], counters["read_parameters"], counters["read_activations"],
             counters["read_commands"], counters["written_activations"]};
  r.zvc = {counters["zvc_read_raw"], counters["zvc_read_packed"], counters["zvc_written_raw"],
           counters["zvc_written_packed"]};
  r.predicted.commands = r.uncompressed.commands = program.commands.size() * kCommandBytes;
  const std::uint64_t width = std::uint64_t(program.config.axi_bytes);
  r.bus = {counters["beats_read"] * width, counters["beats_written"] * width};
  const BusBeats beats = bus_beats(program);
  r.predicted_bus = {std::uint64_t(beats.read) * width, std::uint64_t(beats.written) * width};
  r.predicted_cycles = std::uint64_t(program.modelled_cycles);
  const std::vector<LayerTime> predicted = modelled_layer_times(program);
  for (const LayerInfo& info : program.layers) {
    const Op& op = graph.ops[std::size_t(info.op)];
    LayerReport l;
    l.name = op.name;
    l.predicted_cycles = predicted[std::size_t(info.op)].cycles;
    l.op = std::string(name_of(op.kind));
    l.shape_in = shape_text(graph.input_of(op).shape);
    l.shape_out = shape_text(graph.output_of(op).shape);
    l.on_host = info.place == Place::kHost;
    l.nothing_to_do = info.place == Place::kNothing;
    l.on_array = info.array_macs > 0;
    const std::uint64_t images = std::uint64_t(program.images);
    l.macs = images * (info.array_macs + info.vector_macs);
    r.macs += l.macs;
    r.array_macs += images * info.array_macs;
    if (std::size_t(info.op) < times.size() && !l.on_host && !l.nothing_to_do) {
      const LayerTime& t = times[std::size_t(info.op)];
      l.cycles = t.cycles;
      const int multipliers = l.on_array ? r.config.array_multipliers() : r.config.vector_multipliers();
      // Results that wait for a bank blur by a few cycles whose an engine's cycles were; it needed this many
      // at least.
      const std::uint64_t least = (l.macs + std::uint64_t(multipliers) - 1) / std::uint64_t(multipliers);
      const std::uint64_t time = std::max({t.cycles, t.engine_cycles, least});
      if (time > 0 && l.macs > 0) {
        l.utilization = double(l.macs) / (double(time) * multipliers);
        add_losses(l, t, double(time));
      }
      l.limited_by = limited_by(l.on_array, t);
    }
    r.layers.push_back(std::move(l));
  }
  for (const CommandMeta& m : program.meta) {
    LayerReport& l = r.layers[std::size_t(m.op)];
    l.bytes_read += m.bytes_read();
    l.bytes_written += m.bytes_written();
    add_bytes(r.predicted, m.kind, m.bytes_read(), m.bytes_written());
    add_bytes(r.uncompressed, m.kind, m.read_bytes, m.written_bytes);
    if (!m.packed) continue;
    r.zvc_read_raw += std::uint64_t(m.read_bytes);
    r.zvc_written_raw += std::uint64_t(m.written_bytes);
    if (m.kind != CommandMeta::Bytes::kWeights) continue;
    r.zvc_weights_raw += std::uint64_t(m.read_bytes);
    r.zvc_weights_packed += std::uint64_t(m.packed->bytes);
  }
  r.exactly_predicted = program.compressed.empty();
  return r;
}

std::string bytes_difference(const RunReport& r) {
  struct Kind {
    const char* what;
    std::uint64_t counted;
    std::uint64_t predicted;
  };
  // The counters of compression do not tell weights and maps apart.
  const std::uint64_t maps_raw = r.zvc.read_raw - r.zvc_weights_raw;
  const std::uint64_t maps_packed = r.zvc.read_packed - r.zvc_weights_packed;
  std::vector<Kind> kinds{
      {"weights read", r.bytes.weights, r.predicted.weights},
      {"activations read", r.bytes.activations - maps_packed + maps_raw, r.uncompressed.activations},
      {"compressed bytes read", r.zvc.read_raw, r.zvc_read_raw},
      {"compressed bytes written", r.zvc.written_raw, r.zvc_written_raw},
      {"parameters read", r.bytes.parameters, r.uncompressed.parameters},
      {"commands read", r.bytes.commands, r.uncompressed.commands},
      {"activations written", r.bytes.written - r.zvc.written_packed + r.zvc.written_raw,
       r.uncompressed.written}};
  if (r.exactly_predicted) {
    kinds.push_back({"activations read", r.bytes.activations, r.predicted.activations});
    kinds.push_back({"activations written", r.bytes.written, r.predicted.written});
    kinds.push_back({"whole words of the bus read", r.bus.read, r.predicted_bus.read});
    kinds.push_back({"whole words of the bus written", r.bus.written, r.predicted_bus.written});
  }
  for (const Kind& k : kinds) {
    if (k.counted != k.predicted)
      return fmt::format("{}: the device counted {} bytes, the compiler predicts {}", k.what, k.counted,
                         k.predicted);
  }
  return {};
}

OutputReport output_report(const Tensor& tensor, const std::vector<std::int8_t>& values,
                           const std::vector<std::string>& labels) {
  OutputReport o{tensor.name, shape_text(tensor.shape), std::string(name_of(tensor.model_type))};
  if (tensor.type == ElementType::Int32 || tensor.type == ElementType::Int64) {
    // Positions of an argmax: a single one is a class.
    if (tensor.elements() != 1) return o;
    std::int64_t position = 0;
    std::memcpy(&position, values.data(), tensor.bytes());
    const auto c = std::size_t(position);
    o.top5.push_back({int(position), double(position), c < labels.size() ? labels[c] : ""});
    return o;
  }
  // Scores stand along one dimension.
  const auto longest = std::max_element(tensor.shape.begin(), tensor.shape.end());
  if (longest == tensor.shape.end() || std::size_t(*longest) != tensor.elements()) return o;
  std::vector<double> scores;
  if (tensor.type == ElementType::Float32) {
    const std::vector<float> reals = floats_of(values);
    for (const float v : reals)
      scores.push_back(std::isnan(v) ? -std::numeric_limits<double>::infinity() : double(v));
  } else {
    const int offset = tensor.model_type == ElementType::UInt8 ? 128 : 0;
    for (const std::int8_t v : values) scores.push_back(v + offset);
  }
  std::vector<int> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  const std::size_t n = std::min(kTop, order.size());
  std::partial_sort(order.begin(), order.begin() + std::ptrdiff_t(n), order.end(), [&](int a, int b) {
    const double x = scores[std::size_t(a)];
    const double y = scores[std::size_t(b)];
    return x != y ? x > y : a < b;
  });
  for (std::size_t i = 0; i < n; i++) {
    const std::size_t c = std::size_t(order[i]);
    o.top5.push_back({order[i], scores[c], c < labels.size() ? labels[c] : ""});
  }
  return o;
}

std::string to_text(const RunReport& r, std::size_t width) {
  std::vector<Column> columns{
      {"layer", false, 0, true},       {"operator", false, 0, false},    {"input", false, 4, false},
      {"output", false, 5, false},     {"MACs", true, 6, false},         {"cycles", true, 0, false},
      {"utilisation", true, 0, false}, {"limited by", false, 7, false},  {"lost to", false, 2, false},
      {"bytes read", true, 3, false},  {"bytes written", true, 1, false}};
  if (r.zvc.written_raw > 0) columns.push_back({"ratio", true, 8, false});
  Table table(std::move(columns));
  for (const LayerReport& l : r.layers) {
    table.add({l.name, l.op, l.shape_in, l.shape_out, l.macs ? grouped(l.macs) : "-",
               l.on_host || l.nothing_to_do ? "-" : grouped(l.cycles),
               l.macs && l.cycles ? percent(l.utilization) : "-",
               l.on_host         ? "host"
               : l.nothing_to_do ? "-"
                                 : l.limited_by,
               losses_text(l), l.bytes_read ? grouped(std::uint64_t(l.bytes_read)) : "-",
               l.bytes_written ? grouped(std::uint64_t(l.bytes_written)) : "-",
               ratio_text(l.zvc_raw, l.zvc_packed)});
  }
  std::string out = table.text(width) + "\n";
  for (const std::string& note : r.notes) out += note + "\n";
  for (const OutputReport& o : r.outputs) {
    if (r.batch > 1) out += fmt::format("image {}: ", o.image);
    out += fmt::format("output {} ({} {})", o.name, o.type, o.shape);
    for (std::size_t i = 0; i < o.top5.size(); i++) {
      const auto& c = o.top5[i];
      out += fmt::format("{}{}{} = {:g}", i == 0 ? ": " : ", ", c.index, c.label.empty() ? "" : " " + c.label,
                         c.value);
    }
    out += "\n";
  }
  if (r.batch > 1)
    out += fmt::format("{} images, {} cycles each\n", r.batch, grouped(r.cycles / std::uint64_t(r.batch)));
  out += fmt::format("{} cycles on {}: array {}, all multipliers {}; {} MACs\n", grouped(r.cycles),
                     r.config.name, percent(r.array_utilization()), percent(r.mac_utilization()),
                     grouped(r.macs));
  out += fmt::format("bytes read {} (weights {}, parameters {}, activations {}, commands {}), written {}\n",
                     grouped(r.bytes.read()), grouped(r.bytes.weights), grouped(r.bytes.parameters),
                     grouped(r.bytes.activations), grouped(r.bytes.commands), grouped(r.bytes.written));
  if (r.zvc.raw() > 0) {
    out += fmt::format("compressed: {} bytes moved as {}, ratio {} (read {}, written {})\n",
                       grouped(r.zvc.raw()), grouped(r.zvc.packed()), ratio_text(r.zvc.raw(), r.zvc.packed()),
                       ratio_text(r.zvc.read_raw, r.zvc.read_packed),
                       ratio_text(r.zvc.written_raw, r.zvc.written_packed));
  }
  if (r.seconds > 0) {
    out +=
        fmt::format("simulated at {:.0f} kHz, {:.2f} GMAC/s\n", r.khz(),
                    double(r.macs) * (double(r.loop_cycles) / double(std::max<std::uint64_t>(r.cycles, 1))) /
                        r.seconds / 1e9);
  }
  if (!r.exact) {
    out += "DONE, not checked\n";
  } else if (*r.exact) {
    out += fmt::format("PASS {} on {}: all {} elements of every tensor equal the reference\n", r.model,
                       r.config.name, grouped(r.checked));
  } else {
    out += fmt::format("FAIL {} on {}: {}\n", r.model, r.config.name, r.difference);
  }
  return out;
}

std::string to_json(const RunReport& r) {
  nlohmann::ordered_json j;
  j["model"] = r.model;
  j["config"] = r.config.name;
  j["batch"] = r.batch;
  if (r.exact) {
    j["exact"] = *r.exact;
  } else {
    j["exact"] = nullptr;
  }
  j["cycles"] = r.cycles;
  j["predicted_cycles"] = r.predicted_cycles;
  j["macs"] = r.macs;
  j["array_utilization"] = r.array_utilization();
  j["mac_utilization"] = r.mac_utilization();
  j["seconds"] = r.seconds;
  j["khz"] = r.khz();
  j["bytes"] = json_of(r.bytes);
  j["bus_bytes"] = json_of(r.bus);
  j["predicted_bytes"] = json_of(r.predicted);
  j["predicted_bus_bytes"] = json_of(r.predicted_bus);
  nlohmann::ordered_json stalls;
  for (std::size_t i = 0; i < Counters::kCount; i++) {
    const std::string name = csr::kCounters[i].name;
    const bool stall = name.find("_no_") != std::string::npos || name.find("_wait_") != std::string::npos ||
                       name.find("_conflict") != std::string::npos;
    if (stall) stalls[name] = r.counters.values[i];
  }
  j["stalls"] = stalls;
  j["zvc"] = {{"raw_bytes", r.zvc.raw()},
              {"packed_bytes", r.zvc.packed()},
              {"predicted", r.exactly_predicted ? "exactly" : "expected"}};
  j["layers"] = nlohmann::ordered_json::array();
  for (const LayerReport& l : r.layers) {
    nlohmann::ordered_json losses = nlohmann::ordered_json::object();
    for (const auto& [name, share] : l.losses) losses[name] = share;
    j["layers"].push_back(
        {{"name", l.name},
         {"op", l.op},
         {"shape_in", l.shape_in},
         {"shape_out", l.shape_out},
         {"macs", l.macs},
         {"cycles", l.cycles},
         {"predicted_cycles", l.predicted_cycles},
         {"utilization", l.utilization},
         {"limited_by", l.limited_by},
         {"losses", losses},
         {"bytes_read", l.bytes_read},
         {"bytes_written", l.bytes_written},
         {"zvc", {{"raw_bytes", l.zvc_raw}, {"packed_bytes", l.zvc_packed}, {"limit_bytes", l.zvc_limit}}}});
  }
  j["outputs"] = nlohmann::ordered_json::array();
  for (const OutputReport& o : r.outputs) {
    nlohmann::ordered_json top = nlohmann::ordered_json::array();
    for (const auto& c : o.top5) {
      nlohmann::ordered_json entry{{"index", c.index}};
      if (o.type == "float32") {
        entry["value"] = c.value;
      } else {
        entry["value"] = int(c.value);
      }
      if (!c.label.empty()) entry["label"] = c.label;
      top.push_back(std::move(entry));
    }
    j["outputs"].push_back({{"name", o.name},
                            {"image", o.image},
                            {"shape", o.shape},
                            {"type", o.type},
                            {"top5", std::move(top)}});
  }
  return j.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace kaiten
