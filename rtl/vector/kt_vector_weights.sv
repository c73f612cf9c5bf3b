// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Fills the shadow registers of the columns with the weights of a kernel tile, a VWB row each, while the tile before is
// streamed. The rows of a command follow each other in VWB; a large window comes back to those of its first kernel tile
// with every row of results.
// VWB has one read port; a step on its way through the pipeline comes first. The words arrive in the cycle after the
// grant. `loaded_o` rises when all are on their way; the next load begins two cycles after the swap, when the shadow
// registers are copied.
module kt_vector_weights
  import kt_pkg::*;
  import kt_vector_pkg::*;
(
  input  logic       clk_i,
  input  logic       rst_ni,
  // command, only while ready_o is high
  input  logic       start_i,
  // it uses few fields of it
  /* verilator lint_off UNUSEDSIGNAL */
  input  vec_cmd_t   cmd_i,
  /* verilator lint_on UNUSEDSIGNAL */
  input  logic       stream_i,
  output logic       ready_o,
  // sequencer: a swap, and what is to be loaded behind it: the rows from the tile's first on again, those that follow
  // (of another tile: other_i), none
  output logic       loaded_o,
  input  logic       swap_i,
  input  logic       again_i,
  input  logic       other_i,
  input  logic       none_i,
  // VWB
  input  logic       grant_i,
  output logic       rd_o,
  output addr_t      addr_o,
  output logic [1:0] column_o,  // of the shadow weights, with the request
  output logic [7:0] zero_o     // zero point of those weights
);

  logic       job_q;      // loads of a command are left
  logic       loading_q;  // reads are left
  logic       loaded_q;
  logic       swap_q, none_q;
  addr_t      addr_q, tile_addr_q;
  logic [7:0] zero_q;
  logic [3:0] kernel_columns_q, left_q;  // of the kernel, from this kernel tile on
  logic [1:0] column_q, width;
  logic       read_last;

  assign width     = tile_width(left_q);
  assign rd_o      = loading_q && grant_i;
  assign read_last = rd_o && (column_q + 2'd1 == width);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      job_q     <= 1'b0;
      loading_q <= 1'b0;
      loaded_q  <= 1'b0;
      swap_q    <= 1'b0;
    end else begin
      swap_q <= swap_i;
      if (start_i) job_q <= stream_i && (cmd_i.kind == KindDepthwise);
      else if (swap_q && none_q) job_q <= 1'b0;
      if (start_i) loading_q <= stream_i && (cmd_i.kind == KindDepthwise);
      else if (swap_q) loading_q <= !none_q;
      else if (read_last) loading_q <= 1'b0;
      if (swap_i) loaded_q <= 1'b0;
      else if (read_last) loaded_q <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      addr_q           <= cmd_i.weights;
      tile_addr_q      <= cmd_i.weights;
      zero_q           <= cmd_i.weight_zero;
      kernel_columns_q <= cmd_i.kernel_columns[3:0];
      left_q           <= cmd_i.kernel_columns[3:0];
      column_q         <= '0;
    end else begin
      if (rd_o) begin
        addr_q   <= addr_q + 1'b1;
        column_q <= column_q + 2'd1;
      end
      if (swap_i) begin
        none_q   <= none_i;
        column_q <= '0;
        left_q   <= (left_q == {2'd0, width}) ? kernel_columns_q : left_q - {2'd0, width};
        if (again_i) addr_q <= tile_addr_q;
        if (other_i) tile_addr_q <= addr_q;
      end
    end
  end

  assign ready_o  = !job_q;
  assign loaded_o = loaded_q;
  assign addr_o   = addr_q;
  assign column_o = column_q;
  assign zero_o   = zero_q;

endmodule
