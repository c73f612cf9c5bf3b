// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

`include "fv.svh"
// Tables of the array: a result that goes through one leaves a cycle later with every byte replaced by the entry of its value, which
// is what was last written there; another one passes in its own cycle. One entry of one table, picked at power-up, is watched in
// all lanes.
// Assumed is what kt_conv and kt_vector (fv_kt_vector: a_alone) do: commands are further apart than a cycle, so nothing follows at
// once that does not look up.
module fv_kt_lane_table #(
  parameter int unsigned Lanes = 3
) (
  input logic               clk_i,
  input logic               rst_ni,
  input logic               we_i,
  input logic [5:0]         wr_addr_i,
  input logic [63:0]        wr_data_i,
  input logic               valid_i,
  input logic               two_i,
  input logic               look_up_i,
  input logic               second_i,
  input logic [Lanes*8-1:0] data_i,
  input logic               pick_half_i,
  input logic [7:0]         pick_entry_i
);
  logic               valid, two;
  logic [Lanes*8-1:0] data;
  kt_lane_table #(
    .Lanes(Lanes)
  ) dut (
    .clk_i,
    .rst_ni,
    .we_i,
    .wr_addr_i,
    .wr_data_i,
    .valid_i,
    .two_i,
    .look_up_i,
    .second_i,
    .data_i,
    .valid_o(valid),
    .two_o  (two),
    .data_o (data)
  );
  `include "fv_reset.svh"

  // ---- the result that was looked up in the cycle before, and the watched entry
  logic               looked_q, two_q, second_q, half_q, known_q;
  logic [Lanes*8-1:0] data_q;
  logic [7:0]         entry_q, value_q, before_q;  // before: the value in the cycle before
  wire                hit = we_i && past_ok_q && wr_addr_i == {half_q, entry_q[7:3]};
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      looked_q <= 1'b0;
      known_q  <= 1'b0;
    end else begin
      looked_q <= valid_i && look_up_i;
      if (hit) known_q <= 1'b1;
    end
  end
  logic was_known_q;
  always_ff @(posedge clk_i) begin
    if (!past_ok_q) begin
      half_q  <= pick_half_i;
      entry_q <= pick_entry_i;
    end
    two_q       <= two_i;
    second_q    <= second_i;
    data_q      <= data_i;
    was_known_q <= known_q && rst_ni;
    before_q    <= value_q;
    if (hit) value_q <= wr_data_i[8*entry_q[2:0]+:8];
  end
  `FV_ASSUME(m_apart, !(looked_q && valid_i) || look_up_i)

  // ---- claims
  wire on = past_ok_q && rst_ni;
  `FV_ASSERT(a_valid, !on || valid == (looked_q || (valid_i && !look_up_i)))
  `FV_ASSERT(a_two, !(on && valid) || two == (looked_q ? two_q : two_i))
  `FV_ASSERT(a_passes, !(on && valid_i && !look_up_i) || data == data_i)
  for (genvar l = 0; l < int'(Lanes); l++) begin : g_lane
    // the byte's value is the entry's number less 128
    wire ours = on && looked_q && was_known_q && second_q == half_q && data_q[8*l+:8] == {!entry_q[7], entry_q[6:0]};
    `FV_ASSERT(a_entry, !ours || data[8*l+:8] == before_q)
    `FV_ASSERT(i_read, !ours || dut.found_q[8*l+:8] == before_q)
  end

  // ---- invariants
  `FV_ASSERT(i_looked, !on || (dut.valid_q == looked_q && (!looked_q || dut.two_q == two_q)))
  wire [63:0] stored = dut.words[{half_q, entry_q[7:3]}];
  `FV_ASSERT(i_stored, !(past_ok_q && known_q) || stored[8*entry_q[2:0]+:8] == value_q)

  `FV_COVER(c_follows, looked_q && valid_i && was_known_q && second_q == half_q && data_q[7:0] == 8'h85 && entry_q == 8'h05 &&
            before_q == 8'h5a && two)
endmodule
