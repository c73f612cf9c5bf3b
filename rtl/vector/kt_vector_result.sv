// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The lanes of the vector engine behind the window: accumulator or maximum, requantiser, and its parameters: shadow
// registers filled by kt_vector_loader, current ones that change with `swap`. An average's word comes with its result
// and goes to all lanes. What the kernel tiles of large windows come to is kept in a memory until the last one; reading
// and writing a place are three cycles apart at least (MinColumns).
module kt_vector_result
  import kt_cmd_pkg::*;
  import kt_pkg::*;
  import kt_vector_pkg::*;
#(
  parameter int unsigned Cp      = 8,
  parameter bit          LargeWindows   = 1,  // windows in several kernel tiles
  parameter bit          Float   = 1,  // rule `float`
  parameter bit          Average = 1,  // rule `average`
  localparam int unsigned Lanes  = 3 * Cp,
  localparam int unsigned LaneW  = $clog2(Lanes),
  localparam int unsigned LanesP = array_size(Lanes)
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  // step
  // the last stages use few fields of the token
  /* verilator lint_off UNUSEDSIGNAL */
  input  vec_token_t         before_i,  // a cycle ahead
  input  vec_token_t         token_i,
  /* verilator lint_on UNUSEDSIGNAL */
  input  logic signed [31:0] step_i [LanesP],
  // parameters: a ZSB word for the shadow of one lane or of all, or for all current lanes (average)
  input  logic               lane_we_i,
  input  logic [LaneW-1:0]   lane_i,
  input  logic               all_we_i,
  input  logic               average_i,
  input  requant_params_t    word_i,
  input  out_quant_t         out_quant_i,
  // result, seven cycles after its last step
  output logic               valid_o,
  output logic [Cp*8-1:0]    word_o [3]
);

  // ---- accumulator
  logic signed [31:0] acc_q[LanesP];
  logic               last_q;
  logic               add_kept;
  logic [SumBits*Lanes-1:0] kept;  // by the kernel tiles before
  assign add_kept = LargeWindows && token_i.add_kept;
  always_ff @(posedge clk_i) begin
    if (token_i.valid) begin
      automatic logic signed [31:0] acc[LanesP] = step_i;
      if (!token_i.first || add_kept) begin
        automatic logic signed [31:0] so_far[LanesP] = acc_q;
        if (add_kept) for (int unsigned l = 0; l < Lanes; l++) so_far[l] = 32'(signed'(kept[SumBits*l+:SumBits]));
        if (token_i.kind == KindMaximum) begin
          for (int unsigned l = 0; l < Lanes; l++) begin
            acc[l] = (as_cell(step_i[l]) > as_cell(so_far[l])) ? step_i[l] : so_far[l];
          end
        end else begin
          for (int unsigned l = 0; l < Lanes; l++) acc[l] = so_far[l] + step_i[l];
        end
      end
      acc_q <= acc;
    end
  end

  if (LargeWindows) begin : gen_kept
    logic                     keep_q;
    logic [SumAw-1:0]         place_q;
    logic [SumBits*Lanes-1:0] sums;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) keep_q <= 1'b0;
      else keep_q <= token_i.keep;
    end
    always_ff @(posedge clk_i) place_q <= token_i.place;
    always_comb begin
      sums = '0;
      if (keep_q) for (int unsigned l = 0; l < Lanes; l++) sums[SumBits*l+:SumBits] = acc_q[l][SumBits-1:0];
    end
    kt_ram_1r1w #(
      .Width(SumBits * Lanes),
      .Depth(SumColumns)
    ) u_kept (
      .clk_i,
      .wr_en_i  (keep_q),
      .wr_addr_i(place_q),
      .wr_data_i(sums),
      .rd_en_i  (before_i.add_kept),
      .rd_addr_i(before_i.place),
      .rd_data_o(kept)
    );
  end else begin : gen_single
    assign kept = '0;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) last_q <= 1'b0;
    else last_q <= token_i.last;
  end

  // ---- parameters
  logic signed [31:0] bias_q[LanesP], mult_q[LanesP], next_bias_q[LanesP], next_mult_q[LanesP];
  logic signed [7:0]  shift_q[LanesP], next_shift_q[LanesP];
  logic signed [7:0]  zero_q[LanesP], low_q[LanesP], high_q[LanesP];
  logic [1:0]         rule_q[LanesP];
  logic               float_q;

  always_ff @(posedge clk_i) begin
    if (all_we_i) begin
      next_bias_q  <= '{default: word_i.bias};
      next_mult_q  <= '{default: word_i.mult};
      next_shift_q <= '{default: word_i.shift};
    end else if (lane_we_i) begin
      next_bias_q[lane_i]  <= word_i.bias;
      next_mult_q[lane_i]  <= word_i.mult;
      next_shift_q[lane_i] <= word_i.shift;
    end
    if (average_i) begin
      bias_q  <= '{default: word_i.bias};
      mult_q  <= '{default: word_i.mult};
      shift_q <= '{default: word_i.shift};
    end else if (token_i.swap) begin
      bias_q  <= next_bias_q;
      mult_q  <= next_mult_q;
      shift_q <= next_shift_q;
    end
    if (token_i.swap) begin
      zero_q  <= '{default: out_quant_i.zero};
      low_q   <= '{default: out_quant_i.low};
      high_q  <= '{default: out_quant_i.high};
      rule_q  <= '{default: out_quant_i.rule};
      float_q <= out_quant_i.rule == RuleFloat;
    end
  end

  // ---- requantise
  // all lanes alike; fast simulators have more, see array_size
  /* verilator lint_off UNUSEDSIGNAL */
  logic signed [7:0] data[LanesP];
  /* verilator lint_on UNUSEDSIGNAL */

  kt_requant #(
    .Lanes  (LanesP),
    .Waves  (1),
    .Average(Average),
    .Float  (Float)
  ) u_requant (
    .clk_i,
    .rst_ni,
    .valid_i(last_q),
    .acc_i  (acc_q),
    .bias_i (bias_q),
    .mult_i (mult_q),
    .shift_i(shift_q),
    .zero_i (zero_q),
    .low_i  (low_q),
    .high_i (high_q),
    .rule_i (rule_q),
    .float_i(float_q),
    .valid_o,
    .data_o (data)
  );

  always_comb begin
    word_o = '{default: '0};
    if (valid_o) begin
      for (int unsigned g = 0; g < 3; g++) begin
        for (int unsigned b = 0; b < Cp; b++) word_o[g][8*b+:8] = data[g*Cp+b];
      end
    end
  end

endmodule
