// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "kaiten.h"

#include "kaiten_registers.h"

// Looks at the status before a reset counts as stuck; it waits for the memory's outstanding answers only.
static const uint32_t kResetPatience = 100000;
static const uint32_t kWatchdogCycles = 1000000;
static const uint32_t kEvents = KAITEN_IRQ_STATUS_DONE_MASK | KAITEN_IRQ_STATUS_ERROR_MASK;

static uint32_t read(const struct kaiten_device* k, uint32_t offset) {
  return k->port->read_register(k->port->context, offset);
}

static void write(const struct kaiten_device* k, uint32_t offset, uint32_t value) {
  k->port->write_register(k->port->context, offset, value);
}

static void write_address(const struct kaiten_device* k, uint32_t low, uint32_t high, uint64_t address) {
  write(k, low, (uint32_t)address);
  write(k, high, (uint32_t)(address >> 32));
}

static void synchronise(const struct kaiten_device* k) {
  if (k->port->synchronise) k->port->synchronise(k->port->context);
}

static uint32_t field(uint32_t word, uint32_t mask, uint32_t low) { return (word & mask) >> low; }

static uint32_t major_of(uint32_t version) {
  return field(version, KAITEN_VERSION_MAJOR_MASK, KAITEN_VERSION_MAJOR_LOW);
}

static uint32_t minor_of(uint32_t version) {
  return field(version, KAITEN_VERSION_MINOR_MASK, KAITEN_VERSION_MINOR_LOW);
}

static uint64_t align_up(uint64_t bytes) {
  return (bytes + KAITEN_MEMORY_ALIGN - 1) / KAITEN_MEMORY_ALIGN * KAITEN_MEMORY_ALIGN;
}

const char* kaiten_text(enum kaiten_result result) {
  static const char* const texts[] = {"done",
                                      "there is no accelerator",
                                      "the accelerator's registers are of another version",
                                      "the image is not usable",
                                      "the image was made for another configuration",
                                      "the program needs more memory, or memory that is aligned",
                                      "no image is loaded",
                                      "there is no such tensor",
                                      "the accelerator stopped with an error",
                                      "the accelerator did not end in time",
                                      "the accelerator does not come out of its reset"};
  return (unsigned)result < sizeof texts / sizeof *texts ? texts[result] : "unknown";
}

enum kaiten_result kaiten_reset(struct kaiten_device* k) {
  write(k, KAITEN_CONTROL, KAITEN_CONTROL_SOFT_RESET_MASK);
  for (uint32_t i = 0; i < kResetPatience; i++) {
    if (read(k, KAITEN_STATUS) & KAITEN_STATUS_RESETTING_MASK) continue;
    write(k, KAITEN_IRQ_STATUS, kEvents);
    k->interrupted = false;
    return KAITEN_OK;
  }
  return KAITEN_STUCK;
}

enum kaiten_result kaiten_open(struct kaiten_device* k, const struct kaiten_port* port) {
  k->port = port;
  k->watchdog = kWatchdogCycles;
  k->loaded = false;
  k->interrupted = false;
  k->image_fault = 0;
  if (read(k, KAITEN_ID) != KAITEN_ID_VALUE) return KAITEN_NO_DEVICE;
  if (major_of(read(k, KAITEN_VERSION)) != 0) return KAITEN_OTHER_VERSION;
  return kaiten_reset(k);
}

// Starts of the regions from that of the commands; the last is the end of all.
static void memory_map(const struct kaiten_image* image, uint64_t map[6]) {
  map[0] = 0;
  map[1] = align_up((uint64_t)image->commands * KAITEN_COMMAND_BYTES);
  for (int i = 0; i < 4; i++) map[i + 2] = map[i + 1] + align_up(image->region_bytes[i]);
}

uint64_t kaiten_memory_needed(const struct kaiten_image* image) {
  uint64_t map[6];
  memory_map(image, map);
  return map[5];
}

static enum kaiten_result check_device(struct kaiten_device* k, const struct kaiten_image* image) {
  const uint32_t version = read(k, KAITEN_VERSION);
  if (major_of(version) != major_of(image->register_version) ||
      minor_of(version) < minor_of(image->register_version))
    return KAITEN_OTHER_VERSION;
  for (uint32_t i = 0; i < image->requirements; i++) {
    k->requirement = kaiten_image_requirement(image, i);
    k->found = read(k, k->requirement.offset);
    if ((k->found & k->requirement.mask) != k->requirement.value) return KAITEN_OTHER_CONFIG;
  }
  return KAITEN_OK;
}

enum kaiten_result kaiten_load(struct kaiten_device* k, const void* image, uint32_t bytes, uint64_t address,
                               uint64_t memory_bytes) {
  k->loaded = false;
  k->image_fault = kaiten_image_open(&k->image, image, bytes);
  if (k->image_fault) return KAITEN_BAD_IMAGE;
  const enum kaiten_result checked = check_device(k, &k->image);
  if (checked != KAITEN_OK) return checked;
  if (address % KAITEN_MEMORY_ALIGN != 0 || kaiten_memory_needed(&k->image) > memory_bytes)
    return KAITEN_NO_MEMORY;
  uint64_t map[6];
  memory_map(&k->image, map);
  k->program = address;
  for (int i = 0; i < 4; i++) k->base[i] = address + map[i + 1];
  const struct kaiten_port* port = k->port;
  port->write_memory(port->context, k->program, k->image.bytes + k->image.commands_at,
                     k->image.commands * KAITEN_COMMAND_BYTES);
  port->write_memory(port->context, k->base[0], k->image.bytes + k->image.constants_at,
                     k->image.region_bytes[0]);
  k->loaded = true;
  return KAITEN_OK;
}

// Copies between the values of a part and memory: pixel by pixel and segment by segment, or all at once where both are dense.
struct copy {
  struct kaiten_device* k;
  enum kaiten_direction direction;
  uint64_t base;
  int8_t* values;
  uint32_t pixel_bytes;  // of all parts together
};

static void copy_run(const struct copy* c, uint64_t offset, uint64_t first, uint32_t bytes) {
  const struct kaiten_port* port = c->k->port;
  if (c->direction == KAITEN_INPUT)
    port->write_memory(port->context, c->base + offset, c->values + first, bytes);
  else
    port->read_memory(port->context, c->base + offset, c->values + first, bytes);
}

static void copy_part(const struct copy* c, const struct kaiten_part* p, uint32_t first_channel) {
  const uint32_t dense_row = p->width * p->channels;
  if (p->segments == 1 && p->channels == c->pixel_bytes && p->last_pixel_bytes == p->channels &&
      (p->row_pitch == dense_row || p->height == 1)) {
    copy_run(c, p->offset, 0, p->height * dense_row);
    return;
  }
  for (uint32_t y = 0; y < p->height; y++) {
    for (uint32_t x = 0; x < p->width; x++) {
      const uint64_t pixel = ((uint64_t)y * p->width + x) * c->pixel_bytes + first_channel;
      for (uint32_t done = 0; done < p->channels;) {
        const uint32_t lane = p->lane + done;
        const uint32_t s = p->segments == 1 ? 0 : lane / p->pixel_bytes;
        const uint32_t inside = lane - s * p->pixel_bytes;
        const uint32_t each = s + 1 == p->segments ? p->last_pixel_bytes : p->pixel_bytes;
        uint32_t run = each - inside;
        if (run > p->channels - done) run = p->channels - done;
        copy_run(c,
                 p->offset + (uint64_t)y * p->row_pitch + (uint64_t)s * p->segment_pitch +
                     (uint64_t)x * each + inside,
                 pixel + done, run);
        done += run;
      }
    }
  }
}

// NOLINTBEGIN(readability-non-const-parameter): outputs are written through `values`
static enum kaiten_result copy_tensor(struct kaiten_device* k, enum kaiten_direction direction,
                                      uint32_t index, uint32_t image, int8_t* values) {
  if (!k->loaded) return KAITEN_NOT_LOADED;
  if (index >= k->image.tensors[direction] || image >= k->image.batch) return KAITEN_NO_SUCH_TENSOR;
  const struct kaiten_tensor t = kaiten_image_tensor(&k->image, direction, index);
  struct copy c = {k, direction, 0, values, 0};
  for (uint32_t i = 0; i < t.parts; i++) c.pixel_bytes += kaiten_image_part(&k->image, &t, i).channels;
  uint32_t first = 0;
  for (uint32_t i = 0; i < t.parts; i++) {
    const struct kaiten_part p = kaiten_image_part(&k->image, &t, i);
    c.base = k->base[direction == KAITEN_INPUT ? 2 : 3] + (uint64_t)image * p.image_pitch;
    copy_part(&c, &p, first);
    first += p.channels;
  }
  return KAITEN_OK;
}
// NOLINTEND(readability-non-const-parameter)

enum kaiten_result kaiten_write_input(struct kaiten_device* k, uint32_t index, uint32_t image,
                                      const int8_t* values) {
  return copy_tensor(k, KAITEN_INPUT, index, image, (int8_t*)values);  // only read
}

enum kaiten_result kaiten_read_output(struct kaiten_device* k, uint32_t index, uint32_t image,
                                      int8_t* values) {
  return copy_tensor(k, KAITEN_OUTPUT, index, image, values);
}

static void start(struct kaiten_device* k, enum kaiten_wait how) {
  k->interrupted = false;
  write(k, KAITEN_IRQ_STATUS, kEvents);
  for (uint32_t i = 0; i < 4; i++) write_address(k, KAITEN_BASE_LO(i), KAITEN_BASE_HI(i), k->base[i]);
  write_address(k, KAITEN_PROGRAM_LO, KAITEN_PROGRAM_HI, k->program);
  write(k, KAITEN_COMMAND_COUNT, k->image.commands);
  write(k, KAITEN_WB_SPLIT, k->image.wb_split);
  write(k, KAITEN_WATCHDOG, k->watchdog);
  synchronise(k);
  write(k, KAITEN_CONTROL,
        KAITEN_CONTROL_START_MASK | (how == KAITEN_INTERRUPT ? KAITEN_CONTROL_IRQ_ENABLE_MASK : 0));
}

// The accelerator has ended. With interrupts its registers are left alone until one comes.
static bool ended(const struct kaiten_device* k, enum kaiten_wait how) {
  return how == KAITEN_INTERRUPT ? k->interrupted : !(read(k, KAITEN_STATUS) & KAITEN_STATUS_BUSY_MASK);
}

enum kaiten_result kaiten_run(struct kaiten_device* k, enum kaiten_wait how) {
  if (!k->loaded) return KAITEN_NOT_LOADED;
  start(k, how);
  while (!ended(k, how)) {
    if (k->port->wait(k->port->context)) continue;
    return kaiten_reset(k) == KAITEN_OK ? KAITEN_TIMED_OUT : KAITEN_STUCK;
  }
  synchronise(k);
  const uint32_t status = read(k, KAITEN_STATUS);
  if (status & KAITEN_STATUS_DONE_MASK) {
    write(k, KAITEN_IRQ_STATUS, kEvents);
    return KAITEN_OK;
  }
  k->stop.cause = read(k, KAITEN_ERROR_CAUSE);
  k->stop.command = read(k, KAITEN_ERROR_INDEX);
  k->stop.info = read(k, KAITEN_ERROR_INFO);
  return kaiten_reset(k) == KAITEN_OK ? KAITEN_STOPPED : KAITEN_STUCK;
}

void kaiten_interrupt(struct kaiten_device* k) {
  write(k, KAITEN_IRQ_STATUS, kEvents);
  k->interrupted = true;
}

uint64_t kaiten_counter(const struct kaiten_device* k, uint32_t offset) {
  const uint32_t low = read(k, offset);
  return low | (uint64_t)read(k, offset + 4) << 32;
}
