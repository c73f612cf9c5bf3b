// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// A file out of a zip archive that stands at the end of another file (libzip).
#ifndef KAITEN_METADATA_ARCHIVE_H
#define KAITEN_METADATA_ARCHIVE_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace kaiten::metadata {

constexpr std::size_t kMaxEntryBytes = std::size_t(1) << 24;

// The archive's offsets count from its own beginning or from the whole's. Throws InputError, which says why there is no such
// file, or none of at most kMaxEntryBytes bytes.
std::string entry_of(std::span<const std::uint8_t> whole, const std::string& name);

}  // namespace kaiten::metadata

#endif  // KAITEN_METADATA_ARCHIVE_H
