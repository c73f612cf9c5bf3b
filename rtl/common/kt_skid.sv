// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Skid buffer: a stream register whose valid, data and ready all come from flip-flops, at one word a cycle.
// Invariant: the second register is full only while the first one is, and then in_ready_o is low.
module kt_skid #(
  parameter int unsigned Width  = 8,
  parameter type         word_t = logic [Width-1:0]
) (
  input  logic  clk_i,
  input  logic  rst_ni,
  // in
  input  logic  in_valid_i,
  output logic  in_ready_o,
  input  word_t in_data_i,
  // out
  output logic  out_valid_o,
  input  logic  out_ready_i,
  output word_t out_data_o
);

  logic  out_valid_q, skid_valid_q;
  word_t out_data_q, skid_data_q;
  logic  out_free, push;

  assign in_ready_o  = !skid_valid_q;
  assign out_valid_o = out_valid_q;
  assign out_data_o  = out_data_q;

  assign out_free = !out_valid_q || out_ready_i;
  assign push     = in_valid_i && !skid_valid_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      out_valid_q  <= 1'b0;
      skid_valid_q <= 1'b0;
    end else if (out_free) begin
      out_valid_q  <= skid_valid_q || in_valid_i;
      skid_valid_q <= 1'b0;
    end else if (push) begin
      skid_valid_q <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (out_free) begin
      if (skid_valid_q) out_data_q <= skid_data_q;
      else if (in_valid_i) out_data_q <= in_data_i;
    end
    if (push && !out_free) skid_data_q <= in_data_i;
  end

endmodule
