// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Expands packed row segments, a bus beat a cycle: the inverse of kt_zvc_compress for every segment that it can make,
// and an error for every other. docs/formats/zvc.md gives the format to the byte.
//
// Four beats of a ring, in which every byte stays on the lane it came on, and three stages:
//   find   the group's mask and, from its ones, where the next group begins: the only loop from group to group
//   cut    wait for the group's elements, select their bytes; prefix sums of the mask: settings of the switches
//   place  the switches move the elements to their lanes
// A group leaves four cycles after the beat of its mask came, or three after that of its last element if that is later:
// three or two more than through a plain register.
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
  localparam int unsigned Slots = 4;                // a group touches three beats at most; no bounds checks
  localparam int unsigned SlotW = $clog2(Slots);

  if (ElemW != 8 && ElemW != 16 && ElemW != 32) begin : gen_check_elem
    $error("kt_zvc_expand: elements have 8, 16 or 32 bits");
  end
  if (Lanes < 4 || Lanes != 1 << LaneW || BeatB < 4) begin : gen_check_lanes
    $error("kt_zvc_expand: Lanes must be a power of two from 4 on");
  end

  typedef logic [7:0]       byte_t;
  typedef logic [ElemW-1:0] elem_t;

  // ---- ring of beats; pad_q: which bytes of the beat may be a segment's padding. Beats are numbered modulo twice the
  // slots, so that the number of one that is to come differs from those in the ring.
  byte_t                beat_q    [Slots][BeatB];
  logic [BeatB-1:0]     pad_q     [Slots];
  logic [ElementsW-1:0] elements_q[Slots];
  elem_t                zero_q    [Slots];
  logic [Slots-1:0]     last_q, error_q;
  logic [SlotW:0]       head, tail;
  logic [SlotW+1:0]     level, drop;
  logic                 push;

  assign in_ready_o = !level[SlotW];
  assign push       = in_valid_i && in_ready_o;

  kt_ring #(
    .Slots(2 * Slots)
  ) u_ring (
    .clk_i,
    .rst_ni,
    .push_i (push),
    .drop_i (drop),
    .head_o (head),
    .tail_o (tail),
    .level_o(level)
  );

  byte_t            beat_d[BeatB];
  logic [BeatB-1:0] pad_d;
  always_comb begin
    beat_d = '{default: 'x};
    pad_d  = 'x;
    if (push) begin
      for (int unsigned p = 0; p < BeatB; p++) begin
        beat_d[p] = in_data_i[p*8+:8];
        pad_d[p]  = in_data_i[p*8+:8] == in_zero_i[(p%ElemB)*8+:8];
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (push) begin
      beat_q[tail[SlotW-1:0]]     <= beat_d;
      pad_q[tail[SlotW-1:0]]      <= pad_d;
      elements_q[tail[SlotW-1:0]] <= in_elements_i;
      zero_q[tail[SlotW-1:0]]     <= in_zero_i;
      last_q[tail[SlotW-1:0]]     <= in_last_i;
      error_q[tail[SlotW-1:0]]    <= in_error_i;
    end
  end

  // Which of the beats from `from` on are in the ring and of its segment, how many, and whether the segment's last one
  // is among them. `present`: beats in the ring from there on.
  typedef struct packed {
    logic             closed;
    logic [Slots-1:0] own;
    logic [SlotW:0]   beats;
  } span_t;
  function automatic span_t span(logic [SlotW-1:0] from, logic [SlotW:0] present);
    span = '0;
    for (int unsigned k = 0; k < Slots; k++) begin
      if (!span.closed && (SlotW + 1)'(k) < present) begin
        span.own[k] = 1'b1;
        span.beats  = (SlotW + 1)'(k + 1);
        span.closed = last_q[from+SlotW'(k)];
      end
    end
  endfunction

  // Ones of a byte as two steps of six inputs a bit, whatever a tool would make of a sum.
  function automatic logic [1:0] add3(logic [2:0] b);
    return {(b[0] && b[1]) || (b[0] && b[2]) || (b[1] && b[2]), ^b};
  endfunction
  function automatic logic [3:0] ones(byte_t b);
`ifdef KT_FAST_SIM
    return 4'($countones(b));
`else
    automatic logic [1:0] low  = add3(b[2:0]);
    automatic logic [1:0] mid  = add3(b[5:3]);
    automatic logic [1:0] high = add3({1'b0, b[7:6]});
    automatic logic [1:0] odd  = add3({low[0], mid[0], high[0]});
    automatic logic [1:0] twos = add3({low[1], mid[1], high[1]});
    return {twos[1] && twos[0] && odd[1], twos[1] ^ (twos[0] && odd[1]), twos[0] ^ odd[1], odd[0]};
`endif
  endfunction

  // ---- find: the group whose mask begins at slot and lane. Only its mask need be in the ring. Behind a segment's last
  // group, the next one begins with the beat behind the segment's last beat, which is sought until it is in the ring.
  logic                  first_q;   // the group at hand is the first of its segment
  logic                  broken_q;  // the segment has ended too early; slot is one of its beats
  logic                  seek_q;    // the segment's groups are found, its last beat, not before slot, is not
  logic [SlotW:0]        slot_q;
  logic [PosW-1:0]       lane_q;
  logic [ElementsW-1:0]  left_q, left;
  logic                  last_group, found;
  logic [Lanes-1:0]      used;      // lanes of the group
  logic [MaskB-1:0]      field;     // bytes of its mask
  logic [Lanes-1:0]      mask;
  logic [3:0]            mask_ones[MaskB];  // of each byte
  logic                  stray;     // a mask bit beyond the group's elements
  logic [SlotW+PosW-1:0] start;     // slot and lane of its elements ...
  logic [SlotW+PosW:0]   stop;      // ... and of the group behind it
  logic                  free1;

  assign left       = first_q ? elements_q[slot_q[SlotW-1:0]] : left_q;
  assign last_group = left >> LaneW == '0 || left == ElementsW'(Lanes);
  assign used       = ~(~Lanes'(0) << left[LaneW-1:0]) | {Lanes{!last_group || left[LaneW-1:0] == '0}};
  for (genvar j = 0; j < int'(MaskB); j++) begin : gen_field
    assign field[j] = used[j*8];
  end
  assign start = {slot_q[SlotW-1:0], lane_q} + (SlotW + PosW)'($countones(field));
  always_comb begin
    stop = {slot_q, lane_q};
    for (int unsigned j = 0; j < MaskB; j++) begin
      mask_ones[j] = ones(8'(mask >> (j * 8)));
      stop = stop + (SlotW + PosW + 1)'(field[j]) + (SlotW + PosW + 1)'(32'(mask_ones[j]) * ElemB);
    end
  end

  // While elements of the group before this one are missing, its end may be beyond the tail. A mask that goes on behind
  // the last beat of its segment is anything: the group ends too early whatever its length.
  logic [SlotW:0] ahead;  // beats in the ring from slot_q on; -1: not even the one before it
  logic           one, two, crosses;
  always_comb begin
    crosses = 1'b0;
    for (int unsigned j = 1; j < MaskB; j++) if (field[j] && 32'(lane_q) >= BeatB - j) crosses = 1'b1;
  end
  assign ahead = tail - slot_q;
  assign one   = ahead != '0 && ahead != '1;
  assign two   = one && ahead != (SlotW + 1)'(1);
  assign found = free1 && !seek_q && (broken_q || (one && (two || !crosses || last_q[slot_q[SlotW-1:0]])));

  // Of the bytes from the mask on, each lane has one; those of the mask are picked from the lanes with the same
  // remainder by MaskB, and rotated. In the bytes of a shorter mask, what is beyond the group's elements is wrong;
  // behind them are elements.
  always_comb begin
    automatic byte_t near[BeatB];
    automatic byte_t turned[MaskB];
    automatic logic [MaskB*8-1:0] bytes;
    near   = '{default: 'x};
    turned = '{default: 'x};
    bytes  = 'x;
    mask   = 'x;
    stray  = 'x;
    if (found) begin
      for (int unsigned p = 0; p < BeatB; p++) begin
        automatic logic [1:0] at = slot_q[1:0] + 2'(p < 32'(lane_q));
        near[p] = at[1] ? (at[0] ? beat_q[3][p] : beat_q[2][p]) : (at[0] ? beat_q[1][p] : beat_q[0][p]);
      end
      for (int unsigned j = 0; j < MaskB; j++) begin
        automatic logic [PosW-1:0] at    = (lane_q / PosW'(MaskB)) * PosW'(MaskB) + PosW'(j);
        automatic logic            carry = lane_q % PosW'(MaskB) > PosW'(j);
        for (int unsigned i = $clog2(MaskB); i < PosW; i++) begin  // an adder's carry chain would be slower
          {carry, at[i]} = {carry & at[i], carry ^ at[i]};
        end
        turned[j] = near[at];
      end
      for (int unsigned j = 0; j < MaskB; j++) bytes[j*8+:8] = turned[(32'(lane_q)+j)%MaskB];
      mask  = bytes[Lanes-1:0] & used;
      stray = 1'b0;
      for (int unsigned j = 0; j < MaskB; j++) begin
        if (field[j] && (bytes[j*8+:8] & ~8'(used >> (j * 8))) != '0) stray = 1'b1;
      end
    end
  end

  logic             ended;      // the segment's last beat is in the ring
  logic [Slots-1:0] unused_own;
  logic [SlotW:0]   to_end;     // beats up to and with it or, while it is to come, all
  assign {ended, unused_own, to_end} = span(slot_q[SlotW-1:0], ahead);

  logic breaks;  // the group that is cut is the first one that its segment ends too early for, and others follow
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      first_q  <= 1'b1;
      broken_q <= 1'b0;
      seek_q   <= 1'b0;
      slot_q   <= '0;
      lane_q   <= '0;
    end else begin
      if (seek_q || (found && last_group)) begin
        seek_q <= !ended;
        slot_q <= slot_q + to_end;
        lane_q <= '0;
      end else if (breaks) begin
        slot_q <= head;
      end else if (found && !broken_q) begin
        {slot_q, lane_q} <= stop;
      end
      if (breaks) broken_q <= 1'b1;
      else if (found && last_group) broken_q <= 1'b0;
      if (found) first_q <= last_group;
    end
  end

  logic                  valid1_q, last1_q, broken1_q, stray1_q;
  logic [Lanes-1:0]      mask1_q;
  logic [3:0]            ones1_q[MaskB];
  logic [SlotW+PosW-1:0] start1_q, stop1_q;
  always_ff @(posedge clk_i) begin
    if (found) begin
      left_q    <= left - ElementsW'(Lanes);
      last1_q   <= last_group;
      broken1_q <= broken_q;
      stray1_q  <= stray;
      mask1_q   <= mask;
      ones1_q   <= mask_ones;
      start1_q  <= start;
      stop1_q   <= stop[SlotW+PosW-1:0];
    end
  end

  // ---- cut: the group's mask begins in the beat at the head
  logic  drain_q;    // the segment's groups are out, its beats are not
  span_t rest;
  logic  bus_error;  // one of its beats came with an error
  always_comb begin
    rest      = span(head[SlotW-1:0], level[SlotW:0]);
    bus_error = 1'b0;
    for (int unsigned k = 0; k < Slots; k++) begin
      if (rest.own[k] && error_q[head[SlotW-1:0]+SlotW'(k)]) bus_error = 1'b1;
    end
  end

  // is it all there?
  logic             fits, too_short, too_long, bad_pad, go, ready2;
  logic [SlotW-1:0] whole;     // beats that the group leaves behind it
  logic [PosW-1:0]  part;      // bytes that it ends behind them
  logic [SlotW-1:0] end_slot;  // its last byte is in this beat
  logic [BeatB-1:0] pad;       // of the beat that it ends in
  assign whole     = stop1_q[PosW+:SlotW] - head[SlotW-1:0];
  assign part      = stop1_q[PosW-1:0];
  assign pad       = stop1_q[PosW+1] ? (stop1_q[PosW] ? pad_q[3] : pad_q[2]) : (stop1_q[PosW] ? pad_q[1] : pad_q[0]);
  assign end_slot  = stop1_q[PosW+:SlotW] - SlotW'(part == '0);
  assign fits      = rest.own[whole] ||
                     (part == '0 && rest.own[whole-SlotW'(1)] && (last1_q || !rest.closed));
  assign too_short = broken1_q || (rest.closed && !fits);
  assign too_long  = last1_q && !last_q[end_slot];
  assign bad_pad   = last1_q && part != '0 && ~(pad | ~(~BeatB'(0) << part)) != '0;
  assign go        = valid1_q && ready2 && (fits || too_short);
  assign breaks    = go && !fits && !broken1_q && !last1_q;
  assign free1     = !valid1_q || (go && !breaks);

  logic wrong;
  assign wrong = too_short || too_long || bad_pad || stray1_q;

  always_comb begin
    drop = '0;
    if (drain_q || (go && last1_q)) drop = (SlotW + 2)'(rest.beats);
    else if (go && !too_short) drop = (SlotW + 2)'(whole);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid1_q <= 1'b0;
      drain_q  <= 1'b0;
    end else begin
      if (found) valid1_q <= 1'b1;
      else if (go) valid1_q <= 1'b0;
      if (drain_q || (go && last1_q)) drain_q <= !rest.closed;
    end
  end

  elem_t elem2_d[Lanes];
  always_comb begin
    automatic byte_t elem[BeatB];
    elem    = '{default: 'x};
    elem2_d = '{default: 'x};
    if (go) begin
      for (int unsigned p = 0; p < BeatB; p++) begin
        automatic logic [1:0] at = start1_q[PosW+:2] + 2'(p < 32'(start1_q[PosW-1:0]));
        elem[p] = at[1] ? (at[0] ? beat_q[3][p] : beat_q[2][p]) : (at[0] ? beat_q[1][p] : beat_q[0][p]);
      end
      for (int unsigned turn = 0; turn < ElemB; turn++) begin
        if (32'(start1_q) % ElemB == turn) begin
          for (int unsigned i = 0; i < BeatB; i++) elem2_d[i/ElemB][(i%ElemB)*8+:8] = elem[(i+turn)%BeatB];
        end
      end
    end
  end

  logic [LaneW-1:0][Lanes-1:0] route;
  logic [$clog2(Lanes+1)-1:0]  unused_kept;
  kt_zvc_routes #(
    .Lanes(Lanes)
  ) u_routes (
    .en_i   (go),
    .mask_i (mask1_q),
    .ones_i (ones1_q),
    .base_i (LaneW'(start1_q / ElemB)),
    .route_o(route),
    .kept_o (unused_kept)
  );

  // ---- place
  logic                        valid2_q, last2_q, wrong2_q, bus_error2_q, ready3;
  elem_t                       elem2_q[Lanes];
  logic [Lanes-1:0]            mask2_q;
  logic [LaneW-1:0][Lanes-1:0] route2_q;
  elem_t                       zero2_q;

  assign ready2 = !valid2_q || ready3;
  always_ff @(posedge clk_i) begin
    if (go) begin
      elem2_q      <= elem2_d;
      mask2_q      <= too_short ? '0 : mask1_q;
      route2_q     <= route;
      zero2_q      <= zero_q[head[SlotW-1:0]];
      last2_q      <= last1_q;
      wrong2_q     <= wrong;
      bus_error2_q <= bus_error;
    end
  end

  elem_t placed[Lanes];
  kt_zvc_switches #(
    .Lanes  (Lanes),
    .ElemW  (ElemW),
    .Scatter(1'b1)
  ) u_scatter (
    .en_i   (valid2_q),
    .route_i(route2_q),
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
