// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// First-word fall-through FIFO that holds exactly Depth words, one of them in its output register.
//
// Two forms, chosen by elaboration:
//   LUT RAM   (default up to 32 words) asynchronous read before the output register, one cycle through an empty FIFO
//   block RAM (default above)          the RAM's output register is the output, two cycles through an empty FIFO
// Both take and give a word every cycle, and in_ready_o, out_valid_o, out_data_o and level_o depend on flip-flops only.
module kt_fifo #(
  parameter int unsigned Width    = 8,
  parameter int unsigned Depth    = 4,  // at least 2, any number
  parameter bit          BlockRam = Depth > 32,
  localparam int unsigned LevelW  = $clog2(Depth + 1)
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  // in
  input  logic              in_valid_i,
  output logic              in_ready_o,
  input  logic [Width-1:0]  in_data_i,
  // out
  output logic              out_valid_o,
  input  logic              out_ready_i,
  output logic [Width-1:0]  out_data_o,
  // words inside, output register included
  output logic [LevelW-1:0] level_o
);

  if (Depth < 2) begin : gen_check
    $error("kt_fifo: Depth must be at least 2");
  end

  logic [LevelW-1:0] level_q;
  logic              out_valid_q;
  logic              push, pop, out_free;

  // n + 1 or n - 1. Simulators add; in hardware no chain of carries waits for which it is.
  function automatic logic [LevelW-1:0] stepped(logic [LevelW-1:0] n, logic up);
`ifdef KT_FAST_SIM
    return up ? n + 1'b1 : n - 1'b1;
`else
    logic [LevelW-1:0] ones;
    ones = up ? n : ~n;
    for (int i = 0; i < int'(LevelW); i++) stepped[i] = n[i] ^ ((ones | ~LevelW'((1 << i) - 1)) == '1);
`endif
  endfunction

  assign in_ready_o  = level_q != LevelW'(Depth);
  assign out_valid_o = out_valid_q;
  assign level_o     = level_q;

  assign push     = in_valid_i && in_ready_o;
  assign pop      = out_valid_q && out_ready_i;
  assign out_free = !out_valid_q || out_ready_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) level_q <= '0;
    else if (push != pop) level_q <= stepped(level_q, push);
  end

  if (BlockRam) begin : gen_ram
    localparam int unsigned Aw = $clog2(Depth);

    logic [Aw-1:0]     wp_q, rp_q;
    logic [LevelW-1:0] stored_q;  // words in the RAM, the one in its output register not counted
    logic              rd;

    assign rd = out_free && stored_q != '0;

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        wp_q        <= '0;
        rp_q        <= '0;
        stored_q    <= '0;
        out_valid_q <= 1'b0;
      end else begin
        if (push) wp_q <= (wp_q == Aw'(Depth - 1)) ? '0 : wp_q + 1'b1;
        if (rd) rp_q <= (rp_q == Aw'(Depth - 1)) ? '0 : rp_q + 1'b1;
        if (push != rd) stored_q <= push ? stored_q + 1'b1 : stored_q - 1'b1;
        if (out_free) out_valid_q <= rd;
      end
    end

    kt_ram_1r1w #(
      .Width(Width),
      .Depth(Depth)
    ) u_ram (
      .clk_i,
      .wr_en_i  (push),
      .wr_addr_i(wp_q),
      .wr_data_i(in_data_i),
      .rd_en_i  (rd),
      .rd_addr_i(rp_q),
      .rd_data_o(out_data_o)
    );
  end else begin : gen_lut
    // The memory is empty whenever the output register is, so level_q alone tells what it holds: level_q - 1 words.
    // A whole power of two of them, so that pointers wrap by themselves and an index needs no bounds check.
    localparam int unsigned Aw = (Depth > 2) ? $clog2(Depth - 1) : 1;

    logic [Width-1:0] mem[1<<Aw];
    logic [Aw-1:0]    wp_q, rp_q;
    logic [Width-1:0] out_data_q;
    logic             more, rd, wr;

    assign out_data_o = out_data_q;

    assign more = level_q > LevelW'(1);
    assign rd   = out_free && more;
    assign wr   = push && (more || !out_free);

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        wp_q        <= '0;
        rp_q        <= '0;
        out_valid_q <= 1'b0;
      end else begin
        if (wr) wp_q <= wp_q + 1'b1;
        if (rd) rp_q <= rp_q + 1'b1;
        if (out_free) out_valid_q <= more || push;
      end
    end

    always_ff @(posedge clk_i) begin
      if (wr) mem[wp_q] <= in_data_i;
    end

    always_ff @(posedge clk_i) begin
      if (rd) out_data_q <= mem[rp_q];
      else if (push && out_free) out_data_q <= in_data_i;
    end
  end

endmodule
