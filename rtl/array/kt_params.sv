// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Requantisation parameters of the lanes, one a row of the array. ZSB holds one channel per word, in as many banks as a
// stage has rows; a new tile's parameters are read one stage a cycle in step with the wave of its first result pixel, so
// each lane changes exactly between two tiles. Tiles must start at least Stages slots apart for that: ready_o sees to
// it. (Weight loads are Stages cycles apart, but a swap may follow its load at once or late, so swaps alone can be
// closer.)
module kt_params
  import kt_cmd_pkg::*;
  import kt_pkg::*;
#(
  parameter int unsigned Stages    = 8,
  parameter int unsigned StageRows = 4,  // a power of two
  parameter int unsigned Depth     = 1024,
  parameter bit          Table     = 1,  // words of tables are read, too
  parameter int unsigned Delay     = 0,  // cycles that totals come later than a row needs that adds at once
  localparam int unsigned Kp       = Stages * StageRows,
  localparam int unsigned Bits     = $clog2(StageRows),  // of a word's bank
  localparam int unsigned BankW    = (Bits > 0) ? Bits : 1,
  localparam int unsigned Aw       = $clog2(Depth) - Bits,
  localparam int unsigned StageW   = $clog2(Stages)
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               start_i,      // command start
  input  addr_t              base_i,       // a multiple of Kp
  input  out_quant_t         out_quant_i,  // of the running command
  output logic               ready_o,      // tile_i is allowed
  input  logic               tile_i,       // slot of a tile's first pixel, Delay + 5 cycles before its first total
  // ZSB write port
  input  logic               wr_en_i,
  // as wide as the largest memory
  /* verilator lint_off UNUSEDSIGNAL */
  input  addr_t              wr_addr_i,
  /* verilator lint_on UNUSEDSIGNAL */
  input  requant_params_t    wr_data_i,
  // a word of a table, in the cycle after its grant
  output logic               table_grant_o,
  input  logic               table_rd_i,    // only with the grant
  // as wide as the largest memory
  /* verilator lint_off UNUSEDSIGNAL */
  input  addr_t              table_addr_i,
  /* verilator lint_on UNUSEDSIGNAL */
  output logic [63:0]        table_word_o,
  // parameters of each lane, valid with the lane's total
  output logic signed [31:0] bias_o  [Kp],
  output logic signed [31:0] mult_o  [Kp],
  output logic signed [7:0]  shift_o [Kp],
  output logic signed [7:0]  zero_o  [Kp],
  output logic signed [7:0]  low_o   [Kp],
  output logic signed [7:0]  high_o  [Kp],
  output logic [1:0]         rule_o  [Kp],
  output logic               float_o       // some lane may have rule `float`
);

  logic [1:0]        tile_q;
  logic [StageW-1:0] wait_q;  // slots until the next tile may start
  logic              reading_q, write_q;
  logic [StageW-1:0] read_stage_q, stage_q;
  // as wide as the largest memory
  /* verilator lint_off UNUSEDSIGNAL */
  addr_t             tile_addr_q, pending_q, addr_q;
  /* verilator lint_on UNUSEDSIGNAL */
  out_quant_t      pending_out_quant_q, read_out_quant_q, out_quant_q;
  requant_params_t param[StageRows];

  // ---- what comes in, as late as the totals
  logic       start, tile;
  addr_t      base;
  out_quant_t out_quant;
  if (Delay == 0) begin : gen_now
    assign start     = start_i;
    assign tile      = tile_i;
    assign base      = base_i;
    assign out_quant = out_quant_i;
  end else begin : gen_late
    logic [Delay-1:0] start_q, late_tile_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        start_q     <= '0;
        late_tile_q <= '0;
      end else begin
        start_q     <= Delay'({start_q, start_i});
        late_tile_q <= Delay'({late_tile_q, tile_i});
      end
    end
    assign start = start_q[Delay-1];
    assign tile  = late_tile_q[Delay-1];
    kt_delay #(
      .Width ($bits(addr_t) + $bits(out_quant_t)),
      .Cycles(Delay)
    ) u_values (
      .clk_i,
      .data_i({base_i, out_quant_i}),
      .data_o({base, out_quant})
    );
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      tile_q    <= '0;
      wait_q    <= '0;
      reading_q <= 1'b0;
      write_q   <= 1'b0;
    end else begin
      tile_q  <= {tile_q[0], tile};
      write_q <= reading_q;
      if (tile_i) wait_q <= StageW'(Stages - 1);
      else if (wait_q != '0) wait_q <= wait_q - 1'b1;
      if (tile_q[1]) reading_q <= 1'b1;
      else if (read_stage_q == StageW'(Stages - 1)) reading_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    // ZSB is a ring of whole tiles: behind its end comes its beginning.
    if (start) tile_addr_q <= base;
    else if (tile) tile_addr_q <= (tile_addr_q == addr_t'(Depth - Kp)) ? '0 : tile_addr_q + addr_t'(Kp);
    // The tile comes three cycles before its parameters are read: the tile before may still be reading.
    if (tile) begin
      pending_q           <= tile_addr_q;
      pending_out_quant_q <= out_quant;
    end
    if (tile_q[1]) begin
      addr_q           <= pending_q;
      read_out_quant_q <= pending_out_quant_q;
    end else if (reading_q) begin
      addr_q <= addr_q + addr_t'(StageRows);
    end
    if (tile_q[1]) read_stage_q <= '0;
    else if (reading_q) read_stage_q <= read_stage_q + 1'b1;
    if (reading_q) begin
      stage_q     <= read_stage_q;
      out_quant_q <= read_out_quant_q;
    end
  end

  assign ready_o = wait_q == '0;

  logic table_rd;
  assign table_rd = Table && table_rd_i;

  for (genvar r = 0; r < int'(StageRows); r++) begin : gen_bank
    kt_ram_1r1w #(
      .Width($bits(requant_params_t)),
      .Depth(Depth / StageRows)
    ) u_zsb (
      .clk_i,
      .wr_en_i  (wr_en_i && ((wr_addr_i % addr_t'(StageRows)) == addr_t'(r))),
      .wr_addr_i(wr_addr_i[Bits+:Aw]),
      .wr_data_i,
      .rd_en_i  (reading_q || (table_rd && ((table_addr_i % addr_t'(StageRows)) == addr_t'(r)))),
      .rd_addr_i((!Table || reading_q) ? addr_q[Bits+:Aw] : table_addr_i[Bits+:Aw]),
      .rd_data_o(param[r])
    );
  end

  logic [BankW-1:0] table_bank_q;
  always_ff @(posedge clk_i) if (table_rd) table_bank_q <= BankW'(table_addr_i % addr_t'(StageRows));
  assign table_grant_o = Table && !reading_q;
  assign table_word_o  = Table ? {param[table_bank_q].mult, param[table_bank_q].bias} : '0;

  always_ff @(posedge clk_i) begin
    if (write_q) begin
      automatic logic signed [31:0] bias[Kp] = bias_o;
      automatic logic signed [31:0] mult[Kp] = mult_o;
      automatic logic signed [7:0]  shift[Kp] = shift_o;
      automatic logic signed [7:0]  zero[Kp] = zero_o;
      automatic logic signed [7:0]  low[Kp] = low_o;
      automatic logic signed [7:0]  high[Kp] = high_o;
      automatic logic [1:0]         rule[Kp] = rule_o;
      for (int unsigned r = 0; r < StageRows; r++) begin
        bias[32'(stage_q)*StageRows+r]  = param[r].bias;
        mult[32'(stage_q)*StageRows+r]  = param[r].mult;
        shift[32'(stage_q)*StageRows+r] = param[r].shift;
        zero[32'(stage_q)*StageRows+r]  = out_quant_q.zero;
        low[32'(stage_q)*StageRows+r]   = out_quant_q.low;
        high[32'(stage_q)*StageRows+r]  = out_quant_q.high;
        rule[32'(stage_q)*StageRows+r]  = out_quant_q.rule;
      end
      bias_o  <= bias;
      mult_o  <= mult;
      shift_o <= shift;
      zero_o  <= zero;
      low_o   <= low;
      high_o  <= high;
      rule_o  <= rule;
    end
  end

  // Stages change in order: after the last one all lanes have this tile's rule.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) float_o <= 1'b0;
    else if (write_q && (out_quant_q.rule == RuleFloat)) float_o <= 1'b1;
    else if (write_q && (stage_q == StageW'(Stages - 1))) float_o <= 1'b0;
  end

endmodule
