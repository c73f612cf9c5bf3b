// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What a driver needs of an accelerator, wherever that is.
#ifndef KAITEN_DEVICE_DEVICE_H
#define KAITEN_DEVICE_DEVICE_H

#include <cstdint>
#include <span>

namespace kaiten {

/// A Kaiten as the driver sees it: registers, memory that both sides reach, an interrupt. The only place that
/// knows whether the hardware is simulated (sw/sim/sim_device.h) or mapped into memory. Addresses are bytes;
/// registers have 32 bits and the addresses of docs/formats/registers.md. Errors of the device itself are DeviceError.
class Device {
 public:
  virtual ~Device() = default;

  virtual std::uint32_t read_register(std::uint32_t address) = 0;               ///< of a register
  virtual void write_register(std::uint32_t address, std::uint32_t value) = 0;  ///< likewise

  virtual std::uint64_t memory_base() const = 0;   ///< bus address of the memory's first byte
  virtual std::uint64_t memory_bytes() const = 0;  ///< of the memory
  /// At a bus address, all of it in the memory.
  virtual void write_memory(std::uint64_t address, std::span<const std::uint8_t> data) = 0;
  /// Likewise.
  virtual void read_memory(std::uint64_t address, std::span<std::uint8_t> data) = 0;

  /// Lets the device work until its interrupt is raised, for a limited time (a simulated device: cycles; so
  /// that the caller can show progress and react to Ctrl-C). True when the interrupt is raised.
  virtual bool wait_interrupt(std::uint64_t cycles) = 0;
};

}  // namespace kaiten

#endif  // KAITEN_DEVICE_DEVICE_H
