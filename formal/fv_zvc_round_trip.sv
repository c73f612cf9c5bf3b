// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

`include "fv.svh"
// Compressor into expander, any segments, any stalls on all three sides: a beat, picked when it goes in, comes out in its
// turn and unchanged, and no error is ever raised.
module fv_zvc_round_trip #(
  parameter int unsigned Lanes = 4,
  parameter int unsigned ElemW = 8,
  localparam int unsigned BeatW  = Lanes * ElemW,
  localparam int unsigned CountW = $clog2(Lanes + 1),
  localparam int unsigned NumW   = $clog2(3 * Lanes + 1)
) (
  input logic             clk_i,
  input logic             rst_ni,
  input logic             in_valid_i,
  input logic [BeatW-1:0] in_data_i,
  input logic [NumW-1:0]  elements_i,  // of a segment that begins
  input logic [ElemW-1:0] zero_i,      // of a segment that begins
  input logic             link_i,      // the link between the two moves
  input logic             out_ready_i,
  input logic             pick_i
);
  `include "fv_reset.svh"

  // ---- segments: their elements and zero values stand in a queue until the last beat of them has left the compressor
  logic [NumW-1:0]  left_q, left;
  logic             first_q;
  logic [ElemW-1:0] zero_q, zero;
  logic             in_ready, in_last;
  assign left    = first_q ? elements_i : left_q;
  assign zero    = first_q ? zero_i : zero_q;
  assign in_last = 32'(left) <= Lanes;
  wire push = in_valid_i && in_ready;
  `FV_ASSUME(m_elements, !in_valid_i || !first_q || (elements_i != '0 && 32'(elements_i) <= 3 * Lanes))
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) first_q <= 1'b1;
    else if (push) first_q <= in_last;
  end
  always_ff @(posedge clk_i) begin
    if (push) begin
      left_q <= left - NumW'(Lanes);
      zero_q <= zero;
    end
  end

  logic             c_valid, c_ready, c_last, e_ready;
  logic [BeatW-1:0] c_data;
  kt_zvc_compress #(.Lanes(Lanes), .ElemW(ElemW)) u_compress (
    .clk_i, .rst_ni,
    .in_valid_i, .in_ready_o(in_ready), .in_data_i, .in_last_i(in_last),
    .in_count_i(in_last ? CountW'(left) : '0), .in_zero_i(zero),
    .out_valid_o(c_valid), .out_ready_i(c_ready), .out_data_o(c_data), .out_last_o(c_last)
  );
  assign c_ready = link_i && e_ready;

  logic [NumW-1:0]  num_q [8];
  logic [ElemW-1:0] zeros_q[8];
  logic [2:0]       wr_q, rd_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wr_q <= '0;
      rd_q <= '0;
    end else begin
      if (push && first_q) wr_q <= wr_q + 3'd1;
      if (c_valid && c_ready && c_last) rd_q <= rd_q + 3'd1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (push && first_q) begin
      num_q[wr_q]   <= elements_i;
      zeros_q[wr_q] <= zero_i;
    end
  end

  logic             out_valid, out_last, out_error, out_bus_error;
  logic [BeatW-1:0] out_data;
  kt_zvc_expand #(.Lanes(Lanes), .ElemW(ElemW), .ElementsW(NumW)) u_expand (
    .clk_i, .rst_ni,
    .in_valid_i(c_valid && link_i), .in_ready_o(e_ready), .in_data_i(c_data), .in_last_i(c_last), .in_error_i(1'b0),
    .in_elements_i(num_q[rd_q]), .in_zero_i(zeros_q[rd_q]),
    .out_valid_o(out_valid), .out_ready_i, .out_data_o(out_data), .out_last_o(out_last), .out_error_o(out_error),
    .out_bus_error_o(out_bus_error)
  );
  wire pop = out_valid && out_ready_i;

  // ---- the picked beat; lanes behind the segment's end come out as the zero value
  logic [4:0]       inside_q;  // beats that have gone in and not come out
  logic             busy_q, last_q;
  logic [4:0]       ahead_q;
  logic [BeatW-1:0] value_q, given;
  for (genvar i = 0; i < int'(Lanes); i++) begin : gen_given
    assign given[i*ElemW+:ElemW] = (32'(left) > i) ? in_data_i[i*ElemW+:ElemW] : zero;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      inside_q <= '0;
      busy_q   <= 1'b0;
    end else begin
      inside_q <= inside_q + 5'(push) - 5'(pop);
      if (!busy_q && push && pick_i) busy_q <= 1'b1;
      else if (busy_q && pop && ahead_q == '0) busy_q <= 1'b0;
    end
  end
  always_ff @(posedge clk_i) begin
    if (!busy_q && push && pick_i) begin
      ahead_q <= inside_q - 5'(pop);
      value_q <= given;
      last_q  <= in_last;
    end else if (pop) begin
      ahead_q <= ahead_q - 5'd1;
    end
  end

  `FV_ASSERT(a_value, !(busy_q && out_valid && ahead_q == '0) || (out_data == value_q && out_last == last_q))
  `FV_ASSERT(a_nothing_more, !out_valid || inside_q != '0)
  `FV_ASSERT(a_no_error, !out_valid || (!out_error && !out_bus_error))

  `FV_COVER(c_out, busy_q && pop && ahead_q == '0 && last_q && value_q[ElemW-1:0] != value_q[2*ElemW-1:ElemW])
  `FV_COVER(c_full, !in_ready && inside_q > 5'd5)
  `FV_COVER(c_second, busy_q && pop && ahead_q == '0 && !last_q && rd_q == 3'd2)
endmodule
