// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Length of a packed segment, counted while the raw one is buffered: masks and elements that differ from the zero
// value, before padding to whole units. Takes a beat a cycle without ever waiting; the length follows two cycles after
// the segment's last beat.
module kt_zvc_count #(
  parameter int unsigned Lanes  = 16,  // elements of a beat, power of two
  parameter int unsigned ElemW  = 8,   // 8, 16 or 32
  parameter int unsigned BytesW = 20,  // of the length
  localparam int unsigned CountW = $clog2(Lanes + 1)
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // raw segment
  input  logic                   in_valid_i,
  input  logic [Lanes*ElemW-1:0] in_data_i,
  input  logic                   in_last_i,   // last beat of the segment ...
  input  logic [CountW-1:0]      in_count_i,  // ... and its elements, 1 .. Lanes, in the lowest lanes; others are full
  input  logic [ElemW-1:0]       in_zero_i,
  // packed length, a pulse once a segment
  output logic                   out_valid_o,
  output logic [BytesW-1:0]      out_bytes_o
);

  localparam int unsigned ElemB = ElemW / 8;
  localparam int unsigned MaskB = (Lanes + 7) / 8;
  localparam int unsigned MaskBW = $clog2(MaskB + 1);
  localparam int unsigned GroupW = $clog2(MaskB + Lanes * ElemB + 1);

  logic [Lanes-1:0]  mask, mask_q;
  logic [MaskBW-1:0] mask_bytes;
  kt_zvc_mask #(
    .Lanes(Lanes),
    .ElemW(ElemW)
  ) u_mask (
    .en_i   (in_valid_i),
    .data_i (in_data_i),
    .last_i (in_last_i),
    .count_i(in_count_i),
    .zero_i (in_zero_i),
    .mask_o (mask),
    .bytes_o(mask_bytes)
  );

  logic              valid_q, last_q;
  logic [MaskBW-1:0] mask_bytes_q;
  logic [GroupW-1:0] group;
  logic [BytesW-1:0] bytes_q;   // of the segment's groups so far; of the whole segment with out_valid_q
  logic              out_valid_q;

  assign group = valid_q ? GroupW'(mask_bytes_q) + GroupW'($countones(mask_q)) * GroupW'(ElemB) : '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q     <= 1'b0;
      out_valid_q <= 1'b0;
      bytes_q     <= '0;
    end else begin
      valid_q     <= in_valid_i;
      out_valid_q <= valid_q && last_q;
      if (valid_q || out_valid_q) bytes_q <= (out_valid_q ? '0 : bytes_q) + BytesW'(group);
    end
  end

  always_ff @(posedge clk_i) begin
    if (in_valid_i) begin
      mask_q       <= mask;
      last_q       <= in_last_i;
      mask_bytes_q <= mask_bytes;
    end
  end

  assign out_valid_o = out_valid_q;
  assign out_bytes_o = bytes_q;

endmodule
