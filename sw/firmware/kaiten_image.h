// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Reads program images: what `kaiten compile MODEL --image FILE` writes (docs/formats/program_image.md). C11, no allocation,
// no library; the bytes may stand at any address and must stay there while the image is in use. Units: bytes.
#ifndef KAITEN_FIRMWARE_KAITEN_IMAGE_H
#define KAITEN_FIRMWARE_KAITEN_IMAGE_H

// NOLINTBEGIN(modernize-deprecated-headers): C, for C++ too
#include <stdbool.h>
#include <stdint.h>
// NOLINTEND(modernize-deprecated-headers)

#ifdef __cplusplus
extern "C" {
#endif

#define KAITEN_IMAGE_MAGIC 0x474d494bu  // "KIMG"
#define KAITEN_IMAGE_VERSION 1u
#define KAITEN_IMAGE_CONFIG_BYTES 24
#define KAITEN_IMAGE_NAME_BYTES 48
#define KAITEN_IMAGE_RANK 6
#define KAITEN_COMMAND_BYTES 64u

// What stands where: the header, checked.
struct kaiten_image {
  const uint8_t* bytes;
  uint32_t size;
  uint32_t register_version;  // as register `version` of the device it was made for
  uint32_t requirements, requirements_at;
  uint32_t commands, commands_at;
  uint32_t constants_at;
  uint32_t region_bytes[4];  // behind base registers 0 to 3: constants, activations, inputs, outputs
  uint32_t wb_split;
  uint32_t batch;  // images of a run
  uint64_t modelled_cycles;
  uint32_t tensors[2], tensors_at[2];      // of inputs, outputs
  char config[KAITEN_IMAGE_CONFIG_BYTES];  // names end with 0
  char name[KAITEN_IMAGE_NAME_BYTES];
};

// A bit field of a register that must have this value: (register & mask) == value.
struct kaiten_requirement {
  uint32_t offset, mask, value;
};

enum kaiten_direction { KAITEN_INPUT = 0, KAITEN_OUTPUT = 1 };
enum kaiten_type { KAITEN_INT8 = 0, KAITEN_UINT8 = 1 };

// A tensor that crosses the memory; its values are int8, in the order of its shape.
struct kaiten_tensor {
  char name[KAITEN_IMAGE_NAME_BYTES];
  enum kaiten_type model_type;  // UINT8: the model's values are these plus 128, as is its zero point
  uint32_t rank;
  uint32_t shape[KAITEN_IMAGE_RANK];
  float scale;  // real = scale * (value - zero_point); 0: not quantised
  int32_t zero_point;
  uint32_t bytes;  // of an image of the batch
  uint32_t parts, parts_at;
};

// Channels `lane` to `lane + channels - 1` of a map of rows of segments; the next ones of the tensor. Byte of row y, column x
// and channel c, with s = c / pixel_bytes the segment (the last one has pixels of last_pixel_bytes):
//   offset + y * row_pitch + s * segment_pitch + x * (bytes of a pixel of s) + c - s * pixel_bytes
struct kaiten_part {
  uint32_t offset;  // from the base register
  uint32_t height, width, lane, channels;
  uint32_t segments, pixel_bytes, last_pixel_bytes;
  uint32_t segment_pitch, row_pitch, image_pitch;
};

// The result of a check: 0 or a sentence.
typedef const char* kaiten_fault;  // NOLINT(modernize-use-using)

// Reads the header and checks the whole image: everything that the functions below and the driver follow lies inside it.
// Commands are covered by the checksum only: an image from a source that is not trusted is a program from one.
kaiten_fault kaiten_image_open(struct kaiten_image* image, const void* bytes, uint32_t size);

// Of an image that was opened; indices in range, not checked.
struct kaiten_requirement kaiten_image_requirement(const struct kaiten_image* image, uint32_t index);
struct kaiten_tensor kaiten_image_tensor(const struct kaiten_image* image, enum kaiten_direction direction,
                                         uint32_t index);
struct kaiten_part kaiten_image_part(const struct kaiten_image* image, const struct kaiten_tensor* tensor,
                                     uint32_t index);

#ifdef __cplusplus
}
#endif

#endif  // KAITEN_FIRMWARE_KAITEN_IMAGE_H
