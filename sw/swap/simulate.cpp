// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "swap/simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <utility>

#include "swap/fair.h"

namespace kaiten::swap {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// The links of a machine as numbers: of device d up 2 d, down 2 d + 1; then the switches' alike; then the host's memory.
class Links {
 public:
  explicit Links(const Machine& machine) : machine_(machine), devices_(int(machine.devices.size())) {
    for (const Device& d : machine.devices) add(d.name, d.link_bytes_per_second);
    for (const Switch& s : machine.switches) add(s.name, s.uplink_bytes_per_second);
    names_.emplace_back("host.memory");
    capacity_.push_back(machine.host.memory_bytes_per_second);
  }

  std::vector<int> to_host(int device) const { return {2 * device, uplink(device), host()}; }
  std::vector<int> from_host(int device) const { return {2 * device + 1, uplink(device) + 1, host()}; }
  std::vector<int> between(int from, int to) const {
    std::vector<int> path{2 * from, 2 * to + 1};
    if (uplink(from) != uplink(to)) path.insert(path.end(), {uplink(from), uplink(to) + 1});
    return path;
  }
  const std::vector<double>& capacity() const { return capacity_; }
  const std::vector<std::string>& names() const { return names_; }

 private:
  void add(const std::string& name, double capacity) {
    for (const char* way : {".up", ".down"}) {
      names_.push_back(name + way);
      capacity_.push_back(capacity);
    }
  }
  int uplink(int device) const { return 2 * (devices_ + machine_.devices[std::size_t(device)].of_switch); }
  int host() const { return int(capacity_.size()) - 1; }

  const Machine& machine_;
  int devices_;
  std::vector<double> capacity_;
  std::vector<std::string> names_;
};

enum class Kind { kMapOut, kMapIn, kGradient, kWeights, kReduce };

struct Transfer {
  Kind kind = Kind::kMapOut;
  int device = 0;
  int index = -1;  // map, or layer of a gradient
  double bytes = 0;
  std::vector<int> path;
};

// A DMA engine: the head of the queue is being transferred where `busy`.
struct Engine {
  std::deque<Transfer> queue;
  bool busy = false;
  bool flowing = false;     // the fixed cost is over
  double start = 0;         // of the head
  double flow_at = kNever;  // when the fixed cost is over
  double left = 0;          // bytes
  double rate = 0;
  double end = kNever;  // at this rate
};

struct MapState {
  bool swapped = false;
  bool resident = false;
  bool back = false;  // and here again
  bool left = false;  // it is at the host
  bool used = false;  // the forward pass is done with it
  int trigger = 0;
};

struct DeviceState {
  int op = 0;            // forward 0 to n - 1, backward n to 2 n - 1
  bool reached = false;  // its triggers have fired
  bool busy = false;
  double start = 0, end = kNever, last_end = 0;
  double used = 0;
  int leaving = 0;  // maps on their way out
  std::vector<MapState> maps;
  std::vector<std::vector<int>> fires;  // by layer: swapped maps that its backward pass calls
  Engine engines[2];                    // out, in
};

struct Job {
  std::vector<int> devices;
  int computing = 0;
  int sending = 0;      // gradients that have not arrived
  bool summed = false;  // or being so
  double sum_end = kNever;
};

class Simulation {
 public:
  Simulation(const Scenario& scenario, const Plan& plan, bool timeline)
      : setup_(scenario), plan_(plan), timeline_(timeline), links_(scenario.machine) {
    const std::size_t n = scenario.machine.devices.size();
    devices_.resize(n);
    result_.devices.resize(n);
    carried_.assign(links_.capacity().size(), 0);
    needs_.resize(n);
    for (std::size_t d = 0; d < n; d++) prepare(d);
    jobs_.resize(scenario.independent ? n : 1);
    for (std::size_t d = 0; d < n; d++) jobs_[scenario.independent ? d : 0].devices.push_back(int(d));
    for (Job& j : jobs_) j.computing = int(j.devices.size());
    open_ = int(n);
  }

  Result run() {
    while (open_ > 0 && result_.fits()) {
      settle();
      if (!result_.fits() || open_ == 0) break;
      share();
      const double next = next_event();
      if (next == kNever) {
        explain();
        break;
      }
      advance(next);
    }
    result_.seconds = now_;
    for (std::size_t l = 0; l < carried_.size(); l++) {
      const double could = links_.capacity()[l] * now_;
      result_.links.push_back({links_.names()[l], carried_[l], could > 0 ? carried_[l] / could : 0});
    }
    return std::move(result_);
  }

 private:
  const Training& training(int d) const { return setup_.training[std::size_t(d)]; }
  const Device& device(int d) const { return setup_.machine.devices[std::size_t(d)]; }
  DeviceState& state(int d) { return devices_[std::size_t(d)]; }
  double offset(int d) const { return plan_.offsets.empty() ? 0 : plan_.offsets[std::size_t(d)]; }
  int layers(int d) const { return int(training(d).steps.size()); }
  int layer_of(int d, int op) const { return op < layers(d) ? op : 2 * layers(d) - 1 - op; }

  void prepare(std::size_t d) {
    const Training& t = setup_.training[d];
    DeviceState& s = devices_[d];
    s.maps.resize(t.maps.size());
    s.fires.resize(t.steps.size());
    for (const Swap& swap : plan_.devices[d]) {
      MapState& map = s.maps[std::size_t(swap.map)];
      map.swapped = true;
      map.trigger = swap.trigger;
      s.fires[std::size_t(swap.trigger)].push_back(swap.map);
    }
    for (auto& maps : s.fires) {
      std::stable_sort(maps.begin(), maps.end(), [&](int a, int b) {
        return t.maps[std::size_t(a)].first_backward > t.maps[std::size_t(b)].first_backward;
      });
    }
    s.used = device(int(d)).of_network(t.network).reserved_bytes + 2 * t.weight_bytes + t.input_bytes;
    result_.devices[d].peak_bytes = s.used;
    if (s.used > device(int(d)).memory_bytes) fail(int(d), "weights and images");
    // Maps by what happens to them, so that an operation looks at its own alone.
    Needs& n = needs_[d];
    n.produced.resize(t.steps.size());
    n.forward_done.resize(t.steps.size());
    n.read.resize(t.steps.size());
    n.backward_done.resize(t.steps.size());
    for (int m = 0; m < int(t.maps.size()); m++) {
      const HeldMap& map = t.maps[std::size_t(m)];
      n.produced[std::size_t(map.producer)].push_back(m);
      n.forward_done[std::size_t(map.last_forward)].push_back(m);
      if (map.first_backward < 0) continue;
      n.read[std::size_t(map.first_backward)].push_back(m);
      n.backward_done[std::size_t(map.last_backward)].push_back(m);
    }
  }

  void fail(int d, const std::string& what) {
    if (result_.fits())
      result_.failure = fmt::format("out of memory on {}, {}: {} of {} bytes are taken", device(d).name, what,
                                    std::uint64_t(state(d).used), std::uint64_t(device(d).memory_bytes));
  }
  // Nothing happens any more.
  void explain() {
    for (int d = 0; d < int(devices_.size()); d++) {
      const Engine& out = state(d).engines[0];
      if (!out.busy && !out.queue.empty()) {
        result_.failure = fmt::format("out of pinned memory: {} of {} bytes are taken when {} of {} leaves",
                                      std::uint64_t(pinned_), std::uint64_t(setup_.machine.host.pinned_bytes),
                                      map_name(out.queue.front()), device(d).name);
        return;
      }
    }
    for (int d = 0; d < int(devices_.size()); d++) {
      if (state(d).op == 2 * layers(d)) continue;
      const auto layer = std::size_t(layer_of(d, state(d).op));
      fail(d, fmt::format("where {} of {} waits for maps that cannot leave or come back",
                          state(d).op < layers(d) ? "the forward pass" : "the backward pass",
                          training(d).steps[layer].name));
      return;
    }
    result_.failure = "nothing can go on: every device waits";
  }
  std::string map_name(const Transfer& t) const {
    switch (t.kind) {
      case Kind::kMapOut:
      case Kind::kMapIn:
        return training(t.device).maps[std::size_t(t.index)].name;
      case Kind::kGradient:
        return "gradient of " + training(t.device).steps[std::size_t(t.index)].name;
      case Kind::kWeights:
        return "weights";
      case Kind::kReduce:
        return "all-reduce";
    }
    return {};
  }

  // True where it fits; ends the run where it never will.
  bool allocate(int d, double bytes, double freed, const std::string& what) {
    DeviceState& s = state(d);
    if (s.used - freed + bytes > device(d).memory_bytes) {
      if (s.leaving == 0) fail(d, what);
      return false;
    }
    s.used += bytes - freed;
    result_.devices[std::size_t(d)].peak_bytes = std::max(result_.devices[std::size_t(d)].peak_bytes, s.used);
    return true;
  }

  // Starts all that can start now.
  void settle() {
    for (bool moved = true; moved && result_.fits();) {
      moved = false;
      for (int d = 0; d < int(devices_.size()); d++) {
        moved = begin_transfer(d, 0) || moved;
        moved = begin_transfer(d, 1) || moved;
        moved = begin_operation(d) || moved;
      }
      for (Job& j : jobs_) moved = begin_sum(j) || moved;
    }
  }

  bool begin_operation(int d) {
    DeviceState& s = state(d);
    const Training& t = training(d);
    const int n = layers(d);
    if (s.busy || s.op == 2 * n || now_ < offset(d)) return false;
    const bool forward = s.op < n;
    const std::size_t layer = std::size_t(layer_of(d, s.op));
    const Needs& needs = needs_[std::size_t(d)];
    bool moved = false;
    if (!forward && !s.reached) {
      s.reached = moved = true;
      for (int m : s.fires[layer]) {
        const double bytes = t.maps[std::size_t(m)].wire_bytes;
        s.engines[1].queue.push_back({Kind::kMapIn, d, m, bytes, links_.from_host(d)});
      }
    }
    double bytes = 0, freed = 0;
    if (forward) {
      for (int m : needs.produced[layer]) bytes += t.maps[std::size_t(m)].bytes;
    } else {
      for (int m : needs.read[layer]) {
        const MapState& map = s.maps[std::size_t(m)];
        if (map.swapped && !map.back) return moved;
      }
      bytes = t.steps[layer].gradient_bytes;
      if (t.steps[layer].output_freed_first) freed = output_bytes(d, int(layer));
    }
    if (!allocate(d, bytes, freed,
                  (forward ? "forward pass of " : "backward pass of ") + t.steps[layer].name))
      return moved;
    for (int m : needs.produced[layer]) {
      if (forward) s.maps[std::size_t(m)].resident = true;
    }
    s.busy = true;
    s.start = now_;
    const double seconds = forward ? t.steps[layer].forward_seconds : t.steps[layer].backward_seconds;
    s.end = now_ + seconds;
    result_.devices[std::size_t(d)].compute += seconds;
    result_.devices[std::size_t(d)].stall += now_ - std::max(s.last_end, offset(d));
    return true;
  }

  // Maps that a layer's own backward pass alone still needs and frees before it allocates.
  double output_bytes(int d, int layer) const {
    double sum = 0;
    for (int m : needs_[std::size_t(d)].backward_done[std::size_t(layer)]) {
      const HeldMap& map = training(d).maps[std::size_t(m)];
      if (map.producer == layer) sum += map.bytes;
    }
    return sum;
  }

  void end_operation(int d) {
    DeviceState& s = state(d);
    const Training& t = training(d);
    const int n = layers(d);
    const bool forward = s.op < n;
    const std::size_t layer = std::size_t(layer_of(d, s.op));
    const Needs& needs = needs_[std::size_t(d)];
    if (timeline_)
      result_.timeline.push_back(
          {Lane::kCompute, d, t.steps[layer].name + (forward ? "" : " backward"), s.start, now_});
    s.busy = s.reached = false;
    s.end = kNever;
    s.last_end = now_;
    s.op++;
    if (forward) {
      for (int m : needs.produced[layer]) {
        if (!s.maps[std::size_t(m)].swapped) continue;
        s.leaving++;
        s.engines[0].queue.push_back(
            {Kind::kMapOut, d, m, t.maps[std::size_t(m)].wire_bytes, links_.to_host(d)});
      }
      for (int m : needs.forward_done[layer]) {
        s.maps[std::size_t(m)].used = true;
        release_forward(d, m);
      }
      return;
    }
    const double early = t.steps[layer].output_freed_first ? output_bytes(d, int(layer)) : 0;
    for (int m : needs.backward_done[layer]) s.used -= t.maps[std::size_t(m)].bytes;
    s.used += early - t.steps[layer].gradient_freed;
    Job& job = jobs_[setup_.independent ? std::size_t(d) : 0];
    if (setup_.sum == Sum::kHost && t.steps[layer].weight_bytes > 0) {
      s.engines[0].queue.push_back(
          {Kind::kGradient, d, int(layer), t.steps[layer].weight_bytes, links_.to_host(d)});
      job.sending++;
    }
    if (s.op == 2 * n) job.computing--;
  }

  // Frees a map where the forward pass is done with it and it is at the host or needed no more.
  void release_forward(int d, int m) {
    DeviceState& s = state(d);
    MapState& map = s.maps[std::size_t(m)];
    const HeldMap& held = training(d).maps[std::size_t(m)];
    if (!map.used || !map.resident) return;
    if (held.first_backward >= 0 && !(map.swapped && map.left)) return;
    map.resident = false;
    s.used -= held.bytes;
    if (map.swapped) s.leaving--;
  }

  bool begin_transfer(int d, int way) {
    DeviceState& s = state(d);
    Engine& e = s.engines[way];
    if (e.busy || e.queue.empty()) return false;
    const Transfer& t = e.queue.front();
    if (t.kind == Kind::kMapOut) {
      if (pinned_ + t.bytes > setup_.machine.host.pinned_bytes) return false;
      pinned_ += t.bytes;
      result_.pinned_bytes = std::max(result_.pinned_bytes, pinned_);
    } else if (t.kind == Kind::kMapIn) {
      const MapState& map = s.maps[std::size_t(t.index)];
      if (!map.left || map.resident) return false;
      const HeldMap& held = training(d).maps[std::size_t(t.index)];
      if (!allocate(d, held.bytes, 0, "swap-in of " + held.name)) return false;
    }
    e.busy = true;
    e.flowing = false;
    e.start = now_;
    e.left = t.bytes;
    e.flow_at = now_ + setup_.machine.transfer_seconds;
    if (setup_.machine.transfer_seconds == 0) flow(e);
    return true;
  }
  void flow(Engine& e) {
    e.flowing = changed_ = true;
    e.flow_at = kNever;
  }

  void end_transfer(int d, int way) {
    DeviceState& s = state(d);
    Engine& e = s.engines[way];
    const Transfer t = std::move(e.queue.front());
    e.queue.pop_front();
    e.busy = e.flowing = false;
    e.end = kNever;
    changed_ = true;
    for (int l : t.path) carried_[std::size_t(l)] += t.bytes;
    if (timeline_)
      result_.timeline.push_back({way == 0 ? Lane::kOut : Lane::kIn, d, map_name(t), e.start, now_});
    Job& job = jobs_[setup_.independent ? std::size_t(d) : 0];
    DeviceResult& r = result_.devices[std::size_t(d)];
    switch (t.kind) {
      case Kind::kMapOut:
        r.out_bytes += t.bytes;
        s.maps[std::size_t(t.index)].left = true;
        release_forward(d, t.index);
        break;
      case Kind::kMapIn:
        r.in_bytes += t.bytes;
        pinned_ -= t.bytes;
        s.maps[std::size_t(t.index)].resident = s.maps[std::size_t(t.index)].back = true;
        break;
      case Kind::kGradient:
        job.sending--;
        break;
      case Kind::kWeights:
      case Kind::kReduce:
        finish(d);
        break;
    }
  }
  void finish(int d) {
    double finish = now_;
    // Every device updates its own weights after an all-reduce: gradient and weights read, weights written.
    if (setup_.sum == Sum::kAllReduce)
      finish += 3 * training(d).weight_bytes / device(d).memory_bytes_per_second;
    result_.devices[std::size_t(d)].finish = finish;
    last_finish_ = std::max(last_finish_, finish);
    if (--open_ == 0) now_ = last_finish_;
  }

  bool begin_sum(Job& job) {
    if (job.summed || job.computing > 0 || job.sending > 0) return false;
    job.summed = true;
    const double bytes = training(job.devices.front()).weight_bytes;
    const double n = double(job.devices.size());
    if (bytes == 0 || (setup_.sum == Sum::kAllReduce && n == 1)) {
      for (int d : job.devices) finish(d);
    } else if (setup_.sum == Sum::kAllReduce) {
      for (std::size_t i = 0; i < job.devices.size(); i++) {
        const int from = job.devices[i], to = job.devices[(i + 1) % job.devices.size()];
        state(from).engines[0].queue.push_back(
            {Kind::kReduce, from, -1, 2 * (n - 1) / n * bytes, links_.between(from, to)});
      }
    } else {
      const double start = std::max(now_, cpu_free_);
      cpu_free_ = job.sum_end = start + (n + 2) * bytes / setup_.machine.host.sum_bytes_per_second;
      if (timeline_)
        result_.timeline.push_back({Lane::kHost, job.devices.front(), "sum and update", start, job.sum_end});
    }
    return true;
  }
  void end_sum(Job& job) {
    job.sum_end = kNever;
    for (int d : job.devices)
      state(d).engines[1].queue.push_back(
          {Kind::kWeights, d, -1, training(d).weight_bytes, links_.from_host(d)});
  }

  // Rates, where what flows has changed.
  void share() {
    if (!changed_) return;
    changed_ = false;
    std::vector<Engine*> engines;
    std::vector<std::vector<int>> flows;
    for (DeviceState& s : devices_) {
      for (Engine& e : s.engines) {
        if (!e.flowing) continue;
        engines.push_back(&e);
        flows.push_back(e.queue.front().path);
      }
    }
    const std::vector<double> rates = fair_shares(links_.capacity(), flows);
    for (std::size_t i = 0; i < engines.size(); i++) {
      engines[i]->rate = rates[i];
      engines[i]->end = now_ + engines[i]->left / rates[i];
    }
  }

  double next_event() const {
    double next = kNever;
    for (int d = 0; d < int(devices_.size()); d++) {
      const DeviceState& s = devices_[std::size_t(d)];
      if (offset(d) > now_) next = std::min(next, offset(d));
      next = std::min(
          {next, s.end, s.engines[0].flow_at, s.engines[0].end, s.engines[1].flow_at, s.engines[1].end});
    }
    for (const Job& j : jobs_) next = std::min(next, j.sum_end);
    return next;
  }

  void advance(double to) {
    const double passed = to - now_;
    now_ = to;
    for (int d = 0; d < int(devices_.size()); d++) {
      DeviceState& s = state(d);
      for (int way : {0, 1}) {
        Engine& e = s.engines[way];
        if (e.flowing) e.left = std::max(0.0, e.left - e.rate * passed);
        if (e.end <= now_) {
          end_transfer(d, way);
        } else if (e.flow_at <= now_) {
          flow(e);
        }
      }
      if (s.end <= now_) end_operation(d);
    }
    for (Job& j : jobs_) {
      if (j.sum_end <= now_) end_sum(j);
    }
  }

  struct Needs {  // maps by layer
    std::vector<std::vector<int>> produced, forward_done, read, backward_done;
  };

  const Scenario& setup_;
  const Plan& plan_;
  bool timeline_;
  Links links_;
  std::vector<DeviceState> devices_;
  std::vector<Needs> needs_;
  std::vector<Job> jobs_;
  std::vector<double> carried_;  // bytes by link
  Result result_;
  double now_ = 0, pinned_ = 0, cpu_free_ = 0, last_finish_ = 0;
  bool changed_ = false;
  int open_ = 0;
};

}  // namespace

Result simulate(const Scenario& scenario, const Plan& plan, bool timeline) {
  return Simulation(scenario, plan, timeline).run();
}

}  // namespace kaiten::swap
