// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Pointers to the signals of one AXI port of a Verilated model. The memory, the monitors and their tests see
// ports only through these structs, so they work with every model, every data width and without Verilator's
// headers.
//
// In AxiReadPort and AxiWritePort a field is const when the AXI master drives it; the others are written by
// AxiMemory. Monitors write nothing.
#ifndef KAITEN_SIM_AXI_PORT_H
#define KAITEN_SIM_AXI_PORT_H

#include <cstdint>
#include <cstring>

namespace kaiten::sim {

// A signal of up to 64 bits whose variable may be 1, 2, 4 or 8 bytes wide (Verilator picks the type by the
// port's width).
class Signal {
 public:
  Signal() = default;
  Signal(const uint8_t* p) : p_(p), bytes_(1) {}   // NOLINT: conversions are the purpose
  Signal(const uint16_t* p) : p_(p), bytes_(2) {}  // NOLINT
  Signal(const uint32_t* p) : p_(p), bytes_(4) {}  // NOLINT
  Signal(const uint64_t* p) : p_(p), bytes_(8) {}  // NOLINT

  uint64_t get() const {
    uint64_t v = 0;
    switch (bytes_) {
      case 1:
        return *static_cast<const uint8_t*>(p_);
      case 2:
        std::memcpy(&v, p_, 2);
        return v;
      case 4:
        std::memcpy(&v, p_, 4);
        return v;
      case 8:
        std::memcpy(&v, p_, 8);
        return v;
      default:
        return 0;
    }
  }
  explicit operator bool() const { return p_ != nullptr; }

 private:
  const void* p_ = nullptr;
  unsigned bytes_ = 0;
};

// AXI4 AR and R. IDs of up to 8 bits. `r_data` points to data_bytes bytes (16, 32, 64 ...), lane 0 first.
struct AxiReadPort {
  unsigned data_bytes = 0;
  const uint8_t* ar_valid = nullptr;
  uint8_t* ar_ready = nullptr;
  const uint8_t* ar_id = nullptr;
  Signal ar_addr;
  const uint8_t* ar_len = nullptr;
  const uint8_t* ar_size = nullptr;
  const uint8_t* ar_burst = nullptr;
  uint8_t* r_valid = nullptr;
  const uint8_t* r_ready = nullptr;
  uint8_t* r_id = nullptr;
  uint32_t* r_data = nullptr;
  uint8_t* r_resp = nullptr;
  uint8_t* r_last = nullptr;
};

// AXI4 AW, W and B. `b_id` may be null (a master with one ID that does not look at it).
struct AxiWritePort {
  unsigned data_bytes = 0;
  const uint8_t* aw_valid = nullptr;
  uint8_t* aw_ready = nullptr;
  const uint8_t* aw_id = nullptr;
  Signal aw_addr;
  const uint8_t* aw_len = nullptr;
  const uint8_t* aw_size = nullptr;
  const uint8_t* aw_burst = nullptr;
  const uint8_t* w_valid = nullptr;
  uint8_t* w_ready = nullptr;
  const uint32_t* w_data = nullptr;
  Signal w_strb;
  const uint8_t* w_last = nullptr;
  uint8_t* b_valid = nullptr;
  const uint8_t* b_ready = nullptr;
  uint8_t* b_id = nullptr;
  uint8_t* b_resp = nullptr;
};

// AXI4-Lite. `w_strb` may be empty.
struct AxiLitePort {
  unsigned data_bytes = 4;
  const uint8_t* aw_valid = nullptr;
  const uint8_t* aw_ready = nullptr;
  Signal aw_addr;
  const uint8_t* w_valid = nullptr;
  const uint8_t* w_ready = nullptr;
  Signal w_data;
  Signal w_strb;
  const uint8_t* b_valid = nullptr;
  const uint8_t* b_ready = nullptr;
  const uint8_t* b_resp = nullptr;
  const uint8_t* ar_valid = nullptr;
  const uint8_t* ar_ready = nullptr;
  Signal ar_addr;
  const uint8_t* r_valid = nullptr;
  const uint8_t* r_ready = nullptr;
  Signal r_data;
  const uint8_t* r_resp = nullptr;
};

// Ports of a model whose signals are named <prefix>ar_valid_o, <prefix>r_data_i, ... (the names of
// kt_axi_rd_arb and kt_axi_wr; the prefix may be empty). Data of 128 bits and more.
#define KAITEN_AXI_READ_PORT(top, prefix)                                               \
  ::kaiten::sim::AxiReadPort {                                                          \
    static_cast<unsigned>(sizeof((top).prefix##r_data_i)), &(top).prefix##ar_valid_o,   \
        &(top).prefix##ar_ready_i, &(top).prefix##ar_id_o, &(top).prefix##ar_addr_o,    \
        &(top).prefix##ar_len_o, &(top).prefix##ar_size_o, &(top).prefix##ar_burst_o,   \
        &(top).prefix##r_valid_i, &(top).prefix##r_ready_o, &(top).prefix##r_id_i,      \
        (top).prefix##r_data_i.data(), &(top).prefix##r_resp_i, &(top).prefix##r_last_i \
  }

#define KAITEN_AXI_WRITE_PORT(top, prefix)                                                 \
  ::kaiten::sim::AxiWritePort {                                                            \
    static_cast<unsigned>(sizeof((top).prefix##w_data_o)), &(top).prefix##aw_valid_o,      \
        &(top).prefix##aw_ready_i, &(top).prefix##aw_id_o, &(top).prefix##aw_addr_o,       \
        &(top).prefix##aw_len_o, &(top).prefix##aw_size_o, &(top).prefix##aw_burst_o,      \
        &(top).prefix##w_valid_o, &(top).prefix##w_ready_i, (top).prefix##w_data_o.data(), \
        &(top).prefix##w_strb_o, &(top).prefix##w_last_o, &(top).prefix##b_valid_i,        \
        &(top).prefix##b_ready_o, nullptr, &(top).prefix##b_resp_i                         \
  }

}  // namespace kaiten::sim

#endif  // KAITEN_SIM_AXI_PORT_H
