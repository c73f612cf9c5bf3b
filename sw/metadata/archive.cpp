// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "metadata/archive.h"

#include <fmt/format.h>
#include <zip.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include "base/error.h"

namespace kaiten::metadata {

namespace {

struct Closer {
  void operator()(zip_t* zip) const { zip_discard(zip); }
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};

std::uint64_t number_at(std::span<const std::uint8_t> bytes, std::size_t at) {
  std::uint64_t n = 0;
  for (std::size_t i = 4; i-- > 0;) n = n << 8 | bytes[at + i];
  return n;
}

// The archive's part of the whole: its last record tells how long its directory is and where that stands, counted from the
// archive's first byte (APPNOTE.TXT, 4.3.16).
std::span<const std::uint8_t> archive_in(std::span<const std::uint8_t> whole) {
  constexpr std::string_view kEnd("PK\5\6", 4);
  constexpr std::size_t kRecord = 22, kLongestComment = 65535, kDirectoryBytes = 12, kDirectoryAt = 16;
  const std::size_t searched = std::min(whole.size(), kRecord + kLongestComment);
  const std::string_view tail(reinterpret_cast<const char*>(whole.data()) + (whole.size() - searched),
                              searched);
  const std::size_t found = tail.rfind(kEnd);
  if (found == std::string_view::npos || searched - found < kRecord)
    throw InputError("no archive stands behind the model");
  const std::size_t end = whole.size() - searched + found;
  const std::uint64_t before = number_at(whole, end + kDirectoryBytes) + number_at(whole, end + kDirectoryAt);
  if (before > end) throw InputError("the archive behind the model is damaged");
  return whole.subspan(end - before);
}

}  // namespace

std::string entry_of(std::span<const std::uint8_t> whole, const std::string& name) {
  const std::span<const std::uint8_t> archive = archive_in(whole);
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = zip_source_buffer_create(archive.data(), archive.size(), 0, &error);
  const std::unique_ptr<zip_t, Closer> zip(
      source == nullptr ? nullptr : zip_open_from_source(source, ZIP_RDONLY, &error));
  if (!zip) {
    const std::string why = zip_error_strerror(&error);
    if (source != nullptr) zip_source_free(source);
    zip_error_fini(&error);
    throw InputError("the archive behind the model is damaged: " + why);
  }
  zip_error_fini(&error);
  zip_stat_t stat;
  zip_stat_init(&stat);
  if (zip_stat(zip.get(), name.c_str(), 0, &stat) != 0 || (stat.valid & ZIP_STAT_SIZE) == 0)
    throw InputError("the archive behind the model has no such file");
  if (stat.size > kMaxEntryBytes)
    throw InputError(fmt::format("limit: {} bytes, found: {}", kMaxEntryBytes, stat.size));
  const std::unique_ptr<zip_file_t, Closer> file(zip_fopen_index(zip.get(), stat.index, 0));
  if (!file) throw InputError(zip_strerror(zip.get()));
  std::string text(stat.size, '\0');
  for (std::size_t at = 0; at < text.size();) {
    const zip_int64_t n = zip_fread(file.get(), text.data() + at, text.size() - at);
    if (n <= 0) throw InputError(n == 0 ? "it ends early" : zip_file_strerror(file.get()));
    at += std::size_t(n);
  }
  char none = 0;
  if (zip_fread(file.get(), &none, 1) != 0)
    throw InputError(zip_file_strerror(file.get()));  // checks the sum, too
  return text;
}

}  // namespace kaiten::metadata
