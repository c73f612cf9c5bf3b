// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Holds the next command and prepares its plan while the one before still runs: products by the stride and by the
// padding as repeated sums, the slots of the first four rows one a cycle, and where a row of windows ends in two steps.
// Ready after max(3, stride, pad_left) cycles, of large windows after 6 at most besides.
module kt_vector_setup
  import kt_pkg::*;
  import kt_vector_pkg::*;
#(
  parameter bit LargeWindows = 1  // windows above 3 x 3 may be streamed
) (
  input  logic      clk_i,
  input  logic      rst_ni,
  input  logic      start_i,  // only while valid_o is low
  input  vec_cmd_t  cmd_i,
  input  logic      take_i,   // only while ready_o is high
  output logic      valid_o,
  output logic      planned_o,  // plan_o.stream is known
  output logic      ready_o,
  output vec_cmd_t  cmd_o,
  output vec_plan_t plan_o
);

  logic        valid_q, planned_q;
  vec_cmd_t    cmd_q;
  logic [3:0]  count_q;
  word_t       step_q, origin_q;
  word_t [2:1] start_q;
  addr_t [3:0] slots_q;
  logic        ready_q;

  logic            is_large;
  logic [1:0]      last_tile;  // kernel tiles side by side, less one
  logic [3:0][3:0] offset;
  logic [2:0][3:0] start;

  // left column of a row's last window; whether the kernel tiles of that one end inside the map
  logic signed [12:0] last_left, last_left_q;
  logic [2:0]         ends_inside, ends_inside_q;

  // one cycle further
  logic ready;
  assign ready = (count_q >= 4'd2) && (count_q + 4'd1 >= cmd_q.stride) && (count_q + 4'd1 >= cmd_q.pad_left)
              && (!is_large || (count_q + 4'd1 >= start[last_tile]));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q   <= 1'b0;
      planned_q <= 1'b0;
      ready_q   <= 1'b0;
    end else if (start_i) begin
      valid_q   <= 1'b1;
    end else if (take_i) begin
      valid_q   <= 1'b0;
      planned_q <= 1'b0;
      ready_q   <= 1'b0;
    end else if (valid_q) begin
      planned_q <= 1'b1;
      ready_q   <= ready_q || ready;
    end
  end

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      cmd_q    <= cmd_i;
      count_q  <= '0;
      step_q   <= '0;
      origin_q <= cmd_i.group;
      start_q  <= '0;
      slots_q  <= {cmd_i.slot, 48'd0};
    end else if (valid_q && !ready_q) begin
      last_left_q   <= last_left;
      ends_inside_q <= ends_inside;
      count_q <= count_q + 4'd1;
      if (count_q < cmd_q.stride) step_q <= word_add(step_q, cmd_q.pixel);
      if (count_q < cmd_q.pad_left) origin_q <= word_sub(origin_q, cmd_q.pixel);
      for (int unsigned t = 1; t < 3; t++) begin
        if (count_q < start[t]) start_q[t] <= word_add(start_q[t], cmd_q.pixel);
      end
      if (count_q < 4'd3) slots_q <= {next_slot(cmd_q.ring, slots_q[3]), slots_q[3:1]};
    end
  end

  // Kernel tiles side by side: the first column of each in the kernel (and behind the last one), and of the map's columns
  // the first one it reads.
  always_comb begin
    last_tile = (cmd_q.kernel_columns > 8'd6) ? 2'd2 : (cmd_q.kernel_columns > 8'd3) ? 2'd1 : 2'd0;
    offset    = '0;
    start     = '0;
    for (int unsigned t = 0; t < 3; t++) begin
      offset[t+1] = offset[t] + 4'(tile_width(cmd_q.kernel_columns[3:0] - offset[t]));
      if (LargeWindows && (offset[t] > cmd_q.pad_left)) start[t] = offset[t] - cmd_q.pad_left;
    end
  end

  // Streaming pays when neighbouring windows share columns. Small windows wholly outside the map would need columns that
  // were never read; of a large window every kernel tile reads a column at least, and its rows are no longer than the
  // memory of the sums. All others run window by window.
  logic               shares, is_small, is_stream;
  logic [1:0]         stride_mod3;

  assign last_left = $signed({2'b0, cmd_q.stride[1] ? {cmd_q.columns - 10'd1, 1'b0} : {1'b0, cmd_q.columns - 10'd1}})
                   - $signed({9'd0, cmd_q.pad_left});
  assign shares    = (cmd_q.kind != KindAdd) && ({4'd0, cmd_q.stride} < cmd_q.kernel_columns)
                  && ({4'd0, cmd_q.pad_left} < cmd_q.kernel_columns);
  assign is_small  = shares && (cmd_q.kernel_rows <= 8'd3) && (cmd_q.kernel_columns <= 8'd3)
                  && (last_left_q < $signed({3'd0, cmd_q.in_width}));
  assign is_large  = LargeWindows && shares && ((cmd_q.kernel_rows > 8'd3) || (cmd_q.kernel_columns > 8'd3))
                  && (cmd_q.kernel_rows <= 8'(MaxLarge)) && (cmd_q.kernel_columns <= 8'(MaxLarge))
                  && (cmd_q.stride <= 4'd2) && (cmd_q.columns >= 10'(MinColumns)) && (cmd_q.columns <= 10'(SumColumns))
                  && (last_left_q + $signed({9'd0, offset[1]}) > 0) && ({6'd0, start[last_tile]} < cmd_q.in_width);
  assign is_stream = is_small || is_large;

  always_comb begin
    unique case (cmd_q.stride)
      4'd1, 4'd4, 4'd7, 4'd10, 4'd13: stride_mod3 = 2'd1;
      4'd2, 4'd5, 4'd8, 4'd11, 4'd14: stride_mod3 = 2'd2;
      default:                        stride_mod3 = 2'd0;
    endcase
  end

  // Columns of the map that the windows of a streamed row cover.
  logic [2:0][9:0] columns_read;
  always_comb begin
    ends_inside  = '0;
    columns_read = '0;
    for (int unsigned t = 0; t < (LargeWindows ? 3 : 1); t++) begin
      automatic logic [3:0]        behind = ends_inside_q[t] ? offset[t+1] : 4'd0;
      automatic logic signed [4:0] more = $signed({1'b0, behind}) - $signed({1'b0, start[t]});
      ends_inside[t]  = last_left_q + $signed({9'd0, offset[t+1]}) < $signed({3'd0, cmd_q.in_width});
      columns_read[t] = (ends_inside_q[t] ? last_left_q[9:0] : cmd_q.in_width) + 10'(more);
    end
  end

  /* verilator lint_off UNUSEDSIGNAL */  // the fraction
  logic [16:0] third;         // (kernel_rows + 2) / 3 in its upper bits
  /* verilator lint_on UNUSEDSIGNAL */
  assign third = ({9'd0, cmd_q.kernel_rows} + 17'd2) * 17'd171;

  always_comb begin
    plan_o = '{
      stream:       is_stream,
      tiled:        is_large,
      windows:      is_stream ? 10'd1 : cmd_q.columns,
      kernel_tiles: (cmd_q.kind != KindAdd) ? third[15:9] : cmd_q.pair ? 7'd1 : 7'd2 + 7'(cmd_q.more_operands),
      last_tile:    is_large ? last_tile : 2'd0,
      steps:        is_stream ? columns_read : 30'(cmd_q.kernel_columns),
      tile_start:   {start_q, 18'd0},
      window_step:  step_q,
      origin:       is_stream ? cmd_q.group : origin_q,
      stride_mod3:  stride_mod3,
      slots:        slots_q
    };
  end

  assign valid_o   = valid_q;
  assign planned_o = planned_q;
  assign ready_o   = ready_q;
  assign cmd_o     = cmd_q;

endmodule
