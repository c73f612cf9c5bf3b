// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "evaluate/dataset.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <fstream>
#include <initializer_list>

#include "base/error.h"

namespace kaiten {

namespace fs = std::filesystem;

namespace {

constexpr int kMostClasses = 1 << 24;

bool has_image_name(const fs::path& path) {
  std::string extension = path.extension().string();
  for (char& c : extension) c = char(std::tolower(static_cast<unsigned char>(c)));
  const auto known = {".png", ".jpg", ".jpeg", ".bmp", ".ppm", ".pgm"};
  return std::find(known.begin(), known.end(), extension) != known.end();
}

// The number that the whole text is, or kNoLabel.
int number_of(const std::string& text) {
  int n = 0;
  const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  return error == std::errc{} && at == text.data() + text.size() && n >= 0 && n < kMostClasses ? n : kNoLabel;
}

// The classes of the folders, in their order.
std::vector<int> classes_of(const std::vector<std::string>& folders, std::span<const std::string> labels,
                            std::string& rule) {
  std::vector<int> classes;
  classes.reserve(folders.size());
  for (const std::string& folder : folders) classes.push_back(number_of(folder));
  rule = "numbers of the folders";
  if (std::find(classes.begin(), classes.end(), kNoLabel) == classes.end()) return classes;
  classes.clear();
  rule = "lines of the folders' names in the list of labels";
  for (const std::string& folder : folders) {
    const auto found = std::find(labels.begin(), labels.end(), folder);
    if (found != labels.end()) classes.push_back(int(found - labels.begin()));
  }
  if (classes.size() == folders.size()) return classes;
  if (!classes.empty()) {
    throw InputError(fmt::format("{} of {} folders have no line of their name in the list of labels",
                                 folders.size() - classes.size(), folders.size()));
  }
  rule = "places of the folders in the order of their names";
  for (std::size_t i = 0; i < folders.size(); i++) classes.push_back(int(i));
  return classes;
}

Dataset read_folder(const fs::path& path, std::span<const std::string> labels) {
  Dataset set;
  std::error_code error;
  for (fs::recursive_directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
    if (at->is_regular_file(error) && has_image_name(at->path())) set.files.push_back(at->path());
  }
  if (error) throw InputError("cannot read '" + path.string() + "': " + error.message());
  if (set.files.empty()) throw InputError("no images in '" + path.string() + "' (PNG, JPEG, BMP, PPM)");
  std::sort(set.files.begin(), set.files.end());
  std::vector<std::string> folders;
  for (const fs::path& file : set.files) {
    const fs::path name = file.lexically_relative(path);
    set.names.push_back(name.generic_string());
    if (name.has_parent_path()) folders.push_back(name.begin()->string());
  }
  std::sort(folders.begin(), folders.end());
  folders.erase(std::unique(folders.begin(), folders.end()), folders.end());
  set.labels.assign(set.files.size(), kNoLabel);
  if (folders.empty()) return set;
  const std::vector<int> classes = classes_of(folders, labels, set.label_rule);
  for (std::size_t i = 0; i < set.files.size(); i++) {
    const fs::path name = set.files[i].lexically_relative(path);
    if (!name.has_parent_path()) continue;
    const auto folder = std::lower_bound(folders.begin(), folders.end(), name.begin()->string());
    set.labels[i] = classes[std::size_t(folder - folders.begin())];
  }
  return set;
}

// "x" in quotes, or x as it is.
std::string unquoted(const std::string& field) {
  if (field.size() < 2 || field.front() != '"' || field.back() != '"') return field;
  std::string text;
  for (std::size_t i = 1; i + 1 < field.size(); i++) {
    text += field[i];
    if (field[i] == '"' && field[i + 1] == '"') i++;
  }
  return text;
}

void read_truth(const fs::path& path, std::span<const std::string> labels, Dataset& set) {
  std::ifstream in(path);
  if (!in) throw InputError("cannot read '" + path.string() + "'");
  set.labels.assign(set.names.size(), kNoLabel);
  set.label_rule = "lines of '" + path.string() + "'";
  std::string line;
  for (int number = 1; std::getline(in, line); number++) {
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty()) continue;
    const std::string where = fmt::format("'{}' line {}: ", path.string(), number);
    const std::size_t comma = line.rfind(',');
    if (comma == std::string::npos) throw InputError(fmt::format("{}expected image,class", where));
    const std::string name = unquoted(line.substr(0, comma)), label = unquoted(line.substr(comma + 1));
    const auto named = std::find(labels.begin(), labels.end(), label);
    const int c = named != labels.end() ? int(named - labels.begin()) : number_of(label);
    if (c == kNoLabel && number == 1) continue;
    if (c == kNoLabel)
      throw InputError(
          fmt::format("{}class '{}' is no number and no line of the list of labels", where, label));
    const auto image = std::lower_bound(set.names.begin(), set.names.end(), name);
    const auto found = image != set.names.end() && *image == name
                           ? image
                           : std::find(set.names.begin(), set.names.end(), name);
    if (found == set.names.end()) throw InputError(fmt::format("{}no image '{}' in the folder", where, name));
    set.labels[std::size_t(found - set.names.begin())] = c;
  }
}

// The array of one of these names, or the only one that fits.
template <class Fits>
const std::pair<const std::string, Array>* choose(const std::map<std::string, Array>& arrays,
                                                  std::initializer_list<const char*> names, Fits fits) {
  for (const char* name : names) {
    const auto found = arrays.find(name);
    if (found != arrays.end() && fits(found->second)) return &*found;
  }
  const std::pair<const std::string, Array>* only = nullptr;
  for (const auto& entry : arrays) {
    if (!fits(entry.second)) continue;
    if (only != nullptr) return nullptr;
    only = &entry;
  }
  return only;
}

Dataset read_arrays(const fs::path& path) {
  std::map<std::string, Array> arrays = read_npz(path);
  const auto* images = choose(arrays, {"images", "x", "x_test", "data"},
                              [](const Array& a) { return a.shape.size() >= 2 && a.shape[0] > 0; });
  if (images == nullptr) {
    throw InputError("'" + path.string() +
                     "' has no array of images: name it 'images', first dimension the image");
  }
  const std::size_t count = images->second.shape[0];
  const auto* labels = choose(arrays, {"labels", "y", "y_test"}, [&](const Array& a) {
    return a.is_integer() && a.elements() == count && &a != &images->second;
  });
  Dataset set;
  set.labels.assign(count, kNoLabel);
  for (std::size_t i = 0; i < count; i++) {
    set.names.push_back(std::to_string(i));
    if (labels == nullptr) continue;
    const std::int64_t label = labels->second.integer(i);
    if (label < 0 || label >= kMostClasses) {
      throw InputError(
          fmt::format("'{}': label {} is {}, limit: 0 to {}", path.string(), i, label, kMostClasses - 1));
    }
    set.labels[i] = int(label);
  }
  if (labels != nullptr) set.label_rule = "array '" + labels->first + "'";
  set.images = std::move(arrays.at(images->first));
  return set;
}

}  // namespace

std::span<const std::uint8_t> Dataset::bytes_of(std::size_t i) const {
  const std::size_t each = images.data.size() / names.size();
  return std::span(images.data).subspan(i * each, each);
}

bool Dataset::has_pixels() const {
  const std::size_t rank = images.shape.size();
  return images.type == "u1" && (rank == 3 || (rank == 4 && (images.shape[3] == 1 || images.shape[3] == 3)));
}

Image Dataset::pixels_of(std::size_t i) const {
  const std::span<const std::uint8_t> bytes = bytes_of(i);
  Image image{
      int(images.shape[1]), int(images.shape[2]), images.shape.size() == 4 ? int(images.shape[3]) : 1, {}};
  image.data.assign(bytes.begin(), bytes.end());
  return image;
}

Dataset read_dataset(const fs::path& path, std::span<const std::string> labels, const fs::path& truth) {
  std::error_code error;
  if (!fs::exists(path, error)) throw InputError("no such file or folder: '" + path.string() + "'");
  Dataset set = fs::is_directory(path, error) ? read_folder(path, labels) : read_arrays(path);
  if (!truth.empty()) {
    if (!set.is_folder())
      throw InputError("'" + truth.string() + "' has classes for a folder; '" + path.string() + "' is none");
    read_truth(truth, labels, set);
  }
  if (!set.is_folder() && set.has_pixels()) {
    for (std::size_t d = 1; d < 3; d++) {
      if (set.images.shape[d] < 1 || set.images.shape[d] > kMaxImageSide)
        throw InputError(fmt::format("'{}': limit: images of 1 to {} rows and columns, found: {}",
                                     path.string(), kMaxImageSide, set.images.shape[d]));
    }
  }
  return set;
}

}  // namespace kaiten
