// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

`include "fv.svh"
// The combinational core of the ZVC blocks, for every beat, zero value and start lane: the mask is right, the kept elements
// stand side by side in their order from lane base_i on, and the same settings bring every element back.
module fv_zvc_core #(
  parameter int unsigned Lanes = 32,
  parameter int unsigned ElemW = 8,
  localparam int unsigned LaneW  = $clog2(Lanes),
  localparam int unsigned CountW = $clog2(Lanes + 1)
) (
  input logic                   clk_i,
  input logic                   rst_ni,
  input logic [Lanes*ElemW-1:0] data_i,
  input logic                   last_i,
  input logic [CountW-1:0]      count_i,
  input logic [ElemW-1:0]       zero_i,
  input logic [LaneW-1:0]       base_i
);
  logic [Lanes-1:0]              mask;
  logic [LaneW-1:0][Lanes-1:0] route;
  logic [CountW-1:0]             kept;
  logic [$clog2((Lanes+7)/8+1)-1:0] mask_bytes;
  logic [ElemW-1:0]              raw[Lanes], packed_elem[Lanes], back[Lanes];
  for (genvar i = 0; i < int'(Lanes); i++) begin : gen_raw
    assign raw[i] = data_i[i*ElemW+:ElemW];
  end
  kt_zvc_mask #(.Lanes(Lanes), .ElemW(ElemW)) u_mask (
    .en_i(1'b1), .data_i, .last_i, .count_i, .zero_i, .mask_o(mask), .bytes_o(mask_bytes)
  );
  logic [3:0] ones[(Lanes+7)/8];
  always_comb for (int unsigned j = 0; j < (Lanes + 7) / 8; j++) ones[j] = 4'($countones(8'(mask >> (j * 8))));
  kt_zvc_routes #(.Lanes(Lanes)) u_routes (
    .en_i(1'b1), .mask_i(mask), .ones_i(ones), .base_i, .route_o(route), .kept_o(kept)
  );
  kt_zvc_switches #(.Lanes(Lanes), .ElemW(ElemW)) u_gather (
    .en_i(1'b1), .route_i(route), .elem_i(raw), .elem_o(packed_elem)
  );
  kt_zvc_switches #(.Lanes(Lanes), .ElemW(ElemW), .Scatter(1'b1)) u_scatter (
    .en_i(1'b1), .route_i(route), .elem_i(packed_elem), .elem_o(back)
  );

  wire [CountW-1:0] elements = last_i ? count_i : CountW'(Lanes);
  `FV_ASSUME(m_count, !last_i || (count_i != '0 && 32'(count_i) <= Lanes))

  // one by one, as the format's definition has it
  logic mask_ok, place_ok, back_ok;
  logic [CountW-1:0] rank;
  always_comb begin
    mask_ok  = 1'b1;
    place_ok = 1'b1;
    back_ok  = 1'b1;
    rank     = '0;
    for (int unsigned i = 0; i < Lanes; i++) begin
      if (mask[i] != (32'(elements) > i && raw[i] != zero_i)) mask_ok = 1'b0;
      if (mask[i]) begin
        if (packed_elem[LaneW'(base_i+LaneW'(rank))] != raw[i]) place_ok = 1'b0;
        rank = rank + 1'b1;
      end
      if (32'(elements) > i && (mask[i] ? back[i] : zero_i) != raw[i]) back_ok = 1'b0;
    end
  end
  `FV_ASSERT(a_mask, mask_ok)
  `FV_ASSERT(a_mask_bytes, 8 * 32'(mask_bytes) >= 32'(elements) && 8 * 32'(mask_bytes) < 32'(elements) + 8)
  `FV_ASSERT(a_place, place_ok)
  `FV_ASSERT(a_kept, kept == rank)
  `FV_ASSERT(a_round_trip, back_ok)
  `FV_COVER(c_none, kept == '0 && !last_i)
  `FV_COVER(c_all, kept == CountW'(Lanes) && base_i == LaneW'(3))
  `FV_COVER(c_some, 32'(kept) == Lanes / 2 && last_i && base_i == '1)
endmodule
