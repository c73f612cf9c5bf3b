// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

`include "fv.svh"
// Arbitrary units: every group that is cut is, byte by byte, what the format's definition reads at that place of the
// segment, the next one begins where it ends, and it leaves in its turn. The error of a beat is exactly that of the
// segment's groups up to it: too short, too long, a stray mask bit, a coded zero value, wrong padding. A segment gives
// its number of beats and takes its units; the next one begins with its own first unit. Nothing ever stands still: what
// can be cut is cut, and only a full ring refuses a beat.
// Four tasks, one for each place of the ring's head in the state that a step begins in (FV_HEAD): slice_q, that place one cycle
// later, is part of no claim, so that the state before is any with this head, and together the tasks make every step.
module fv_kt_zvc_expand #(
  parameter int unsigned Lanes = 4,
  parameter int unsigned ElemW = 8,
  parameter int unsigned ElementsW = 4,
  localparam int unsigned BeatW = Lanes * ElemW,
  localparam int unsigned B     = BeatW / 8,
  localparam int unsigned E     = ElemW / 8,
  localparam int unsigned M     = (Lanes + 7) / 8
) (
  input logic                 clk_i,
  input logic                 rst_ni,
  input logic                 in_valid_i,
  input logic [BeatW-1:0]     in_data_i,
  input logic                 in_last_i,
  input logic                 in_error_i,
  input logic [ElementsW-1:0] in_elements_i,
  input logic [ElemW-1:0]     in_zero_i,
  input logic                 out_ready_i,
  input logic                 pick_i,
  input logic                 pick_beat_i
);
  logic             in_ready, out_valid, out_last, out_error, out_bus_error;
  logic [BeatW-1:0] out_data;
  kt_zvc_expand #(.Lanes(Lanes), .ElemW(ElemW), .ElementsW(ElementsW)) dut (
    .clk_i, .rst_ni, .in_valid_i, .in_ready_o(in_ready), .in_data_i, .in_last_i, .in_error_i, .in_elements_i, .in_zero_i,
    .out_valid_o(out_valid), .out_ready_i, .out_data_o(out_data), .out_last_o(out_last), .out_error_o(out_error),
    .out_bus_error_o(out_bus_error)
  );
  `include "fv_reset.svh"
  wire [2:0] drop  = 3'(dut.drop);
  wire [2:0] level = 3'(dut.level);
  wire [1:0] head  = 2'(dut.head);
`ifdef FV_HEAD
  logic [1:0] slice_q;
  always_ff @(posedge clk_i) slice_q <= head;
  `FV_ASSUME(m_slice, slice_q == `FV_HEAD)
`endif
  wire push = in_valid_i && in_ready;
  wire pop  = out_valid && out_ready_i;
  wire go   = dut.go;

  // ---- environment
  logic             begins_q;  // the beat at the input begins a segment
  logic [ElemW-1:0] zero_in_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begins_q <= 1'b1;
    else if (push) begins_q <= in_last_i;
  end
  always_ff @(posedge clk_i) if (push) zero_in_q <= in_zero_i;
  `FV_ASSUME(m_elements, !in_valid_i || !begins_q || in_elements_i != '0)
  `FV_ASSUME(m_zero, !in_valid_i || begins_q || in_zero_i == zero_in_q)

  // ---- a beat in the ring stays what it is, behind those that came before it
  logic             beat_busy_q;
  logic [1:0]       slot_q;
  logic [2:0]       before_q;
  logic [BeatW-1:0] beat_value_q, beat_here;
  logic             beat_last_q;
  logic [ElementsW-1:0] beat_elements_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) beat_busy_q <= 1'b0;
    else if (!beat_busy_q) beat_busy_q <= push && pick_beat_i;
    else if (before_q < drop) beat_busy_q <= 1'b0;
  end
  always_ff @(posedge clk_i) begin
    if (!beat_busy_q) begin
      slot_q          <= 2'(dut.tail);
      before_q        <= level - drop;
      beat_value_q    <= in_data_i;
      beat_last_q     <= in_last_i;
      beat_elements_q <= in_elements_i;
    end else before_q <= before_q - drop;
  end
  for (genvar p = 0; p < int'(B); p++) begin : gen_here
    assign beat_here[p*8+:8] = dut.beat_q[slot_q][p];
  end
  `FV_ASSERT(a_ring, !beat_busy_q || (beat_here == beat_value_q && dut.last_q[slot_q] == beat_last_q &&
                                      dut.elements_q[slot_q] == beat_elements_q && before_q < level && slot_q == head + 2'(before_q)))

  // ---- the group that is to be cut, from the definition
  logic [4*BeatW-1:0] window, bytes;
  logic [2:0]         avail;
  logic               closed, bus_now;
  for (genvar k = 0; k < 4; k++) begin : gen_window
    for (genvar p = 0; p < int'(B); p++) begin : gen_byte
      assign window[(k*B+p)*8+:8] = dut.beat_q[head+2'(k)][p];
    end
  end
  always_comb begin
    avail   = '0;
    closed  = 1'b0;
    bus_now = 1'b0;
    for (int unsigned k = 0; k < 4; k++) begin
      if (k < 32'(level) && !closed) begin
        avail   = 3'(k + 1);
        closed  = dut.last_q[head+2'(k)];
        bus_now = bus_now || dut.error_q[head+2'(k)];
      end
    end
  end

  logic [ElementsW-1:0] left_q, left;  // 0: the next group begins a segment
  logic                 broken_q;
  logic [ElemW-1:0]     zero;
  logic [31:0] pos_q;
  wire [31:0] pos        = (left_q == '0) ? 0 : pos_q;
  wire [31:0] count      = (32'(left) < Lanes) ? 32'(left) : Lanes;
  wire        last_group = 32'(left) <= Lanes;
  wire [31:0] mask_bytes = (count + 7) / 8;
  assign left  = (left_q == '0) ? dut.elements_q[head] : left_q;
  assign zero  = dut.zero_q[head];
  assign bytes = window >> (8 * pos);
  logic [31:0]      size;
  logic             stray, coded, padding_ok;
  logic [BeatW-1:0] beat;
  always_comb begin
    size  = mask_bytes;
    stray = 1'b0;
    coded = 1'b0;
    for (int unsigned i = 0; i < Lanes; i++) begin
      beat[i*ElemW+:ElemW] = zero;
      if (i < count && bytes[i]) begin
        beat[i*ElemW+:ElemW] = ElemW'(bytes >> (8 * size));
        if (beat[i*ElemW+:ElemW] == zero) coded = 1'b1;
        size = size + E;
      end
      if (i >= count && i < 8 * mask_bytes && bytes[i]) stray = 1'b1;
    end
    for (int unsigned i = Lanes; i < 8 * M; i++) if (i < 8 * mask_bytes && bytes[i]) stray = 1'b1;
    padding_ok = 1'b1;
    for (int unsigned p = 0; p < 4 * B; p++) begin
      if (p >= pos + size && p < 32'(avail) * B && window[p*8+:8] != 8'(zero >> (8 * (p % E)))) padding_ok = 1'b0;
    end
  end
  wire [31:0] stop    = pos + size;
  wire [31:0] limit   = 32'(avail) * B;
  wire        ends    = broken_q || (closed && (stop > limit || (stop == limit && !last_group)));  // too early
  wire        there   = stop <= limit;
  wire        exact   = closed && stop <= limit && stop + B > limit;
  wire        wrong   = ends || stray || (coded && !ends) || (last_group && (!exact || !padding_ok));
  wire [BeatW-1:0] given = ends ? {Lanes{zero}} : beat;

  `FV_ASSERT(a_go, !go || (level != '0 && (there || ends)))
  // a group is cut when it is all there, but for the cycle in which its mask is found
  `FV_ASSERT(a_cuts, !(level != '0 && !dut.drain_q && (ends || there) && dut.ready2) || go || (!dut.valid1_q && dut.found))
  `FV_ASSERT(a_waits, dut.ready2 || (out_valid && !out_ready_i))
  `FV_ASSERT(a_refuses, in_ready || (level == 3'd4 && (go || dut.drain_q || !dut.ready2 || (!dut.valid1_q && dut.found))))

  // ---- where the segment stands: bytes read, beats dropped
  logic       acc_q, bus_acc_q;  // error of the segment's groups so far
  logic [7:0] read_q, gone_q;
  logic       dropped_q;         // a beat of it is gone
  logic       border_q;          // the last beat that went was the last of its segment
  wire        read_on = go && !last_group;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      left_q    <= '0;
      broken_q  <= 1'b0;
      acc_q     <= 1'b0;
      bus_acc_q <= 1'b0;
      border_q  <= 1'b1;
      read_q    <= '0;
      gone_q    <= '0;
      dropped_q <= 1'b0;
    end else begin
      if (go) begin
        left_q    <= left - ElementsW'(count);
        broken_q  <= ends && !last_group;
        acc_q     <= !last_group && (acc_q || wrong);
        bus_acc_q <= !last_group && (bus_acc_q || bus_now);
        read_q    <= last_group ? '0 : read_q + 8'(size);
        gone_q    <= last_group ? '0 : gone_q + 8'(drop);
        dropped_q <= read_on && (dropped_q || drop != '0);
      end
      if (drop != '0) border_q <= dut.last_q[head+2'(drop-3'd1)];
    end
  end
  always_ff @(posedge clk_i) if (go) pos_q <= stop % B;
  wire middle = left_q != '0;
  `FV_ASSERT(a_place, !(middle && !broken_q) || read_q == 8'(32'(gone_q) * B + pos))
  `FV_ASSERT(a_own_units, dut.drop <= 4'(avail) && (!(go && !last_group) || !closed || drop < avail))
  `FV_ASSERT(a_next, middle || dut.drain_q || border_q)

  // ---- the picked group leaves in its turn
  logic             busy_q, exp_last_q, exp_error_q, exp_bus_q;
  logic [1:0]       ahead_q;
  logic [BeatW-1:0] value_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) busy_q <= 1'b0;
    else if (!busy_q) busy_q <= go && pick_i;
    else if (pop && ahead_q == '0) busy_q <= 1'b0;
  end
  always_ff @(posedge clk_i) begin
    if (!busy_q) begin
      ahead_q     <= 2'(dut.valid2_q) + 2'(dut.valid3_q) - 2'(pop);
      value_q     <= given;
      exp_last_q  <= last_group;
      exp_error_q <= acc_q || wrong;
      exp_bus_q   <= bus_acc_q || bus_now;
    end else if (pop) ahead_q <= ahead_q - 2'd1;
  end
  wire here = busy_q && out_valid && ahead_q == '0;
  `FV_ASSERT(a_value, !here || (out_data == value_q && out_last == exp_last_q))
  `FV_ASSERT(a_error, !here || out_error == exp_error_q)
  `FV_ASSERT(a_bus_error, !here || out_bus_error == exp_bus_q)

  logic           held_q;
  logic [BeatW+2:0] out_q;
  wire  [BeatW+2:0] out = {out_data, out_last, out_error, out_bus_error};
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) held_q <= 1'b0;
    else held_q <= out_valid && !out_ready_i;
  end
  always_ff @(posedge clk_i) out_q <= out;
  `FV_ASSERT(a_hold, !held_q || (out_valid && out == out_q))

  // ---- invariants
  `FV_ASSERT(i_ring, dut.level <= 4'd4 && dut.tail == dut.head + level)
  `FV_ASSERT(i_broken, !broken_q || (middle && closed))
  `FV_ASSERT(i_pos, !middle || pos < B)

  // the group at cut is the one that is to be cut; of a mask that goes on behind its segment only the length counts
  wire       at_cut  = dut.valid1_q;
  wire       in_ring = pos + mask_bytes <= limit;
  wire [2:0] found_rel = dut.slot_q - dut.head;
  logic [Lanes-1:0] mask;
  always_comb for (int unsigned i = 0; i < Lanes; i++) mask[i] = i < count && bytes[i];
  `FV_ASSERT(i_cut, !at_cut || (level != '0 && dut.last1_q == last_group && dut.broken1_q == broken_q))
  `FV_ASSERT(i_cut_mask, !at_cut || broken_q || !in_ring ||
             (dut.mask1_q == mask && dut.stray1_q == stray && 32'({dut.whole, dut.part}) == stop &&
              32'(dut.start1_q) == (32'(head) * B + pos + mask_bytes) % (4 * B)))
  for (genvar j = 0; j < int'(M); j++) begin : gen_ones
    `FV_ASSERT(i_ones, !at_cut || 32'(dut.ones1_q[j]) == $countones(8'(dut.mask1_q >> (8 * j))))
  end
  `FV_ASSERT(i_cut_ends, !at_cut || broken_q || in_ring || (closed && 32'({dut.whole, dut.part}) > limit))

  // the group behind it is the next one
  `FV_ASSERT(i_find, dut.first_q == (at_cut ? last_group : !middle) &&
             (dut.first_q || dut.left_q == (at_cut ? left - ElementsW'(Lanes) : left_q)) &&
             dut.broken_q == (broken_q && !(at_cut && last_group)))
  `FV_ASSERT(i_seek, !dut.seek_q || (dut.first_q && (dut.drain_q || at_cut) && found_rel <= level && (!closed || avail > found_rel)))
  `FV_ASSERT(i_drain, !dut.drain_q || (!middle && !at_cut && dut.seek_q && found_rel == '0))
  `FV_ASSERT(i_find_first, !dut.first_q || dut.lane_q == '0)
  `FV_ASSERT(i_find_segment, !dut.first_q || dut.seek_q || (at_cut ? closed && found_rel == avail : found_rel == '0))
  `FV_ASSERT(i_find_group, dut.first_q || (dut.broken_q ? found_rel == '0 : at_cut ? {found_rel, dut.lane_q} == {1'b0, dut.whole, dut.part}
                                                                              : found_rel == '0 && 32'(dut.lane_q) == pos))
  `FV_ASSERT(i_border, !middle || border_q == !dropped_q)
  `FV_ASSERT(i_acc, middle || (!acc_q && !bus_acc_q && read_q == '0 && gone_q == '0 && !dropped_q))
  logic slots_ok;
  always_comb begin
    slots_ok = begins_q == ((level == '0) ? border_q : dut.last_q[head+2'(level-3'd1)]);
    for (int unsigned k = 0; k < 4; k++) begin
      if (k < 32'(level)) begin
        if (((k == 0) ? border_q : dut.last_q[head+2'(k-1)]) && dut.elements_q[head+2'(k)] == '0) slots_ok = 1'b0;
        if (k != 0 && !dut.last_q[head+2'(k-1)] && dut.zero_q[head+2'(k)] != dut.zero_q[head+2'(k-1)]) slots_ok = 1'b0;
        if (k + 1 == 32'(level) && dut.zero_q[head+2'(k)] != zero_in_q) slots_ok = 1'b0;
        for (int unsigned p = 0; p < B; p++) begin
          if (dut.pad_q[head+2'(k)][p] != (dut.beat_q[head+2'(k)][p] == 8'(dut.zero_q[head+2'(k)] >> (8 * (p % E))))) slots_ok = 1'b0;
        end
      end
    end
  end
  `FV_ASSERT(i_slots, slots_ok)

  // errors that the stages hold, from the output backwards
  logic [BeatW-1:0] value2, value3;
  logic             coded2;
  always_comb begin
    coded2 = 1'b0;
    for (int unsigned i = 0; i < Lanes; i++) begin
      value2[i*ElemW+:ElemW] = dut.mask2_q[i] ? dut.placed[i] : dut.zero2_q;
      value3[i*ElemW+:ElemW] = dut.out_q[i];
      if (dut.mask2_q[i] && dut.placed[i] == dut.zero2_q) coded2 = 1'b1;
    end
  end
  wire pass3 = out_valid ? out_error && !out_last : dut.seen_wrong_q;
  wire bus3  = out_valid ? out_bus_error && !out_last : dut.seen_bus_error_q;
  wire err2  = pass3 || dut.wrong2_q || coded2;
  wire bus2  = bus3 || dut.bus_error2_q;
  wire pass2 = dut.valid2_q ? err2 && !dut.last2_q : pass3;
  wire busp2 = dut.valid2_q ? bus2 && !dut.last2_q : bus3;
  `FV_ASSERT(i_errors, acc_q == pass2 && bus_acc_q == busp2)
  `FV_ASSERT(i_token, !busy_q || 32'(ahead_q) < 32'(dut.valid2_q) + 32'(out_valid))
  wire in2 = busy_q && dut.valid2_q && ahead_q == 2'(out_valid);
  `FV_ASSERT(i_two, !in2 || (value2 == value_q && dut.last2_q == exp_last_q && err2 == exp_error_q && bus2 == exp_bus_q))
  `FV_ASSERT(i_three, !here || value3 == value_q)

  `FV_COVER(c_two_units, go && there && pos != 0 && stop == 2 * B && !last_group)
  `FV_COVER(c_broken, go && broken_q && last_group)
  `FV_COVER(c_drain, dut.drain_q && level == '0)
  `FV_COVER(c_right, here && pop && exp_last_q && !exp_error_q && value_q[ElemW-1:0] != value_q[2*ElemW-1:ElemW])
  `FV_COVER(c_full, !in_ready)
endmodule
