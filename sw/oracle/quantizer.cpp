// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "oracle/quantizer.h"

#include <fstream>
#include <iterator>

#include "base/error.h"
#include "base/output.h"
#include "oracle/interpreter.h"
#include "oracle/program.h"

namespace kaiten::oracle {

namespace fs = std::filesystem;

namespace {

constexpr char kProgram[] =
#include "quantizer_py.inc"
    ;
constexpr int kPackageMissing = 3;  // exit code of the program

void run_task(const PrivateFolder& folder, const std::string& task,
              const std::function<void()>& cancellation_check) {
  write_output(folder.path() / "quantizer.py", kProgram);
  const std::string program = python();
  const Ended ended =
      run_program({program, "-B", (folder.path() / "quantizer.py").string(), folder.path().string(), task},
                  folder.path(), cancellation_check);
  if (ended.code == 0) return;
  if (ended.code == 127) {
    throw InputError("quantize cannot start '" + program + "': " + ended.last_line +
                     " (KAITEN_PYTHON names another Python)");
  }
  if (ended.code == kPackageMissing) {
    throw InputError("quantize needs onnxruntime's quantiser: " + ended.last_line + " in '" + program +
                     "'; `make setup ALL=1` installs it, or KAITEN_PYTHON names a Python that has it");
  }
  throw InputError("cannot quantise this model: " + (ended.last_line.empty()
                                                         ? "ended with code " + std::to_string(ended.code)
                                                         : ended.last_line));
}

nlohmann::json read_json(const fs::path& path) {
  std::ifstream in(path);
  return nlohmann::json::parse(in);
}

}  // namespace

Tensor float_input(std::span<const std::uint8_t> model, const std::function<void()>& cancellation_check) {
  const PrivateFolder folder;
  write_output(folder.path() / "model", model);
  run_task(folder, "describe", cancellation_check);
  const nlohmann::json input = read_json(folder.path() / "inputs.json").at(0);
  Tensor tensor;
  tensor.name = input.at("name");
  tensor.type = tensor.model_type = ElementType::Float32;
  tensor.model_layout = Layout::Nchw;
  tensor.shape = input.at("shape").get<std::vector<int>>();
  return tensor;
}

Quantized quantize(std::span<const std::uint8_t> model, std::span<const std::uint8_t> images,
                   std::size_t count, const std::vector<std::string>& methods,
                   const std::function<void()>& cancellation_check) {
  const PrivateFolder folder;
  write_output(folder.path() / "model", model);
  write_output(folder.path() / "images", images);
  write_output(folder.path() / "request.json",
               nlohmann::json{{"images", count}, {"methods", methods}}.dump());
  run_task(folder, "quantize", cancellation_check);
  std::ifstream in(folder.path() / "int8", std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
  return {{bytes.begin(), bytes.end()}, read_json(folder.path() / "report.json")};
}

}  // namespace kaiten::oracle
