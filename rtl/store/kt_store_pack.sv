// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Packs STORE's pixels into bus beats: a pixel joins the beat under construction behind the one before it, or, first of
// its row, at the lane of the row's address. A beat leaves when it is full or the row ends.
//
// One pixel a cycle. A row whose last pixel straddles two beats leaves a tail that goes out with the next pixel taken
// or alone; only if that pixel (the first of a row) fills a beat at once does it wait a cycle.
module kt_store_pack #(
  parameter int unsigned AxiW   = 128,
  parameter int unsigned PixelB = 12,  // bytes of the longest pixel
  localparam int unsigned Lanes  = AxiW / 8,
  localparam int unsigned LaneW  = $clog2(Lanes),
  localparam int unsigned PixelW = $clog2(PixelB + 1)
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  // a pixel; room depends on where the one that is next ends, not on take_i
  output logic                room_o,
  output logic                first_room_o,  // if it is the first of a row; waits for no sum but that one's
  input  logic                take_i,
  input  logic                first_i,  // of its row, which begins at this lane
  input  logic [LaneW-1:0]    first_lane_i,
  input  logic                last_i,   // of its row
  input  logic [PixelW-1:0]   bytes_i,
  input  logic [PixelB*8-1:0] pixel_i,  // zeros from byte bytes_i on
  input  logic                zvc_i,    // of a compressed command
  // beats
  output logic                out_valid_o,
  input  logic                out_ready_i,
  output logic [AxiW-1:0]     out_data_o,
  output logic                out_zvc_o
);

  if (PixelB > Lanes) begin : gen_check_width
    $error("kt_store_pack: a result pixel must fit a bus beat");
  end

  logic [AxiW-1:0]  part_q;  // beat under construction, zeros from pos_q on; with tail_q: a tail, to be sent
  logic [LaneW-1:0] pos_q;   // lane of the next byte inside a row
  logic             tail_q, part_zvc_q;
  logic             out_free, full, beat_end;
  logic [LaneW-1:0] lane;                        // where the pixel goes
  logic [LaneW:0]   stop, first_stop, next_stop; // and the lane behind it, from Lanes on in the next beat

  // There is room if two hold: a beat may leave, this pixel ends none, no tail waits.
  function automatic logic room(logic free, logic ends, logic tail);
    return (free && !ends) || (free && !tail) || (!ends && !tail);
  endfunction

  assign out_free     = !out_valid_o || out_ready_i;
  assign lane         = first_i ? first_lane_i : pos_q;
  assign first_stop   = (LaneW + 1)'(first_lane_i) + (LaneW + 1)'(bytes_i);
  assign next_stop    = (LaneW + 1)'(pos_q) + (LaneW + 1)'(bytes_i);
  assign stop         = first_i ? first_stop : next_stop;
  assign full         = stop[LaneW];
  assign beat_end     = full || last_i;
  assign room_o       = room(out_free, beat_end, tail_q);
  assign first_room_o = room(out_free, first_stop[LaneW] || last_i, tail_q);

  logic [(Lanes+PixelB)*8-1:0] joined;  // the beat and what flows over into the next one
  always_comb begin
    joined = '0;
    if (take_i) begin
      joined = ((Lanes + PixelB) * 8)'(pixel_i) << {lane, 3'b000};
      if (!first_i) joined = joined | ((Lanes + PixelB) * 8)'(part_q);
    end
  end

  logic tail_d;
  assign tail_d = take_i && last_i && full && stop[LaneW-1:0] != '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      tail_q      <= 1'b0;
      out_valid_o <= 1'b0;
    end else begin
      if (out_free) tail_q <= tail_d;  // a pixel taken otherwise completes no beat
      if (out_free) out_valid_o <= tail_q || (take_i && beat_end);
    end
  end

  always_ff @(posedge clk_i) begin
    if (take_i) begin
      pos_q      <= stop[LaneW-1:0];
      part_zvc_q <= zvc_i;
      part_q     <= full ? AxiW'(joined >> AxiW) : joined[AxiW-1:0];
    end
    if (out_free && tail_q) out_data_o <= part_q;
    else if (take_i && beat_end) out_data_o <= joined[AxiW-1:0];
    if (out_free) out_zvc_o <= tail_q ? part_zvc_q : zvc_i;
  end

endmodule
