// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Which elements of a raw beat are kept: those of the segment that differ from the zero value.
module kt_zvc_mask #(
  parameter int unsigned Lanes  = 16,
  parameter int unsigned ElemW  = 8,
  localparam int unsigned CountW = $clog2(Lanes + 1),
  localparam int unsigned MaskB  = (Lanes + 7) / 8,
  localparam int unsigned BytesW = $clog2(MaskB + 1)
) (
  input  logic                   en_i,     // low: the mask is anything (idle, for the simulation)
  input  logic [Lanes*ElemW-1:0] data_i,
  input  logic                   last_i,   // the beat has count_i elements, in the lowest lanes; otherwise all
  input  logic [CountW-1:0]      count_i,
  input  logic [ElemW-1:0]       zero_i,
  output logic [Lanes-1:0]       mask_o,
  output logic [BytesW-1:0]      bytes_o   // of the mask, whole
);

  assign bytes_o = last_i ? BytesW'((32'(count_i) + 7) / 8) : BytesW'(MaskB);

  always_comb begin
    mask_o = 'x;
    if (en_i) begin
      for (int unsigned i = 0; i < Lanes; i++) mask_o[i] = data_i[i*ElemW+:ElemW] != zero_i;
      if (last_i) mask_o &= ~(~Lanes'(0) << count_i);
    end
  end

endmodule
