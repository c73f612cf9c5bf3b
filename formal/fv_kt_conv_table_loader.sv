// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

`include "fv.svh"
// Tables of the array: every result of a command that looks up meets a half that was filled for that command and whose 32 words
// were all read, each once, in order, from the command's own place in ZSB, whose end goes on at its beginning. Results of other
// commands meet none. Fills go on while the results of the command before are on their way.
// Assumed is what kt_conv does: a head stays until it is taken, and is taken with ready_o only; a window that ends in a result is
// emitted with filled_o only, by the running command, and commands are a cycle apart.
module fv_kt_conv_table_loader
  import kt_pkg::*;
#(
  parameter int unsigned Latency  = 5,
  parameter int unsigned ZsbDepth = 48
) (
  input logic  clk_i,
  input logic  rst_ni,
  input logic  head_i,
  input logic  look_up_i,
  input addr_t table_word_i,
  input logic  start_i,
  input logic  slot_i,
  input logic  zsb_grant_i
);
  logic       ready, filled, zsb_rd, we, look_up, second;
  addr_t      zsb_addr;
  logic [5:0] wr_addr;
  kt_conv_table_loader #(
    .Latency (Latency),
    .ZsbDepth(ZsbDepth)
  ) dut (
    .clk_i,
    .rst_ni,
    .head_i,
    .look_up_i,
    .table_word_i,
    .start_i,
    .ready_o    (ready),
    .filled_o   (filled),
    .zsb_grant_i,
    .zsb_rd_o   (zsb_rd),
    .zsb_addr_o (zsb_addr),
    .we_o       (we),
    .wr_addr_o  (wr_addr),
    .look_up_o  (look_up),
    .second_o   (second)
  );
  `include "fv_reset.svh"

  // ---- commands: number and kind of the running one
  logic       runs_q, looks_q, waits_q, waiting_look_q;
  logic [2:0] number_q;
  addr_t      waiting_word_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      runs_q   <= 1'b0;
      looks_q  <= 1'b0;
      waits_q  <= 1'b0;
      number_q <= '0;
    end else begin
      waits_q <= head_i && !start_i;
      if (start_i) begin
        runs_q   <= 1'b1;
        looks_q  <= look_up_i;
        number_q <= number_q + 3'd1;
      end
    end
  end
  always_ff @(posedge clk_i) begin
    waiting_look_q <= look_up_i;
    waiting_word_q <= table_word_i;
  end
  `FV_ASSUME(m_head, !waits_q || (head_i && look_up_i == waiting_look_q && table_word_i == waiting_word_q))
  `FV_ASSUME(m_start, !start_i || (head_i && ready))
  `FV_ASSUME(m_over, !start_i || filled)  // every command ends in a result
  `FV_ASSUME(m_word, table_word_i < addr_t'(ZsbDepth))
  `FV_ASSUME(m_slot, !slot_i || (runs_q && filled && !start_i))

  // ---- results on their way, and what was read for each half: for which command, how many words, from where
  typedef struct packed {
    logic       valid;
    logic       looks;
    logic [2:0] number;
  } result_t;
  result_t [Latency-1:0] result_q;
  logic       [1:0][2:0] owner_q;
  logic       [1:0][5:0] read_q;
  addr_t      [1:0]      from_q;
  logic                  half_q;
  wire                   claims = dut.claim;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      result_q <= '0;
      half_q   <= 1'b0;
      read_q   <= '0;
    end else begin
      result_q <= {result_q[Latency-2:0], slot_i, looks_q, number_q};
      if (claims) half_q <= !half_q;
      if (claims) read_q[!half_q] <= '0;
      else if (zsb_rd) read_q[half_q] <= read_q[half_q] + 6'd1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (claims) owner_q[!half_q] <= number_q + 3'd1;
    if (claims) from_q[!half_q] <= table_word_i;
  end

  // ---- claims
  wire on = past_ok_q && rst_ni;
  wire result_t leaves = result_q[Latency-1];
  `FV_ASSERT(a_kind, !(on && leaves.valid) || look_up == leaves.looks)
  `FV_ASSERT(a_table, !(on && leaves.valid && leaves.looks) || (owner_q[second] == leaves.number && read_q[second] == 6'(TableWords)))
  `FV_ASSERT(a_read, !(on && zsb_rd) || (zsb_grant_i && read_q[half_q] < 6'(TableWords) &&
             zsb_addr == (from_q[half_q] + addr_t'(read_q[half_q])) % addr_t'(ZsbDepth)))
  logic       rd_q;
  logic [5:0] place_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) rd_q <= 1'b0;
    else rd_q <= zsb_rd;
  end
  always_ff @(posedge clk_i) place_q <= {half_q, read_q[half_q][4:0]};
  `FV_ASSERT(a_write, !on || (we == rd_q && (!we || wr_addr == place_q)))

  // ---- invariants
  logic [7:0] age_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) age_q <= 8'(Latency);
    else age_q <= start_i ? '0 : (age_q == 8'(Latency)) ? age_q : age_q + 8'd1;
  end
  wire [5:0] left = dut.left_q;
  wire       claimed = dut.claimed_q;
  `FV_ASSERT(i_age, !on || (8'(dut.age_q) == age_q && age_q <= 8'(Latency)))
  `FV_ASSERT(i_half, !on || dut.second_q == half_q)
  `FV_ASSERT(i_looks, !on || (dut.look_up_q == looks_q && (runs_q || !looks_q)))
  `FV_ASSERT(i_claimed, !(on && claimed) || (age_q == 8'(Latency) && waits_q && waiting_look_q && owner_q[half_q] == number_q + 3'd1 &&
             read_q[half_q] + left == 6'(TableWords)))
  `FV_ASSERT(i_running, !(on && looks_q) || (owner_q[dut.running_second_q] == number_q && dut.running_second_q == (half_q ^ claimed) &&
             read_q[dut.running_second_q] + (claimed ? 6'd0 : left) == 6'(TableWords)))
  `FV_ASSERT(i_left, !on || (left <= 6'(TableWords) && (claimed || looks_q || left == '0)))
  `FV_ASSERT(i_from, !(on && left != '0) || (from_q[half_q] < addr_t'(ZsbDepth) && read_q[half_q] + left == 6'(TableWords) &&
             dut.addr_q == (from_q[half_q] + addr_t'(read_q[half_q])) % addr_t'(ZsbDepth)))
  for (genvar i = 0; i < int'(Latency); i++) begin : g_stage
    wire result_t r = result_q[i];
    wire          half = dut.seconds_q[i];
    `FV_ASSERT(i_kind, !(on && r.valid) || dut.look_ups_q[i] == r.looks)
    `FV_ASSERT(i_table, !(on && r.valid && r.looks) || (owner_q[half] == r.number && read_q[half] == 6'(TableWords)))
    // of the running command, all that are younger than its start
    `FV_ASSERT(i_young, !(on && r.valid && i < int'(age_q)) || (r.number == number_q && r.looks == looks_q &&
               (!looks_q || half == dut.running_second_q)))
    // of one before it: of its half nothing is read
    `FV_ASSERT(i_old, !(on && r.valid && r.looks && i >= int'(age_q)) || !looks_q || claimed || half == !half_q)
  end

  `FV_COVER(c_both, leaves.valid && leaves.looks && claimed && left != '0 && left != 6'(TableWords))
endmodule
