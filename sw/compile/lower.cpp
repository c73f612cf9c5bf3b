#include "compile/lower.h"

#include <algorithm>
#include <optional>

#include "graph/error.h"

namespace kaiten {

namespace {

// Limits of command fields and of the engines.
constexpr int kMaxMapSide = 1023;
constexpr int kMaxArrayKernel = 24;  // eight pieces
constexpr int kMaxArrayStride = 2;
constexpr int kMaxArrayPadLeft = 15;
constexpr int kMaxWindowKernel = 255;
constexpr int kMaxWindowStride = 15;
constexpr int kMaxWindowPadLeft = 15;
constexpr int kMaxTiles = 1023;
constexpr int kMaxPasses = 1023;
constexpr int kMaxGroups = 1023;
constexpr int kMaxFlatBytes = 16383;

// Cycles of a depthwise tile of the vector engine beyond one for each of its lanes.
constexpr int kVectorTileLoad = 7;

// A limit that an operator breaks; becomes one line with the layer's name in front.
struct Refused {
  std::string limit;
  std::string value;
};

void require(bool holds, const std::string& limit, const std::string& value) {
  if (!holds) throw Refused{limit, value};
}

std::string size_text(int a, int b) { return std::to_string(a) + "x" + std::to_string(b); }
std::string at_most(const std::string& what, int limit) { return what + " at most " + std::to_string(limit); }

class Lowerer {
 public:
  Lowerer(const Graph& graph, const Config& config, RoundingStyle style)
      : graph_(graph), config_(config), style_(style) {
    result_.storage_of.assign(graph.tensors.size(), -1);
  }

  Lowering run() {
    for (std::size_t i = 0; i < graph_.inputs.size(); i++) {
      const int tensor = graph_.inputs[i];
      new_storage(tensor, {tensor, graph_.tensors[std::size_t(tensor)].nhwc(), true, false, int(i)});
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

  void make_output(const Op& op, LoweredOp& l, bool on_host) {
    const Nhwc shape = graph_.output_of(op).nhwc();
    require_shape(shape);
    l.output = new_storage(op.output, {op.output, shape, false, on_host, -1});
    l.out = shape;
  }

  // An output for an operator that was refused, whatever its shape.
  void stand_in(const Op& op) {
    if (result_.storage_of[std::size_t(op.output)] >= 0) return;
    new_storage(op.output, {op.output, graph_.output_of(op).nhwc(), false, false, -1});
  }

  void require_shape(const Nhwc& s) {
    require(s.n == 1, "batch of 1", std::to_string(s.n));
    require(s.h <= kMaxMapSide && s.w <= kMaxMapSide, at_most("maps of rows and columns", kMaxMapSide),
            size_text(s.h, s.w));
    require(ceil_div(s.c, config_.cp) <= kMaxGroups, at_most("channels", kMaxGroups * config_.cp),
            std::to_string(s.c));
  }

  // What importers and the reference executor know and the machine does not run yet.
  void require_supported(const Op& op) {
    switch (op.kind) {
      case OpKind::Conv2D:
      case OpKind::DepthwiseConv2D:
      case OpKind::FullyConnected:
      case OpKind::Add:
      case OpKind::AveragePool:
      case OpKind::MaxPool:
      case OpKind::Mean:
      case OpKind::Quantize:
      case OpKind::Reshape:
      case OpKind::Softmax:
        break;
      default:
        require(false, "conv, depthwise, fc, add, average_pool, max_pool, mean, quantize, reshape, softmax",
                std::string(name_of(op.kind)));
    }
    require(graph_.framework == Framework::TfLite, "the arithmetic of TensorFlow Lite",
            "rounding rule float, of an ONNX model");
    for (int tensor : op.inputs) {
      const Tensor& t = graph_.tensors[std::size_t(tensor)];
      require(!t.is_constant(), "operands that are activations", "constant operand '" + t.name + "'");
      // uint8 is stored less 128; only what turns it into int8 may see it yet
      const bool known = t.model_type == ElementType::Int8 || op.kind == OpKind::Quantize;
      require(known && t.type == ElementType::Int8, "int8 activations",
              std::string(name_of(t.type == ElementType::Int8 ? t.model_type : t.type)));
    }
    if (op.kind == OpKind::Add) {
      require(graph_.input_of(op, 0).shape == graph_.input_of(op, 1).shape, "additions of equal shapes",
              shape_text(graph_.input_of(op, 0).shape) + " + " + shape_text(graph_.input_of(op, 1).shape));
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
    for (int tensor : op.inputs) l.inputs.push_back(result_.storage_of[std::size_t(tensor)]);
    // Behind an operator on the host the few values stay there.
    const bool tail = op.kind == OpKind::Quantize && storage_of(op.inputs[0]).on_host;
    if (op.kind == OpKind::Softmax || tail) {
      fetch(l.inputs[0]);
      make_output(op, l, true);
      return;
    }
    for (int tensor : op.inputs) {
      require(!storage_of(tensor).on_host, "operators on the host at the end of the network only",
              "its input comes from the host");
    }
    make_output(op, l, false);
    l.in = graph_.input_of(op).nhwc();
    if (op.kind != OpKind::FullyConnected) {
      // A fully connected layer may read a map of any shape; the others need what the hardware produced.
      for (int tensor : op.inputs) {
        const Nhwc have = storage_of(tensor).shape;
        const Nhwc want = graph_.tensors[std::size_t(tensor)].nhwc();
        require(have == want, "reshaped maps feed fully connected layers only",
                "a map of " + size_text(have.h, have.w) + "x" + std::to_string(have.c) + " read as " +
                    size_text(want.h, want.w) + "x" + std::to_string(want.c));
      }
      require_shape(l.in);
    }
    switch (op.kind) {
      case OpKind::Conv2D:
        return lower_conv(op, l);
      case OpKind::FullyConnected:
        return lower_fully_connected(op, l);
      case OpKind::DepthwiseConv2D:
        return lower_depthwise(op, l);
      case OpKind::AveragePool:
        return lower_average(op, l);
      case OpKind::MaxPool:
        return lower_maximum(op, l);
      case OpKind::Mean:
        return lower_mean(op, l);
      case OpKind::Add:
        return lower_add(op, l);
      case OpKind::Quantize:
        return lower_quantize(op, l);
      default:
        return;
    }
  }

  void lower_reshape(const Op& op, LoweredOp& l) {
    const int from = result_.storage_of[std::size_t(op.inputs[0])];
    const Storage source = result_.storages[std::size_t(from)];
    l.inputs = {from};
    if (source.is_input) {
      new_storage(op.output, {op.output, graph_.output_of(op).nhwc(), true, false, source.input_index});
    } else {
      result_.storage_of[std::size_t(op.output)] = from;
    }
    l.output = result_.storage_of[std::size_t(op.output)];
  }

  // Strides and padding of a window; strides do not matter where there is one output.
  void take_window(const Window& w, LoweredOp& l, int max_stride) {
    require(w.dilation_h == 1 && w.dilation_w == 1, "dilation 1", size_text(w.dilation_h, w.dilation_w));
    const int down = l.out.h == 1 ? 0 : w.stride_h;
    const int right = l.out.w == 1 ? 0 : w.stride_w;
    require(down == 0 || right == 0 || down == right, "equal strides of rows and columns",
            size_text(down, right));
    l.stride = std::max({down, right, 1});
    require(l.stride <= max_stride, at_most("stride", max_stride), std::to_string(l.stride));
    l.kernel_rows = w.kernel_h;
    l.kernel_columns = w.kernel_w;
    l.pad_top = w.pad.top;
    l.pad_left = w.pad.left;
  }

  void take_conv_params(const Op& op, LoweredOp& l) {
    const ConvParams p = conv_params(graph_, op, style_);
    const std::vector<std::int32_t> bias = folded_bias(graph_, op, p);
    for (std::size_t c = 0; c < bias.size(); c++) l.params.push_back({bias[c], p.multiplier[c], p.shift[c]});
    l.pad_value = p.zp_in;
    l.zero = p.zp_out;
    l.low = p.lo;
    l.high = p.hi;
    l.rule = p.rounding;
  }

  void finish_array(const Op& op, LoweredOp& l, bool one_by_one) {
    l.engine = Engine::kConv;
    l.kernels.data = graph_.weights_of(op).data.data();
    l.kernels.out_channels = l.out.c;
    l.kernels.rows = l.kernel_rows;
    l.kernels.columns = l.kernel_columns;
    l.kernels.in_channels = l.in.c;
    l.kernels.groups = op.kind == OpKind::Conv2D ? op.groups : 1;
    l.array =
        ArrayTiles(one_by_one, l.kernel_rows, l.kernel_columns, l.in.c, l.out.c, config_.kp, config_.cp);
    require(l.array.passes <= kMaxPasses,
            at_most("input channels", kMaxPasses * config_.cp * (one_by_one ? 9 : 1)),
            std::to_string(l.in.c));
    require(l.array.tiles <= kMaxTiles, at_most("output channels", kMaxTiles * config_.kp),
            std::to_string(l.out.c));
    require(l.array.rows_of_tile() <= config_.wb_rows,
            "weights of " + std::to_string(config_.kp) + " output channels in " +
                std::to_string(config_.wb_rows) + " rows of the weight buffer",
            std::to_string(l.array.rows_of_tile()) + " rows");
    require(l.out.w <= config_.ob_pixels, at_most("output columns", config_.ob_pixels),
            std::to_string(l.out.w));
    take_conv_params(op, l);
  }

  void lower_conv(const Op& op, LoweredOp& l) {
    const Window& w = op.window;
    require(w.kernel_h <= kMaxArrayKernel && w.kernel_w <= kMaxArrayKernel,
            "kernels up to " + size_text(kMaxArrayKernel, kMaxArrayKernel),
            size_text(w.kernel_h, w.kernel_w));
    take_window(w, l, kMaxArrayStride);
    const bool inside = l.pad_top == 0 && l.pad_left == 0 && (l.out.h - 1) * l.stride < l.in.h &&
                        (l.out.w - 1) * l.stride < l.in.w;
    const bool one_by_one = w.kernel_h == 1 && w.kernel_w == 1 && inside;
    require(l.pad_left <= kMaxArrayPadLeft, at_most("left padding", kMaxArrayPadLeft),
            std::to_string(l.pad_left));
    finish_array(op, l, one_by_one);
  }

  void lower_fully_connected(const Op& op, LoweredOp& l) {
    const Storage& source = storage_of(op.inputs[0]);
    const Nhwc have = source.shape;
    const int channels = graph_.weights_of(op).nhwc().c;
    if (channels == have.c && l.out.h == have.h && l.out.w == have.w) {
      l.in = have;  // one layer for every pixel
      require_shape(l.in);
      return finish_array(op, l, true);
    }
    require(std::size_t(channels) == have.elements() && l.out.h == 1 && l.out.w == 1,
            "fully connected layers over the last dimension or a whole map",
            std::to_string(channels) + " inputs of a map of " + size_text(have.h, have.w) + "x" +
                std::to_string(have.c));
    if (!source.is_input && have.h <= kMaxArrayKernel && have.w <= kMaxArrayKernel) {
      l.in = have;  // a convolution whose kernel is the map
      l.kernel_rows = have.h;
      l.kernel_columns = have.w;
      return finish_array(op, l, false);
    }
    require(channels <= kMaxFlatBytes, at_most("flattened inputs", kMaxFlatBytes), std::to_string(channels));
    // Flattening goes through memory: the map must lie there without gaps, in the order of the weights.
    if (!source.is_input) {
      const auto producer = std::find_if(result_.ops.begin(), result_.ops.end(), [&](const LoweredOp& o) {
        return o.engine != Engine::kHost && o.output == result_.storage_of[std::size_t(op.inputs[0])];
      });
      // Nobody makes the map when its layer was refused: that is the reason to tell.
      if (producer != result_.ops.end()) {
        const int one_segment = producer->tile_channels();
        require(have.c % config_.cp == 0 && have.c <= one_segment,
                "flattened maps up to " + size_text(kMaxArrayKernel, kMaxArrayKernel) +
                    ", or of a multiple of " + std::to_string(config_.cp) + " channels up to " +
                    std::to_string(one_segment),
                size_text(have.h, have.w) + "x" + std::to_string(have.c));
      }
    }
    l.flatten = true;
    l.in = {1, 1, 1, channels};
    finish_array(op, l, true);
  }

  void finish_vector(LoweredOp& l, WindowKind kind) {
    require((l.out.w - 1) * l.stride - l.pad_left < l.in.w && (l.out.h - 1) * l.stride - l.pad_top < l.in.h &&
                l.pad_left < l.kernel_columns && l.pad_top < l.kernel_rows,
            "windows that touch the map", "padding of a whole window");
    l.engine = Engine::kWindow;
    l.window = kind;
    l.vector = VectorTiles(l.out.c, l.kernel_rows, l.kernel_columns, config_.cp);
    require(l.kernel_rows <= kMaxWindowKernel && l.kernel_columns <= kMaxWindowKernel,
            at_most("windows of rows and columns", kMaxWindowKernel),
            size_text(l.kernel_rows, l.kernel_columns));
    require(l.pad_left <= kMaxWindowPadLeft, at_most("left padding", kMaxWindowPadLeft),
            std::to_string(l.pad_left));
  }

  void lower_depthwise(const Op& op, LoweredOp& l) {
    if (op.depth_multiplier != 1) {
      // Lanes cannot move channels: on the array, as a convolution with one nonzero input channel each.
      lower_conv(op, l);
      l.kernels.multiplier = op.depth_multiplier;
      return;
    }
    take_window(op.window, l, kMaxWindowStride);
    finish_vector(l, WindowKind::kDepthwise);
    l.depthwise = graph_.weights_of(op).data.data();
    require(l.vector.rows_of_tile() <= config_.vwb_rows,
            at_most("rows of vector weights for three channel groups", config_.vwb_rows),
            std::to_string(l.vector.rows_of_tile()));
    take_conv_params(op, l);
  }

  void lower_average(const Op& op, LoweredOp& l) {
    take_window(op.window, l, kMaxWindowStride);
    finish_vector(l, WindowKind::kAverage);
    const int cells = l.kernel_rows * l.kernel_columns;
    require(cells <= config_.zsb_vector, at_most("cells of a window", config_.zsb_vector),
            std::to_string(cells));
    // One word for every number of rows and columns of the window outside the map.
    for (int rows = 0; rows < l.kernel_rows; rows++) {
      for (int columns = 0; columns < l.kernel_columns; columns++) {
        l.params.push_back(average_word((l.kernel_rows - rows) * (l.kernel_columns - columns)));
      }
    }
    const Padding& pad = op.window.pad;
    if (pad == Padding{}) l.params.resize(1);
    const PoolParams p = pool_params(graph_, op);
    l.low = p.lo;
    l.high = p.hi;
    l.rule = p.rounding;
  }

  void lower_maximum(const Op& op, LoweredOp& l) {
    take_window(op.window, l, kMaxWindowStride);
    finish_vector(l, WindowKind::kMaximum);
    l.pad_value = -128;
    l.params = {kIdentityWord};
    const PoolParams p = pool_params(graph_, op);
    l.low = p.lo;
    l.high = p.hi;
  }

  // The maximum of one cell, requantised.
  void lower_quantize(const Op& op, LoweredOp& l) {
    l.kernel_rows = l.kernel_columns = 1;
    finish_vector(l, WindowKind::kMaximum);
    const QuantizeParams p = quantize_params(graph_, op);
    l.params = {{-p.zp_in, p.multiplier.m, p.multiplier.shift}};
    l.zero = p.zp_out;
    l.low = p.lo;
    l.high = p.hi;
    l.rule = p.rounding;
  }

  void lower_mean(const Op& op, LoweredOp& l) {
    l.kernel_rows = l.in.h;
    l.kernel_columns = l.in.w;
    finish_vector(l, WindowKind::kAverage);
    const MeanParams p = mean_params(graph_, op);
    l.params = {{-p.count * p.zp_in, p.multiplier.m, p.multiplier.shift}};
    l.zero = p.zp_out;
    l.low = p.lo;
    l.high = p.hi;
    l.rule = p.rounding;
  }

  void lower_add(const Op& op, LoweredOp& l) {
    l.engine = Engine::kAdd;
    l.vector = VectorTiles(l.out.c, 1, 1, config_.cp);
    const AddParams p = add_params(graph_, op);
    for (int i = 0; i < 2; i++) l.params.push_back({-p.zp_in[i], p.in[i].m, p.in[i].shift});
    l.params.push_back({0, p.out.m, p.out.shift});
    l.zero = p.zp_out;
    l.low = p.lo;
    l.high = p.hi;
    l.rule = p.rounding;
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

std::vector<LoweredOp> long_operands_last(const Lowering& lowering) {
  const std::vector<LoweredOp>& ops = lowering.ops;
  std::vector<int> producer(lowering.storages.size(), -1);
  std::vector<bool> consumed(ops.size());
  for (std::size_t i = 0; i < ops.size(); i++) {
    for (int s : ops[i].inputs) {
      if (producer[std::size_t(s)] >= 0) consumed[std::size_t(producer[std::size_t(s)])] = true;
    }
    // A reshape writes the storage it reads: the first operator with that output made it.
    int& p = producer[std::size_t(ops[i].output)];
    if (p < 0) p = int(i);
  }
  std::vector<LoweredOp> order;
  std::vector<char> state(ops.size());  // 0 new, 1 its inputs are being placed, 2 placed
  std::vector<int> stack;
  const auto place = [&](int root) {
    stack.push_back(root);
    while (!stack.empty()) {
      const int i = stack.back();
      const LoweredOp& op = ops[std::size_t(i)];
      if (state[std::size_t(i)] == 0) {
        state[std::size_t(i)] = 1;
        std::vector<int> makers;
        for (int s : op.inputs) {
          const int p = producer[std::size_t(s)];
          if (p >= 0 && p != i && state[std::size_t(p)] == 0) makers.push_back(p);
        }
        std::stable_sort(makers.begin(), makers.end(), [&](int a, int b) {
          const auto cost = [&](int m) {
            return ops[std::size_t(m)].cycles(ops[std::size_t(m)].tiles(), ops[std::size_t(m)].out.h);
          };
          return cost(a) > cost(b);  // the last one pushed is placed first
        });
        stack.insert(stack.end(), makers.begin(), makers.end());
        continue;
      }
      stack.pop_back();
      if (state[std::size_t(i)] == 2) continue;
      state[std::size_t(i)] = 2;
      order.push_back(op);
    }
  };
  for (std::size_t i = 0; i < ops.size(); i++) {
    if (!consumed[i]) place(int(i));
  }
  for (std::size_t i = 0; i < ops.size(); i++) {
    if (state[i] == 0) place(int(i));  // reshapes in the middle
  }
  return order;
}

Lowering lower(const Graph& graph, const Config& config, RoundingStyle style) {
  return Lowerer(graph, config, style).run();
}

}  // namespace kaiten
