// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The signals of AXI ports as plain variables: tests of the memory and the monitors need no Verilated model.
#ifndef KAITEN_TESTS_SW_SIM_AXI_SIGNALS_H
#define KAITEN_TESTS_SW_SIM_AXI_SIGNALS_H

#include <array>

#include "sim/axi_port.h"

namespace kaiten::test {

template <unsigned Lanes>
struct ReadSignals {
  std::uint8_t ar_valid = 0, ar_ready = 0, ar_id = 0, ar_len = 0, ar_size = __builtin_ctz(Lanes),
               ar_burst = 1;
  std::uint64_t ar_addr = 0;
  std::uint8_t r_valid = 0, r_ready = 0, r_id = 0, r_resp = 0, r_last = 0;
  std::array<std::uint32_t, Lanes / 4> r_data{};
  sim::AxiReadPort port() {
    return {Lanes,     &ar_valid, &ar_ready, &ar_id, &ar_addr,      &ar_len, &ar_size,
            &ar_burst, &r_valid,  &r_ready,  &r_id,  r_data.data(), &r_resp, &r_last};
  }
};

template <unsigned Lanes>
struct WriteSignals {
  std::uint8_t aw_valid = 0, aw_ready = 0, aw_id = 0, aw_len = 0, aw_size = __builtin_ctz(Lanes),
               aw_burst = 1;
  std::uint64_t aw_addr = 0;
  std::uint8_t w_valid = 0, w_ready = 0, w_last = 0;
  std::uint64_t w_strb = ~std::uint64_t{0} >> (64 - Lanes);
  std::array<std::uint32_t, Lanes / 4> w_data{};
  std::uint8_t b_valid = 0, b_ready = 0, b_id = 0, b_resp = 0;
  sim::AxiWritePort port() {
    return {Lanes,    &aw_valid,     &aw_ready, &aw_id,  &aw_addr, &aw_len,  &aw_size, &aw_burst, &w_valid,
            &w_ready, w_data.data(), &w_strb,   &w_last, &b_valid, &b_ready, &b_id,    &b_resp};
  }
};

}  // namespace kaiten::test

#endif  // KAITEN_TESTS_SW_SIM_AXI_SIGNALS_H
