// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "linux_driver/linux_device.h"

#include <array>

#include "base/error.h"
#include "device/csr.h"

namespace kaiten {

namespace {

constexpr int kSleepMilliseconds = 20;

}  // namespace

LinuxDevice::LinuxDevice(const std::string& name, const std::string& root) : name_(name) {
  std::array<char, 512> fault{};
  if (!kaiten_linux_open(&l_, name.c_str(), root.c_str(), fault.data(), fault.size()))
    throw InputError("device: " + std::string(fault.data()));
}

LinuxDevice::~LinuxDevice() { kaiten_linux_close(&l_); }

void LinuxDevice::require_alive() const {
  if (l_.lost) throw DeviceError("the simulated accelerator of '" + name_ + "' has gone away");
}

void LinuxDevice::require_memory(std::uint64_t address, std::uint64_t bytes) const {
  if (address >= l_.memory_address && bytes <= l_.memory_bytes &&
      address - l_.memory_address <= l_.memory_bytes - bytes)
    return;
  throw DeviceError("the memory of '" + name_ + "' has " + std::to_string(l_.memory_bytes) + " bytes at " +
                    std::to_string(l_.memory_address) + ", not " + std::to_string(bytes) + " at " +
                    std::to_string(address));
}

std::uint32_t LinuxDevice::read_register(std::uint32_t address) {
  const std::uint32_t value = l_.port.read_register(l_.port.context, address);
  require_alive();
  return value;
}

void LinuxDevice::write_register(std::uint32_t address, std::uint32_t value) {
  // What was written to memory before is there when the device starts, and what the device wrote is seen after.
  l_.port.synchronise(l_.port.context);
  l_.port.write_register(l_.port.context, address, value);
  require_alive();
}

void LinuxDevice::write_memory(std::uint64_t address, std::span<const std::uint8_t> data) {
  require_memory(address, data.size());
  l_.port.write_memory(l_.port.context, address, data.data(), std::uint32_t(data.size()));
}

void LinuxDevice::read_memory(std::uint64_t address, std::span<std::uint8_t> data) {
  require_memory(address, data.size());
  l_.port.synchronise(l_.port.context);
  l_.port.read_memory(l_.port.context, address, data.data(), std::uint32_t(data.size()));
}

bool LinuxDevice::wait_interrupt(std::uint64_t /*cycles*/) {
  const bool came = kaiten_linux_wait(&l_, kSleepMilliseconds);
  require_alive();
  return came;
}

}  // namespace kaiten
