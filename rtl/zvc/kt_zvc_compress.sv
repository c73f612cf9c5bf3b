// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Zero-value compression of row segments, a bus beat a cycle: docs/formats/zvc.md gives the format to the byte. A beat
// of a raw segment is a group; its packed bytes, mask and kept elements, follow those of the group before it without a
// gap, and the segment is padded with the zero value to whole beats.
//
// Four stages, each of which waits for the next one:
//   mask     compare every element with the zero value, count what is kept of each eight
//   place    prefix sums of the mask: settings of the switches, and where the group begins and ends in its beat
//   gather   the kept elements side by side, at once on the lanes on which they go out
//   append   join with what the last beat left over; a beat that is full, or the segment's last, goes out
// The first beat leaves four cycles after the group that completes it came.
//
// Sustained: a beat in a cycle, as long as the packed segment needs no more beats than came in. A group may complete
// two beats at once (at most one in eight where nothing is zero); then it takes two cycles. The last beat of a segment,
// if it holds only a rest, goes out beside the next segment's first group.
//
// in_ready_o depends on out_ready_i, through all stages; no output depends on in_valid_i.
module kt_zvc_compress #(
  parameter int unsigned Lanes  = 16,  // elements of a beat and a group, power of two
  parameter int unsigned ElemW  = 8,   // 8, 16 or 32
  localparam int unsigned BeatW  = Lanes * ElemW,
  localparam int unsigned CountW = $clog2(Lanes + 1)
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  // raw segment
  input  logic              in_valid_i,
  output logic              in_ready_o,
  input  logic [BeatW-1:0]  in_data_i,
  input  logic              in_last_i,   // last beat of the segment ...
  input  logic [CountW-1:0] in_count_i,  // ... and its elements, 1 .. Lanes, in the lowest lanes; other beats are full
  input  logic [ElemW-1:0]  in_zero_i,   // the zero value, the same with all beats of a segment
  // packed segment
  output logic              out_valid_o,
  input  logic              out_ready_i,
  output logic [BeatW-1:0]  out_data_o,
  output logic              out_last_o
);

  localparam int unsigned ElemB  = ElemW / 8;
  localparam int unsigned BeatB  = BeatW / 8;
  localparam int unsigned MaskB  = (Lanes + 7) / 8;           // power of two
  localparam int unsigned LaneW  = $clog2(Lanes);
  localparam int unsigned PosW   = $clog2(BeatB);
  localparam int unsigned EndW   = PosW + 2;                  // bytes, from the beat under construction on
  localparam int unsigned RestB  = BeatB + MaskB;             // at most so much waits when a beat has gone out
  localparam int unsigned MaskBW = $clog2(MaskB + 1);

  if (ElemW != 8 && ElemW != 16 && ElemW != 32) begin : gen_check_elem
    $error("kt_zvc_compress: elements have 8, 16 or 32 bits");
  end
  if (Lanes < 4 || Lanes != 1 << LaneW || BeatB < 4) begin : gen_check_lanes
    $error("kt_zvc_compress: Lanes must be a power of two from 4 on");
  end

  typedef logic [7:0]       byte_t;
  typedef logic [ElemW-1:0] elem_t;

  // ---- mask
  logic              valid1_q, last1_q, ready1, ready2, ready3;
  elem_t             elem1_d[Lanes];
  elem_t             elem1_q[Lanes];
  elem_t             zero1_q;
  logic [Lanes-1:0]  mask, mask1_q;
  logic [MaskBW-1:0] mask_bytes, mask_bytes1_q;
  logic [3:0]        ones1_q[MaskB];  // of each byte of the mask

  assign in_ready_o = ready1;
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

  always_comb begin
    elem1_d = '{default: 'x};
    if (in_valid_i) for (int unsigned i = 0; i < Lanes; i++) elem1_d[i] = in_data_i[i*ElemW+:ElemW];
  end

  always_ff @(posedge clk_i) begin
    if (in_valid_i && ready1) begin
      elem1_q       <= elem1_d;
      mask1_q       <= mask;
      for (int unsigned j = 0; j < MaskB; j++) ones1_q[j] <= 4'($countones(8'(mask >> (j * 8))));
      mask_bytes1_q <= mask_bytes;
      last1_q       <= in_last_i;
      zero1_q       <= in_zero_i;
    end
  end

  // ---- place. Positions are bytes, counted from lane 0 of the beat in which the group begins.
  logic                          valid2_q, last2_q, take2;
  elem_t                         elem2_q[Lanes];
  elem_t                         zero2_q;
  logic [LaneW-1:0][Lanes-1:0] route, route2_q;
  logic [CountW-1:0]             kept;
  logic [PosW-1:0]               pos_q;           // where the next group begins
  logic [EndW-1:0]               start, stop;     // of its elements
  logic [PosW-1:0]               pos2_q;
  logic [EndW-1:0]               start2_q, stop2_q;
  byte_t                         mask2_d[MaskB];  // rotated: byte j of the mask in lane (pos + j) mod MaskB
  byte_t                         mask2_q[MaskB];

  assign take2 = valid1_q && ready2;
  kt_zvc_routes #(
    .Lanes(Lanes)
  ) u_routes (
    .en_i   (valid1_q),
    .mask_i (mask1_q),
    .ones_i (ones1_q),
    .base_i (LaneW'(start / ElemB)),
    .route_o(route),
    .kept_o (kept)
  );
  assign start = EndW'(pos_q) + EndW'(mask_bytes1_q);
  assign stop  = start + EndW'(kept) * EndW'(ElemB);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) pos_q <= '0;
    else if (take2) pos_q <= last1_q ? '0 : stop[PosW-1:0];
  end

  always_comb begin
    mask2_d = '{default: 'x};
    if (take2) begin
      automatic logic [MaskB*8-1:0] mask_padded = (MaskB * 8)'(mask1_q);
      for (int unsigned j = 0; j < MaskB; j++) mask2_d[j] = mask_padded[((j-32'(pos_q))%MaskB)*8+:8];
    end
  end

  always_ff @(posedge clk_i) begin
    if (take2) begin
      elem2_q  <= elem1_q;
      zero2_q  <= zero1_q;
      route2_q <= route;
      pos2_q   <= pos_q;
      start2_q <= start;
      stop2_q  <= stop;
      last2_q  <= last1_q;
      mask2_q  <= mask2_d;
    end
  end

  // ---- gather. Elements behind a mask of odd length, at a segment's end, stand between element lanes.
  logic            valid3_q, last3_q, take3;
  elem_t           gathered[Lanes];
  byte_t           elem3_d[BeatB];
  byte_t           elem3_q[BeatB];
  byte_t           mask3_q[MaskB];
  elem_t           zero3_q;
  logic [PosW-1:0] pos3_q;
  logic [EndW-1:0] start3_q, stop3_q;

  assign take3 = valid2_q && ready3;
  kt_zvc_switches #(
    .Lanes(Lanes),
    .ElemW(ElemW)
  ) u_gather (
    .en_i   (valid2_q),
    .route_i(route2_q),
    .elem_i (elem2_q),
    .elem_o (gathered)
  );

  always_comb begin
    elem3_d = '{default: 'x};
    if (take3) begin
      for (int unsigned turn = 0; turn < ElemB; turn++) begin
        if (32'(start2_q) % ElemB == turn) begin
          for (int unsigned i = 0; i < BeatB; i++) elem3_d[(i+turn)%BeatB] = gathered[i/ElemB][(i%ElemB)*8+:8];
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (take3) begin
      elem3_q  <= elem3_d;
      mask3_q  <= mask2_q;
      zero3_q  <= zero2_q;
      pos3_q   <= pos2_q;
      start3_q <= start2_q;
      stop3_q  <= stop2_q;
      last3_q  <= last2_q;
    end
  end

  // ---- append
  // rest_q, level_q bytes from lane 0 on, is what has not gone out; closing_q: a segment's end, to be padded. The group
  // at hand continues it or, where the rest goes out by itself, begins the next beat:
  //   join   level_q < BeatB   rest and group; what makes a beat full, or ends the segment, goes out
  //   swap   level_q <= BeatB, full or closing: the rest goes out, a group may take its place
  //   spill  level_q > BeatB   the rest is more than a beat: a full beat goes out, no group is taken
  localparam int unsigned LevelW = $clog2(RestB + 1);
  byte_t             rest_d[BeatB];
  byte_t             rest_q[BeatB];
  byte_t             over_q[MaskB];  // bytes of the rest from BeatB on
  logic [LevelW-1:0] level_q;
  elem_t             zero_q;         // of the rest's segment
  logic              closing_q;
  logic              spill, swap, join_group, fills, wraps, take, out_free, emit;
  logic              out_valid_q, out_last_q;
  byte_t             out_d[BeatB];
  byte_t             out_q[BeatB];

  assign out_free   = !out_valid_q || out_ready_i;
  assign spill      = level_q > LevelW'(BeatB);
  assign swap       = !spill && (closing_q || level_q == LevelW'(BeatB));
  assign join_group = !spill && !swap;
  assign fills      = last3_q || stop3_q >= EndW'(BeatB);
  assign wraps      = join_group && stop3_q >= EndW'(BeatB);
  assign take       = valid3_q && !spill && (out_free || (join_group && !fills));
  assign emit       = out_free && (!join_group || (valid3_q && fills));

  assign ready3 = !valid3_q || take;
  assign ready2 = !valid2_q || ready3;
  assign ready1 = !valid1_q || ready2;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid1_q <= 1'b0;
      valid2_q <= 1'b0;
      valid3_q <= 1'b0;
    end else begin
      if (ready1) valid1_q <= in_valid_i;
      if (ready2) valid2_q <= valid1_q;
      if (ready3) valid3_q <= valid2_q;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      level_q     <= '0;
      closing_q   <= 1'b0;
      out_valid_q <= 1'b0;
    end else begin
      if (out_free) out_valid_q <= emit;
      if (take) begin
        level_q   <= LevelW'(!join_group ? stop3_q : wraps ? stop3_q - EndW'(BeatB) : last3_q ? '0 : stop3_q);
        closing_q <= last3_q && (!join_group || stop3_q > EndW'(BeatB));
      end else if (emit) begin
        level_q   <= spill ? level_q - LevelW'(BeatB) : '0;
        closing_q <= spill && closing_q;
      end
    end
  end

  always_comb begin
    out_d = '{default: 'x};
    if (emit) begin
      automatic logic [EndW-1:0] rest_end = join_group ? EndW'(pos3_q) : EndW'(level_q);
      automatic logic [EndW-1:0] mask_end = join_group ? start3_q : '0;
      automatic logic [EndW-1:0] elem_end = join_group ? stop3_q : '0;
      automatic elem_t           zero = join_group ? zero3_q : zero_q;
      for (int unsigned p = 0; p < BeatB; p++) begin
        automatic logic [1:0] from = (EndW'(p) < rest_end) ? 2'd0 : (EndW'(p) < mask_end) ? 2'd1
                                   : (EndW'(p) < elem_end) ? 2'd2 : 2'd3;
        out_d[p] = from[1] ? (from[0] ? zero[(p%ElemB)*8+:8] : elem3_q[p]) : (from[0] ? mask3_q[p%MaskB] : rest_q[p]);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (emit) begin
      out_q      <= out_d;
      out_last_q <= join_group ? last3_q && stop3_q <= EndW'(BeatB) : closing_q && !spill;
    end
  end

  // Where the group flows over into the next beat, its elements stand on their lanes already; of the mask, only the
  // part behind the beat's end. Where it is longer than a beat, its first elements are behind the rest.
  always_comb begin
    rest_d = '{default: 'x};
    if (take) begin
      automatic logic [EndW-1:0] rest_end = wraps ? '0 : EndW'(pos3_q);
      automatic logic [EndW-1:0] mask_end = !wraps ? start3_q :
                                            (start3_q < EndW'(BeatB)) ? '0 : start3_q - EndW'(BeatB);
      for (int unsigned p = 0; p < BeatB; p++) begin
        rest_d[p] = (EndW'(p) < rest_end) ? rest_q[p] : (EndW'(p) < mask_end) ? mask3_q[p%MaskB] : elem3_q[p];
      end
    end else if (emit) begin
      for (int unsigned p = 0; p < MaskB; p++) rest_d[p] = over_q[p];
    end
  end

  always_ff @(posedge clk_i) begin
    if (take || emit) rest_q <= rest_d;
    if (take) begin
      over_q <= elem3_q[0:MaskB-1];
      zero_q <= zero3_q;
    end
  end

  assign out_valid_o = out_valid_q;
  assign out_last_o  = out_last_q;
  always_comb begin
    out_data_o = 'x;
    if (out_valid_q) for (int unsigned p = 0; p < BeatB; p++) out_data_o[p*8+:8] = out_q[p];
  end

endmodule
