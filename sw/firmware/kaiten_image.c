// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "kaiten_image.h"

enum { kHeader = 160, kRequirement = 12, kTensor = 112, kPart = 44, kWord = 4, kAlign = 64 };
// No count is larger, so that products of a count and a 32-bit pitch stay below 2^57.
static const uint32_t kMostCount = UINT32_C(1) << 24;

static uint32_t word(const uint8_t* at) {
  return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

// The polynomial of Ethernet and zlib, four bits at a time.
static uint32_t crc32_of(const uint8_t* bytes, uint32_t count) {
  static const uint32_t table[16] = {
      0x00000000u, 0x1db71064u, 0x3b6e20c8u, 0x26d930acu, 0x76dc4190u, 0x6b6b51f4u, 0x4db26158u, 0x5005713cu,
      0xedb88320u, 0xf00f9344u, 0xd6d6a3e8u, 0xcb61b38cu, 0x9b64c2b0u, 0x86d3d2d4u, 0xa00ae278u, 0xbdbdf21cu};
  uint32_t crc = 0xffffffffu;
  for (uint32_t i = 0; i < count; i++) {
    crc ^= bytes[i];
    crc = crc >> 4 ^ table[crc & 15u];
    crc = crc >> 4 ^ table[crc & 15u];
  }
  return ~crc;
}

static void copy_name(char* to, const uint8_t* from, uint32_t size) {
  for (uint32_t i = 0; i < size; i++) to[i] = (char)from[i];
}

// `count` entries of `each` bytes at `at`, a multiple of `align`, lie inside the image.
static bool inside(const struct kaiten_image* image, uint32_t at, uint32_t count, uint32_t each,
                   uint32_t align) {
  return at % align == 0 && at >= kHeader && at <= image->size && (uint64_t)count * each <= image->size - at;
}

static void read_header(struct kaiten_image* image) {
  const uint8_t* b = image->bytes;
  image->register_version = word(b + 16);
  image->requirements = word(b + 20);
  image->requirements_at = word(b + 24);
  image->commands = word(b + 28);
  image->commands_at = word(b + 32);
  image->constants_at = word(b + 36);
  for (int i = 0; i < 4; i++) image->region_bytes[i] = word(b + 40 + 4 * i);
  image->wb_split = word(b + 56);
  image->batch = word(b + 60);
  image->modelled_cycles = word(b + 64) | (uint64_t)word(b + 68) << 32;
  for (int i = 0; i < 2; i++) {
    image->tensors[i] = word(b + 72 + 8 * i);
    image->tensors_at[i] = word(b + 76 + 8 * i);
  }
  copy_name(image->config, b + 88, KAITEN_IMAGE_CONFIG_BYTES);
  copy_name(image->name, b + 112, KAITEN_IMAGE_NAME_BYTES);
}

static bool part_fits(const struct kaiten_image* image, enum kaiten_direction direction,
                      const struct kaiten_part* p) {
  const uint32_t most[] = {p->height,      p->width,           p->lane, p->channels, p->segments,
                           p->pixel_bytes, p->last_pixel_bytes};
  for (unsigned i = 0; i < sizeof most / sizeof *most; i++) {
    if (most[i] > kMostCount) return false;
  }
  if (p->height == 0 || p->width == 0 || p->channels == 0 || p->segments == 0 || p->pixel_bytes == 0 ||
      p->last_pixel_bytes == 0)
    return false;
  const uint64_t before = (uint64_t)(p->segments - 1) * p->pixel_bytes;
  if ((uint64_t)p->lane + p->channels > before + p->last_pixel_bytes) return false;
  // Segments do not overlap, so the last byte is the last segment's.
  if (p->segments > 1 && p->segment_pitch < (uint64_t)p->width * p->pixel_bytes) return false;
  const uint64_t row =
      (uint64_t)(p->segments - 1) * p->segment_pitch + (uint64_t)p->width * p->last_pixel_bytes;
  const uint64_t last =
      (uint64_t)(image->batch - 1) * p->image_pitch + (uint64_t)(p->height - 1) * p->row_pitch + row;
  return p->offset + last <= image->region_bytes[direction == KAITEN_INPUT ? 2 : 3];
}

static kaiten_fault check_tensor(const struct kaiten_image* image, enum kaiten_direction direction,
                                 uint32_t index) {
  const struct kaiten_tensor t = kaiten_image_tensor(image, direction, index);
  if (t.name[KAITEN_IMAGE_NAME_BYTES - 1] != 0) return "the name of a tensor does not end";
  if (t.model_type != KAITEN_INT8 && t.model_type != KAITEN_UINT8) return "a tensor has an unknown type";
  if (t.rank > KAITEN_IMAGE_RANK) return "a tensor has too many dimensions";
  uint64_t elements = 1;
  for (uint32_t i = 0; i < t.rank; i++) {
    if (t.shape[i] == 0 || t.shape[i] > kMostCount) return "a tensor has a dimension out of range";
    elements *= t.shape[i];
    if (elements > UINT32_MAX) return "a tensor has too many elements";
  }
  if (elements != t.bytes) return "the size of a tensor is not that of its shape";
  if (t.parts == 0 || !inside(image, t.parts_at, t.parts, kPart, kWord))
    return "the parts of a tensor lie outside the image";
  uint64_t bytes = 0;
  uint32_t height = 0, width = 0;
  for (uint32_t i = 0; i < t.parts; i++) {
    const struct kaiten_part p = kaiten_image_part(image, &t, i);
    if (!part_fits(image, direction, &p)) return "a part of a tensor lies outside its memory";
    if (i > 0 && (p.height != height || p.width != width))
      return "parts of a tensor differ in rows or columns";
    height = p.height;
    width = p.width;
    bytes += p.channels;  // at most 2^32 parts of 2^24
  }
  if ((uint64_t)height * width > UINT32_MAX || bytes > UINT32_MAX || bytes * height * width != t.bytes)
    return "the parts of a tensor are not as large as it";
  return 0;
}

kaiten_fault kaiten_image_open(struct kaiten_image* image, const void* bytes, uint32_t size) {
  image->bytes = bytes;
  image->size = size;
  if (size < kHeader) return "shorter than a header";
  if (word(image->bytes) != KAITEN_IMAGE_MAGIC) return "not a program image";
  if (word(image->bytes + 4) != KAITEN_IMAGE_VERSION)
    return "a version of the format that this driver does not know";
  if (word(image->bytes + 12) != size) return "not as long as its header says";
  if (word(image->bytes + 8) != crc32_of(image->bytes + 12, size - 12))
    return "damaged: its checksum is wrong";
  read_header(image);
  if (image->config[KAITEN_IMAGE_CONFIG_BYTES - 1] != 0 || image->name[KAITEN_IMAGE_NAME_BYTES - 1] != 0)
    return "a name does not end";
  if (!inside(image, image->requirements_at, image->requirements, kRequirement, kWord))
    return "its requirements lie outside";
  if (image->commands == 0 || image->commands >= kMostCount ||
      !inside(image, image->commands_at, image->commands, KAITEN_COMMAND_BYTES, kAlign))
    return "its commands lie outside";
  if (!inside(image, image->constants_at, image->region_bytes[0], 1, kAlign))
    return "its constants lie outside";
  if (image->batch == 0 || image->batch > kMostCount) return "its number of images is out of range";
  for (uint32_t i = 0; i < image->requirements; i++) {
    if (kaiten_image_requirement(image, i).offset % kWord != 0) return "a requirement is of no register";
  }
  for (int d = 0; d < 2; d++) {
    if (!inside(image, image->tensors_at[d], image->tensors[d], kTensor, kWord))
      return "its tensors lie outside";
    for (uint32_t i = 0; i < image->tensors[d]; i++) {
      const kaiten_fault fault = check_tensor(image, (enum kaiten_direction)d, i);
      if (fault) return fault;
    }
  }
  return 0;
}

struct kaiten_requirement kaiten_image_requirement(const struct kaiten_image* image, uint32_t index) {
  const uint8_t* at = image->bytes + image->requirements_at + (uint64_t)index * kRequirement;
  return (struct kaiten_requirement){word(at), word(at + 4), word(at + 8)};
}

struct kaiten_tensor kaiten_image_tensor(const struct kaiten_image* image, enum kaiten_direction direction,
                                         uint32_t index) {
  const uint8_t* at = image->bytes + image->tensors_at[direction] + (uint64_t)index * kTensor;
  struct kaiten_tensor t;
  copy_name(t.name, at, KAITEN_IMAGE_NAME_BYTES);
  t.model_type = (enum kaiten_type)word(at + 48);
  t.rank = word(at + 52);
  for (int i = 0; i < KAITEN_IMAGE_RANK; i++) t.shape[i] = word(at + 56 + 4 * i);
  const union {
    uint32_t bits;
    float value;
  } scale = {word(at + 80)};
  t.scale = scale.value;
  t.zero_point = (int32_t)word(at + 84);
  t.bytes = word(at + 88);
  t.parts = word(at + 92);
  t.parts_at = word(at + 96);
  return t;
}

struct kaiten_part kaiten_image_part(const struct kaiten_image* image, const struct kaiten_tensor* tensor,
                                     uint32_t index) {
  const uint8_t* at = image->bytes + tensor->parts_at + (uint64_t)index * kPart;
  return (struct kaiten_part){word(at),      word(at + 4),  word(at + 8),  word(at + 12),
                              word(at + 16), word(at + 20), word(at + 24), word(at + 28),
                              word(at + 32), word(at + 36), word(at + 40)};
}
