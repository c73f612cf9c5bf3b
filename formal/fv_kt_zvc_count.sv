// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

`include "fv.svh"
// The length of every segment is the definition's: a mask a group and an element wherever it differs from the zero value. It
// comes once, two cycles behind the segment's last beat, whatever beats follow. Lengths count modulo 2**BytesW.
module fv_kt_zvc_count #(
  parameter int unsigned Lanes  = 4,
  parameter int unsigned ElemW  = 8,
  parameter int unsigned BytesW = 6,
  localparam int unsigned CountW = $clog2(Lanes + 1)
) (
  input logic                   clk_i,
  input logic                   rst_ni,
  input logic                   in_valid_i,
  input logic [Lanes*ElemW-1:0] in_data_i,
  input logic                   in_last_i,
  input logic [CountW-1:0]      in_count_i,
  input logic [ElemW-1:0]       in_zero_i
);
  logic              out_valid;
  logic [BytesW-1:0] out_bytes;
  kt_zvc_count #(.Lanes(Lanes), .ElemW(ElemW), .BytesW(BytesW)) dut (
    .clk_i, .rst_ni, .in_valid_i, .in_data_i, .in_last_i, .in_count_i, .in_zero_i, .out_valid_o(out_valid), .out_bytes_o(out_bytes)
  );
  `include "fv_reset.svh"
  `FV_ASSUME(m_count, !in_last_i || (in_count_i != '0 && 32'(in_count_i) <= Lanes))

  // the group at the input, one element after the other
  logic [BytesW-1:0] group;
  always_comb begin
    group = '0;
    for (int unsigned i = 0; i < Lanes; i++) begin
      if (!in_last_i || 32'(in_count_i) > i) begin
        if (i % 8 == 0) group = group + BytesW'(1);
        if (in_data_i[i*ElemW+:ElemW] != in_zero_i) group = group + BytesW'(ElemW / 8);
      end
    end
  end

  logic [BytesW-1:0] sum_q, end_q, end2_q;  // of the segment's groups; of the last segment, a cycle and two behind its end
  logic              ended_q, ended2_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      sum_q    <= '0;
      ended_q  <= 1'b0;
      ended2_q <= 1'b0;
    end else begin
      if (in_valid_i) sum_q <= in_last_i ? '0 : sum_q + group;
      ended_q  <= in_valid_i && in_last_i;
      ended2_q <= ended_q;
    end
  end
  always_ff @(posedge clk_i) begin
    end_q  <= sum_q + group;
    end2_q <= end_q;
  end
  `FV_ASSERT(a_once, out_valid == ended2_q)
  `FV_ASSERT(a_length, !out_valid || out_bytes == end2_q)

  // What stands in the block: the groups up to the one before last, and the last one.
  wire [BytesW-1:0] held = out_valid ? '0 : dut.bytes_q;
  wire [BytesW-1:0] last = BytesW'(dut.group);
  `FV_ASSERT(i_valid, dut.valid_q || last == '0)
  `FV_ASSERT(i_ended, ended_q == (dut.valid_q && dut.last_q))
  `FV_ASSERT(i_sum, ended_q ? BytesW'(held + last) == end_q && sum_q == '0 : BytesW'(held + last) == sum_q)
  `FV_COVER(c_two, out_valid && ended_q)
  `FV_COVER(c_long, out_valid && out_bytes == BytesW'(3 * Lanes))
endmodule
