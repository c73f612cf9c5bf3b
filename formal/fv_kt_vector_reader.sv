`include "fv.svh"
// Reader of the vector engine with any command: the nine taps of a request never meet in a bank and name existing banks,
// and a request holds all cells of the column that are inside the map and the kernel, no other.
module fv_kt_vector_reader
  import kt_pkg::*;
  import kt_vector_pkg::*;
(
  input logic      clk_i,
  input logic      rst_ni,
  input logic      start_i,
  input vec_cmd_t  cmd_i,
  input vec_plan_t plan_i,
  input logic      rd_i
);
  vec_cmd_t   cmd_q;
  vec_plan_t  plan_q;
  logic       start_q, started_q;
  logic       ready, first, last;
  logic [1:0] operand;
  tap_t       tap[9];
  logic [2:0] off_map, missing;

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) {start_q, started_q} <= 2'b00;
    else begin
      start_q   <= start_i;
      started_q <= start_q || (started_q && !start_i);
    end
  always_ff @(posedge clk_i)
    if (start_i) begin
      cmd_q  <= cmd_i;
      plan_q <= plan_i;
    end

  wire rd = rd_i && ready && started_q && !start_q;
  kt_vector_reader dut (
    .clk_i,
    .start_i  (start_q),
    .cmd_i    (cmd_q),
    .plan_i   (plan_q),
    .rd_i     (rd),
    .ready_o  (ready),
    .first_o  (first),
    .last_o   (last),
    .operand_o(operand),
    .tap_o    (tap),
    .off_map_o(off_map),
    .missing_o(missing)
  );
  `include "fv_reset.svh"

  `FV_ASSUME(m_words, cmd_i.pixel.mod < 4'd9 && cmd_i.operand_step.mod < 4'd9 && plan_i.origin.mod < 4'd9 && plan_i.window_step.mod < 4'd9)
  `FV_ASSUME(m_mod3, cmd_i.top_mod3 < 2'd3 && plan_i.stride_mod3 < 2'd3)

  logic rd_q;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) rd_q <= 1'b0;
    else rd_q <= rd;

  for (genvar t = 0; t < 9; t++) begin : g_tap
    `FV_ASSERT(a_bank, !rd_q || !tap[t].en || tap[t].bank < 4'd9)
    `FV_ASSERT(a_cell, !rd_q || tap[t].en == (!off_map[t / 3] && !missing[t / 3]))
    for (genvar u = 0; u < t; u++) begin : g_other
      `FV_ASSERT(a_alone, !rd_q || !tap[t].en || !tap[u].en || tap[t].bank != tap[u].bank)
    end
  end

  `FV_ASSERT(i_words, !(start_q || started_q) || (cmd_q.pixel.mod < 4'd9 && cmd_q.operand_step.mod < 4'd9 && plan_q.origin.mod < 4'd9
      && plan_q.window_step.mod < 4'd9 && cmd_q.top_mod3 < 2'd3 && plan_q.stride_mod3 < 2'd3))
  `FV_ASSERT(i_position, !started_q || (dut.pos_q.mod < 4'd9 && dut.window_pos_q.mod < 4'd9 && dut.origin_q.mod < 4'd9
      && dut.mod3_q < 2'd3))

  `FV_COVER(c_all, rd_q && off_map == 3'b000 && missing == 3'b000)
  `FV_COVER(c_operand, rd_q && operand == 2'd3)
  `FV_COVER(c_piece, rd_q && missing == 3'b110 && off_map == 3'b000 && cmd_q.kernel_rows == 8'd4)
endmodule
