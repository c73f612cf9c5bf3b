// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

`include "fv.svh"
// Clock of an engine: it runs in every cycle in which the engine is woken, has a command that is not complete, or had one of these
// in one of the Linger cycles before, and else stands. Starts and completions are any, at most 255 commands at a time.
module fv_kt_engine_clk #(
  parameter int unsigned Linger = 5
) (
  input logic clk_i,
  input logic rst_ni,
  input logic wake_i,
  input logic start_i,
  input logic done_i
);
  logic unused_clk;
  kt_engine_clk #(
    .Linger(Linger)
  ) dut (
    .clk_i,
    .rst_ni,
    .wake_i,
    .start_i,
    .done_i,
    .clk_o(unused_clk)
  );
  `include "fv_reset.svh"

  logic [8:0]        commands_q;
  logic [Linger-1:0] recent_q;  // it had work, one to Linger cycles ago; all of them behind a reset
  wire               work = wake_i || commands_q != '0;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      commands_q <= '0;
      recent_q   <= '1;
    end else begin
      commands_q <= commands_q + 9'(start_i) - 9'(done_i);
      recent_q   <= {recent_q[Linger-2:0], work};
    end
  end
  `FV_ASSUME(m_few, !(commands_q == 9'd255 && start_i) && !(commands_q == '0 && done_i && !start_i))
  `FV_ASSERT(a_runs, dut.u_gate.en_i == (work || recent_q != '0))
  `FV_ASSERT(i_count, 9'(dut.count_q) == commands_q)
  // the youngest of the cycles with work
  logic [31:0] left;
  always_comb begin
    left = '0;
    for (int unsigned i = 0; i < Linger; i++) if (recent_q[Linger-1-i]) left = i + 1;
  end
  `FV_ASSERT(i_linger, 32'(dut.linger_q) == left)

  `FV_COVER(c_stands, past_ok_q && !dut.u_gate.en_i)
  `FV_COVER(c_again, recent_q == 5'b00001 && wake_i && commands_q == '0)
endmodule
