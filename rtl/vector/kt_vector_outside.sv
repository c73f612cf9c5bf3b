// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// ZSB word of an average: params + rows_outside * kernel_columns + columns_outside, where the last two are the rows and
// columns of the window that lie outside the map. Two registered stages.
module kt_vector_outside
  import kt_pkg::*;
(
  input  logic               clk_i,
  input  logic               valid_i,
  input  logic signed [12:0] row_i,      // under the window's upper left cell
  input  logic signed [11:0] column_i,
  input  logic [7:0]         kernel_rows_i,
  input  logic [7:0]         kernel_columns_i,
  input  logic [9:0]         height_i,
  input  logic [9:0]         width_i,
  input  addr_t              params_i,
  output addr_t              addr_o      // two cycles later
);

  // cells of [first, first + size) outside [0, limit); some cell is inside
  function automatic logic [7:0] outside(logic signed [13:0] first, logic [7:0] size, logic [9:0] limit);
    /* verilator lint_off UNUSEDSIGNAL */  // no more than `size`, or negative
    logic signed [13:0] beyond;
    /* verilator lint_on UNUSEDSIGNAL */
    beyond = first + 14'(size) - $signed({4'd0, limit});
    return ((first < 0) ? -first[7:0] : 8'd0) + (beyond[13] ? 8'd0 : beyond[7:0]);
  endfunction

  logic       valid_q;
  logic [7:0] rows_q, columns_q, kernel_columns_q;
  addr_t      params_q;
  always_ff @(posedge clk_i) begin
    valid_q <= valid_i;
    if (valid_i) begin
      rows_q           <= outside(14'(row_i), kernel_rows_i, height_i);
      columns_q        <= outside(14'(column_i), kernel_columns_i, width_i);
      kernel_columns_q <= kernel_columns_i;
      params_q         <= params_i;
    end
    if (valid_q) addr_o <= params_q + addr_t'(rows_q) * addr_t'(kernel_columns_q) + addr_t'(columns_q);
  end

endmodule
