// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Stages of StageRows DPE rows in a chain, with their output buffers: Kp = Stages * StageRows rows. The rows of a stage
// work on the same activations in the same cycle; stage s works s cycles after stage 0. The control token of each stage
// is one bit of four shift registers. The sum row's correction for the zero point of the weights goes down with the
// activations.
module kt_dpe_array
  import kt_array_pkg::*;
#(
  parameter int unsigned Stages    = 8,   // at least 2
  parameter int unsigned StageRows = 4,
  parameter int unsigned Taps      = 72,
  parameter int unsigned ObDepth   = 512,
  parameter bit          SumRow    = 1,
  parameter bit          TwoPixels = 0,
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

  // control of the stages: with the activations (act), with the sum (sum)
  logic [Stages-1:0] act_valid_q, act_first_q, act_last_q, act_two_q;
  logic [Stages-1:0] swap;  // with what enters a stage
  logic [Stages-1:0] sum_valid_q, sum_first_q, sum_last_q, sum_two_q;
  logic [ObAw-1:0]   act_pixel_q[Stages];
  logic [ObAw-1:0]   sum_pixel_q[Stages];
  logic [ObAw-1:0]   pixel_d[Stages];

  always_comb begin
    pixel_d[0] = pixel_i;
    for (int s = 1; s < int'(Stages); s++) pixel_d[s] = act_pixel_q[s-1];
  end

  logic [Stages-2:0] swap_q;  // swap_q[s] enters stage s + 1
  assign swap = {swap_q, token_i.swap};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      act_valid_q <= '0;
      swap_q      <= '0;
      sum_valid_q <= '0;
    end else begin
      act_valid_q <= {act_valid_q[Stages-2:0], token_i.valid};
      swap_q      <= swap[Stages-2:0];
      sum_valid_q <= act_valid_q;
    end
  end

  always_ff @(posedge clk_i) begin
    act_first_q <= {act_first_q[Stages-2:0], token_i.first};
    act_last_q  <= {act_last_q[Stages-2:0], token_i.last};
    act_pixel_q <= pixel_d;
    sum_first_q <= act_first_q;
    sum_last_q  <= act_last_q;
    sum_pixel_q <= act_pixel_q;
  end

  if (TwoPixels) begin : gen_two
    always_ff @(posedge clk_i) begin
      act_two_q <= {act_two_q[Stages-2:0], token_i.two};
      sum_two_q <= act_two_q;
    end
  end else begin : gen_one
    assign act_two_q = '0;
    assign sum_two_q = '0;
  end

  logic [Stages-1:0] load;  // a bit for each stage: decoded once, not compared in every row
  assign load = Stages'(load_i) << load_stage_i;

  logic [Stages-1:0] acc_rd, acc_wr;
  assign acc_rd = act_valid_q & ~act_first_q;
  assign acc_wr = sum_valid_q & ~sum_last_q;

  // what the sum row adds to each row's products
  logic signed [31:0] extra[Stages];
  if (SumRow) begin : gen_sum
    kt_sum_row #(
      .Stages(Stages),
      .Taps  (Taps)
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
    logic signed [7:0] act_q[Taps];
    if (s == 0) begin : gen_head
      always_ff @(posedge clk_i) act_q <= act_i;
    end else begin : gen_chain
      always_ff @(posedge clk_i) act_q <= gen_stage[s-1].act_q;
    end

    logic [32*StageRows-1:0] new_total;
    for (genvar r = 0; r < int'(StageRows); r++) begin : gen_row
      localparam int unsigned K = s * StageRows + r;
      kt_dpe_row #(
        .Taps     (Taps),
        .TwoPixels(TwoPixels)
      ) u_row (
        .clk_i,
        .act_i   (act_q),
        .swap_i  (swap[s]),
        .load_i  (load[s]),
        .weight_i(weight_i[r]),
        .extra_i (extra[s]),
        .two_i   (act_two_q[s]),
        .sum_o   (sum[K]),
        .second_o(second[K])
      );
      assign new_total[32*r+:32] = total_o[K];
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

  always_comb begin
    for (int unsigned k = 0; k < Kp; k++) begin
      total_o[k] = sum[k] + (old[k/StageRows][32*(k%StageRows)+:32] & ~{32{sum_first_q[k/StageRows]}});
    end
  end
  if (TwoPixels) begin : gen_second
    always_comb begin
      second_o = second;
      if (second_valid_o != '0) begin
        for (int unsigned k = 0; k < Kp; k++) begin
          second_o[k] = second[k] + (second_old[k/StageRows][32*(k%StageRows)+:32] & ~{32{sum_first_q[k/StageRows]}});
        end
      end
    end
  end else begin : gen_no_second
    assign second_o = second;
  end

  assign valid_o        = sum_valid_q & sum_last_q;
  assign second_valid_o = valid_o & sum_two_q;

endmodule
