// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "report/offload_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "report/json_report.h"
#include "report/page.h"
#include "report/short_names.h"
#include "report/svg.h"
#include "report/table.h"

namespace kaiten {

namespace {

using offload::Policy;
using offload::Step;

std::string ms(double seconds) { return fmt::format("{:.3f}", 1e3 * seconds); }
std::string mib(double bytes) { return fmt::format("{:.1f}", bytes / (1 << 20)); }
double ratio_of(const Step& s) { return s.packed_bytes > 0 ? s.raw_bytes / s.packed_bytes : 1; }
double density_of(const Step& s) { return s.elements > 0 ? s.coded / s.elements : 0; }
const Policy& vdnn(const OffloadReport& r) { return r.result.policies.front(); }
const Policy& oracle(const OffloadReport& r) { return r.result.policies.back(); }

std::string summary(const OffloadReport& r) {
  return fmt::format(
      "{}: batch {}, elements of {} bits, {}; {} MiB of maps travel, density {:.3f}, ratio {:.2f}, best "
      "layer {:.1f}",
      r.network, r.options.batch, r.options.element_bits, r.densities, mib(r.result.raw_bytes()),
      r.result.density(), r.result.ratio(), r.result.best_ratio());
}

std::string device_text(const OffloadReport& r) {
  const offload::Options& o = r.options;
  return fmt::format(
      "device {}: {:.3g} TFLOPS x {:.3g}, memory {:.4g} GB/s; link {:.4g} GB/s; compressing DMA reads at "
      "most {:.4g} "
      "GB/s, bandwidth-aware {:.4g}",
      o.device.name, o.device.operations_per_second / 1e12, o.efficiency, o.device.bytes_per_second / 1e9,
      o.link_bytes_per_second / 1e9, o.compress_bytes_per_second / 1e9, o.aware_bytes_per_second / 1e9);
}

// What the policies come to: name, MiB, ms, stall ms, share of the oracle's speed, speed over vDNN's.
std::vector<std::string> policy_row(const OffloadReport& r, const Policy& p) {
  return {p.name,
          mib(p.link_bytes),
          ms(p.seconds),
          ms(p.stall_seconds),
          fmt::format("{:.1f} %", 100 * p.stall_seconds / p.seconds),
          fmt::format("{:.3f}", oracle(r).seconds / p.seconds),
          fmt::format("{:.3f}", vdnn(r).seconds / p.seconds)};
}

// For each layer its computation and above it the stalls, without compression on the left, with it on the
// right.
std::string bars(const OffloadReport& r) {
  constexpr std::size_t kNameColumns = 18;
  constexpr double kNameHeight = 13;
  const std::vector<Step>& steps = r.result.steps;
  const double base = 260, high = 220, left = 50, step = (svg::kWidth - left - 10) / double(steps.size());
  double most = 1e-12;
  for (std::size_t m = 0; m < steps.size(); m++)
    most = std::max(most, steps[m].forward_seconds + steps[m].backward_seconds + vdnn(r).stalls[m]);
  std::string out;
  const char* const kinds[] = {"computation", "stall, raw", "stall, compressed"};
  for (std::size_t i = 0; i < 3; i++) {
    out += svg::legend_entry(left + 150 * double(i), 6, svg::colour(i), kinds[i]);
  }
  std::vector<std::string> names;
  names.reserve(steps.size());
  for (const Step& s : steps) names.push_back(s.name);
  names = short_names(names, kNameColumns);
  for (std::size_t m = 0; m < steps.size(); m++) {
    // Names stand upright; where bars are narrower than a line of text, some are left to the hints.
    if (const std::size_t every = std::size_t(std::ceil(kNameHeight / step)); m % every == 0)
      out += svg::upright_text_at(left + step * (double(m) + 0.43) + 4, base + 6, names[m]);
    const double compute = steps[m].forward_seconds + steps[m].backward_seconds;
    for (std::size_t side = 0; side < 2; side++) {
      const double x = left + step * double(m) + double(side) * step * 0.44,
                   width = std::max(0.5, step * 0.42);
      const double stall = r.result.policies[side].stalls[m];
      const double h = high * compute / most, hs = high * stall / most;
      const std::string hint = fmt::format("{}: {} ms, stall {} ms{}", steps[m].name, ms(compute), ms(stall),
                                           side == 0 ? "" : ", compressed");
      out += svg::box(x, base - h, width, h, svg::colour(0), hint) +
             svg::box(x, base - h - hs, width, hs, svg::colour(1 + side), hint);
    }
  }
  out += svg::line(left, base, svg::kWidth - 10, base, svg::kAxis) +
         svg::text_at(left - 6, base - high + 4, ms(most), "end") +
         svg::text_at(left - 6, base, "0 ms", "end");
  return svg::drawing(int(base) + 130, out,
                      "Computation and stalls of each layer, without and with compression");
}

}  // namespace

std::string to_text(const OffloadReport& r, std::size_t width) {
  Table layers({{"layer", false, 0, true},
                {"MiB", true, 0, false},
                {"density", true, 0, false},
                {"ratio", true, 0, false},
                {"forward ms", true, 5, false},
                {"backward ms", true, 4, false},
                {"transfer ms", true, 2, false},
                {"compressed ms", true, 3, false},
                {"stall ms", true, 0, false},
                {"compressed stall ms", true, 0, false}});
  const double link = r.options.link_bytes_per_second;
  for (std::size_t m = 0; m < r.result.steps.size(); m++) {
    const Step& s = r.result.steps[m];
    const bool travels = s.raw_bytes > 0;
    const double packed = std::max(s.packed_bytes / link, s.raw_bytes / r.options.compress_bytes_per_second);
    layers.add({s.name, travels ? mib(s.raw_bytes) : "-",
                travels ? fmt::format("{:.3f}", density_of(s)) : "-",
                travels ? fmt::format("{:.2f}", ratio_of(s)) : "-", ms(s.forward_seconds),
                ms(s.backward_seconds), travels ? ms(s.raw_bytes / link) : "-", travels ? ms(packed) : "-",
                ms(vdnn(r).stalls[m]), ms(r.result.policies[1].stalls[m])});
  }
  Table policies({{"policy", false, 0, false},
                  {"MiB one way", true, 2, false},
                  {"step ms", true, 0, false},
                  {"stall ms", true, 0, false},
                  {"of the step", true, 1, false},
                  {"of the oracle's speed", true, 0, false},
                  {"over vdnn", true, 0, false}});
  for (const Policy& p : r.result.policies) policies.add(policy_row(r, p));
  return layers.text(width) + "\n" + policies.text(width) + "\n" + summary(r) + "\n" + device_text(r) + "\n";
}

nlohmann::ordered_json json_of(const OffloadReport& r) {
  nlohmann::ordered_json j;
  j["network"] = r.network;
  j["densities"] = r.densities;
  j["batch"] = r.options.batch;
  j["element_bits"] = r.options.element_bits;
  j["device"] = r.options.device.name;
  j["efficiency"] = r.options.efficiency;
  j["link_gbps"] = r.options.link_bytes_per_second / 1e9;
  j["raw_bytes"] = r.result.raw_bytes();
  j["density"] = r.result.density();
  j["ratio"] = r.result.ratio();
  j["best_ratio"] = r.result.best_ratio();
  j["policies"] = nlohmann::ordered_json::array();
  for (const Policy& p : r.result.policies) {
    j["policies"].push_back({{"name", p.name},
                             {"link_bytes", p.link_bytes},
                             {"step_ms", 1e3 * p.seconds},
                             {"stall_ms", 1e3 * p.stall_seconds},
                             {"performance", oracle(r).seconds / p.seconds},
                             {"speedup", vdnn(r).seconds / p.seconds}});
  }
  j["layers"] = nlohmann::ordered_json::array();
  for (std::size_t m = 0; m < r.result.steps.size(); m++) {
    const Step& s = r.result.steps[m];
    nlohmann::ordered_json stalls;
    for (const Policy& p : r.result.policies) stalls[p.name] = 1e3 * p.stalls[m];
    j["layers"].push_back({{"name", s.name},
                           {"raw_bytes", s.raw_bytes},
                           {"density", density_of(s)},
                           {"ratio", ratio_of(s)},
                           {"forward_ms", 1e3 * s.forward_seconds},
                           {"backward_ms", 1e3 * s.backward_seconds},
                           {"stall_ms", stalls}});
  }
  return j;
}

std::string to_html(const OffloadReport& r) {
  html::Table policies({"policy", "#MiB one way", "#step ms", "#stall ms", "#of the step",
                        "#of the oracle's speed", "#over vdnn"});
  for (const Policy& p : r.result.policies) policies.add(policy_row(r, p));
  const std::string out =
      "<p>" + html::escaped(summary(r)) + "</p>\n<p>" + html::escaped(device_text(r)) +
      "</p>\n<h2>Policies</h2>\n" + policies.text() + "<h2>Layers</h2>\n" + bars(r) +
      "<p>Forward and backward together; on the left without, on the right with compression.</p>\n";
  return html::page(r.network + ": activations in the host's memory", out);
}

}  // namespace kaiten
