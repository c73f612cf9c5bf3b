// From bus beats to pieces of any length: takes the next bytes of a request, as many as asked for, into a register.
//
// A ring of beats and one byte shifter behind it. Beats stay on the lanes they came on, so only reading shifts.
//   - A request starts in lane in_offset_i of its first beat; its bytes are contiguous over its beats.
//   - A piece never crosses the end of a request. Who takes its last piece says so with last_i, and what is left of the
//     beat is dropped.
//   - enough_o: the next need_i bytes (1 .. Window) are here. take_i only with enough_o.
//   - piece_o, from the next cycle on: those bytes, lowest address in the lowest byte, zeros above them. With append_i
//     they are one word (need_i <= Word) that enters from above, while the earlier ones move down by a word.
//   - error_o, valid with take_i: a beat that goes with this piece came with an error. Each beat is counted once.
// One beat in and one piece out a cycle, both from flip-flops: the ring holds one beat more than a piece can touch.
module kt_gearbox #(
  parameter int unsigned DataW  = 128,  // power of two
  parameter int unsigned Window = 36,   // bytes of the longest piece
  parameter int unsigned Word   = 4,
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
  input  logic                in_error_i,
  // pieces
  input  logic [NeedW-1:0]    need_i,
  output logic                enough_o,
  input  logic                take_i,
  input  logic                last_i,
  input  logic                append_i,
  output logic [Window*8-1:0] piece_o,
  output logic                error_o
);

  localparam int unsigned Touched = (Window + Lanes - 2) / Lanes + 1;  // beats of a piece at the worst offset
  localparam int unsigned SlotW   = $clog2(Touched + 1);
  localparam int unsigned Slots   = 1 << SlotW;                        // no bounds checks: whole power of two
  localparam int unsigned SumW    = ((NeedW > LaneW) ? NeedW : LaneW) + 1;

  logic [DataW-1:0] beat_q  [Slots];
  logic [LaneW-1:0] offset_q[Slots];
  logic [Slots-1:0] error_q;
  logic [SlotW-1:0] head_q, tail_q;
  logic [SlotW:0]   level_q;
  logic [LaneW-1:0] pos_q;    // lane of the next byte in the beat at head_q

  logic             push;
  logic [SumW-1:0]  stop;     // end of the piece, in bytes from lane 0 of the beat at head_q
  logic [SlotW:0]   whole, touched, drop;
  logic [SlotW-1:0] next_head;

  function automatic logic [Window*8-1:0] mask(logic [NeedW-1:0] bytes);
    return {(Window * 8) {1'b1}} >> {NeedW'(Window) - bytes, 3'b000};
  endfunction

  assign in_ready_o = level_q != (SlotW + 1)'(Slots);
  assign push       = in_valid_i && in_ready_o;

  assign stop      = SumW'(need_i) + SumW'(pos_q);
  assign whole     = (SlotW + 1)'(stop >> LaneW);
  assign touched   = whole + (SlotW + 1)'(stop[LaneW-1:0] != '0);
  assign enough_o  = level_q >= touched;
  assign drop      = !take_i ? '0 : last_i ? touched : whole;
  assign next_head = head_q + SlotW'(drop);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      head_q  <= '0;
      tail_q  <= '0;
      level_q <= '0;
    end else begin
      if (push) tail_q <= tail_q + 1'b1;
      if (take_i) head_q <= next_head;
      if (push || take_i) level_q <= level_q + (SlotW + 1)'(push) - drop;
    end
  end

  always_ff @(posedge clk_i) begin
    if (push) begin
      beat_q[tail_q]   <= in_data_i;
      offset_q[tail_q] <= in_offset_i;
      error_q[tail_q]  <= in_error_i;
    end
  end

  // A beat that enters an empty ring brings its own position. (Inside a request that is 0, and so is `stop` mod Lanes:
  // the ring can only run empty at the end of a beat.)
  always_ff @(posedge clk_i) begin
    if (push && level_q == drop) pos_q <= in_offset_i;
    else if (take_i) pos_q <= last_i ? offset_q[next_head] : stop[LaneW-1:0];
  end

  // The shifter works inside the clocked process, so that simulation pays for it only when a piece is taken.
  localparam int unsigned SpanW = (Lanes - 1 + Window) * 8;
  /* verilator lint_off UNUSEDSIGNAL */
  logic [Touched*DataW-1:0] beats;
  /* verilator lint_on UNUSEDSIGNAL */
  for (genvar b = 0; b < int'(Touched); b++) begin : gen_beats
    assign beats[b*DataW+:DataW] = beat_q[head_q+SlotW'(b)];
  end

  always_ff @(posedge clk_i) begin
    if (take_i) begin
      if (append_i) begin
        piece_o <= {(Word * 8)'(SpanW'(beats) >> {pos_q, 3'b000}) & (Word * 8)'(mask(need_i)),
                    piece_o[Window*8-1:Word*8]};
      end else begin
        piece_o <= (Window * 8)'(SpanW'(beats) >> {pos_q, 3'b000}) & mask(need_i);
      end
    end
  end

  always_comb begin
    error_o = 1'b0;
    if (take_i && error_q != '0) begin
      for (int unsigned b = 0; b < Touched; b++) begin
        if ((SlotW + 1)'(b) < drop && error_q[head_q+SlotW'(b)]) error_o = 1'b1;
      end
    end
  end

endmodule
