// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// A signal some cycles later; none: a wire.
module kt_delay #(
  parameter int unsigned Width  = 8,
  parameter int unsigned Cycles = 1
) (
  /* verilator lint_off UNUSEDSIGNAL */  // a wire has none
  input  logic             clk_i,
  /* verilator lint_on UNUSEDSIGNAL */
  input  logic [Width-1:0] data_i,
  output logic [Width-1:0] data_o
);

  if (Cycles == 0) begin : gen_wire
    assign data_o = data_i;
  end else begin : gen_registers
    logic [Width-1:0] data_q[Cycles];
    always_ff @(posedge clk_i) begin
      automatic logic [Width-1:0] data[Cycles];
      data[0] = data_i;
      for (int unsigned i = 1; i < Cycles; i++) data[i] = data_q[i-1];
      data_q <= data;
    end
    assign data_o = data_q[Cycles-1];
  end

endmodule
