// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "report/swap_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/json_report.h"
#include "report/page.h"
#include "report/svg.h"
#include "report/table.h"

namespace kaiten {

namespace {

using swap::DeviceResult;
using swap::HeldMap;
using swap::Lane;
using swap::Slice;
using swap::Training;

std::string ms(double seconds) { return fmt::format("{:.1f}", 1e3 * seconds); }
std::string mib(double bytes) { return fmt::format("{:.0f}", bytes / (1 << 20)); }
std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

double peak_bytes(const SwapReport& r) {
  double most = 0;
  for (const DeviceResult& d : r.choice.result.devices) most = std::max(most, d.peak_bytes);
  return most;
}

std::string summary(const SwapReport& r) {
  const swap::Result& result = r.choice.result;
  const Training& t = r.setup.training.front();
  std::string out = fmt::format(
      "{} on {}, {}{}: batch {}, {:.2f} images/s a device, step {} ms, stall {}, peak {} MiB a device, {} "
      "MiB of the host "
      "pinned",
      t.network, r.setup.machine.name, r.policy, r.choice.note.empty() ? "" : " (" + r.choice.note + ")",
      t.batch, r.images_per_second(), ms(result.seconds), percent(r.stall_share()), mib(peak_bytes(r)),
      mib(result.pinned_bytes));
  return out;
}

std::vector<std::string> device_row(const SwapReport& r, std::size_t d) {
  const DeviceResult& result = r.choice.result.devices[d];
  return {r.setup.machine.devices[d].name, ms(result.finish),     ms(result.compute),  ms(result.stall),
          mib(result.peak_bytes),          mib(result.out_bytes), mib(result.in_bytes)};
}

const char* name_of(Lane lane) {
  switch (lane) {
    case Lane::kCompute:
      return "compute";
    case Lane::kOut:
      return "to host";
    case Lane::kIn:
      return "from host";
    case Lane::kHost:
      return "host CPU";
  }
  return "";
}

// Four rows a device at most: computation, both DMA engines; the host's sum with the first device of its job.
std::string timeline(const SwapReport& r) {
  const double left = 110, lane_height = 16, top = 34;
  const std::size_t devices = r.setup.machine.devices.size();
  const double device_height = 3 * lane_height + 14;
  const double scale = (svg::kWidth - left - 10) / std::max(r.choice.result.seconds, 1e-30);
  const double host_y = top + double(devices) * device_height;
  std::string out;
  const Lane lanes[] = {Lane::kCompute, Lane::kOut, Lane::kIn, Lane::kHost};
  for (std::size_t i = 0; i < 4; i++)
    out += svg::legend_entry(left + 130 * double(i), 6, svg::colour(i), name_of(lanes[i]));
  for (std::size_t d = 0; d < devices; d++)
    out += svg::text_at(left - 8, top + double(d) * device_height + 1.5 * lane_height + 5,
                        r.setup.machine.devices[d].name, "end");
  out += svg::text_at(left - 8, host_y + 12, "host", "end");
  for (const Slice& s : r.choice.result.timeline) {
    const std::size_t lane = std::size_t(s.lane);
    const double y =
        s.lane == Lane::kHost ? host_y : top + double(s.device) * device_height + double(lane) * lane_height;
    const double width = std::max(0.3, (s.end - s.start) * scale - 0.3);
    out += svg::box(left + s.start * scale, y, width, lane_height - 2, svg::colour(lane),
                    fmt::format("{}, {}: {} to {} ms", s.name, name_of(s.lane), ms(s.start), ms(s.end)));
  }
  const double base = host_y + lane_height + 6;
  out += svg::line(left, base, svg::kWidth - 10, base, svg::kAxis) +
         svg::text_at(left, base + 16, "0 ms", "start") +
         svg::text_at(svg::kWidth - 10, base + 16, ms(r.choice.result.seconds) + " ms", "end");
  return svg::drawing(int(base) + 24, out, "Computation and transfers of each device over a training step");
}

}  // namespace

double SwapReport::images_per_second() const { return setup.training.front().batch / choice.result.seconds; }

double SwapReport::stall_share() const {
  double stall = 0;
  for (const DeviceResult& d : choice.result.devices) stall += d.stall;
  return stall / (choice.result.seconds * double(choice.result.devices.size()));
}

std::string to_text(const SwapReport& r, std::size_t width) {
  Table devices({{"device", false, 0, true},
                 {"step ms", true, 0, false},
                 {"compute ms", true, 3, false},
                 {"stall ms", true, 0, false},
                 {"peak MiB", true, 0, false},
                 {"MiB out", true, 1, false},
                 {"MiB in", true, 2, false}});
  for (std::size_t d = 0; d < r.choice.result.devices.size(); d++) devices.add(device_row(r, d));
  Table swaps({{"device", false, 0, true},
               {"map", false, 0, true},
               {"MiB", true, 0, false},
               {"needed by", false, 2, true},
               {"comes back at", false, 0, true}});
  for (std::size_t d = 0; d < r.choice.plan.devices.size(); d++) {
    const Training& t = r.setup.training[d];
    for (const swap::Swap& s : r.choice.plan.devices[d]) {
      const HeldMap& map = t.maps[std::size_t(s.map)];
      swaps.add({r.setup.machine.devices[d].name, map.name, mib(map.wire_bytes),
                 t.steps[std::size_t(map.first_backward)].name, t.steps[std::size_t(s.trigger)].name});
    }
  }
  Table links({{"link", false, 0, true}, {"MiB", true, 0, false}, {"used", true, 0, false}});
  for (const swap::LinkResult& l : r.choice.result.links) links.add({l.name, mib(l.bytes), percent(l.share)});
  return swaps.text(width) + "\n" + devices.text(width) + "\n" + links.text(width) + "\n" + summary(r) + "\n";
}

nlohmann::ordered_json json_of(const SwapReport& r) {
  const swap::Result& result = r.choice.result;
  nlohmann::ordered_json j;
  j["network"] = r.setup.training.front().network;
  j["machine"] = r.setup.machine.name;
  j["policy"] = r.policy;
  j["note"] = r.choice.note;
  j["batch"] = r.setup.training.front().batch;
  j["images_per_second"] = r.images_per_second();
  j["step_seconds"] = result.seconds;
  j["stall_share"] = r.stall_share();
  j["peak_bytes"] = peak_bytes(r);
  j["pinned_bytes"] = result.pinned_bytes;
  j["triggers"] = nlohmann::ordered_json::array();
  for (std::size_t d = 0; d < r.choice.plan.devices.size(); d++) {
    const Training& t = r.setup.training[d];
    for (const swap::Swap& s : r.choice.plan.devices[d]) {
      const HeldMap& map = t.maps[std::size_t(s.map)];
      j["triggers"].push_back({{"device", r.setup.machine.devices[d].name},
                               {"map", map.name},
                               {"bytes", map.wire_bytes},
                               {"needed_by", t.steps[std::size_t(map.first_backward)].name},
                               {"at", t.steps[std::size_t(s.trigger)].name}});
    }
  }
  j["link_share"] = nlohmann::ordered_json::object();
  for (const swap::LinkResult& l : result.links) j["link_share"][l.name] = l.share;
  j["devices"] = nlohmann::ordered_json::array();
  for (std::size_t d = 0; d < result.devices.size(); d++) {
    const DeviceResult& one = result.devices[d];
    j["devices"].push_back({{"name", r.setup.machine.devices[d].name},
                            {"offset_seconds", r.choice.plan.offsets.empty() ? 0 : r.choice.plan.offsets[d]},
                            {"finish_seconds", one.finish},
                            {"compute_seconds", one.compute},
                            {"stall_seconds", one.stall},
                            {"peak_bytes", one.peak_bytes},
                            {"out_bytes", one.out_bytes},
                            {"in_bytes", one.in_bytes}});
  }
  return j;
}

std::string to_html(const SwapReport& r) {
  html::Table devices({"device", "#step ms", "#compute ms", "#stall ms", "#peak MiB", "#MiB out", "#MiB in"});
  for (std::size_t d = 0; d < r.choice.result.devices.size(); d++) devices.add(device_row(r, d));
  html::Table links({"link", "#MiB", "#used"});
  for (const swap::LinkResult& l : r.choice.result.links) links.add({l.name, mib(l.bytes), percent(l.share)});
  return html::page(r.setup.training.front().network + ": a training step on " + r.setup.machine.name,
                    "<p>" + html::escaped(summary(r)) + "</p>\n<h2>Timeline</h2>\n" + timeline(r) +
                        "<h2>Devices</h2>\n" + devices.text() + "<h2>Links</h2>\n" + links.text());
}

std::string trace_of(const SwapReport& r) {
  nlohmann::ordered_json events = nlohmann::ordered_json::array();
  const int host = int(r.setup.machine.devices.size());
  const auto name = [&](const char* what, int process, int track, const std::string& text) {
    events.push_back(
        {{"name", what}, {"ph", "M"}, {"pid", process}, {"tid", track}, {"args", {{"name", text}}}});
  };
  for (int d = 0; d <= host; d++) {
    name("process_name", d, 0, d == host ? "host" : r.setup.machine.devices[std::size_t(d)].name);
    for (Lane lane : {Lane::kCompute, Lane::kOut, Lane::kIn, Lane::kHost}) {
      if ((lane == Lane::kHost) == (d == host)) name("thread_name", d, int(lane), name_of(lane));
    }
  }
  for (const Slice& s : r.choice.result.timeline) {
    events.push_back({{"name", s.name},
                      {"ph", "X"},
                      {"pid", s.lane == Lane::kHost ? host : s.device},
                      {"tid", int(s.lane)},
                      {"ts", 1e6 * s.start},
                      {"dur", 1e6 * (s.end - s.start)}});
  }
  return nlohmann::ordered_json{{"displayTimeUnit", "ms"}, {"traceEvents", events}}.dump() + "\n";
}

}  // namespace kaiten
