// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// A row of the DPE array as kt_dpe_row, with one multiplier and one adder between registers: products are added in
// chains of Chain taps, a tap a cycle, then the chains' sums all at once. So activations, loads and swaps of tap i come
// i % Chain cycles after those of tap 0 (bit k of load_i and swap_i: of taps i % Chain == k), extra_i and two_i come
// Chain cycles after them, and the sum is there Chain cycles later than kt_dpe_row's. FPGA families whose multipliers
// add make a chain of those alone.
module kt_dpe_row_pipelined #(
  parameter int unsigned Taps      = 72,
  parameter int unsigned Chain     = 8,  // divides Taps; with TwoPixels four ninths of them, too
  parameter bit          TwoPixels = 0
) (
  input  logic               clk_i,
  input  logic signed [7:0]  act_i [Taps],
  input  logic [Chain-1:0]   swap_i,
  input  logic [Chain-1:0]   load_i,
  input  logic signed [7:0]  weight_i [Taps],
  input  logic signed [31:0] extra_i,
  /* verilator lint_off UNUSEDSIGNAL */  // unused without TwoPixels
  input  logic               two_i,
  /* verilator lint_on UNUSEDSIGNAL */
  output logic signed [31:0] sum_o,
  output logic signed [31:0] second_o  // the second pixel's, with two_i only
);

  localparam int unsigned Chains = Taps / Chain;
  localparam int unsigned SumW   = 16 + $clog2(Chain);

  if (Taps % Chain != 0 || (TwoPixels && (Taps / 9 * 4) % Chain != 0)) begin : gen_check_chain
    $error("Chain must divide Taps, with TwoPixels four ninths of them, too");
  end

  logic signed [SumW-1:0] chain_sum[Chains];

  for (genvar c = 0; c < int'(Chains); c++) begin : gen_chain
    for (genvar k = 0; k < int'(Chain); k++) begin : gen_tap
      localparam int unsigned I = c * Chain + k;
      logic signed [7:0]      shadow_q, weight_q;
      logic signed [15:0]     product;
      logic signed [SumW-1:0] sum_q;
      assign product = 16'(act_i[I]) * 16'(weight_q);
      always_ff @(posedge clk_i) begin
        if (load_i[k]) shadow_q <= weight_i[I];
        if (swap_i[k]) weight_q <= shadow_q;
      end
      if (k == 0) begin : gen_head
        always_ff @(posedge clk_i) sum_q <= SumW'(product);
      end else begin : gen_next
        always_ff @(posedge clk_i) sum_q <= gen_tap[k-1].sum_q + SumW'(product);
      end
    end
    assign chain_sum[c] = gen_tap[Chain-1].sum_q;
  end

  // the chains' sums: of the second pixel those from the fourth ninth of the taps on, as many as before it
  localparam int unsigned Half  = TwoPixels ? Taps / 9 * 4 / Chain : Chains;
  localparam int unsigned Upper = TwoPixels ? 2 * Half : Chains;
  logic signed [31:0] first, second;
  always_comb begin
    first  = extra_i;
    second = '0;
    for (int unsigned c = 0; c < Half; c++) first = first + 32'(chain_sum[c]);
    for (int unsigned c = Half; c < Upper; c++) second = second + 32'(chain_sum[c]);
    for (int unsigned c = Upper; c < Chains; c++) first = first + 32'(chain_sum[c]);
  end

  if (TwoPixels) begin : gen_two
    always_ff @(posedge clk_i) begin
      sum_o <= first + (second & ~{32{two_i}});
      if (two_i) second_o <= second;
    end
  end else begin : gen_one
    always_ff @(posedge clk_i) sum_o <= first;
    assign second_o = second;  // zero
  end

endmodule
