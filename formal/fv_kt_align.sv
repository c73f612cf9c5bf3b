// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

`include "fv.svh"
// Alignment: the lanes of a pixel, which come stage after stage, leave together with its last stage, each unchanged in its byte.
// One lane, picked at power-up, of one pixel, picked at an arbitrary moment, is followed.
module fv_kt_align #(
  parameter int unsigned Stages    = 4,
  parameter int unsigned StageRows = 2,
  parameter int unsigned Cp        = 4,
  localparam int unsigned Kp = Stages * StageRows,
  localparam int unsigned LaneW = $clog2(Kp)
) (
  input logic              clk_i,
  input logic              rst_ni,
  input logic [Stages-1:0] valid_i,
  input logic signed [7:0] data_i[Kp],
  input logic [LaneW-1:0]  pick_lane_i,
  input logic              pick_i
);
  logic            valid;
  logic [Cp*8-1:0] word[Kp/Cp];
  kt_align #(
    .Stages   (Stages),
    .StageRows(StageRows),
    .Cp       (Cp)
  ) dut (
    .clk_i,
    .valid_i,
    .data_i,
    .valid_o(valid),
    .word_o (word)
  );
  `include "fv_reset.svh"

  // a stage has a pixel one cycle after the stage above (kt_requant passes the token on so)
  logic [Stages-1:0] wave_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) wave_q <= '0;
    else wave_q <= valid_i;
  end
  `FV_ASSUME(m_wave, valid_i[Stages-1:1] == wave_q[Stages-2:0])

  // ---- the picked lane and pixel
  logic [LaneW-1:0] lane_q;
  logic             follow_q;
  logic [31:0]      stage_q;  // where the pixel is in this cycle
  logic [7:0]       value_q;
  wire [31:0]       own = 32'(lane_q) / StageRows;
  wire              picks = past_ok_q && pick_i && !follow_q && valid_i[$clog2(Stages)'(own)];
  always_ff @(posedge clk_i) begin
    if (!past_ok_q) lane_q <= pick_lane_i;
    if (picks) value_q <= data_i[lane_q];
    stage_q <= picks ? own + 1 : stage_q + 1;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) follow_q <= 1'b0;
    else if (picks) follow_q <= own != Stages - 1;
    else if (stage_q >= Stages - 1) follow_q <= 1'b0;
  end
  wire [7:0] out = word[32'(lane_q)/Cp][8*(32'(lane_q)%Cp)+:8];
  `FV_ASSERT(a_value, !(follow_q && stage_q == Stages - 1) || (valid && out == value_q))
  `FV_ASSERT(a_last, !(picks && own == Stages - 1) || (valid && out == data_i[lane_q]))
  `FV_ASSERT(a_valid, valid == valid_i[Stages-1])
  `FV_ASSERT(i_follow, !follow_q || (past_ok_q && stage_q > own && stage_q < Stages && valid_i[$clog2(Stages)'(stage_q)] &&
             dut.step_q[$clog2(Stages)'(stage_q-1)][lane_q] == value_q))

  `FV_COVER(c_gap, follow_q && stage_q == Stages - 1 && lane_q == '0 && valid_i == 4'b1001 && value_q == 8'h5a)
endmodule
