// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// This file is compiled once for every kind of vector (hwy/foreach_target.h includes it again).
#include "codec/zvc_simd.h"

#include <array>
#include <bit>
#include <cstring>

#define HWY_WANT_AVX3_DL 1  // Ice Lake and later, Zen 4: compress and expand bytes in one instruction
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codec/zvc_simd.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include <hwy/highway.h>

#ifndef KAITEN_CODEC_ZVC_TABLES
#define KAITEN_CODEC_ZVC_TABLES
namespace kaiten::codec {

// What a mask does to a block of `Count` elements of `Size` bytes, as indices of byte shuffles. Compress: at
// the r-th place the r-th element whose bit is set. Expand: at a place with its bit set the next element,
// else nothing (an index of 128 gives 0).
template <int Size, int Count>
struct Shuffles {
  using Index = std::array<std::uint8_t, std::size_t(Size* Count)>;
  std::array<Index, std::size_t(1) << Count> compress{}, expand{};

  constexpr Shuffles() {
    for (unsigned mask = 0; mask < 1U << Count; mask++) {
      int rank = 0;
      for (int i = 0; i < Count; i++) {
        const bool set = (mask >> i & 1) != 0;
        for (int b = 0; b < Size; b++) {
          expand[mask][std::size_t(i * Size + b)] = set ? std::uint8_t(rank * Size + b) : std::uint8_t(128);
          if (set) compress[mask][std::size_t(rank * Size + b)] = std::uint8_t(i * Size + b);
        }
        rank += set;
      }
    }
  }
};

template <int Size>
constexpr Shuffles<Size, Size == 4 ? 4 : 8> kShuffles{};

}  // namespace kaiten::codec
#endif

HWY_BEFORE_NAMESPACE();
namespace kaiten::codec {
namespace HWY_NAMESPACE {
namespace {

// Whole groups from the start of a segment; what is left is the caller's.
struct Progress {
  std::size_t raw = 0;
  std::size_t packed = 0;
};

#if HWY_TARGET != HWY_SCALAR  // the target of compilers that cannot do better: all is left to the loops
namespace hn = hwy::HWY_NAMESPACE;

using Bytes16 = hn::Full128<std::uint8_t>;
constexpr std::uint64_t kEveryByte = 0x0101010101010101;
constexpr std::size_t kLongestReach = 2048;

std::uint64_t load64(const void* from) {
  std::uint64_t v = 0;
  std::memcpy(&v, from, 8);
  return v;
}

// Blocks of 16 bytes.
template <typename T>
struct Block16 {
  static constexpr std::size_t kElements = 16 / sizeof(T);
  using D = hn::Full128<T>;

  // Returns the mask; appends the elements that differ at `out`, up to 16 bytes may be written there.
  static std::uint64_t pack(const std::uint8_t* raw, T zero, std::uint8_t*& out) {
    const D d;
    const Bytes16 d8;
    const auto v = hn::LoadU(d8, raw);
    std::uint8_t bits[8] = {};
    hn::StoreMaskBits(d, hn::Ne(hn::BitCast(d, v), hn::Set(d, zero)), bits);
    const std::uint64_t mask = load64(bits);
    if constexpr (sizeof(T) == 1) {
      const auto& table = kShuffles<1>.compress;
      const hn::Full128<std::uint64_t> d64;
      alignas(16) const std::uint64_t index[2] = {load64(&table[mask & 0xff]),
                                                  load64(&table[mask >> 8]) + 8 * kEveryByte};
      alignas(16) std::uint64_t half[2];
      hn::Store(hn::BitCast(d64, hn::TableLookupBytes(v, hn::BitCast(d8, hn::Load(d64, index)))), d64, half);
      std::memcpy(out, &half[0], 8);
      out += std::popcount(mask & 0xff);
      std::memcpy(out, &half[1], 8);
      out += std::popcount(mask >> 8);
    } else {
      const auto index = hn::LoadU(d8, kShuffles<sizeof(T)>.compress[mask].data());
      hn::StoreU(hn::TableLookupBytes(v, index), d8, out);
      out += sizeof(T) * std::size_t(std::popcount(mask));
    }
    return mask;
  }

  // Reads 16 bytes at `in`, whatever the mask. False where a coded element is the zero value.
  static bool expand(const std::uint8_t*& in, std::uint64_t mask, T zero, std::uint8_t* raw) {
    const D d;
    const Bytes16 d8;
    const auto zeros = hn::BitCast(d8, hn::Set(d, zero));
    auto index = hn::Zero(d8);
    if constexpr (sizeof(T) == 1) {
      const auto& table = kShuffles<1>.expand;
      const std::uint64_t before = std::uint64_t(std::popcount(mask & 0xff));
      alignas(16) const std::uint64_t halves[2] = {load64(&table[mask & 0xff]),
                                                   load64(&table[mask >> 8]) + before * kEveryByte};
      index = hn::BitCast(d8, hn::Load(hn::Full128<std::uint64_t>(), halves));
    } else {
      index = hn::LoadU(d8, kShuffles<sizeof(T)>.expand[mask].data());
    }
    // Against the zero value, so that what the shuffle leaves out becomes it.
    const auto v = hn::TableLookupBytesOr0(hn::Xor(hn::LoadU(d8, in), zeros), index);
    hn::StoreU(hn::Xor(v, zeros), d8, raw);
    in += sizeof(T) * std::size_t(std::popcount(mask));
    std::uint8_t bits[8] = {};
    hn::StoreMaskBits(d, hn::Ne(hn::BitCast(d, v), hn::Zero(d)), bits);
    return load64(bits) == mask;
  }
};

#if HWY_TARGET <= HWY_AVX3_DL
// Blocks of 64 bytes.
template <typename T>
struct Block64 {
  static constexpr std::size_t kElements = 64 / sizeof(T);

  static std::uint64_t pack(const std::uint8_t* raw, T zero, std::uint8_t*& out) {
    const __m512i v = _mm512_loadu_si512(raw);
    std::uint64_t mask = 0;
    // To a register and then to memory: much quicker than the storing form of the instruction on some
    // processors.
    if constexpr (sizeof(T) == 1) {
      mask = _mm512_cmpneq_epi8_mask(v, _mm512_set1_epi8(char(zero)));
      _mm512_storeu_si512(out, _mm512_maskz_compress_epi8(mask, v));
    } else if constexpr (sizeof(T) == 2) {
      mask = _mm512_cmpneq_epi16_mask(v, _mm512_set1_epi16(short(zero)));
      _mm512_storeu_si512(out, _mm512_maskz_compress_epi16(__mmask32(mask), v));
    } else {
      mask = _mm512_cmpneq_epi32_mask(v, _mm512_set1_epi32(int(zero)));
      _mm512_storeu_si512(out, _mm512_maskz_compress_epi32(__mmask16(mask), v));
    }
    out += sizeof(T) * std::size_t(std::popcount(mask));
    return mask;
  }

  static bool expand(const std::uint8_t*& in, std::uint64_t mask, T zero, std::uint8_t* raw) {
    const __m512i coded = _mm512_loadu_si512(in);
    in += sizeof(T) * std::size_t(std::popcount(mask));
    if constexpr (sizeof(T) == 1) {
      const __m512i zeros = _mm512_set1_epi8(char(zero));
      const __m512i v = _mm512_mask_expand_epi8(zeros, mask, coded);
      _mm512_storeu_si512(raw, v);
      return _mm512_cmpneq_epi8_mask(v, zeros) == mask;
    } else if constexpr (sizeof(T) == 2) {
      const __m512i zeros = _mm512_set1_epi16(short(zero));
      const __m512i v = _mm512_mask_expand_epi16(zeros, __mmask32(mask), coded);
      _mm512_storeu_si512(raw, v);
      return _mm512_cmpneq_epi16_mask(v, zeros) == mask;
    } else {
      const __m512i zeros = _mm512_set1_epi32(int(zero));
      const __m512i v = _mm512_mask_expand_epi32(zeros, __mmask16(mask), coded);
      _mm512_storeu_si512(raw, v);
      return _mm512_cmpneq_epi32_mask(v, zeros) == mask;
    }
  }
};
#endif

// The masks of a block are a whole number of bytes, or (words in blocks of 16 bytes) half a byte: then two
// blocks make one.
template <typename T, template <typename> class BlockOf>
Progress pack_groups(const ZvcFormat& f, std::span<const std::uint8_t> raw, std::span<std::uint8_t> packed) {
  using Block = BlockOf<T>;
  constexpr std::size_t kBits = Block::kElements;
  const std::size_t group = std::size_t(f.group), groups = raw.size() / sizeof(T) / group;
  const std::uint8_t* from = raw.data();
  std::uint8_t* out = packed.data();
  for (std::size_t g = 0; g < groups; g++) {
    std::uint8_t* mask = out;
    out += group / 8;
    if constexpr (kBits >= 8) {
      for (std::size_t i = 0; i < group; i += kBits, from += kBits * sizeof(T)) {
        const std::uint64_t bits = Block::pack(from, T(f.zero), out);
        std::memcpy(mask + i / 8, &bits, kBits / 8);
      }
    } else {
      for (std::size_t i = 0; i < group; i += 8, from += 8 * sizeof(T)) {
        const std::uint64_t low = Block::pack(from, T(f.zero), out);
        mask[i / 8] = std::uint8_t(low | Block::pack(from + 4 * sizeof(T), T(f.zero), out) << 4);
      }
    }
  }
  return {groups * group * sizeof(T), std::size_t(out - packed.data())};
}

template <typename T, template <typename> class BlockOf>
Progress expand_groups(const ZvcFormat& f, std::span<const std::uint8_t> packed,
                       std::span<std::uint8_t> raw) {
  using Block = BlockOf<T>;
  constexpr std::size_t kBits = Block::kElements;
  const std::size_t group = std::size_t(f.group), groups = raw.size() / sizeof(T) / group;
  // Blocks read more than they use, up to `reach` bytes from the start of a group. The end of the stream is
  // read from a copy with room after it.
  const std::size_t reach = group / 8 + group * sizeof(T) + 64;
  if (reach > kLongestReach) return {};
  std::uint8_t tail[2 * kLongestReach];
  bool in_tail = false;
  std::size_t before_tail = 0;
  const std::uint8_t* in = packed.data();
  const std::uint8_t* end = in + packed.size();
  std::uint8_t* to = raw.data();
  for (std::size_t g = 0; g < groups; g++) {
    if (!in_tail && std::size_t(end - in) < reach) {
      const std::size_t left = std::size_t(end - in);
      in_tail = true;
      before_tail = packed.size() - left;
      std::memset(tail, 0, left + reach);
      if (left != 0) std::memcpy(tail, in, left);
      in = tail;
      end = tail + left;
    }
    const std::uint8_t* start = in;
    const std::uint8_t* mask = in;
    std::uint8_t* group_to = to;
    in += group / 8;
    bool good = true;
    if constexpr (kBits >= 8) {
      for (std::size_t i = 0; i < group; i += kBits, to += kBits * sizeof(T)) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, mask + i / 8, kBits / 8);
        good &= Block::expand(in, bits, T(f.zero), to);
      }
    } else {
      for (std::size_t i = 0; i < group; i += 8, to += 8 * sizeof(T)) {
        good &= Block::expand(in, mask[i / 8] & 15U, T(f.zero), to);
        good &= Block::expand(in, mask[i / 8] >> 4, T(f.zero), to + 4 * sizeof(T));
      }
    }
    if (!good || in > end) {  // left to the loops, which say what is wrong
      in = start;
      to = group_to;
      break;
    }
  }
  const std::size_t used = in_tail ? before_tail + std::size_t(in - tail) : std::size_t(in - packed.data());
  return {std::size_t(to - raw.data()), used};
}

template <typename T>
constexpr std::size_t block_elements() {
  return sizeof(T) == 1 ? 16 : 8;
}

template <typename T>
Progress pack_as(const ZvcFormat& f, std::span<const std::uint8_t> raw, std::span<std::uint8_t> packed) {
#if HWY_TARGET <= HWY_AVX3_DL
  if (std::size_t(f.group) % Block64<T>::kElements == 0) return pack_groups<T, Block64>(f, raw, packed);
#endif
  if (std::size_t(f.group) % block_elements<T>() == 0) return pack_groups<T, Block16>(f, raw, packed);
  return {};
}

template <typename T>
Progress expand_as(const ZvcFormat& f, std::span<const std::uint8_t> packed, std::span<std::uint8_t> raw) {
#if HWY_TARGET <= HWY_AVX3_DL
  if (std::size_t(f.group) % Block64<T>::kElements == 0) return expand_groups<T, Block64>(f, packed, raw);
#endif
  if (std::size_t(f.group) % block_elements<T>() == 0) return expand_groups<T, Block16>(f, packed, raw);
  return {};
}

#else
template <typename T>
Progress pack_as(const ZvcFormat&, std::span<const std::uint8_t>, std::span<std::uint8_t>) {
  return {};
}

template <typename T>
Progress expand_as(const ZvcFormat&, std::span<const std::uint8_t>, std::span<std::uint8_t>) {
  return {};
}
#endif

}  // namespace

// Without linkage by name they could not be looked up in the table of targets: external, one a target.
std::size_t Pack(const ZvcFormat& f, std::span<const std::uint8_t> raw, std::span<std::uint8_t> packed) {
  const Progress done = f.element_bytes == 1   ? pack_as<std::uint8_t>(f, raw, packed)
                        : f.element_bytes == 2 ? pack_as<std::uint16_t>(f, raw, packed)
                                               : pack_as<std::uint32_t>(f, raw, packed);
  return done.packed + zvc_pack(f, raw.subspan(done.raw), packed.subspan(done.packed));
}

std::size_t Expand(const ZvcFormat& f, std::span<const std::uint8_t> packed, std::span<std::uint8_t> raw) {
  const Progress done = f.element_bytes == 1   ? expand_as<std::uint8_t>(f, packed, raw)
                        : f.element_bytes == 2 ? expand_as<std::uint16_t>(f, packed, raw)
                                               : expand_as<std::uint32_t>(f, packed, raw);
  try {
    return done.packed + zvc_expand(f, packed.subspan(done.packed), raw.subspan(done.raw));
  } catch (const CorruptStream&) {
    return zvc_expand(f, packed, raw);  // names the group, counted from the first one
  }
}

const char* Target() { return hwy::TargetName(HWY_TARGET); }

}  // namespace HWY_NAMESPACE
}  // namespace kaiten::codec
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kaiten::codec {

HWY_EXPORT(Pack);
HWY_EXPORT(Expand);
HWY_EXPORT(Target);

std::size_t zvc_pack_fast(const ZvcFormat& format, std::span<const std::uint8_t> raw,
                          std::span<std::uint8_t> packed) {
  return HWY_DYNAMIC_DISPATCH(Pack)(format, raw, packed);
}

std::size_t zvc_expand_fast(const ZvcFormat& format, std::span<const std::uint8_t> packed,
                            std::span<std::uint8_t> raw) {
  return HWY_DYNAMIC_DISPATCH(Expand)(format, packed, raw);
}

const char* zvc_target() { return HWY_DYNAMIC_DISPATCH(Target)(); }

bool zvc_choose_target(int i) {
  hwy::SetSupportedTargetsForTest(0);
  const std::vector<std::int64_t> targets = hwy::SupportedAndGeneratedTargets();
  if (i >= int(targets.size())) return false;
  if (i >= 0) hwy::SetSupportedTargetsForTest(targets[std::size_t(i)]);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  return true;
}

}  // namespace kaiten::codec
#endif
