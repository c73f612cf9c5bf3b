// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Runs networks on the accelerator with the driver of sw/firmware, by interrupt and by polling, and compares every value of
// their outputs; then everything that can go wrong, with a sound run after each. The last line ends in PASS or FAIL.
#include "board.h"
#include "console.h"
#include "kaiten.h"
#include "kaiten_registers.h"
#include "networks.h"

enum { OUTPUT_BYTES = 64 };  // the most that a network here has

static struct board board;
static struct kaiten_device device;
static uint32_t checks, failed;

static void check(bool right, const char* what) {
  checks++;
  if (right) return;
  failed++;
  say("  wrong: ");
  say(what);
  say("\n");
}

static const char* by(enum kaiten_wait how) { return how == KAITEN_INTERRUPT ? "interrupt" : "polling"; }

static void say_result(enum kaiten_result result) {
  say(kaiten_text(result));
  if (result == KAITEN_STOPPED) {
    say(": cause ");
    say_number(device.stop.cause);
    say(", command ");
    say_number(device.stop.command);
    say(", info ");
    say_hex(device.stop.info);
  }
  say("\n");
}

static enum kaiten_result load(const struct network* network) {
  return kaiten_load(&device, network->image, network->image_bytes, board_memory(), board_memory_bytes());
}

// One image through the network; all values must be those that are expected.
static void run(const struct network* network, uint32_t image, enum kaiten_wait how) {
  static int8_t output[OUTPUT_BYTES];
  for (uint32_t i = 0; i < sizeof output; i++) output[i] = 0x55;
  board.patience = UINT32_MAX;
  const uint32_t interrupts = board.interrupts;
  kaiten_write_input(&device, 0, 0, network->inputs + image * network->input_bytes);
  const enum kaiten_result result = kaiten_run(&device, how);
  say(network->name);
  say(" ");
  say_number(image);
  say(" by ");
  say(by(how));
  say(": ");
  if (result == KAITEN_OK) {
    say_number((int64_t)kaiten_counter(&device, KAITEN_COUNTERS_CYCLES));
    say(" cycles, ");
    say_number(board.cycles);
    say(" of the processor\n");
  } else {
    say_result(result);
  }
  check(result == KAITEN_OK, "the run");
  check(board.interrupts - interrupts == (how == KAITEN_INTERRUPT), "the number of interrupts");
  check(kaiten_read_output(&device, 0, 0, output) == KAITEN_OK, "reading the output");
  uint32_t different = 0;
  for (uint32_t i = 0; i < network->output_bytes; i++)
    different += output[i] != network->expected[image * network->output_bytes + i];
  check(different == 0, "the output");
}

static void run_all(const struct network* network) {
  const enum kaiten_result result = load(network);
  check(result == KAITEN_OK, "loading");
  if (result != KAITEN_OK) {
    say(network->name);
    say(": ");
    say(result == KAITEN_BAD_IMAGE ? device.image_fault : kaiten_text(result));
    say("\n");
    return;
  }
  say(network->name);
  say(": ");
  say_number(device.image.commands);
  say(" commands, ");
  say_number((int64_t)kaiten_memory_needed(&device.image));
  say(" bytes of memory, ");
  say_number((int64_t)device.image.modelled_cycles);
  say(" cycles modelled\n");
  check(kaiten_image_tensor(&device.image, KAITEN_INPUT, 0).bytes == network->input_bytes,
        "the input's size");
  check(kaiten_image_tensor(&device.image, KAITEN_OUTPUT, 0).bytes == network->output_bytes &&
            network->output_bytes <= OUTPUT_BYTES,
        "the output's size");
  for (uint32_t image = 0; image < network->cases; image++) {
    run(network, image, KAITEN_INTERRUPT);
    run(network, image, KAITEN_POLL);
  }
}

// A run that must end as told.
static void provoke(const char* what, enum kaiten_wait how, enum kaiten_result wanted, uint32_t cause) {
  const enum kaiten_result result = kaiten_run(&device, how);
  say(what);
  say(" by ");
  say(by(how));
  say(": ");
  say_result(result);
  check(result == wanted, what);
  if (wanted == KAITEN_STOPPED) check(device.stop.cause == cause, "the cause");
}

static void damage_a_command(const struct network* network, enum kaiten_wait how) {
  volatile uint8_t* third = (uint8_t*)(uintptr_t)device.program + 2 * KAITEN_COMMAND_BYTES;
  const uint8_t right = *third;
  *third = 0xff;
  provoke("a damaged command", how, KAITEN_STOPPED, KAITEN_ERROR_CAUSE_ILLEGAL);
  check(device.stop.command == 2, "the command at fault");
  *third = right;
  run(network, 0, how);
}

// Addresses where there is no main memory, for what reads commands, what reads data and what writes.
static void leave_the_memory(const struct network* network, enum kaiten_wait how) {
  static const uint64_t nowhere[] = {0, 0x5000000000};  // above what the bus can address
  const uint32_t decode_error = 3;
  for (uint32_t i = 0; i < sizeof nowhere / sizeof *nowhere; i++) {
    struct {
      const char* what;
      uint64_t* address;
      uint32_t cause;
    } const places[] = {
        {"commands outside of memory", &device.program, KAITEN_ERROR_CAUSE_FETCH_READ},
        {"input outside of memory", &device.base[2], KAITEN_ERROR_CAUSE_LOAD_READ},
        {"output outside of memory", &device.base[3], KAITEN_ERROR_CAUSE_STORE_WRITE},
    };
    for (uint32_t p = 0; p < sizeof places / sizeof *places; p++) {
      const uint64_t right = *places[p].address;
      *places[p].address = nowhere[i];
      provoke(places[p].what, how, KAITEN_STOPPED, places[p].cause);
      check(device.stop.info == decode_error, "the bus's answer");
      *places[p].address = right;
    }
    run(network, 0, how);
  }
}

static void take_too_long(const struct network* network, enum kaiten_wait how) {
  const uint32_t watchdog = device.watchdog;
  device.watchdog = 10;
  provoke("a short watchdog", how, KAITEN_STOPPED, KAITEN_ERROR_CAUSE_TIMEOUT);
  device.watchdog = watchdog;
  run(network, 0, how);
  board.patience = 5000;
  provoke("no patience", how, KAITEN_TIMED_OUT, 0);
  run(network, 0, how);
}

static void refuse_images(const struct network* network) {
  check(load(&foreign) == KAITEN_OTHER_CONFIG && device.requirement.offset == KAITEN_KP,
        "an image of another configuration");
  check(kaiten_run(&device, KAITEN_POLL) == KAITEN_NOT_LOADED, "a run without a program");
  uint8_t* byte = network->image + network->image_bytes / 2;
  *byte ^= 1;
  check(load(network) == KAITEN_BAD_IMAGE, "a damaged image");
  *byte ^= 1;
  check(kaiten_load(&device, network->image, network->image_bytes, board_memory() + 64,
                    board_memory_bytes() - 64) == KAITEN_NO_MEMORY,
        "memory that is not aligned");
  check(load(network) == KAITEN_OK, "the image as it was");
  say("images that do not fit: refused\n");
  run(network, 0, KAITEN_INTERRUPT);
}

int main(void) {
  board_open(&board, &device);
  const enum kaiten_result opened = kaiten_open(&device, &board.port);
  say("Kaiten in a system on chip: ");
  say_result(opened);
  check(opened == KAITEN_OK, "opening");
  if (opened == KAITEN_OK) {
    for (uint32_t i = 0; i < network_count; i++) run_all(&networks[i]);
    check(load(&networks[0]) == KAITEN_OK, "loading again");
    for (enum kaiten_wait how = KAITEN_POLL; how <= KAITEN_INTERRUPT; how++) {
      damage_a_command(&networks[0], how);
      leave_the_memory(&networks[0], how);
      take_too_long(&networks[0], how);
    }
    refuse_images(&networks[0]);
  }
  say_number(checks);
  say(" checks, ");
  say_number(failed);
  say(failed == 0 ? " failed, PASS\n" : " failed, FAIL\n");
  say_all();
  return 0;
}
