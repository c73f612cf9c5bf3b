// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// From bus beats to slices of any length: takes the next bytes of a request, as many as asked for, into a register.
//
// A ring of beats and one byte shifter behind it. Beats stay on the lanes they came on, so only reading shifts.
//   - A request starts in lane in_offset_i of its first beat; its bytes are contiguous over its beats.
//   - A slice is the next byte and more_i < Window bytes behind it. The one after it follows (follow_i), or overlaps
//     with it and begins advance_i <= more_i + 1 bytes further on. It never crosses the end of a request. Who takes a
//     request's last slice, which ends with it, says so with last_i, and what is left of the beat is dropped.
//   - enough_o: the slice's bytes are here. take_i only with enough_o.
//   - slice_o, from the next cycle on: byte i is byte first_i + i of those; what is outside them is anything.
//   - error_o, valid with take_i: a beat that goes with this slice came with an error. Each beat is counted once.
//   - wrong_o, valid with take_i: the request's last beat goes with this slice and last_i is low, or the other way
//     round: what was asked for is not what is taken.
// One beat in and one slice out a cycle, both from flip-flops: the ring holds one beat more than a slice can touch.
module kt_gearbox #(
  parameter int unsigned DataW  = 128,  // power of two
  parameter int unsigned Window = 36,   // bytes of the longest slice
  localparam int unsigned Lanes = DataW / 8,
  localparam int unsigned LaneW = $clog2(Lanes),
  localparam int unsigned NeedW = $clog2(Window + 1)
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  // beats
  input  logic                in_valid_i,
  output logic                in_ready_o,
  input  logic [DataW-1:0]    in_data_i,
  input  logic [LaneW-1:0]    in_offset_i,
  input  logic                in_last_i,
  input  logic                in_error_i,
  // slices
  input  logic [NeedW-1:0]    more_i,
  input  logic                follow_i,
  input  logic [NeedW-1:0]    advance_i,
  input  logic signed [NeedW:0] first_i,
  output logic                enough_o,
  input  logic                take_i,
  input  logic                last_i,
  output logic [Window*8-1:0] slice_o,
  output logic                error_o,
  output logic                wrong_o
);

  localparam int unsigned Touched = (Window + Lanes - 2) / Lanes + 1;  // beats of a slice at the worst offset
  localparam int unsigned SlotW   = $clog2(Touched + 1);
  localparam int unsigned Slots   = 1 << SlotW;                        // no bounds checks: whole power of two
  localparam int unsigned SumW    = ((NeedW > LaneW) ? NeedW : LaneW) + 1;

  logic [DataW-1:0] beat_q  [Slots];
  logic [LaneW-1:0] offset_q[Slots];
  logic [Slots-1:0] last_q, error_q;
  logic [SlotW-1:0] head, tail;
  logic [SlotW:0]   level;
  logic [LaneW-1:0] pos_q;    // lane of the next byte in the beat at head

  logic             push, empty;
  logic [Slots-1:0] here;     // beats from head on
  logic [SumW-1:0]  reach;    // last byte of the slice, in bytes from lane 0 of the beat at head
  logic [SumW-1:0]  next;     // first byte of the next one
  logic [SlotW-1:0] whole;    // beats before that byte's; with last_i before that of the slice's last byte
  logic [SlotW-1:0] drop;     // beats that go with the slice
  logic [SlotW-1:0] next_head;

  assign in_ready_o = level != (SlotW + 1)'(Slots);
  assign push       = in_valid_i && in_ready_o;

  for (genvar b = 0; b < int'(Slots); b++) begin : gen_here
    assign here[b] = level > (SlotW + 1)'(b);
  end
  assign reach     = SumW'(pos_q) + SumW'(more_i);
  assign next      = SumW'(pos_q) + SumW'(follow_i ? more_i : advance_i) + SumW'(follow_i);
  assign enough_o  = here[SlotW'(reach>>LaneW)];
  assign whole     = SlotW'((last_i ? reach : next) >> LaneW);
  assign drop      = whole + SlotW'(last_i);
  assign next_head = head + whole + SlotW'(last_i);
  assign empty     = take_i ? !here[drop] : !here[0];  // but for the beat that comes

  kt_ring #(
    .Slots(Slots)
  ) u_ring (
    .clk_i,
    .rst_ni,
    .push_i (push),
    .drop_i (take_i ? (SlotW + 1)'(drop) : '0),
    .head_o (head),
    .tail_o (tail),
    .level_o(level)
  );

  always_ff @(posedge clk_i) begin
    if (push) begin
      beat_q[tail]   <= in_data_i;
      offset_q[tail] <= in_offset_i;
      last_q[tail]   <= in_last_i;
      error_q[tail]  <= in_error_i;
    end
  end

  // A beat that enters an empty ring brings its own position. (Inside a request that is 0, and so is `next` mod Lanes:
  // the ring can only run empty at the end of a beat.)
  always_ff @(posedge clk_i) begin
    if (push && empty) pos_q <= in_offset_i;
    else if (take_i) pos_q <= last_i ? offset_q[next_head] : next[LaneW-1:0];
  end

  // The shifter works inside the clocked process, so that simulation pays for it only when a slice is taken.
  localparam int unsigned ShiftW = $clog2(2 * Window + Lanes);
  localparam int unsigned SpanW  = (Lanes - 1 + 2 * Window) * 8;  // beats behind Window bytes of anything
  /* verilator lint_off UNUSEDSIGNAL */  // bytes of the last beat that no slice reaches
  logic [Touched*DataW-1:0] beats;
  /* verilator lint_on UNUSEDSIGNAL */
  for (genvar b = 0; b < int'(Touched); b++) begin : gen_beats
    assign beats[b*DataW+:DataW] = beat_q[head+SlotW'(b)];
  end

  logic [ShiftW-1:0] shift;
  assign shift = ShiftW'(Window) + ShiftW'(pos_q) + ShiftW'(first_i);
  always_ff @(posedge clk_i) begin
    if (take_i) slice_o <= (Window * 8)'(SpanW'({beats, {Window * 8{1'b0}}}) >> {shift, 3'b000});
  end

  always_comb begin
    error_o = 1'b0;
    if (take_i && error_q != '0) begin
      for (int unsigned b = 0; b < Touched; b++) begin
        if (SlotW'(b) < drop && error_q[head+SlotW'(b)]) error_o = 1'b1;
      end
    end
  end

  always_comb begin
    wrong_o = 1'b0;
    if (take_i) begin
      for (int unsigned b = 0; b < Touched; b++) begin
        if (SlotW'(b) < drop && last_q[head+SlotW'(b)] != (last_i && SlotW'(b + 1) == drop)) wrong_o = 1'b1;
      end
    end
  end

endmodule
