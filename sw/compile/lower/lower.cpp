// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "compile/lower/lower.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "base/error.h"
#include "compile/lower/limits.h"
#include "compile/lower/lower_engines.h"
#include "compile/lower/maps.h"
#include "compile/lower/operators.h"

namespace kaiten {

namespace {

class Lowerer {
 public:
  Lowerer(const Graph& graph, const Config& config, RoundingStyle style)
      : graph_(graph), config_(config), style_(style), maps_(config, result_) {
    result_.cp = config.cp;
    result_.view_of.assign(graph.tensors.size(), -1);
  }

  Lowering run() {
    for (const int tensor : graph_.inputs) set_view(tensor, maps_.add_input(tensor, nhwc(tensor), tensor));
    for (std::size_t i = 0; i < graph_.ops.size(); i++) {
      const Op& op = graph_.ops[i];
      current_ = int(i);
      const std::size_t before = result_.ops.size();
      const auto refuse = [&](const std::string& reason) {
        result_.refusals.push_back(reason);
        // Go on as if it had run, to find the other reasons.
        result_.ops.resize(before);
        if (view_of(op.output) < 0) set_view(op.output, maps_.add_refused(op.output, nhwc(op.output)));
      };
      try {
        lower_op(op);
      } catch (const Refused& r) {
        refuse("layer '" + op.name + "' (" + std::string(name_of(op.kind)) + "): limit: " + r.limit +
               ", found: " + r.value);
      } catch (const InputError& e) {
        refuse(e.what());
      }
    }
    for (int tensor : graph_.outputs) fetch(tensor);
    for (std::size_t v = 0; v < result_.views.size(); v++)
      result_.parts_of_view.push_back(result_.find_parts(int(v)));
    return std::move(result_);
  }

 private:
  LowerContext context() const { return {graph_, config_, style_}; }
  const Tensor& tensor(int t) const { return graph_.tensors[std::size_t(t)]; }
  Nhwc nhwc(int t) const { return tensor(t).nhwc(); }
  int view_of(int t) const { return result_.view_of[std::size_t(t)]; }
  void set_view(int t, int view) { result_.view_of[std::size_t(t)] = view; }
  const Storage& storage_of(int t) { return maps_.storage(view_of(t)); }

  // What the host must read from the device's memory.
  void fetch(int t) {
    const Storage& s = storage_of(t);
    if (s.is_input || s.on_host || s.refused) return;
    for (const Lowering::Fetched& f : result_.fetched) {
      if (f.tensor == t) return;
    }
    result_.fetched.push_back({t, view_of(t)});
  }

  // An operator of the device that reads these views and makes channels of a tensor, from first_channel on.
  LoweredOp begin(std::vector<int> inputs, int t, int first_channel = 0) {
    LoweredOp l;
    l.op = current_;
    l.inputs = std::move(inputs);
    l.tensor = t;
    l.first_channel = first_channel;
    const ChannelMap& channels = maps_.view(l.inputs[0]).channels;
    l.in = maps_.shape(l.inputs[0]);
    l.lanes = channels.lanes(config_.cp);
    l.channel_of = channels.channel_of(config_.cp);
    l.out = nhwc(t);
    return l;
  }

  // Its results have a map of their own: the vector engine leaves channels on their lanes, the array puts
  // them together.
  int end(LoweredOp l) {
    ChannelMap channels(l.out.c);
    if (l.engine != Engine::kConv) {
      channels = maps_.view(l.inputs[0]).channels;
      channels.move(-channels.begin());
    }
    require_shape(context(), {l.out.n, l.out.h, l.out.w, channels.lanes(config_.cp)});
    l.output = maps_.add(l.tensor, l.out, channels);
    result_.ops.push_back(std::move(l));
    return result_.ops.back().output;
  }

  // Nothing to do on the device: a view of what exists, or work of the host.
  void add_without_commands(const Op& op, Engine engine) {
    LoweredOp l;
    l.op = current_;
    l.engine = engine;
    for (int t : op.inputs) {
      if (!tensor(t).is_constant()) l.inputs.push_back(view_of(t));
    }
    l.tensor = op.output;
    l.output = view_of(op.output);
    l.out = nhwc(op.output);
    result_.ops.push_back(std::move(l));
  }

  // Runs before the device where its operands are known by then, else after it.
  void lower_host(const Op& op) {
    bool before = true;
    for (int t : op.inputs) {
      if (tensor(t).is_constant()) continue;
      before = before && storage_of(t).is_input;
      fetch(t);
    }
    set_view(op.output, before ? maps_.add_input(op.output, nhwc(op.output), op.output)
                               : maps_.add_host(op.output, nhwc(op.output)));
    add_without_commands(op, Engine::kHost);
  }

  // What importers and the reference executor know and the machine does not run yet.
  void require_supported(const Op& op) {
    require(runs_on_machine(op.kind), operators_text(), std::string(name_of(op.kind)));
    if (runs_on_host(op.kind)) return;
    for (int tensor : op.inputs) {
      const Tensor& t = graph_.tensors[std::size_t(tensor)];
      require(t.type == ElementType::Int8, "int8 activations", std::string(name_of(t.type)));
    }
  }

  // Dimension of a Concat: 0 batches, 1 rows, 2 columns, 3 channels.
  int concat_axis(const Op& op) const { return 4 - int(tensor(op.output).shape.size()) + op.axis; }

  // What of an operator the host does, for want of an engine.
  std::string work_of_host(const Op& op) const {
    if (op.kind == OpKind::Resize) return "resizing";
    const bool rows = op.kind == OpKind::Concat && (concat_axis(op) == 1 || concat_axis(op) == 2);
    return rows ? "concatenation of rows or columns" : "";
  }

  // Whatever follows the operator runs on the host too.
  void require_at_end(const std::string& work, const Op& op) const {
    for (const Op& reader : graph_.ops) {
      if (std::find(reader.inputs.begin(), reader.inputs.end(), op.output) == reader.inputs.end()) continue;
      const bool follows = reader.kind == OpKind::Quantize || reader.kind == OpKind::Table ||
                           !work_of_host(reader).empty() || runs_on_host(reader.kind);
      require(follows, work + " at the end of the network", "its result feeds layer '" + reader.name + "'");
      require_at_end(work, reader);
    }
  }

  // A Quantize between uint8 and int8 of one scale: stored values, less 128, are the same.
  bool keeps_values(const Op& op) const {
    if (op.kind != OpKind::Quantize) return false;
    const Tensor& from = graph_.input_of(op);
    const Tensor& to = graph_.output_of(op);
    return from.quantization.scale == to.quantization.scale && from.zero_point() == to.zero_point();
  }

  void lower_op(const Op& op) {
    require_supported(op);
    if (op.kind == OpKind::Reshape || keeps_values(op)) return lower_reshape(op);
    // Behind an operator on the host the few values stay there.
    const bool tail =
        (op.kind == OpKind::Quantize || op.kind == OpKind::Table) && storage_of(op.inputs[0]).on_host;
    const std::string work = work_of_host(op);
    if (!work.empty()) require_at_end(work, op);
    if (runs_on_host(op.kind) || tail || !work.empty()) return lower_host(op);
    if (op.kind == OpKind::Add && (op.inputs.size() > 2 || begins_longer_sum(op))) return lower_sum(op);
    if (op.inputs.size() == 2 && op.kind != OpKind::Concat) return lower_two(op);
    std::vector<int> inputs;
    for (int t : op.inputs) {
      require_on_device(t);
      inputs.push_back(op.kind == OpKind::FullyConnected ? flat_map(op) : map_of(t));
    }
    if (op.kind == OpKind::Concat) return lower_concat(op, inputs);
    if (op.kind == OpKind::Slice) return lower_slice(op, inputs[0]);
    if (op.kind == OpKind::Shuffle) return lower_shuffle(op, inputs[0]);
    if (op.kind == OpKind::Pad) return lower_pad_op(op, inputs[0]);
    if (const int ranges = channel_ranges(op, inputs[0]); ranges > 1) {
      return lower_by_ranges(op, inputs[0], ranges);
    }
    const Op* shuffle = op.kind == OpKind::Conv2D ? shuffle_behind(op) : nullptr;
    LoweredOp l = begin(inputs, shuffle != nullptr ? shuffle->output : op.output);
    if (op.kind != OpKind::FullyConnected) require_shape(context(), l.in);
    if (const auto border = border_.find(op.inputs[0]); border != border_.end()) {
      Op bordered = op;
      Padding& pad = bordered.window.pad;
      pad.top += border->second.top;
      pad.bottom += border->second.bottom;
      pad.left += border->second.left;
      pad.right += border->second.right;
      lower_on_engine(bordered, l);
    } else {
      lower_on_engine(op, l);
    }
    if (shuffle != nullptr) shuffle_outputs(shuffle->dims, l);
    const int output = l.tensor;
    set_view(output, end(std::move(l)));
    if (output != op.output) set_view(op.output, view_of(output));
  }

  static bool is_window(const Op& op) {
    return op.kind == OpKind::AveragePool || op.kind == OpKind::MaxPool || op.kind == OpKind::Mean ||
           (op.kind == OpKind::DepthwiseConv2D && op.depth_multiplier == 1);
  }

  // The convolution or the operator of elements that makes a view, nobody's position if another one does.
  std::size_t maker_of(int v) const {
    std::size_t at = 0;
    while (at < result_.ops.size() && (!on_device(result_.ops[at].engine) || result_.ops[at].output != v))
      at++;
    if (at == result_.ops.size()) return at;
    const LoweredOp& l = result_.ops[at];
    const bool by_ranges = l.kernels.data != nullptr || (l.engine == Engine::kAdd && l.channel_of.empty());
    return by_ranges ? at : result_.ops.size();
  }

  // A window of more rows than VB has room for: where one operator makes them, for the window alone, both
  // work one range of channels after the other; so many ranges that VB has room for two.
  int channel_ranges(const Op& op, int v) const {
    if (!is_window(op) || only_reader(op.inputs[0]) != &op || border_.contains(op.inputs[0])) return 1;
    const std::size_t maker = maker_of(v);
    if (maker == result_.ops.size()) return 1;
    const LoweredOp& made = result_.ops[maker];
    const int rows = op.kind == OpKind::Mean ? made.out.h : std::min(op.window.extent_h(), made.out.h);
    const auto addresses = [&](int channels) {
      return rows * RowLayout(ceil_div(channels, config_.cp), made.out.w).slot_size;
    };
    // Results and rows ahead need some room too.
    if (addresses(made.out.c) <= config_.vb_depth / 4 * 3) return 1;
    int ranges = 2;
    while (ranges < made.tiles() && addresses(channels_of_range(made, ranges)) > config_.vb_depth / 2)
      ranges++;
    return ranges;
  }

  // Whole tiles.
  static int channels_of_range(const LoweredOp& made, int ranges) {
    return ceil_div(made.tiles(), ranges) * made.tile_channels();
  }

  // The results of the ranges are parts of one map.
  void lower_by_ranges(const Op& op, int v, int ranges) {
    const std::size_t at = maker_of(v);
    const LoweredOp whole = result_.ops[at];
    result_.ops.erase(result_.ops.begin() + std::ptrdiff_t(at));
    const int step = channels_of_range(whole, ranges);
    int map = -1;
    ChannelMap channels;
    for (int first = 0; first < whole.out.c; first += step) {
      LoweredOp range = range_of(whole, first, std::min(step, whole.out.c - first));
      range.output = maps_.add(range.tensor, range.out, ChannelMap(range.out.c));
      result_.ops.push_back(range);
      LoweredOp l = begin({range.output}, op.output, first);
      l.out.c = range.out.c;
      l.channel_of.resize(std::size_t(range.out.c));
      std::iota(l.channel_of.begin(), l.channel_of.end(), first);
      require_shape(context(), l.in);
      lower_on_engine(op, l);
      const int part = end(std::move(l));
      if (map < 0) {
        map = part;
      } else {
        maps_.join(map, part);
      }
      channels.append(maps_.view(part).channels, 0, config_.cp);
    }
    set_view(op.output, maps_.add_view({maps_.view(map).storage, channels}));
  }

  LoweredOp range_of(const LoweredOp& whole, int first, int channels) {
    LoweredOp l = whole;
    l.first_channel = first;
    l.out.c = channels;
    if (whole.engine == Engine::kAdd) {
      for (int& v : l.inputs) v = maps_.slice(v, first, first + channels);
      l.in.c = l.lanes = channels;
      l.vector = VectorTiles(channels, 1, 1, config_.cp);
      return l;
    }
    l.array = ArrayTiles(whole.array.mode, l.kernel_rows, l.kernel_columns, l.lanes, channels, config_.kp,
                         config_.cp);
    l.params = {whole.params.begin() + first, whole.params.begin() + first + channels};
    l.kernels.kernel_of.resize(std::size_t(channels));
    for (int o = 0; o < channels; o++) {
      const std::vector<int>& of = whole.kernels.kernel_of;
      l.kernels.kernel_of[std::size_t(o)] = of.empty() ? first + o : of[std::size_t(first + o)];
    }
    return l;
  }

  // The shuffle of channels that alone reads a convolution's result: the convolution makes its order.
  const Op* shuffle_behind(const Op& op) const {
    const Op* reader = only_reader(op.output);
    return reader != nullptr && reader->kind == OpKind::Shuffle ? reader : nullptr;
  }

  static void shuffle_outputs(const std::vector<int>& from, LoweredOp& l) {
    const std::vector<RequantParams> params = l.params;
    for (std::size_t o = 0; o < from.size(); o++) l.params[o] = params[std::size_t(from[o])];
    l.kernels.kernel_of = from;
  }

  void lower_shuffle(const Op& op, int v) {
    if (view_of(op.output) >= 0) return add_without_commands(op, Engine::kNone);  // made in this order
    set_view(op.output, move(v, op.output, op.dims));
  }

  void require_on_device(int t) {
    require(!storage_of(t).on_host, "operators on the host at the end of the network only",
            "its input comes from the host");
  }

  void lower_on_engine(const Op& op, LoweredOp& l) {
    const LowerContext c = context();
    switch (op.kind) {
      case OpKind::Conv2D:
        lower_conv(c, op, is_image(l), l);
        if (l.windows) l.inputs[0] = windows_of(l);
        return;
      case OpKind::FullyConnected:
        return lower_fully_connected(c, op, l);
      case OpKind::DepthwiseConv2D:
        return lower_depthwise(c, op, l);
      case OpKind::AveragePool:
        return lower_average(c, op, l);
      case OpKind::MaxPool:
        return lower_maximum(c, op, l);
      case OpKind::Mean:
        return lower_mean(c, op, l);
      case OpKind::Quantize:
        if (graph_.framework == Framework::Onnx) return lower_table(c, op, l);
        return lower_quantize(c, op, l);
      case OpKind::Table:
        return lower_table(c, op, l);
      default:
        return;
    }
  }

  // Whether an operator reads a whole map that the host writes.
  bool is_image(const LoweredOp& l) {
    const Storage& s = maps_.storage(l.inputs[0]);
    return s.is_input && s.shape == l.in && l.channel_of.empty();
  }

  // The same bytes as the windows of one operator.
  int windows_of(const LoweredOp& l) {
    const Storage& s = maps_.storage(l.inputs[0]);
    const int v = maps_.add_input(s.parts[0].tensor, l.in, s.origin);
    maps_.storage(v).windows = l.windows;
    return v;
  }

  // A reshaped tensor is what it was made from; who needs its own shape asks for it.
  void lower_reshape(const Op& op) {
    const int from = view_of(op.inputs[0]);
    const Storage& source = maps_.storage(from);
    const bool input = source.is_input && source.shape == maps_.shape(from);
    set_view(op.output, input ? maps_.reshaped(from, nhwc(op.output), 0) : from);
    add_without_commands(op, input || source.is_input || source.on_host ? Engine::kHost : Engine::kNone);
  }

  // Channels of the tile of the operator that makes a view.
  int tile_channels(int view) const {
    const View& v = result_.views[std::size_t(view)];
    for (const LoweredOp& o : result_.ops) {
      if (!on_device(o.engine)) continue;
      const View& made = result_.views[std::size_t(o.output)];
      if (made.storage == v.storage && made.channels.begin() == v.channels.begin()) return o.tile_channels();
    }
    return 0;
  }

  // The tensor's map in its own shape.
  int map_of(int t) {
    const int v = view_of(t);
    const Nhwc have = maps_.shape(v);
    const Nhwc want = nhwc(t);
    if (have == want || border_.contains(t)) return v;
    const auto known = reshaped_.try_emplace(t, -1).first;
    if (known->second < 0) known->second = maps_.reshaped(v, want, tile_channels(v));
    return known->second;
  }

  // What a fully connected layer reads: pixels one by one, or a whole map, under one kernel or as one long
  // pixel.
  int flat_map(const Op& op) {
    const int v = view_of(op.inputs[0]);
    const Nhwc have = maps_.shape(v);
    const Nhwc out = nhwc(op.output);
    const int channels = graph_.weights_of(op).nhwc().c;
    if (channels == have.c && out.h == have.h && out.w == have.w) {
      require_shape(context(), have);
      return v;
    }
    require(std::size_t(channels) == have.elements() && out.h == 1 && out.w == 1,
            "fully connected layers over the last dimension or a whole map",
            std::to_string(channels) + " inputs of a map of " + size_text(have.h, have.w) + "x" +
                std::to_string(have.c));
    const bool kernel = have.h <= kMaxMapKernel && have.w <= kMaxMapKernel;
    const Storage& s = maps_.storage(v);
    const bool dense = s.is_input && s.shape == have;
    if (kernel && !dense) return v;
    require(channels <= kMaxFlatBytes, at_most("flattened inputs", kMaxFlatBytes), std::to_string(channels));
    return maps_.reshaped(v, {1, 1, 1, channels}, tile_channels(v));
  }

  // Whether a sum of more maps begins with these.
  bool begins_longer_sum(const Op& op) const {
    return std::any_of(graph_.ops.begin(), graph_.ops.end(), [&](const Op& o) {
      return o.kind == OpKind::Add && o.inputs.size() > 2 &&
             std::equal(op.inputs.begin(), op.inputs.end(), o.inputs.begin());
    });
  }

  // An addition of maps that stand side by side in one.
  void lower_sum(const Op& op) {
    std::vector<int> inputs;
    for (int t : op.inputs) {
      require_on_device(t);
      inputs.push_back(map_of(t));
    }
    stand_side_by_side(op, inputs);
    LoweredOp l = begin(inputs, op.output);
    require_shape(context(), l.in);
    lower_elements(context(), op, false, l);
    set_view(op.output, end(std::move(l)));
  }

  // Operands become parts of one map, each as many words behind the one before.
  void stand_side_by_side(const Op& op, std::vector<int>& inputs) {
    const auto channels = [&](std::size_t i) -> const ChannelMap& { return maps_.view(inputs[i]).channels; };
    const auto storage = [&](std::size_t i) { return maps_.view(inputs[i]).storage; };
    bool alike = true;
    for (std::size_t i = 1; i < inputs.size(); i++) alike = alike && channels(i).same_lanes(channels(0));
    for (std::size_t i = 0; i < inputs.size(); i++) {
      if (!alike && !channels(i).dense()) inputs[i] = move(inputs[i], op.inputs[i], 0);
    }
    const int groups = channels(0).end(config_.cp) - channels(0).begin();
    const auto place = [&](std::size_t i) { return channels(0).begin() + int(i) * groups; };
    // The first ones of a shorter sum stand there already.
    std::size_t placed = 1;
    while (placed < inputs.size() && storage(placed) == storage(0) &&
           channels(placed).begin() == place(placed))
      placed++;
    if (placed == inputs.size()) return;
    if (!maps_.may_grow(inputs[0]) || maps_.storage(inputs[0]).groups != place(placed)) {
      inputs[0] = copy(inputs[0], op.inputs[0], 0);
      placed = 1;
    }
    for (; placed < inputs.size(); placed++) {
      int& v = inputs[placed];
      if (storage(placed) == storage(0) || !maps_.may_join(v)) v = copy(v, op.inputs[placed], 0);
      require_groups("words of channels added up", place(placed + 1));
      maps_.join(inputs[0], v);
    }
  }

  static void require_groups(const char* what, int groups) {
    require(groups <= kMaxGroups, at_most(what, kMaxGroups), std::to_string(groups));
  }

  // Add, Sub and Mul of two maps, the one that has the shape of the output first.
  void lower_two(const Op& op) {
    const Nhwc out = nhwc(op.output);
    int operands[2] = {op.inputs[0], op.inputs[1]};
    const auto shape = [&](int t) {
      const Nhwc s = nhwc(t);
      if (!tensor(t).is_constant()) return s;
      return s.h == 1 && s.w == 1 ? Nhwc{1, 1, 1, out.c} : out;
    };
    const bool swapped = shape(operands[0]) != out;
    if (swapped) std::swap(operands[0], operands[1]);
    const bool broadcast = shape(operands[1]) != out;
    require(shape(operands[0]) == out && (!broadcast || shape(operands[1]) == Nhwc{1, 1, 1, out.c}),
            "two maps of one shape, or a map and one pixel of as many channels",
            shape_text(graph_.input_of(op, 0).shape) + " and " + shape_text(graph_.input_of(op, 1).shape));
    std::vector<int> inputs(2, -1);
    for (std::size_t i = 0; i < 2; i++) {
      if (tensor(operands[i]).is_constant()) continue;
      require_on_device(operands[i]);
      inputs[i] = map_of(operands[i]);
    }
    align_operands(operands, inputs);
    LoweredOp l = begin(inputs, op.output);
    l.broadcast = broadcast;
    require_shape(context(), l.in);
    lower_elements(context(), op, swapped, l);
    set_view(op.output, end(std::move(l)));
  }

  // Two operands must stand on the same words of equal pixels.
  void align_operands(const int (&operands)[2], std::vector<int>& inputs) {
    const bool constant = inputs[0] < 0 || inputs[1] < 0;
    const bool same = constant || maps_.view(inputs[0]).channels.same_lanes(maps_.view(inputs[1]).channels);
    for (std::size_t i = 0; i < 2; i++) {
      int& v = inputs[i];
      if (v < 0) continue;
      const Storage& s = maps_.storage(v);
      const ChannelMap& channels = maps_.view(v).channels;
      const bool alone = channels.begin() == 0 && channels.end(config_.cp) == s.groups && s.parts.size() == 1;
      if (!same && !channels.dense()) {
        v = move(v, operands[i], 0);
      } else if (!alone) {
        v = copy(v, operands[i], 0);
      }
      maps_.pin(v);
    }
    for (std::size_t i = 0; i < 2; i++) {
      if (inputs[i] < 0) inputs[i] = constant_map(operands[i], inputs[1 - i]);
    }
  }

  // An operand that is no activation as a map, on the lanes of the other operand: one pixel where all pixels
  // of the output meet the same values, else as large as the output.
  int constant_map(int t, int other) {
    const ChannelMap channels = maps_.view(other).channels;
    const Nhwc out = maps_.shape(other);
    const Nhwc have = nhwc(t);
    const bool pixel = have.h == 1 && have.w == 1;
    const Nhwc shape{1, pixel ? 1 : out.h, pixel ? 1 : out.w, out.c};
    const int v = maps_.add(t, shape, channels);
    const std::vector<int> channel_of = channels.channel_of(config_.cp);
    const auto at = [](int i, int n) { return n == 1 ? std::size_t(0) : std::size_t(i); };
    std::vector<std::uint8_t>& values = maps_.storage(v).constant;
    for (int y = 0; y < shape.h; y++) {
      for (int x = 0; x < shape.w; x++) {
        const std::size_t cell = at(y, have.h) * std::size_t(have.w) + at(x, have.w);
        for (int lane = 0; lane < channels.lanes(config_.cp); lane++) {
          const int c = channel_of.empty() ? lane : channel_of[std::size_t(lane)];
          values.push_back(c < 0 ? std::uint8_t(tensor(t).zero_point())
                                 : tensor(t).data[cell * std::size_t(have.c) + at(c, have.c)]);
        }
      }
    }
    return v;
  }

  // The same values, or what a table makes of them, in a map of their own, on the lanes they have.
  int copy(int v, int t, int first_channel, const ValueTable* table = nullptr) {
    LoweredOp l = begin({v}, t, first_channel);
    l.out = l.in;
    lower_copy(context(), table, l);
    return end(std::move(l));
  }

  // Channel o of the result is channel from[o] of a view.
  int move(int v, int t, const std::vector<int>& from) {
    LoweredOp l = begin({v}, t);
    l.out.h = l.in.h;
    l.out.w = l.in.w;
    lower_move(context(), from, l);
    return end(std::move(l));
  }

  // Channels of a view from `first` on, put together.
  int move(int v, int t, int first) {
    std::vector<int> from(std::size_t(nhwc(t).c));
    std::iota(from.begin(), from.end(), first);
    return move(v, t, from);
  }

  // A view with a border of the zero point on all sides, `first` channels of it in front.
  int move_inside(int v, int t, const Padding& pad, int first) {
    LoweredOp l = begin({v}, t);
    l.pad_top = pad.top;
    l.pad_left = pad.left;
    l.pad_value = tensor(t).zero_point();
    std::vector<int> from(std::size_t(l.out.c), -1);
    std::iota(from.begin() + first, from.begin() + first + l.in.c, 0);
    lower_move(context(), from, l);
    return end(std::move(l));
  }

  // Inputs that an operator of the device writes, and nothing else has joined, become parts of one map.
  void lower_concat(const Op& op, const std::vector<int>& inputs) {
    require(concat_axis(op) == 3, "concatenation of rows, columns or channels", "of batches");
    const ConcatParams params = concat_params(graph_, op);
    int map = -1;
    int first_channel = 0;
    ChannelMap channels;
    for (std::size_t i = 0; i < inputs.size(); i++) {
      int v = inputs[i];
      const int n = maps_.shape(v).c;
      const bool joined = map >= 0 && maps_.view(v).storage == maps_.view(map).storage;
      const bool same = is_identity(params.tables[i]);
      if (joined || !same || !maps_.may_join(v)) {
        v = copy(v, op.output, first_channel, same ? nullptr : &params.tables[i]);
      }
      first_channel += n;
      if (map < 0) {
        map = v;
      } else {
        require_groups("concatenated words of channels", maps_.storage(map).groups + maps_.storage(v).groups);
        maps_.join(map, v);
      }
      channels.append(maps_.view(v).channels, 0, config_.cp);
    }
    set_view(op.output, maps_.add_view({maps_.view(map).storage, channels}));
    add_without_commands(op, Engine::kNone);
  }

  // A border belongs to the window of a convolution that is its only reader, else it is made.
  void lower_pad_op(const Op& op, int v) {
    const Nhwc in = maps_.shape(v);
    const Nhwc out = nhwc(op.output);
    int before[4] = {0, 0, 0, 0};
    const std::size_t rank = tensor(op.output).shape.size();
    for (std::size_t d = 0; d < rank; d++) before[4 - rank + d] = op.dims[2 * d];
    require(in.n == out.n, "borders of rows, columns and channels", "of batches");
    const Padding pad{before[1], out.h - in.h - before[1], before[2], out.w - in.w - before[2]};
    if (in.c != out.c) return set_view(op.output, move_inside(v, op.output, pad, before[3]));
    if (belongs_to_window(op.output, pad)) {
      border_[op.output] = pad;
      set_view(op.output, v);
      return add_without_commands(op, maps_.storage(v).is_input ? Engine::kHost : Engine::kNone);
    }
    LoweredOp l = begin({v}, op.output);
    lower_pad(context(), pad, tensor(op.output).zero_point(), l);
    set_view(op.output, end(std::move(l)));
  }

  // The only operator that reads a tensor, once; none for outputs of the graph.
  const Op* only_reader(int t) const {
    if (std::find(graph_.outputs.begin(), graph_.outputs.end(), t) != graph_.outputs.end()) return nullptr;
    const Op* reader = nullptr;
    for (const Op& op : graph_.ops) {
      for (int in : op.inputs) {
        if (in != t) continue;
        if (reader != nullptr) return nullptr;
        reader = &op;
      }
    }
    return reader;
  }

  bool belongs_to_window(int t, const Padding& pad) const {
    const Op* reader = only_reader(t);
    if (reader == nullptr) return false;
    const Window& w = reader->window;
    const bool array = reader->kind == OpKind::Conv2D ||
                       (reader->kind == OpKind::DepthwiseConv2D && reader->depth_multiplier != 1);
    if (array) return w.pad.left + pad.left <= kMaxArrayPadLeft;
    // Windows of the vector engine must touch the map.
    return reader->kind == OpKind::DepthwiseConv2D && w.pad.left + pad.left <= kMaxWindowPadLeft &&
           w.pad.top + pad.top < w.extent_h() && w.pad.bottom + pad.bottom < w.extent_h() &&
           w.pad.left + pad.left < w.extent_w() && w.pad.right + pad.right < w.extent_w();
  }

  static bool is_identity(const ValueTable& table) {
    for (int i = 0; i < int(table.size()); i++) {
      if (table[std::size_t(i)] != i - 128) return false;
    }
    return true;
  }

  void lower_slice(const Op& op, int v) {
    const Nhwc in = maps_.shape(v);
    const Nhwc out = nhwc(op.output);
    int begin_of[4] = {0, 0, 0, 0};
    const std::size_t rank = tensor(op.output).shape.size();
    for (std::size_t d = 0; d < rank; d++) begin_of[4 - rank + d] = op.dims[d];
    const int channel = begin_of[3];
    const bool window = out.h != in.h || out.w != in.w;
    int channels = maps_.slice(v, channel, channel + out.c);
    if (channels < 0) {
      require(!window, "slices of channels, or of rows and columns",
              "both, from channel " + std::to_string(channel));
      return set_view(op.output, move(v, op.output, channel));
    }
    if (!window) {
      set_view(op.output, channels);
      return add_without_commands(op, maps_.storage(v).is_input ? Engine::kHost : Engine::kNone);
    }
    LoweredOp l = begin({channels}, op.output);
    lower_pad(context(), {-begin_of[1], 0, -begin_of[2], 0}, 0, l);
    set_view(op.output, end(std::move(l)));
  }

  const Graph& graph_;
  const Config& config_;
  RoundingStyle style_;
  Lowering result_;
  Maps maps_;
  int current_ = 0;                // operator of the graph
  std::map<int, Padding> border_;  // tensors that are their view with a border, which their reader adds
  std::map<int, int> reshaped_;    // tensors whose map has another shape than they: their own one
};

}  // namespace

Lowering lower(const Graph& graph, const Config& config, RoundingStyle style) {
  return Lowerer(graph, config, style).run();
}

void finish_last_words(Lowering& lowering) {
  const std::size_t cp = std::size_t(lowering.cp);
  for (LoweredOp& op : lowering.ops) {
    if (on_device(op.engine) && op.params_per_tile()) op.params.resize((op.params.size() + cp - 1) / cp * cp);
  }
}

}  // namespace kaiten
