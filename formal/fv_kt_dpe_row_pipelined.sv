// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

`include "fv.svh"
// A pipelined row of the array is kt_dpe_row, Chain cycles later: activations, loads and swaps of tap i delayed by i % Chain,
// what belongs to the sums by Chain. All operands, loads and swaps are free. A prover cannot multiply, so a product is both
// factors side by side here (fv_product.v), and every one of kt_dpe_row's is followed until the chain adds it.
module fv_kt_dpe_row_pipelined #(
  parameter int unsigned Taps      = 6,
  parameter int unsigned Chain     = 3,
  parameter bit          TwoPixels = 0,
  localparam int unsigned Chains = Taps / Chain
) (
  input logic               clk_i,
  input logic               rst_ni,
  input logic signed [7:0]  act_i[Taps],
  input logic               swap_i,
  input logic               load_i,
  input logic signed [7:0]  weight_i[Taps],
  input logic signed [31:0] extra_i,
  input logic               two_i
);
  `include "fv_reset.svh"

  logic signed [31:0] ref_sum, ref_second, sum, second;  // ref: of kt_dpe_row
  kt_dpe_row #(
    .Taps     (Taps),
    .TwoPixels(TwoPixels)
  ) row (
    .clk_i,
    .act_i,
    .swap_i,
    .load_i,
    .weight_i('{weight_i}),
    .extra_i,
    .two_i,
    .sum_o   (ref_sum),
    .second_o(ref_second)
  );

  // ---- what came in, entry d: d cycles ago; and what the row had then
  logic signed [7:0]  act[Chain+1][Taps], weight[Chain+1][Taps], shadow[Chain+1][Taps], current[Chain+1][Taps];
  logic [Chain:0]     swap, load, two;
  logic signed [31:0] extra[Chain+1];
  logic signed [31:0] product[Chain+1][Taps];      // of tap i
  logic signed [31:0] partial[Chain+1][Taps];      // and of those before it in its chain
  logic signed [31:0] late_sum[Chain+1], late_second[Chain+1];
  always_comb begin
    act[0]     = act_i;
    weight[0]  = weight_i;
    shadow[0]  = row.shadow_q;
    current[0] = row.weight_q;
    extra[0]   = extra_i;
    late_sum[0]    = ref_sum;
    late_second[0] = ref_second;
    for (int unsigned i = 0; i < Taps; i++) begin
      product[0][i] = row.product(act_i[i], row.weight_q[i]);
      partial[0][i] = (i % Chain == 0) ? product[0][i] : partial[0][i-1] + product[0][i];
    end
  end
  assign swap[0] = swap_i;
  assign load[0] = load_i;
  assign two[0]  = two_i;
  for (genvar d = 1; d <= int'(Chain); d++) begin : g_ago
    always_ff @(posedge clk_i) begin
      act[d]         <= act[d-1];
      weight[d]      <= weight[d-1];
      shadow[d]      <= shadow[d-1];
      current[d]     <= current[d-1];
      swap[d]        <= swap[d-1];
      load[d]        <= load[d-1];
      two[d]         <= two[d-1];
      extra[d]       <= extra[d-1];
      product[d]     <= product[d-1];
      partial[d]     <= partial[d-1];
      late_sum[d]    <= late_sum[d-1];
      late_second[d] <= late_second[d-1];
    end
  end

  logic signed [7:0] skewed_act[Taps], skewed_weight[Taps];
  always_comb begin
    for (int unsigned i = 0; i < Taps; i++) begin
      skewed_act[i]    = act[i%Chain][i];
      skewed_weight[i] = weight[i%Chain][i];
    end
  end
  kt_dpe_row_pipelined #(
    .Taps     (Taps),
    .Chain    (Chain),
    .TwoPixels(TwoPixels)
  ) dut (
    .clk_i,
    .act_i   (skewed_act),
    .swap_i  (swap[Chain-1:0]),
    .load_i  (load[Chain-1:0]),
    .weight_i(skewed_weight),
    .extra_i (extra[Chain]),
    .two_i   (two[Chain]),
    .sum_o   (sum),
    .second_o(second)
  );

  // ---- rows begin with any weights: known are those that came with a load and were swapped in
  logic loaded_q, known_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      loaded_q <= 1'b0;
      known_q  <= 1'b0;
    end else begin
      loaded_q <= loaded_q || load_i;
      known_q  <= known_q || (loaded_q && swap_i);
    end
  end
  logic [Chain+1:0] loaded, known;  // d cycles ago
  assign loaded[0] = loaded_q;
  assign known[0]  = known_q;
  for (genvar d = 1; d <= int'(Chain) + 1; d++) begin : g_known
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        loaded[d] <= 1'b0;
        known[d]  <= 1'b0;
      end else begin
        loaded[d] <= loaded[d-1];
        known[d]  <= known[d-1];
      end
    end
  end

  // a second pixel's sum is kept while there is none: one came with known weights, d cycles ago
  logic [Chain:0] seen;
  logic           seen_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) seen_q <= 1'b0;
    else seen_q <= seen_q || (known_q && two_i);
  end
  assign seen[0] = seen_q;
  for (genvar d = 1; d <= int'(Chain); d++) begin : g_seen
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) seen[d] <= 1'b0;
      else seen[d] <= seen[d-1];
    end
  end

  `FV_ASSERT(a_sum, !known[Chain+1] || sum == late_sum[Chain])
  if (TwoPixels) begin : g_two
    `FV_ASSERT(a_second, !seen[Chain] || second == late_second[Chain])
  end

  // ---- the row's sums are those of its chains
  localparam int unsigned Half  = TwoPixels ? Taps / 9 * 4 / Chain : Chains;
  localparam int unsigned Upper = TwoPixels ? 2 * Half : Chains;
  logic [31:0] first_want[Chain+1], second_want[Chain+1], sum_want[Chain+1];
  always_comb begin
    for (int unsigned d = 0; d <= Chain; d++) begin
      first_want[d]  = extra[d];
      second_want[d] = '0;
      for (int unsigned c = 0; c < Half; c++) first_want[d] = first_want[d] + partial[d][c*Chain+Chain-1];
      for (int unsigned c = Half; c < Upper; c++) second_want[d] = second_want[d] + partial[d][c*Chain+Chain-1];
      for (int unsigned c = Upper; c < Chains; c++) first_want[d] = first_want[d] + partial[d][c*Chain+Chain-1];
      sum_want[d] = first_want[d] + (second_want[d] & ~{32{TwoPixels && two[d]}});
    end
  end
  if (TwoPixels) begin : g_row_two
    `FV_ASSERT(i_row, row.gen_two.first == first_want[0] && row.gen_two.second == second_want[0])
  end else begin : g_row
    `FV_ASSERT(i_row, row.gen_one.sum == sum_want[0])
  end
  for (genvar d = 1; d <= int'(Chain); d++) begin : g_late
    `FV_ASSERT(i_late, !known[d] || late_sum[d-1] == sum_want[d])
    if (TwoPixels) begin : g_second
      `FV_ASSERT(i_late_second, !(known[d] && two[d]) || (seen[d-1] && late_second[d-1] == second_want[d]))
      `FV_ASSERT(i_seen, !seen[d-1] || (known[d] && (seen[d] || two[d])))
      `FV_ASSERT(i_kept, !seen[d] || two[d] || late_second[d-1] == late_second[d])
    end
  end

  // ---- invariants
  `FV_ASSERT(i_order, (known | loaded) == loaded)
  for (genvar d = 0; d <= int'(Chain); d++) begin : g_since
    `FV_ASSERT(i_since, (!loaded[d+1] || loaded[d]) && (!known[d+1] || known[d]) && (!known[d] || loaded[d+1]))
    if (d > 0) begin : g_reason
      `FV_ASSERT(i_reason, (!loaded[d-1] || loaded[d] || load[d]) && (!known[d-1] || known[d] || swap[d]))
    end
  end
  for (genvar i = 0; i < int'(Taps); i++) begin : g_tap
    localparam int unsigned K = i % Chain;
    for (genvar d = 1; d <= int'(Chain); d++) begin : g_ago
      `FV_ASSERT(i_shadow, !loaded[d-1] || shadow[d-1][i] == (load[d] ? weight[d][i] : shadow[d][i]))
      `FV_ASSERT(i_current, !known[d-1] || current[d-1][i] == (swap[d] ? shadow[d][i] : current[d][i]))
    end
    for (genvar d = 0; d <= int'(Chain); d++) begin : g_product
      `FV_ASSERT(i_product, !known[d] || product[d][i] == row.product(act[d][i], current[d][i]))
      `FV_ASSERT(i_small, !known[d] || (product[d][i] >= -32768 && product[d][i] <= 32767))
      if (K != 0) begin : g_partial
        `FV_ASSERT(i_partial, !known[d] || partial[d][i] == partial[d][i-1] + product[d][i])
      end else begin : g_first
        `FV_ASSERT(i_first, !known[d] || partial[d][i] == product[d][i])
      end
      `FV_ASSERT(i_bound, !known[d] || (partial[d][i] >= -32768 * 32'(signed'(K + 1)) && partial[d][i] <= 32767 * 32'(signed'(K + 1))))
    end
    `FV_ASSERT(i_same_shadow, !loaded[K] || dut.gen_chain[i/Chain].gen_tap[K].shadow_q == shadow[K][i])
    `FV_ASSERT(i_same_weight, !known[K] || dut.gen_chain[i/Chain].gen_tap[K].weight_q == current[K][i])
    `FV_ASSERT(i_same_sum, !known[K+1] || 32'(dut.gen_chain[i/Chain].gen_tap[K].sum_q) == partial[K+1][i])
  end

  `FV_COVER(c_swap, known[Chain+1] && swap[Chain] && load[1] && sum != '0 && sum != 32'sd1)
  `FV_COVER(c_second, !TwoPixels || (seen[Chain] && second != '0))
endmodule
