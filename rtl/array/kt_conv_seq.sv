// Slot sequencer of one CONV command. A slot may request one SB read and may emit one window; both decisions are made
// here, in order, and everything behind is a pipeline of fixed latency without a stall input.
//
// Columns are counted from the start of the command (modulo 16): `pushed` have been requested, the window to be emitted
// starts at `left`. The line buffer holds four columns, hence the two rules
//   read when pushed + cols - left <= 4           (the window of this slot is not overwritten)
//   emit when all columns of the window inside the map have been requested, this slot's read included.
// Columns outside the map are never read: a window at a row's right edge leaves the read port free for the first column
// of the next row, next pass or next tile, so rows and passes follow without a bubble.
module kt_conv_seq
  import kt_cmd_pkg::*;
#(
  parameter int unsigned ObAw = 9
) (
  input  logic            clk_i,
  input  logic            rst_ni,
  input  logic            start_i,
  // reader and sequencer each use their own fields of the command
  /* verilator lint_off UNUSEDSIGNAL */
  input  conv_t           cmd_i,       // stable from start to the end of busy
  /* verilator lint_on UNUSEDSIGNAL */
  output logic            busy_o,
  // reader
  input  logic            rd_done_i,
  output logic            rd_o,
  output logic [1:0]      rd_col_o,    // line buffer column the read goes to
  // permission: weights of the next pass are on their way; parameters of the next tile can be read; a result slot is free
  input  logic            weights_i,
  input  logic            params_i,
  input  logic            credit_i,
  output logic            swap_o,      // a pass starts in this slot
  output logic            last_tile_o,
  output logic            result_o,    // this slot's window ends in a result
  // why no window is emitted in this slot
  output logic            wait_weights_o,
  output logic            wait_credit_o,
  // the window emitted in this slot
  output kt_array_pkg::token_t token_o,
  output logic [ObAw-1:0] pixel_o,
  output logic [1:0]      win_col_o,   // line buffer column of the window's left column
  output logic            edge_o [3]   // window columns outside the map
);

  logic               busy_q;
  logic [9:0]         x_q, y_q, pass_q, tile_q;  // left after this one
  logic [ObAw-1:0]    pixel_q;
  logic               pass_start_q, first_pass_q;
  logic [3:0]         pushed_q, base_q, left_q;  // base: column 0 of the emitted row
  logic signed [10:0] column_q;                  // input column of the window's left column
  logic signed [10:0] column_next;

  logic               one_by_one, stride2;
  logic [3:0]         cols, held;
  logic signed [10:0] to_edge;  // columns of the map from the window's left column on
  logic [3:0]         need;
  logic               may_emit, emit, read;

  assign one_by_one = cmd_i.mode == kt_array_pkg::Mode1x1;
  assign stride2    = cmd_i.stride == 2'd2;
  assign cols       = stride2 ? 4'd2 : 4'd1;
  assign held       = pushed_q - left_q;
  assign to_edge    = $signed({1'b0, cmd_i.in_width}) - column_q;
  assign need       = (to_edge < 11'sd3) ? to_edge[3:0] : 4'd3;

  logic last_pass, weights_ok;
  assign last_pass  = pass_q == '0;
  assign weights_ok = !pass_start_q || (weights_i && (params_i || !last_pass));
  assign may_emit   = busy_q && weights_ok && (credit_i || !last_pass);
  always_comb begin
    if (one_by_one) begin
      read = may_emit;
      emit = may_emit;
    end else begin
      read = busy_q && !rd_done_i && (held + cols <= 4'd4);
      emit = may_emit && (held + (read ? cols : 4'd0) >= need);
    end
  end

  logic row_end, pass_end, tile_end, last;
  assign row_end     = x_q == '0;
  assign pass_end    = row_end && (y_q == '0);
  assign tile_end    = pass_end && last_pass;
  assign last        = emit && tile_end && (tile_q == '0);
  assign column_next = column_q + $signed({7'd0, cols});

  logic [3:0] row_cols, pad;
  assign row_cols = stride2 ? {cmd_i.reads[2:0], 1'b0} : cmd_i.reads[3:0];
  assign pad      = cmd_i.pad_left;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) busy_q <= 1'b0;
    else if (start_i) busy_q <= 1'b1;
    else if (last) busy_q <= 1'b0;
  end

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      x_q          <= cmd_i.columns - 10'd1;
      y_q          <= cmd_i.rows - 10'd1;
      pass_q       <= cmd_i.passes - 10'd1;
      tile_q       <= cmd_i.tiles - 10'd1;
      pixel_q      <= '0;
      pass_start_q <= 1'b1;
      first_pass_q <= 1'b1;
      pushed_q     <= '0;
      base_q       <= '0;
      left_q       <= -pad;
      column_q     <= -$signed({7'd0, pad});
    end else begin
      if (read) pushed_q <= pushed_q + cols;
      if (emit) begin
        pixel_q      <= pass_end ? '0 : pixel_q + 1'b1;
        pass_start_q <= pass_end;
        x_q          <= row_end ? cmd_i.columns - 10'd1 : x_q - 10'd1;
        left_q       <= row_end ? base_q + row_cols - pad : left_q + cols;
        column_q     <= row_end ? -$signed({7'd0, pad}) : column_next;
        if (row_end) begin
          base_q <= base_q + row_cols;
          y_q    <= pass_end ? cmd_i.rows - 10'd1 : y_q - 10'd1;
        end
        if (pass_end) begin
          pass_q       <= tile_end ? cmd_i.passes - 10'd1 : pass_q - 10'd1;
          first_pass_q <= tile_end;
        end
        if (tile_end) tile_q <= tile_q - 10'd1;
      end
    end
  end

  assign busy_o         = busy_q;
  assign rd_o           = read;
  assign rd_col_o       = pushed_q[1:0];
  assign last_tile_o    = tile_q == '0;
  assign swap_o         = emit && pass_start_q;
  assign result_o       = emit && last_pass;
  assign wait_weights_o = busy_q && !weights_ok;
  assign wait_credit_o  = busy_q && weights_ok && last_pass && !credit_i;
  assign token_o        = '{valid: emit, swap: swap_o, first: first_pass_q, last: last_pass};
  assign pixel_o        = pixel_q;
  assign win_col_o      = left_q[1:0];
  always_comb begin
    for (int c = 0; c < 3; c++) edge_o[c] = !one_by_one && ((column_q + 11'(c) < 0) || (to_edge <= 11'(c)));
  end

endmodule
