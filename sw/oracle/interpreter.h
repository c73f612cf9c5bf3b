// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What the interpreter that a model was made for computes, tensor by tensor: LiteRT with its reference kernels, onnxruntime
// without graph optimisation. They are Python packages that `make setup ALL=1` installs; a program that is part of this
// library (interpreters.py) runs them in a child process. It shares no code with the reference executor.
#ifndef KAITEN_ORACLE_INTERPRETER_H
#define KAITEN_ORACLE_INTERPRETER_H

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "graph/graph.h"
#include "graph/values.h"
#include "observe/interpretation.h"

namespace kaiten::oracle {

enum class Interpreter { LiteRt, OnnxRuntime };

// "litert", "onnxruntime": as --oracle names them; nothing for others.
std::optional<Interpreter> interpreter_of(std::string_view name);
// That runs models of this framework.
Interpreter interpreter_of(Framework framework);

// Python with the packages: KAITEN_PYTHON, or that of the environment KAITEN_VENV, or of the one that this build was made
// with, or `python3`.
std::string python();

// Runs `images` images of inputs in the order of graph.inputs, stored values as Session::run() takes them. `model` is the
// file's bytes, which `graph` comes from. Tensors that the interpreter does not show, or under another type or size than
// ours, stay empty. Throws InputError where the interpreter is not installed, is made for the other framework or refuses
// the model, and what `cancellation_check` throws.
Interpretation interpret(Interpreter interpreter, std::span<const std::uint8_t> model, const Graph& graph,
                         int images, std::span<const Int8Values> inputs,
                         const std::function<void()>& cancellation_check = {});

// What interpreters.py left in a folder for a graph of the same model. Throws nlohmann::json::exception where it did not.
Interpretation read_interpretation(const std::filesystem::path& folder, const Graph& graph, int images);

}  // namespace kaiten::oracle

#endif  // KAITEN_ORACLE_INTERPRETER_H
