// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

`include "fv.svh"
// A byte, picked when its beat comes, is in every slice that reaches it, at its distance from the slice's first byte and
// unchanged, and the next slice is that much nearer to it as was asked for; it leaves in a slice that held it. So slices
// are the requests' bytes in order, nothing missing.
// The ring never holds more than its slots and takes a beat whenever it has one free. An error comes with the slice that
// the beat leaves with. No slice is called wrong. With FV_FREE
// slices may be any, and those that miss the end of their request are called wrong.
//
// The environment is the contract of the read master and of the caller: a request's first beat may start in any lane,
// its others start in lane 0; only its last may end early; a slice lies inside one request.
module fv_kt_gearbox #(
  parameter int unsigned DataW  = 16,
  parameter int unsigned Window = 3,
  localparam int unsigned Lanes = DataW / 8,
  localparam int unsigned LaneW = $clog2(Lanes),
  localparam int unsigned NeedW = $clog2(Window + 1)
) (
  input logic             clk_i,
  input logic             rst_ni,
  input logic             in_valid_i,
  input logic [DataW-1:0] in_data_i,
  input logic [LaneW-1:0] in_offset_i,
  input logic             in_error_i,
  input logic [LaneW:0]   in_stop_i,    // lane behind the beat's last byte
  input logic             in_last_i,    // last beat of its request
  input logic [NeedW-1:0] more_i,
  input logic             follow_i,
  input logic             take_i,
  input logic             last_i,
  input logic [NeedW-1:0] advance_i,
  input logic signed [NeedW:0] first_i,
  input logic             pick_i,
  input logic [LaneW-1:0] pick_lane_i
);
  logic in_ready, enough, error, wrong;
  logic [Window*8-1:0] slice;
  kt_gearbox #(
    .DataW (DataW),
    .Window(Window)
  ) dut (
    .clk_i,
    .rst_ni,
    .in_valid_i,
    .in_ready_o(in_ready),
    .in_data_i,
    .in_offset_i,
    .in_last_i,
    .in_error_i,
    .more_i,
    .follow_i,
    .enough_o  (enough),
    .take_i,
    .last_i,
    .advance_i,
    .first_i,
    .slice_o   (slice),
    .error_o   (error),
    .wrong_o   (wrong)
  );
  `include "fv_reset.svh"

  localparam int unsigned Touched = (Window + Lanes - 2) / Lanes + 1;
  localparam int unsigned SlotW   = $clog2(Touched + 1);
  localparam int unsigned Slots   = 1 << SlotW;

  wire push = in_valid_i && in_ready;
  wire [SlotW-1:0] head = dut.head, tail = dut.tail;
  wire [SlotW:0]   level = dut.level;
  wire [LaneW-1:0] pos = dut.pos_q;

  // beside the ring of beats: where each ends, and whether it came with an error
  logic [LaneW:0] stop_q[Slots];
  logic           error_q[Slots];
  logic           last_q[Slots];
  logic           middle_q;        // the last beat pushed was not the last of its request
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) middle_q <= 1'b0;
    else if (push) middle_q <= !in_last_i;
  end
  always_ff @(posedge clk_i) begin
    if (push) begin
      stop_q[tail] <= in_stop_i;
      last_q[tail] <= in_last_i;
      error_q[tail] <= in_error_i;
    end
  end

  // ---- environment
  `FV_ASSUME(m_beat, !in_valid_i || (32'(in_stop_i) <= Lanes && 32'(in_offset_i) < 32'(in_stop_i)))
  `FV_ASSUME(m_start, !in_valid_i || !middle_q || in_offset_i == '0)
  `FV_ASSUME(m_full, !in_valid_i || in_last_i || 32'(in_stop_i) == Lanes)

  // the bytes of a slice, and from its first one to the next one's
  wire [31:0] need = 32'(more_i) + 32'd1;
  wire [31:0] advance = follow_i ? need : 32'(advance_i);

  // the beats a slice touches, and whether it stays inside the request
  logic [31:0] stop;
  logic [SlotW:0] beats;
  logic fits, ends;
  wire [SlotW-1:0] end_slot = head + SlotW'(beats) - 1'b1;
  assign stop  = 32'(pos) + need;
  assign beats = (SlotW + 1)'((stop + Lanes - 1) / Lanes);
  always_comb begin
    fits = 1'b1;
    for (int unsigned b = 0; b < Touched; b++) begin
      if (b + 1 < 32'(beats) && last_q[head+SlotW'(b)]) fits = 1'b0;
    end
    if (stop - (32'(beats) - 1) * Lanes > 32'(stop_q[end_slot])) fits = 1'b0;
    ends = last_q[end_slot] && stop - (32'(beats) - 1) * Lanes == 32'(stop_q[end_slot]);
  end
  `FV_ASSUME(m_need, need <= Window && (last_i || advance <= need))
  `FV_ASSUME(m_first, 32'(first_i) + Window <= 2 * Window)
`ifdef FV_FREE
  `FV_ASSUME(m_take, !take_i || enough)
  logic missed;
  always_comb begin
    missed = 1'b0;
    for (int unsigned b = 0; b < Touched; b++) begin
      if (32'(dut.drop) > b && last_q[head+SlotW'(b)] != (last_i && b + 1 == 32'(beats))) missed = 1'b1;
    end
  end
  `FV_ASSERT(a_wrong, wrong == (take_i && missed))
`else
  `FV_ASSUME(m_take, !take_i || (enough && fits && last_i == ends))
  `FV_ASSERT(a_right, !wrong)
`endif

  logic leaves_wrong;
  always_comb begin
    leaves_wrong = 1'b0;
    for (int unsigned b = 0; b < Slots; b++) begin
      if (take_i && b < 32'(dut.drop) && error_q[head+SlotW'(b)]) leaves_wrong = 1'b1;
    end
  end
  `FV_ASSERT(a_error, error == leaves_wrong)

  // ---- the picked byte
  logic [1:0]       st_q;       // 0 none, 1 in the ring, 2 behind the slice's first byte and its beat still in the ring
  logic [SlotW-1:0] slot_q;
  logic [LaneW-1:0] lane_q;
  logic [7:0]       value_q;
  wire [SlotW-1:0]  ahead = slot_q - head;   // beats before the byte's
  wire [31:0]       from  = 32'(ahead) * Lanes + 32'(lane_q) - 32'(pos);
  wire              given = take_i && st_q == 2'd1 && from < need;  // in the slice ...
  wire              passed = given && (last_i || from < advance);      // ... and not in the next one
  wire              gone  = take_i && 32'(ahead) < 32'(dut.drop);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      st_q <= 2'd0;
    end else begin
      if (st_q == 2'd0 && push && pick_i && pick_lane_i >= in_offset_i && 32'(pick_lane_i) < 32'(in_stop_i)) st_q <= 2'd1;
      if (passed) st_q <= gone ? 2'd0 : 2'd2;
      if (st_q == 2'd2 && gone) st_q <= 2'd0;
    end
  end
  always_ff @(posedge clk_i) begin
    if (st_q == 2'd0 && push) begin
      slot_q  <= tail;
      lane_q  <= pick_lane_i;
      value_q <= DataW'(in_data_i >> {pick_lane_i, 3'b000}) & 8'hff;
    end
  end

  // what came out, a cycle later, and where the byte must be then
  wire [31:0]       at = from - 32'(first_i);
  logic             given_q, wrapped_q, stays_q, lead_q;
  logic [NeedW-1:0] at_q;
  logic [7:0]       expect_q;
  logic [31:0]      from_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      given_q   <= 1'b0;
      wrapped_q <= 1'b0;
      stays_q   <= 1'b0;
      lead_q    <= 1'b0;
    end else begin
      given_q   <= given && at < Window;
      wrapped_q <= wrapped_q || (push && tail == '1);
      stays_q   <= st_q == 2'd1 && take_i && !last_i && !passed;
      lead_q    <= first_i < 0;
    end
  end
  always_ff @(posedge clk_i) begin
    at_q     <= NeedW'(at);
    from_q   <= from - advance;
    expect_q <= value_q;
  end

`ifndef FV_FREE
  `FV_ASSERT(a_value, !given_q || 8'(slice >> {at_q, 3'b000}) == expect_q)
  `FV_ASSERT(a_nearer, !stays_q || (st_q == 2'd1 && from == from_q))
  `FV_ASSERT(a_not_lost, !(st_q == 2'd1 && gone) || given)
  `FV_ASSERT(a_not_twice, !(st_q == 2'd2 && take_i) || from >= need)
`endif
  `FV_ASSERT(a_room, in_ready == (32'(level) != Slots) && 32'(level) <= Slots)
  // with a full ring any slice can be taken: it cannot stand still
  `FV_ASSERT(a_flows, in_ready || enough)

  logic ring_ok;
  always_comb begin
    ring_ok = tail == SlotW'(head + SlotW'(level));
    for (int unsigned k = 0; k < Slots; k++) begin
      if (k < 32'(level)) begin
        if (32'(stop_q[head+SlotW'(k)]) > Lanes) ring_ok = 1'b0;
        if (dut.last_q[head+SlotW'(k)] != last_q[head+SlotW'(k)]) ring_ok = 1'b0;
        if (dut.error_q[head+SlotW'(k)] != error_q[head+SlotW'(k)]) ring_ok = 1'b0;
        if (32'(dut.offset_q[head+SlotW'(k)]) >= 32'(stop_q[head+SlotW'(k)])) ring_ok = 1'b0;
        if (!last_q[head+SlotW'(k)] && 32'(stop_q[head+SlotW'(k)]) != Lanes) ring_ok = 1'b0;
        if (k + 1 < 32'(level) && !last_q[head+SlotW'(k)] && dut.offset_q[head+SlotW'(k)+1'b1] != '0) ring_ok = 1'b0;
        if (k + 1 == 32'(level) && last_q[head+SlotW'(k)] == middle_q) ring_ok = 1'b0;
      end
    end
`ifndef FV_FREE
    if (level != '0 && (pos < dut.offset_q[head] || 32'(pos) >= 32'(stop_q[head]))) ring_ok = 1'b0;
`endif
  end
  `FV_ASSERT(i_ring, ring_ok)
`ifndef FV_FREE
  wire [DataW-1:0] beat = dut.beat_q[slot_q];
  `FV_ASSERT(i_in, st_q == 2'd0 || (32'(ahead) < 32'(level) && lane_q >= dut.offset_q[slot_q] &&
                                    32'(lane_q) < 32'(stop_q[slot_q])))
  `FV_ASSERT(i_value, st_q != 2'd1 || (8'(beat >> {lane_q, 3'b000}) == value_q && (ahead != '0 || lane_q >= pos)))
  `FV_ASSERT(i_behind, st_q != 2'd2 || (ahead == '0 && lane_q < pos))
  `FV_ASSERT(i_state, st_q != 2'd3)
`endif

  `FV_COVER(c_across, given_q && wrapped_q && 32'(at_q) == Window - 1)
  `FV_COVER(c_lead, given_q && wrapped_q && lead_q)
  `FV_COVER(c_overlap, given_q && stays_q && wrapped_q)
  `FV_COVER(c_full, !in_ready && wrapped_q)
  `FV_COVER(c_error, error)
endmodule
