// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "explore/area.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error.h"

namespace kaiten::explore {

namespace {

constexpr const char* kMappedText =
#include "area_json.inc"
    ;

constexpr std::string_view kBaseFamily = "xc7";
constexpr int kTaps = 9;
constexpr int kParameterBits = 72;
constexpr int kTableWords = 64;   // rtl/vector/kt_vector_table.sv; kt_lane_table's are LUTs
constexpr int kSumColumns = 128;  // rtl/vector/kt_vector_pkg.sv, of sums of large windows
constexpr int kSumBits = 24;
constexpr int kVectorGroups = 3;     // of CP channels
constexpr int kSurfaceBytes = 1024;  // rtl/load/kt_load_surface.sv

// What a block has more of in a larger accelerator.
enum class Term : std::uint8_t {
  kOne,
  kLanes,  // of the requantiser: two a row where there are two pixels
  kRows,
  kColumns,
  kMultipliers,
  kBus,
  kLoadedBytes,
  kWindowColumns,  // those that keep sums of large windows
  kTableLanes,     // those with a table behind them
  kTableColumns    // of a vector engine that reads its table at all lanes
};

double value_of(Term term, const Config& c) {
  switch (term) {
    case Term::kOne:
      return 1;
    case Term::kLanes:
      return c.two_pixels ? 2 * c.kp : c.kp;
    case Term::kRows:
      return c.kp;
    case Term::kColumns:
      return c.cp;
    case Term::kMultipliers:
      return double(c.kp) * c.cp;
    case Term::kBus:
      return c.axi_bytes;
    case Term::kLoadedBytes:
      return double(c.load_words()) * c.cp;
    case Term::kWindowColumns:
      return c.large_windows ? c.cp : 0;
    case Term::kTableLanes:
      return c.conv_table ? value_of(Term::kLanes, c) : 0;
    case Term::kTableColumns:
      return c.conv_table ? c.cp : 0;
  }
  return 0;
}

struct Terms {
  std::vector<Term> lut, dsp;
};

Terms terms_of(const std::string& block) {
  using enum Term;
  if (block == "u_conv")
    return {{kOne, kLanes, kMultipliers, kColumns, kTableLanes},
            {kOne, kLanes, kRows, kMultipliers, kColumns}};
  if (block == "u_conv_writer") return {{kOne, kLanes}, {kOne}};
  if (block == "u_vector")
    return {{kOne, kColumns, kWindowColumns, kTableColumns}, {kOne, kColumns, kWindowColumns}};
  if (block == "u_vector_writer") return {{kOne, kColumns}, {kOne, kColumns}};
  if (block == "u_sb" || block == "u_vb") return {{kOne, kLanes, kLoadedBytes, kColumns}, {kOne}};
  if (block == "u_load") return {{kOne, kBus, kColumns}, {kOne, kBus}};
  if (block == "u_store") return {{kOne, kBus, kColumns}, {kOne, kBus}};
  if (block == "u_axi" || block == "u_control") return {{kOne, kBus}, {kOne}};
  return {{kOne}, {kOne}};
}

// Solves A x = b of n unknowns, A symmetric and row by row; nothing where it is singular.
std::optional<std::vector<double>> solved(std::vector<double> a, std::vector<double> b) {
  const std::size_t n = b.size();
  for (std::size_t k = 0; k < n; k++) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < n; i++) {
      if (std::abs(a[i * n + k]) > std::abs(a[pivot * n + k])) pivot = i;
    }
    if (std::abs(a[pivot * n + k]) < 1e-12) return std::nullopt;
    for (std::size_t j = 0; j < n; j++) std::swap(a[k * n + j], a[pivot * n + j]);
    std::swap(b[k], b[pivot]);
    for (std::size_t i = 0; i < n; i++) {
      if (i == k) continue;
      const double factor = a[i * n + k] / a[k * n + k];
      for (std::size_t j = k; j < n; j++) a[i * n + j] -= factor * a[k * n + j];
      b[i] -= factor * b[k];
    }
  }
  for (std::size_t k = 0; k < n; k++) b[k] /= a[k * n + k];
  return b;
}

// A row of the system: the terms of a mapped block, and what it took.
struct Sample {
  std::vector<double> terms;
  double value;
};

// Factors of 0 or more with the least sum of squared relative errors: the best of the unconstrained ones of every subset of
// the terms, small subsets first.
std::vector<double> fitted(const std::vector<Sample>& samples, std::size_t terms) {
  constexpr double kBetter = 1 - 1e-6;
  std::vector<double> best(terms, 0);
  double least = std::numeric_limits<double>::max();
  std::vector<unsigned> subsets;
  for (unsigned s = 1; s < 1U << terms; s++) subsets.push_back(s);
  std::stable_sort(subsets.begin(), subsets.end(),
                   [](unsigned a, unsigned b) { return std::popcount(a) < std::popcount(b); });
  for (const unsigned subset : subsets) {
    std::vector<std::size_t> used;
    for (std::size_t t = 0; t < terms; t++) {
      if ((subset >> t & 1) != 0) used.push_back(t);
    }
    const std::size_t n = used.size();
    std::vector<double> a(n * n, 0), b(n, 0);
    for (const Sample& s : samples) {
      const double weight = 1 / std::max(1.0, s.value);
      for (std::size_t i = 0; i < n; i++) {
        b[i] += s.terms[used[i]] * s.value * weight * weight;
        for (std::size_t j = 0; j < n; j++)
          a[i * n + j] += s.terms[used[i]] * s.terms[used[j]] * weight * weight;
      }
    }
    // Scaled, so that a singular system shows.
    std::vector<double> scale(n);
    for (std::size_t i = 0; i < n; i++) scale[i] = 1 / std::sqrt(a[i * n + i]);
    for (std::size_t i = 0; i < n; i++) {
      b[i] *= scale[i];
      for (std::size_t j = 0; j < n; j++) a[i * n + j] *= scale[i] * scale[j];
    }
    const auto factors = solved(a, b);
    if (!factors || *std::min_element(factors->begin(), factors->end()) < 0) continue;
    double error = 0;
    for (const Sample& s : samples) {
      double sum = 0;
      for (std::size_t i = 0; i < n; i++) sum += (*factors)[i] * scale[i] * s.terms[used[i]];
      error += std::pow((sum - s.value) / std::max(1.0, s.value), 2);
    }
    if (error >= least * kBetter) continue;
    least = error;
    std::fill(best.begin(), best.end(), 0);
    for (std::size_t i = 0; i < n; i++) best[used[i]] = (*factors)[i] * scale[i];
  }
  return best;
}

double sum_of(const std::vector<Term>& terms, const std::vector<double>& factors, const Config& c) {
  double sum = 0;
  for (std::size_t i = 0; i < terms.size(); i++) sum += factors[i] * value_of(terms[i], c);
  return sum;
}

// As the RTL's memories are made: rtl/array/kt_conv.sv, kt_dpe_array.sv, kt_params.sv, rtl/vector/kt_vector.sv,
// rtl/memories/kt_stream_buf.sv, rtl/zvc.
class Memories {
 public:
  explicit Memories(const Family& family) : family_(family) {}

  void add(int count, int depth, int width) {
    const Memory m{memory_blocks(family_, depth, width, false).ram,
                   memory_blocks(family_, depth, width).uram};
    all_.insert(all_.end(), std::size_t(count), m);
  }

  Resources sum(double most_uram) {
    std::stable_sort(all_.begin(), all_.end(),
                     [](const Memory& a, const Memory& b) { return a.ram * b.uram > b.ram * a.uram; });
    Resources sum;
    for (const Memory& m : all_) {
      const bool ultra = m.uram > 0 && (most_uram <= 0 || sum.uram + m.uram <= most_uram);
      sum.uram += ultra ? m.uram : 0;
      sum.ram += ultra ? 0 : m.ram;
    }
    return sum;
  }

 private:
  struct Memory {
    double ram, uram;  // one of the two, uram 0: never
  };
  const Family& family_;
  std::vector<Memory> all_;
};

Resources memories_of(const Family& family, const Config& c, double most_uram) {
  const int word = 8 * c.cp, beat = 8 * c.axi_bytes;
  Memories m(family);
  m.add(c.stage_rows, c.wb_rows / c.stage_rows, kTaps * word);
  m.add(c.stage_rows, c.zsb_array / c.stage_rows, kParameterBits);
  const int banks = c.two_pixels ? 2 : 1;  // of OB
  m.add(c.stages() * banks, c.ob_pixels / banks, 32 * c.stage_rows);
  m.add(kTaps, c.sb_depth, word);
  m.add(kTaps, c.vb_depth, word);
  m.add(kTaps, c.vwb_rows, word);
  m.add(1, c.zsb_vector, kParameterBits);
  if (c.table && !c.conv_table) m.add(c.cp, kTableWords, 64);
  if (c.large_windows) m.add(1, kSumColumns, kVectorGroups * c.cp * kSumBits);
  // STORE keeps two segments of a compressed map, LOAD the size surface of a command.
  if (c.zvc_beats > 0) {
    m.add(1, 2 * c.zvc_beats, beat);
    m.add(1, kSurfaceBytes / c.axi_bytes + 1, beat);
  }
  return m.sum(most_uram);
}

Config config_of(const nlohmann::json& entry) {
  Config c;
  c.name = entry.at("name");
  for (const ConfigParameter& p : config_parameters()) p.set(c, entry.at("parameters").at(p.name));
  return c;
}

// With every option that all candidates have (space.cpp). Terms know none of them.
bool with_all_options(const Config& c) { return c.sum_row && c.add_pair && c.resident && c.zvc_beats > 0; }

std::vector<const Mapped*> of_family(const std::vector<Mapped>& mapped, std::string_view family) {
  std::vector<const Mapped*> found;
  for (const Mapped& m : mapped) {
    if (m.family == family) found.push_back(&m);
  }
  return found;
}

// What a block takes in one family, in parts of what it takes in the other: least squares of relative errors over accelerators
// that were mapped to both.
double factor(const std::vector<const Mapped*>& from, const std::vector<const Mapped*>& to,
              const std::string& block, double Resources::*resource) {
  double sum = 0, squares = 0;
  for (const Mapped* a : from) {
    for (const Mapped* b : to) {
      if (a->config.name != b->config.name) continue;
      const double x = a->blocks.at(block).*resource, y = b->blocks.at(block).*resource;
      if (x <= 0 || y <= 0) continue;
      sum += x / y;
      squares += x / y * x / y;
    }
  }
  return squares > 0 ? sum / squares : 1;
}

}  // namespace

std::vector<Mapped> mapped_accelerators() {
  std::vector<Mapped> all;
  const auto root = nlohmann::json::parse(kMappedText);
  for (const auto& entry : root.at("mapped")) {
    for (const auto& [family, blocks] : entry.at("families").items()) {
      Mapped m;
      m.family = family;
      m.config = config_of(entry);
      for (const auto& [name, used] : blocks.items()) {
        const Resources r{used.at("lut"), used.at("dsp"), used.at("ram"), used.value("uram", 0.0)};
        if (name.empty()) {
          m.whole = r;
        } else {
          m.blocks.emplace(name, r);
        }
      }
      // What lies between the blocks.
      Resources rest = m.whole;
      for (const auto& [name, r] : m.blocks)
        rest = {rest.lut - r.lut, rest.dsp - r.dsp, rest.ram - r.ram, rest.uram - r.uram};
      m.blocks["between"] = rest;
      all.push_back(std::move(m));
    }
  }
  return all;
}

AreaModel::AreaModel(const std::vector<Mapped>& mapped, const Family& family) : family_(family) {
  const std::vector<const Mapped*> base = of_family(mapped, kBaseFamily),
                                   here = of_family(mapped, family.name);
  std::vector<const Mapped*> fitted_to;
  std::copy_if(base.begin(), base.end(), std::back_inserter(fitted_to),
               [](const Mapped* m) { return with_all_options(m->config); });
  if (fitted_to.empty() || here.empty())
    throw InputError(
        fmt::format("family: limit: those that an accelerator was mapped to, found: {}", family.name));
  for (const auto& entry : fitted_to.front()->blocks) {
    const std::string& block = entry.first;
    const Terms terms = terms_of(block);
    const auto fit = [&](const std::vector<Term>& of, double Resources::*resource) {
      std::vector<Sample> samples;
      for (const Mapped* m : fitted_to) {
        Sample s{{}, m->blocks.at(block).*resource};
        for (const Term t : of) s.terms.push_back(value_of(t, m->config));
        samples.push_back(std::move(s));
      }
      return fitted(samples, of.size());
    };
    blocks_[block] = {fit(terms.lut, &Resources::lut), fit(terms.dsp, &Resources::dsp),
                      factor(base, here, block, &Resources::lut), factor(base, here, block, &Resources::dsp)};
  }
}

Resources AreaModel::area(const Config& config, double most_uram) const {
  Resources sum = memories_of(family_, config, most_uram);
  for (const auto& [block, fit] : blocks_) {
    const Terms terms = terms_of(block);
    sum.lut += fit.lut_factor * sum_of(terms.lut, fit.lut, config);
    sum.dsp += fit.dsp_factor * sum_of(terms.dsp, fit.dsp, config);
  }
  sum.lut = std::ceil(sum.lut);
  sum.dsp = std::ceil(sum.dsp);
  return sum;
}

std::vector<Residual> leave_one_out(const std::vector<Mapped>& mapped, const Family& family) {
  std::vector<Residual> all;
  const std::vector<const Mapped*> here = of_family(mapped, family.name);
  for (const Mapped* out : here) {
    if (here.size() == 1) break;
    if (!with_all_options(out->config)) continue;
    std::vector<Mapped> others;
    std::copy_if(mapped.begin(), mapped.end(), std::back_inserter(others),
                 [&](const Mapped& m) { return m.config.name != out->config.name; });
    all.push_back({out->config.name, out->whole, AreaModel(others, family).area(out->config)});
  }
  return all;
}

Resources worst_error(const std::vector<Residual>& residuals) {
  Resources worst;
  for (const Residual& r : residuals) {
    worst.lut = std::max(worst.lut, std::abs(Residual::error(r.predicted.lut, r.mapped.lut)));
    worst.dsp = std::max(worst.dsp, std::abs(Residual::error(r.predicted.dsp, r.mapped.dsp)));
    worst.ram = std::max(worst.ram, std::abs(Residual::error(r.predicted.ram, r.mapped.ram)));
    worst.uram = std::max(worst.uram, std::abs(Residual::error(r.predicted.uram, r.mapped.uram)));
  }
  return worst;
}

}  // namespace kaiten::explore
