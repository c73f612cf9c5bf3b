#include "compile/lower.h"

#include <algorithm>

#include "compile/limits.h"
#include "compile/lower_engines.h"
#include "graph/error.h"

namespace kaiten {

namespace {

// Cycles of a depthwise tile of the vector engine beyond one for each of its lanes.
constexpr int kVectorTileLoad = 7;

class Lowerer {
 public:
  Lowerer(const Graph& graph, const Config& config, RoundingStyle style)
      : graph_(graph), config_(config), style_(style) {
    result_.storage_of.assign(graph.tensors.size(), -1);
  }

  Lowering run() {
    for (const int tensor : graph_.inputs) {
      new_storage(tensor, {tensor, graph_.tensors[std::size_t(tensor)].nhwc(), true, false, tensor});
    }
    for (std::size_t i = 0; i < graph_.ops.size(); i++) {
      const Op& op = graph_.ops[i];
      LoweredOp lowered;
      lowered.op = int(i);
      try {
        lower_op(op, lowered);
      } catch (const Refused& r) {
        result_.refusals.push_back("layer '" + op.name + "' (" + std::string(name_of(op.kind)) +
                                   "): limit: " + r.limit + ", found: " + r.value);
        // Go on as if it had run, to find the other reasons.
        lowered.engine = Engine::kHost;
        stand_in(op);
      } catch (const InputError& e) {
        result_.refusals.push_back(e.what());
        lowered.engine = Engine::kHost;
        stand_in(op);
      }
      result_.ops.push_back(std::move(lowered));
    }
    for (int tensor : graph_.outputs) fetch(result_.storage_of[std::size_t(tensor)]);
    return std::move(result_);
  }

 private:
  int new_storage(int tensor, const Storage& storage) {
    result_.storages.push_back(storage);
    return result_.storage_of[std::size_t(tensor)] = int(result_.storages.size()) - 1;
  }

  Storage& storage_of(int tensor) {
    return result_.storages[std::size_t(result_.storage_of[std::size_t(tensor)])];
  }

  // What the host must read from the device's memory.
  void fetch(int storage) {
    const Storage& s = result_.storages[std::size_t(storage)];
    if (s.is_input || s.on_host) return;
    if (std::find(result_.fetched.begin(), result_.fetched.end(), storage) == result_.fetched.end()) {
      result_.fetched.push_back(storage);
    }
  }

  void make_output(const Op& op, LoweredOp& l) {
    const Nhwc shape = graph_.output_of(op).nhwc();
    require_shape({graph_, config_, style_}, shape);
    l.output = new_storage(op.output, {op.output, shape, false, false, kNoTensor});
    l.out = shape;
  }

  // Runs before the device where its operands are known by then, else after it.
  void lower_host(const Op& op, LoweredOp& l) {
    const bool before = std::all_of(l.inputs.begin(), l.inputs.end(),
                                    [&](int s) { return result_.storages[std::size_t(s)].is_input; });
    for (const int s : l.inputs) fetch(s);
    l.out = graph_.output_of(op).nhwc();
    l.output = new_storage(op.output, {op.output, l.out, before, !before, before ? op.output : kNoTensor});
  }

  // An output for an operator that was refused, whatever its shape.
  void stand_in(const Op& op) {
    if (result_.storage_of[std::size_t(op.output)] >= 0) return;
    new_storage(op.output, {op.output, graph_.output_of(op).nhwc(), false, false, kNoTensor});
  }

  // What importers and the reference executor know and the machine does not run yet.
  void require_supported(const Op& op) {
    switch (op.kind) {
      case OpKind::Conv2D:
      case OpKind::DepthwiseConv2D:
      case OpKind::FullyConnected:
      case OpKind::Add:
      case OpKind::Sub:
      case OpKind::Mul:
      case OpKind::AveragePool:
      case OpKind::MaxPool:
      case OpKind::Mean:
      case OpKind::Quantize:
      case OpKind::Reshape:
      case OpKind::Softmax:
        break;
      case OpKind::ToInt8:
      case OpKind::ToFloat:
      case OpKind::HostFloat:
        return;
      default:
        require(false, "conv, depthwise, fc, add, sub, mul, average_pool, max_pool, mean, quantize, reshape, softmax",
                std::string(name_of(op.kind)));
    }
    // ONNX: layers of one factor by rule float, and pairs of operands (float_pairs.h).
    const bool float_rule = op.weights != kNoTensor || op.kind == OpKind::Mean || op.kind == OpKind::MaxPool ||
                            op.kind == OpKind::Add || op.kind == OpKind::Sub || op.kind == OpKind::Mul;
    require(graph_.framework == Framework::TfLite || float_rule || op.kind == OpKind::Reshape,
            "the arithmetic of TensorFlow Lite", "a step of ONNX's in float32");
    for (int tensor : op.inputs) {
      const Tensor& t = graph_.tensors[std::size_t(tensor)];
      // uint8 is stored less 128. ONNX's arithmetic does not know the difference; TensorFlow Lite's does, but where
      // uint8 becomes int8.
      const bool known = t.model_type == ElementType::Int8 || op.kind == OpKind::Quantize ||
                         graph_.framework == Framework::Onnx;
      require(known && t.type == ElementType::Int8, "int8 activations",
              std::string(name_of(t.type == ElementType::Int8 ? t.model_type : t.type)));
    }
    if (op.weights != kNoTensor) {
      const int zero_point = graph_.weights_of(op).zero_point();
      require(zero_point == 0, "weights with zero point 0", "zero point " + std::to_string(zero_point));
    }
  }

  // A Quantize between uint8 and int8 of one scale: stored values, less 128, are the same.
  bool keeps_values(const Op& op) const {
    if (op.kind != OpKind::Quantize) return false;
    const Tensor& from = graph_.input_of(op);
    const Tensor& to = graph_.output_of(op);
    return from.quantization.scale == to.quantization.scale && from.zero_point() == to.zero_point();
  }

  void lower_op(const Op& op, LoweredOp& l) {
    require_supported(op);
    if (op.kind == OpKind::Reshape || keeps_values(op)) return lower_reshape(op, l);
    for (int tensor : op.inputs) {
      if (!graph_.tensors[std::size_t(tensor)].is_constant())
        l.inputs.push_back(result_.storage_of[std::size_t(tensor)]);
    }
    // Behind an operator on the host the few values stay there.
    const bool tail = op.kind == OpKind::Quantize && storage_of(op.inputs[0]).on_host;
    if (runs_on_host(op.kind) || tail) return lower_host(op, l);
    for (const int s : l.inputs) {
      require(!result_.storages[std::size_t(s)].on_host, "operators on the host at the end of the network only",
              "its input comes from the host");
    }
    make_output(op, l);
    l.in = graph_.input_of(op).nhwc();
    if (op.kind != OpKind::FullyConnected) {
      // A fully connected layer may read a map of any shape; the others need what the hardware produced.
      for (int tensor : op.inputs) {
        if (graph_.tensors[std::size_t(tensor)].is_constant()) continue;
        const Nhwc have = storage_of(tensor).shape;
        const Nhwc want = graph_.tensors[std::size_t(tensor)].nhwc();
        require(have == want, "reshaped maps feed fully connected layers only",
                "a map of " + size_text(have.h, have.w) + "x" + std::to_string(have.c) + " read as " +
                    size_text(want.h, want.w) + "x" + std::to_string(want.c));
      }
      require_shape({graph_, config_, style_}, l.in);
    }
    const LowerContext c{graph_, config_, style_};
    switch (op.kind) {
      case OpKind::Conv2D:
        return lower_conv(c, op, l);
      case OpKind::FullyConnected:
        return lower_fully_connected(c, op, flat_source(op.inputs[0]), l);
      case OpKind::DepthwiseConv2D:
        return lower_depthwise(c, op, l);
      case OpKind::AveragePool:
        return lower_average(c, op, l);
      case OpKind::MaxPool:
        return lower_maximum(c, op, l);
      case OpKind::Mean:
        return lower_mean(c, op, l);
      case OpKind::Add:
      case OpKind::Sub:
      case OpKind::Mul:
        return lower_elements(c, op, take_operands(op, l), l);
      case OpKind::Quantize:
        return lower_quantize(c, op, l);
      default:
        return;
    }
  }

  // An operand that is no activation as a map: one pixel where all pixels of the output meet the same values, else as
  // large as the output.
  int constant_storage(int tensor, const Nhwc& out) {
    const Tensor& t = graph_.tensors[std::size_t(tensor)];
    const Nhwc have = t.nhwc();
    const bool pixel = have.h == 1 && have.w == 1;
    Storage s;
    s.tensor = tensor;
    s.shape = {1, pixel ? 1 : out.h, pixel ? 1 : out.w, out.c};
    for (int y = 0; y < s.shape.h; y++) {
      for (int x = 0; x < s.shape.w; x++) {
        for (int channel = 0; channel < out.c; channel++) {
          const auto at = [](int i, int n) { return n == 1 ? std::size_t(0) : std::size_t(i); };
          const std::size_t column = at(y, have.h) * std::size_t(have.w) + at(x, have.w);
          s.constant.push_back(t.data[column * std::size_t(have.c) + at(channel, have.c)]);
        }
      }
    }
    result_.storages.push_back(std::move(s));
    return int(result_.storages.size()) - 1;
  }

  // The two maps of Add, Sub and Mul, the one that has the shape of the output first. True where that is the second.
  bool take_operands(const Op& op, LoweredOp& l) {
    l.inputs.clear();
    for (const int tensor : op.inputs) {
      const bool constant = graph_.tensors[std::size_t(tensor)].is_constant();
      l.inputs.push_back(constant ? constant_storage(tensor, l.out) : result_.storage_of[std::size_t(tensor)]);
    }
    const auto shape = [&](std::size_t i) { return result_.storages[std::size_t(l.inputs[i])].shape; };
    const bool swapped = shape(0) != l.out;
    if (swapped) std::swap(l.inputs[0], l.inputs[1]);
    l.broadcast = shape(1) != l.out;
    require(shape(0) == l.out && (!l.broadcast || shape(1) == Nhwc{1, 1, 1, l.out.c}),
            "two maps of one shape, or a map and one pixel of as many channels",
            shape_text(graph_.input_of(op, 0).shape) + " and " + shape_text(graph_.input_of(op, 1).shape));
    l.in = l.out;
    return swapped;
  }

  FlatSource flat_source(int tensor) {
    const Storage& s = storage_of(tensor);
    FlatSource source{s.shape, s.is_input, 0};
    for (const LoweredOp& o : result_.ops) {
      if (o.engine != Engine::kHost && o.output == result_.storage_of[std::size_t(tensor)])
        source.tile_channels = o.tile_channels();
    }
    return source;
  }

  void lower_reshape(const Op& op, LoweredOp& l) {
    const int from = result_.storage_of[std::size_t(op.inputs[0])];
    const Storage source = result_.storages[std::size_t(from)];
    l.inputs = {from};
    if (source.is_input) {
      new_storage(op.output, {op.output, graph_.output_of(op).nhwc(), true, false, source.origin});
    } else {
      result_.storage_of[std::size_t(op.output)] = from;
    }
    l.output = result_.storage_of[std::size_t(op.output)];
  }

  const Graph& graph_;
  const Config& config_;
  RoundingStyle style_;
  Lowering result_;
};

}  // namespace

int LoweredOp::weight_rows_of_tile() const {
  if (engine == Engine::kConv) return array.rows_of_tile();
  return depthwise != nullptr ? vector.rows_of_tile() : 0;
}

std::int64_t LoweredOp::cycles(int tiles, int rows) const {
  const std::int64_t pixels = std::int64_t(rows) * out.w;
  switch (engine) {
    case Engine::kConv:
      return tiles * std::int64_t(array.pieces()) * array.passes * std::max<std::int64_t>(pixels, array.kp);
    case Engine::kWindow: {
      // Small windows are streamed, one column of the map a cycle; a tile is never shorter than loading its
      // parameters.
      const bool streamed = kernel_rows <= 3 && kernel_columns <= 3 && stride <= 2;
      const std::int64_t tile = streamed ? std::int64_t(rows) * std::max(out.w, stride == 2 ? in.w : 0)
                                         : pixels * vector.pieces * vector.kernel_columns;
      return tiles *
             (depthwise != nullptr ? std::max<std::int64_t>(tile, 3 * vector.cp + kVectorTileLoad) : tile);
    }
    case Engine::kAdd:
      return tiles * pixels * 2;
    case Engine::kHost:
      return 0;
  }
  return 0;
}

Lowering lower(const Graph& graph, const Config& config, RoundingStyle style) {
  return Lowerer(graph, config, style).run();
}

}  // namespace kaiten
