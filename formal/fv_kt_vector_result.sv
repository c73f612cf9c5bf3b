// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

`include "fv.svh"
// Lanes behind the vector engine's window, up to the requantiser: of the steps from a window's first to its last the sum, or the largest;
// what a kernel tile comes to is kept and is what its place's next one begins with; a result goes to the requantiser with the
// parameters that were loaded last for its lane before the swap, or an average's own. Shadow registers may be loaded at any time.
//
// One lane and one place, picked at power-up, are followed. The sequencer's promises are assumed (fv_kt_vector_seq): a place is read
// three steps after it was kept, or later (m_apart); a window's steps are of one kind (m_kind). The largest is of cells (m_cell), and
// what is kept has 24 bits (m_range: 81 products of 8 by 9 bits).
module fv_kt_vector_result
  import kt_cmd_pkg::*;
  import kt_pkg::*;
  import kt_vector_pkg::*;
#(
  parameter int unsigned Cp = 1,
  localparam int unsigned Lanes = 3 * Cp,
  localparam int unsigned LaneW = $clog2(Lanes)
) (
  input logic               clk_i,
  input logic               rst_ni,
  input vec_token_t         before_i,
  input logic signed [31:0] step_i[Lanes],
  input logic               lane_we_i,
  input logic [LaneW-1:0]   lane_i,
  input logic               all_we_i,
  input logic               average_i,
  input requant_params_t    word_i,
  input out_quant_t         out_quant_i,
  input logic [LaneW-1:0]   pick_lane_i,
  input logic [SumAw-1:0]   pick_place_i
);
  vec_token_t token_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) token_q <= '0;
    else token_q <= before_i;
  end

  logic            valid;
  logic [Cp*8-1:0] word[3];
  kt_vector_result #(
    .Cp(Cp)
  ) dut (
    .clk_i,
    .rst_ni,
    .before_i,
    .token_i(token_q),
    .step_i,
    .lane_we_i,
    .lane_i,
    .all_we_i,
    .average_i,
    .word_i,
    .out_quant_i,
    .valid_o(valid),
    .word_o (word)
  );
  `include "fv_reset.svh"

  logic [LaneW-1:0] lane_q;
  logic [SumAw-1:0] place_q;
  always_ff @(posedge clk_i) begin
    if (!past_ok_q) begin
      lane_q  <= pick_lane_i;
      place_q <= pick_place_i;
    end
  end
  `FV_ASSUME(m_lane, (!past_ok_q || 32'(lane_q) < Lanes) && 32'(lane_i) < Lanes)

  // ---- what the steps come to
  logic               known_q, kept_known_q;  // a window or place that was followed from its beginning
  logic signed [31:0] total_q, kept_q, total;
  kind_e              kind_q, kept_kind_q;
  logic [1:0]         keeps_q;  // the picked place, so many steps ago
  logic               keeps, adds, begins, known;
  wire signed [31:0]  step = step_i[lane_q];
  assign keeps  = token_q.valid && token_q.keep && token_q.place == place_q;
  assign adds   = token_q.add_kept && token_q.place == place_q;
  assign begins = token_q.first && !token_q.add_kept;
  assign known  = begins || (token_q.add_kept ? adds && kept_known_q : known_q);
  always_comb begin
    automatic logic signed [31:0] so_far = adds ? kept_q : total_q;
    if (begins) total = step;
    else if (token_q.kind == KindMaximum) total = (step > so_far) ? step : so_far;
    else total = so_far + step;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      known_q      <= 1'b0;
      kept_known_q <= 1'b0;
      keeps_q      <= '0;
    end else begin
      keeps_q <= {keeps_q[0], keeps};
      if (token_q.valid) known_q <= known;
      if (keeps) kept_known_q <= known;
    end
  end
  always_ff @(posedge clk_i) begin
    if (token_q.valid) begin
      total_q <= total;
      kind_q  <= token_q.kind;
    end
    if (keeps) begin
      kept_q      <= total;
      kept_kind_q <= token_q.kind;
    end
  end

  function automatic logic in_bits(logic signed [31:0] v, int unsigned bits);
    return v >= -(32'sd1 <<< (bits - 1)) && v < (32'sd1 <<< (bits - 1));
  endfunction
  `FV_ASSUME(m_token, token_q.valid || !(token_q.keep || token_q.add_kept || token_q.last))
  `FV_ASSUME(m_apart, !adds || keeps_q == '0)
  `FV_ASSUME(m_kind, !(token_q.valid && known && !begins) || token_q.kind == (adds ? kept_kind_q : kind_q))
  `FV_ASSUME(m_cell, !(token_q.valid && token_q.kind == KindMaximum) || in_bits(step, 8))
  `FV_ASSUME(m_range, !(keeps && known) || in_bits(total, SumBits))

  logic last_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) last_q <= 1'b0;
    else last_q <= token_q.last;
  end
  `FV_ASSERT(a_total, !known_q || dut.acc_q[lane_q] == total_q)
  `FV_ASSERT(a_last, dut.last_q == last_q)
  // what the requantiser makes of it (fv_kt_requant) leaves in the lane's byte
  `FV_ASSERT(a_word, !valid || word[32'(lane_q)/Cp][8*(32'(lane_q)%Cp)+:8] == dut.data[lane_q])

  // a sum on its way into the memory, there, and read a cycle ago
  logic                      read_q;
  wire [SumBits-1:0]         kept = dut.kept[SumBits*lane_q+:SumBits];
  wire [SumBits*Lanes-1:0]   held = dut.gen_kept.u_kept.mem[place_q];
  always_ff @(posedge clk_i) read_q <= before_i.add_kept && before_i.place == place_q;
  `FV_ASSERT(i_cell, (!(known_q && kind_q == KindMaximum) || in_bits(total_q, 8)) &&
             (!(kept_known_q && kept_kind_q == KindMaximum) || in_bits(kept_q, 8)))
  `FV_ASSERT(i_range, !kept_known_q || in_bits(kept_q, SumBits))
  `FV_ASSERT(i_keeps, keeps_q[0] == (dut.gen_kept.keep_q && dut.gen_kept.place_q == place_q) && (!(keeps_q[0] && kept_known_q) ||
             (known_q && total_q == kept_q)))
  `FV_ASSERT(i_held, !(kept_known_q && !keeps_q[0]) || held[SumBits*lane_q+:SumBits] == kept_q[SumBits-1:0])
  `FV_ASSERT(i_read, !(past_ok_q && adds) || read_q)
  `FV_ASSERT(i_kept, !(past_ok_q && read_q && kept_known_q && keeps_q == '0) || kept == kept_q[SumBits-1:0])

  // ---- parameters of the lane: those that come next, those that are current
  requant_params_t next_q, params_q;
  out_quant_t      quant_q;
  logic            next_known_q, params_known_q, quant_known_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      next_known_q   <= 1'b0;
      params_known_q <= 1'b0;
      quant_known_q  <= 1'b0;
    end else begin
      if (all_we_i || (lane_we_i && lane_i == lane_q)) next_known_q <= 1'b1;
      if (average_i) params_known_q <= 1'b1;
      else if (token_q.swap) params_known_q <= next_known_q;
      if (token_q.swap) quant_known_q <= 1'b1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (all_we_i || (lane_we_i && lane_i == lane_q)) next_q <= word_i;
    if (average_i) params_q <= word_i;
    else if (token_q.swap) params_q <= next_q;
    if (token_q.swap) quant_q <= out_quant_i;
  end
  `FV_ASSERT(a_params, !params_known_q || {dut.shift_q[lane_q], dut.mult_q[lane_q], dut.bias_q[lane_q]} == params_q)
  `FV_ASSERT(a_quant, !quant_known_q || (dut.zero_q[lane_q] == quant_q.zero && dut.low_q[lane_q] == quant_q.low &&
             dut.high_q[lane_q] == quant_q.high && dut.rule_q[lane_q] == quant_q.rule && dut.float_q == (quant_q.rule == RuleFloat)))
  `FV_ASSERT(i_next, !next_known_q || {dut.next_shift_q[lane_q], dut.next_mult_q[lane_q], dut.next_bias_q[lane_q]} == next_q)

  `FV_COVER(c_kept, known_q && last_q && params_known_q && total_q == -32'sd100000 && kept_known_q && kept_q == -32'sd99990)
  `FV_COVER(c_largest, known_q && last_q && kind_q == KindMaximum && total_q == -32'sd7 && kept_known_q && kept_q == -32'sd7)
endmodule
