// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// A flatbuffer's references are relative and lead forward, so a new root can stand before a file that stays as it is: it
// refers to what the old root did, and to longer lists of metadata and of buffers.
#include <flatbuffers/flatbuffers.h>

#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "report/annotate.h"
#include "tflite_generated.h"

namespace kaiten {

namespace {

constexpr std::string_view kName = "kaiten: ";
constexpr std::size_t kAlign = 64;  // of what the file aligns, at most
// Fields of Model (tensorflow/compiler/mlir/lite/schema/schema.fbs). All but the first are references.
enum Field : int {
  kVersion,
  kOperatorCodes,
  kSubgraphs,
  kDescription,
  kBuffers,
  kMetadataBuffer,
  kMetadata,
  kSignatures,
  kFields
};

flatbuffers::voffset_t slot_of(int field) { return flatbuffers::voffset_t(4 + 2 * field); }

// A place in the new bytes, or in the file behind them.
struct Place {
  std::size_t at = 0;
  bool in_file = false;
};

class Front {
 public:
  std::size_t size() const { return bytes_.size(); }
  void align(std::size_t to, std::size_t behind = 0) {
    while ((bytes_.size() + behind) % to != 0) bytes_.push_back(0);
  }
  void put16(std::size_t v) {
    for (int i = 0; i < 16; i += 8) bytes_.push_back(std::uint8_t(v >> i));
  }
  void put32(std::size_t v) {
    for (int i = 0; i < 32; i += 8) bytes_.push_back(std::uint8_t(v >> i));
  }
  void put(std::string_view text) { bytes_.insert(bytes_.end(), text.begin(), text.end()); }
  // A reference whose target is known later: refer() fills it.
  std::size_t reserve() {
    put32(0);
    return bytes_.size() - 4;
  }
  void refer(std::size_t reference, Place to) { references_.emplace_back(reference, to); }

  // What is here, then the file.
  std::vector<std::uint8_t> before(std::span<const std::uint8_t> file) {
    align(kAlign);
    for (const auto& [reference, to] : references_) {
      const std::size_t distance = to.at + (to.in_file ? bytes_.size() : 0) - reference;
      for (int i = 0; i < 4; i++) bytes_[reference + std::size_t(i)] = std::uint8_t(distance >> (8 * i));
    }
    bytes_.insert(bytes_.end(), file.begin(), file.end());
    return std::move(bytes_);
  }

 private:
  std::vector<std::uint8_t> bytes_;
  std::vector<std::pair<std::size_t, Place>> references_;
};

using References = flatbuffers::Vector<flatbuffers::Offset<flatbuffers::Table>>;

class Annotator {
 public:
  Annotator(std::span<const std::uint8_t> file, const std::vector<Annotation>& annotations)
      : file_(file), annotations_(annotations), old_(*flatbuffers::GetRoot<flatbuffers::Table>(file.data())) {
    for (int f = 0; f < kFields; f++) has_[f] = old_.GetOptionalFieldOffset(slot_of(f)) != 0;
    if (old_.GetOptionalFieldOffset(slot_of(kFields)) != 0)
      throw InputError(
          "annotate: limit: model files of TensorFlow Lite's schema 3 with 8 fields, found: more");
    const tflite::Model& model = *tflite::GetModel(file.data());
    for (const tflite::Buffer* buffer : *model.buffers()) {
      if (buffer->offset() > 1)
        throw InputError("annotate: limit: tensors within the flatbuffer, found: tensors behind it");
    }
  }

  std::vector<std::uint8_t> run() {
    const std::size_t root = front_.reserve();
    front_.put("TFL3");
    write_root(root);
    write_list(kBuffers, buffers_);
    write_list(kMetadata, metadata_);
    for (std::size_t i = 0; i < annotations_.size(); i++) write_entry(i);
    return front_.before(file_);
  }

 private:
  Place in_file(const void* at) const {
    return {std::size_t(static_cast<const std::uint8_t*>(at) - file_.data()), true};
  }
  const References* list(int field) const { return old_.GetPointer<const References*>(slot_of(field)); }

  void write_root(std::size_t root) {
    const auto table_bytes = std::size_t(4 + 4 * kFields);
    const std::size_t vtable = front_.size();
    front_.put16(4 + 2 * kFields);
    front_.put16(table_bytes);
    for (int f = 0; f < kFields; f++)
      front_.put16(has_[f] || f == kBuffers || f == kMetadata ? std::size_t(4 + 4 * f) : 0);
    front_.refer(root, {front_.size()});
    front_.put32(front_.size() - vtable);
    for (int f = 0; f < kFields; f++) {
      if (f == kVersion) {
        front_.put32(old_.GetField<std::uint32_t>(slot_of(f), 0));
        continue;
      }
      const std::size_t reference = front_.reserve();
      if (f == kBuffers) buffers_ = reference;
      if (f == kMetadata) metadata_ = reference;
      if (has_[f] && f != kBuffers && f != kMetadata)
        front_.refer(reference, in_file(old_.GetPointer<const void*>(slot_of(f))));
    }
  }

  // Of ours, from an earlier time.
  static bool is_ours(const flatbuffers::Table& entry) {
    const auto* name = entry.GetPointer<const flatbuffers::String*>(slot_of(0));
    return name != nullptr && name->string_view().starts_with(kName);
  }

  // The old list's references, and one for each annotation.
  void write_list(int field, std::size_t reference) {
    std::vector<const flatbuffers::Table*> old;
    if (const References* entries = list(field)) {
      for (const flatbuffers::Table* entry : *entries) {
        if (field != kMetadata || !is_ours(*entry)) old.push_back(entry);
      }
    }
    if (field == kBuffers) first_buffer_ = old.size();
    front_.refer(reference, {front_.size()});
    front_.put32(old.size() + annotations_.size());
    for (const flatbuffers::Table* entry : old) front_.refer(front_.reserve(), in_file(entry));
    auto& places = field == kBuffers ? new_buffers_ : new_metadata_;
    for (std::size_t i = 0; i < annotations_.size(); i++) places.push_back(front_.reserve());
  }

  // Its entry of metadata, the name, the buffer and what it holds.
  void write_entry(std::size_t i) {
    const Annotation& a = annotations_[i];
    std::string text;
    for (const auto& [name, value] : a.properties) {
      if (!text.empty()) text += ", ";
      text.append(name).append(" ").append(value);
    }
    front_.align(4);
    for (const std::size_t v : {8, 12, 4, 8}) front_.put16(v);
    front_.refer(new_metadata_[i], {front_.size()});
    front_.put32(8);
    const std::size_t name = front_.reserve();
    front_.put32(first_buffer_ + i);
    front_.refer(name, {front_.size()});
    const std::string shown = std::string(kName) + a.layer;
    front_.put32(shown.size());
    front_.put(shown);
    front_.put(std::string_view("\0", 1));
    front_.align(4);
    for (const std::size_t v : {6, 8, 4, 0}) front_.put16(v);
    front_.refer(new_buffers_[i], {front_.size()});
    front_.put32(8);
    const std::size_t data = front_.reserve();
    front_.align(16, 4);  // the values, behind their number
    front_.refer(data, {front_.size()});
    front_.put32(text.size());
    front_.put(text);
  }

  std::span<const std::uint8_t> file_;
  const std::vector<Annotation>& annotations_;
  const flatbuffers::Table& old_;
  bool has_[kFields] = {};
  Front front_;
  std::size_t buffers_ = 0, metadata_ = 0;  // where the root refers to them
  std::size_t first_buffer_ = 0;            // number of the first new one
  std::vector<std::size_t> new_buffers_, new_metadata_;
};

}  // namespace

AnnotatedModel annotate_tflite(std::span<const std::uint8_t> file,
                               const std::vector<Annotation>& annotations) {
  flatbuffers::Verifier verifier(file.data(), file.size());
  if (!tflite::VerifyModelBuffer(verifier)) throw InputError("annotate: no TensorFlow Lite model");
  AnnotatedModel annotated;
  annotated.layers = int(annotations.size());
  annotated.file = Annotator(file, annotations).run();
  return annotated;
}

}  // namespace kaiten
