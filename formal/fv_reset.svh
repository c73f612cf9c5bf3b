// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

  // Included inside a harness. The power-up cycle is in reset, later resets are free; past_ok_q: there was a cycle before.
  logic past_ok_q = 1'b0;
  always_ff @(posedge clk_i) past_ok_q <= 1'b1;
  `FV_ASSUME(m_reset, past_ok_q || !rst_ni)
