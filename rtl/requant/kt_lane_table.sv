// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Two tables of 256 bytes behind a requantiser, read at all lanes of a result in the same cycle, so that a result every
// cycle is possible. One that goes through a table leaves a cycle later; commands are further apart than that. A word
// holds eight entries; entry number of a value: value + 128.
module kt_lane_table #(
  parameter int unsigned Lanes = 64
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  // one word: table, eighth of a table
  input  logic               we_i,
  input  logic [5:0]         wr_addr_i,
  input  logic [63:0]        wr_data_i,
  // result, of one pixel or two
  input  logic               valid_i,
  input  logic               two_i,      // both
  input  logic               look_up_i,  // goes through a table
  input  logic               second_i,   // the second one
  input  logic [Lanes*8-1:0] data_i,
  // the same cycle, or one cycle later
  output logic               valid_o,
  output logic               two_o,
  output logic [Lanes*8-1:0] data_o
);

  (* ram_style = "distributed" *)
  logic [63:0] words[64];
  always_ff @(posedge clk_i) if (we_i) words[wr_addr_i] <= wr_data_i;

  logic               read, valid_q, two_q;
  logic [Lanes*8-1:0] found_q;

  assign read = valid_i && look_up_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_q <= 1'b0;
    else valid_q <= read;
  end

  // Only where a result is at hand: an idle table costs nothing in simulation.
  always_ff @(posedge clk_i) begin
    if (read) begin
      two_q <= two_i;
      for (int unsigned l = 0; l < Lanes; l++) begin
        found_q[8*l+:8] <= words[{second_i, !data_i[8*l+7], data_i[8*l+3+:4]}][8*data_i[8*l+:3]+:8];
      end
    end
  end

  assign valid_o = valid_q || (valid_i && !look_up_i);
  assign two_o   = valid_q ? two_q : two_i && valid_i && !look_up_i;
  assign data_o  = valid_q ? found_q : data_i;

endmodule
