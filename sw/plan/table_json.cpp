// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "base/error.h"
#include "base/json_text.h"
#include "plan/table.h"

namespace kaiten::plan {

namespace {

using Kind = JsonValue::Kind;

constexpr std::string_view kInputName = "input";

std::string found(const JsonValue& v) {
  switch (v.kind) {
    case Kind::kNull:
      return "null";
    case Kind::kBool:
      return v.truth ? "true" : "false";
    case Kind::kNumber:
      return v.text;
    case Kind::kString:
      return "'" + v.text + "'";
    case Kind::kArray:
      return "a list of " + std::to_string(v.items.size());
    case Kind::kObject:
      return "an object";
  }
  return "";
}

class TableReader {
 public:
  explicit TableReader(const std::string& file) : file_(file) {}

  Network run(const JsonValue& root) {
    require(root, Kind::kObject, "an object with name, input and layers");
    know(root, {"name", "input", "layers", "classifier"});
    const JsonValue& name = member(root, "name");
    require(name, Kind::kString, "the name of the network");
    n_.name = name.text;
    n_.source = "table";
    const JsonValue& input = member(root, "input");
    require(input, Kind::kObject, "an object with height, width and channels");
    know(input, {"height", "width", "channels"});
    Map image;
    image.height = integer(member(input, "height"), 1, "a height");
    image.width = integer(member(input, "width"), 1, "a width");
    image.channels = integer(member(input, "channels"), 1, "a number of channels");
    if (double(image.height) * image.width * image.channels > double(kMaxElements)) {
      fail_at(file_, input.at, "expected at most " + std::to_string(kMaxElements) + " elements, found more");
    }
    n_.maps.push_back(image);
    const JsonValue& layers = member(root, "layers");
    require(layers, Kind::kArray, "a list of layers");
    if (layers.items.empty()) fail_at(file_, layers.at, "expected at least one layer, found none");
    if (layers.items.size() > kMaxLayers) {
      fail_at(file_, layers.at,
              "expected at most " + std::to_string(kMaxLayers) + " layers, found " +
                  std::to_string(layers.items.size()));
    }
    name_layers(layers);
    for (const JsonValue& l : layers.items) layer(l);
    if (const JsonValue* head = root.find("classifier")) {
      require(*head, Kind::kString, "the name of a layer");
      const auto it = number_.find(head->text);
      if (it == number_.end() || it->second == 0)
        fail_at(file_, head->at, "expected the name of a layer, found " + found(*head));
      n_.head = it->second - 1;
    }
    const auto read = consumers(n_);
    for (int map = 1; map < n_.layer_count(); map++) {
      if (read[std::size_t(map)].empty()) n_.outputs.push_back(map);
    }
    return std::move(n_);
  }

 private:
  void require(const JsonValue& v, Kind kind, const std::string& expected) {
    if (v.kind != kind) fail_at(file_, v.at, "expected " + expected + ", found " + found(v));
  }

  const JsonValue& member(const JsonValue& object, std::string_view name) {
    const JsonValue* v = object.find(name);
    if (v == nullptr)
      fail_at(file_, object.at, "expected '" + std::string(name) + "' in this object, found none");
    return *v;
  }

  void know(const JsonValue& object, std::initializer_list<std::string_view> names) {
    for (const auto& m : object.members) {
      if (std::find(names.begin(), names.end(), m.name) != names.end()) continue;
      std::string list;
      for (std::string_view n : names) list += (list.empty() ? "" : ", ") + std::string(n);
      fail_at(file_, m.at, "expected one of " + list + ", found '" + m.name + "'");
    }
  }

  int integer(const JsonValue& v, int least, const std::string& what) {
    const std::string range = what + " from " + std::to_string(least) + " to " + std::to_string(kMaxSide);
    if (v.kind != Kind::kNumber || v.number != std::floor(v.number) || v.number < least ||
        v.number > kMaxSide) {
      fail_at(file_, v.at, "expected " + range + ", found " + found(v));
    }
    return int(v.number);
  }

  std::vector<int> integers(const JsonValue& v, std::size_t count, int least, const std::string& what) {
    if (v.kind != Kind::kArray || v.items.size() != count)
      fail_at(file_, v.at, "expected " + what + ", found " + found(v));
    std::vector<int> all;
    for (const JsonValue& i : v.items) all.push_back(integer(i, least, "a value of " + what));
    return all;
  }

  // Names first, to distinguish a name that comes later from one that does not exist.
  void name_layers(const JsonValue& layers) {
    number_[std::string(kInputName)] = 0;
    for (std::size_t i = 0; i < layers.items.size(); i++) {
      const JsonValue& l = layers.items[i];
      require(l, Kind::kObject, "a layer");
      const JsonValue& name = member(l, "name");
      require(name, Kind::kString, "the name of the layer");
      if (name.text.empty()) fail_at(file_, name.at, "expected the name of the layer, found ''");
      if (!number_.emplace(name.text, int(i) + 1).second) {
        fail_at(file_, name.at, "expected a name of its own for each layer, found " + found(name) + " again");
      }
    }
    layers_ = &layers;
  }

  // The layers a layer reads, by map number; names that do not exist are left for source().
  std::vector<int> all_sources(const JsonValue& l, int number) const {
    std::vector<int> all;
    const auto take = [&](const JsonValue& v) {
      const auto it = number_.find(v.text);
      if (v.kind == Kind::kString && it != number_.end()) all.push_back(it->second);
    };
    for (const char* key : {"from", "add"}) {
      const JsonValue* v = l.find(key);
      if (v == nullptr && key == std::string_view("from")) all.push_back(number - 1);
      if (v == nullptr) continue;
      if (v->kind == Kind::kArray) {
        for (const JsonValue& i : v->items) take(i);
      } else {
        take(*v);
      }
    }
    return all;
  }

  // True when the layer of map `from` depends on the layer of map `to`.
  bool depends(int from, int to) const {
    std::vector<bool> seen(layers_->items.size() + 1);
    std::vector<int> stack{from};
    while (!stack.empty()) {
      const int m = stack.back();
      stack.pop_back();
      if (m == to) return true;
      if (m == 0 || seen[std::size_t(m)]) continue;
      seen[std::size_t(m)] = true;
      for (int s : all_sources(layers_->items[std::size_t(m) - 1], m)) stack.push_back(s);
    }
    return false;
  }

  int source(const JsonValue& v) {
    require(v, Kind::kString, "the name of an earlier layer");
    const auto it = number_.find(v.text);
    if (it == number_.end())
      fail_at(file_, v.at,
              "expected the name of an earlier layer, found " + found(v) + ", which no layer has");
    const int self = n_.layer_count() + 1;
    if (it->second < self) return it->second;
    if (it->second == self)
      fail_at(file_, v.at,
              "expected the name of an earlier layer, found " + found(v) + ", the layer itself: a cycle");
    const bool cycle = depends(it->second, self);
    fail_at(file_, v.at,
            "expected the name of an earlier layer, found " + found(v) +
                (cycle ? ", which depends on this one: a cycle"
                       : ", which stands later: layers stand in execution order"));
  }

  std::vector<int> sources(const JsonValue& v) {
    std::vector<int> all;
    if (v.kind == Kind::kArray) {
      for (const JsonValue& i : v.items) all.push_back(source(i));
      if (all.empty()) fail_at(file_, v.at, "expected the name of an earlier layer, found a list of 0");
    } else {
      all.push_back(source(v));
    }
    return all;
  }

  void layer(const JsonValue& l) {
    Layer out;
    out.name = member(l, "name").text;
    out.number = n_.layer_count();
    const JsonValue& op = member(l, "op");
    constexpr Op kOps[] = {Op::kConv, Op::kDepthwise, Op::kPool, Op::kGlobalPool,
                           Op::kFc,   Op::kAdd,       Op::kMul,  Op::kConcat};
    const auto* known = std::find_if(std::begin(kOps), std::end(kOps),
                                     [&](Op o) { return op.kind == Kind::kString && op.text == name_of(o); });
    if (known == std::end(kOps)) {
      fail_at(file_, op.at,
              "expected conv, depthwise, pool, global_pool, fc, add, mul or concat, found " + found(op));
    }
    out.op = *known;
    const bool window = out.op == Op::kConv || out.op == Op::kDepthwise || out.op == Op::kPool;
    const bool joins = out.op == Op::kAdd || out.op == Op::kMul || out.op == Op::kConcat;
    int channels = 0;
    if (window) {
      know(l, {"name", "op", "kernel", "stride", "pad", "dilation", "channels", "groups", "from", "add"});
      const auto kernel = integers(member(l, "kernel"), 2, 1, "kernel [height, width]");
      out.kernel_h = kernel[0];
      out.kernel_w = kernel[1];
      if (const JsonValue* v = l.find("stride")) {
        const auto stride = integers(*v, 2, 1, "stride [down, right]");
        out.stride_h = stride[0];
        out.stride_w = stride[1];
      }
      if (const JsonValue* v = l.find("dilation")) {
        const auto dilation = integers(*v, 2, 1, "dilation [down, right]");
        out.dilation_h = dilation[0];
        out.dilation_w = dilation[1];
      }
      if (const JsonValue* v = l.find("pad")) {
        const auto pad = integers(*v, 4, 0, "pad [top, bottom, left, right]");
        out.pad_top = pad[0];
        out.pad_bottom = pad[1];
        out.pad_left = pad[2];
        out.pad_right = pad[3];
      }
      if (out.op == Op::kConv) {
        channels = integer(member(l, "channels"), 1, "a number of output channels");
        if (const JsonValue* v = l.find("groups")) out.groups = integer(*v, 1, "a number of groups");
      } else if (const JsonValue* v = l.find("channels")) {
        channels = integer(*v, 1, "a number of channels");
      }
    } else if (out.op == Op::kFc) {
      know(l, {"name", "op", "channels", "from", "add"});
      channels = integer(member(l, "channels"), 1, "a number of output channels");
    } else {
      know(l, {"name", "op", "from", "add"});
    }
    const JsonValue* from = l.find("from");
    if (joins && (from == nullptr || from->kind != Kind::kArray || from->items.size() < 2)) {
      fail_at(file_, from == nullptr ? l.at : from->at,
              "expected 'from' with the names of all inputs of a stand-alone " +
                  std::string(name_of(out.op)) + ", found " + (from == nullptr ? "none" : found(*from)));
    }
    out.inputs = from == nullptr ? std::vector<int>{n_.layer_count()} : sources(*from);
    if (!joins && out.inputs.size() != 1) {
      fail_at(file_, from->at,
              "expected one input for " + std::string(name_of(out.op)) + ", found " + found(*from));
    }
    if (const JsonValue* v = l.find("add")) out.adds = sources(*v);
    try {
      n_.maps.push_back(output_map(n_, out, channels));
    } catch (const InputError& e) {
      fail_at(file_, l.at, "layer '" + out.name + "' (" + std::string(name_of(out.op)) + "): " + e.what());
    }
    for (int map : out.adds) {
      try {
        check_projection(n_.maps[std::size_t(map)], n_.maps.back());
      } catch (const InputError& e) {
        fail_at(file_, l.find("add")->at, "layer '" + out.name + "': " + e.what());
      }
    }
    n_.layers.push_back(std::move(out));
  }

  const std::string& file_;
  Network n_;
  std::map<std::string, int, std::less<>> number_;  // name to map
  const JsonValue* layers_ = nullptr;
};

}  // namespace

Network read_table(std::string_view text, const std::string& file) {
  return TableReader(file).run(parse_json(text, file));
}

bool looks_like_table(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{';
}

}  // namespace kaiten::plan
