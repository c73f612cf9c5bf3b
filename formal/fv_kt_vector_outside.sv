// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

`include "fv.svh"
// ZSB word of an average: two cycles after a window comes params + rows outside * kernel columns + columns outside; outside are
// the window's rows less those inside the map. Any window that has a cell inside.
module fv_kt_vector_outside
  import kt_pkg::*;
(
  input logic               clk_i,
  input logic               rst_ni,
  input logic               valid_i,
  input logic signed [12:0] row_i,
  input logic signed [11:0] column_i,
  input logic [7:0]         kernel_rows_i,
  input logic [7:0]         kernel_columns_i,
  input logic [9:0]         height_i,
  input logic [9:0]         width_i,
  input addr_t              params_i
);
  addr_t addr;
  kt_vector_outside dut (
    .clk_i,
    .valid_i,
    .row_i,
    .column_i,
    .kernel_rows_i,
    .kernel_columns_i,
    .height_i,
    .width_i,
    .params_i,
    .addr_o(addr)
  );
  `include "fv_reset.svh"

  function automatic int cells_inside(int first, int size, int limit);
    return ((first + size < limit) ? first + size : limit) - ((first > 0) ? first : 0);
  endfunction
  wire integer rows = cells_inside(32'(row_i), 32'(kernel_rows_i), 32'(height_i));
  wire integer columns = cells_inside(32'(column_i), 32'(kernel_columns_i), 32'(width_i));
  `FV_ASSUME(m_inside, rows > 0 && columns > 0)

  logic [1:0] valid_q;
  integer     rows_q, columns_q;
  addr_t      want_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_q <= '0;
    else valid_q <= {valid_q[0], valid_i};
  end
  always_ff @(posedge clk_i) begin
    rows_q    <= 32'(kernel_rows_i) - rows;
    columns_q <= 32'(kernel_columns_i) - columns;
    want_q    <= dut.params_q + addr_t'(dut.rows_q) * addr_t'(dut.kernel_columns_q) + addr_t'(dut.columns_q);
  end
  // the counts, then the sum of what was counted
  `FV_ASSERT(a_counts, !valid_q[0] || (32'(dut.rows_q) == rows_q && 32'(dut.columns_q) == columns_q))
  `FV_ASSERT(a_address, !valid_q[1] || addr == want_q)

  logic [7:0] kernel_columns_q;
  addr_t      params_q;
  always_ff @(posedge clk_i) begin
    kernel_columns_q <= kernel_columns_i;
    params_q         <= params_i;
  end
  `FV_ASSERT(a_passes, !valid_q[0] || (dut.kernel_columns_q == kernel_columns_q && dut.params_q == params_q))

  `FV_COVER(c_corners, valid_q == 2'b11 && rows_q > 1 && columns_q > 2 && addr != params_q)
endmodule
