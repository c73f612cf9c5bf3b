// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Stages of StageRows DPE rows in a chain, with their output buffers: Kp = Stages * StageRows rows. The rows of a stage
// work on the same activations in the same cycle; stage s works s cycles after stage 0. The control token of each stage
// is one bit of four shift registers. The sum row's correction for the zero point of the weights goes down with the
// activations.
//
// Totals come Chain + 1 cycles later than products need that are added all at once. Pipelined, the rows take Chain of
// these (kt_dpe_row_pipelined): tap i of what comes in is delayed by i % Chain cycles at the head, which all stages
// share, and the control of the sums by Chain; the total behind OB is a register. Else the totals wait at the end: the
// same ports with less to simulate. Where the multipliers are wide enough, pipelined rows share them by two
// (kt_dpe_pair).
module kt_dpe_array
  import kt_array_pkg::*;
#(
  parameter int unsigned Stages    = 8,   // at least 2
  parameter int unsigned StageRows = 4,
  parameter int unsigned Taps      = 72,
  parameter int unsigned ObDepth   = 512,
  parameter bit          SumRow    = 1,
  parameter bit          TwoPixels = 0,
  parameter int unsigned Chain     = 8,  // taps of a chain; 0: products are added at once and nothing waits
  parameter bit          Pipelined = 1,
  parameter int unsigned MultiplierW = 18,  // bits of the multipliers' wider factor; from 25 on one makes two products
  localparam int unsigned Kp       = Stages * StageRows,
  localparam int unsigned ObAw     = $clog2(ObDepth),
  localparam int unsigned StageW   = $clog2(Stages)
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  /* verilator lint_off UNUSEDSIGNAL */  // two: with TwoPixels only
  input  token_t             token_i,
  /* verilator lint_on UNUSEDSIGNAL */
  input  logic [ObAw-1:0]    pixel_i,
  input  logic signed [7:0]  act_i [Taps],
  /* verilator lint_off UNUSEDSIGNAL */  // without a sum row
  input  logic signed [7:0]  weight_zero_i,  // with the activations; 0 where there is no sum row
  /* verilator lint_on UNUSEDSIGNAL */
  // shadow weights, one stage a cycle
  input  logic               load_i,
  input  logic [StageW-1:0]  load_stage_i,
  input  logic signed [7:0]  weight_i [StageRows][Taps],
  // totals of the last pass, stage s s cycles after stage 0
  output logic [Stages-1:0]  valid_o,
  output logic signed [31:0] total_o [Kp],
  // and those of the second pixel, where there are two
  output logic [Stages-1:0]  second_valid_o,
  output logic signed [31:0] second_o [Kp]
);

  if (Stages < 2) begin : gen_check_stages
    $error("the array needs at least two stages");
  end

  localparam bit          Skewed = Pipelined && Chain > 1;
  localparam int unsigned Skews  = Skewed ? Chain : 1;  // different delays of taps
  localparam int unsigned Inside = Skewed ? Chain : 0;  // cycles that the rows take longer
  localparam int unsigned ActW   = (!Skewed && kt_pkg::Rests) ? 16 : 8;  // simulators extend signs once for all rows
  localparam bit          Paired = Skewed && MultiplierW >= 25 && StageRows % 2 == 0;

  // what enters stage 0, tap by tap; loads and swaps of each delay, and of each stage
  logic signed [7:0] act[Taps];
  /* verilator lint_off UNUSEDSIGNAL */  // pairs have their own
  logic signed [7:0] weight[StageRows][Taps];
  /* verilator lint_on UNUSEDSIGNAL */
  logic [Stages-1:0] load[Skews];
  logic [Skews-1:0]  stage_load[Stages], stage_swap[Stages];
  logic [Stages+Skews-2:0] swap;  // entry n: n cycles after the token

  if (Skewed) begin : gen_skew
    for (genvar i = 0; i < int'(Taps); i++) begin : gen_tap
      kt_delay #(
        .Width (8),
        .Cycles(i % Chain)
      ) u_act (
        .clk_i,
        .data_i(act_i[i]),
        .data_o(act[i])
      );
      if (Paired) begin : gen_paired
        pair_weight_t pair[StageRows/2];  // of rows 2 r and 2 r + 1
        for (genvar r = 0; r < int'(StageRows / 2); r++) begin : gen_pair
          kt_delay #(
            .Width ($bits(pair_weight_t)),
            .Cycles(i % Chain)
          ) u_weight (
            .clk_i,
            .data_i(pair_weight(weight_i[2*r][i], weight_i[2*r+1][i])),
            .data_o(pair[r])
          );
        end
      end else begin : gen_single
        for (genvar r = 0; r < int'(StageRows); r++) begin : gen_row
          kt_delay #(
            .Width (8),
            .Cycles(i % Chain)
          ) u_weight (
            .clk_i,
            .data_i(weight_i[r][i]),
            .data_o(weight[r][i])
          );
        end
      end
    end
  end else begin : gen_no_skew
    assign act    = act_i;
    assign weight = weight_i;
  end

  logic [Stages+Skews-3:0] swap_q;
  assign swap    = {swap_q, token_i.swap};
  assign load[0] = Stages'(load_i) << load_stage_i;  // a bit for each stage: decoded once, not compared in every row
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) swap_q <= '0;
    else swap_q <= swap[Stages+Skews-3:0];
  end
  for (genvar k = 1; k < int'(Skews); k++) begin : gen_load
    always_ff @(posedge clk_i) load[k] <= load[k-1];
  end
  for (genvar s = 0; s < int'(Stages); s++) begin : gen_stage_control
    for (genvar k = 0; k < int'(Skews); k++) begin : gen_skew
      assign stage_load[s][k] = load[k][s];
      assign stage_swap[s][k] = swap[s+k];
    end
  end

  // control of the sums, as late as the rows add
  logic            valid, first, last;
  /* verilator lint_off UNUSEDSIGNAL */  // with TwoPixels only
  logic            two;
  /* verilator lint_on UNUSEDSIGNAL */
  logic [ObAw-1:0] pixel;
  if (Skewed) begin : gen_late_token
    logic [Chain-1:0] valid_q;
    kt_delay #(
      .Width (3 + ObAw),
      .Cycles(Chain)
    ) u_token (
      .clk_i,
      .data_i({token_i.first, token_i.last, token_i.two, pixel_i}),
      .data_o({first, last, two, pixel})
    );
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) valid_q <= '0;
      else valid_q <= {valid_q[Chain-2:0], token_i.valid};
    end
    assign valid = valid_q[Chain-1];
  end else begin : gen_token
    assign valid = token_i.valid;
    assign first = token_i.first;
    assign last  = token_i.last;
    assign two   = token_i.two;
    assign pixel = pixel_i;
  end

  // control of the stages: with the activations (act), with the sum (sum)
  logic [Stages-1:0] act_valid_q, act_first_q, act_last_q, act_two_q;
  logic [Stages-1:0] sum_valid_q, sum_first_q, sum_last_q, sum_two_q;
  logic [ObAw-1:0]   act_pixel_q[Stages];
  logic [ObAw-1:0]   sum_pixel_q[Stages];
  logic [ObAw-1:0]   pixel_d[Stages];

  always_comb begin
    pixel_d[0] = pixel;
    for (int s = 1; s < int'(Stages); s++) pixel_d[s] = act_pixel_q[s-1];
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      act_valid_q <= '0;
      sum_valid_q <= '0;
    end else begin
      act_valid_q <= {act_valid_q[Stages-2:0], valid};
      sum_valid_q <= act_valid_q;
    end
  end

  always_ff @(posedge clk_i) begin
    act_first_q <= {act_first_q[Stages-2:0], first};
    act_last_q  <= {act_last_q[Stages-2:0], last};
    act_pixel_q <= pixel_d;
    sum_first_q <= act_first_q;
    sum_last_q  <= act_last_q;
    sum_pixel_q <= act_pixel_q;
  end

  if (TwoPixels) begin : gen_two
    always_ff @(posedge clk_i) begin
      act_two_q <= {act_two_q[Stages-2:0], two};
      sum_two_q <= act_two_q;
    end
  end else begin : gen_one
    assign act_two_q = '0;
    assign sum_two_q = '0;
  end

  logic [Stages-1:0] acc_rd, acc_wr;
  assign acc_rd = act_valid_q & ~act_first_q;
  assign acc_wr = sum_valid_q & ~sum_last_q;

  // what the sum row adds to each row's products
  logic signed [31:0] extra[Stages];
  if (SumRow) begin : gen_sum
    kt_sum_row #(
      .Stages(Stages),
      .Taps  (Taps),
      .Delay (Inside),
      .Group (Skews)
    ) u_sum (
      .clk_i,
      .rst_ni,
      .act_i,
      .zero_i (weight_zero_i),
      .extra_o(extra)
    );
  end else begin : gen_no_sum
    assign extra = '{default: '0};
  end

  // OB: one accumulator per row and pixel of a pass. The old value is read while the row adds its products; a pixel
  // comes back in the next pass, and passes are at least two cycles apart, so no value is read that is still on its
  // way. First pass: the old value is ignored. Last pass: the total is not written, it goes to the requantiser. Two pixels
  // come in last passes only; those before then have three pixels at least, so that the second one is there.
  logic signed [31:0] sum[Kp], second[Kp];
  /* verilator lint_off UNUSEDSIGNAL */  // second_old: with TwoPixels only
  logic [32*StageRows-1:0] old[Stages], second_old[Stages];
  /* verilator lint_on UNUSEDSIGNAL */

  for (genvar s = 0; s < int'(Stages); s++) begin : gen_stage
    logic signed [ActW-1:0] act_q[Taps];
    if (s == 0) begin : gen_head
      always_ff @(posedge clk_i) begin
        automatic logic signed [ActW-1:0] extended[Taps];
        for (int unsigned i = 0; i < Taps; i++) extended[i] = ActW'(act[i]);
        act_q <= extended;
      end
    end else begin : gen_chain
      always_ff @(posedge clk_i) act_q <= gen_stage[s-1].act_q;
    end

    logic [32*StageRows-1:0] new_total;
    for (genvar r = 0; r < int'(StageRows); r++) begin : gen_row
      localparam int unsigned K = s * StageRows + r;
      if (Paired) begin : gen_paired
        if (r % 2 == 0) begin : gen_pair
          pair_weight_t pair[Taps];
          for (genvar i = 0; i < int'(Taps); i++) begin : gen_tap
            assign pair[i] = gen_skew.gen_tap[i].gen_paired.pair[r/2];
          end
          kt_dpe_pair #(
            .Taps       (Taps),
            .Chain      (Chain),
            .TwoPixels  (TwoPixels),
            .MultiplierW(MultiplierW)
          ) u_pair (
            .clk_i,
            .act_i   (act_q),
            .swap_i  (stage_swap[s]),
            .load_i  (stage_load[s]),
            .weight_i(pair),
            .extra_i (extra[s]),
            .two_i   (act_two_q[s]),
            .sum_o   (sum[K:K+1]),
            .second_o(second[K:K+1])
          );
        end
      end else if (Skewed) begin : gen_pipelined
        kt_dpe_row_pipelined #(
          .Taps     (Taps),
          .Chain    (Chain),
          .TwoPixels(TwoPixels)
        ) u_row (
          .clk_i,
          .act_i   (act_q),
          .swap_i  (stage_swap[s]),
          .load_i  (stage_load[s]),
          .weight_i(weight[r]),
          .extra_i (extra[s]),
          .two_i   (act_two_q[s]),
          .sum_o   (sum[K]),
          .second_o(second[K])
        );
      end else begin : gen_at_once
        kt_dpe_row #(
          .Taps     (Taps),
          .ActW     (ActW),
          .TwoPixels(TwoPixels),
          .Rows     (StageRows),
          .Row      (r)
        ) u_row (
          .clk_i,
          .act_i   (act_q),
          .swap_i  (stage_swap[s]),
          .load_i  (stage_load[s]),
          .weight_i(weight),
          .extra_i (extra[s]),
          .two_i   (act_two_q[s]),
          .sum_o   (sum[K]),
          .second_o(second[K])
        );
      end
      assign new_total[32*r+:32] = total[K];
    end

    if (TwoPixels) begin : gen_banks
      // even and odd pixels apart: two neighbours are read at once, one is written
      logic [32*StageRows-1:0] bank_old[2];
      logic                    odd;
      for (genvar b = 0; b < 2; b++) begin : gen_bank
        logic [ObAw-2:0] address;  // of the first pixel of this bank from act_pixel_q on
        assign address = act_pixel_q[s][ObAw-1:1] + (ObAw - 1)'((b == 0) && act_pixel_q[s][0]);
        kt_ram_1r1w #(
          .Width(32 * StageRows),
          .Depth(ObDepth / 2)
        ) u_ob (
          .clk_i,
          .wr_en_i  (acc_wr[s] && sum_pixel_q[s][0] == 1'(b)),
          .wr_addr_i(sum_pixel_q[s][ObAw-1:1]),
          .wr_data_i(new_total),
          .rd_en_i  (acc_rd[s] && (act_two_q[s] || act_pixel_q[s][0] == 1'(b))),
          .rd_addr_i(address),
          .rd_data_o(bank_old[b])
        );
      end
      assign odd           = sum_pixel_q[s][0];
      assign old[s]        = bank_old[odd];
      assign second_old[s] = bank_old[!odd];
    end else begin : gen_one
      kt_ram_1r1w #(
        .Width(32 * StageRows),
        .Depth(ObDepth)
      ) u_ob (
        .clk_i,
        .wr_en_i  (acc_wr[s]),
        .wr_addr_i(sum_pixel_q[s]),
        .wr_data_i(new_total),
        .rd_en_i  (acc_rd[s]),
        .rd_addr_i(act_pixel_q[s]),
        .rd_data_o(old[s])
      );
      assign second_old[s] = '0;
    end
  end

  logic signed [31:0] total[Kp], second_total[Kp];
  logic [Stages-1:0]  total_valid, second_valid;
  assign total_valid  = sum_valid_q & sum_last_q;
  assign second_valid = total_valid & sum_two_q;

  always_comb begin
    for (int unsigned s = 0; s < Stages; s++) begin
      for (int unsigned r = 0; r < StageRows; r++) begin
        total[s*StageRows+r] = sum[s*StageRows+r] + (old[s][32*r+:32] & ~{32{sum_first_q[s]}});
      end
    end
  end
  if (TwoPixels) begin : gen_second
    always_comb begin
      second_total = second;
      if (second_valid != '0) begin
        for (int unsigned k = 0; k < Kp; k++) begin
          second_total[k] =
            second[k] + (second_old[k/StageRows][32*(k%StageRows)+:32] & ~{32{sum_first_q[k/StageRows]}});
        end
      end
    end
  end else begin : gen_no_second
    assign second_total = second;
  end

  if (Chain == 0) begin : gen_out
    assign valid_o        = total_valid;
    assign second_valid_o = second_valid;
    assign total_o        = total;
    assign second_o       = second_total;
  end else if (Pipelined) begin : gen_register
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        valid_o        <= '0;
        second_valid_o <= '0;
      end else begin
        valid_o        <= total_valid;
        second_valid_o <= second_valid;
      end
    end
    always_ff @(posedge clk_i) begin
      if (total_valid != '0) total_o <= total;
      if (second_valid != '0) second_o <= second_total;
    end
  end else begin : gen_wait
    // a ring of the totals of the last cycles, written and read where there are some
    localparam int unsigned Ring  = Chain;
    localparam int unsigned TurnW = (Ring > 1) ? $clog2(Ring) : 1;
    logic [TurnW-1:0]   turn_q;
    logic [Stages-1:0]  valid_q[Ring], second_valid_q[Ring];
    logic signed [31:0] total_q[Ring][Kp], second_q[Ring][Kp];
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        turn_q         <= '0;
        valid_q        <= '{default: '0};
        second_valid_q <= '{default: '0};
        valid_o        <= '0;
        second_valid_o <= '0;
      end else begin
        turn_q                 <= (turn_q == TurnW'(Ring - 1)) ? '0 : turn_q + 1'b1;
        valid_q[turn_q]        <= total_valid;
        second_valid_q[turn_q] <= second_valid;
        valid_o                <= valid_q[turn_q];
        second_valid_o         <= second_valid_q[turn_q];
      end
    end
    always_ff @(posedge clk_i) begin
      if (valid_q[turn_q] != '0) total_o <= total_q[turn_q];
      if (second_valid_q[turn_q] != '0) second_o <= second_q[turn_q];
      /* verilator lint_off BLKSEQ */  // read before it is written, and only here: one copy less in simulation
      if (total_valid != '0) total_q[turn_q] = total;
      if (second_valid != '0) second_q[turn_q] = second_total;
      /* verilator lint_on BLKSEQ */
    end
  end

endmodule
