// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

`include "fv.svh"
// Two consecutive words, picked at an arbitrary moment, leave consecutively and unchanged; outputs wait for ready.
module fv_kt_skid #(
  parameter int unsigned Width = 4
) (
  input logic             clk_i,
  input logic             rst_ni,
  input logic             in_valid_i,
  input logic [Width-1:0] in_data_i,
  input logic             out_ready_i,
  input logic             pick_i
);
  logic in_ready, out_valid;
  logic [Width-1:0] out_data;
  kt_skid #(
    .Width(Width)
  ) dut (
    .clk_i,
    .rst_ni,
    .in_valid_i,
    .in_ready_o (in_ready),
    .in_data_i,
    .out_valid_o(out_valid),
    .out_ready_i,
    .out_data_o (out_data)
  );
  `include "fv_reset.svh"

  wire push = in_valid_i && in_ready;
  wire pop  = out_valid && out_ready_i;

  // 0 nothing, 1 first is inside, 2 both are inside, 3 the first has left; ahead_q: words before the first
  logic [1:0]       st_q, count_q;
  logic             ahead_q;
  logic [Width-1:0] v1_q, v2_q;
  wire first_leaves = pop && !ahead_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      st_q    <= 2'd0;
      count_q <= 2'd0;
    end else begin
      count_q <= count_q + 2'(push) - 2'(pop);
      case (st_q)
        2'd0: if (push && pick_i) st_q <= 2'd1;
        2'd1: if (push) st_q <= first_leaves ? 2'd3 : 2'd2;
              else if (first_leaves) st_q <= 2'd0;
        2'd2: if (first_leaves) st_q <= 2'd3;
        default: if (pop) st_q <= 2'd0;
      endcase
    end
  end
  always_ff @(posedge clk_i) begin
    if (st_q == 2'd0 && push) begin
      v1_q    <= in_data_i;
      ahead_q <= count_q != 2'(pop);
    end else if (pop) begin
      ahead_q <= 1'b0;
    end
    if (st_q == 2'd1 && push) v2_q <= in_data_i;
  end

  logic             stall_q;
  logic [Width-1:0] data_h;
  logic             full_seen_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      stall_q     <= 1'b0;
      full_seen_q <= 1'b0;
    end else begin
      stall_q     <= out_valid && !out_ready_i;
      full_seen_q <= full_seen_q || !in_ready;
    end
  end
  always_ff @(posedge clk_i) data_h <= out_data;

  wire [Width-1:0] word0 = dut.out_data_q;
  wire [Width-1:0] word1 = dut.skid_data_q;
  `FV_ASSERT(a_hold, !stall_q || (out_valid && out_data == data_h))
  `FV_ASSERT(a_count, count_q == 2'(dut.out_valid_q) + 2'(dut.skid_valid_q))
  `FV_ASSERT(a_empty, out_valid == (count_q != 2'd0))
  `FV_ASSERT(a_full, in_ready == (count_q != 2'd2))
  `FV_ASSERT(a_first, !(first_leaves && (st_q == 2'd1 || st_q == 2'd2)) || out_data == v1_q)
  `FV_ASSERT(a_second, !(pop && st_q == 2'd3) || out_data == v2_q)
  `FV_ASSERT(i_order, !dut.skid_valid_q || dut.out_valid_q)
  `FV_ASSERT(i_one, st_q != 2'd1 || (count_q == 2'(ahead_q) + 2'd1 && (ahead_q ? word1 : word0) == v1_q))
  `FV_ASSERT(i_two, st_q != 2'd2 || (count_q == 2'd2 && !ahead_q && word0 == v1_q && word1 == v2_q))
  `FV_ASSERT(i_three, st_q != 2'd3 || (count_q != 2'd0 && word0 == v2_q))
  `FV_COVER(c_drained, full_seen_q && !out_valid)
  `FV_COVER(c_pair, st_q == 2'd3 && pop && full_seen_q)
endmodule
