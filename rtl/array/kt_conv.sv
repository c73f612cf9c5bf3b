// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// CONV engine: sequencer, line buffer, weight buffer (WB), array of dot-product engines (DPE) with the output buffer
// (OB), requantiser with its parameter buffer (ZSB), alignment. Reads SB by nine bank requests (words two cycles after
// the registered request); results go to a kt_result_writer outside. All stalls happen in the sequencer; a slot issued
// at t is at the array at t + 3, its results of stage s leave the requantiser at t + 12 + Chain + s and the pixel is
// complete at t + 11 + Chain + Stages, a cycle later through a table: latency Chain + Stages + 16 or 17 to the first
// possible read in SB.
module kt_conv
  import kt_cmd_pkg::*;
  import kt_pkg::*;
  import kt_array_pkg::*;
#(
  parameter int unsigned Kp        = 32,
  parameter int unsigned Cp        = 8,
  parameter int unsigned StageRows = 4,  // rows of the array that work in the same cycle, a power of two
  parameter int unsigned WbRows    = 4096,
  parameter int unsigned ZsbDepth  = 1024,
  parameter int unsigned ObPixels  = 512,
  parameter bit          SumRow    = 1,  // weights may have a zero point
  parameter bit          Resident  = 1,  // passes of a kernel tile may lie in PB
  parameter bit          TwoPixels = 1,  // of up to four words each, at once
  parameter bit          Float     = 1,  // rule `float`
  parameter bit          Table     = 1,  // results may go through a table
  parameter int unsigned MultiplierW = 18,  // bits of the multipliers' wider factor
  localparam int unsigned Words    = Kp / Cp,
  localparam int unsigned OutWords = TwoPixels ? 2 * Words : Words
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  // queue
  input  logic                cmd_peek_i,
  input  logic                cmd_valid_i,
  output logic                cmd_ready_o,
  /* verilator lint_off UNUSEDSIGNAL */  // one operation; the spare bits are checked by the fetch
  input  command_t            cmd_i,
  /* verilator lint_on UNUSEDSIGNAL */
  /* verilator lint_off UNUSEDSIGNAL */  // with resident weights or tables only
  input  extension_t          extension_i,  // of the command
  /* verilator lint_on UNUSEDSIGNAL */
  // WB and ZSB, written by LOAD
  input  addr_t               wb_split_i,
  input  logic                wb_we_i,
  // as wide as the largest memory
  /* verilator lint_off UNUSEDSIGNAL */
  input  addr_t               wb_addr_i,
  /* verilator lint_on UNUSEDSIGNAL */
  input  logic [9*Cp*8-1:0]   wb_data_i,  // a row
  input  logic                zsb_we_i,
  input  addr_t               zsb_addr_i,
  input  requant_params_t     zsb_data_i,
  // SB
  output bank_req_t           rd_req_o  [9],
  input  logic [Cp*8-1:0]     word_i [9],
  // result writer
  output logic                out_start_o,
  output out_cmd_t            out_cmd_o,
  input  logic                out_ready_i,
  output logic                out_take_o,
  input  logic                out_credit_i,
  output logic                out_valid_o,
  output logic                out_second_o,  // the upper half of the words is valid, too: the second pixel's
  output logic [Cp*8-1:0]     out_word_o [OutWords],
  // counters: a command runs; a window is emitted; none is because weights, or room for results, are missing
  output logic                busy_o,
  output logic                active_o,
  output logic                wait_weights_o,
  output logic                wait_output_o
);

  localparam int unsigned Taps   = 9 * Cp;
  localparam int unsigned ObAw   = $clog2(ObPixels);
  localparam int unsigned Stages = Kp / StageRows;
  localparam int unsigned StageW = $clog2(Stages);
  localparam int unsigned Bits   = $clog2(StageRows);          // of a WB row's number that name its row in the stage
  localparam int unsigned Chain  = chain_of(Cp, TwoPixels);
`ifdef KT_FAST_SIM
  localparam bit          Pipelined = 0;  // the array
`else
  localparam bit          Pipelined = 1;
`endif
  localparam int unsigned WbAw   = $clog2(WbRows / StageRows);  // WB holds words of a stage's rows

  if (TwoPixels && Words > 4) begin : gen_check_two
    $error("TwoPixels needs Kp of at most 4 * Cp");
  end
  if (Kp % Cp != 0 || Words > 9) begin : gen_check_kp
    $error("Kp must be a multiple of Cp and at most 9 * Cp");
  end
  if (Kp % StageRows != 0 || 2 ** Bits != StageRows || WbRows % Kp != 0 || ZsbDepth % Kp != 0) begin : gen_check_stage
    $error("StageRows must be a power of two that divides Kp, and Kp must divide WbRows and ZsbDepth");
  end

  // ---- command
  /* verilator lint_off UNUSEDSIGNAL */
  conv_t cmd, cmd_q;
  /* verilator lint_on UNUSEDSIGNAL */
  logic  seq_busy, start, start_q, two;
  logic  loader_active, loader_start, claimed_q;  // claimed: the loader has begun with the head of the queue
  logic  table_ready, table_filled;

  assign cmd          = conv_t'(cmd_i.body);
  assign two          = TwoPixels && cmd.pair_groups != '0;
  assign cmd_ready_o  = !seq_busy && !start_q && out_ready_i && (claimed_q || !loader_active) && table_ready;
  assign start        = cmd_valid_i && cmd_ready_o;
  assign loader_start = !claimed_q && !loader_active && (cmd_peek_i || start);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      start_q   <= 1'b0;
      claimed_q <= 1'b0;
    end else begin
      start_q <= start;
      if (start) claimed_q <= 1'b0;
      else if (loader_start) claimed_q <= 1'b1;
    end
  end
  always_ff @(posedge clk_i) if (start) cmd_q <= cmd;

  // Words of a kernel tile's last pass that do not exist: they count as zeros, since weights in PB may go on there.
  logic [8:0] absent_q;
  always_ff @(posedge clk_i) begin
    if (start) begin
      for (int unsigned t = 0; t < 9; t++) begin
        // groups of a pixel; a window of two pixels has no ninth word
        automatic logic [3:0] group = (cmd.mode == Mode3x1) ? 4'(t / 3) : !two ? 4'(t) : (t == 8) ? 4'd8 : 4'(t % 4);
        absent_q[t] <= Resident && extension_i.last_groups != '0 && cmd.mode != Mode3x3 &&
                       group >= extension_i.last_groups;
      end
    end
  end

  // valid with out_start_o only: an idle cycle costs nothing in simulation
  assign out_start_o = start;
  always_comb begin
    out_cmd_o = '0;
    if (start) out_cmd_o = '{
      columns:  cmd.columns,
      rows:     cmd.rows,
      tiles:    cmd.tiles,
      groups:   cmd.out_groups,
      group:    cmd.out_group,
      first:    word_of(cmd.out_first),
      pixel:    word_of(cmd.out_pixel),
      row_mod3: cmd.out_row_mod3,
      sb_ring:  '{first: addr_t'(cmd.sb_first), last: addr_t'(cmd.sb_last), size: addr_t'(cmd.out_slot_size)},
      sb_slot:  addr_t'(cmd.sb_slot),
      vb_ring:  '{first: addr_t'(cmd.vb_first), last: addr_t'(cmd.vb_last), size: addr_t'(cmd.out_slot_size)},
      vb_slot:  addr_t'(cmd.vb_slot),
      to_sb:    cmd.to_sb,
      to_vb:    cmd.to_vb,
      to_store: cmd.to_store,
      two:      two,
      index:    cmd_i.index
    };
  end

  // ---- sequencer and reader
  logic            rd, rd_masked, rd_done, weights_ready, params_ready, swap, last_tile, last_pass;
  logic [1:0]      rd_col, win_col;
  logic [2:0]      win_edge;
  logic            outside[3];
  token_t          token;
  logic [ObAw-1:0] pixel;

  kt_conv_seq #(
    .ObAw     (ObAw),
    .TwoPixels(TwoPixels)
  ) u_seq (
    .clk_i,
    .rst_ni,
    .start_i       (start_q),
    .cmd_i         (cmd_q),
    .busy_o        (seq_busy),
    .rd_done_i     (rd_done),
    .rd_o          (rd),
    .rd_masked_o   (rd_masked),
    .rd_col_o      (rd_col),
    .weights_i     (weights_ready),
    .params_i      (params_ready && table_filled),
    .credit_i      (out_credit_i),
    .swap_o        (swap),
    .last_tile_o   (last_tile),
    .last_pass_o   (last_pass),
    .result_o      (out_take_o),
    .wait_weights_o,
    .wait_credit_o (wait_output_o),
    .token_o       (token),
    .pixel_o       (pixel),
    .win_col_o     (win_col),
    .edge_o        (win_edge)
  );

  kt_row_reader #(
    .TwoPixels(TwoPixels)
  ) u_reader (
    .clk_i,
    .start_i  (start_q),
    .cmd_i    (cmd_q),
    .rd_i     (rd),
    .masked_i (rd_masked),
    .done_o   (rd_done),
    .rd_req_o,
    .outside_o(outside)
  );

  // ---- control of a slot, delayed: request (1), words (2), window and array input (3). One register a stage, not an
  // array: simulation copies arrays twice a cycle.
  typedef struct packed {
    logic       valid;
    logic [1:0] col;
    logic       two;  // columns at once
  } read_t;

  typedef struct packed {
    logic [ObAw-1:0] pixel;
    logic [1:0]      win_col;
    logic [2:0]      win_edge;
    logic            wide;  // a read is a whole window
    logic [7:0]      pad;
    logic [7:0]      zero;
    logic [8:0]      absent;
  } slot_t;

  token_t [3:1] token_q;
  read_t        read;
  read_t  [2:1] read_q;
  /* verilator lint_off UNUSEDSIGNAL */  // absent: with resident weights only
  slot_t        slot, slot1_q, slot2_q, slot3_q;
  /* verilator lint_on UNUSEDSIGNAL */
  logic         outside_q[3];  // with the words

  assign read = '{valid: rd, col: rd_col, two: cmd_q.column_stride[1]};
  assign slot = '{
    pixel:    pixel,
    win_col:  win_col,
    win_edge: win_edge,
    wide:     cmd_q.mode != Mode3x3,
    pad:      cmd_q.pad_value,
    zero:     cmd_q.weight_zero,
    absent:   last_pass ? absent_q : '0
  };

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      token_q <= '0;
      read_q  <= '0;
    end else begin
      token_q <= {token_q[2:1], token};
      read_q  <= {read_q[1], read};
    end
  end

  always_ff @(posedge clk_i) begin
    slot1_q   <= slot;
    slot2_q   <= slot1_q;
    slot3_q   <= slot2_q;
    outside_q <= outside;
  end

  // ---- line buffer
  logic signed [7:0] window[Taps], act[Taps];

  kt_line_buf #(
    .Cp(Cp)
  ) u_lb (
    .clk_i,
    .push_pad_i(slot2_q.pad),
    .push_i    (read_q[2].valid),
    .wide_i    (slot2_q.wide),
    .two_i     (read_q[2].two),
    .col_i     (read_q[2].col),
    .outside_i (outside_q),
    .word_i,
    .win_pad_i (slot3_q.pad),
    .win_wide_i(slot3_q.wide),
    .win_col_i (slot3_q.win_col),
    .edge_i    (slot3_q.win_edge),
    .act_o     (window)
  );

  if (Resident) begin : gen_absent
    always_comb begin
      act = window;
      if (slot3_q.absent != '0) begin
        for (int unsigned i = 0; i < Taps; i++) if (slot3_q.absent[i/Cp]) act[i] = '0;
      end
    end
  end else begin : gen_all
    assign act = window;
  end

  // ---- WB: a word is the rows of a stage, each in a bank of its own
  logic              wb_rd, load_q, load_two;
  /* verilator lint_off UNUSEDSIGNAL */  // with two pixels only
  logic              load_two_q;
  /* verilator lint_on UNUSEDSIGNAL */
  // as wide as the largest memory
  /* verilator lint_off UNUSEDSIGNAL */
  addr_t             wb_addr;
  /* verilator lint_on UNUSEDSIGNAL */
  logic [StageW-1:0] wb_stage, load_stage_q;
  logic signed [7:0] weight[StageRows][Taps];

  kt_weight_loader #(
    .Stages  (Stages),
    .WbWords (WbRows / StageRows),
    .Resident(Resident)
  ) u_loader (
    .clk_i,
    .rst_ni,
    .split_i  (wb_split_i >> Bits),
    .start_i  (loader_start),
    .base_i   (addr_t'(cmd.weights) >> Bits),
    .passes_i (cmd.passes),
    .resident_passes_i(extension_i.passes),
    .resident_base_i  (extension_i.first >> Bits),
    .resident_pitch_i (extension_i.pitch >> Bits),
    .two_i    (two),
    .active_o (loader_active),
    .swap_i   (swap),
    .last_i   (token.last && last_tile),
    .ready_o  (weights_ready),
    .rd_en_o  (wb_rd),
    .rd_addr_o(wb_addr),
    .stage_o  (wb_stage),
    .two_o    (load_two)
  );

  for (genvar r = 0; r < int'(StageRows); r++) begin : gen_wb
    logic [9*Cp*8-1:0] row;
    kt_ram_1r1w #(
      .Width(9 * Cp * 8),
      .Depth(WbRows / StageRows)
    ) u_wb (
      .clk_i,
      .wr_en_i  (wb_we_i && ((wb_addr_i % addr_t'(StageRows)) == addr_t'(r))),
      .wr_addr_i(wb_addr_i[Bits+:WbAw]),
      .wr_data_i(wb_data_i),
      .rd_en_i  (wb_rd),
      .rd_addr_i(wb_addr[WbAw-1:0]),
      .rd_data_o(row)
    );
    for (genvar i = 0; i < int'(Taps); i++) begin : gen_weight
      if (TwoPixels && i >= 4 * Cp && i < 8 * Cp) begin : gen_both
        assign weight[r][i] = load_two_q ? row[8*(i-4*Cp)+:8] : row[8*i+:8];
      end else begin : gen_one
        assign weight[r][i] = row[8*i+:8];
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) load_q <= 1'b0;
    else load_q <= wb_rd;
  end
  always_ff @(posedge clk_i) begin
    load_stage_q <= wb_stage;
    load_two_q   <= load_two;
  end

  // ---- array
  logic [Stages-1:0]  total_valid;
  logic signed [31:0] total[Kp];
  /* verilator lint_off UNUSEDSIGNAL */  // with two pixels only
  logic [Stages-1:0]  second_valid;
  logic signed [31:0] second[Kp];
  /* verilator lint_on UNUSEDSIGNAL */

  kt_dpe_array #(
    .Stages   (Stages),
    .StageRows(StageRows),
    .Taps     (Taps),
    .ObDepth  (ObPixels),
    .SumRow   (SumRow),
    .TwoPixels(TwoPixels),
    .Chain    (Chain),
    .Pipelined(Pipelined),
    .MultiplierW(MultiplierW)
  ) u_array (
    .clk_i,
    .rst_ni,
    .token_i      (token_q[3]),
    .pixel_i      (slot3_q.pixel),
    .act_i        (act),
    .weight_zero_i(slot3_q.zero),
    .load_i       (load_q),
    .load_stage_i (load_stage_q),
    .weight_i     (weight),
    .valid_o      (total_valid),
    .total_o      (total),
    .second_valid_o(second_valid),
    .second_o      (second)
  );

  // ---- requantise and realign
  logic signed [31:0] bias[Kp], mult[Kp];
  logic signed [7:0]  shift[Kp], zero[Kp], low[Kp], high[Kp];
  logic [1:0]         rule[Kp];
  logic               some_float;
  logic [Cp*8-1:0]    word[Words];
  logic [Stages-1:0]  lane_valid;
  logic signed [7:0]  lane[Kp];
  logic               result_valid, result_two;
  logic [OutWords*Cp*8-1:0] result;
  // to and from ZSB
  logic               table_rd;
  addr_t              table_addr;
  /* verilator lint_off UNUSEDSIGNAL */  // with tables only
  logic               table_grant;
  logic [63:0]        table_word;
  /* verilator lint_on UNUSEDSIGNAL */

  kt_params #(
    .Stages   (Stages),
    .StageRows(StageRows),
    .Depth    (ZsbDepth),
    .Table    (Table),
    .Delay    (Chain + 1)
  ) u_params (
    .clk_i,
    .rst_ni,
    .start_i    (start_q),
    .base_i     (addr_t'(cmd_q.params)),
    .out_quant_i('{zero: cmd_q.zero, low: cmd_q.low, high: cmd_q.high, rule: cmd_q.rule}),
    .ready_o    (params_ready),
    .tile_i     (swap && token.last),
    .wr_en_i    (zsb_we_i),
    .wr_addr_i  (zsb_addr_i),
    .wr_data_i  (zsb_data_i),
    .table_grant_o(table_grant),
    .table_rd_i (table_rd),
    .table_addr_i(table_addr),
    .table_word_o(table_word),
    .bias_o     (bias),
    .mult_o     (mult),
    .shift_o    (shift),
    .zero_o     (zero),
    .low_o      (low),
    .high_o     (high),
    .rule_o     (rule),
    .float_o    (some_float)
  );

  kt_requant #(
    .Lanes  (Kp),
    .Waves  (Stages),
    .Average(1'b0),
    .Float  (Float)
  ) u_requant (
    .clk_i,
    .rst_ni,
    .valid_i(total_valid),
    .acc_i  (total),
    .bias_i (bias),
    .mult_i (mult),
    .shift_i(shift),
    .zero_i (zero),
    .low_i  (low),
    .high_i (high),
    .rule_i (rule),
    .float_i(some_float),
    .valid_o(lane_valid),
    .data_o (lane)
  );

  kt_align #(
    .Stages   (Stages),
    .StageRows(StageRows),
    .Cp       (Cp)
  ) u_align (
    .clk_i,
    .valid_i(lane_valid),
    .data_i (lane),
    .valid_o(result_valid),
    .word_o (word)
  );
  for (genvar w = 0; w < int'(Words); w++) begin : gen_word
    assign result[w*Cp*8+:Cp*8] = word[w];
  end

  // Lanes of the second pixel, with the parameters of the first
  if (TwoPixels) begin : gen_second
    logic [Stages-1:0] second_lane_valid;
    logic signed [7:0] second_lane[Kp];
    logic [Cp*8-1:0]   second_word[Words];

    kt_requant #(
      .Lanes  (Kp),
      .Waves  (Stages),
      .Average(1'b0),
      .Float  (Float)
    ) u_requant (
      .clk_i,
      .rst_ni,
      .valid_i(second_valid),
      .acc_i  (second),
      .bias_i (bias),
      .mult_i (mult),
      .shift_i(shift),
      .zero_i (zero),
      .low_i  (low),
      .high_i (high),
      .rule_i (rule),
      .float_i(some_float),
      .valid_o(second_lane_valid),
      .data_o (second_lane)
    );

    kt_align #(
      .Stages   (Stages),
      .StageRows(StageRows),
      .Cp       (Cp)
    ) u_align (
      .clk_i,
      .valid_i(second_lane_valid),
      .data_i (second_lane),
      .valid_o(result_two),
      .word_o (second_word)
    );

    for (genvar w = 0; w < int'(Words); w++) begin : gen_word
      assign result[(Words+w)*Cp*8+:Cp*8] = second_word[w];
    end
  end else begin : gen_one
    assign result_two = 1'b0;
  end

  // ---- through a table
  logic [OutWords*Cp*8-1:0] out_result;
  for (genvar w = 0; w < int'(OutWords); w++) begin : gen_out
    assign out_word_o[w] = out_result[w*Cp*8+:Cp*8];
  end

  if (Table) begin : gen_table
    logic       we, look_up, in_second;
    logic [5:0] wr_addr;

    kt_conv_table_loader #(
      .Latency (Stages + Chain + 11),
      .ZsbDepth(ZsbDepth)
    ) u_loader (
      .clk_i,
      .rst_ni,
      .head_i      (cmd_peek_i || cmd_valid_i),
      .look_up_i   (extension_i.look_up),
      .table_word_i(extension_i.table_word),
      .start_i     (start),
      .ready_o     (table_ready),
      .filled_o    (table_filled),
      .zsb_grant_i (table_grant),
      .zsb_rd_o    (table_rd),
      .zsb_addr_o  (table_addr),
      .we_o        (we),
      .wr_addr_o   (wr_addr),
      .look_up_o   (look_up),
      .second_o    (in_second)
    );

    kt_lane_table #(
      .Lanes(OutWords * Cp)
    ) u_table (
      .clk_i,
      .rst_ni,
      .we_i     (we),
      .wr_addr_i(wr_addr),
      .wr_data_i(table_word),
      .valid_i  (result_valid),
      .two_i    (result_two),
      .look_up_i(look_up),
      .second_i (in_second),
      .data_i   (result),
      .valid_o  (out_valid_o),
      .two_o    (out_second_o),
      .data_o   (out_result)
    );
  end else begin : gen_no_table
    assign table_ready  = 1'b1;
    assign table_filled = 1'b1;
    assign table_rd     = 1'b0;
    assign table_addr   = '0;
    assign out_valid_o  = result_valid;
    assign out_second_o = result_two;
    assign out_result   = result;
  end

  assign busy_o   = seq_busy;
  assign active_o = token.valid;

endmodule
