// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The networks that the firmware runs. scripts/soc.py writes networks.c: program images of `kaiten compile`, inputs, and the
// outputs that others than Kaiten gave for them.
#ifndef KAITEN_SOC_NETWORKS_H
#define KAITEN_SOC_NETWORKS_H

#include <stdint.h>

struct network {
  const char* name;
  uint8_t* image;  // in memory that can be written, so that it can be damaged
  uint32_t image_bytes;
  uint32_t input_bytes, output_bytes;
  uint32_t cases;
  const int8_t* inputs;    // one behind the other
  const int8_t* expected;  // the same
};

extern const struct network networks[];
extern const uint32_t network_count;
// Of another configuration than the system's: must be refused.
extern const struct network foreign;

#endif  // KAITEN_SOC_NETWORKS_H
