// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Layers on the accelerator in sublayers (ZNNi, section VII.A): maps lie in the computer's memory, and a run of a program
// takes some of them: a sub-batch of the images, a brick of the result with what lies below it, all maps of the result or
// some. Sums over parts of the maps that come in would leave the accelerator in int32, which it does not do. So its memory
// holds a program with one run's maps, however large the layer is.
#ifndef KAITEN_VOLUME_DEVICE_STAGES_H
#define KAITEN_VOLUME_DEVICE_STAGES_H

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "program/program.h"
#include "volume/int8_network.h"
#include "volume/plan.h"
#include "volume/slices.h"

namespace kaiten::volume {

// Layers [begin, end) of a network, convolutions and then at most one pooling layer, and what a run computes of them.
struct Stage {
  std::size_t begin = 0, end = 0;
  fft::Size brick;  // of the last layer's maps
  int images = 1;   // that come in, without a rest
  int maps = 0;     // of the result; not all of them: one convolution alone makes them

  bool operator==(const Stage&) const = default;
};

// The whole maps, all images: one run a stage.
std::vector<Stage> whole_stages(const Network& network, const Plan& plan);
// Throws InputError unless the stages are all layers, one after the other, and fit the plan's maps.
void require_stages(const Network& network, const Plan& plan, std::span<const Stage> stages);
// Runs of a stage with some maps of its result, inside a run of the plan.
std::uint64_t stage_runs(const Network& network, const Plan& plan, const Stage& stage);
// Of a stage's run: its layers as a network of their own have this plan.
Plan stage_plan(const Plan& plan, const Stage& stage);
// Its layers, with maps [first, first + count) of the result.
Int8Network stage_layers(const Int8Network& network, const Stage& stage, int first, int count);
// What a program of it is.
SliceGraph stage_graph(const Int8Network& layers, const Plan& stage, const Config& config);
// Where the layers of a stage begin to read for the result at `brick`.
fft::Size stage_origin(const Network& layers, const fft::Size& brick);

// Of the accelerator: constants, commands and all maps.
std::uint64_t memory_bytes(const Program& program);
// Whether all of it runs there.
bool all_on_device(const Program& program);

struct StageSearch {
  std::string config = "base";
  int most_side = 16;               // of a brick
  std::uint64_t memory = 0;         // of the accelerator, bytes; 0: enough
  double clock_mhz = 0;             // 0: 1
  double link = 0;                  // bytes a second between both memories; 0: takes no time
  std::function<void()> tick = {};  // may throw
};

struct StagesPlanned {
  std::vector<Stage> stages;
  std::uint64_t cycles = 0;      // of all runs, predicted
  std::uint64_t link_bytes = 0;  // that all runs move between both memories: maps, and weights once a program
  std::uint64_t memory_bytes = 0;  // of the accelerator, most of all programs
  double seconds = 0;
};

// Finds the fastest stages: for the layers up to a pooling layer either one program for all of them, of whole maps, or one
// for each convolution in bricks. Sub-batches with all maps come first; where none fits the accelerator's memory, parts of
// the maps. What programs take is compiled once. The network must outlive it.
class StagePlanner {
 public:
  StagePlanner(const Int8Network& network, StageSearch search);
  ~StagePlanner();

  // Of layers [begin, ...) of the network, inside a run of the plan, whose images before `begin` pass them all in so many
  // groups, one after the other. Throws InputError with the first reason where a layer fits in no way.
  StagesPlanned plan(const Plan& plan, std::size_t begin, int groups = 1);
  // What these stages take. Throws InputError where one does not fit.
  StagesPlanned cost(const Plan& plan, const std::vector<Stage>& stages);

 private:
  struct Cost;
  using Key = std::vector<int>;
  // Maps of the result that a program makes, of so many maps that come in.
  struct Results {
    int first = 0, count = 0, before = 0;
  };
  std::optional<Cost> program(const Stage& stage, Plan one, const Results& results);
  const std::optional<Cost>& compiled(const Stage& stage, const Plan& one, const Results& results);
  std::optional<StagesPlanned> cost(const Plan& plan, const Stage& stage);
  std::optional<StagesPlanned> best(const Plan& plan, std::size_t begin, std::size_t end);
  std::optional<StagesPlanned> best_of(const Plan& plan, Stage stage, const Maps& in,
                                       const std::vector<std::vector<fft::Size>>& bricks);
  std::optional<StagesPlanned> separate(const Plan& plan, std::size_t begin, std::size_t end);

  const Int8Network& network_;
  StageSearch search_;
  int groups_ = 1;
  std::map<Key, std::optional<Cost>> compiled_;
  void refuse(const Stage& stage, std::uint64_t bytes);

  std::optional<InputError> error_;  // the first reason
  Stage refused_;                    // for too little memory, and what it needs
  std::uint64_t least_bytes_ = 0;
};

}  // namespace kaiten::volume

#endif  // KAITEN_VOLUME_DEVICE_STAGES_H
