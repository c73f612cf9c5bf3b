// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// An accelerator on this machine's board, or a simulated one in another process, as a Device (kaiten_linux.h). One thread at a
// time.
#ifndef KAITEN_LINUX_DRIVER_LINUX_DEVICE_H
#define KAITEN_LINUX_DRIVER_LINUX_DEVICE_H

#include <cstdint>
#include <span>
#include <string>

#include "device/device.h"
#include "linux_driver/kaiten_linux.h"

namespace kaiten {

class LinuxDevice : public Device {
 public:
  // "uio0,udmabuf0" or "bridge:FOLDER"; `root` as of kaiten_linux_open(). Throws InputError with what is wrong.
  explicit LinuxDevice(const std::string& name, const std::string& root = "");
  ~LinuxDevice() override;
  LinuxDevice(const LinuxDevice&) = delete;
  LinuxDevice& operator=(const LinuxDevice&) = delete;

  // All throw DeviceError once a simulated accelerator is gone, and for addresses outside of registers and memory.
  std::uint32_t read_register(std::uint32_t address) override;
  void write_register(std::uint32_t address, std::uint32_t value) override;
  std::uint64_t memory_base() const override { return l_.memory_address; }
  std::uint64_t memory_bytes() const override { return l_.memory_bytes; }
  void write_memory(std::uint64_t address, std::span<const std::uint8_t> data) override;
  void read_memory(std::uint64_t address, std::span<std::uint8_t> data) override;
  // The device works by itself: sleeps for a fixed while, whatever `cycles` says.
  bool wait_interrupt(std::uint64_t cycles) override;

 private:
  void require_alive() const;
  void require_memory(std::uint64_t address, std::uint64_t bytes) const;

  std::string name_;
  kaiten_linux l_{};
};

}  // namespace kaiten

#endif  // KAITEN_LINUX_DRIVER_LINUX_DEVICE_H
