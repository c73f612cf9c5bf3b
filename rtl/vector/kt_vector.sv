// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Vector engine: commands Window (depthwise convolution, maximum, average) and Add (sum, difference, product) on 3 * Cp
// lanes. Reads VB by nine bank requests (words in the cycle after the registered request); results go to a
// kt_result_writer outside. The vector weight buffer (VWB) and the parameter buffer (ZSB) are in here.
// All stalls happen in the sequencer; a step issued in slot t:
//
//   t     decision, read taken, credit taken        t+5   window sum; Add: rounding shift; ZSB read of an average
//   t+1   request to VB                             t+6   accumulator; parameters become current
//   t+2   words into the line buffer; VWB read      t+7   requantiser, six stages
//   t+3   window column cells; weights current      t+13  result to the writer
//   t+4   products; Add: operand multiplier           t+14  if it went through a wide table, t+16 a narrow one
//
// Slots of a result of three channel groups: 1 for windows up to 3 x 3 and stride 1, 2 for stride 2 (streamed rows);
// with LargeWindows these for each of their ceil(kernel_rows / 3) * ceil(kernel_columns / 3) kernel tiles for windows up to
// 9 x 9; ceil(kernel_rows / 3) * kernel_columns for other windows; the operands of Add, or one for a pair of them; at least 3 with a narrow table. A depthwise
// tile needs 3 * Cp + 7 slots, to load its parameters; this only shows in smaller tiles and before the first command.
// Commands taken while another runs follow it with one idle slot, streamed ones with up to three (the line buffer
// starts anew).
module kt_vector
  import kt_cmd_pkg::*;
  import kt_pkg::*;
  import kt_vector_pkg::*;
#(
  parameter int unsigned Cp       = 8,
  parameter bit          AddPair  = 1,  // two operands of Add in a slot
  parameter bit          LargeWindows    = 1,  // windows up to 9 x 9 are streamed
  parameter bit          Float    = 1,  // rule `float`
  parameter bit          Average  = 1,  // windows of kind average, rule `average`
  parameter bit          Table    = 1,  // results may go through a table
  parameter bit          WideTable = 0, // which is read at all lanes of a result in the same cycle
  parameter int unsigned VwbRows  = 1024,
  parameter int unsigned ZsbDepth = 1024
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  // queue
  input  logic                cmd_valid_i,
  output logic                cmd_ready_o,
  input  command_t            cmd_i,
  // VWB and ZSB, written by LOAD; addresses are as wide as the largest memory
  /* verilator lint_off UNUSEDSIGNAL */
  input  logic                vwb_we_i,
  input  addr_t               vwb_addr_i,
  input  logic [9*Cp*8-1:0]   vwb_data_i,
  input  logic                zsb_we_i,
  input  addr_t               zsb_addr_i,
  input  requant_params_t     zsb_data_i,
  /* verilator lint_on UNUSEDSIGNAL */
  // VB
  output bank_req_t           rd_req_o  [9],
  input  logic [Cp*8-1:0]     word_i [9],
  // result writer
  output logic                out_start_o,
  output out_cmd_t            out_cmd_o,
  input  logic                out_ready_i,
  output logic                out_take_o,
  input  logic                out_credit_i,
  output logic                out_valid_o,
  output logic [Cp*8-1:0]     out_word_o [3],
  output logic                active_o   // a step is emitted in this cycle
);

  localparam int unsigned Lanes  = 3 * Cp;
  localparam int unsigned LaneW  = $clog2(Lanes);
  localparam int unsigned LanesP = array_size(Lanes);
  localparam int unsigned Cells  = array_size(9 * Cp);
  localparam int unsigned VwbAw = $clog2(VwbRows);
  localparam int unsigned ZsbAw = $clog2(ZsbDepth);

  if (Cp < 2 || Cp != 1 << $clog2(Cp)) begin : gen_check_cp  // kt_load_rows divides by it, too
    $error("Cp must be a power of two, 2 or more");
  end

  // ---- commands: the next one (setup), the running one
  vec_cmd_t  decoded, next_cmd, cmd_q;
  vec_plan_t next_plan, plan_q;
  logic      next_valid, next_planned, next_ready, take, start_q;
  logic      seq_busy, seq_finish;
  logic      loader_ready, loader_start, claimed_q;  // claimed: the loader has begun with the next command
  logic      weights_ready, weights_start, weights_claimed_q;

  kt_vector_decode u_decode (
    .valid_i(cmd_valid_i),
    .op_i   (cmd_i.op),
    .cmd_i  (cmd_i.body),
    .index_i(cmd_i.index),
    .cmd_o  (decoded),
    .out_o  (out_cmd_o)
  );

  assign cmd_ready_o  = !next_valid && out_ready_i;
  assign out_start_o  = cmd_valid_i && cmd_ready_o;
  assign loader_start = next_valid && !claimed_q && loader_ready;
  assign weights_start = next_planned && !weights_claimed_q && weights_ready;
  assign take         = next_ready && (claimed_q || loader_start) && (weights_claimed_q || weights_start) && !start_q
                     && (!seq_busy || seq_finish);

  kt_vector_setup #(
    .LargeWindows(LargeWindows)
  ) u_setup (
    .clk_i,
    .rst_ni,
    .start_i  (out_start_o),
    .cmd_i    (decoded),
    .take_i   (take),
    .valid_o  (next_valid),
    .planned_o(next_planned),
    .ready_o  (next_ready),
    .cmd_o    (next_cmd),
    .plan_o   (next_plan)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      start_q           <= 1'b0;
      claimed_q         <= 1'b0;
      weights_claimed_q <= 1'b0;
    end else begin
      start_q           <= take;
      claimed_q         <= (claimed_q || loader_start) && !take;
      weights_claimed_q <= (weights_claimed_q || weights_start) && !take;
    end
  end
  always_ff @(posedge clk_i) begin
    if (take) begin
      cmd_q  <= next_cmd;
      plan_q <= next_plan;
    end
  end

  // ---- sequencer and reader
  logic               rd, rd_ready, rd_first, rd_last, loaded, weights_loaded;
  logic               table_room;
  logic               weights_again, weights_other, weights_none;
  logic [1:0]         rd_column, rd_operand;
  logic [2:0]         rd_off_map, rd_missing;
  vec_token_t         token0;
  addr_t              weight_row;
  /* verilator lint_off UNUSEDSIGNAL */  // of averages only
  logic signed [11:0] column;
  logic signed [12:0] row;
  /* verilator lint_on UNUSEDSIGNAL */

  kt_vector_seq u_seq (
    .clk_i,
    .rst_ni,
    .start_i      (start_q),
    .cmd_i        (cmd_q),
    .plan_i       (plan_q),
    .busy_o       (seq_busy),
    .finish_o     (seq_finish),
    .rd_ready_i   (rd_ready),
    .rd_first_i   (rd_first),
    .rd_last_i    (rd_last),
    .rd_operand_i (rd_operand),
    .rd_o         (rd),
    .rd_column_o  (rd_column),
    .loaded_i     (loaded),
    .weights_loaded_i(weights_loaded),
    .credit_i     (out_credit_i && table_room),
    .take_o       (out_take_o),
    .again_o      (weights_again),
    .other_o      (weights_other),
    .none_o       (weights_none),
    .token_o      (token0),
    .weight_row_o (weight_row),
    .column_o     (column),
    .row_o        (row)
  );

  kt_vector_reader #(
    .Pair(AddPair)
  ) u_reader (
    .clk_i,
    .start_i  (start_q),
    .cmd_i    (cmd_q),
    .plan_i   (plan_q),
    .rd_i     (rd),
    .ready_o  (rd_ready),
    .first_o  (rd_first),
    .last_o   (rd_last),
    .operand_o(rd_operand),
    .rd_req_o,
    .off_map_o(rd_off_map),
    .missing_o(rd_missing)
  );

  // ---- a step's way through the pipeline
  vec_token_t token1_q, token2_q, token3_q, token4_q, token5_q, token6_q;
  // cells to be replaced are known with the request
  /* verilator lint_off UNUSEDSIGNAL */
  vec_push_t  push1_q;
  /* verilator lint_on UNUSEDSIGNAL */
  vec_push_t  push2_q;
  addr_t      weight_row1_q, weight_row2_q;
  logic [7:0] weight_zero1_q, weight_zero2_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      token1_q <= '0;
      token2_q <= '0;
      token3_q <= '0;
      token4_q <= '0;
      token5_q <= '0;
      token6_q <= '0;
      push1_q  <= '0;
      push2_q  <= '0;
    end else begin
      token1_q <= token0;
      token2_q <= token1_q;
      token3_q <= token2_q;
      token4_q <= token3_q;
      token5_q <= token4_q;
      token6_q <= token5_q;
      push1_q  <= '{valid: rd, column: rd_column, off_map: '0, missing: '0, pad_value: cmd_q.pad_value,
                    neutral: neutral_value(cmd_q.kind)};
      push2_q  <= '{valid: push1_q.valid, column: push1_q.column, off_map: rd_off_map, missing: rd_missing,
                    pad_value: push1_q.pad_value, neutral: push1_q.neutral};
    end
  end
  always_ff @(posedge clk_i) begin
    weight_row1_q  <= weight_row;
    weight_row2_q  <= weight_row1_q;
    weight_zero1_q <= cmd_q.weight_zero;
    weight_zero2_q <= weight_zero1_q;
  end

  // ---- VWB, read step by step or, ahead of a tile, by the loader
  logic              step_weights2, step_weights3_q, loader_vwb_rd, vwb_rd;
  logic              vwb_read_q, shadow_we_q;
  logic [1:0]        loader_column, shadow_column_q;
  // as wide as the largest memory
  /* verilator lint_off UNUSEDSIGNAL */
  addr_t             loader_vwb_addr, vwb_addr;
  /* verilator lint_on UNUSEDSIGNAL */
  logic [Cp*8-1:0]   vwb_word[9];
  logic [7:0]        loader_zero, vwb_zero_q;
  logic signed [7:0] weight[Cells];

  assign step_weights2 = token2_q.valid && (token2_q.kind == KindDepthwise) && !token2_q.stream;
  assign vwb_rd        = step_weights2 || loader_vwb_rd;
  assign vwb_addr      = step_weights2 ? weight_row2_q : loader_vwb_addr;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      step_weights3_q <= 1'b0;
      shadow_we_q     <= 1'b0;
      vwb_read_q      <= 1'b0;
    end else begin
      step_weights3_q <= step_weights2;
      shadow_we_q     <= loader_vwb_rd;
      vwb_read_q      <= vwb_rd;
    end
  end
  always_ff @(posedge clk_i) begin
    shadow_column_q <= loader_column;
    vwb_zero_q      <= step_weights2 ? weight_zero2_q : loader_zero;
  end

  for (genvar t = 0; t < 9; t++) begin : gen_vwb
    kt_ram_1r1w #(
      .Width(Cp * 8),
      .Depth(VwbRows)
    ) u_vwb (
      .clk_i,
      .wr_en_i  (vwb_we_i),
      .wr_addr_i(vwb_addr_i[VwbAw-1:0]),
      .wr_data_i(vwb_data_i[Cp*8*t+:Cp*8]),
      .rd_en_i  (vwb_rd),
      .rd_addr_i(vwb_addr[VwbAw-1:0]),
      .rd_data_o(vwb_word[t])
    );
  end

  always_comb begin
    weight = '{default: '0};
    if (vwb_read_q) begin
      for (int unsigned t = 0; t < 9; t++) begin
        automatic logic [Cp*8-1:0] word = vwb_word[t];
        for (int unsigned b = 0; b < Cp; b++) weight[t*Cp+b] = word[8*b+:8];
      end
    end
  end

  // ---- window
  logic signed [7:0] line0[Cells], line1[Cells], line2[Cells], line3[Cells];

  kt_vector_line_buf #(
    .Cp(Cp)
  ) u_line_buf (
    .clk_i,
    .push_i   (push2_q),
    .word_i,
    .column0_o(line0),
    .column1_o(line1),
    .column2_o(line2),
    .column3_o(line3)
  );

  for (genvar c = 0; c < 3; c++) begin : gen_column
    // the operands of Add are the first column's cells
    /* verilator lint_off UNUSEDSIGNAL */
    logic signed [7:0]  cells[Cells];
    /* verilator lint_on UNUSEDSIGNAL */
    logic signed [31:0] partial[LanesP];
    kt_vector_column #(
      .Cp    (Cp),
      .Column(c)
    ) u_column (
      .clk_i,
      .window_i   (token3_q),
      .product_i  (token4_q),
      .column0_i  (line0),
      .column1_i  (line1),
      .column2_i  (line2),
      .column3_i  (line3),
      .shadow_we_i(shadow_we_q && (shadow_column_q == 2'(c))),
      .row_we_i   (step_weights3_q && (c == 0)),
      .weight_i   (weight),
      .zero_i     (vwb_zero_q),
      .cell_o     (cells),
      .sum_o      (partial)
    );
  end

  // ---- operand of Add
  logic               param_we_q;
  param_dest_e        dest_q;
  logic [LaneW-1:0]   lane_q;  // lane or operand
  requant_params_t    zsb_word;
  logic signed [31:0] operand[LanesP];

  kt_vector_operand #(
    .Cp  (Cp),
    .Pair(AddPair)
  ) u_operand (
    .clk_i,
    .we_i       (param_we_q && (dest_q == ToOperand)),
    .we_operand_i(lane_q[1:0]),
    .word_i     (zsb_word),
    .swap_i     (token3_q.swap),
    .next_operand_i(token3_q.operand),
    .next_element_i(token3_q.element),
    .valid_i    (token4_q.valid && (token4_q.kind == KindAdd)),
    .pair_i     (token4_q.pair),
    .cell_i     (gen_column[0].cells),
    .valid1_i   (token5_q.valid && (token5_q.kind == KindAdd)),
    .negate1_i  ((token5_q.operand != '0) ? (token5_q.element == ElementSub) : (token5_q.element == ElementReverseSub)),
    .pair1_i    (token5_q.pair && (token5_q.element != ElementProduct)),
    .negate_second1_i(token5_q.element == ElementSub),
    .sum_o      (operand)
  );

  // ---- step: columns together, or an operand
  logic signed [31:0] step_q[LanesP];
  always_ff @(posedge clk_i) begin
    if (token5_q.valid) begin
      automatic logic signed [31:0] step[LanesP] = operand;
      if (token5_q.kind == KindMaximum) begin
        for (int unsigned l = 0; l < Lanes; l++) begin
          automatic logic signed [31:0] m = as_cell(gen_column[0].partial[l]);
          if (token5_q.columns[1] && (as_cell(gen_column[1].partial[l]) > m)) m = as_cell(gen_column[1].partial[l]);
          if (token5_q.columns[2] && (as_cell(gen_column[2].partial[l]) > m)) m = as_cell(gen_column[2].partial[l]);
          step[l] = m;
        end
      end else if (token5_q.kind != KindAdd) begin
        for (int unsigned l = 0; l < Lanes; l++) begin
          step[l] = as_sum(gen_column[0].partial[l]) + (as_sum(gen_column[1].partial[l]) & {32{token5_q.columns[1]}})
                                                     + (as_sum(gen_column[2].partial[l]) & {32{token5_q.columns[2]}});
        end
      end
      step_q <= step;
    end
  end

  // ---- ZSB, read result by result (average) or, ahead of a tile, by the loader
  logic             average5, average6_q, loader_zsb_rd;
  addr_t            average_addr2, average_addr3_q, average_addr4_q, average_addr5_q;
  // as wide as the largest memory
  /* verilator lint_off UNUSEDSIGNAL */
  addr_t            loader_zsb_addr, zsb_addr;
  /* verilator lint_on UNUSEDSIGNAL */
  param_dest_e      loader_dest;
  logic [LaneW-1:0] loader_lane;
  /* verilator lint_off UNUSEDSIGNAL */  // of tables only
  logic [5:0]       loader_table;
  /* verilator lint_on UNUSEDSIGNAL */
  out_quant_t       out_quant;

  assign average5 = Average && token5_q.last && (token5_q.kind == KindAverage);
  assign zsb_addr = average5 ? average_addr5_q : loader_zsb_addr;

  if (Average) begin : gen_outside
    kt_vector_outside u_outside (
      .clk_i,
      .valid_i         (token0.last && (token0.kind == KindAverage)),
      .row_i           (row),
      .column_i        (column),
      .kernel_rows_i   (cmd_q.kernel_rows),
      .kernel_columns_i(cmd_q.kernel_columns),
      .height_i        (cmd_q.in_height),
      .width_i         (cmd_q.in_width),
      .params_i        (cmd_q.params),
      .addr_o          (average_addr2)
    );
  end else begin : gen_no_outside
    assign average_addr2 = '0;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      average6_q <= 1'b0;
      param_we_q <= 1'b0;
    end else begin
      average6_q <= average5;
      param_we_q <= loader_zsb_rd;
    end
  end
  always_ff @(posedge clk_i) begin
    average_addr3_q <= average_addr2;
    average_addr4_q <= average_addr3_q;
    average_addr5_q <= average_addr4_q;
    dest_q          <= loader_dest;
    lane_q          <= loader_lane;
  end

  kt_ram_1r1w #(
    .Width($bits(requant_params_t)),
    .Depth(ZsbDepth)
  ) u_zsb (
    .clk_i,
    .wr_en_i  (zsb_we_i),
    .wr_addr_i(zsb_addr_i[ZsbAw-1:0]),
    .wr_data_i(zsb_data_i),
    .rd_en_i  (average5 || loader_zsb_rd),
    .rd_addr_i(zsb_addr[ZsbAw-1:0]),
    .rd_data_o(zsb_word)
  );

  kt_vector_loader #(
    .Cp(Cp)
  ) u_loader (
    .clk_i,
    .rst_ni,
    .start_i     (loader_start),
    .cmd_i       (next_cmd),
    .ready_o     (loader_ready),
    .loaded_o    (loaded),
    .swap_i      (token0.swap),
    .swapped_i   (token5_q.swap),
    .zsb_grant_i (!average5),
    .zsb_rd_o    (loader_zsb_rd),
    .zsb_addr_o  (loader_zsb_addr),
    .zsb_dest_o  (loader_dest),
    .zsb_lane_o  (loader_lane),
    .zsb_table_o (loader_table),
    .out_quant_o (out_quant)
  );

  kt_vector_weights u_weights (
    .clk_i,
    .rst_ni,
    .start_i (weights_start),
    .cmd_i   (next_cmd),
    .stream_i(next_plan.stream),
    .ready_o (weights_ready),
    .loaded_o(weights_loaded),
    .swap_i  (token0.swap_weights),
    .again_i (weights_again),
    .other_i (weights_other),
    .none_i  (weights_none),
    .grant_i (!step_weights2),
    .rd_o    (loader_vwb_rd),
    .addr_o  (loader_vwb_addr),
    .column_o(loader_column),
    .zero_o  (loader_zero)
  );

  // ---- accumulate, requantise
  logic            result_valid;
  logic [Cp*8-1:0] result_word[3];
  kt_vector_result #(
    .Cp     (Cp),
    .LargeWindows(LargeWindows),
    .Float  (Float),
    .Average(Average)
  ) u_result (
    .clk_i,
    .rst_ni,
    .before_i   (token5_q),
    .token_i    (token6_q),
    .step_i     (step_q),
    .lane_we_i  (param_we_q && (dest_q == ToLane)),
    .lane_i     (lane_q),
    .all_we_i   (param_we_q && (dest_q == ToAll)),
    .average_i  (average6_q),
    .word_i     (zsb_word),
    .out_quant_i(out_quant),
    .valid_o    (result_valid),
    .word_o     (result_word)
  );

  // ---- table: which one, if any, follows a result through the requantiser
  if (Table) begin : gen_table
    localparam int unsigned Latency = 7;  // of kt_vector_result
    logic [Latency-1:0] look_up_q, second_q;
    logic [5:0]         table_addr_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) look_up_q <= '0;
      else look_up_q <= {look_up_q[Latency-2:0], token6_q.last && token6_q.look_up};
    end
    always_ff @(posedge clk_i) begin
      second_q     <= {second_q[Latency-2:0], token6_q.second};
      table_addr_q <= loader_table;
    end

    logic table_we;
    assign table_we = param_we_q && (dest_q == ToTable);

    if (WideTable) begin : gen_wide
      logic [Lanes*8-1:0] found;
      logic               unused_two;
      kt_lane_table #(
        .Lanes(Lanes)
      ) u_table (
        .clk_i,
        .rst_ni,
        .we_i     (table_we),
        .wr_addr_i(table_addr_q),
        .wr_data_i({zsb_word.mult, zsb_word.bias}),
        .valid_i  (result_valid),
        .two_i    (1'b0),
        .look_up_i(look_up_q[Latency-1]),
        .second_i (second_q[Latency-1]),
        .data_i   ({result_word[2], result_word[1], result_word[0]}),
        .valid_o  (out_valid_o),
        .two_o    (unused_two),
        .data_o   (found)
      );
      for (genvar w = 0; w < 3; w++) begin : gen_word
        assign out_word_o[w] = found[w*Cp*8+:Cp*8];
      end
      assign table_room = 1'b1;
    end else begin : gen_narrow
      kt_vector_table #(
        .Cp(Cp)
      ) u_table (
        .clk_i,
        .rst_ni,
        .we_i      (table_we),
        .wr_addr_i (table_addr_q),
        .wr_data_i ({zsb_word.mult, zsb_word.bias}),
        .room_o    (table_room),
        .ask_i     (out_take_o && cmd_q.look_up),
        .ask_last_i(seq_finish),
        .valid_i   (result_valid),
        .look_up_i (look_up_q[Latency-1]),
        .second_i  (second_q[Latency-1]),
        .word_i    (result_word),
        .valid_o   (out_valid_o),
        .word_o    (out_word_o)
      );
    end
  end else begin : gen_no_table
    assign table_room  = 1'b1;
    assign out_valid_o = result_valid;
    assign out_word_o  = result_word;
  end

  assign active_o = token0.valid;

endmodule
