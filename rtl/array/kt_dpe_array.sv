// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Kp DPE rows in a chain with their output buffers. Row k works k cycles after row 0; the control token of each row is
// one bit of four shift registers. The sum row's correction for the zero point of the weights goes down with the
// activations.
module kt_dpe_array
  import kt_array_pkg::*;
#(
  parameter int unsigned Kp      = 32,
  parameter int unsigned Taps    = 72,
  parameter int unsigned ObDepth = 512,
  parameter bit          SumRow  = 1,
  localparam int unsigned ObAw   = $clog2(ObDepth),
  localparam int unsigned KpW    = $clog2(Kp)
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  token_t             token_i,
  input  logic [ObAw-1:0]    pixel_i,
  input  logic signed [7:0]  act_i [Taps],
  /* verilator lint_off UNUSEDSIGNAL */  // without a sum row
  input  logic signed [7:0]  weight_zero_i,  // with the activations; 0 where there is no sum row
  /* verilator lint_on UNUSEDSIGNAL */
  // shadow weights, one row a cycle
  input  logic               load_i,
  input  logic [KpW-1:0]     load_row_i,
  input  logic signed [7:0]  weight_i [Taps],
  // totals of the last pass, row k k cycles after row 0
  output logic [Kp-1:0]      valid_o,
  output logic signed [31:0] total_o [Kp]
);

  // control of the rows: with the activations (act), with the sum (sum)
  logic [Kp-1:0]   act_valid_q, act_first_q, act_last_q;
  logic [Kp-2:0]   swap_q;  // swap_q[k] enters row k + 1
  logic [Kp-1:0]   sum_valid_q, sum_first_q, sum_last_q;
  logic [ObAw-1:0] act_pixel_q[Kp];
  logic [ObAw-1:0] sum_pixel_q[Kp];
  logic [ObAw-1:0] pixel_d[Kp];

  always_comb begin
    pixel_d[0] = pixel_i;
    for (int k = 1; k < int'(Kp); k++) pixel_d[k] = act_pixel_q[k-1];
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      act_valid_q <= '0;
      swap_q      <= '0;
      sum_valid_q <= '0;
    end else begin
      act_valid_q <= {act_valid_q[Kp-2:0], token_i.valid};
      swap_q      <= {swap_q[Kp-3:0], token_i.swap};
      sum_valid_q <= act_valid_q;
    end
  end

  always_ff @(posedge clk_i) begin
    act_first_q <= {act_first_q[Kp-2:0], token_i.first};
    act_last_q  <= {act_last_q[Kp-2:0], token_i.last};
    act_pixel_q <= pixel_d;
    sum_first_q <= act_first_q;
    sum_last_q  <= act_last_q;
    sum_pixel_q <= act_pixel_q;
  end

  logic [Kp-1:0] load;  // a bit for each row: decoded once, not compared in every row
  assign load = Kp'(load_i) << load_row_i;

  logic [Kp-1:0] acc_rd, acc_wr;
  assign acc_rd = act_valid_q & ~act_first_q;
  assign acc_wr = sum_valid_q & ~sum_last_q;

  // what the sum row adds to each row's products
  logic signed [31:0] extra_first, extra[Kp-1];
  if (SumRow) begin : gen_sum
    kt_sum_row #(
      .Kp  (Kp),
      .Taps(Taps)
    ) u_sum (
      .clk_i,
      .rst_ni,
      .act_i,
      .zero_i (weight_zero_i),
      .first_o(extra_first),
      .extra_o(extra)
    );
  end else begin : gen_no_sum
    assign extra_first = '0;
    assign extra       = '{default: '0};
  end

  // OB: one accumulator per row and pixel of a pass. The old value is read while the row adds its products; a pixel
  // comes back in the next pass, so passes of at least two pixels never read a value that is still on its way. First
  // pass: the old value is ignored. Last pass: the total is not written, it goes to the requantiser.
  logic signed [31:0] sum[Kp], old[Kp];

  // The last row's activations go nowhere.
  /* verilator lint_off UNUSEDSIGNAL */
  for (genvar k = 0; k < int'(Kp); k++) begin : gen_row
    logic signed [7:0]  act_in[Taps];
    logic signed [7:0]  act_out[Taps];
    logic               swap_in;
    logic signed [31:0] extra_in;

    if (k == 0) begin : gen_head
      assign act_in   = act_i;
      assign extra_in = extra_first;
      assign swap_in  = token_i.swap;
    end else begin : gen_chain
      assign act_in   = gen_row[k-1].act_out;
      assign extra_in = extra[k-1];
      assign swap_in  = swap_q[k-1];
    end

    kt_dpe_row #(
      .Taps(Taps)
    ) u_row (
      .clk_i,
      .act_i   (act_in),
      .act_o   (act_out),
      .swap_i  (swap_in),
      .load_i  (load[k]),
      .weight_i,
      .extra_i (extra_in),
      .sum_o   (sum[k])
    );

    kt_ram_1r1w #(
      .Width(32),
      .Depth(ObDepth)
    ) u_ob (
      .clk_i,
      .wr_en_i  (acc_wr[k]),
      .wr_addr_i(sum_pixel_q[k]),
      .wr_data_i(total_o[k]),
      .rd_en_i  (acc_rd[k]),
      .rd_addr_i(act_pixel_q[k]),
      .rd_data_o(old[k])
    );
  end
  /* verilator lint_on UNUSEDSIGNAL */

  always_comb begin
    for (int unsigned k = 0; k < Kp; k++) total_o[k] = sum[k] + (old[k] & ~{32{sum_first_q[k]}});
  end

  assign valid_o = sum_valid_q & sum_last_q;

endmodule
