// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Two rows of a stage as kt_dpe_row_pipelined, with one multiplier for both products of a tap: it takes the weights of
// both side by side (pair_weight_t), the upper row's Shift bits above the lower one's. So a chain carries high * 2^Shift
// + low, the sums of the upper and the lower row. The low sum is longer than Shift bits: what it carries into the high
// one is known from the high sum's last bits, which a few LUTs a tap add up beside the chain. Exact for all operands.
//
// MultiplierW: bits of the multipliers' wider factor, 25 in a DSP48E1, 27 in a DSP48E2.
module kt_dpe_pair
  import kt_array_pkg::*;
#(
  parameter int unsigned Taps        = 72,
  parameter int unsigned Chain       = 8,  // divides Taps; with TwoPixels four ninths of them, too
  parameter bit          TwoPixels   = 0,
  parameter int unsigned MultiplierW = 25
) (
  input  logic               clk_i,
  input  logic signed [7:0]  act_i [Taps],
  input  logic [Chain-1:0]   swap_i,
  input  logic [Chain-1:0]   load_i,
  input  pair_weight_t       weight_i [Taps],
  input  logic signed [31:0] extra_i,
  /* verilator lint_off UNUSEDSIGNAL */  // unused without TwoPixels
  input  logic               two_i,
  /* verilator lint_on UNUSEDSIGNAL */
  output logic signed [31:0] sum_o [2],
  output logic signed [31:0] second_o [2]  // the second pixel's, with two_i only
);

  localparam int unsigned Chains = Taps / Chain;
  localparam int unsigned SumW   = 16 + $clog2(Chain);
  localparam int unsigned Shift  = MultiplierW - 9;  // a product of the upper weight has nine bits more
  // A low sum has Carry bits beyond Shift. A chain begins with half of what they hold, less one: no low sum is negative.
  localparam int unsigned Carry  = pair_carry(Chain, Shift);
  localparam int unsigned LowW   = Shift + Carry;
  localparam int unsigned PairW  = Shift + SumW;
  localparam logic signed [PairW-1:0] Offset = PairW'((64'd1 << (LowW - 1)) - 64'd1);

  if (Taps % Chain != 0 || (TwoPixels && (Taps / 9 * 4) % Chain != 0)) begin : gen_check_chain
    $error("Chain must divide Taps, with TwoPixels four ninths of them, too");
  end
  if (MultiplierW < 18 || Carry > $bits(weight_i[0].last)) begin : gen_check_width
    $error("MultiplierW is too small for chains that long");
  end

  logic signed [SumW-1:0] low[Chains], high[Chains];  // low: less one

  for (genvar c = 0; c < int'(Chains); c++) begin : gen_chain
    for (genvar k = 0; k < int'(Chain); k++) begin : gen_tap
      localparam int unsigned I = c * Chain + k;
      // No bit more than k + 1 products have: yosys loses an extended sign that it takes into a DSP block.
      localparam int unsigned Width = (MultiplierW + 9 + k < PairW) ? MultiplierW + 9 + k : PairW;
      /* verilator lint_off UNUSEDSIGNAL */  // of the last bits those that are carried into
      pair_weight_t                  shadow_q;
      /* verilator lint_on UNUSEDSIGNAL */
      logic signed [MultiplierW-1:0] both_q;
      logic signed [PairW-1:0]       previous;
      logic signed [Width-1:0]       sum_q;
      always_ff @(posedge clk_i) begin
        if (load_i[k]) shadow_q <= weight_i[I];
        if (swap_i[k]) both_q <= {shadow_q.high, {(Shift - 8){shadow_q.low[7]}}, shadow_q.low};
        sum_q <= Width'(previous + PairW'(act_i[I]) * PairW'(both_q));
      end
      if (k == 0) begin : gen_head
        assign previous = Offset;
      end else begin : gen_next
        assign previous = PairW'(gen_tap[k-1].sum_q);
      end
    end

    logic signed [SumW-1:0] upper;
    logic [LowW-1:0]        lower;
    assign upper  = gen_tap[Chain-1].sum_q[PairW-1:Shift];
    assign low[c] = SumW'(signed'(lower ^ (LowW'(1) << (LowW - 1))));
    if (Carry == 0) begin : gen_apart
      assign lower   = gen_tap[Chain-1].sum_q[Shift-1:0];
      assign high[c] = upper;
    end else begin : gen_carry
      // the last bits of the upper row's sum, and what the lower one's carried into it
      logic [Carry-1:0]       last, carry;
      /* verilator lint_off UNUSEDSIGNAL */  // the last bits are `carry`
      logic signed [SumW-1:0] borrowed;  // one chain of carries: a comparison of its own would stand before it
      /* verilator lint_on UNUSEDSIGNAL */
      for (genvar k = 0; k < int'(Chain); k++) begin : gen_tap
        localparam int unsigned I = c * Chain + k;
        logic [Carry-1:0] weight_q, previous, sum_q;
        always_ff @(posedge clk_i) begin
          if (swap_i[k]) weight_q <= gen_chain[c].gen_tap[k].shadow_q.last[Carry-1:0];
          sum_q <= previous + act_i[I][Carry-1:0] * weight_q;
        end
        if (k == 0) begin : gen_head
          assign previous = '0;
        end else begin : gen_next
          assign previous = gen_tap[k-1].sum_q;
        end
      end
      assign last     = gen_tap[Chain-1].sum_q;
      assign carry    = upper[Carry-1:0] - last;
      assign lower    = {carry, gen_chain[c].gen_tap[Chain-1].sum_q[Shift-1:0]};
      assign borrowed = upper - SumW'(last);
      assign high[c]  = {borrowed[SumW-1:Carry], last};
    end
  end

  // the chains' sums, as in kt_dpe_row_pipelined
  localparam int unsigned Half = TwoPixels ? Taps / 9 * 4 / Chain : Chains;
  localparam int unsigned Upto = TwoPixels ? 2 * Half : Chains;
  for (genvar r = 0; r < 2; r++) begin : gen_row
    logic signed [31:0] first, second, part;
    always_comb begin
      first  = extra_i;
      second = '0;
      for (int unsigned c = 0; c < Chains; c++) begin
        part = (r == 0) ? 32'(low[c]) + 32'sd1 : 32'(high[c]);
        if (c >= Half && c < Upto) second = second + part;
        else first = first + part;
      end
    end
    if (TwoPixels) begin : gen_two
      always_ff @(posedge clk_i) begin
        sum_o[r] <= first + (second & ~{32{two_i}});
        if (two_i) second_o[r] <= second;
      end
    end else begin : gen_one
      always_ff @(posedge clk_i) sum_o[r] <= first;
      assign second_o[r] = second;  // zero
    end
  end

endmodule
