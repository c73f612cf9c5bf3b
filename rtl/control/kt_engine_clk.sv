// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Clock of an engine: runs while the engine may change state, that is from the first sign of work (wake_i: a command is
// offered, one of its memories is written) until Linger cycles after its last command is complete. Saves power where
// clock gates are real, and two thirds of the work of simulating an idle engine.
module kt_engine_clk #(
  parameter int unsigned Linger = 8  // cycles an engine may need behind its last done pulse
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic wake_i,   // in the cycle whose edge the engine must see
  input  logic start_i,  // a command is taken
  input  logic done_i,   // a command is complete
  output logic clk_o
);

  localparam int unsigned LingerW = $clog2(Linger + 1);

  logic [7:0]         count_q;  // commands taken and not complete
  logic [LingerW-1:0] linger_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q  <= '0;
      linger_q <= LingerW'(Linger);
    end else begin
      if (start_i != done_i) count_q <= start_i ? count_q + 1'b1 : count_q - 1'b1;
      if (wake_i || count_q != '0) linger_q <= LingerW'(Linger);
      else if (linger_q != '0) linger_q <= linger_q - 1'b1;
    end
  end

  kt_clk_gate u_gate (
    .clk_i,
    .en_i (wake_i || count_q != '0 || linger_q != '0),
    .clk_o
  );

endmodule
