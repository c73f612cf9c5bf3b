// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/demo.h"

// The assembler includes the files: no tool, no generated source.
#define KAITEN_INCLUDE_BYTES(name, file)    \
  asm(".pushsection .rodata\n"              \
      ".balign 16\n"                        \
      ".global " #name "\n" #name           \
      ":\n"                                 \
      ".incbin \"" KAITEN_DEMO_DIR "/" file \
      "\"\n"                                \
      ".global " #name "_end\n" #name       \
      "_end:\n"                             \
      ".byte 0\n"                           \
      ".popsection\n");                     \
  extern "C" const std::uint8_t name[], name##_end[]

KAITEN_INCLUDE_BYTES(kaiten_demo_model, "demo.tflite");
KAITEN_INCLUDE_BYTES(kaiten_demo_images, "digits.u8");

namespace kaiten::cli {

std::span<const std::uint8_t> demo_model() { return {kaiten_demo_model, kaiten_demo_model_end}; }
std::span<const std::uint8_t> demo_images() { return {kaiten_demo_images, kaiten_demo_images_end}; }

}  // namespace kaiten::cli
