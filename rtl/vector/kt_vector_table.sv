// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Table of 256 bytes behind the requantiser: Cp copies, one channel group of a result a cycle. A result that goes
// through it takes three cycles, and leaves three cycles later; `room_o` keeps their distance, and that of what
// follows them, as the results are asked for. Two tables, so that the next command's is filled while one is in use. A word holds eight entries; entry
// number of a value: value + 128.
module kt_vector_table #(
  parameter int unsigned Cp = 8
) (
  input  logic            clk_i,
  input  logic            rst_ni,
  // one word of all copies: table, eighth of a table
  input  logic            we_i,
  input  logic [5:0]      wr_addr_i,
  input  logic [63:0]     wr_data_i,
  // a result is asked for, at a constant time before it comes
  output logic            room_o,     // one may be
  input  logic            ask_i,      // one that goes through the table
  input  logic            ask_last_i, // its command's last
  // result of three groups
  input  logic            valid_i,
  input  logic            look_up_i,  // goes through the table
  input  logic            second_i,   // the second one
  input  logic [Cp*8-1:0] word_i [3],
  // the same cycle, or three cycles later
  output logic            valid_o,
  output logic [Cp*8-1:0] word_o [3]
);

  logic            start, read;
  logic [1:0]      step_q;  // group that is read in this cycle; 3: the last one comes
  logic            second_q;
  logic [Cp*8-1:0] word_q[3], group, found, found_q[2];

  assign start = valid_i && look_up_i;
  assign read  = start || (step_q == 2'd1) || (step_q == 2'd2);

  // Three cycles a result, and one more between a command's last and the next one's first.
  logic [1:0] pace_q;
  assign room_o = pace_q == '0;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) pace_q <= '0;
    else if (ask_i) pace_q <= ask_last_i ? 2'd3 : 2'd2;
    else if (pace_q != '0) pace_q <= pace_q - 2'd1;
  end

  // Read and found only where a result is at hand: an idle table costs nothing in simulation.
  logic [63:0] entries[Cp];
  logic [5:0]  addr[Cp];
  logic [2:0]  entry_q[Cp];
  always_comb begin
    group = '0;
    addr  = '{default: '0};
    if (read) begin
      group = start ? word_i[0] : (step_q == 2'd1) ? word_q[1] : word_q[2];
      for (int unsigned b = 0; b < Cp; b++) addr[b] = {start ? second_i : second_q, !group[8*b+7], group[8*b+3+:4]};
    end
  end
  always_comb begin
    found = '0;
    if (step_q != '0) begin
      for (int unsigned b = 0; b < Cp; b++) found[8*b+:8] = entries[b][8*entry_q[b]+:8];
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) step_q <= '0;
    else if (start) step_q <= 2'd1;
    else if (step_q != '0) step_q <= step_q + 2'd1;
  end

  always_ff @(posedge clk_i) begin
    if (start) begin
      word_q   <= word_i;
      second_q <= second_i;
    end
    if (read) begin
      for (int unsigned b = 0; b < Cp; b++) entry_q[b] <= group[8*b+:3];
    end
    if (step_q == 2'd1) found_q[0] <= found;
    if (step_q == 2'd2) found_q[1] <= found;
  end

  for (genvar b = 0; b < int'(Cp); b++) begin : gen_copy
    kt_ram_1r1w #(
      .Width(64),
      .Depth(64)
    ) u_copy (
      .clk_i,
      .wr_en_i  (we_i),
      .wr_addr_i,
      .wr_data_i,
      .rd_en_i  (read),
      .rd_addr_i(addr[b]),
      .rd_data_o(entries[b])
    );
  end

  assign valid_o = (step_q == 2'd3) || (valid_i && !look_up_i);
  always_comb begin
    word_o = word_i;
    if (step_q == 2'd3) word_o = '{found_q[0], found_q[1], found};
  end

endmodule
