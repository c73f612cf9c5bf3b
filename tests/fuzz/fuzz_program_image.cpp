// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Program images: any bytes behind a right checksum are refused, or everything the C driver follows lies inside the image and
// the memory that it asks for.
#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "firmware/kaiten.h"
#include "firmware/kaiten_registers.h"

namespace {

constexpr std::uint32_t kMostBytes = 1U << 20;  // of a tensor that is moved

void set_word(std::vector<std::uint8_t>& image, std::size_t at, std::uint32_t value) {
  std::memcpy(image.data() + at, &value, sizeof value);
}

std::uint64_t memory_bytes;

void touch(std::uint64_t address, std::uint32_t bytes) {
  if (address > memory_bytes || bytes > memory_bytes - address) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 16) return 0;
  std::vector<std::uint8_t> image(data, data + size);
  set_word(image, 0, KAITEN_IMAGE_MAGIC);
  set_word(image, 4, KAITEN_IMAGE_VERSION);
  set_word(image, 12, std::uint32_t(size));
  set_word(image, 8, std::uint32_t(crc32_z(0, image.data() + 12, size - 12)));
  kaiten_image read{};
  if (kaiten_image_open(&read, image.data(), std::uint32_t(size)) != nullptr) return 0;
  memory_bytes = kaiten_memory_needed(&read);

  kaiten_port port{};
  // An accelerator that has whatever is asked for cannot be had: requirements are made 0.
  for (std::uint32_t i = 0; i < read.requirements; i++) set_word(image, read.requirements_at + 12 * i + 8, 0);
  set_word(image, 8, std::uint32_t(crc32_z(0, image.data() + 12, size - 12)));
  port.read_register = [](void*, std::uint32_t at) { return at == KAITEN_ID ? KAITEN_ID_VALUE : 0U; };
  port.write_register = [](void*, std::uint32_t, std::uint32_t) {};
  port.write_memory = [](void*, std::uint64_t at, const void*, std::uint32_t bytes) { touch(at, bytes); };
  port.read_memory = [](void*, std::uint64_t at, void* to, std::uint32_t bytes) {
    touch(at, bytes);
    std::memset(to, 0, bytes);
  };
  kaiten_device k{};
  if (kaiten_open(&k, &port) != KAITEN_OK) __builtin_trap();
  if (kaiten_load(&k, image.data(), std::uint32_t(size), 0, memory_bytes) != KAITEN_OK) return 0;
  for (const kaiten_direction direction : {KAITEN_INPUT, KAITEN_OUTPUT}) {
    for (std::uint32_t i = 0; i < k.image.tensors[direction]; i++) {
      const std::uint32_t bytes = kaiten_image_tensor(&k.image, direction, i).bytes;
      if (bytes > kMostBytes) continue;
      std::vector<std::int8_t> values(bytes);
      if (direction == KAITEN_INPUT)
        kaiten_write_input(&k, i, k.image.batch - 1, values.data());
      else
        kaiten_read_output(&k, i, k.image.batch - 1, values.data());
    }
  }
  return 0;
}
