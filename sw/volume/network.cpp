// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "volume/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include "base/error.h"
#include "base/json_text.h"

namespace kaiten::volume {
namespace {

using fft::Size;

constexpr int kMostWindow = 64;    // extent of a kernel or window
constexpr int kMostMaps = 4096;    // of a layer
constexpr int kMostLayers = 256;   // of a network
constexpr int kMostView = 100000;  // field of view along an axis

// Reads the words of a line; every failure names file and line.
class Line {
 public:
  Line(std::string_view text, const std::string& file, int number)
      : rest_(text), file_(file), number_(number) {}

  [[noreturn]] void fail(const std::string& message) const {
    throw InputError(fmt::format("{}:{}: {}", file_, number_, message));
  }
  bool empty() {
    skip();
    return rest_.empty();
  }
  std::string word() {
    skip();
    std::size_t n = 0;
    while (n < rest_.size() && std::isalpha(static_cast<unsigned char>(rest_[n])) != 0) n++;
    std::string w(rest_.substr(0, n));
    rest_.remove_prefix(n);
    return w;
  }
  void expect(char c) {
    skip();
    if (rest_.empty() || rest_.front() != c) fail(fmt::format("expected '{}', found {}", c, found()));
    rest_.remove_prefix(1);
  }
  int number(const char* what, int most) {
    skip();
    int value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc{} || value < 1 || value > most)
      fail(fmt::format("{}: expected 1 to {}, found {}", what, most, found()));
    rest_.remove_prefix(std::size_t(end - rest_.data()));
    return value;
  }
  Size size(const char* what) {
    Size s;
    s.depth = number(what, kMostWindow);
    expect(',');
    s.height = number(what, kMostWindow);
    expect(',');
    s.width = number(what, kMostWindow);
    return s;
  }
  void end() {
    if (!empty()) fail("expected the end of the line, found " + found());
  }

 private:
  void skip() {
    while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_.front())) != 0)
      rest_.remove_prefix(1);
  }
  std::string found() const {
    return rest_.empty() ? "the end of the line" : "'" + std::string(rest_.substr(0, 20)) + "'";
  }

  std::string_view rest_;
  const std::string& file_;
  int number_;
};

void read_header(Line& line, Network& network, int& layers) {
  if (line.word() != "INPUTS") line.fail("expected 'INPUTS:n, LAYERS:n' first");
  line.expect(':');
  network.inputs = line.number("INPUTS", kMostMaps);
  line.expect(',');
  if (line.word() != "LAYERS") line.fail("expected 'LAYERS:n' after the inputs");
  line.expect(':');
  layers = line.number("LAYERS", kMostLayers);
  line.end();
}

Layer read_layer(Line& line) {
  const std::string kind = line.word();
  if (kind != "CONV" && kind != "POOL") line.fail(fmt::format("expected CONV or POOL, found '{}'", kind));
  Layer layer;
  layer.convolution = kind == "CONV";
  layer.window = line.size(layer.convolution ? "kernel" : "window");
  if (layer.convolution) layer.maps = line.number("maps", kMostMaps);
  line.end();
  return layer;
}

Network parse_lines(std::string_view text, const std::string& file) {
  Network network;
  int number = 0, layers = 0;
  bool header = false;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    Line line(text.substr(0, end), file, ++number);
    text = end == std::string_view::npos ? "" : text.substr(end + 1);
    if (line.empty()) continue;
    if (!header) {
      read_header(line, network, layers);
      header = true;
      continue;
    }
    if (int(network.layers.size()) == layers)
      line.fail(fmt::format("more than the {} layers of the header", layers));
    network.layers.push_back(read_layer(line));
  }
  if (!header) throw InputError(file + ":1: expected 'INPUTS:n, LAYERS:n', found an empty file");
  if (int(network.layers.size()) != layers)
    throw InputError(fmt::format("{}:{}: the header has {} layers, the file {}", file, number, layers,
                                 network.layers.size()));
  return network;
}

class JsonNetwork {
 public:
  explicit JsonNetwork(const std::string& file) : file_(file) {}

  Network read(const JsonValue& root) const {
    Network network;
    for (const auto& m : root.members) {
      if (m.name != "inputs" && m.name != "layers")
        fail_at(file_, m.at, "no member '" + m.name + "' in a network");
    }
    if (const JsonValue* inputs = root.find("inputs")) network.inputs = number(*inputs, "inputs", kMostMaps);
    const JsonValue* layers = root.find("layers");
    if (layers == nullptr || layers->kind != JsonValue::Kind::kArray)
      fail_at(file_, root.at, "expected an array 'layers'");
    if (layers->items.size() > std::size_t(kMostLayers))
      fail_at(file_, layers->at,
              fmt::format("at most {} layers, found {}", kMostLayers, layers->items.size()));
    for (const JsonValue& item : layers->items) network.layers.push_back(layer(item));
    return network;
  }

 private:
  int number(const JsonValue& v, const char* what, int most) const {
    if (v.kind != JsonValue::Kind::kNumber || v.number != std::floor(v.number) || v.number < 1 ||
        v.number > most)
      fail_at(file_, v.at, fmt::format("{}: expected a whole number from 1 to {}", what, most));
    return int(v.number);
  }
  Size size(const JsonValue& v, const char* what) const {
    if (v.kind != JsonValue::Kind::kArray || v.items.size() != 3)
      fail_at(file_, v.at, fmt::format("{}: expected three numbers: depth, height, width", what));
    return {number(v.items[0], what, kMostWindow), number(v.items[1], what, kMostWindow),
            number(v.items[2], what, kMostWindow)};
  }
  Layer layer(const JsonValue& v) const {
    Layer layer;
    const JsonValue *conv = v.find("conv"), *pool = v.find("pool"), *maps = v.find("maps"),
                    *pooling = v.find("pooling");
    if ((conv == nullptr) == (pool == nullptr)) fail_at(file_, v.at, "a layer has either 'conv' or 'pool'");
    for (const auto& m : v.members) {
      if (m.name != "conv" && m.name != "pool" && m.name != (conv != nullptr ? "maps" : "pooling"))
        fail_at(file_, m.at, "no member '" + m.name + "' in such a layer");
    }
    layer.convolution = conv != nullptr;
    layer.window = conv != nullptr ? size(*conv, "conv") : size(*pool, "pool");
    if (conv != nullptr) {
      if (maps == nullptr) fail_at(file_, v.at, "a convolution has 'maps'");
      layer.maps = number(*maps, "maps", kMostMaps);
    } else if (pooling != nullptr) {
      layer.pooling = kind(*pooling);
    }
    return layer;
  }
  Pooling kind(const JsonValue& v) const {
    if (v.text == "plain") return Pooling::kPlain;
    if (v.text == "fragments") return Pooling::kFragments;
    if (v.text != "any") fail_at(file_, v.at, "pooling: expected any, plain or fragments");
    return Pooling::kAny;
  }

  const std::string& file_;
};

}  // namespace

int Network::outputs() const {
  int maps = inputs;
  for (const Layer& l : layers) maps = l.convolution ? l.maps : maps;
  return maps;
}

Size Network::field_of_view() const {
  Size view;
  for (auto l = layers.rbegin(); l != layers.rend(); ++l) {
    const auto grow = [&](int n, int w) {
      return std::min(l->convolution ? n + w - 1 : n * w, kMostView + 1);  // saturates: parse_network checks
    };
    view = {grow(view.depth, l->window.depth), grow(view.height, l->window.height),
            grow(view.width, l->window.width)};
  }
  return view;
}

Size Network::pooled() const {
  Size p;
  for (const Layer& l : layers) {
    if (l.convolution) continue;
    p = {p.depth * l.window.depth, p.height * l.window.height, p.width * l.window.width};
  }
  return p;
}

Network parse_network(std::string_view text, const std::string& file) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool json = first != std::string_view::npos && text[first] == '{';
  Network network = json ? JsonNetwork(file).read(parse_json(text, file)) : parse_lines(text, file);
  bool convolution = false;
  for (const Layer& l : network.layers) convolution = convolution || l.convolution;
  if (!convolution) throw InputError(file + ": a network has at least one convolution");
  const Size view = network.field_of_view();
  if (std::max({view.depth, view.height, view.width}) > kMostView)
    throw InputError(fmt::format("{}: the field of view exceeds {} along an axis", file, kMostView));
  return network;
}

}  // namespace kaiten::volume
