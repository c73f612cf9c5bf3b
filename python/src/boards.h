// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Accelerators that exist: a model on a board, or behind a bridge.
#ifndef KAITEN_PYTHON_BOARDS_H
#define KAITEN_PYTHON_BOARDS_H

#include <nanobind/nanobind.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "arrays.h"
#include "board/board.h"

namespace kaiten::python {

// `check_signals` throws when Ctrl-C was pressed; it takes the GIL for itself.
class BoardModel {
 public:
  BoardModel(const Graph& graph, const std::string& device, int batch, std::function<void()> check_signals);

  nanobind::dict run(const nanobind::object& inputs, bool check);
  std::string config() const { return board_->config().name; }
  std::uint64_t modelled_cycles() const { return board_->modelled_cycles(); }
  std::uint64_t memory_bytes() const { return board_->memory_bytes(); }

 private:
  int batch_;
  std::unique_ptr<Board> board_;
  std::mutex mutex_;  // runs take turns
};

void bind_board(nanobind::module_& m);

}  // namespace kaiten::python

#endif  // KAITEN_PYTHON_BOARDS_H
