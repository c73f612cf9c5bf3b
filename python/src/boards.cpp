// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "boards.h"

#include <nanobind/stl/string.h>

#include <utility>

#include "docstrings.h"
#include "kaiten.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace kaiten::python {

BoardModel::BoardModel(const Graph& graph, const std::string& device, int batch,
                       std::function<void()> check_signals)
    : batch_(batch) {
  const nb::gil_scoped_release released;
  BoardOptions options;
  options.batch = batch;
  options.cancellation_check = std::move(check_signals);
  board_ = std::make_unique<Board>(graph, open_device(device), options);
}

nb::dict BoardModel::run(const nb::object& given, bool check) {
  const Inputs inputs = inputs_of(board_->graph(), given);
  if (inputs.images != batch_) {
    throw InputError("the board runs a batch of " + std::to_string(batch_) + ", given " +
                     std::to_string(inputs.images) + " images");
  }
  BoardRun run;
  bool exact = false;
  {
    const nb::gil_scoped_release released;
    const std::lock_guard lock(mutex_);
    run = board_->run(inputs.values);
    if (check) exact = run.outputs == board_->expected(inputs.values);
  }
  nb::dict result;
  result["outputs"] = outputs_of(board_->graph(), run.outputs, batch_);
  result["exact"] = check ? nb::cast(exact) : nb::none();
  result["cycles"] = run.cycles;
  result["array_busy"] = run.array_busy;
  result["bytes_read"] = run.bytes_read;
  result["bytes_written"] = run.bytes_written;
  result["seconds"] = run.seconds;
  return result;
}

void bind_board(nb::module_& m) {
  nb::class_<BoardModel>(m, "Board", "A model on an accelerator that exists: from Model.board().")
      .def_prop_ro("config", &BoardModel::config, "that the device's registers tell; 'custom': none of ours")
      .def_prop_ro("modelled_cycles", &BoardModel::modelled_cycles, "of a run, by the cycle model")
      .def_prop_ro("memory_bytes", &BoardModel::memory_bytes, "that the model takes in the device's memory")
      .def("run", &BoardModel::run, "inputs"_a, nb::kw_only(), "check"_a = false, docs::kBoardRun);
}

}  // namespace kaiten::python
