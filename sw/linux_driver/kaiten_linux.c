// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE  // O_CLOEXEC, flock()

#include "kaiten_linux.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "firmware/kaiten_registers.h"

enum {
  kPathBytes = 512,
  kPatience = 10000,  // milliseconds
  kSlice = 20,        // of one sleep
  kTurns = 2000,      // looks at an answer before it is slept for
  kRegisterSpan = 0x400,
};

struct fault {
  char* text;
  size_t bytes;
};

static bool fail(const struct fault* f, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(f->text, f->bytes, format, arguments);
  va_end(arguments);
  return false;
}

// ---- a number in a file of /sys ----

static bool read_number(const char* path, uint64_t* number, const struct fault* f) {
  FILE* file = fopen(path, "re");
  if (!file) return fail(f, "cannot read '%s': %s", path, strerror(errno));
  char text[64] = "";
  const bool there = fgets(text, sizeof text, file) != NULL;
  fclose(file);
  char* end = text;
  errno = 0;
  if (there) *number = strtoull(text, &end, 0);
  if (end == text || errno != 0 || (*end != '\n' && *end != 0)) return fail(f, "no number in '%s'", path);
  return true;
}

static void* map(int file, uint64_t bytes) {
  void* at = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return at == MAP_FAILED ? NULL : at;
}

static bool open_and_map(const char* path, int flags, uint64_t bytes, int* file, void** at,
                         const struct fault* f) {
  *file = open(path, O_RDWR | O_CLOEXEC | flags);
  if (*file < 0) return fail(f, "cannot open '%s': %s", path, strerror(errno));
  if (flock(*file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return fail(f, "'%s' is in use by another program", path);
  *at = map(*file, bytes);
  return *at ? true : fail(f, "cannot map %" PRIu64 " bytes of '%s': %s", bytes, path, strerror(errno));
}

// ---- UIO and u-dma-buf ----

static uint32_t read_mapped(void* context, uint32_t offset) {
  return ((struct kaiten_linux*)context)->registers[offset / 4];
}

static void write_mapped(void* context, uint32_t offset, uint32_t value) {
  struct kaiten_linux* l = context;
  if (offset == KAITEN_CONTROL) l->waited = 0;
  l->registers[offset / 4] = value;
}

static bool open_uio(struct kaiten_linux* l, const char* name, const char* root, const struct fault* f) {
  char path[kPathBytes];
  snprintf(path, sizeof path, "%s/sys/class/uio/%s/maps/map0/size", root, name);
  if (!read_number(path, &l->register_bytes, f)) return false;
  if (l->register_bytes < kRegisterSpan)
    return fail(f, "'%s' maps %" PRIu64 " bytes of registers, at least %d are needed", name,
                l->register_bytes, kRegisterSpan);
  snprintf(path, sizeof path, "%s/dev/%s", root, name);
  void* at = NULL;
  if (!open_and_map(path, O_SYNC, l->register_bytes, &l->registers_file, &at, f)) return false;
  l->registers = at;
  l->port.read_register = read_mapped;
  l->port.write_register = write_mapped;
  return true;
}

// O_SYNC: the processor's cache is left out, so that nothing has to be synchronised.
static bool open_buffer(struct kaiten_linux* l, const char* name, const char* root, const struct fault* f) {
  char path[kPathBytes];
  snprintf(path, sizeof path, "%s/sys/class/u-dma-buf/%s/size", root, name);
  if (!read_number(path, &l->memory_bytes, f)) return false;
  snprintf(path, sizeof path, "%s/sys/class/u-dma-buf/%s/phys_addr", root, name);
  if (!read_number(path, &l->memory_address, f)) return false;
  if (l->memory_address % KAITEN_MEMORY_ALIGN != 0 || l->memory_bytes == 0)
    return fail(f, "'%s' has %" PRIu64 " bytes at 0x%" PRIx64 ", which is no multiple of %u", name,
                l->memory_bytes, l->memory_address, KAITEN_MEMORY_ALIGN);
  snprintf(path, sizeof path, "%s/dev/%s", root, name);
  void* at = NULL;
  if (!open_and_map(path, O_SYNC, l->memory_bytes, &l->memory_file, &at, f)) return false;
  l->memory = at;
  return true;
}

// ---- a simulated accelerator ----

static bool server_lives(struct kaiten_linux* l) {
  if (!l->lost && kaiten_bridge_get(&l->bridge->magic) == KAITEN_BRIDGE_MAGIC &&
      (kill((pid_t)l->bridge->server, 0) == 0 || errno != ESRCH))
    return true;
  l->lost = true;
  return false;
}

static void exchange(struct kaiten_linux* l) {
  struct kaiten_bridge_page* p = l->bridge;
  const uint32_t number = p->request + 1;
  kaiten_bridge_set(&p->request, number);
  for (uint32_t turn = 0;; turn++) {
    const uint32_t answer = kaiten_bridge_get(&p->answer);
    if (answer == number) return;
    if (turn < kTurns)
      sched_yield();
    else if (server_lives(l))
      kaiten_bridge_sleep(&p->answer, answer, kSlice);
    else
      return;
  }
}

static uint32_t read_bridged(void* context, uint32_t offset) {
  struct kaiten_linux* l = context;
  if (!server_lives(l)) return UINT32_MAX;
  l->bridge->is_write = 0;
  l->bridge->offset = offset;
  exchange(l);
  return l->lost ? UINT32_MAX : l->bridge->value;
}

static void write_bridged(void* context, uint32_t offset, uint32_t value) {
  struct kaiten_linux* l = context;
  if (!server_lives(l)) return;
  if (offset == KAITEN_CONTROL) l->waited = 0;
  l->bridge->is_write = 1;
  l->bridge->offset = offset;
  l->bridge->value = value;
  exchange(l);
}

static bool open_bridge(struct kaiten_linux* l, const char* folder, const struct fault* f) {
  char path[kPathBytes];
  snprintf(path, sizeof path, "%s/" KAITEN_BRIDGE_REGISTERS, folder);
  l->register_bytes = KAITEN_BRIDGE_PAGE_BYTES;
  l->registers_file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (l->registers_file < 0)
    return fail(f, "no bridge in '%s' (kaiten bridge %s): %s", folder, folder, strerror(errno));
  struct stat status;
  if (fstat(l->registers_file, &status) != 0 || status.st_size < (off_t)KAITEN_BRIDGE_PAGE_BYTES)
    return fail(f, "'%s' is not a bridge's", path);
  l->bridge = map(l->registers_file, KAITEN_BRIDGE_PAGE_BYTES);
  if (!l->bridge) return fail(f, "cannot map '%s': %s", path, strerror(errno));
  if (kaiten_bridge_get(&l->bridge->magic) != KAITEN_BRIDGE_MAGIC)
    return fail(f, "'%s' is not a bridge's", path);
  if (l->bridge->version != KAITEN_BRIDGE_VERSION)
    return fail(f, "the bridge in '%s' is of version %u, this program knows %u", folder, l->bridge->version,
                KAITEN_BRIDGE_VERSION);
  if (!server_lives(l)) return fail(f, "the bridge in '%s' has ended", folder);
  l->memory_address = l->bridge->memory_address;
  l->memory_bytes = l->bridge->memory_bytes;
  snprintf(path, sizeof path, "%s/" KAITEN_BRIDGE_MEMORY, folder);
  void* at = NULL;
  if (!open_and_map(path, O_NOFOLLOW, l->memory_bytes, &l->memory_file, &at, f)) return false;
  l->memory = at;
  l->interrupts_seen = kaiten_bridge_get(&l->bridge->interrupts);
  l->port.read_register = read_bridged;
  l->port.write_register = write_bridged;
  return true;
}

// ---- both ----

static void write_memory(void* context, uint64_t address, const void* data, uint32_t bytes) {
  struct kaiten_linux* l = context;
  if (bytes > 0) memcpy(l->memory + (address - l->memory_address), data, bytes);
}

static void read_memory(void* context, uint64_t address, void* data, uint32_t bytes) {
  struct kaiten_linux* l = context;
  if (bytes > 0) memcpy(data, l->memory + (address - l->memory_address), bytes);
}

static void synchronise(void* context) {
  (void)context;
  __sync_synchronize();
}

static bool wait_slice(void* context) {
  struct kaiten_linux* l = context;
  if (kaiten_linux_wait(l, kSlice)) {
    if (l->interrupts) kaiten_interrupt(l->interrupts);
    return true;
  }
  l->waited += kSlice;
  return !l->lost && l->waited <= l->patience;
}

bool kaiten_linux_wait(struct kaiten_linux* l, int milliseconds) {
  if (l->registers) {
    // What came is acknowledged by now: the kernel may let the next one through.
    const uint32_t enable = 1;
    if (write(l->registers_file, &enable, sizeof enable) < 0 && errno != EINTR) return false;
    struct pollfd p = {l->registers_file, POLLIN, 0};
    if (poll(&p, 1, milliseconds) <= 0) return false;
    uint32_t count = 0;
    return read(l->registers_file, &count, sizeof count) == (ssize_t)sizeof count;
  }
  struct kaiten_bridge_page* p = l->bridge;
  kaiten_bridge_set(&p->armed, 1);
  if (kaiten_bridge_get(&p->interrupts) == l->interrupts_seen)
    kaiten_bridge_sleep(&p->interrupts, l->interrupts_seen, milliseconds);
  const uint32_t now = kaiten_bridge_get(&p->interrupts);
  if (now == l->interrupts_seen) {
    server_lives(l);
    return false;
  }
  l->interrupts_seen = now;
  return true;
}

// NOLINTNEXTLINE(readability-non-const-parameter): written through struct fault
bool kaiten_linux_open(struct kaiten_linux* l, const char* device, const char* root, char* text,
                       size_t text_bytes) {
  static const char kBridge[] = "bridge:";
  const struct fault f = {text, text_bytes};
  memset(l, 0, sizeof *l);
  l->registers_file = l->memory_file = -1;
  l->patience = kPatience;
  l->port.context = l;
  l->port.write_memory = write_memory;
  l->port.read_memory = read_memory;
  l->port.synchronise = synchronise;
  l->port.wait = wait_slice;
  bool opened = false;
  char uio[64] = "", buffer[64] = "", more = 0;
  if (strncmp(device, kBridge, sizeof kBridge - 1) == 0)
    opened = open_bridge(l, device + sizeof kBridge - 1, &f);
  else if (sscanf(device, "%63[^,/],%63[^,/]%c", uio, buffer, &more) == 2)
    opened = open_uio(l, uio, root, &f) && open_buffer(l, buffer, root, &f);
  else
    fail(&f, "a device is 'UIO,BUFFER', as 'uio0,udmabuf0', or 'bridge:FOLDER', not '%s'", device);
  if (!opened) kaiten_linux_close(l);
  return opened;
}

void kaiten_linux_close(struct kaiten_linux* l) {
  if (l->registers) munmap((void*)l->registers, (size_t)l->register_bytes);
  if (l->bridge) munmap(l->bridge, (size_t)l->register_bytes);
  if (l->memory) munmap(l->memory, (size_t)l->memory_bytes);
  if (l->registers_file >= 0) close(l->registers_file);
  if (l->memory_file >= 0) close(l->memory_file);
  l->registers = NULL;
  l->bridge = NULL;
  l->memory = NULL;
  l->registers_file = l->memory_file = -1;
}
