// The ONNX importer: see import.h for what it promises.
//
// Nodes are sorted and walked once. Every value of the model is one of: a constant; a quantised tensor of the
// graph; or a float value that is not computed yet (a model input, a dequantised tensor, or an operator on
// such). A QuantizeLinear decides what a float value becomes: the quantised operator its expression stands
// for, or host arithmetic in float32. A float value that reaches an output of the model becomes host
// arithmetic.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "graph/error.h"
#include "graph/quantize.h"
#include "import/import.h"
#include "onnx.pb.h"

namespace kaiten {
namespace {

constexpr size_t kMaxNameBytes = 120;
constexpr int kMaxRank = 4;
constexpr int64_t kMaxOpset = 25;
constexpr int kMaxDepth = 500;         // of float expressions: they are walked recursively
constexpr int64_t kMaxFloatBytes = 8;  // constants turned to float, times the file

const char* const kStaticQuantisation =
    "quantise it first: onnxruntime.quantization.quantize_static with calibration data (QDQ or QOperator)";

enum : int { kFloat = 1, kUint8 = 2, kInt8 = 3, kInt32 = 6, kInt64 = 7 };

[[noreturn]] void fail(const std::string& what) { throw InputError("bad model file: " + what); }

std::string clean_name(const std::string& text) {
  std::string name;
  for (const char c : text.substr(0, kMaxNameBytes)) name += c >= ' ' && c <= '~' && c != '\'' ? c : '?';
  return name;
}

std::string number(double value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

std::string type_name(int type) {
  static const std::map<int, std::string> kNames = {
      {kFloat, "float32"}, {kUint8, "uint8"}, {kInt8, "int8"}, {4, "uint16"}, {5, "int16"},
      {kInt32, "int32"},   {kInt64, "int64"}, {8, "string"},   {9, "bool"},   {10, "float16"},
      {11, "double"},      {16, "bfloat16"},  {21, "uint4"},   {22, "int4"}};
  const auto found = kNames.find(type);
  return found == kNames.end() ? "type " + std::to_string(type) : found->second;
}

// A limit that a node breaks.
struct Refused {
  std::string limit;
  std::string value;
  std::string way_out;
};

using Shape = std::vector<int>;

int64_t elements_of(const Shape& shape) {
  int64_t product = 1;
  for (const int dim : shape) product *= dim;
  return product;
}

// Rank 4 from NCHW to NHWC; other ranks stay.
Shape nhwc_shape(const Shape& s) { return s.size() == 4 ? Shape{s[0], s[2], s[3], s[1]} : s; }

struct Constant {
  int type = kFloat;
  Shape shape;  // dimensions may be 0
  std::vector<uint8_t> bytes;

  size_t size() const { return bytes.size() / width(type); }
  static size_t width(int type) { return type == kInt64 ? 8 : type == kFloat || type == kInt32 ? 4 : 1; }

  template <typename T>
  T read(size_t i) const {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    return value;
  }
  int64_t integer(size_t i) const {
    switch (type) {
      case kInt64:
        return read<int64_t>(i);
      case kInt32:
        return read<int32_t>(i);
      case kInt8:
        return read<int8_t>(i);
      default:
        return bytes[i];
    }
  }
  float real(size_t i) const { return type == kFloat ? read<float>(i) : float(integer(i)); }
};

// Scales and zero points as a node states them, in the model's own type.
struct Scales {
  std::vector<float> scale;
  std::vector<int> zero_point;  // as many as scales
  int type = kInt8;             // of the quantised values
  int axis = 0;

  bool operator==(const Scales& o) const {
    return scale == o.scale && zero_point == o.zero_point && type == o.type;
  }
};

struct Value {
  enum class Form : uint8_t { Refused, Constant, Quantised, FloatInput, Dequantised, Expression };

  Form form = Form::Refused;
  std::string name;
  Shape shape;        // model order
  Constant constant;  // Constant
  int tensor = -1;    // Quantised: in the graph; others: once they are float tensors of the graph
  int type = kInt8;   // Quantised
  int source = -1;    // Dequantised: the Quantised or Constant value
  Scales scales;      // Dequantised
  const onnx::NodeProto* node = nullptr;  // Expression
  std::vector<int> operands;              // Expression: values, -1 for an absent one
  int depth = 0;
};

class Importer {
 public:
  Importer(const onnx::ModelProto& model, size_t file_bytes, const std::string& name,
           const OnnxOptions& options)
      : model_(model),
        file_(model.graph()),
        options_(options),
        float_budget_(kMaxFloatBytes * int64_t(file_bytes)) {
    result_.name = name;
    graph_.name = name;
    graph_.framework = Framework::Onnx;
  }

  ImportResult run() {
    check_model();
    if (!result_.refusals.empty()) return std::move(result_);
    import_constants();
    import_inputs();
    for (const onnx::NodeProto* node : sorted_nodes()) import_node(*node);
    import_outputs();
    if (result_.refusals.empty()) result_.graph = std::move(graph_);
    return std::move(result_);
  }

 private:
  using Node = onnx::NodeProto;
  using Form = Value::Form;

  std::string here() const { return "layer '" + layer_ + "' (" + layer_op_ + "): "; }

  // --- model level -----------------------------------------------------------------------------------------

  void refuse_model(const std::string& limit, const std::string& value, const std::string& way_out) {
    result_.refusals.push_back({"model", "", limit, value, way_out});
  }

  void check_model() {
    if (!model_.has_graph()) fail("no graph");
    if (file_.node_size() == 0) fail("no nodes");
    if (file_.output_size() == 0) fail("no outputs");
    for (const auto& set : model_.opset_import()) {
      if (set.domain().empty() || set.domain() == "ai.onnx") opset_ = set.version();
    }
    if (opset_ < 1) fail("no operator set (opset_import)");
    if (opset_ > kMaxOpset) {
      refuse_model("operator sets up to " + std::to_string(kMaxOpset), "opset " + std::to_string(opset_),
                   "export with an older opset_version");
    }
    bool quantised = options_.float_models;
    for (const Node& node : file_.node()) {
      const std::string& op = node.op_type();
      quantised = quantised || op.find("Quantize") != std::string::npos || op.starts_with("QLinear") ||
                  op.find("Integer") != std::string::npos || op == "QGemm";
    }
    for (const auto& input : file_.input()) {
      const int type = input.type().tensor_type().elem_type();
      quantised = quantised || type == kInt8 || type == kUint8;
    }
    if (!quantised)
      refuse_model("quantised models", "a float model (no QuantizeLinear, no QLinear operator)",
                   kStaticQuantisation);
    for (const auto& tensor : file_.initializer()) {
      if (tensor.data_location() != 1) continue;
      refuse_model("weights inside the model file",
                   "tensor '" + clean_name(tensor.name()) + "' in another file",
                   "save the model with its data: onnx.save(model, path) without save_as_external_data");
      break;
    }
  }

  int add_value(const std::string& raw_name, Value value) {
    value.name = clean_name(raw_name);
    if (!raw_name.empty() && !by_name_.emplace(raw_name, int(values_.size())).second) {
      fail("value '" + value.name + "' is written twice");
    }
    values_.push_back(std::move(value));
    return int(values_.size()) - 1;
  }

  Value& at(int value) { return values_[size_t(value)]; }

  Constant read_constant(const onnx::TensorProto& tensor) const {
    const std::string named = "tensor '" + clean_name(tensor.name()) + "'";
    Constant c;
    c.type = tensor.data_type();
    if (tensor.dims_size() > 8) fail(named + " has rank " + std::to_string(tensor.dims_size()));
    int64_t elements = 1;
    for (const int64_t dim : tensor.dims()) {
      if (dim < 0 || dim > kMaxTensorElements) fail(named + " has a dimension of " + std::to_string(dim));
      elements *= dim;
      if (elements > kMaxTensorElements) fail(named + " has too many elements");
      c.shape.push_back(int(dim));
    }
    const bool known = c.type == kFloat || c.type == kUint8 || c.type == kInt8 || c.type == kInt32 ||
                       c.type == kInt64 || c.type == 9;
    if (!known) {
      c.bytes.clear();
      return c;  // refused where it is used
    }
    const size_t bytes = size_t(elements) * Constant::width(c.type);
    if (tensor.has_raw_data()) {
      if (tensor.raw_data().size() != bytes) {
        fail(named + " needs " + std::to_string(bytes) + " bytes, has " +
             std::to_string(tensor.raw_data().size()));
      }
      c.bytes.assign(tensor.raw_data().begin(), tensor.raw_data().end());
      return c;
    }
    const int64_t stored = c.type == kFloat   ? tensor.float_data_size()
                           : c.type == kInt64 ? tensor.int64_data_size()
                                              : tensor.int32_data_size();
    if (stored != elements) {
      fail(named + " needs " + std::to_string(elements) + " values, has " + std::to_string(stored));
    }
    c.bytes.resize(bytes);
    for (int i = 0; i < int(elements); i++) {
      uint8_t* to = c.bytes.data() + size_t(i) * Constant::width(c.type);
      if (c.type == kFloat) {
        const float value = tensor.float_data(i);
        std::memcpy(to, &value, sizeof(value));
      } else if (c.type == kInt64) {
        const int64_t value = tensor.int64_data(i);
        std::memcpy(to, &value, sizeof(value));
      } else if (c.type == kInt32) {
        const int32_t value = tensor.int32_data(i);
        std::memcpy(to, &value, sizeof(value));
      } else {
        *to = uint8_t(tensor.int32_data(i));
      }
    }
    return c;
  }

  int add_constant(const std::string& name, Constant constant) {
    Value value;
    value.form = Form::Constant;
    value.shape = constant.shape;
    value.constant = std::move(constant);
    return add_value(name, std::move(value));
  }

  void import_constants() {
    for (const auto& tensor : file_.initializer()) add_constant(tensor.name(), read_constant(tensor));
  }

  void import_inputs() {
    layer_op_ = "INPUT";
    for (const auto& input : file_.input()) {
      if (by_name_.contains(input.name())) continue;  // older files list their weights as inputs
      layer_ = clean_name(input.name());
      Value value;
      try {
        value.shape = input_shape(input);
        const int type = input.type().tensor_type().elem_type();
        if (type == kFloat) {
          value.form = Form::FloatInput;
          value.tensor = new_float_tensor(layer_, value.shape);
        } else if (type == kInt8 || type == kUint8) {
          value.form = Form::Quantised;
          value.type = type;
          // Its first consumer states the scale.
          value.tensor = new_quantised_tensor(layer_, value.shape, {{1.0F}, {0}, type, 0});
          assumed_.insert(value.tensor);
        } else {
          throw Refused{"inputs of float32, int8, uint8", type_name(type), ""};
        }
        graph_.inputs.push_back(value.tensor);
      } catch (const Refused& r) {
        refuse(r);
      }
      add_value(input.name(), std::move(value));
    }
    if (graph_.inputs.empty() && result_.refusals.empty()) fail("no inputs");
  }

  Shape input_shape(const onnx::ValueInfoProto& input) const {
    const auto& type = input.type().tensor_type();
    if (!type.has_shape())
      throw Refused{"fixed shapes", "an input without a shape", "export with a fixed input shape"};
    Shape shape;
    for (int d = 0; d < type.shape().dim_size(); d++) {
      const auto& dim = type.shape().dim(d);
      int64_t value = dim.dim_value();
      if (!dim.has_dim_value() || value == 0) {
        if (d != 0) {
          throw Refused{"fixed shapes", "open dimension " + std::to_string(d),
                        "export with a fixed input shape"};
        }
        value = 1;  // an open batch
      }
      if (value < 1 || value > kMaxTensorElements)
        fail("input '" + layer_ + "' has a dimension of " + std::to_string(value));
      shape.push_back(int(value));
    }
    check_batch(shape);
    return shape;
  }

  void check_batch(const Shape& shape) const {
    if (shape.size() == 4 && shape[0] != 1 && !options_.float_models) {
      throw Refused{"batch of 1", "a batch of " + std::to_string(shape[0]),
                    "export with batch size 1; kaiten run --batch runs several inputs one after the other"};
    }
  }

  // Producers before consumers, otherwise in the file's order.
  std::vector<const Node*> sorted_nodes() {
    const int count = file_.node_size();
    std::map<std::string, int> producer;
    for (int i = 0; i < count; i++) {
      for (const std::string& output : file_.node(i).output()) {
        if (!output.empty() && !producer.emplace(output, i).second) {
          fail("value '" + clean_name(output) + "' is written twice");
        }
      }
    }
    std::vector<std::vector<int>> consumers(static_cast<size_t>(count));
    std::vector<int> missing(static_cast<size_t>(count), 0);
    for (int i = 0; i < count; i++) {
      for (const std::string& input : file_.node(i).input()) {
        if (input.empty() || by_name_.contains(input)) continue;
        const auto found = producer.find(input);
        if (found == producer.end()) {
          fail("node '" + clean_name(file_.node(i).op_type()) + "' reads '" + clean_name(input) +
               "', which nothing writes");
        }
        consumers[size_t(found->second)].push_back(i);
        missing[size_t(i)]++;
      }
    }
    std::set<int> ready;
    for (int i = 0; i < count; i++) {
      if (missing[size_t(i)] == 0) ready.insert(i);
    }
    std::vector<const Node*> order;
    while (!ready.empty()) {
      const int i = *ready.begin();
      ready.erase(ready.begin());
      order.push_back(&file_.node(i));
      for (const int consumer : consumers[size_t(i)]) {
        if (--missing[size_t(consumer)] == 0) ready.insert(consumer);
      }
    }
    for (int i = 0; i < count; i++) {
      if (missing[size_t(i)] > 0) {
        fail("its nodes form a cycle (at '" + clean_name(file_.node(i).op_type()) + "')");
      }
    }
    return order;
  }

  void import_outputs() {
    for (const auto& output : file_.output()) {
      const auto found = by_name_.find(output.name());
      if (found == by_name_.end()) fail("output '" + clean_name(output.name()) + "' is never computed");
      layer_ = clean_name(output.name());
      layer_op_ = "OUTPUT";
      const int value = found->second;
      if (at(value).form == Form::Refused) continue;
      try {
        if (at(value).form == Form::Constant) throw Refused{"outputs that are computed", "a constant", ""};
        if (at(value).form == Form::Quantised) {
          plain(at(value).tensor);
          graph_.outputs.push_back(at(value).tensor);
        } else {
          graph_.outputs.push_back(as_float(value));
        }
      } catch (const Refused& r) {
        refuse(r);
      }
    }
  }

  void refuse(const Refused& r) {
    // One reason per layer: several consumers may ask for the same float operator.
    for (const Refusal& other : result_.refusals) {
      if (other.layer == layer_ && other.limit == r.limit && other.value == r.value) return;
    }
    result_.refusals.push_back({layer_, layer_op_, r.limit, r.value, r.way_out});
  }

  // --- tensors of the graph --------------------------------------------------------------------------------

  int new_tensor(Tensor tensor) {
    if (tensor.shape.size() > kMaxRank) {
      throw Refused{"tensors of rank 4 at most",
                    "'" + tensor.name + "' of rank " + std::to_string(tensor.shape.size()), ""};
    }
    int64_t elements = 1;
    for (const int dim : tensor.shape) {
      if (dim < 1) fail(here() + "shape " + shape_text(tensor.shape) + ", dimensions must be positive");
      elements *= dim;
      if (elements > kMaxTensorElements) {
        fail(here() + "shape " + shape_text(tensor.shape) + ", limit " + std::to_string(kMaxTensorElements) +
             " elements");
      }
    }
    activation_bytes_ += elements * element_bytes(tensor.type);
    if (activation_bytes_ > kMaxActivationBytes) {
      fail("its activations exceed the limit of " + std::to_string(kMaxActivationBytes) + " bytes");
    }
    if (tensor.shape.size() == 4) tensor.model_layout = Layout::Nchw;
    graph_.tensors.push_back(std::move(tensor));
    return int(graph_.tensors.size()) - 1;
  }

  int new_float_tensor(const std::string& name, const Shape& shape) {
    Tensor tensor;
    tensor.name = name;
    tensor.type = ElementType::Float32;
    tensor.model_type = ElementType::Float32;
    tensor.shape = shape;
    return new_tensor(std::move(tensor));
  }

  int new_quantised_tensor(const std::string& name, const Shape& shape, const Scales& scales) {
    if (scales.scale.size() != 1) {
      throw Refused{"one scale per activation tensor", std::to_string(scales.scale.size()) + " scales",
                    "quantise activations per tensor; only weights may be per channel"};
    }
    if (scales.type != kInt8 && scales.type != kUint8) {
      throw Refused{"activations of int8 or uint8", type_name(scales.type),
                    "quantise with QInt8 or QUInt8 activations"};
    }
    check_batch(shape);
    if (shape.size() > kMaxRank)
      throw Refused{"tensors of rank 4 at most", "rank " + std::to_string(shape.size()), ""};
    Tensor tensor;
    tensor.name = name;
    tensor.shape = nhwc_shape(shape);
    tensor.quantization = stored(scales);
    tensor.model_type = scales.type == kUint8 ? ElementType::UInt8 : ElementType::Int8;
    return new_tensor(std::move(tensor));
  }

  static Quantization stored(const Scales& scales) {
    Quantization q;
    q.scale = scales.scale;
    for (const int zero_point : scales.zero_point)
      q.zero_point.push_back(zero_point - (scales.type == kUint8 ? 128 : 0));
    return q;
  }

  std::string unique_layer_name(const std::string& wanted) {
    int& last = layer_names_[wanted];
    if (last == 0) {
      last = 1;
      return wanted;
    }
    std::string name;
    do {
      name = wanted + "#" + std::to_string(++last);
    } while (!layer_names_.try_emplace(name, 1).second);
    return name;
  }

  // Appends an operator; its output tensor names it.
  void emit(Op op) {
    op.name = unique_layer_name(graph_.tensors[size_t(op.output)].name);
    check_arithmetic(op);
    graph_.ops.push_back(std::move(op));
  }

  void check_arithmetic(const Op& op) const {
    OpParams params;
    try {
      params = op_params(graph_, op, RoundingStyle::LiteRt);
    } catch (const InputError&) {
      throw Refused{"requantisation factors below 2^30",
                    "input, weight and output scales that give a larger one",
                    "the scales of this layer look damaged"};
    }
    const AccumulatorRange range = accumulator_range(graph_, op, params);
    if (range.fits_int32()) return;
    throw Refused{"accumulators of 32 bits for every input, -2147483648 to 2147483647",
                  std::to_string(range.min) + " to " + std::to_string(range.max) + " in the worst case", ""};
  }

  // A tensor whose bytes stand in NHWC order as its shape says; flattened maps do not.
  int plain(int tensor) const {
    if (flattened_.contains(tensor)) {
      throw Refused{"flattened maps feed fully connected layers only", "layer '" + layer_ + "' reads one",
                    "pool to one pixel before flattening"};
    }
    return tensor;
  }

  // The quantised tensor with the scales its reader states: another tensor of the same bytes where they
  // differ.
  int read_as(int value, const Scales& scales) {
    const int tensor = at(value).tensor;
    if (scales.scale.size() != 1) {
      throw Refused{"one scale per activation tensor", std::to_string(scales.scale.size()) + " scales",
                    "quantise activations per tensor; only weights may be per channel"};
    }
    if (scales.type != at(value).type)
      fail(here() + "reads " + type_name(at(value).type) + " as " + type_name(scales.type));
    const Quantization wanted = stored(scales);
    Tensor& t = graph_.tensors[size_t(tensor)];
    if (assumed_.erase(tensor) > 0) t.quantization = wanted;
    if (t.quantization.scale == wanted.scale && t.quantization.zero_point == wanted.zero_point) return tensor;
    Tensor view = t;
    view.quantization = wanted;
    view.name += "/view";
    Op op;
    op.kind = OpKind::Reshape;
    op.inputs = {tensor};
    op.output = new_tensor(std::move(view));
    const int output = op.output;
    if (flattened_.contains(tensor)) flattened_[output] = flattened_[tensor];
    emit(std::move(op));
    return output;
  }

  // --- nodes -----------------------------------------------------------------------------------------------

  const onnx::AttributeProto* attribute(const Node& node, const std::string& name) const {
    for (const auto& a : node.attribute()) {
      if (a.name() == name) return &a;
    }
    return nullptr;
  }
  int64_t integer(const Node& node, const std::string& name, int64_t otherwise) const {
    const auto* a = attribute(node, name);
    return a == nullptr ? otherwise : a->i();
  }
  float real(const Node& node, const std::string& name, float otherwise) const {
    const auto* a = attribute(node, name);
    return a == nullptr ? otherwise : a->f();
  }
  std::vector<int64_t> integers(const Node& node, const std::string& name) const {
    const auto* a = attribute(node, name);
    return a == nullptr ? std::vector<int64_t>{} : std::vector<int64_t>(a->ints().begin(), a->ints().end());
  }

  int input_count(const Node& node) const { return node.input_size(); }
  bool has_input(const Node& node, int i) const { return i < node.input_size() && !node.input(i).empty(); }
  int input(const Node& node, int i) const {
    if (!has_input(node, i)) fail(here() + "input " + std::to_string(i) + " is absent");
    return by_name_.at(node.input(i));
  }

  const Constant& constant(int value, const char* role) {
    const Value& v = at(value);
    if (v.form != Form::Constant)
      throw Refused{"constant " + std::string(role), "'" + v.name + "' is computed", ""};
    if (v.constant.bytes.empty() && elements_of(v.constant.shape) > 0) {
      throw Refused{std::string(role) + " of float32, int8, uint8, int32, int64", type_name(v.constant.type),
                    ""};
    }
    return v.constant;
  }

  std::vector<int64_t> numbers(int value, const char* role) {
    const Constant& c = constant(value, role);
    if (c.type != kInt64 && c.type != kInt32) fail(here() + role + " must be integers");
    if (c.size() > 64) fail(here() + role + " has " + std::to_string(c.size()) + " values");
    std::vector<int64_t> values;
    for (size_t i = 0; i < c.size(); i++) values.push_back(c.integer(i));
    return values;
  }

  // Scale and zero point from two inputs of a node; `type` where there is no zero point.
  Scales scales_of(const Node& node, int scale, int zero_point, int type) {
    Scales s;
    const Constant& c = constant(input(node, scale), "scale");
    if (c.type != kFloat) throw Refused{"scales of float32", type_name(c.type), ""};
    if (c.shape.size() > 1) throw Refused{"scales per tensor or per channel", "blocked scales", ""};
    if (c.size() == 0) fail(here() + "has an empty scale");
    for (size_t i = 0; i < c.size(); i++) {
      const float value = c.real(i);
      if (!(value > 0.0F) || !std::isfinite(value))
        fail(here() + "scale is " + number(value) + ", scales must be positive and finite");
      s.scale.push_back(value);
    }
    s.zero_point.assign(s.scale.size(), 0);
    s.type = type;
    if (has_input(node, zero_point)) {
      const Constant& z = constant(input(node, zero_point), "zero point");
      s.type = z.type;
      if (z.size() != s.scale.size() && z.size() != 1)
        fail(here() + "has " + std::to_string(s.scale.size()) + " scales but " + std::to_string(z.size()) +
             " zero points");
      for (size_t i = 0; i < s.zero_point.size(); i++) {
        const int64_t value = z.integer(z.size() == 1 ? 0 : i);
        if (value < -256 || value > 65535) fail(here() + "zero point is " + std::to_string(value));
        s.zero_point[i] = int(value);
      }
    }
    // More scales than one for a tensor are sometimes all the same.
    return s;
  }

  void import_node(const Node& node) {
    layer_op_ = clean_name(node.op_type());
    if (node.output_size() == 0 || node.output(0).empty()) fail("a node " + layer_op_ + " has no output");
    layer_ = clean_name(node.output(0));
    bool usable = true;
    for (const std::string& name : node.input()) {
      if (!name.empty() && at(by_name_.at(name)).form == Form::Refused) usable = false;
    }
    Value value;
    try {
      if (usable) value = make(node);
    } catch (const Refused& r) {
      refuse(r);
    }
    add_value(node.output(0), std::move(value));
    for (int i = 1; i < node.output_size(); i++) {
      if (!node.output(i).empty()) add_value(node.output(i), {});  // masks and indices: nobody may read them
    }
  }

  Value make(const Node& node) {
    const std::string& op = node.op_type();
    if (!node.domain().empty() && node.domain() != "ai.onnx" && node.domain() != "com.microsoft") {
      throw Refused{"operators of ONNX and com.microsoft", "domain " + clean_name(node.domain()), ""};
    }
    if (op == "DynamicQuantizeLinear" || op.find("Integer") != std::string::npos ||
        op.starts_with("DynamicQuantize")) {
      throw Refused{"static quantisation", op + ": dynamic quantisation", kStaticQuantisation};
    }
    if (op == "Constant") return constant_node(node);
    if (op == "QuantizeLinear") return quantize_linear(node);
    if (op == "DequantizeLinear") return dequantize_linear(node);
    if (op == "QLinearConv") return qlinear_conv(node);
    if (op == "QLinearAdd" || op == "QLinearMul") return qlinear_binary(node);
    if (op == "QLinearGlobalAveragePool") return qlinear_global_pool(node);
    if (op == "QLinearMatMul" || op == "QGemm") return qlinear_matmul(node);
    if (op == "QLinearLeakyRelu" || op == "QLinearSigmoid") return qlinear_table(node);
    if (auto folded = fold(node)) return std::move(*folded);
    if (node.input_size() > 0 && at(input(node, 0)).form == Form::Quantised) return on_quantised(node);
    return expression(node);
  }

  Value constant_node(const Node& node) const {
    const auto* a = attribute(node, "value");
    if (a == nullptr || !a->has_t()) throw Refused{"constants with a value tensor", "another form", ""};
    if (a->t().data_location() == 1)
      throw Refused{"weights inside the model file", "a constant in another file", ""};
    Value value;
    value.form = Form::Constant;
    value.constant = read_constant(a->t());
    value.shape = value.constant.shape;
    return value;
  }

  // Arithmetic on shapes: all inputs constant (or only asked for their shape).
  std::optional<Value> fold(const Node& node) {
    const std::string& op = node.op_type();
    Value value;
    value.form = Form::Constant;
    Constant& c = value.constant;
    c.type = kInt64;
    const auto finish = [&](const std::vector<int64_t>& values, const Shape& shape) {
      c.shape = shape;
      c.bytes.resize(values.size() * 8);
      if (!values.empty()) std::memcpy(c.bytes.data(), values.data(), c.bytes.size());
      value.shape = shape;
      return std::optional<Value>(std::move(value));
    };
    if (op == "Shape") {
      const Shape& shape = at(input(node, 0)).shape;
      return finish({shape.begin(), shape.end()}, {int(shape.size())});
    }
    if (node.input_size() == 0 || at(input(node, 0)).form != Form::Constant) return std::nullopt;
    const Constant& first = at(input(node, 0)).constant;
    if (op == "Identity") {
      value.constant = first;
      value.shape = first.shape;
      return value;
    }
    if ((first.type != kInt64 && first.type != kInt32) || first.size() > 64) return std::nullopt;
    const std::vector<int64_t> values = numbers(input(node, 0), "operand");
    if (op == "Cast")
      return integer(node, "to", kInt64) == kInt64 ? finish(values, first.shape) : std::nullopt;
    if (op == "Unsqueeze") return finish(values, {int(values.size())});
    if (op == "Squeeze") return finish(values, values.size() == 1 ? Shape{} : Shape{int(values.size())});
    if (op == "Gather") {
      std::vector<int64_t> picked;
      const Constant& indices = constant(input(node, 1), "indices");
      for (const int64_t index : numbers(input(node, 1), "indices")) {
        const int64_t i = index < 0 ? index + int64_t(values.size()) : index;
        if (i < 0 || i >= int64_t(values.size()))
          fail(here() + "index " + std::to_string(index) + " out of range");
        picked.push_back(values[size_t(i)]);
      }
      return finish(picked, indices.shape);
    }
    if (op == "Concat") {
      std::vector<int64_t> all;
      for (int i = 0; i < node.input_size(); i++) {
        for (const int64_t v : numbers(input(node, i), "operand")) all.push_back(v);
      }
      if (all.size() > 64) fail(here() + "has " + std::to_string(all.size()) + " values");
      return finish(all, {int(all.size())});
    }
    return std::nullopt;
  }

  // --- quantise and dequantise -----------------------------------------------------------------------------

  Value dequantize_linear(const Node& node) {
    const int source = input(node, 0);
    Value value;
    value.form = Form::Dequantised;
    value.source = source;
    value.shape = at(source).shape;
    const bool is_constant = at(source).form == Form::Constant;
    if (!is_constant && at(source).form != Form::Quantised)
      throw Refused{"int8, uint8 or int32 values", "a float value dequantised", ""};
    const int type = is_constant ? at(source).constant.type : at(source).type;
    value.scales = scales_of(node, 1, 2, type);
    if (integer(node, "block_size", 0) != 0)
      throw Refused{"scales per tensor or per channel", "blocked scales", ""};
    const int64_t axis = integer(node, "axis", 1);
    value.scales.axis = int(axis < 0 ? axis + int64_t(value.shape.size()) : axis);
    if (value.scales.scale.size() > 1 &&
        (value.scales.axis < 0 || size_t(value.scales.axis) >= value.shape.size() ||
         size_t(value.shape[size_t(value.scales.axis)]) != value.scales.scale.size())) {
      fail(here() + "has " + std::to_string(value.scales.scale.size()) + " scales along axis " +
           std::to_string(axis) + " of " + shape_text(value.shape));
    }
    if (value.scales.type != type)
      fail(here() + "zero point of " + type_name(value.scales.type) + " for values of " + type_name(type));
    return value;
  }

  Value quantised_value(int tensor, const Shape& shape, int type) const {
    Value value;
    value.form = Form::Quantised;
    value.tensor = tensor;
    value.shape = shape;
    value.type = type;
    return value;
  }

  Value quantize_linear(const Node& node) {
    const int source = input(node, 0);
    const Scales out = scales_of(node, 1, 2, kUint8);
    if (integer(node, "block_size", 0) != 0)
      throw Refused{"scales per tensor or per channel", "blocked scales", ""};
    if (at(source).form == Form::Constant)
      throw Refused{"weights stored quantised", "QuantizeLinear of a constant",
                    "fold constants when exporting"};
    if (at(source).form == Form::Quantised)
      throw Refused{"float values", "QuantizeLinear of quantised values", ""};

    // Clamps in between become limits of the operator in front.
    float lo = -std::numeric_limits<float>::infinity();
    float hi = std::numeric_limits<float>::infinity();
    int base = source;
    while (at(base).form == Form::Expression &&
           (at(base).node->op_type() == "Relu" || at(base).node->op_type() == "Clip")) {
      const auto [low, high] = clip_limits(*at(base).node);
      lo = std::max(lo, low);
      hi = std::min(hi, high);
      base = at(base).operands.front();
    }
    Op op;
    op.lo = lo;
    op.hi = hi;
    if (lo == 0.0F && hi == 6.0F) {
      op.activation = Activation::Relu6;
    } else if (lo == 0.0F && std::isinf(hi)) {
      op.activation = Activation::Relu;
    }
    int tensor = fuse(base, op, out);
    if (tensor < 0) {
      op = {};
      op.kind = OpKind::ToInt8;
      op.inputs = {as_float(source)};
      op.output = tensor = new_quantised_tensor(layer_, at(source).shape, out);
      emit(std::move(op));
    }
    return quantised_value(tensor, at(source).shape, out.type);
  }

  std::pair<float, float> clip_limits(const Node& node) {
    float lo = -std::numeric_limits<float>::infinity();
    float hi = std::numeric_limits<float>::infinity();
    if (node.op_type() == "Relu") return {0.0F, hi};
    lo = real(node, "min", lo);
    hi = real(node, "max", hi);
    const auto limit = [&](int i, float otherwise) {
      if (!has_input(node, i)) return otherwise;
      const Value& v = at(input(node, i));
      if (v.form == Form::Dequantised && at(v.source).form == Form::Constant) return dequantised(v).front();
      const Constant& c = constant(input(node, i), "limits");
      if (c.type != kFloat || c.size() != 1) throw Refused{"limits of one float32", type_name(c.type), ""};
      return c.real(0);
    };
    lo = limit(1, lo);
    hi = limit(2, hi);
    if (std::isnan(lo) || std::isnan(hi)) fail(here() + "limits are not numbers");
    return {lo, hi};
  }

  bool is_dequantised_activation(int value) {
    return value >= 0 && at(value).form == Form::Dequantised && at(at(value).source).form == Form::Quantised;
  }
  bool is_constant_value(int value) {
    return value >= 0 && (at(value).form == Form::Constant || (at(value).form == Form::Dequantised &&
                                                               at(at(value).source).form == Form::Constant));
  }
  int activation_of(int value) { return read_as(at(value).source, at(value).scales); }

  // The quantised operator that a float expression stands for: its output tensor, or -1 if there is none.
  int fuse(int base, Op& op, const Scales& out) {
    const Value& v = at(base);
    if (v.form == Form::Dequantised)
      return is_dequantised_activation(base) ? requantise(activation_of(base), v.shape, op, out) : -1;
    if (v.form != Form::Expression) return -1;
    const std::string& kind = v.node->op_type();
    const std::vector<int> x = v.operands;
    const Shape shape = v.shape;
    const Node& node = *v.node;
    if (kind == "Conv") {
      if (!is_dequantised_activation(x[0]))
        throw Refused{"convolutions of quantised values", "a float convolution", kStaticQuantisation};
      return conv(node, op, activation_of(x[0]), at(x[0]).scales, weights_of(x[1]), bias_of(x, 2), out);
    }
    if (kind == "Gemm" || kind == "MatMul") {
      if (!is_dequantised_activation(x[0]) || !is_constant_value(x[1]) || at(x[1]).form != Form::Dequantised)
        return -1;
      if (real(node, "alpha", 1.0F) != 1.0F || real(node, "beta", 1.0F) != 1.0F ||
          integer(node, "transA", 0) != 0)
        return -1;
      return fully_connected(op, activation_of(x[0]), at(x[0]).scales, weights_of(x[1]),
                             integer(node, "transB", 0) != 0, bias_of(x, 2), shape, out);
    }
    if (kind == "Add" || kind == "Sub" || kind == "Mul") {
      // A product and a constant: a fully connected layer with a bias.
      for (size_t i = 0; i < 2 && kind == "Add"; i++) {
        const Value& product = at(x[i]);
        if (product.form != Form::Expression || product.node->op_type() != "MatMul" ||
            !is_constant_value(x[1 - i]))
          continue;
        const std::vector<int> y = product.operands;
        if (!is_dequantised_activation(y[0]) || at(y[1]).form != Form::Dequantised ||
            !is_constant_value(y[1]))
          continue;
        return fully_connected(op, activation_of(y[0]), at(y[0]).scales, weights_of(y[1]), false,
                               bias_of({x[1 - i]}, 0), shape, out);
      }
      op.kind = kind == "Add" ? OpKind::Add : kind == "Sub" ? OpKind::Sub : OpKind::Mul;
      for (const int operand : x) {
        if (is_dequantised_activation(operand)) {
          op.inputs.push_back(plain(activation_of(operand)));
        } else if (at(operand).form == Form::Dequantised && is_constant_value(operand)) {
          op.inputs.push_back(quantised_operand(operand, int(shape.size())));
        } else {
          return -1;
        }
      }
      op.output = new_quantised_tensor(layer_, shape, out);
      const int tensor = op.output;
      emit(std::move(op));
      return tensor;
    }
    if (x.empty() || !is_dequantised_activation(x[0])) return -1;
    if (kind == "GlobalAveragePool" || kind == "ReduceMean" || kind == "AveragePool") {
      const Shape& in = at(x[0]).shape;
      if (in.size() != 4 || shape[1] != in[1] || elements_of(shape) != in[1]) {
        throw Refused{"averages over whole maps", kind + " of " + shape_text(in) + " to " + shape_text(shape),
                      ""};
      }
      op.kind = OpKind::Mean;
      op.inputs = {plain(activation_of(x[0]))};
      op.output = new_quantised_tensor(layer_, shape, out);
      const int tensor = op.output;
      emit(std::move(op));
      return tensor;
    }
    if (kind == "MaxPool") {
      const int in = plain(activation_of(x[0]));
      const bool same = at(x[0]).scales == out;
      Op pool = same ? op : Op{};
      const int pooled = max_pool(node, std::move(pool), in, shape, at(x[0]).scales);
      return same ? pooled : requantise(pooled, shape, op, out);
    }
    if (is_reshape(kind)) {
      const int in = activation_of(x[0]);
      const int reshaped = reshape(in, at(x[0]).shape, shape, at(x[0]).scales);
      return requantise(reshaped, shape, op, out);
    }
    if (kind == "Concat") {
      op.kind = OpKind::Concat;
      op.axis = nhwc_axis(concat_axis(node, shape), shape.size());
      for (const int operand : x) {
        if (!is_dequantised_activation(operand)) return -1;
        op.inputs.push_back(plain(activation_of(operand)));
      }
      op.output = new_quantised_tensor(layer_, shape, out);
      const int tensor = op.output;
      emit(std::move(op));
      return tensor;
    }
    if (table_function(node, op)) {
      op.inputs = {plain(activation_of(x[0]))};
      op.output = new_quantised_tensor(layer_, shape, out);
      const int tensor = op.output;
      emit(std::move(op));
      return tensor;
    }
    return -1;
  }

  // The tensor itself where nothing changes, else a table.
  int requantise(int tensor, const Shape& shape, Op& op, const Scales& out) {
    const Quantization wanted = stored(out);
    const Tensor& t = graph_.tensors[size_t(tensor)];
    const bool same_type = (t.model_type == ElementType::UInt8) == (out.type == kUint8);
    if (same_type && t.quantization.scale == wanted.scale && t.quantization.zero_point == wanted.zero_point &&
        std::isinf(op.lo) && std::isinf(op.hi)) {
      return alias(tensor, shape, out);
    }
    op.kind = std::isinf(op.lo) && std::isinf(op.hi) ? OpKind::Quantize : OpKind::Table;
    op.function = Function::Clamp;
    op.inputs = {tensor};
    op.output = new_quantised_tensor(layer_, shape, out);
    const int output = op.output;
    if (flattened_.contains(tensor)) flattened_[output] = flattened_[tensor];
    emit(std::move(op));
    return output;
  }

  // The same bytes under the name of this layer's output.
  int alias(int tensor, const Shape& shape, const Scales& scales) {
    Op op;
    op.kind = OpKind::Reshape;
    op.inputs = {tensor};
    op.output = new_quantised_tensor(layer_, shape, scales);
    const int output = op.output;
    if (flattened_.contains(tensor)) flattened_[output] = flattened_[tensor];
    emit(std::move(op));
    return output;
  }

  static bool is_reshape(const std::string& kind) {
    return kind == "Flatten" || kind == "Reshape" || kind == "Squeeze" || kind == "Unsqueeze" ||
           kind == "Identity" || kind == "Dropout";
  }

  // Reads the bytes of `tensor` under another shape. Between NCHW shapes the order of NHWC bytes stays only
  // where one side of channels and pixels is 1; a flattened map is remembered, for the weights behind it.
  int reshape(int tensor, const Shape& from, const Shape& to, const Scales& scales) {
    Op op;
    op.kind = OpKind::Reshape;
    op.inputs = {tensor};
    const auto ordered = [](const Shape& s) { return s.size() != 4 || s[1] == 1 || s[2] * s[3] == 1; };
    op.output = new_quantised_tensor(layer_ + (is_output_of_quantize() ? "/reshaped" : ""), to, scales);
    const int output = op.output;
    if (flattened_.contains(tensor)) {
      if (to.size() > 2) plain(tensor);
      flattened_[output] = flattened_[tensor];
    } else if (from != to && !(ordered(from) && ordered(to))) {
      if (from.size() != 4 || to.size() != 2 || to[0] != 1) {
        throw Refused{"reshapes that keep channels last or flatten a map",
                      shape_text(from) + " to " + shape_text(to), ""};
      }
      flattened_[output] = {from[1], from[2], from[3]};
    }
    emit(std::move(op));
    return output;
  }

  bool is_output_of_quantize() const { return layer_op_ == "QuantizeLinear"; }

  static int nhwc_axis(int axis, size_t rank) {
    constexpr int kPlace[] = {0, 3, 1, 2};
    return rank == 4 ? kPlace[axis] : axis;
  }

  int concat_axis(const Node& node, const Shape& shape) const {
    const int64_t axis = integer(node, "axis", 1);
    const int64_t positive = axis < 0 ? axis + int64_t(shape.size()) : axis;
    if (positive < 0 || positive >= int64_t(shape.size()))
      fail(here() + "axis " + std::to_string(axis) + " out of range");
    return int(positive);
  }

  bool table_function(const Node& node, Op& op) const {
    const std::string& kind = node.op_type();
    op.kind = OpKind::Table;
    if (kind == "LeakyRelu") {
      op.function = Function::LeakyRelu;
      op.alpha = real(node, "alpha", 0.01F);
    } else if (kind == "HardSigmoid") {
      op.function = Function::HardSigmoid;
      op.alpha = real(node, "alpha", 0.2F);
      op.beta = real(node, "beta", 0.5F);
    } else if (kind == "Sigmoid") {
      op.function = Function::Sigmoid;
    } else if (kind == "Tanh") {
      op.function = Function::Tanh;
    } else if (kind == "HardSwish") {
      op.function = Function::HardSwish;
    } else {
      return false;
    }
    return true;
  }

  // --- weights ---------------------------------------------------------------------------------------------

  struct Weights {
    const Constant* values = nullptr;
    Scales scales;
    std::string name;
  };

  struct Bias {
    int value = -1;  // a constant: int32, or dequantised, or float; -1: none
  };

  Weights weights_of(int value) {
    const Value& v = at(value);
    if (v.form != Form::Dequantised || at(v.source).form != Form::Constant) {
      throw Refused{"quantised weights",
                    v.form == Form::Constant ? "float weights" : "weights that are computed",
                    kStaticQuantisation};
    }
    return {&constant(v.source, "weights"), v.scales, at(v.source).name};
  }

  Bias bias_of(const std::vector<int>& operands, size_t i) {
    if (operands.size() <= i || operands[i] < 0) return {};
    if (!is_constant_value(operands[i])) throw Refused{"constant bias", "a bias that is computed", ""};
    return {operands[i]};
  }

  std::vector<float> dequantised(const Value& v) {
    const Constant& c = at(v.source).constant;
    charge(int64_t(c.size()) * 4);
    size_t inner = 1;
    for (size_t d = size_t(v.scales.axis) + 1; d < c.shape.size(); d++) inner *= size_t(c.shape[d]);
    std::vector<float> values(c.size());
    for (size_t i = 0; i < values.size(); i++) {
      const size_t k = v.scales.scale.size() == 1 ? 0 : i / inner % v.scales.scale.size();
      values[i] = float(c.integer(i) - v.scales.zero_point[k]) * v.scales.scale[k];
    }
    return values;
  }

  void charge(int64_t bytes) {
    float_budget_ -= bytes;
    if (float_budget_ < 0)
      fail("its constants add up to more than " + std::to_string(kMaxFloatBytes) + " times the file");
  }

  // Checks scales and zero points for `channels` output channels and makes int8 values: element(i) is the
  // model's element for stored element i, which belongs to output channel channel(i).
  template <typename Element, typename Channel>
  int weight_tensor(const Weights& w, const Shape& shape, int channels, int axis, Element element,
                    Channel channel) {
    if (w.values->type != kInt8 && w.values->type != kUint8)
      throw Refused{"weights of int8 or uint8", type_name(w.values->type), ""};
    if (w.scales.type != w.values->type)
      fail(here() + "zero point of weights is " + type_name(w.scales.type));
    if (w.scales.scale.size() != 1 && w.scales.scale.size() != size_t(channels)) {
      fail(here() + "weights have " + std::to_string(w.scales.scale.size()) + " scales for " +
           std::to_string(channels) + " channels");
    }
    Tensor tensor;
    tensor.name = w.name;
    tensor.shape = shape;
    tensor.quantization.scale = w.scales.scale;
    tensor.quantization.axis = axis;
    tensor.model_type = w.values->type == kUint8 ? ElementType::UInt8 : ElementType::Int8;
    const int offset = w.values->type == kUint8 ? 128 : 0;
    const std::vector<int>& zero_points = w.scales.zero_point;
    const bool one =
        std::all_of(zero_points.begin(), zero_points.end(), [&](int z) { return z == zero_points[0]; });
    tensor.quantization.zero_point.assign(w.scales.scale.size(), one ? zero_points[0] - offset : 0);
    charge(int64_t(w.values->size()));
    tensor.data.resize(w.values->size());
    for (size_t i = 0; i < tensor.data.size(); i++) {
      int64_t value = w.values->integer(element(i));
      // Different zero points per channel are taken off the weights where the difference fits.
      value -= one ? offset : zero_points[channel(i)];
      if (value < -128 || value > 127) {
        throw Refused{"one zero point for all weights, or differences that fit int8",
                      "zero points per channel and a difference of " + std::to_string(value),
                      "quantise weights symmetrically"};
      }
      tensor.data[i] = uint8_t(int8_t(value));
    }
    graph_.tensors.push_back(std::move(tensor));
    return int(graph_.tensors.size()) - 1;
  }

  int bias_tensor(const Bias& bias, int channels, float in_scale, const Scales& weights) {
    if (bias.value < 0) return kNoTensor;
    const Value& v = at(bias.value);
    const Constant& c = v.form == Form::Constant ? constant(bias.value, "bias") : constant(v.source, "bias");
    if (c.size() != size_t(channels))
      fail(here() + "bias does not have " + std::to_string(channels) + " elements");
    std::vector<int32_t> values(static_cast<size_t>(channels));
    const bool exact = c.type == kInt32 && v.form == Form::Constant;
    std::vector<float> reals;
    if (!exact && v.form == Form::Dequantised) reals = dequantised(v);
    for (size_t i = 0; i < values.size(); i++) {
      const float weight_scale = weights.scale[weights.scale.size() == 1 ? 0 : i];
      const double product = double(in_scale) * double(weight_scale);
      if (exact) {
        values[i] = int32_t(c.integer(i));
        continue;
      }
      if (v.form == Form::Dequantised && c.type == kInt32) {
        const double own = double(v.scales.scale[v.scales.scale.size() == 1 ? 0 : i]);
        const int zero_point = v.scales.zero_point[v.scales.scale.size() == 1 ? 0 : i];
        // The scale of a bias is the product of the others but for the rounding of its own float32.
        if (zero_point == 0 && std::abs(own / product - 1.0) < 1.0e-5) {
          values[i] = int32_t(c.integer(i));
          continue;
        }
      }
      const double real = v.form == Form::Dequantised ? double(reals[i]) : double(c.real(i));
      const double scaled = std::nearbyint(real / product);
      if (!(std::abs(scaled) <= 2147483647.0)) throw Refused{"biases of 32 bits", number(scaled), ""};
      values[i] = int32_t(scaled);
    }
    Tensor tensor;
    tensor.name = layer_ + "/bias";
    tensor.type = ElementType::Int32;
    tensor.model_type = ElementType::Int32;
    tensor.shape = {channels};
    tensor.data.resize(values.size() * 4);
    std::memcpy(tensor.data.data(), values.data(), tensor.data.size());
    graph_.tensors.push_back(std::move(tensor));
    return int(graph_.tensors.size()) - 1;
  }

  // A per-tensor quantised constant as an operand of Add, Sub or Mul, in the order of the output.
  int quantised_operand(int value, int rank) {
    const Value& v = at(value);
    const Constant& c = constant(v.source, "operand");
    if (v.scales.scale.size() != 1 || (c.type != kInt8 && c.type != kUint8)) {
      throw Refused{"operands with one scale and zero point",
                    std::to_string(v.scales.scale.size()) + " scales of " + type_name(c.type), ""};
    }
    Shape shape = c.shape;
    if (shape.size() > size_t(rank)) fail(here() + "operand of rank " + std::to_string(shape.size()));
    while (rank == 4 && shape.size() < 4) shape.insert(shape.begin(), 1);
    Tensor tensor;
    tensor.name = at(v.source).name;
    tensor.shape = nhwc_shape(shape);
    tensor.quantization = stored(v.scales);
    tensor.model_type = c.type == kUint8 ? ElementType::UInt8 : ElementType::Int8;
    if (rank == 4) tensor.model_layout = Layout::Nchw;
    charge(int64_t(c.size()));
    const std::vector<int8_t> bytes = from_model(tensor, c.bytes);
    tensor.data.assign(bytes.begin(), bytes.end());
    if (tensor.data.empty()) fail(here() + "operand is empty");
    graph_.tensors.push_back(std::move(tensor));
    return int(graph_.tensors.size()) - 1;
  }

  // --- operators -------------------------------------------------------------------------------------------

  // Kernel, stride, dilation and padding attributes for an input of this shape; sets the output's rows and
  // columns.
  Window window(const Node& node, const Shape& in, int kernel_h, int kernel_w, Shape& out) const {
    if (in.size() != 4)
      throw Refused{"two-dimensional convolutions and pooling", "an input of shape " + shape_text(in), ""};
    const auto pair = [&](const char* name) {
      const std::vector<int64_t> values = integers(node, name);
      if (values.empty()) return std::array<int64_t, 2>{1, 1};
      if (values.size() != 2) fail(here() + name + " has " + std::to_string(values.size()) + " values");
      return std::array<int64_t, 2>{values[0], values[1]};
    };
    const auto strides = pair("strides");
    const auto dilations = pair("dilations");
    for (const int64_t value :
         {int64_t(kernel_h), int64_t(kernel_w), strides[0], strides[1], dilations[0], dilations[1]}) {
      if (value < 1) fail(here() + "kernel, stride and dilation must be at least 1");
      if (value > kMaxWindow)
        throw Refused{"kernels, strides and dilations up to " + std::to_string(kMaxWindow),
                      std::to_string(value), ""};
    }
    Window w{kernel_h, kernel_w, int(strides[0]), int(strides[1]), int(dilations[0]), int(dilations[1]), {}};
    const auto* auto_pad = attribute(node, "auto_pad");
    const std::string mode = auto_pad == nullptr || auto_pad->s().empty() ? "NOTSET" : auto_pad->s();
    if (mode == "NOTSET") {
      const std::vector<int64_t> pads = integers(node, "pads");
      if (!pads.empty() && pads.size() != 4)
        fail(here() + "pads has " + std::to_string(pads.size()) + " values");
      for (const int64_t pad : pads) {
        if (pad < 0) throw Refused{"padding of 0 or more", std::to_string(pad), ""};
        if (pad > kMaxWindow)
          throw Refused{"padding up to " + std::to_string(kMaxWindow), std::to_string(pad), ""};
      }
      if (!pads.empty()) w.pad = {int(pads[0]), int(pads[2]), int(pads[1]), int(pads[3])};
    } else if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
      auto rows = same_padding(in[2], w.extent_h(), w.stride_h);
      auto columns = same_padding(in[3], w.extent_w(), w.stride_w);
      if (mode == "SAME_LOWER") {
        std::swap(rows[0], rows[1]);
        std::swap(columns[0], columns[1]);
      }
      w.pad = {rows[0], rows[1], columns[0], columns[1]};
    } else if (mode != "VALID") {
      fail(here() + "auto_pad is " + clean_name(mode));
    }
    if (integer(node, "ceil_mode", 0) != 0) {
      // A last window that starts inside the map or its leading padding counts: pad until it fits.
      const auto extra = [](int in_size, int before, int& after, int extent, int stride) {
        const int64_t room = int64_t(in_size) + before + after - extent;
        if (room < 0 || room % stride == 0) return;
        const int64_t last = (room / stride + 1) * stride;
        if (last < int64_t(in_size) + before) after += int(stride - room % stride);
      };
      extra(in[2], w.pad.top, w.pad.bottom, w.extent_h(), w.stride_h);
      extra(in[3], w.pad.left, w.pad.right, w.extent_w(), w.stride_w);
    }
    out[2] = window_outputs(in[2], w.pad.top, w.pad.bottom, w.extent_h(), w.stride_h);
    out[3] = window_outputs(in[3], w.pad.left, w.pad.right, w.extent_w(), w.stride_w);
    if (out[2] < 1 || out[3] < 1) fail(here() + "kernel does not fit its input " + shape_text(in));
    return w;
  }

  Shape conv_shape(const Node& node, const Shape& in, const Shape& kernel) const {
    if (kernel.size() != 4 || in.size() != 4)
      throw Refused{"two-dimensional convolutions", "weights of rank " + std::to_string(kernel.size()), ""};
    for (const int dim : kernel) {
      if (dim < 1) fail(here() + "weights of shape " + shape_text(kernel));
    }
    const int64_t groups = integer(node, "group", 1);
    if (groups < 1 || groups > kernel[0] || kernel[0] % groups != 0 || kernel[1] * groups != in[1]) {
      fail(here() + "weights of shape " + shape_text(kernel) + " and " + std::to_string(groups) +
           " groups do not fit an input of shape " + shape_text(in));
    }
    const std::vector<int64_t> stated = integers(node, "kernel_shape");
    if (!stated.empty() && (stated.size() != 2 || stated[0] != kernel[2] || stated[1] != kernel[3]))
      fail(here() + "kernel_shape differs from the weights' shape");
    Shape out = {in[0], kernel[0], 0, 0};
    window(node, in, kernel[2], kernel[3], out);
    return out;
  }

  // `in_scales`: of the input as this layer reads it.
  int conv(const Node& node, Op& op, int in_tensor, const Scales& in_scales, const Weights& weights,
           const Bias& bias, const Scales& out) {
    const Tensor& t = graph_.tensors[size_t(plain(in_tensor))];
    const Nhwc map = t.nhwc();
    const Shape in = {map.n, map.c, map.h, map.w};
    if (t.shape.size() != 4)
      throw Refused{"two-dimensional convolutions", "an input of shape " + shape_text(t.shape), ""};
    const Shape kernel = weights.values->shape;
    const Shape shape = conv_shape(node, in, kernel);
    const int groups = int(integer(node, "group", 1));
    Shape ignored = shape;
    op.window = window(node, in, kernel[2], kernel[3], ignored);
    op.inputs = {in_tensor};
    const size_t depth = size_t(kernel[1]);
    const size_t taps = size_t(kernel[2]) * size_t(kernel[3]);
    const size_t outputs = size_t(kernel[0]);
    if (groups > 1 && depth == 1 && groups == in[1]) {
      op.kind = OpKind::DepthwiseConv2D;
      op.depth_multiplier = kernel[0] / groups;
      op.weights = weight_tensor(
          weights, {1, kernel[2], kernel[3], kernel[0]}, kernel[0], 3,
          [=](size_t i) { return i % outputs * taps + i / outputs; }, [=](size_t i) { return i % outputs; });
    } else {
      op.kind = OpKind::Conv2D;
      op.groups = groups;
      op.weights = weight_tensor(
          weights, {kernel[0], kernel[2], kernel[3], kernel[1]}, kernel[0], 0,
          [=](size_t i) {
            const size_t o = i / (taps * depth);
            return (o * depth + i % depth) * taps + i / depth % taps;
          },
          [=](size_t i) { return i / (taps * depth); });
    }
    op.bias = bias_tensor(bias, kernel[0], in_scales.scale[0], weights.scales);
    op.output = new_quantised_tensor(layer_, shape, out);
    const int tensor = op.output;
    emit(std::move(op));
    return tensor;
  }

  // weights: [in, out], or [out, in] if transposed.
  int fully_connected(Op& op, int in_tensor, const Scales& in_scales, const Weights& weights, bool transposed,
                      const Bias& bias, const Shape& shape, const Scales& out) {
    const Shape& kernel = weights.values->shape;
    if (kernel.size() != 2) throw Refused{"weights of rank 2", "rank " + std::to_string(kernel.size()), ""};
    const int depth = transposed ? kernel[1] : kernel[0];
    const int channels = transposed ? kernel[0] : kernel[1];
    const Tensor& input = graph_.tensors[size_t(in_tensor)];
    if (depth < 1 || channels < 1 || input.shape.empty() || input.shape.back() != depth) {
      fail(here() + "weights of shape " + shape_text(kernel) + " do not fit an input of shape " +
           shape_text(input.shape));
    }
    if (int64_t(input.elements()) != depth) {
      throw Refused{"one row of inputs", std::to_string(int64_t(input.elements()) / depth) + " rows",
                    "express the layer as a 1x1 convolution"};
    }
    // The bytes of a flattened map stand in NHWC order, the model's weights expect NCHW.
    std::array<int, 3> chw = {depth, 1, 1};
    if (const auto found = flattened_.find(in_tensor); found != flattened_.end()) chw = found->second;
    const size_t pixels = size_t(chw[1]) * size_t(chw[2]);
    const size_t in_channels = size_t(chw[0]);
    op.kind = OpKind::FullyConnected;
    op.inputs = {in_tensor};
    Weights w = weights;
    op.weights = weight_tensor(
        w, {channels, depth}, channels, 0,
        [=](size_t i) {
          const size_t o = i / size_t(depth);
          const size_t k = i % size_t(depth);
          const size_t source = k % in_channels * pixels + k / in_channels;
          return transposed ? o * size_t(depth) + source : source * size_t(channels) + o;
        },
        [=](size_t i) { return i / size_t(depth); });
    op.bias = bias_tensor(bias, channels, in_scales.scale[0], weights.scales);
    op.output = new_quantised_tensor(layer_, shape, out);
    const int tensor = op.output;
    emit(std::move(op));
    return tensor;
  }

  int max_pool(const Node& node, Op op, int in_tensor, const Shape& shape, const Scales& scales) {
    const Nhwc map = graph_.tensors[size_t(in_tensor)].nhwc();
    const Shape in = {map.n, map.c, map.h, map.w};
    const std::vector<int64_t> kernel = integers(node, "kernel_shape");
    Shape out = in;
    op.kind = OpKind::MaxPool;
    op.window = window(node, in, int(kernel.at(0)), int(kernel.at(1)), out);
    if (op.window.dilation_h != 1 || op.window.dilation_w != 1)
      throw Refused{"pooling without dilation", "dilations", ""};
    op.inputs = {in_tensor};
    op.output = new_quantised_tensor(layer_, shape, scales);
    const int tensor = op.output;
    emit(std::move(op));
    return tensor;
  }

  Value qlinear_conv(const Node& node) {
    const int source = input(node, 0);
    if (at(source).form != Form::Quantised) throw Refused{"a quantised input", "a float one", ""};
    const Scales in = scales_of(node, 1, 2, at(source).type);
    Weights weights{&constant(input(node, 3), "weights"), scales_of(node, 4, 5, kInt8),
                    at(input(node, 3)).name};
    const Scales out = scales_of(node, 6, 7, kUint8);
    Bias bias;
    if (has_input(node, 8)) bias.value = input(node, 8);
    if (bias.value >= 0 && constant(bias.value, "bias").type != kInt32) fail(here() + "bias is not int32");
    Op op;
    const int tensor = conv(node, op, read_as(source, in), in, weights, bias, out);
    return quantised_value(tensor, model_shape(tensor), out.type);
  }

  // Shape of a graph tensor in the model's order.
  Shape model_shape(int tensor) const {
    const Shape& s = graph_.tensors[size_t(tensor)].shape;
    return s.size() == 4 ? Shape{s[0], s[3], s[1], s[2]} : s;
  }

  Value qlinear_binary(const Node& node) {
    Op op;
    op.kind = node.op_type() == "QLinearAdd" ? OpKind::Add : OpKind::Mul;
    const Scales out = scales_of(node, 6, 7, kUint8);
    Shape shape;
    for (int i = 0; i < 2; i++) {
      const int source = input(node, 3 * i);
      shape = i == 0 ? at(source).shape : broadcast(shape, at(source).shape);
    }
    for (int i = 0; i < 2; i++) {
      const int source = input(node, 3 * i);
      const bool is_constant = at(source).form == Form::Constant;
      const Scales scales =
          scales_of(node, 3 * i + 1, 3 * i + 2, is_constant ? at(source).constant.type : at(source).type);
      if (at(source).form == Form::Quantised) {
        op.inputs.push_back(plain(read_as(source, scales)));
      } else if (is_constant) {
        Value operand;
        operand.form = Form::Dequantised;
        operand.source = source;
        operand.scales = scales;
        values_.push_back(std::move(operand));
        op.inputs.push_back(quantised_operand(int(values_.size()) - 1, int(shape.size())));
      } else {
        throw Refused{"quantised operands", "a float one", ""};
      }
    }
    op.output = new_quantised_tensor(layer_, shape, out);
    const int tensor = op.output;
    emit(std::move(op));
    return quantised_value(tensor, shape, out.type);
  }

  Value qlinear_global_pool(const Node& node) {
    const int source = input(node, 0);
    if (at(source).form != Form::Quantised) throw Refused{"a quantised input", "a float one", ""};
    if (integer(node, "channels_last", 0) != 0) throw Refused{"maps in NCHW order", "channels_last", ""};
    const Shape in = at(source).shape;
    if (in.size() != 4) throw Refused{"averages over whole maps", shape_text(in), ""};
    const Scales out = scales_of(node, 3, 4, at(source).type);
    Op op;
    op.kind = OpKind::Mean;
    op.inputs = {plain(read_as(source, scales_of(node, 1, 2, at(source).type)))};
    const Shape shape = {in[0], in[1], 1, 1};
    op.output = new_quantised_tensor(layer_, shape, out);
    const int tensor = op.output;
    emit(std::move(op));
    return quantised_value(tensor, shape, out.type);
  }

  Value qlinear_matmul(const Node& node) {
    const bool gemm = node.op_type() == "QGemm";
    const int source = input(node, 0);
    if (at(source).form != Form::Quantised) throw Refused{"a quantised input", "a float one", ""};
    const Scales in = scales_of(node, 1, 2, at(source).type);
    Weights weights{&constant(input(node, 3), "weights"), scales_of(node, 4, 5, kInt8),
                    at(input(node, 3)).name};
    const int after = gemm ? 7 : 6;
    if (!has_input(node, after)) throw Refused{"quantised results", "a float one", ""};
    const Scales out = scales_of(node, after, after + 1, kUint8);
    Bias bias;
    if (gemm && has_input(node, 6)) bias.value = input(node, 6);
    if (gemm && (real(node, "alpha", 1.0F) != 1.0F || integer(node, "transA", 0) != 0)) {
      throw Refused{"alpha of 1 and transA of 0", "others", ""};
    }
    const bool transposed = gemm && integer(node, "transB", 0) != 0;
    if (weights.values->shape.size() != 2)
      throw Refused{"weights of rank 2", "rank " + std::to_string(weights.values->shape.size()), ""};
    Shape shape = at(source).shape;
    if (shape.empty()) fail(here() + "input is a scalar");
    shape.back() = weights.values->shape[transposed ? 0 : 1];
    Op op;
    const int tensor = fully_connected(op, read_as(source, in), in, weights, transposed, bias, shape, out);
    return quantised_value(tensor, shape, out.type);
  }

  Value qlinear_table(const Node& node) {
    const int source = input(node, 0);
    if (at(source).form != Form::Quantised) throw Refused{"a quantised input", "a float one", ""};
    const Scales out = scales_of(node, 3, 4, at(source).type);
    Op op;
    op.kind = OpKind::Table;
    op.function = node.op_type() == "QLinearSigmoid" ? Function::Sigmoid : Function::LeakyRelu;
    op.alpha = real(node, "alpha", 0.01F);
    op.inputs = {plain(read_as(source, scales_of(node, 1, 2, at(source).type)))};
    op.output = new_quantised_tensor(layer_, at(source).shape, out);
    const int tensor = op.output;
    emit(std::move(op));
    return quantised_value(tensor, at(source).shape, out.type);
  }

  Scales scales_of_tensor(int value) {
    const Tensor& t = graph_.tensors[size_t(at(value).tensor)];
    return {t.quantization.scale, {t.zero_point() + (at(value).type == kUint8 ? 128 : 0)}, at(value).type, 0};
  }

  // Operators that work on stored values as they are.
  Value on_quantised(const Node& node) {
    const std::string& kind = node.op_type();
    const int source = input(node, 0);
    const Scales scales = scales_of_tensor(source);
    if (kind == "MaxPool") {
      const Shape shape = infer(node, {source});
      return quantised_value(max_pool(node, {}, plain(at(source).tensor), shape, scales), shape, scales.type);
    }
    if (is_reshape(kind)) {
      const Shape shape = infer(node, {source});
      return quantised_value(reshape(at(source).tensor, at(source).shape, shape, scales), shape, scales.type);
    }
    throw Refused{"MaxPool, Flatten, Reshape, Squeeze, Unsqueeze, Identity on quantised values",
                  kind + " on " + type_name(at(source).type), ""};
  }

  // --- float expressions -----------------------------------------------------------------------------------

  Value expression(const Node& node) {
    Value value;
    value.form = Form::Expression;
    value.node = &node;
    for (int i = 0; i < node.input_size(); i++)
      value.operands.push_back(has_input(node, i) ? input(node, i) : -1);
    if (value.operands.empty() || value.operands[0] < 0) fail(here() + "has no input");
    for (const int operand : value.operands) {
      if (operand >= 0) value.depth = std::max(value.depth, at(operand).depth + 1);
    }
    if (value.depth > kMaxDepth)
      throw Refused{"chains of float operators up to " + std::to_string(kMaxDepth), "a longer one", ""};
    value.shape = infer(node, value.operands);
    int64_t elements = 1;
    for (const int dim : value.shape) {
      if (dim < 1) fail(here() + "shape " + shape_text(value.shape));
      elements *= dim;
      if (elements > kMaxTensorElements) fail(here() + "shape " + shape_text(value.shape) + " is too large");
    }
    return value;
  }

  Shape broadcast(const Shape& a, const Shape& b) const {
    Shape shape(std::max(a.size(), b.size()), 1);
    for (size_t d = 0; d < shape.size(); d++) {
      const int x = d < a.size() ? a[a.size() - 1 - d] : 1;
      const int y = d < b.size() ? b[b.size() - 1 - d] : 1;
      if (x != y && x != 1 && y != 1)
        fail(here() + "operands of shape " + shape_text(a) + " and " + shape_text(b) + " do not fit");
      shape[shape.size() - 1 - d] = std::max(x, y);
    }
    return shape;
  }

  std::vector<int> axes_of(const Node& node, int input_index, int rank) {
    std::vector<int64_t> values = integers(node, "axes");
    if (has_input(node, input_index)) values = numbers(input(node, input_index), "axes");
    std::set<int> axes;
    for (const int64_t axis : values) {
      const int64_t positive = axis < 0 ? axis + rank : axis;
      if (positive < 0 || positive >= rank) fail(here() + "axis " + std::to_string(axis) + " out of range");
      if (!axes.insert(int(positive)).second) fail(here() + "axis " + std::to_string(axis) + " twice");
    }
    return {axes.begin(), axes.end()};
  }

  // The shape of a node's first output.
  Shape infer(const Node& node, const std::vector<int>& operands) {
    const std::string& kind = node.op_type();
    const Shape in = at(operands[0]).shape;
    const int rank = int(in.size());
    static const std::set<std::string> kSame = {"Relu", "Clip",        "Softmax",   "LeakyRelu", "Sigmoid",
                                                "Tanh", "HardSigmoid", "HardSwish", "Identity",  "Dropout"};
    if (kSame.contains(kind)) return in;
    if (kind == "Add" || kind == "Sub" || kind == "Mul" || kind == "Div") {
      if (operands.size() != 2 || operands[1] < 0) fail(here() + "two operands expected");
      return broadcast(in, at(operands[1]).shape);
    }
    if (kind == "Sum") {
      Shape shape = in;
      for (size_t i = 1; i < operands.size(); i++) shape = broadcast(shape, at(operands[i]).shape);
      return shape;
    }
    if (kind == "Conv") {
      if (operands.size() < 2 || operands[1] < 0) fail(here() + "has no weights");
      return conv_shape(node, in, at(operands[1]).shape);
    }
    if (kind == "MaxPool" || kind == "AveragePool") {
      const std::vector<int64_t> kernel = integers(node, "kernel_shape");
      if (kernel.size() != 2 || in.size() != 4)
        throw Refused{"two-dimensional pooling", "an input of shape " + shape_text(in), ""};
      for (const int64_t k : kernel) {
        if (k < 1 || k > kMaxWindow) fail(here() + "kernel side " + std::to_string(k));
      }
      Shape out = in;
      window(node, in, int(kernel[0]), int(kernel[1]), out);
      return out;
    }
    if (kind == "GlobalAveragePool" || kind == "GlobalMaxPool") {
      if (rank < 3) fail(here() + "input of shape " + shape_text(in));
      Shape out = in;
      std::fill(out.begin() + 2, out.end(), 1);
      return out;
    }
    if (kind == "ReduceMean") {
      const std::vector<int> axes = mean_axes(node, rank);
      Shape out;
      for (int d = 0; d < rank; d++) {
        const bool reduced = std::find(axes.begin(), axes.end(), d) != axes.end();
        if (!reduced) out.push_back(in[size_t(d)]);
        if (reduced && integer(node, "keepdims", 1) != 0) out.push_back(1);
      }
      return out;
    }
    if (kind == "Gemm") {
      if (operands.size() < 2 || operands[1] < 0) fail(here() + "two operands expected");
      const Shape& b = at(operands[1]).shape;
      if (rank != 2 || b.size() != 2) fail(here() + "operands of rank 2 expected");
      const bool ta = integer(node, "transA", 0) != 0;
      const bool tb = integer(node, "transB", 0) != 0;
      if (in[ta ? 0 : 1] != b[tb ? 1 : 0])
        fail(here() + "shapes " + shape_text(in) + " and " + shape_text(b) + " do not fit");
      const Shape out = {in[ta ? 1 : 0], b[tb ? 0 : 1]};
      if (operands.size() > 2 && operands[2] >= 0 && broadcast(out, at(operands[2]).shape) != out)
        fail(here() + "third operand does not fit");
      return out;
    }
    if (kind == "MatMul") {
      if (operands.size() != 2 || operands[1] < 0) fail(here() + "two operands expected");
      const Shape& b = at(operands[1]).shape;
      if (b.size() != 2 || rank < 1)
        throw Refused{"products with a matrix of rank 2", shape_text(in) + " and " + shape_text(b), ""};
      if (in.back() != b[0])
        fail(here() + "shapes " + shape_text(in) + " and " + shape_text(b) + " do not fit");
      Shape out = in;
      out.back() = b[1];
      return out;
    }
    if (kind == "Flatten") {
      int64_t axis = integer(node, "axis", 1);
      if (axis < 0) axis += rank;
      if (axis < 0 || axis > rank) fail(here() + "axis out of range");
      const Shape head(in.begin(), in.begin() + axis);
      const Shape tail(in.begin() + axis, in.end());
      return {int(elements_of(head)), int(elements_of(tail))};
    }
    if (kind == "Reshape") return reshape_shape(node, in);
    if (kind == "Squeeze") {
      std::vector<int> axes = axes_of(node, 1, rank);
      Shape out;
      for (int d = 0; d < rank; d++) {
        const bool listed =
            axes.empty() ? in[size_t(d)] == 1 : std::find(axes.begin(), axes.end(), d) != axes.end();
        if (listed && in[size_t(d)] != 1)
          fail(here() + "squeezes a dimension of " + std::to_string(in[size_t(d)]));
        if (!listed) out.push_back(in[size_t(d)]);
      }
      return out;
    }
    if (kind == "Unsqueeze") {
      std::vector<int64_t> listed = integers(node, "axes");
      if (has_input(node, 1)) listed = numbers(input(node, 1), "axes");
      const std::vector<int> axes = axes_of(node, 1, rank + int(listed.size()));
      Shape out = in;
      for (const int axis : axes) out.insert(out.begin() + axis, 1);
      return out;
    }
    if (kind == "Transpose") {
      Shape out;
      for (const int d : permutation(node, rank)) out.push_back(in[size_t(d)]);
      return out;
    }
    if (kind == "Concat") {
      Shape out = in;
      const int axis = concat_axis(node, in);
      for (size_t i = 1; i < operands.size(); i++) {
        if (operands[i] < 0) fail(here() + "an operand is absent");
        Shape other = at(operands[i]).shape;
        if (other.size() != in.size()) fail(here() + "operands of different rank");
        const int64_t sum = int64_t(out[size_t(axis)]) + other[size_t(axis)];
        if (sum > kMaxTensorElements) fail(here() + "too large");
        out[size_t(axis)] = int(sum);
        other[size_t(axis)] = int(sum);
        if (other != out) fail(here() + "operands of shapes that do not fit");
      }
      return out;
    }
    throw Refused{
        "the operators Add, Clip, Concat, Conv, Flatten, Gemm, GlobalAveragePool, HardSigmoid, HardSwish, "
        "Identity, LeakyRelu, "
        "MatMul, MaxPool, Mul, ReduceMean, Relu, Reshape, Sigmoid, Softmax, Squeeze, Sub, Tanh, Transpose, "
        "Unsqueeze, "
        "QLinear forms of them, QuantizeLinear and DequantizeLinear",
        clean_name(kind),
        kind == "BatchNormalization" ? "fold batch normalisation into the convolution before quantising"
                                     : ""};
  }

  std::vector<int> mean_axes(const Node& node, int rank) {
    std::vector<int> axes = axes_of(node, 1, rank);
    if (axes.empty() && integer(node, "noop_with_empty_axes", 0) == 0) {
      for (int d = 0; d < rank; d++) axes.push_back(d);
    }
    return axes;
  }

  std::vector<int> permutation(const Node& node, int rank) const {
    const std::vector<int64_t> stated = integers(node, "perm");
    std::vector<int> order;
    for (int d = 0; d < rank; d++) order.push_back(rank - 1 - d);
    if (stated.empty()) return order;
    const std::set<int64_t> distinct(stated.begin(), stated.end());
    if (int(stated.size()) != rank || int(distinct.size()) != rank || *distinct.begin() != 0 ||
        *distinct.rbegin() != rank - 1)
      fail(here() + "perm is not a permutation");
    return {stated.begin(), stated.end()};
  }

  Shape reshape_shape(const Node& node, const Shape& in) {
    std::vector<int64_t> wanted = integers(node, "shape");
    if (has_input(node, 1)) wanted = numbers(input(node, 1), "shape");
    Shape out;
    int64_t product = 1;
    int open = -1;
    for (size_t d = 0; d < wanted.size(); d++) {
      int64_t dim = wanted[d];
      if (dim == 0 && integer(node, "allowzero", 0) == 0) {
        if (d >= in.size()) fail(here() + "shape keeps a dimension that is not there");
        dim = in[d];
      }
      if (dim == -1 && open < 0) {
        open = int(d);
        dim = 1;
      }
      if (dim < 1 || dim > kMaxTensorElements)
        fail(here() + "shape has a dimension of " + std::to_string(dim));
      product *= dim;
      if (product > kMaxTensorElements) fail(here() + "shape is too large");
      out.push_back(int(dim));
    }
    const int64_t elements = elements_of(in);
    if (open >= 0 && elements % product == 0) out[size_t(open)] = int(elements / product);
    if (elements_of(out) != elements)
      fail(here() + "cannot turn shape " + shape_text(in) + " into " + shape_text(out));
    return out;
  }

  int float_constant(const std::string& name, const Shape& shape, const std::vector<float>& values) {
    charge(int64_t(values.size()) * 4);
    const int index = new_float_tensor(name, shape);
    Tensor& tensor = graph_.tensors[size_t(index)];
    tensor.data.resize(values.size() * 4);
    if (values.empty()) fail(here() + "a constant is empty");
    std::memcpy(tensor.data.data(), values.data(), tensor.data.size());
    return index;
  }

  // The value as a float32 tensor of the graph, with the host operators that make it.
  int as_float(int index) {
    if (at(index).tensor >= 0 && at(index).form != Form::Quantised) return at(index).tensor;
    const std::string name = at(index).name;
    int tensor = -1;
    switch (at(index).form) {
      case Form::Refused:
      case Form::FloatInput:
      case Form::Quantised:
        throw Refused{"float values", "'" + name + "' is quantised", ""};
      case Form::Constant: {
        const Constant& c = constant(index, "operand");
        if (c.type != kFloat) throw Refused{"operands of float32", type_name(c.type), ""};
        std::vector<float> values;
        for (size_t i = 0; i < c.size(); i++) values.push_back(c.real(i));
        tensor = float_constant(name, c.shape, values);
        break;
      }
      case Form::Dequantised: {
        const Value& v = at(index);
        if (at(v.source).form == Form::Constant) {
          const Constant& c = constant(v.source, "operand");
          if (c.type == kFloat) fail(here() + "dequantises float values");
          tensor = float_constant(name, v.shape, dequantised(v));
          break;
        }
        Op op;
        op.kind = OpKind::ToFloat;
        op.inputs = {plain(activation_of(index))};
        tensor = op.output = new_float_tensor(name, at(index).shape);
        emit(std::move(op));
        break;
      }
      case Form::Expression:
        tensor = host_operator(index);
        break;
    }
    at(index).tensor = tensor;
    return tensor;
  }

  int host_operator(int index) {
    const Node& node = *at(index).node;
    const std::vector<int> operands = at(index).operands;
    const Shape in = at(operands[0]).shape;
    const Shape shape = at(index).shape;
    const std::string& kind = node.op_type();
    // Messages name the operator itself, not who asked for it.
    const std::string asked = std::exchange(layer_, at(index).name);
    const std::string asked_op = std::exchange(layer_op_, clean_name(kind));
    Op op;
    op.kind = OpKind::HostFloat;
    size_t used = 1;
    static const std::map<std::string, HostKind> kKinds = {{"Add", HostKind::Add},
                                                           {"Sub", HostKind::Sub},
                                                           {"Mul", HostKind::Mul},
                                                           {"Div", HostKind::Div},
                                                           {"Gemm", HostKind::Gemm},
                                                           {"MatMul", HostKind::Gemm},
                                                           {"Softmax", HostKind::Softmax},
                                                           {"GlobalAveragePool", HostKind::GlobalAveragePool},
                                                           {"GlobalMaxPool", HostKind::GlobalMaxPool},
                                                           {"ReduceMean", HostKind::ReduceMean},
                                                           {"Relu", HostKind::Clip},
                                                           {"Clip", HostKind::Clip},
                                                           {"LeakyRelu", HostKind::LeakyRelu},
                                                           {"Sigmoid", HostKind::Sigmoid},
                                                           {"Tanh", HostKind::Tanh},
                                                           {"HardSigmoid", HostKind::HardSigmoid},
                                                           {"HardSwish", HostKind::HardSwish},
                                                           {"Concat", HostKind::Concat},
                                                           {"Transpose", HostKind::Transpose},
                                                           {"Sum", HostKind::Add}};
    const auto found = kKinds.find(kind);
    if (is_reshape(kind)) {
      op.host_kind = HostKind::Reshape;
    } else if (found != kKinds.end()) {
      op.host_kind = found->second;
    } else {
      throw Refused{"quantised inputs and outputs for this operator",
                    "float32: " + clean_name(kind) + " is not host arithmetic",
                    kind == "Conv" ? kStaticQuantisation : "quantise its input and output"};
    }
    switch (op.host_kind) {
      case HostKind::Add:
        if (kind == "Sum") {
          if (operands.size() != 2)
            throw Refused{"sums of two operands", std::to_string(operands.size()) + " operands", ""};
        }
        [[fallthrough]];
      case HostKind::Sub:
      case HostKind::Mul:
      case HostKind::Div:
        used = 2;
        break;
      case HostKind::Gemm:
        used = operands.size() > 2 && operands[2] >= 0 ? 3 : 2;
        op.alpha = real(node, "alpha", 1.0F);
        op.beta = real(node, "beta", 1.0F);
        op.transpose_a = integer(node, "transA", 0) != 0;
        op.transpose_b = integer(node, "transB", 0) != 0;
        break;
      case HostKind::Softmax: {
        const int64_t axis = integer(node, "axis", opset_ < 13 ? 1 : -1);
        op.axis = int(axis < 0 ? axis + int64_t(in.size()) : axis);
        if (op.axis < 0 || size_t(op.axis) >= in.size()) fail(here() + "axis out of range");
        if (opset_ < 13 && size_t(op.axis) + 1 != in.size())
          throw Refused{"softmax over the last dimension below opset 13", "axis " + std::to_string(axis), ""};
        break;
      }
      case HostKind::ReduceMean:
        op.dims = mean_axes(node, int(in.size()));
        break;
      case HostKind::Clip:
        std::tie(op.lo, op.hi) = clip_limits(node);
        break;
      case HostKind::LeakyRelu:
        op.alpha = real(node, "alpha", 0.01F);
        break;
      case HostKind::HardSigmoid:
        op.alpha = real(node, "alpha", 0.2F);
        op.beta = real(node, "beta", 0.5F);
        break;
      case HostKind::Concat:
        op.axis = concat_axis(node, shape);
        used = operands.size();
        break;
      case HostKind::Transpose:
        op.dims = permutation(node, int(in.size()));
        break;
      default:
        break;
    }
    for (size_t i = 0; i < used; i++) op.inputs.push_back(as_float(operands[i]));
    const int tensor = op.output = new_float_tensor(at(index).name, shape);
    emit(std::move(op));
    layer_ = asked;
    layer_op_ = asked_op;
    return tensor;
  }

  const onnx::ModelProto& model_;
  const onnx::GraphProto& file_;
  const OnnxOptions& options_;
  int64_t opset_ = 0;

  ImportResult result_;
  Graph graph_;
  std::vector<Value> values_;
  std::map<std::string, int> by_name_;
  std::map<std::string, int> layer_names_;
  std::set<int> assumed_;  // quantised inputs whose scale nobody has stated yet
  std::map<int, std::array<int, 3>>
      flattened_;  // tensors of NHWC bytes that the model flattened from C, H, W
  int64_t activation_bytes_ = 0;
  int64_t float_budget_;

  // The layer in hand.
  std::string layer_;
  std::string layer_op_;
};

}  // namespace

ImportResult import_onnx(std::span<const uint8_t> file, const std::string& name, const OnnxOptions& options) {
  if (file.size() > kMaxModelBytes) fail("larger than " + std::to_string(kMaxModelBytes) + " bytes");
  onnx::ModelProto model;
  if (!model.ParseFromArray(file.data(), int(file.size())))
    fail("truncated or corrupt (not a protobuf of ONNX)");
  return Importer(model, file.size(), name, options).run();
}

}  // namespace kaiten
