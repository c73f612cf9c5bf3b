// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

`include "fv.svh"
// Table of the vector engine: a result that goes through it comes out three cycles later with every byte replaced by the entry of its
// value, which is what was last written there; another one passes in its own cycle. One entry of one half, picked at power-up, is watched
// in all copies and groups.
// Results that are to go through it are asked for three cycles apart, what follows a command's last one four (a_room).
// Assumed is what kt_vector does (fv_kt_vector: i_pace, a_alone, a_half): results keep their distance, and no word is written into
// the half in which one is looked up. With FV_BUG the second is dropped and the proof must fail.
module fv_kt_vector_table #(
  parameter int unsigned Cp = 2
) (
  input logic            clk_i,
  input logic            rst_ni,
  input logic            we_i,
  input logic [5:0]      wr_addr_i,
  input logic [63:0]     wr_data_i,
  input logic            ask_i,
  input logic            ask_last_i,
  input logic            valid_i,
  input logic            look_up_i,
  input logic            second_i,
  input logic [Cp*8-1:0] word_i[3],
  input logic            pick_half_i,
  input logic [7:0]      pick_entry_i
);
  logic            valid, room;
  logic [Cp*8-1:0] word[3];
  kt_vector_table #(
    .Cp(Cp)
  ) dut (
    .clk_i,
    .rst_ni,
    .we_i,
    .wr_addr_i,
    .wr_data_i,
    .room_o(room),
    .ask_i,
    .ask_last_i,
    .valid_i,
    .look_up_i,
    .second_i,
    .word_i,
    .valid_o(valid),
    .word_o (word)
  );
  `include "fv_reset.svh"

  // ---- the result in the table
  logic            start, second_q;
  logic [1:0]      age_q;  // 1 to 3 cycles, 0: none
  logic [Cp*8-1:0] word_q[3];
  assign start = valid_i && look_up_i;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) age_q <= '0;
    else age_q <= start ? 2'd1 : (age_q == '0) ? 2'd0 : age_q + 2'd1;
  end
  always_ff @(posedge clk_i) begin
    if (start) begin
      word_q   <= word_i;
      second_q <= second_i;
    end
  end
  `FV_ASSUME(m_distance, !valid_i || age_q == '0 || (age_q == 2'd3 && look_up_i))
`ifndef FV_BUG
  `FV_ASSUME(m_half, !we_i || !((start && wr_addr_i[5] == second_i) || (age_q != '0 && wr_addr_i[5] == second_q)))
`endif

  // ---- the watched entry
  logic       half_q, known_q;  // known: it was written since reset
  logic [7:0] entry_q, value_q;
  wire        hit = we_i && past_ok_q && wr_addr_i == {half_q, entry_q[7:3]};
  always_ff @(posedge clk_i) begin
    if (!past_ok_q) begin
      half_q  <= pick_half_i;
      entry_q <= pick_entry_i;
    end
    if (hit) value_q <= wr_data_i[8*entry_q[2:0]+:8];
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) known_q <= 1'b0;
    else if (hit) known_q <= 1'b1;
  end

  // ---- results that are asked for
  logic [2:0] since_q;  // cycles since the last one, 4 and more
  logic       ended_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      since_q <= 3'd4;
      ended_q <= 1'b0;
    end else if (ask_i) begin
      since_q <= 3'd1;
      ended_q <= ask_last_i;
    end else if (since_q < 3'd4) begin
      since_q <= since_q + 3'd1;
    end
  end
  `FV_ASSUME(m_ask, !ask_i || room)

  // ---- claims
  wire on = past_ok_q && rst_ni;
  wire [2:0] apart = ended_q ? 3'd4 : 3'd3;
  `FV_ASSERT(a_room, !on || room == (since_q >= apart))
  `FV_ASSERT(a_valid, !on || valid == (age_q == 2'd3 || (valid_i && !look_up_i)))
  for (genvar g = 0; g < 3; g++) begin : g_group
    `FV_ASSERT(a_passes, !(on && valid_i && !look_up_i) || word[g] == word_i[g])
    for (genvar b = 0; b < int'(Cp); b++) begin : g_byte
      // the byte's value is the entry's number less 128
      wire ours = on && known_q && second_q == half_q && word_q[g][8*b+:8] == {!entry_q[7], entry_q[6:0]};
      `FV_ASSERT(a_entry, !(ours && age_q == 2'd3) || word[g][8*b+:8] == value_q)
      `FV_ASSERT(i_read, !(ours && 32'(age_q) == g + 1) || (dut.entries[b][8*entry_q[2:0]+:8] == value_q && dut.entry_q[b] == entry_q[2:0]))
      if (g < 2) begin : g_found
        `FV_ASSERT(i_found, !(ours && 32'(age_q) > g + 1) || dut.found_q[g][8*b+:8] == value_q)
      end
    end
  end

  // ---- invariants
  `FV_ASSERT(i_pace, !on || 3'(dut.pace_q) + since_q == apart || (dut.pace_q == '0 && since_q >= apart))
  `FV_ASSERT(i_age, !on || dut.step_q == age_q)
  for (genvar g = 0; g < 3; g++) begin : g_word
    `FV_ASSERT(i_word, !(on && age_q != '0) || (dut.word_q[g] == word_q[g] && dut.second_q == second_q))
  end
  for (genvar b = 0; b < int'(Cp); b++) begin : g_copy
    wire [63:0] stored = dut.gen_copy[b].u_copy.mem[{half_q, entry_q[7:3]}];
    `FV_ASSERT(i_copy, !(past_ok_q && known_q) || stored[8*entry_q[2:0]+:8] == value_q)
  end

  `FV_COVER(c_follows, age_q == 2'd3 && start && known_q && second_q == half_q && word_q[2][7:0] == 8'h85 && entry_q == 8'h05 &&
            value_q == 8'h5a)
endmodule
