// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

`include "fv.svh"
// Loader of the vector engine's weights: for every kernel tile that is streamed, exactly its VWB rows are asked for, each once, in order,
// at their addresses and for their columns: kernel tiles follow each other in VWB, from the first one of the channel tile on again where the
// sequencer says so. Only with a grant, in every cycle with one while rows are left, and not before the shadow registers are copied,
// two cycles after the swap. loaded_o tells that all were asked for; a command without weights asks for none.
// Assumed is what kt_vector and kt_vector_seq do: a command while ready_o is high, a swap while loaded_o is high, and nothing but the
// next kernel tile behind one that is not the last of its rows (fv_kt_vector_seq: a_loaded, a_behind).
module fv_kt_vector_weights
  import kt_pkg::*;
  import kt_vector_pkg::*;
(
  input logic     clk_i,
  input logic     rst_ni,
  input logic     start_i,
  input vec_cmd_t cmd_i,
  input logic     stream_i,
  input logic     swap_i,
  input logic     again_i,
  input logic     other_i,
  input logic     none_i,
  input logic     grant_i
);
  logic       ready, loaded, rd;
  addr_t      addr;
  logic [1:0] column;
  logic [7:0] zero;
  kt_vector_weights dut (
    .clk_i,
    .rst_ni,
    .start_i,
    .cmd_i,
    .stream_i,
    .ready_o (ready),
    .loaded_o(loaded),
    .swap_i,
    .again_i,
    .other_i,
    .none_i,
    .grant_i,
    .rd_o    (rd),
    .addr_o  (addr),
    .column_o(column),
    .zero_o  (zero)
  );
  `include "fv_reset.svh"
  `include "fv_kernel_tiles.svh"

  // ---- the command, the kernel tile that is loaded for it and what was read of that
  logic [3:0] kernel_columns_q;
  logic [7:0] zero_q;
  addr_t      row_q, channels_q;       // of this kernel tile; of the channel tile's first one
  logic [1:0] side_q, read_q, swapped_q;  // swapped: cycles since the swap, 1 and 2
  logic       have_q, ending_q;
  wire       weights   = stream_i && cmd_i.kind == KindDepthwise;
  wire [1:0] width     = tile_columns(kernel_columns_q, side_q);
  wire       sides_end = side_q == last_tile_of(kernel_columns_q);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      have_q    <= 1'b0;
      swapped_q <= 2'd0;
    end else begin
      if (start_i) have_q <= weights;
      else if (swapped_q == 2'd1 && ending_q) have_q <= 1'b0;
      swapped_q <= swap_i ? 2'd1 : 2'd0;
    end
  end
  always_ff @(posedge clk_i) begin
    if (start_i) begin
      kernel_columns_q <= cmd_i.kernel_columns[3:0];
      zero_q           <= cmd_i.weight_zero;
      row_q            <= cmd_i.weights;
      channels_q       <= cmd_i.weights;
      side_q           <= '0;
      read_q           <= '0;
    end else if (swap_i) begin
      row_q    <= again_i ? channels_q : row_q + 16'(width);
      if (other_i) channels_q <= row_q + 16'(width);
      side_q   <= sides_end ? 2'd0 : side_q + 2'd1;
      read_q   <= '0;
      ending_q <= none_i;
    end else if (rd) begin
      read_q <= read_q + 2'd1;
    end
  end

  `FV_ASSUME(m_start, !start_i || (ready && (!stream_i || (cmd_i.kernel_columns != '0 && cmd_i.kernel_columns <= 8'd9))))
  `FV_ASSUME(m_swap, !swap_i || loaded)
  `FV_ASSUME(m_behind, 2'(again_i) + 2'(other_i) + 2'(none_i) <= 2'd1 && (sides_end || !(swap_i && (again_i || other_i || none_i))))

  // ---- claims
  wire on      = past_ok_q && rst_ni;
  wire reading = have_q && !loaded && swapped_q == 2'd0;
  `FV_ASSERT(a_ready, !on || ready == !have_q)
  `FV_ASSERT(a_rd, !on || rd == (reading && grant_i))
  `FV_ASSERT(a_row, !(on && rd) || (addr == row_q + 16'(read_q) && column == read_q && zero == zero_q))
  `FV_ASSERT(a_once, !(on && rd) || read_q < width)
  `FV_ASSERT(a_loaded, !(on && have_q && swapped_q == 2'd0) || loaded == (read_q == width))
  `FV_ASSERT(a_none, !(on && loaded) || have_q)

  // ---- invariants: the loader's registers say the same
  `FV_ASSERT(i_sides, !(on && have_q) || (kernel_columns_q != '0 && kernel_columns_q <= 4'd9 && side_q <= last_tile_of(kernel_columns_q) &&
             dut.kernel_columns_q == kernel_columns_q && dut.left_q == kernel_columns_q - tile_offset(kernel_columns_q, side_q)))
  `FV_ASSERT(i_rows, !(on && have_q) || (dut.addr_q == row_q + 16'(read_q) && dut.tile_addr_q == channels_q && dut.column_q == read_q &&
             dut.zero_q == zero_q && read_q <= width))
  `FV_ASSERT(i_states, !on || (dut.loading_q == reading && dut.swap_q == (swapped_q == 2'd1) && (swapped_q == 2'd0 || (have_q && !loaded))))
  `FV_ASSERT(i_swap, !(on && swapped_q != 2'd0) || (dut.none_q == ending_q && read_q == '0))

  `FV_COVER(c_again, on && loaded && side_q == 2'd1 && kernel_columns_q == 4'd7 && row_q == channels_q + 16'd3)
  `FV_COVER(c_other, on && loaded && row_q == channels_q && kernel_columns_q == 4'd5 && row_q != '0)
endmodule
