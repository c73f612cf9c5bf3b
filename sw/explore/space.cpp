// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "explore/space.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstdint>
#include <set>

namespace kaiten::explore {

namespace {

constexpr std::size_t kAxes = 11;
constexpr int kTaps = 9;  // of a dot-product engine
constexpr int kKib = 1024;
constexpr int kVectorWeightRows = 1024;
constexpr int kPercent = 100;

// Rows of the array that share a step: the RTL wants at least two steps.
int stage_rows(int kp) {
  for (const int rows : {4, 2}) {
    if (kp % rows == 0 && kp / rows >= 2) return rows;
  }
  return 1;
}

Config config_of(int kp, int cp, int bus_bits) {
  Config c;
  c.kp = kp;
  c.cp = cp;
  c.stage_rows = stage_rows(kp);
  c.axi_bytes = bus_bits / 8;
  c.vwb_rows = kVectorWeightRows;
  c.sum_row = c.add_pair = c.resident = true;
  c.two_pixels = kp <= 4 * cp;
  c.zvc_beats = 128;
  return c;
}

// Words of a bank of a streaming buffer of nine.
int depth_of(int kib, int cp) { return kib * kKib / (kTaps * cp); }
// Kernel tiles are whole.
int multiple_of(int n, int unit) { return n / unit * unit; }

// What tells candidates apart.
std::array<int, kAxes> key_of(const Candidate& c) {
  const Config& f = c.config;
  return {f.kp,        f.cp,         f.axi_bytes, f.wb_rows,       f.sb_depth,  f.vb_depth,
          f.ob_pixels, f.zsb_vector, c.pb_rows,   f.large_windows, f.conv_table};
}

std::array<const std::vector<int>*, kAxes> all_of(const Axes& a) {
  return {&a.kp,        &a.cp,           &a.bus_bits,   &a.wb_kib,        &a.sb_kib,    &a.vb_kib,
          &a.ob_pixels, &a.zsb_channels, &a.pb_percent, &a.large_windows, &a.conv_table};
}

Candidate candidate_of(const std::array<int, kAxes>& v) {
  const auto [kp, cp, bus, wb, sb, vb, ob, zsb, pb, large_windows, conv_table] = v;
  Candidate c{config_of(kp, cp, bus), 0};
  c.config.name = fmt::format("{}x{}", kp, cp);
  c.config.wb_rows = multiple_of(depth_of(wb, cp), kp);
  c.config.sb_depth = depth_of(sb, cp);
  c.config.vb_depth = depth_of(vb, cp);
  c.config.ob_pixels = ob;
  c.config.zsb_array = multiple_of(zsb, kp);
  c.config.zsb_vector = zsb;
  c.config.large_windows = large_windows != 0;
  c.config.conv_table = conv_table != 0;
  c.pb_rows = multiple_of(int(std::int64_t(c.config.wb_rows) * pb / kPercent), kp);
  return c;
}

}  // namespace

std::size_t Axes::combinations() const {
  std::size_t n = 1;
  for (const std::vector<int>* axis : all_of(*this)) n *= axis->size();
  return n;
}

std::string refusal_of(const Config& c) {
  if (c.cp < 2 || !std::has_single_bit(unsigned(c.cp))) return fmt::format("CP {}: limit: 2, 4, 8 ...", c.cp);
  if (c.kp % c.cp != 0 || c.kp > kTaps * c.cp)
    return fmt::format("KP {}: limit: multiples of CP up to {}", c.kp, kTaps * c.cp);
  if (c.two_pixels && c.kp > 4 * c.cp) return fmt::format("KP {}: limit with two pixels: {}", c.kp, 4 * c.cp);
  if (c.kp % c.stage_rows != 0 || !std::has_single_bit(unsigned(c.stage_rows)) || c.stages() < 2)
    return fmt::format("KP {} in steps of {}: limit: a power of two that divides KP, two steps at least",
                       c.kp, c.stage_rows);
  if (c.axi_bytes != 16 && c.axi_bytes != 32 && c.axi_bytes != 64)
    return fmt::format("bus of {} bits: limit: 128, 256 or 512", 8 * c.axi_bytes);
  if (const int pixel = c.kp > 3 * c.cp ? c.kp : 3 * c.cp; pixel > c.axi_bytes)
    return fmt::format("results of {} bytes: limit: a bus beat, {}", pixel, c.axi_bytes);
  if (c.wb_rows < c.kp || c.wb_rows % c.kp != 0 || c.zsb_array < c.kp || c.zsb_array % c.kp != 0)
    return fmt::format("WB of {} rows, ZSB of {} words: limit: multiples of KP", c.wb_rows, c.zsb_array);
  return "";
}

std::vector<Candidate> candidates(const Axes& axes) {
  const auto all = all_of(axes);
  std::vector<Candidate> found;
  std::set<std::array<int, kAxes>> known;
  for (std::size_t n = 0; n < axes.combinations(); n++) {
    std::array<int, kAxes> values{};
    std::size_t rest = n;
    for (std::size_t a = kAxes; a-- > 0; rest /= all[a]->size()) values[a] = (*all[a])[rest % all[a]->size()];
    Candidate c = candidate_of(values);
    if (refusal_of(c.config).empty() && known.insert(key_of(c)).second) found.push_back(std::move(c));
  }
  return found;
}

}  // namespace kaiten::explore
