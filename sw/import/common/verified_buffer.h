// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Flatbuffers that a model can do without: read where they are sound, passed over where they are not.
#ifndef KAITEN_IMPORT_COMMON_VERIFIED_BUFFER_H
#define KAITEN_IMPORT_COMMON_VERIFIED_BUFFER_H

#include <flatbuffers/flatbuffers.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace kaiten::importing {

// The bytes outlive it; they are copied where they are not aligned.
class VerifiedBuffer {
 public:
  explicit VerifiedBuffer(std::span<const std::uint8_t> bytes) : bytes_(bytes) {
    if (reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(std::max_align_t) == 0) return;
    copy_.assign(bytes.begin(), bytes.end());
    bytes_ = copy_;
  }
  VerifiedBuffer(const VerifiedBuffer&) = delete;
  VerifiedBuffer& operator=(const VerifiedBuffer&) = delete;

  // Nothing where an offset leaves the bytes, or the identifier is another.
  template <class Table>
  const Table* root(const char* identifier) const {
    constexpr std::size_t kHeaderBytes = 8;
    constexpr flatbuffers::uoffset_t kMaxDepth = 16, kMaxTables = 250000;
    if (bytes_.size() < kHeaderBytes || bytes_.size() >= FLATBUFFERS_MAX_BUFFER_SIZE) return nullptr;
    if (std::memcmp(bytes_.data() + 4, identifier, 4) != 0) return nullptr;
    flatbuffers::Verifier verifier(bytes_.data(), bytes_.size(), kMaxDepth, kMaxTables);
    return verifier.VerifyBuffer<Table>(nullptr) ? flatbuffers::GetRoot<Table>(bytes_.data()) : nullptr;
  }

 private:
  std::span<const std::uint8_t> bytes_;
  std::vector<std::uint8_t> copy_;
};

// Lists and texts may be absent.
template <class T>
std::vector<const T*> items(const flatbuffers::Vector<flatbuffers::Offset<T>>* list) {
  if (list == nullptr) return {};
  return {list->begin(), list->end()};
}
inline std::string text_of(const flatbuffers::String* text) {
  return text == nullptr ? std::string() : text->str();
}

}  // namespace kaiten::importing

#endif  // KAITEN_IMPORT_COMMON_VERIFIED_BUFFER_H
