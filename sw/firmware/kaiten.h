// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The driver in C11 for bare metal and small operating systems: no allocation, no library, no global state. It loads a program
// image into memory that the accelerator reaches, runs it, and says what went wrong. How registers and memory are
// reached, and how time passes, is the port's: the same driver runs on a processor beside the accelerator (soc/) and against
// the simulated device (tests/sw/firmware). docs/software/firmware.md explains its use.
//
// One struct kaiten_device per accelerator; only kaiten_interrupt() may be called while another function works. Units: bytes; bus
// addresses are those that the accelerator puts on its memory port.
#ifndef KAITEN_FIRMWARE_KAITEN_H
#define KAITEN_FIRMWARE_KAITEN_H

// NOLINTBEGIN(modernize-deprecated-headers): C, for C++ too
#include <stdbool.h>
#include <stdint.h>
// NOLINTEND(modernize-deprecated-headers)

#include "kaiten_image.h"

#ifdef __cplusplus
extern "C" {
#endif

// What the system gives. `context` is handed to every function.
struct kaiten_port {
  void* context;
  // Registers: offsets as in kaiten_registers.h; neither cached nor reordered with what is written to memory before.
  uint32_t (*read_register)(void* context, uint32_t offset);
  void (*write_register)(void* context, uint32_t offset, uint32_t value);
  // Copies to and from memory at a bus address.
  void (*write_memory)(void* context, uint64_t address, const void* data, uint32_t bytes);
  void (*read_memory)(void* context, uint64_t address, void* data, uint32_t bytes);
  // May be null. Before a start: what was written is in memory. After the end: what is read is what the accelerator wrote.
  void (*synchronise)(void* context);
  // Called again and again while the accelerator works: sleeps until an interrupt or a while, or just returns. False gives up:
  // the accelerator is then reset.
  bool (*wait)(void* context);
};

enum kaiten_result {
  KAITEN_OK = 0,
  KAITEN_NO_DEVICE,       // register `id` reads something else
  KAITEN_OTHER_VERSION,   // of the registers than this driver's or the image's
  KAITEN_BAD_IMAGE,       // image_fault says why
  KAITEN_OTHER_CONFIG,    // the image needs another accelerator: requirement, found
  KAITEN_NO_MEMORY,       // the program needs more memory than there is, or it is not aligned
  KAITEN_NOT_LOADED,      // no image was loaded
  KAITEN_NO_SUCH_TENSOR,  // index of a tensor or of an image of the batch out of range
  KAITEN_STOPPED,         // the accelerator reported an error: stop; it was reset and works again
  KAITEN_TIMED_OUT,       // wait() gave up; it was reset and works again
  KAITEN_STUCK,           // it does not come out of its reset
};
// A few words for each.
const char* kaiten_text(enum kaiten_result result);

// Memory for a program begins at a multiple of this.
#define KAITEN_MEMORY_ALIGN 4096u

// What the accelerator said of an error (registers error_cause, error_index, error_info).
struct kaiten_stop {
  uint32_t cause, command, info;
};

struct kaiten_device {
  const struct kaiten_port* port;
  uint32_t
      watchdog;  // cycles without a completed command after which a run stops; 0: never. Set by kaiten_open()
  bool loaded;
  struct kaiten_image image;
  uint64_t program;  // bus addresses of the commands
  uint64_t base[4];  // and of the regions of the base registers
  volatile bool interrupted;
  // Of the last result that is not KAITEN_OK
  kaiten_fault image_fault;
  struct kaiten_requirement requirement;
  uint32_t found;  // in its register
  struct kaiten_stop stop;
};

// Looks for an accelerator behind the port, which must stay there, and resets it.
enum kaiten_result kaiten_open(struct kaiten_device* k, const struct kaiten_port* port);

// Bytes that a program takes in memory; a multiple of KAITEN_MEMORY_ALIGN.
uint64_t kaiten_memory_needed(const struct kaiten_image* image);
// Checks an image against the accelerator and copies commands and constants to memory at `address`, of which `memory_bytes` are
// free for it. The image must stay: its descriptors are read from there.
enum kaiten_result kaiten_load(struct kaiten_device* k, const void* image, uint32_t bytes, uint64_t address,
                               uint64_t memory_bytes);

// Values of input or output `index`, of image `image` of the batch: int8 in the order of the tensor's shape, as many as its
// `bytes` (kaiten_image_tensor(&k->image, ...)).
enum kaiten_result kaiten_write_input(struct kaiten_device* k, uint32_t index, uint32_t image,
                                      const int8_t* values);
enum kaiten_result kaiten_read_output(struct kaiten_device* k, uint32_t index, uint32_t image,
                                      int8_t* values);

enum kaiten_wait { KAITEN_POLL, KAITEN_INTERRUPT };
// Runs the program that was loaded and waits for its end: by looking at the status, or for kaiten_interrupt().
enum kaiten_result kaiten_run(struct kaiten_device* k, enum kaiten_wait how);
// For the interrupt's handler: takes the accelerator's request away.
void kaiten_interrupt(struct kaiten_device* k);

// Stops whatever goes on. Programs stay loaded.
enum kaiten_result kaiten_reset(struct kaiten_device* k);

// A counter of the last run: KAITEN_COUNTERS_... of kaiten_registers.h.
uint64_t kaiten_counter(const struct kaiten_device* k, uint32_t offset);

#ifdef __cplusplus
}
#endif

#endif  // KAITEN_FIRMWARE_KAITEN_H
