// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/arithmetic.h"
#include "base/error.h"
#include "base/json_text.h"
#include "plan/table.h"

namespace kaiten::plan {

namespace {

struct Cell {
  std::string_view text;
  Position at;
};

// One line of the file: a layer as SCALE-Sim names its columns.
struct Row {
  Position at;
  std::string name;
  int height = 0;
  int width = 0;
  int kernel_h = 0;
  int kernel_w = 0;
  int channels = 0;
  int filters = 0;
  int stride_h = 1;
  int stride_w = 1;
};

constexpr std::size_t kColumns = 8;

class TopologyReader {
 public:
  TopologyReader(std::string_view text, const std::string& file) : file_(file) {
    Position at;
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      line(text.substr(0, end), at);
      text.remove_prefix(std::min(end + 1, text.size()));
      at.line++;
    }
    if (rows_.empty()) fail_at(file_, at, "expected at least one layer, found none");
  }

  Network run() {
    const std::size_t slash = file_.find_last_of('/');
    n_.name = file_.substr(slash == std::string::npos ? 0 : slash + 1);
    n_.name = n_.name.substr(0, n_.name.find_last_of('.'));
    n_.source = "topology";
    const Row& first = rows_.front();
    n_.maps.push_back({first.height, first.width, first.channels});
    for (std::size_t i = 0; i < rows_.size(); i++) layer(i);
    const auto read = consumers(n_);
    for (int map = 1; map < n_.layer_count(); map++) {
      if (read[std::size_t(map)].empty()) n_.outputs.push_back(map);
    }
    return std::move(n_);
  }

 private:
  void line(std::string_view text, Position at) {
    std::vector<Cell> cells;
    const std::string_view whole = text;
    for (;;) {
      const std::size_t end = std::min(text.find(','), text.size());
      std::string_view cell = text.substr(0, end);
      std::size_t blank = 0;
      while (blank < cell.size() && std::isspace(static_cast<unsigned char>(cell[blank])) != 0) blank++;
      at.column = int(cell.data() - whole.data() + std::ptrdiff_t(blank)) + 1;
      cell.remove_prefix(blank);
      while (!cell.empty() && std::isspace(static_cast<unsigned char>(cell.back())) != 0)
        cell.remove_suffix(1);
      cells.push_back({cell, at});
      if (end == text.size()) break;
      text.remove_prefix(end + 1);
    }
    while (!cells.empty() && cells.back().text.empty()) cells.pop_back();
    if (cells.empty()) return;
    if (!header_) {
      header_ = true;
      if (cells.size() >= kColumns &&
          !std::isdigit(static_cast<unsigned char>(cells[1].text.empty() ? 'x' : cells[1].text[0])))
        return;
      fail_at(file_, cells[0].at,
              "expected the header of a SCALE-Sim topology (Layer name, IFMAP Height, IFMAP Width, Filter "
              "Height, Filter Width, Channels, Num Filter, Strides), found '" +
                  std::string(cells[0].text) + "'");
    }
    if (cells.size() < kColumns) {
      fail_at(file_, cells.back().at,
              "expected " + std::to_string(kColumns) + " columns, found " + std::to_string(cells.size()));
    }
    if (rows_.size() == kMaxLayers / 2) {
      fail_at(file_, cells[0].at,
              "expected at most " + std::to_string(kMaxLayers / 2) + " layers, found more");
    }
    Row r;
    r.at = cells[0].at;
    r.name = std::string(cells[0].text);
    int* const values[] = {&r.height,   &r.width,   &r.kernel_h, &r.kernel_w,
                           &r.channels, &r.filters, &r.stride_h};
    for (std::size_t c = 1; c < kColumns; c++) *values[c - 1] = integer(cells[c]);
    r.stride_w = r.stride_h;
    // A ninth column is the stride to the right, or a sparsity like 1:2, which changes no byte here.
    if (cells.size() > kColumns && cells[kColumns].text.find(':') == std::string_view::npos)
      r.stride_w = integer(cells[kColumns]);
    rows_.push_back(std::move(r));
  }

  int integer(const Cell& c) {
    int value = 0;
    const auto [end, error] = std::from_chars(c.text.data(), c.text.data() + c.text.size(), value);
    if (error != std::errc() || end != c.text.data() + c.text.size() || value < 1 || value > kMaxSide) {
      fail_at(file_, c.at,
              "expected a number from 1 to " + std::to_string(kMaxSide) + ", found '" + std::string(c.text) +
                  "'");
    }
    return value;
  }

  void push(Layer l, int channels, Position at) {
    l.number = n_.layer_count();
    try {
      n_.maps.push_back(output_map(n_, l, channels));
    } catch (const InputError& e) {
      fail_at(file_, at, "layer '" + l.name + "': " + e.what());
    }
    n_.layers.push_back(std::move(l));
  }

  void layer(std::size_t i) {
    const Row& r = rows_[i];
    Layer l;
    l.name = r.name;
    int from = n_.layer_count();
    const Map last = n_.maps.back();
    if (i > 0 && last.channels != r.channels && r.height == 1 && r.width == 1 &&
        last.elements() == r.channels) {
      l.op = Op::kFc;
      l.inputs = {from};
      return push(std::move(l), r.filters, r.at);
    }
    // A branch: the latest map that fits.
    while (from >= 0 && (n_.maps[std::size_t(from)].channels != r.channels ||
                         (from > 0 && from < n_.layer_count() && !fits(n_.maps[std::size_t(from)], r)))) {
      from--;
    }
    if (from < 0) {
      fail_at(file_, r.at,
              "expected the channels of an earlier layer, found " + std::to_string(r.channels) +
                  " in layer '" + r.name + "'");
    }
    Map in = n_.maps[std::size_t(from)];
    if (in.height > r.height || in.width > r.width) {
      // Pooling is not in the file.
      Layer pool;
      pool.name = r.name + ".pool";
      pool.op = Op::kPool;
      pool.inputs = {from};
      pool.stride_h = pool.kernel_h = std::max(1, ceil_div(in.height, r.height));
      pool.stride_w = pool.kernel_w = std::max(1, ceil_div(in.width, r.width));
      push(std::move(pool), 0, r.at);
      from = n_.layer_count();
      in = n_.maps.back();
    }
    l.inputs = {from};
    l.kernel_h = r.kernel_h;
    l.kernel_w = r.kernel_w;
    l.stride_h = r.stride_h;
    l.stride_w = r.stride_w;
    const int rows = r.height - in.height;
    const int columns = r.width - in.width;
    l.pad_top = rows / 2;
    l.pad_bottom = rows - rows / 2;
    l.pad_left = columns / 2;
    l.pad_right = columns - columns / 2;
    // One filter over all channels whose output keeps them is how the files write a depthwise layer.
    const bool depthwise =
        r.filters == 1 && r.channels > 1 && i + 1 < rows_.size() && rows_[i + 1].channels == r.channels;
    if (depthwise) l.op = Op::kDepthwise;
    push(std::move(l), depthwise ? 0 : r.filters, r.at);
  }

  // The input of a row is a map with padding around it.
  static bool fits(const Map& m, const Row& r) {
    return m.height <= r.height && m.width <= r.width && r.height - m.height < 2 * r.kernel_h &&
           r.width - m.width < 2 * r.kernel_w;
  }

  const std::string& file_;
  bool header_ = false;
  std::vector<Row> rows_;
  Network n_;
};

}  // namespace

Network read_topology(std::string_view text, const std::string& file) {
  return TopologyReader(text, file).run();
}

bool looks_like_topology(std::string_view text) {
  constexpr std::string_view kStart = "layer name";
  std::size_t at = text.find_first_not_of(" \t\r\n\"");
  if (at == std::string_view::npos) return false;
  for (char c : kStart) {
    if (at == text.size() || std::tolower(static_cast<unsigned char>(text[at++])) != c) return false;
  }
  return true;
}

}  // namespace kaiten::plan
