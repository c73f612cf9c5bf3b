// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

`include "fv.svh"
// Two consecutive words, picked at an arbitrary moment, leave consecutively and unchanged, in both forms of the FIFO;
// it holds exactly Depth words, and a word inside is at the output after at most one more cycle. The block RAM never
// reads a word in the cycle that writes it.
module fv_kt_fifo #(
  parameter int unsigned Width    = 4,
  parameter int unsigned Depth    = 5,
  parameter bit          BlockRam = 1'b0
) (
  input logic             clk_i,
  input logic             rst_ni,
  input logic             in_valid_i,
  input logic [Width-1:0] in_data_i,
  input logic             out_ready_i,
  input logic             pick_i
);
  localparam int unsigned LevelW = $clog2(Depth + 1);
  logic in_ready, out_valid;
  logic [Width-1:0] out_data;
  logic [LevelW-1:0] level;
  kt_fifo #(
    .Width   (Width),
    .Depth   (Depth),
    .BlockRam(BlockRam)
  ) dut (
    .clk_i,
    .rst_ni,
    .in_valid_i,
    .in_ready_o (in_ready),
    .in_data_i,
    .out_valid_o(out_valid),
    .out_ready_i,
    .out_data_o (out_data),
    .level_o    (level)
  );
  `include "fv_reset.svh"

  wire push = in_valid_i && in_ready;
  wire pop  = out_valid && out_ready_i;

  // 0 nothing, 1 first is inside, 2 both are inside, 3 the first has left; ahead_q: words before the first
  logic [1:0]        st_q;
  logic [LevelW-1:0] ahead_q, count_q;
  logic [Width-1:0]  v1_q, v2_q;
  wire first_leaves = pop && ahead_q == '0;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      st_q    <= 2'd0;
      count_q <= '0;
    end else begin
      count_q <= count_q + LevelW'(push) - LevelW'(pop);
      case (st_q)
        2'd0: if (push && pick_i) st_q <= 2'd1;
        2'd1: if (push) st_q <= first_leaves ? 2'd3 : 2'd2;
              else if (first_leaves) st_q <= 2'd0;
        2'd2: if (first_leaves) st_q <= 2'd3;
        default: if (pop) st_q <= 2'd0;
      endcase
    end
  end
  always_ff @(posedge clk_i) begin
    if (st_q == 2'd0 && push) begin
      v1_q    <= in_data_i;
      ahead_q <= count_q - LevelW'(pop);
    end else if (pop && ahead_q != '0) begin
      ahead_q <= ahead_q - 1'b1;
    end
    if (st_q == 2'd1 && push) v2_q <= in_data_i;
  end

  logic             stall_q, hidden_q, full_seen_q;
  logic [Width-1:0] data_h;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      stall_q     <= 1'b0;
      hidden_q    <= 1'b0;
      full_seen_q <= 1'b0;
    end else begin
      stall_q     <= out_valid && !out_ready_i;
      hidden_q    <= level != '0 && !out_valid;
      full_seen_q <= full_seen_q || !in_ready;
    end
  end
  always_ff @(posedge clk_i) data_h <= out_data;

  // where the words are: at(k) is the k-th from the output
  logic [Width-1:0] first, second, head;
  logic             pointers_ok;
  wire [LevelW-1:0] k1 = ahead_q - LevelW'(out_valid);          // index in memory, counted from the read pointer
  wire [LevelW-1:0] k2 = ahead_q + 1'b1 - LevelW'(out_valid);
  if (BlockRam) begin : gen_ram
    localparam int unsigned Aw = $clog2(Depth);
    function automatic logic [Aw-1:0] slot(logic [Aw-1:0] from, logic [LevelW-1:0] k);
      logic [LevelW:0] s;
      s = (LevelW + 1)'(from) + (LevelW + 1)'(k);
      return Aw'((s >= (LevelW + 1)'(Depth)) ? s - (LevelW + 1)'(Depth) : s);
    endfunction
    wire [Aw-1:0] rp = dut.gen_ram.rp_q;
    wire [Aw-1:0] wp = dut.gen_ram.wp_q;
    wire [LevelW-1:0] stored = dut.gen_ram.stored_q;
    assign first  = (ahead_q == '0 && out_valid) ? out_data : dut.gen_ram.u_ram.mem[slot(rp, k1)];
    assign second = dut.gen_ram.u_ram.mem[slot(rp, k2)];
    assign head   = out_valid ? out_data : dut.gen_ram.u_ram.mem[rp];
    `FV_ASSERT(a_collision, !(dut.gen_ram.u_ram.wr_en_i && dut.gen_ram.rd && wp == rp))
    assign pointers_ok = 32'(rp) < Depth && 32'(wp) < Depth && wp == slot(rp, stored) &&
                         level == stored + LevelW'(out_valid);
  end else begin : gen_lut
    localparam int unsigned Aw = (Depth > 2) ? $clog2(Depth - 1) : 1;
    wire [Aw-1:0] rp = dut.gen_lut.rp_q;
    wire [Aw-1:0] wp = dut.gen_lut.wp_q;
    assign first  = (ahead_q == '0) ? out_data : dut.gen_lut.mem[Aw'(rp + Aw'(k1))];
    assign second = dut.gen_lut.mem[Aw'(rp + Aw'(k2))];
    assign head   = out_data;
    assign pointers_ok = out_valid == (level != '0) && Aw'(wp - rp) == Aw'(level - LevelW'(out_valid));
  end

  `FV_ASSERT(a_level, level == count_q && 32'(level) <= Depth)
  `FV_ASSERT(a_full, in_ready == (32'(level) != Depth))
  `FV_ASSERT(a_empty, !out_valid || level != '0)
  `FV_ASSERT(a_prompt, !hidden_q || out_valid)
  `FV_ASSERT(a_hold, !stall_q || (out_valid && out_data == data_h))
  `FV_ASSERT(a_first, !(first_leaves && (st_q == 2'd1 || st_q == 2'd2)) || out_data == v1_q)
  `FV_ASSERT(a_second, !(pop && st_q == 2'd3) || out_data == v2_q)
  `FV_ASSERT(i_pointers, pointers_ok)
  `FV_ASSERT(i_one, st_q != 2'd1 || (32'(level) == 32'(ahead_q) + 1 && first == v1_q))
  `FV_ASSERT(i_two, st_q != 2'd2 || (32'(level) > 32'(ahead_q) + 1 && first == v1_q && second == v2_q))
  `FV_ASSERT(i_three, st_q != 2'd3 || (level != '0 && head == v2_q))
  `FV_COVER(c_drained, full_seen_q && !out_valid && level == '0)
  `FV_COVER(c_pair, st_q == 2'd3 && pop && full_seen_q)
endmodule
