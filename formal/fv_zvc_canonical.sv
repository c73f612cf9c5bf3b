// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

`include "fv.svh"
// Expander into compressor, arbitrary units: a segment that came out without an error is packed again into the units that
// went in. So there is no corrupt segment that the expander takes for a right one. Each segment gives its number of beats,
// the last of them marked, and takes its units, whatever they hold, without waiting for the next.
module fv_zvc_canonical #(
  parameter int unsigned Lanes = 4,
  parameter int unsigned ElemW = 8,
  parameter int unsigned Most  = 3,  // beats and units of a segment
  localparam int unsigned BeatW  = Lanes * ElemW,
  localparam int unsigned CountW = $clog2(Lanes + 1),
  localparam int unsigned NumW   = $clog2(Most * Lanes + 1)
) (
  input logic             clk_i,
  input logic             rst_ni,
  input logic             in_valid_i,
  input logic [BeatW-1:0] in_data_i,
  input logic             in_last_i,
  input logic [NumW-1:0]  elements_i,  // of a segment that begins
  input logic [ElemW-1:0] zero_i,      // of a segment that begins
  input logic             link_i,      // the link between the two moves
  input logic             out_ready_i,
  input logic             pick_i
);
  `include "fv_reset.svh"

  // ---- segments go in
  logic             first_q, in_ready;
  logic [1:0]       unit_q;  // units of the segment before this one
  logic [ElemW-1:0] zero_q;
  wire push = in_valid_i && in_ready;
  wire start = push && first_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      first_q <= 1'b1;
      unit_q  <= '0;
    end else if (push) begin
      first_q <= in_last_i;
      unit_q  <= in_last_i ? '0 : unit_q + 2'd1;
    end
  end
  always_ff @(posedge clk_i) if (start) zero_q <= zero_i;
  wire [ElemW-1:0] zero = first_q ? zero_i : zero_q;
  `FV_ASSUME(m_elements, !in_valid_i || !first_q || (elements_i != '0 && 32'(elements_i) <= Most * Lanes))
  `FV_ASSUME(m_units, !in_valid_i || in_last_i || 32'(unit_q) + 1 < Most)

  logic             e_valid, e_ready, e_last, e_error, e_bus_error, c_ready;
  logic [BeatW-1:0] e_data;
  kt_zvc_expand #(.Lanes(Lanes), .ElemW(ElemW), .ElementsW(NumW)) u_expand (
    .clk_i, .rst_ni,
    .in_valid_i, .in_ready_o(in_ready), .in_data_i, .in_last_i, .in_error_i(1'b0), .in_elements_i(elements_i),
    .in_zero_i(zero),
    .out_valid_o(e_valid), .out_ready_i(e_ready), .out_data_o(e_data), .out_last_o(e_last), .out_error_o(e_error),
    .out_bus_error_o(e_bus_error)
  );
  assign e_ready = link_i && c_ready;
  wire move = e_valid && e_ready;

  // elements and zero values of the segments in the expander
  logic [NumW-1:0]  num_q [8];
  logic [ElemW-1:0] zeros_q[8];
  logic [2:0]       wr_q, rd_q;
  logic [1:0]       beat_q;  // beats of the segment before this one
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wr_q   <= '0;
      rd_q   <= '0;
      beat_q <= '0;
    end else begin
      if (start) wr_q <= wr_q + 3'd1;
      if (move) begin
        beat_q <= e_last ? '0 : beat_q + 2'd1;
        if (e_last) rd_q <= rd_q + 3'd1;
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (start) begin
      num_q[wr_q]   <= elements_i;
      zeros_q[wr_q] <= zero_i;
    end
  end
  wire [NumW-1:0] num   = num_q[rd_q];
  wire [31:0]     beats = (32'(num) + Lanes - 1) / Lanes;
  `FV_ASSERT(a_beats, !e_valid || (wr_q != rd_q && e_last == (32'(beat_q) + 1 == beats)))

  // segments that are all in come out, right or wrong: a beat shows within four cycles
  logic [2:0] idle_q;
  wire idle = wr_q != rd_q && first_q && !e_valid;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) idle_q <= '0;
    else idle_q <= idle ? idle_q + 3'd1 : '0;
  end
  `FV_ASSERT(a_moves, idle_q <= 3'd4)

  logic             out_valid, out_last;
  logic [BeatW-1:0] out_data;
  kt_zvc_compress #(.Lanes(Lanes), .ElemW(ElemW)) u_compress (
    .clk_i, .rst_ni,
    .in_valid_i(e_valid && link_i), .in_ready_o(c_ready), .in_data_i(e_data), .in_last_i(e_last),
    .in_count_i(CountW'(32'(num) - 32'(beat_q) * Lanes)), .in_zero_i(zeros_q[rd_q]),
    .out_valid_o(out_valid), .out_ready_i, .out_data_o(out_data), .out_last_o(out_last)
  );
  wire pop = out_valid && out_ready_i;

  // ---- the picked segment: its units, its error, and what the compressor makes of it
  logic             busy_q, writing_q, judged_q, error_q, differs_q;
  logic [2:0]       e_ahead_q;             // segments before it in front of the link ...
  logic [4:0]       c_ahead_q;             // ... and of the output
  logic [4:0]       inside_q;              // segments begun whose last packed unit has not come out
  logic [1:0]       units_q, given_q;
  logic [BeatW-1:0] unit_data_q[4];
  wire pick  = start && pick_i && !busy_q;
  wire mine  = busy_q && c_ahead_q == '0;
  wire judge = busy_q && !judged_q && e_ahead_q == '0 && move && e_last;
  wire done  = mine && pop && out_last;
  wire wrong = differs_q || given_q >= units_q || out_data != unit_data_q[given_q] ||
               (out_last && (writing_q || given_q + 2'd1 != units_q));
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q    <= 1'b0;
      writing_q <= 1'b0;
      inside_q  <= '0;
    end else begin
      inside_q <= inside_q + 5'(start) - 5'(pop && out_last);
      if (pick) begin
        busy_q    <= 1'b1;
        writing_q <= !in_last_i;
      end else begin
        if (push && in_last_i) writing_q <= 1'b0;
        if (done) busy_q <= 1'b0;
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (pick) begin
      e_ahead_q      <= wr_q - rd_q - 3'(move && e_last);
      c_ahead_q      <= inside_q - 5'(pop && out_last);
      units_q        <= 2'd1;
      unit_data_q[0] <= in_data_i;
      given_q        <= '0;
      judged_q       <= 1'b0;
      error_q        <= 1'b0;
      differs_q      <= 1'b0;
    end else begin
      if (writing_q && push) begin
        unit_data_q[units_q] <= in_data_i;
        units_q              <= units_q + 2'd1;
      end
      if (move && e_last && e_ahead_q != '0) e_ahead_q <= e_ahead_q - 3'd1;
      if (judge) begin
        judged_q <= 1'b1;
        error_q  <= e_error;
      end
      if (pop && out_last && c_ahead_q != '0) c_ahead_q <= c_ahead_q - 5'd1;
      if (mine && pop) begin
        given_q   <= given_q + 2'd1;
        differs_q <= wrong;
      end
    end
  end

  `FV_ASSERT(a_found, !done || (judged_q && (error_q || !wrong)))

  `FV_COVER(c_right, done && !error_q && units_q == 2'd2)
  `FV_COVER(c_wrong, done && error_q && wrong)
  `FV_COVER(c_too_long, judge && e_error && writing_q)
endmodule
