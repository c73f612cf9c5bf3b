// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The module kaiten._kaiten: the public C++ interface as Python sees it. It converts and nothing else; long calls release
// the GIL and look for signals, so that Ctrl-C ends them.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>

#include "arrays.h"
#include "boards.h"
#include "docstrings.h"
#include "images.h"
#include "kaiten.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace kaiten::python {

namespace {

void check_signals() {
  const nb::gil_scoped_acquire gil;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

nb::object parsed(const std::string& json) { return nb::module_::import_("json").attr("loads")(json); }

RoundingStyle rounding_of(const std::string& name) {
  if (name == "litert") return RoundingStyle::LiteRt;
  if (name == "tflm") return RoundingStyle::Tflm;
  throw InputError("rounding: expected litert or tflm, found '" + name + "'");
}

Compress compress_of(const std::string& name) {
  if (name == "off") return Compress::kOff;
  if (name == "on") return Compress::kOn;
  if (name == "auto") return Compress::kAuto;
  throw InputError("compress: expected auto, on or off, found '" + name + "'");
}

struct TensorInfo {
  int index = 0;
  std::string name, dtype;
  std::vector<int> shape;
  std::vector<float> scales;
  std::vector<int> zero_points;
  int quantized_dimension = 0;
};

TensorInfo info_of(const Graph& graph, int t) {
  const Tensor& tensor = graph.tensors[std::size_t(t)];
  TensorInfo info{t,
                  tensor.name,
                  std::string(name_of(tensor.model_type)),
                  tensor.model_shape(),
                  tensor.quantization.scale,
                  {},
                  tensor.quantization.axis};
  const int offset = tensor.model_type == ElementType::UInt8 ? 128 : 0;
  for (const int z : tensor.quantization.zero_point) info.zero_points.push_back(z + offset);
  return info;
}

struct Result {
  nb::list outputs;
  RunReport report;
  std::string trace;
  nb::object json() const { return parsed(to_json(report)); }
  nb::object layers() const { return json()["layers"]; }
  // pandas is optional.
  nb::object table() const {
    try {
      return nb::module_::import_("pandas").attr("DataFrame")(layers());
    } catch (const nb::python_error& e) {
      if (!e.matches(PyExc_ImportError)) throw;
      return layers();
    }
  }
};

// What compile() takes beside the configuration.
struct CompileArguments {
  std::string config, rounding, compress;
  int batch = 1;
  bool keep_weights = false;
  std::int64_t latency = 100, stall = 0;
  std::optional<double> bytes_per_cycle, clock;
  std::uint64_t seed = 1;

  SessionOptions options() const {
    SessionOptions o;
    o.config = config;
    o.rounding = rounding_of(rounding);
    o.compress = compress_of(compress);
    if (batch < 1 || batch > 256)
      throw InputError("batch: expected 1 to 256, found " + std::to_string(batch));
    if (latency < 1 || latency > 1'000'000)
      throw InputError("latency: expected 1 to 1000000, found " + std::to_string(latency));
    if (stall < 0 || stall > 99) throw InputError("stall: expected 0 to 99, found " + std::to_string(stall));
    if (bytes_per_cycle && !(*bytes_per_cycle >= 0)) throw InputError("bytes_per_cycle: expected 0 or more");
    if (clock && !(*clock >= 1e-3 && *clock <= 1e6))
      throw InputError("clock: expected 0.001 to 1e+06 MHz, found " + std::to_string(*clock));
    o.batch = batch;
    o.keep_weights = keep_weights;
    o.latency = decltype(o.latency)(latency);
    o.stall = decltype(o.stall)(stall);
    o.bytes_per_cycle = bytes_per_cycle.value_or(-1);
    o.seed = seed;
    o.cancellation_check = check_signals;
    return o;
  }
};

class CompiledModel {
 public:
  // clock_mhz 0: none.
  CompiledModel(const Graph& graph, const SessionOptions& options, double clock_mhz)
      : batch_(options.batch), clock_mhz_(clock_mhz) {
    const nb::gil_scoped_release released;
    session_ = std::make_unique<Session>(graph, options);
    session_->set_progress([](const std::string&) { check_signals(); });
  }
  Result run(const nb::object& given, bool check, bool trace) {
    return run_values(inputs_of(session_->graph(), given), check, trace);
  }
  Result run_values(const Inputs& inputs, bool check, bool trace) {
    if (inputs.images != batch_) {
      throw InputError("compiled for a batch of " + std::to_string(batch_) + ", given " +
                       std::to_string(inputs.images) + " images");
    }
    std::optional<RunResult> run;
    {
      const nb::gil_scoped_release released;
      const std::lock_guard<std::mutex> lock(mutex_);
      RunOptions options;
      options.check = check;
      options.trace = trace;
      run.emplace(session_->run(inputs.values, options));
    }
    run->report.clock_mhz = clock_mhz_;
    return {outputs_of(session_->graph(), run->outputs, batch_), std::move(run->report),
            std::move(run->trace)};
  }

 private:
  std::unique_ptr<Session> session_;
  std::mutex mutex_;
  int batch_;
  double clock_mhz_;
};

// What a source holds: the network; of TensorFlow Lite the names that its users have for inputs and outputs; what it says of
// pixels and classes.
struct Imported {
  ImportResult result;
  std::map<std::string, Signature> signatures;
  ModelMetadata metadata;
};

Imported import_object(const nb::object& source, const std::string& until) {
  std::vector<std::uint8_t> bytes;
  std::string name = "model";
  bool onnx = false;
  if (nb::hasattr(source, "SerializeToString") || nb::isinstance<nb::bytes>(source)) {
    onnx = !nb::isinstance<nb::bytes>(source);
    const auto data = nb::cast<nb::bytes>(onnx ? source.attr("SerializeToString")() : source);
    const auto* begin = reinterpret_cast<const std::uint8_t*>(data.c_str());
    bytes.assign(begin, begin + data.size());
    constexpr std::string_view kTfLite = "TFL3";
    onnx = onnx || bytes.size() < 8 || !std::equal(kTfLite.begin(), kTfLite.end(), bytes.begin() + 4);
  } else {
    const std::filesystem::path path(
        nb::cast<std::string>(nb::module_::import_("os").attr("fsdecode")(source)));
    bytes = read_model_file(path);
    name = path.stem().string();
    onnx = path.extension() == ".onnx";
  }
  const nb::gil_scoped_release released;
  if (onnx) return {import_onnx(bytes, name, {.until = until}), {}, onnx_metadata(bytes)};
  return {import_tflite(bytes, name, until), tflite_signatures(bytes), tflite_metadata(bytes)};
}

nb::dict dict_of(const Inspection& inspection) {
  nb::list layers;
  for (const LayerFacts& l : inspection.layers) {
    nb::dict d;
    d["name"] = l.name;
    d["op"] = l.op;
    d["shape_in"] = l.shape_in;
    d["shape_out"] = l.shape_out;
    d["macs"] = l.macs;
    d["weight_bytes"] = l.weight_bytes;
    d["runs_on"] = l.runs_on;
    layers.append(d);
  }
  nb::dict all;
  all["layers"] = layers;
  all["reasons"] = inspection.reasons;
  all["text"] = inspection.text;
  return all;
}

nb::dict inspect_model(const ImportResult& imported, const std::string& config) {
  Inspection inspection;
  {
    const nb::gil_scoped_release released;
    inspection = inspect(imported, config);
  }
  return dict_of(inspection);
}

class Model {
 public:
  explicit Model(Imported imported)
      : graph_(require_graph(std::move(imported.result))),
        signatures_(std::move(imported.signatures)),
        metadata_(std::move(imported.metadata)) {}
  // As LiteRT has them: {key: {"inputs": {name: index}, "outputs": {name: index}}}.
  nb::dict signatures() const {
    const auto indices = [](const std::map<std::string, int>& tensors) {
      nb::dict d;
      for (const auto& [name, index] : tensors) d[name.c_str()] = index;
      return d;
    };
    nb::dict all;
    for (const auto& [key, signature] : signatures_) {
      nb::dict one;
      one["inputs"] = indices(signature.inputs);
      one["outputs"] = indices(signature.outputs);
      all[key.c_str()] = one;
    }
    return all;
  }
  const Graph& graph() const { return graph_; }
  const ModelMetadata& metadata() const { return metadata_; }
  nb::object image(const nb::object& source, const nb::object& mean, const nb::object& scale,
                   const std::string& channels, const std::string& fit, bool metadata) const {
    ImageRule rule = image_rule(mean, scale, channels, fit);
    rule.reads_metadata = metadata;
    rule.complete(metadata_);
    return image_array(graph_, source, rule);
  }

  std::vector<TensorInfo> infos(const std::vector<int>& tensors) const {
    std::vector<TensorInfo> all;
    for (const int t : tensors) all.push_back(info_of(graph_, t));
    return all;
  }
  nb::dict inspect(const std::string& config) const {
    return inspect_model({graph_.name, graph_, {}}, config);
  }

  std::vector<Int8Values> tensors(const Inputs& inputs, const std::string& rounding) const {
    const RoundingStyle style = rounding_of(rounding);
    const nb::gil_scoped_release released;
    return reference_tensors(graph_, inputs.values, inputs.images, style, check_signals);
  }
  nb::list reference(const nb::object& given, const std::string& rounding) const {
    const Inputs inputs = inputs_of(graph_, given);
    const std::vector<Int8Values> all = tensors(inputs, rounding);
    nb::list outputs;
    for (const int t : graph_.outputs)
      outputs.append(array_of(graph_.tensors[std::size_t(t)], all, std::size_t(t), graph_.tensors.size(),
                              inputs.images));
    return outputs;
  }
  nb::dict reference_of_all(const nb::object& given, const std::string& rounding) const {
    const Inputs inputs = inputs_of(graph_, given);
    const std::vector<Int8Values> all = tensors(inputs, rounding);
    nb::dict named;
    for (std::size_t t = 0; t < graph_.tensors.size(); t++) {
      const Tensor& tensor = graph_.tensors[t];
      if (tensor.is_constant() || all[t].empty()) continue;
      named[tensor.name.c_str()] = array_of(tensor, all, t, graph_.tensors.size(), inputs.images);
    }
    return named;
  }
  nb::object plan(std::int64_t capacity, const std::string& config, const std::string& method,
                  const std::string& closure, int batch) const {
    std::string json;
    {
      const nb::gil_scoped_release released;
      json = plan_json(graph_, {capacity, config, method, closure, batch}, check_signals);
    }
    return parsed(json);
  }
  nb::object compress(const nb::object& given, const std::string& codec) const {
    const Inputs inputs = inputs_of(graph_, given);
    if (inputs.images != 1)
      throw InputError("compress measures one image, given " + std::to_string(inputs.images));
    std::string json;
    {
      const nb::gil_scoped_release released;
      json = compress_json(graph_, reference_tensors(graph_, inputs.values, 1, {}, check_signals), codec);
    }
    return parsed(json);
  }

 private:
  Graph graph_;
  std::map<std::string, Signature> signatures_;
  ModelMetadata metadata_;
};

// What was given for `name`. Throws InputError for another type or a number beyond it.
template <class T>
T taken(const std::string& name, nb::handle value, const char* expected) {
  T result{};
  if (!nb::try_cast<T>(value, result))
    throw InputError(name + ": expected " + expected + ", found " + nb::cast<std::string>(nb::repr(value)));
  return result;
}

constexpr const char* kText = "a text";
constexpr const char* kNumber = "a number";
constexpr const char* kWholeNumber = "a whole number";

CompileArguments arguments_of(const std::string& config, const nb::kwargs& rest) {
  CompileArguments a{config, "litert", "off"};
  for (const auto& [key, value] : rest) {
    const auto name = nb::cast<std::string>(key);
    if (name == "rounding") {
      a.rounding = taken<std::string>(name, value, kText);
    } else if (name == "compress") {
      a.compress = taken<std::string>(name, value, kText);
    } else if (name == "batch") {
      a.batch = taken<int>(name, value, kWholeNumber);
    } else if (name == "keep_weights") {
      a.keep_weights = taken<bool>(name, value, "True or False");
    } else if (name == "latency") {
      a.latency = taken<std::int64_t>(name, value, kWholeNumber);
    } else if (name == "stall") {
      a.stall = taken<std::int64_t>(name, value, kWholeNumber);
    } else if (name == "bytes_per_cycle") {
      a.bytes_per_cycle = taken<std::optional<double>>(name, value, kNumber);
    } else if (name == "seed") {
      a.seed = taken<std::uint64_t>(name, value, "a whole number of 0 or more");
    } else if (name == "clock") {
      a.clock = taken<std::optional<double>>(name, value, kNumber);
    } else {
      throw nb::type_error(("unexpected keyword '" + name + "'").c_str());
    }
  }
  return a;
}

void bind_values(nb::module_& m) {
  nb::class_<TensorInfo>(m, "Tensor", "An input or output of a model, as its user sees it.")
      .def_ro("name", &TensorInfo::name, "as the model's file calls it")
      .def_ro("dtype", &TensorInfo::dtype,
              "NumPy's name of the type: 'int8', 'uint8', 'int32', 'int64', 'float32'")
      .def_prop_ro(
          "shape", [](const TensorInfo& t) { return nb::tuple(nb::cast(t.shape)); },
          "in the model's own layout")
      .def_ro("index", &TensorInfo::index, "number of the tensor, that of a TensorFlow Lite file")
      .def_ro("scales", &TensorInfo::scales,
              "real = scale * (stored - zero_point); empty where not quantised")
      .def_ro("zero_points", &TensorInfo::zero_points, "one a scale")
      .def_ro("quantized_dimension", &TensorInfo::quantized_dimension, "along which scales differ")
      .def("__repr__", [](const TensorInfo& t) {
        return "<Tensor '" + t.name + "' " + t.dtype + " " + shape_text(t.shape) + ">";
      });
  nb::class_<Result>(m, "Result", "What a run on the simulated accelerator gave.")
      .def_ro("outputs", &Result::outputs, "arrays in the order of Model.outputs")
      .def_prop_ro(
          "exact", [](const Result& r) { return r.report.exact; },
          "every tensor equals the reference; None where it was not checked")
      .def_prop_ro(
          "cycles", [](const Result& r) { return r.report.cycles; },
          "from the first command to the last result")
      .def_prop_ro("layers", &Result::layers, "a dictionary a layer, with the keys of `kaiten run --json`")
      .def_prop_ro("report", &Result::json, "all of `kaiten run --json`")
      .def_prop_ro(
          "trace", [](const Result& r) { return r.trace.empty() ? nb::none() : parsed(r.trace); },
          "trace events for ui.perfetto.dev, with trace=True")
      .def("table", &Result::table,
           "layers as a pandas.DataFrame, or as they are where pandas is not installed")
      .def("__str__", [](const Result& r) { return to_text(r.report, 0); });
}

void bind_model(nb::module_& m) {
  nb::class_<CompiledModel>(m, "Session", "A compiled model and the simulator that runs it.")
      .def("run", &CompiledModel::run, "inputs"_a, nb::kw_only(), "check"_a = true, "trace"_a = false,
           docs::kSessionRun);
  nb::class_<Model>(m, "Model", "A model that can be compiled: from load().")
      .def_prop_ro(
          "name", [](const Model& x) { return x.graph().name; }, "of the file, without folder and ending")
      .def_prop_ro(
          "inputs", [](const Model& x) { return x.infos(x.graph().inputs); },
          "what run() takes, in this order")
      .def_prop_ro(
          "outputs", [](const Model& x) { return x.infos(x.graph().outputs); },
          "what Result.outputs holds, in this order")
      .def_prop_ro(
          "macs", [](const Model& x) { return macs(x.graph()); }, "multiply-accumulates of one image")
      .def_prop_ro(
          "notes", [](const Model& x) { return x.graph().notes; },
          "where results may differ from the model's own arithmetic")
      .def_prop_ro(
          "signatures", &Model::signatures,
          "of a TensorFlow Lite file: a dictionary of `inputs` and `outputs`, indices by name, a key")
      .def_prop_ro(
          "labels", [](const Model& x) { return x.metadata().labels; },
          "names of the classes, from the model's metadata")
      .def("image", &Model::image, "source"_a, nb::kw_only(), "mean"_a = nb::none(), "scale"_a = nb::none(),
           "channels"_a = "", "fit"_a = "crop", "metadata"_a = true, docs::kImage)
      .def("inspect", &Model::inspect, "config"_a = "base", docs::kModelInspect)
      .def(
          "compile",
          [](const Model& x, const std::string& config, const nb::object& calibration,
             const nb::kwargs& rest) {
            const CompileArguments arguments = arguments_of(config, rest);
            SessionOptions options = arguments.options();
            if (!calibration.is_none()) options.calibration = inputs_of(x.graph(), calibration).values;
            return std::make_unique<CompiledModel>(x.graph(), options, arguments.clock.value_or(0));
          },
          "config"_a = "base", "calibration"_a = nb::none(), "options"_a, docs::kCompile)
      .def(
          "run",
          [](const Model& x, const nb::object& inputs, const std::string& config, bool check, bool trace,
             const nb::kwargs& rest) {
            const Inputs values = inputs_of(x.graph(), inputs);
            CompileArguments arguments = arguments_of(config, rest);
            arguments.batch = values.images;
            SessionOptions options = arguments.options();
            if (options.compress != Compress::kOff) options.calibration = values.values;
            return CompiledModel(x.graph(), options, arguments.clock.value_or(0))
                .run_values(values, check, trace);
          },
          "inputs"_a, "config"_a = "base", "check"_a = true, "trace"_a = false, "options"_a, docs::kModelRun)
      .def(
          "board",
          [](const Model& x, const std::string& device, int batch) {
            return std::make_unique<BoardModel>(x.graph(), device, batch, check_signals);
          },
          "device"_a, nb::kw_only(), "batch"_a = 1, docs::kBoard)
      .def("reference", &Model::reference, "inputs"_a, nb::kw_only(), "rounding"_a = "litert",
           docs::kReference)
      .def("reference_tensors", &Model::reference_of_all, "inputs"_a, nb::kw_only(), "rounding"_a = "litert",
           docs::kReferenceTensors)
      .def("plan", &Model::plan, nb::kw_only(), "capacity"_a = 0, "config"_a = "", "method"_a = "optimal",
           "closure"_a = "rolling", "batch"_a = 1, docs::kPlan)
      .def("compress", &Model::compress, "inputs"_a, nb::kw_only(), "codec"_a = "zvc", docs::kCompress)
      .def("__repr__", [](const Model& x) {
        return "<Model '" + x.graph().name + "', " + std::to_string(x.graph().ops.size()) + " layers>";
      });
}

}  // namespace

}  // namespace kaiten::python

NB_MODULE(_kaiten, m) {
  using namespace kaiten;
  using namespace kaiten::python;
  m.doc() = docs::kModule;
  nb::exception<InputError>(m, "InputError", PyExc_ValueError).attr("__doc__") = docs::kInputError;
  nb::exception<DeviceError>(m, "DeviceError", PyExc_RuntimeError).attr("__doc__") = docs::kDeviceError;
  bind_values(m);
  bind_board(m);
  bind_model(m);
  m.def(
      "load",
      [](const nb::object& source, const std::string& until) { return Model(import_object(source, until)); },
      "source"_a, nb::kw_only(), "until"_a = "", docs::kLoad);
  m.def(
      "inspect",
      [](const nb::object& source, const std::string& config) {
        return inspect_model(import_object(source, "").result, config);
      },
      "source"_a, "config"_a = "base", docs::kInspect);
  m.def("configs", &simulated_configs, docs::kConfigs);
}
