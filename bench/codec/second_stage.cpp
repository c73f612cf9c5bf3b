// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What a second stage behind ZVC would save on the int8 maps of a model: the non-zeros of a row segment coded
// in blocks of so many, by the width of the largest, by the width of their differences, or by bit planes.
// Counts bits, codes nothing; docs/software/compression.md has the results.
//   width        4 bits a block, then so many bits an element (less 1: zeros are gone)
//   difference   the same of the difference to the last non-zero of the channel, sign folded into bit 0
//   bit planes   extended bit-plane compression (Cavigelli et al., EBPC): the first element, then the planes
//   of the
//                differences of neighbours, xored with the plane above, each by a code of its own
// Segments are the machine's (a row of 32 channels, channels side by side) or rows of single channels.
// usage: kaiten-bench-second-stage MODEL INPUT...      INPUT: raw tensors in the model's type, or an image
#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <exception>
#include <span>
#include <string>
#include <vector>

#include "cli/inputs.h"
#include "import/import.h"
#include "reference/reference.h"

namespace {

using kaiten::Graph;
using kaiten::Nhwc;
using kaiten::Tensor;

// Elements less the zero point; channels of a column stand side by side.
struct Segment {
  std::size_t channels = 1;
  std::vector<std::uint8_t> elements;
};

std::vector<Segment> segments(const Tensor& tensor, std::span<const std::int8_t> map, int channels) {
  const Nhwc s = tensor.nhwc();
  std::vector<Segment> out;
  for (int y = 0; y < s.h; y++) {
    for (int first = 0; first < s.c; first += channels) {
      Segment segment{std::size_t(std::min(channels, s.c - first)), {}};
      for (int x = 0; x < s.w; x++) {
        for (std::size_t c = 0; c < segment.channels; c++) {
          const std::size_t at = (std::size_t(y) * std::size_t(s.w) + std::size_t(x)) * std::size_t(s.c);
          segment.elements.push_back(std::uint8_t(map[at + std::size_t(first) + c] - tensor.zero_point()));
        }
      }
      out.push_back(std::move(segment));
    }
  }
  return out;
}

using Block = std::span<const std::uint8_t>;

std::size_t width_bits(Block block) {
  const std::uint8_t most = *std::max_element(block.begin(), block.end());
  return 4 + block.size() * std::size_t(std::bit_width(most));
}

std::size_t plane_bits(Block block, std::size_t full) {
  if (block.size() < full) return 8 * block.size();
  constexpr int kPlanes = 9;  // of differences
  const std::size_t differences = block.size() - 1;
  const unsigned ones = (1U << differences) - 1;
  std::array<unsigned, kPlanes> planes{};
  for (std::size_t i = 0; i < differences; i++) {
    const unsigned d = unsigned(block[i + 1]) - unsigned(block[i]);
    for (std::size_t p = 0; p < kPlanes; p++) planes[p] |= (d >> p & 1) << i;
  }
  const std::size_t place = std::size_t(std::bit_width(differences - 1));
  std::size_t bits = 8;
  unsigned above = 0;
  int zeros = 0;
  const auto end_run = [&] {
    bits += zeros == 0 ? 0 : zeros == 1 ? 2 : 7;
    zeros = 0;
  };
  for (std::size_t p = kPlanes; p-- > 0;) {
    const unsigned x = planes[p] ^ above;
    above = planes[p];
    if (x == 0) {
      zeros++;
      continue;
    }
    end_run();
    const bool pair = std::popcount(x) == 2 && (x >> std::countr_zero(x)) == 3;
    if (x == ones || planes[p] == 0) {
      bits += 5;
    } else if (std::has_single_bit(x) || pair) {
      bits += 5 + place;
    } else {
      bits += 1 + differences;
    }
  }
  end_run();
  return bits;
}

enum class Stage { kNone, kWidth, kDifference, kPlanes };

// Bits of a segment, mask included; never more than raw.
std::size_t segment_bits(const Segment& segment, Stage stage, std::size_t size) {
  std::vector<std::uint8_t> coded;
  std::vector<std::uint8_t> last(segment.channels, 0);
  for (std::size_t i = 0; i < segment.elements.size(); i++) {
    const std::uint8_t v = segment.elements[i];
    if (v == 0) continue;
    std::uint8_t& before = last[i % segment.channels];
    const int difference = std::int8_t(std::uint8_t(v - before));
    before = v;
    coded.push_back(stage == Stage::kDifference
                        ? std::uint8_t(difference >= 0 ? 2 * difference : -2 * difference - 1)
                        : std::uint8_t(v - 1));
  }
  std::size_t bits = segment.elements.size();
  if (stage == Stage::kNone) bits += 8 * coded.size();
  for (std::size_t i = 0; stage != Stage::kNone && i < coded.size(); i += size) {
    const Block block = Block(coded).subspan(i, std::min(size, coded.size() - i));
    bits += stage == Stage::kPlanes ? plane_bits(block, size) : width_bits(block);
  }
  return std::min(bits, 8 * segment.elements.size());
}

int measure(const std::string& model, std::span<char* const> files) {
  const Graph graph = kaiten::require_graph(kaiten::import_file(model));
  std::vector<std::vector<kaiten::Int8Values>> runs;
  for (const char* file : files) {
    const kaiten::cli::ModelInputs inputs = kaiten::cli::make_inputs(graph, {false, file, 1, {}});
    runs.push_back(kaiten::run_reference(graph, inputs.values));
  }
  std::printf(
      "| second stage | block | accelerator, ReLU6 maps | accelerator, all maps | NCHW, ReLU6 maps | NCHW, "
      "all maps "
      "|\n"
      "|---|---|---|---|---|---|\n");
  struct Row {
    const char* name;
    Stage stage;
    std::size_t block;
  };
  constexpr Row kRows[] = {{"none: ZVC", Stage::kNone, 0},         {"width", Stage::kWidth, 8},
                           {"width", Stage::kWidth, 16},           {"width", Stage::kWidth, 32},
                           {"difference", Stage::kDifference, 8},  {"difference", Stage::kDifference, 16},
                           {"difference", Stage::kDifference, 32}, {"bit planes", Stage::kPlanes, 8},
                           {"bit planes", Stage::kPlanes, 16}};
  for (const Row& row : kRows) {
    std::printf("| %s | %s |", row.name, row.block == 0 ? "" : std::to_string(row.block).c_str());
    for (const int channels : {32, 1}) {
      double raw[2] = {}, packed[2] = {};
      for (const kaiten::Op& op : graph.ops) {
        const Tensor& output = graph.output_of(op);
        if (output.type != kaiten::ElementType::Int8 || op.kind == kaiten::OpKind::Reshape) continue;
        double bits = 0;
        for (const auto& values : runs) {
          for (const Segment& s : segments(output, values[std::size_t(op.output)], channels))
            bits += double(segment_bits(s, row.stage, row.block));
        }
        for (const int all : {0, 1}) {
          if (all == 0 && op.activation != kaiten::Activation::Relu6) continue;
          raw[all] += 8 * double(output.elements()) * double(runs.size());
          packed[all] += bits;
        }
      }
      std::printf(" %.3f | %.3f |", raw[0] / packed[0], raw[1] / packed[1]);
    }
    std::printf("\n");
  }
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) {
    std::fprintf(stderr, "usage: kaiten-bench-second-stage MODEL INPUT...\n");
    return 2;
  }
  try {
    return measure(arguments[1], std::span(arguments + 2, std::size_t(count - 2)));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "kaiten-bench-second-stage: %s\n", e.what());
    return 2;
  }
}
