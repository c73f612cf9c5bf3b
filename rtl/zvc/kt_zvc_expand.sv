// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Expands packed row segments, a bus beat a cycle: the inverse of kt_zvc_compress for every segment that it can make,
// and an error for every other. docs/formats/zvc.md gives the format to the byte.
//
// Four beats of a ring, in which every byte stays on the lane it came on, and two stages:
//   cut    find the group's mask and, from its length, where the next group begins; select the bytes of its elements
//   place  prefix sums of the mask: settings of the switches, which move the elements to their lanes
// A group leaves three cycles after its last beat came, two more than through a plain register.
//
// Whatever comes in, a segment gives ceil(elements / Lanes) beats, and its beats up to in_last_i are taken. out_error_o
// is high with the segment's last beat, if not before, when the segment is not what kt_zvc_compress makes of those
// elements:
//   - it ends too early or too late
//   - a mask has a bit beyond the elements of its group
//   - an element of it equals the zero value
//   - the padding of its last beat is not the zero value
// Once it has ended too early, the rest of the elements are the zero value.
//
// in_ready_o, out_valid_o and out_data_o come from flip-flops.
module kt_zvc_expand #(
  parameter int unsigned Lanes     = 16,  // elements of a beat and a group, power of two
  parameter int unsigned ElemW     = 8,   // 8, 16 or 32
  parameter int unsigned ElementsW = 16,  // of a segment's number of elements
  localparam int unsigned BeatW = Lanes * ElemW
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  // packed segment
  input  logic                 in_valid_i,
  output logic                 in_ready_o,
  input  logic [BeatW-1:0]     in_data_i,
  input  logic                 in_last_i,      // last beat of the segment
  input  logic                 in_error_i,     // the beat came with a bus error
  input  logic [ElementsW-1:0] in_elements_i,  // of the segment, at least 1; looked at with its first beat
  input  logic [ElemW-1:0]     in_zero_i,      // the zero value, the same with all beats of a segment
  // raw segment; lanes behind its last element hold the zero value
  output logic                 out_valid_o,
  input  logic                 out_ready_i,
  output logic [BeatW-1:0]     out_data_o,
  output logic                 out_last_o,
  output logic                 out_error_o,      // the segment is corrupt; final with its last beat
  output logic                 out_bus_error_o   // one of its beats had a bus error; final like that if not corrupt
);

  localparam int unsigned ElemB = ElemW / 8;
  localparam int unsigned BeatB = BeatW / 8;
  localparam int unsigned MaskB = (Lanes + 7) / 8;  // power of two
  localparam int unsigned LaneW = $clog2(Lanes);
  localparam int unsigned PosW  = $clog2(BeatB);
  localparam int unsigned EndW  = PosW + 3;         // bytes, from lane 0 of the beat at the head on
  localparam int unsigned Slots = 4;                // a group touches three beats at most; no bounds checks

  if (ElemW != 8 && ElemW != 16 && ElemW != 32) begin : gen_check_elem
    $error("kt_zvc_expand: elements have 8, 16 or 32 bits");
  end
  if (Lanes < 4 || Lanes != 1 << LaneW || BeatB < 4) begin : gen_check_lanes
    $error("kt_zvc_expand: Lanes must be a power of two from 4 on");
  end

  typedef logic [7:0]       byte_t;
  typedef logic [ElemW-1:0] elem_t;

  // ---- ring of beats. pad_q: which bytes of the beat may be a segment's padding.
  byte_t                beat_q    [Slots][BeatB];
  logic [BeatB-1:0]     pad_q     [Slots];
  logic [ElementsW-1:0] elements_q[Slots];
  elem_t                zero_q    [Slots];
  logic [Slots-1:0]     last_q, error_q;
  logic [1:0]           head, tail;
  logic [2:0]           level, drop;
  logic                 push;

  assign in_ready_o = !level[2];
  assign push       = in_valid_i && in_ready_o;

  kt_ring #(
    .Slots(Slots)
  ) u_ring (
    .clk_i,
    .rst_ni,
    .push_i (push),
    .drop_i (drop),
    .head_o (head),
    .tail_o (tail),
    .level_o(level)
  );

  byte_t            beat[BeatB];
  logic [BeatB-1:0] pad;
  always_comb begin
    beat = '{default: 'x};
    pad  = 'x;
    if (push) begin
      for (int unsigned p = 0; p < BeatB; p++) begin
        beat[p] = in_data_i[p*8+:8];
        pad[p]  = in_data_i[p*8+:8] == in_zero_i[(p%ElemB)*8+:8];
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (push) begin
      beat_q[tail]     <= beat;
      pad_q[tail]      <= pad;
      elements_q[tail] <= in_elements_i;
      zero_q[tail]     <= in_zero_i;
      last_q[tail]     <= in_last_i;
      error_q[tail]    <= in_error_i;
    end
  end

  // ---- cut: which beats of the ring are the segment's
  logic [2:0] avail;      // beats of the segment in the ring ...
  logic       closed;     // ... and no more will come
  logic       bus_error;  // one of them came with an error
  always_comb begin
    avail     = level;
    closed    = 1'b0;
    bus_error = 1'b0;
    for (int unsigned k = 0; k < Slots; k++) begin
      if (!closed && 3'(k) < level) begin
        if (error_q[head+2'(k)]) bus_error = 1'b1;
        if (last_q[head+2'(k)]) begin
          closed = 1'b1;
          avail  = 3'(k + 1);
        end
      end
    end
  end

  // the group
  logic                 first_q;    // the group at hand is the first of its segment
  logic                 broken_q;   // the segment has ended too early
  logic                 drain_q;    // its groups are out, its beats are not
  logic [PosW-1:0]      pos_q, pos; // lane of its mask, in the beat at head
  logic [ElementsW-1:0] left_q, left;
  logic                 last_group;
  logic [LaneW:0]       count;      // elements of the group
  logic [EndW-1:0]      start, stop, limit;
  logic [Lanes-1:0]     mask, used;
  logic                 stray;      // a mask bit beyond the group's elements
  byte_t                elem[BeatB];

  assign pos        = first_q ? '0 : pos_q;
  assign left       = first_q ? elements_q[head] : left_q;
  assign last_group = left <= ElementsW'(Lanes);
  assign count      = last_group ? (LaneW + 1)'(left) : (LaneW + 1)'(Lanes);
  assign used       = ~(~Lanes'(0) << count);
  assign start      = EndW'(pos) + EndW'((32'(count) + 7) / 8);
  assign stop       = start + EndW'($countones(mask)) * EndW'(ElemB);
  assign limit      = EndW'(avail) << PosW;

  // Of the bytes from pos on, each lane has one; those of the mask are picked from the lanes with the same remainder by
  // MaskB, and rotated.
  logic [MaskB*8-1:0] mask_bytes;
  always_comb begin
    automatic byte_t near[BeatB];
    automatic byte_t turned[MaskB];
    near       = '{default: 'x};
    elem       = '{default: 'x};
    turned     = '{default: 'x};
    mask_bytes = 'x;
    if (level != '0) begin
      for (int unsigned p = 0; p < BeatB; p++) begin
        automatic logic [1:0] mask_slot = head + 2'(p < 32'(pos));
        automatic logic [1:0] elem_slot = head + 2'(start[EndW-1:PosW]) + 2'(p < 32'(start[PosW-1:0]));
        near[p] = mask_slot[1] ? (mask_slot[0] ? beat_q[3][p] : beat_q[2][p])
                               : (mask_slot[0] ? beat_q[1][p] : beat_q[0][p]);
        elem[p] = elem_slot[1] ? (elem_slot[0] ? beat_q[3][p] : beat_q[2][p])
                               : (elem_slot[0] ? beat_q[1][p] : beat_q[0][p]);
      end
      for (int unsigned j = 0; j < MaskB; j++) begin
        turned[j] = near[PosW'((32'(pos)+MaskB-1-j)/MaskB*MaskB+j)];
      end
      for (int unsigned j = 0; j < MaskB; j++) mask_bytes[j*8+:8] = turned[(32'(pos)+j)%MaskB];
    end
  end

  // In the bytes of a shorter mask, what is beyond the group's elements is wrong; behind them are elements.
  always_comb begin
    automatic logic [MaskB*8-1:0] field = (MaskB * 8)'(used);
    for (int unsigned j = 0; j < MaskB; j++) if (field[j*8]) field[j*8+:8] = '1;
    mask  = mask_bytes[Lanes-1:0] & used;
    stray = |(mask_bytes & field & ~(MaskB * 8)'(used));
  end

  // is it all there?
  logic       fits, too_short, too_long, bad_pad, go, ready2;
  logic [2:0] touched;
  assign touched   = 3'((stop + EndW'(BeatB - 1)) >> PosW);
  assign fits      = (stop < limit) || (stop == limit && (last_group || !closed));
  assign too_short = broken_q || (closed && !fits);
  assign too_long  = last_group && !(closed && touched == avail);
  assign bad_pad   = last_group && stop[PosW-1:0] != '0 &&
                     ~(pad_q[head+2'(stop>>PosW)] | ~(~BeatB'(0) << stop[PosW-1:0])) != '0;
  assign go        = level != '0 && !drain_q && (fits || too_short) && ready2;

  logic wrong;
  assign wrong = too_short || too_long || bad_pad || stray;

  always_comb begin
    drop = '0;
    if (drain_q) drop = avail;
    else if (go && last_group && !too_short && !too_long) drop = avail;
    else if (go && !last_group && !too_short) drop = 3'(stop >> PosW);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      first_q  <= 1'b1;
      broken_q <= 1'b0;
      drain_q  <= 1'b0;
    end else begin
      if (go) begin
        first_q  <= last_group;
        broken_q <= too_short && !last_group;
        drain_q  <= last_group && (too_short || too_long);
      end else if (drain_q && closed) begin
        drain_q <= 1'b0;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (go) begin
      pos_q  <= stop[PosW-1:0];
      left_q <= left - ElementsW'(Lanes);
    end
  end

  // ---- place
  logic             valid2_q, last2_q, wrong2_q, bus_error2_q, ready3;
  elem_t            elem2_d[Lanes];
  elem_t            elem2_q[Lanes];
  logic [Lanes-1:0] mask2_q;
  logic [LaneW-1:0] base2_q;
  elem_t            zero2_q;

  assign ready2 = !valid2_q || ready3;
  always_comb begin
    elem2_d = '{default: 'x};
    if (go) begin
      for (int unsigned turn = 0; turn < ElemB; turn++) begin
        if (32'(start) % ElemB == turn) begin
          for (int unsigned i = 0; i < BeatB; i++) elem2_d[i/ElemB][(i%ElemB)*8+:8] = elem[(i+turn)%BeatB];
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (go) begin
      elem2_q      <= elem2_d;
      mask2_q      <= too_short ? '0 : mask;
      base2_q      <= LaneW'(start / ElemB);
      zero2_q      <= zero_q[head];
      last2_q      <= last_group;
      wrong2_q     <= wrong;
      bus_error2_q <= bus_error;
    end
  end

  logic [LaneW-1:0][Lanes-1:0] route;
  elem_t                         placed[Lanes];
  logic [$clog2(Lanes+1)-1:0]    unused_kept;
  kt_zvc_routes #(
    .Lanes(Lanes)
  ) u_routes (
    .en_i   (valid2_q),
    .mask_i (mask2_q),
    .base_i (base2_q),
    .route_o(route),
    .kept_o (unused_kept)
  );
  kt_zvc_switches #(
    .Lanes  (Lanes),
    .ElemW  (ElemW),
    .Scatter(1'b1)
  ) u_scatter (
    .en_i   (valid2_q),
    .route_i(route),
    .elem_i (elem2_q),
    .elem_o (placed)
  );

  // ---- out
  logic             valid3_q, last3_q, wrong3_q, bus_error3_q, take3;
  elem_t            out_d[Lanes];
  elem_t            out_q[Lanes];
  logic [Lanes-1:0] mask3_q;
  elem_t            zero3_q;
  logic             coded_zero;
  logic             seen_wrong_q, seen_bus_error_q;  // with an earlier beat of the segment

  assign ready3 = !valid3_q || out_ready_i;
  assign take3  = valid2_q && ready3;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid2_q <= 1'b0;
      valid3_q <= 1'b0;
    end else begin
      if (ready2) valid2_q <= go;
      if (ready3) valid3_q <= valid2_q;
    end
  end

  always_comb begin
    out_d = '{default: 'x};
    if (take3) begin
      for (int unsigned i = 0; i < Lanes; i++) out_d[i] = mask2_q[i] ? placed[i] : zero2_q;
    end
  end

  always_ff @(posedge clk_i) begin
    if (take3) begin
      out_q        <= out_d;
      mask3_q      <= mask2_q;
      zero3_q      <= zero2_q;
      last3_q      <= last2_q;
      wrong3_q     <= wrong2_q;
      bus_error3_q <= bus_error2_q;
    end
  end

  always_comb begin
    out_data_o = 'x;
    coded_zero = 1'b0;
    if (valid3_q) begin
      for (int unsigned i = 0; i < Lanes; i++) begin
        out_data_o[i*ElemW+:ElemW] = out_q[i];
        if (mask3_q[i] && out_q[i] == zero3_q) coded_zero = 1'b1;
      end
    end
  end

  assign out_valid_o     = valid3_q;
  assign out_last_o      = last3_q;
  assign out_error_o     = wrong3_q || coded_zero || seen_wrong_q;
  assign out_bus_error_o = bus_error3_q || seen_bus_error_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      seen_wrong_q     <= 1'b0;
      seen_bus_error_q <= 1'b0;
    end else if (valid3_q && out_ready_i) begin
      seen_wrong_q     <= out_error_o && !last3_q;
      seen_bus_error_q <= out_bus_error_o && !last3_q;
    end
  end

endmodule
