// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

`include "fv.svh"
// Plan of a vector command, any command: ready max(3, stride, pad_left) cycles behind its start and not before, of large windows
// after the first column of their last kernel tile besides; products by the stride, the padding and those columns as sums, the
// slots one below the other in the ring, the other counts by their definitions.
module fv_kt_vector_setup
  import kt_pkg::*;
  import kt_vector_pkg::*;
(
  input logic     clk_i,
  input logic     rst_ni,
  input logic     start_i,
  input vec_cmd_t cmd_i,
  input logic     take_i
);
  logic      valid, planned, ready;
  vec_cmd_t  cmd, cmd_q;
  vec_plan_t plan;
  wire start = start_i && !valid;
  wire take  = take_i && ready;
  kt_vector_setup dut (
    .clk_i, .rst_ni, .start_i(start), .cmd_i, .take_i(take), .valid_o(valid), .planned_o(planned), .ready_o(ready), .cmd_o(cmd), .plan_o(plan)
  );
  `include "fv_reset.svh"
  `FV_ASSUME(m_words, cmd_i.pixel.mod < 4'd9 && cmd_i.group.mod < 4'd9 && cmd_i.columns != '0)

  `include "fv_places.svh"
  `include "fv_kernel_tiles.svh"

  // ---- products, a summand a cycle
  logic       open_q;
  logic [3:0] count_q;       // cycles since the start
  word_t      step_q, pad_q, first_q[3];  // first: columns in front of a kernel tile's first one
  wire tiled = is_tiled(cmd_q);
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) open_q <= 1'b0;
    else open_q <= start || (open_q && !take);
  always_ff @(posedge clk_i)
    if (start) begin
      cmd_q   <= cmd_i;
      count_q <= '0;
      step_q  <= '0;
      pad_q   <= '0;
      first_q <= '{default: '0};
    end else if (count_q != '1) begin
      count_q <= count_q + 4'd1;
      if (count_q < cmd_q.stride) step_q <= plus(step_q, cmd_q.pixel);
      if (count_q < cmd_q.pad_left) pad_q <= plus(pad_q, cmd_q.pixel);
      for (int unsigned t = 0; t < 3; t++) if (tiled && count_q < tile_first(cmd_q, 2'(t))) first_q[t] <= plus(first_q[t], cmd_q.pixel);
    end
  wire [3:0] most  = (cmd_q.stride > cmd_q.pad_left) ? cmd_q.stride : cmd_q.pad_left;
  wire [3:0] last  = tiled ? tile_first(cmd_q, last_tile_of(cmd_q.kernel_columns[3:0])) : 4'd0;
  wire [3:0] few   = (most < 4'd3) ? 4'd3 : most;
  wire [3:0] least = (few < last) ? last : few;

  wire signed [12:0] last_left = 13'(12'(cmd_q.columns - 10'd1) << cmd_q.stride[1]) - 13'(cmd_q.pad_left);
  wire signed [13:0] last_end  = 14'(last_left) + 14'(cmd_q.kernel_columns);
  wire shared = cmd_q.kind != KindAdd && cmd_q.kernel_rows <= 8'd3 && cmd_q.kernel_columns <= 8'd3 && cmd_q.stride < cmd_q.kernel_columns[3:0] &&
                cmd_q.pad_left < cmd_q.kernel_columns[3:0] && last_left < $signed(13'(cmd_q.in_width));
  `FV_ASSERT(a_valid, valid == open_q)
  `FV_ASSERT(a_ready, ready == (open_q && count_q >= least))
  `FV_ASSERT(a_command, !open_q || cmd == cmd_q)
  `FV_ASSERT(a_planned, planned == (open_q && count_q != '0))
  `FV_ASSERT(a_stream, !planned || (plan.stream == (shared || tiled) && plan.tiled == tiled))
  `FV_ASSERT(a_windows, !ready || plan.windows == (shared || tiled ? 10'd1 : cmd_q.columns))
  `FV_ASSERT(a_last_tile, !ready || plan.last_tile == (tiled ? last_tile_of(cmd_q.kernel_columns[3:0]) : 2'd0))
  for (genvar t = 0; t < 3; t++) begin : g_tile
    `FV_ASSERT(a_steps, !(ready && tiled && plan.last_tile >= 2'(t)) || plan.steps[t] == tile_steps(cmd_q, 2'(t)))
    `FV_ASSERT(a_some, !(ready && tiled && plan.last_tile >= 2'(t)) || (plan.steps[t] != '0 && plan.steps[t] <= cmd_q.in_width))
    `FV_ASSERT(a_start, !(ready && tiled && plan.last_tile >= 2'(t)) || plan.tile_start[t] == first_q[t])
    `FV_ASSERT(a_place, !ready || plan.tile_start[t].mod < 4'd9)
    `FV_ASSERT(i_place, !open_q || t == 0 || dut.start_q[(t > 0) ? t : 1].mod < 4'd9)
    `FV_ASSERT(i_tile, !open_q || !tiled || (first_q[t].mod < 4'd9 && (t == 0 ? first_q[t] == '0 : 2'(t) > last_tile_of(cmd_q.kernel_columns[3:0]) || dut.start_q[(t > 0) ? t : 1] == first_q[t])))
  end
  `FV_ASSERT(a_first_tile, !ready || plan.tile_start[0] == '0)
  `FV_ASSERT(a_kernel_tiles, !ready || plan.kernel_tiles == ((cmd_q.kind == KindAdd) ? (cmd_q.pair ? 7'd1 : 7'd2 + 7'(cmd_q.more_operands)) :
      7'((9'(cmd_q.kernel_rows) + 9'd2) / 9'd3)))
  `FV_ASSERT(a_steps, !ready || tiled || plan.steps[0] == (!shared ? 10'(cmd_q.kernel_columns) :
      last_end < $signed(14'(cmd_q.in_width)) ? last_end[9:0] : cmd_q.in_width))
  `FV_ASSERT(a_mod3, !ready || plan.stride_mod3 == 2'(cmd_q.stride % 4'd3))
  `FV_ASSERT(a_step, !ready || plan.window_step == step_q)
  `FV_ASSERT(a_origin, !ready || (plan.origin.mod < 4'd9 && (shared || tiled ? plan.origin : plus(plan.origin, pad_q)) == cmd_q.group))
  `FV_ASSERT(a_slots, !ready || (plan.slots[0] == cmd_q.slot && plan.slots[1] == below(cmd_q.ring, plan.slots[0]) &&
      plan.slots[2] == below(cmd_q.ring, plan.slots[1]) && plan.slots[3] == below(cmd_q.ring, plan.slots[2])))

  // ---- invariants
  wire [1:0] slots = (count_q < 4'd3) ? 2'(count_q) : 2'd3;
  `FV_ASSERT(i_words, !open_q || (cmd_q.columns != '0 && cmd_q.pixel.mod < 4'd9 && cmd_q.group.mod < 4'd9 && step_q.mod < 4'd9 && pad_q.mod < 4'd9))
  `FV_ASSERT(i_count, !open_q || dut.count_q == (count_q < least ? count_q : least))
  `FV_ASSERT(i_ready, ready == dut.ready_q && (!open_q || dut.ready_q == (dut.count_q == least)))
  `FV_ASSERT(i_last_left, !planned || dut.last_left_q == last_left)
  for (genvar t = 0; t < 3; t++) begin : g_ends_inside
    `FV_ASSERT(i_ends_inside, !open_q || count_q < 4'd2 || dut.ends_inside_q[t] == dut.ends_inside[t])
  end
  `FV_ASSERT(i_sums, !open_q || (dut.step_q == step_q && dut.origin_q.mod < 4'd9 && plus(dut.origin_q, pad_q) == cmd_q.group))
  for (genvar i = 0; i < 4; i++) begin : g_slots
    `FV_ASSERT(i_first, !open_q || 32'(slots) != i || dut.slots_q[3-i] == cmd_q.slot)
    if (i < 3) begin : g_next
      `FV_ASSERT(i_next, !open_q || 32'(slots) <= i || dut.slots_q[3-i] == below(cmd_q.ring, dut.slots_q[2-i]))
    end
  end

  `FV_COVER(c_stream, take && plan.stream && cmd_q.stride == 4'd2 && cmd_q.pad_left == 4'd1)
  `FV_COVER(c_left, take && !plan.stream && cmd_q.pad_left == 4'd4 && plan.origin.mod == 4'd8)
endmodule
