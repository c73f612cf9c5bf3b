// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// One column of the window: three cells a lane, their weights, and what they add up to (or their maximum).
//   window   the column is taken from the line buffer, or filled where it lies outside the map
//   product  three products a lane, one cycle later; the sum is registered
// Weights are loaded into shadow registers, with their zero point; `swap_weights` makes them current together with the cells of
// its step. The lanes multiply the weight less the zero point, nine bits.
module kt_vector_column
  import kt_vector_pkg::*;
#(
  parameter int unsigned Cp     = 8,
  parameter int unsigned Column = 0,
  localparam int unsigned Lanes  = 3 * Cp,
  localparam int unsigned LanesP = array_size(Lanes),
  localparam int unsigned Cells  = array_size(9 * Cp)
) (
  input  logic               clk_i,
  // every stage uses its own fields of the token
  /* verilator lint_off UNUSEDSIGNAL */
  input  vec_token_t         window_i,
  input  vec_token_t         product_i,
  input  logic signed [7:0]  column0_i [Cells],
  input  logic signed [7:0]  column1_i [Cells],
  input  logic signed [7:0]  column2_i [Cells],
  input  logic signed [7:0]  column3_i [Cells],
  /* verilator lint_on UNUSEDSIGNAL */
  // weights
  input  logic               shadow_we_i,
  input  logic               row_we_i,       // straight into the current ones
  input  logic signed [7:0]  weight_i  [Cells],
  input  logic [7:0]         zero_i,
  // product stage and what comes out of it
  output logic signed [7:0]  cell_o    [Cells],
  output logic signed [31:0] sum_o     [LanesP]
);

  logic              run;
  logic [1:0]        from;
  logic signed [7:0] cell_d[Cells], cell_q[Cells];

  assign run  = window_i.valid && window_i.columns[Column];
  assign from = window_i.left + 2'(Column);

  always_comb begin
    unique case (from)
      2'd0:    cell_d = column0_i;
      2'd1:    cell_d = column1_i;
      2'd2:    cell_d = column2_i;
      default: cell_d = column3_i;
    endcase
    if (run && window_i.off_map[Column]) begin
      for (int unsigned r = 0; r < 3; r++) begin
        for (int unsigned l = 0; l < Lanes; l++) begin
          cell_d[r*Lanes+l] = window_i.rows[r] ? window_i.pad_value : neutral_value(window_i.kind);
        end
      end
    end
  end
  always_ff @(posedge clk_i) if (run) cell_q <= cell_d;

  logic signed [7:0] weight_q[Cells], shadow_q[Cells];
  logic [7:0]        zero_q, shadow_zero_q;
  always_ff @(posedge clk_i) begin
    if (shadow_we_i) begin
      shadow_q      <= weight_i;
      shadow_zero_q <= zero_i;
    end
    if (row_we_i) begin
      weight_q <= weight_i;
      zero_q   <= zero_i;
    end else if (window_i.swap && (window_i.kind == KindAverage)) begin
      weight_q <= '{default: 8'sd1};  // an average is a sum
      zero_q   <= '0;
    end else if (window_i.swap_weights) begin
      weight_q <= shadow_q;
      zero_q   <= shadow_zero_q;
    end
  end

`ifdef KT_FAST_SIM
  // Sign extension written as (u ^ 80h) - 80h: the C++ compiler sees plain byte arithmetic and vectorises it well. What
  // is subtracted contains the zero point of the weights.
  logic [31:0] offset;
  assign offset = 32'h80 + 32'(signed'(zero_q));
`else
  // 8 x 9 bits, as multipliers have them
  function automatic logic signed [31:0] product(logic signed [7:0] value, logic signed [7:0] weight);
    automatic logic signed [8:0] factor = 9'(weight) - 9'(signed'(zero_q));
    return 32'(value) * 32'(factor);
  endfunction
`endif
  logic               work;
  logic signed [31:0] sum_q[LanesP];
  assign work = product_i.valid && product_i.columns[Column] && (product_i.kind != KindAdd);
  always_ff @(posedge clk_i) begin
    if (work) begin
      automatic logic signed [31:0] sum[LanesP] = '{default: '0};
      if (product_i.kind == KindMaximum) begin
        for (int unsigned l = 0; l < Lanes; l++) begin
          automatic logic signed [7:0] m = (cell_q[l] > cell_q[Lanes+l]) ? cell_q[l] : cell_q[Lanes+l];
          sum[l] = 32'((m > cell_q[2*Lanes+l]) ? m : cell_q[2*Lanes+l]);
        end
      end else begin
        for (int unsigned l = 0; l < Lanes; l++) begin
`ifdef KT_FAST_SIM
          sum[l] = ((32'(unsigned'(cell_q[l])) ^ 32'h80) - 32'h80)
                   * ((32'(unsigned'(weight_q[l])) ^ 32'h80) - offset)
                 + ((32'(unsigned'(cell_q[Lanes+l])) ^ 32'h80) - 32'h80)
                   * ((32'(unsigned'(weight_q[Lanes+l])) ^ 32'h80) - offset)
                 + ((32'(unsigned'(cell_q[2*Lanes+l])) ^ 32'h80) - 32'h80)
                   * ((32'(unsigned'(weight_q[2*Lanes+l])) ^ 32'h80) - offset);
`else
          sum[l] = product(cell_q[l], weight_q[l]) + product(cell_q[Lanes+l], weight_q[Lanes+l])
                 + product(cell_q[2*Lanes+l], weight_q[2*Lanes+l]);
`endif
        end
      end
      sum_q <= sum;
    end
  end

  assign sum_o  = sum_q;
  assign cell_o = cell_q;

endmodule
