// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "codec/zvc.h"

#include <algorithm>
#include <string>

#include "base/arithmetic.h"
#include "codec/element.h"

namespace kaiten::codec {

namespace {

// What fills the byte at an offset after the last element: elements keep their places.
std::uint8_t padding(const ZvcFormat& format, std::size_t offset) {
  return std::uint8_t(format.zero >> (8 * (offset % std::size_t(format.element_bytes))));
}

[[noreturn]] void out_of_range(const std::string& what, long long value, const std::string& range) {
  throw InputError("ZVC: " + what + " is " + std::to_string(value) + ", expected " + range);
}

template <typename T>
std::size_t pack(const ZvcFormat& format, std::span<const std::uint8_t> raw, std::span<std::uint8_t> packed) {
  const std::size_t elements = raw.size() / sizeof(T);
  std::size_t out = 0;
  for (std::size_t first = 0; first < elements; first += std::size_t(format.group)) {
    const std::size_t count = std::min(std::size_t(format.group), elements - first);
    const std::size_t mask = out;
    out += ceil_div(count, 8);
    std::fill(packed.begin() + std::ptrdiff_t(mask), packed.begin() + std::ptrdiff_t(out), std::uint8_t(0));
    for (std::size_t i = 0; i < count; i++) {
      const T element = load<T>(&raw[(first + i) * sizeof(T)]);
      if (element == T(format.zero)) continue;
      packed[mask + i / 8] |= std::uint8_t(1 << (i % 8));
      store(element, &packed[out]);
      out += sizeof(T);
    }
  }
  return out;
}

template <typename T>
std::size_t expand(const ZvcFormat& format, std::span<const std::uint8_t> packed,
                   std::span<std::uint8_t> raw) {
  const std::size_t elements = raw.size() / sizeof(T);
  std::size_t in = 0;
  const auto fail = [](std::size_t group, const std::string& what) {
    throw CorruptStream("group " + std::to_string(group) + ": " + what);
  };
  for (std::size_t first = 0, group = 0; first < elements; first += std::size_t(format.group), group++) {
    const std::size_t count = std::min(std::size_t(format.group), elements - first);
    if (packed.size() - in < ceil_div(count, 8)) fail(group, "the stream ends in the mask");
    const std::uint8_t* mask = &packed[in];
    in += ceil_div(count, 8);
    if (count % 8 != 0 && mask[count / 8] >> (count % 8) != 0)
      fail(group, "the mask has a bit beyond its " + std::to_string(count) + " elements");
    for (std::size_t i = 0; i < count; i++) {
      T element = T(format.zero);
      if ((mask[i / 8] >> (i % 8) & 1) != 0) {
        if (packed.size() - in < sizeof(T))
          fail(group, "the stream ends before element " + std::to_string(i));
        element = load<T>(&packed[in]);
        if (element == T(format.zero))
          fail(group, "element " + std::to_string(i) + " is coded but is the zero value");
        in += sizeof(T);
      }
      store(element, &raw[(first + i) * sizeof(T)]);
    }
  }
  return in;
}

}  // namespace

ZvcFormat accelerator_format(int bus_bytes, int zero_point) {
  return {1, bus_bytes, bus_bytes, std::uint8_t(zero_point)};
}

void require_valid(const ZvcFormat& f) {
  if (f.element_bytes != 1 && f.element_bytes != 2 && f.element_bytes != 4)
    out_of_range("element_bytes", f.element_bytes, "1, 2 or 4");
  if (f.group < 1 || f.group > kMaxZvcGroup)
    out_of_range("group", f.group, "1 to " + std::to_string(kMaxZvcGroup));
  if (f.unit_bytes < 1 || f.unit_bytes % f.element_bytes != 0)
    out_of_range("unit_bytes", f.unit_bytes, "a multiple of element_bytes");
  if (f.element_bytes < 4 && f.zero >> (8 * f.element_bytes) != 0)
    out_of_range("zero", f.zero, "a value of " + std::to_string(8 * f.element_bytes) + " bits");
}

std::size_t zvc_max_packed_bytes(const ZvcFormat& format, std::size_t raw_bytes) {
  const std::size_t elements = raw_bytes / std::size_t(format.element_bytes);
  const std::size_t group = std::size_t(format.group);
  return raw_bytes + elements / group * ceil_div(group, 8) + ceil_div(elements % group, 8);
}

std::size_t zvc_packed_bytes(const ZvcFormat& format, std::span<const std::uint8_t> raw) {
  const std::size_t zeros = with_element_type(format.element_bytes, [&]<typename T>(T) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < raw.size(); i += sizeof(T)) count += load<T>(&raw[i]) == T(format.zero);
    return count;
  });
  return zvc_max_packed_bytes(format, raw.size()) - zeros * std::size_t(format.element_bytes);
}

std::size_t zvc_pack(const ZvcFormat& format, std::span<const std::uint8_t> raw,
                     std::span<std::uint8_t> packed) {
  return with_element_type(format.element_bytes, [&]<typename T>(T) { return pack<T>(format, raw, packed); });
}

std::size_t zvc_expand(const ZvcFormat& format, std::span<const std::uint8_t> packed,
                       std::span<std::uint8_t> raw) {
  return with_element_type(format.element_bytes,
                           [&]<typename T>(T) { return expand<T>(format, packed, raw); });
}

std::uint8_t zvc_store(const ZvcFormat& format, std::span<const std::uint8_t> raw,
                       std::span<std::uint8_t> memory) {
  const std::size_t unit = std::size_t(format.unit_bytes);
  const std::size_t units = ceil_div(zvc_packed_bytes(format, raw), unit);
  if (units >= ceil_div(raw.size(), unit) || units > kMaxZvcUnits) {
    std::copy(raw.begin(), raw.end(), memory.begin());
    return 0;
  }
  for (std::size_t i = zvc_pack(format, raw, memory); i < units * unit; i++) memory[i] = padding(format, i);
  return std::uint8_t(units);
}

void zvc_load(const ZvcFormat& format, std::span<const std::uint8_t> memory, std::uint8_t units,
              std::span<std::uint8_t> raw) {
  const std::size_t unit = std::size_t(format.unit_bytes);
  const std::size_t raw_units = ceil_div(raw.size(), unit);
  if (units == 0) {
    if (memory.size() < raw.size()) throw CorruptStream("the memory ends in the raw segment");
    std::copy_n(memory.begin(), raw.size(), raw.begin());
    return;
  }
  if (units >= raw_units)
    throw CorruptStream(std::to_string(units) + " units, raw it has " + std::to_string(raw_units));
  if (memory.size() < units * unit) throw CorruptStream("the memory ends in the packed segment");
  const std::span<const std::uint8_t> packed = memory.first(units * unit);
  const std::size_t used = zvc_expand(format, packed, raw);
  if (ceil_div(used, unit) != units) {
    throw CorruptStream("ends in unit " + std::to_string(ceil_div(used, unit)) + " of " +
                        std::to_string(units));
  }
  for (std::size_t i = used; i < packed.size(); i++) {
    if (packed[i] != padding(format, i))
      throw CorruptStream("byte " + std::to_string(i) + " after the last element is not the zero value");
  }
}

}  // namespace kaiten::codec
