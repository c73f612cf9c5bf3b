// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "import/import.h"

#include <fstream>
#include <system_error>

#include "base/error.h"

namespace kaiten {

std::vector<std::uint8_t> read_model_file(const std::filesystem::path& path) {
  std::error_code error;
  const std::string shown = "'" + path.string() + "'";
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) throw InputError("no such file: " + shown);
  if (!std::filesystem::is_regular_file(status)) throw InputError("not a regular file: " + shown);
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  if (error) throw InputError("cannot read " + shown + ": " + error.message());
  if (bytes > kMaxModelBytes) {
    throw InputError(shown + " is too large: limit " + std::to_string(kMaxModelBytes) + " bytes, found " +
                     std::to_string(bytes));
  }
  std::vector<std::uint8_t> data(bytes);
  std::ifstream stream(path, std::ios::binary);
  if (!stream.read(reinterpret_cast<char*>(data.data()), std::streamsize(data.size()))) {
    throw InputError("cannot read " + shown);
  }
  return data;
}

ImportResult import_file(const std::filesystem::path& path) {
  const std::vector<std::uint8_t> file = read_model_file(path);
  if (path.extension() == ".onnx") return import_onnx(file, path.stem().string());
  return import_tflite(file, path.stem().string());
}

}  // namespace kaiten
