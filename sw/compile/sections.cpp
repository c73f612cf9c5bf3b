// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "compile/sections.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/error.h"
#include "compile/compile_lowering.h"
#include "compile/lower/lower.h"
#include "graph/part.h"

namespace kaiten {

namespace {

// When and where an operator runs.
struct Stage {
  int section = 0;
  bool on_host = false;
  bool after_device = false;  // something on the device computes what it needs
};

class Cutter {
 public:
  Cutter(const Graph& graph, std::vector<bool> on_host)
      : graph_(graph), on_host_(std::move(on_host)), stages_(graph.ops.size()) {
    for (std::size_t i = 0; i < graph.ops.size(); i++) producer_[graph.ops[i].output] = int(i);
    do {
      for (std::size_t i = 0; i < graph.ops.size(); i++) stages_[i] = stage_of(graph.ops[i], on_host_[i]);
    } while (keep_tails_on_host());
  }

  // At least one, which may have no operators: outputs can be inputs.
  std::vector<Section> cut() const {
    int count = 1;
    for (const Stage& p : stages_) count = std::max(count, p.section + 1);
    std::vector<Section> sections;
    for (int s = 0; s < count; s++) {
      Section section = section_of(s);
      if (count == 1 || !section.ops.empty()) sections.push_back(std::move(section));
    }
    return sections;
  }

 private:
  const Stage* producer_of(int tensor) const {
    const auto at = producer_.find(tensor);
    return at == producer_.end() ? nullptr : &stages_[std::size_t(at->second)];
  }

  // What the host makes of results of the device is there when the section is over.
  Stage stage_of(const Op& op, bool host) const {
    Stage p;
    p.on_host = host;
    if (op.kind == OpKind::Reshape) {
      const Stage* producer = producer_of(op.inputs.front());
      p.on_host = host || (producer != nullptr && producer->on_host);
    }
    for (int t : op.inputs) {
      const Stage* producer = producer_of(t);
      if (producer == nullptr) continue;
      const bool next = !p.on_host && producer->on_host && producer->after_device;
      p.section = std::max(p.section, producer->section + (next ? 1 : 0));
      p.after_device = p.after_device || !producer->on_host || producer->after_device;
    }
    return p;
  }

  // One function of each value that comes from the host, for nothing on the device: the few values stay there. True: it moved
  // operators, and what follows them may move too.
  bool keep_tails_on_host() {
    bool moved = false;
    for (std::size_t i = 0; i < graph_.ops.size(); i++) {
      const Op& op = graph_.ops[i];
      if (op.kind != OpKind::Quantize && op.kind != OpKind::Table && op.kind != OpKind::Reshape) continue;
      const Stage* producer = producer_of(op.inputs.front());
      if (stages_[i].on_host || producer == nullptr || !producer->on_host || !producer->after_device ||
          feeds_device(op.output))
        continue;
      on_host_[i] = moved = true;
    }
    return moved;
  }

  bool feeds_device(int tensor) const {
    for (std::size_t i = 0; i < graph_.ops.size(); i++) {
      const std::vector<int>& inputs = graph_.ops[i].inputs;
      if (!stages_[i].on_host && std::find(inputs.begin(), inputs.end(), tensor) != inputs.end()) return true;
    }
    return false;
  }

  Section section_of(int number) const {
    Section s;
    for (std::size_t i = 0; i < graph_.ops.size(); i++) {
      if (stages_[i].section == number) s.ops.push_back(int(i));
    }
    Graph part = part_of(graph_, s.ops);
    for (std::size_t i = 0; i < s.ops.size(); i++)
      part.ops[i].on_host = stages_[std::size_t(s.ops[i])].on_host;
    s.graph = std::make_shared<const Graph>(std::move(part));
    return s;
  }

  const Graph& graph_;
  std::vector<bool> on_host_;  // by operator
  std::vector<Stage> stages_;
  std::map<int, int> producer_;  // of a tensor: the operator
};

}  // namespace

std::vector<Section> SectionCuts::of(const std::vector<bool>& on_host) {
  const std::lock_guard lock(guard_);
  const auto [at, is_new] = known_.try_emplace(on_host);
  if (is_new) at->second = Cutter(graph_, on_host).cut();
  return at->second;
}

namespace {

// By operator: no engine has it.
std::vector<bool> without_engine(const Graph& graph) {
  std::vector<bool> on_host;
  for (const Op& op : graph.ops) on_host.push_back(op.kind != OpKind::Reshape && needs_host(graph, op));
  return on_host;
}

// A line for each limit: the first layer that breaks it, and how many more do.
std::vector<std::string> notes_of(const std::vector<std::string>& reasons) {
  const std::string_view mark = ": limit: ";
  std::vector<std::pair<std::string, int>> first;  // of a limit, and its layers
  for (const std::string& reason : reasons) {
    const auto limit_of = [&](const std::string& text) {
      const std::size_t at = text.find(mark);
      return at == std::string::npos ? std::string_view(text) : std::string_view(text).substr(at);
    };
    const auto known = std::find_if(first.begin(), first.end(), [&](const auto& entry) {
      return limit_of(entry.first) == limit_of(reason);
    });
    if (known == first.end())
      first.emplace_back(reason, 1);
    else
      known->second++;
  }
  std::vector<std::string> notes;
  for (auto& [reason, layers] : first) {
    if (layers > 1)
      reason.insert(std::min(reason.find(mark), reason.size()),
                    " and " + std::to_string(layers - 1) + " more");
    notes.push_back("on the host: " + reason);
  }
  return notes;
}

class SectionCompiler {
 public:
  SectionCompiler(SectionCuts& cuts, const Config& config, const CompileOptions& options)
      : cuts_(cuts), config_(config), options_(options), on_host_(without_engine(cuts.graph())) {}

  CompiledSections run() {
    // Each round that is not the last moves operators to the host.
    while (!attempt()) {
    }
    if (!result_.refusals.empty()) result_.sections.clear();
    result_.moved = moved_reasons_;
    if (!result_.sections.empty()) {
      std::vector<std::string>& first = result_.sections.front().program.notes;
      const std::vector<std::string> notes = notes_of(moved_reasons_);
      first.insert(first.begin(), notes.begin(), notes.end());
      const std::vector<std::string>& imported = cuts_.graph().notes;
      first.insert(first.begin(), imported.begin(), imported.end());
    }
    return std::move(result_);
  }

 private:
  // False: with more operators on the host, another time.
  bool attempt() {
    moved_ = false;
    std::vector<Section> before = std::move(result_.sections);
    result_ = {cuts_.of(on_host_), {}, {}};
    std::vector<std::optional<Lowering>> lowerings;  // of those that are not compiled yet
    for (Section& s : result_.sections) {
      lowerings.emplace_back();
      if (take_program(before, s)) continue;
      lowerings.back() = lower_for(*s.graph, config_, options_);
      for (const Lowering::Refusal& r : lowerings.back()->refusals) refuse(s, r.op, r.reason);
    }
    for (std::size_t i = 0; i < lowerings.size() && !moved_ && result_.refusals.empty(); i++) {
      Section& s = result_.sections[i];
      if (!lowerings[i]) continue;
      try {
        s.program = compile_lowering(*s.graph, config_, *std::move(lowerings[i]), options_);
        refuse_unencodable(s);
      } catch (const InputError& e) {
        refuse(s, named_in(*s.graph, e.what()), e.what());
      } catch (const DeviceError& e) {
        refuse(s, named_in(*s.graph, e.what()), e.what());
      }
    }
    return !moved_;
  }

  // Most sections stay as they are when an operator of another one moves to the host.
  static bool take_program(std::vector<Section>& before, Section& s) {
    const auto as_placed = [](const Op& a, const Op& b) { return a.on_host == b.on_host; };
    const auto same = std::find_if(before.begin(), before.end(), [&](const Section& b) {
      const std::vector<Op>&ops = b.graph->ops, &others = s.graph->ops;
      return !b.program.layers.empty() && b.ops == s.ops &&
             std::equal(ops.begin(), ops.end(), others.begin(), others.end(), as_placed);
    });
    if (same == before.end()) return false;
    s.program = std::move(same->program);
    return true;
  }

  // What the device cannot do the host does; without an operator, or where it is there already, it stays undone.
  void refuse(const Section& s, int op, const std::string& reason) {
    if (op < 0 || on_host_[std::size_t(s.ops[std::size_t(op)])]) {
      result_.refusals.push_back(reason);
      return;
    }
    on_host_[std::size_t(s.ops[std::size_t(op)])] = moved_ = true;
    moved_reasons_.push_back(reason);
  }

  // Values beyond a command's fields show here, not when the driver loads the program.
  void refuse_unencodable(const Section& s) {
    std::set<int> refused;
    for (std::size_t i = 0; i < s.program.commands.size(); i++) {
      try {
        encode(s.program.commands[i]);
      } catch (const DeviceError& e) {
        const int at = s.program.meta[i].op;
        const Op& op = s.graph->ops[std::size_t(at)];
        if (refused.insert(at).second)
          refuse(s, at,
                 "layer '" + op.name + "' (" + std::string(name_of(op.kind)) + "): limit: " + e.what());
      }
    }
  }

  // The operator that a reason begins with, or -1.
  static int named_in(const Graph& graph, const std::string& reason) {
    for (std::size_t i = 0; i < graph.ops.size(); i++) {
      if (reason.starts_with("layer '" + graph.ops[i].name + "' (")) return int(i);
    }
    return -1;
  }

  SectionCuts& cuts_;
  const Config& config_;
  const CompileOptions& options_;
  std::vector<bool> on_host_;  // by operator
  bool moved_ = false;
  CompiledSections result_;
  std::vector<std::string> moved_reasons_;
};

}  // namespace

CompiledSections try_compile_sections(const Graph& graph, const Config& config,
                                      const CompileOptions& options) {
  SectionCuts cuts(graph);
  return try_compile_sections(cuts, config, options);
}

CompiledSections try_compile_sections(SectionCuts& cuts, const Config& config,
                                      const CompileOptions& options) {
  return SectionCompiler(cuts, config, options).run();
}

SectionLowerings lower_sections(const Graph& graph, const Config& config, const CompileOptions& options) {
  SectionLowerings result;
  for (const Section& s : Cutter(graph, without_engine(graph)).cut()) {
    result.lowerings.push_back(lower_for(*s.graph, config, options));
    for (const Lowering::Refusal& r : result.lowerings.back().refusals) result.refusals.push_back(r.reason);
  }
  return result;
}

std::vector<Section> compile_sections(const Graph& graph, const Config& config,
                                      const CompileOptions& options) {
  CompiledSections compiled = try_compile_sections(graph, config, options);
  if (compiled.refusals.empty()) return std::move(compiled.sections);
  throw InputError(first_of(compiled.refusals));
}

}  // namespace kaiten
