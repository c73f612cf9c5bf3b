// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Read requests of LOAD commands: one for each (row, segment) of LoadRows, one for every other command.
// A command is taken when the one before it has been asked for, so requests run ahead of the data.
module kt_load_request
  import kt_pkg::*;
  import kt_cmd_pkg::*;
#(
  parameter int unsigned AddrW  = 40,
  parameter int unsigned BytesW = 20
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic [AddrW-1:0]    base_i[8],
  // command
  input  logic                cmd_valid_i,
  output logic                cmd_ready_o,
  /* verilator lint_off UNUSEDSIGNAL */  // its number
  input  command_t            cmd_i,
  /* verilator lint_on UNUSEDSIGNAL */
  // request
  output logic                req_valid_o,
  input  logic                req_ready_i,
  output logic [AddrW-1:0]    req_addr_o,
  output logic [BytesW-1:0]   req_bytes_o,
  output logic [3:0]          req_op_o
);

  // StSetup: the products of the command's registers are on their way to bytes_q and last_bytes_q
  typedef enum logic [1:0] {
    StIdle,
    StSetup,
    StRun
  } state_e;

  /* verilator lint_off UNUSEDSIGNAL */  // requests need some fields
  load_rows_t    rows;
  load_weights_t weights;
  load_params_t  params;
  /* verilator lint_on UNUSEDSIGNAL */
  assign rows    = load_rows_t'(cmd_i.body);
  assign weights = load_weights_t'(cmd_i.body);
  assign params  = load_params_t'(cmd_i.body);

  state_e            state_q;
  logic [3:0]        op_q;
  logic [AddrW-1:0]  row_addr_q, addr_q;  // of the row; of the request
  logic [23:0]       row_pitch_q, segment_pitch_q;
  logic [9:0]        rows_q;              // left after this one
  logic [7:0]        segments_q, segment_q;
  logic [9:0]        columns_q;
  logic [14:0]       pixel_q, last_pixel_q;
  logic [BytesW-1:0] bytes_q, last_bytes_q;
  logic              take, fire, row_end;
  logic [AddrW-1:0]  next_row;

  assign take     = cmd_valid_i && state_q == StIdle;
  assign fire     = state_q == StRun && req_ready_i;
  assign row_end  = segment_q == '0;
  assign next_row = row_addr_q + AddrW'(row_pitch_q);

  assign cmd_ready_o = state_q == StIdle;
  assign req_valid_o = state_q == StRun;
  assign req_addr_o  = addr_q;
  assign req_bytes_o = row_end ? last_bytes_q : bytes_q;
  assign req_op_o    = op_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StIdle;
    end else begin
      unique case (state_q)
        StIdle:  if (take) state_q <= StSetup;
        StSetup: state_q <= StRun;
        default: if (fire && row_end && rows_q == '0) state_q <= StIdle;
      endcase
    end
  end

  // Offset, base and the three bits below them stand at the same place in every LOAD command. The other two operations
  // are one row of one segment of one column, and so is a row of an image.
  always_ff @(posedge clk_i) begin
    if (take) begin
      op_q            <= cmd_i.op;
      row_addr_q      <= base_i[rows.base] + AddrW'(rows.offset);
      addr_q          <= base_i[rows.base] + AddrW'(rows.offset);
      row_pitch_q     <= rows.row_pitch;
      segment_pitch_q <= rows.segment_pitch;
      rows_q          <= '0;
      segments_q      <= '0;
      segment_q       <= '0;
      columns_q       <= 10'd1;
      pixel_q         <= {1'b0, rows.pixel_bytes};
      unique case (cmd_i.op)
        OpLoadRows: begin
          rows_q       <= rows.rows - 10'd1;
          segments_q   <= rows.segments - 8'd1;
          segment_q    <= rows.segments - 8'd1;
          if (rows.step_bytes == '0) begin
            columns_q    <= rows.columns;
            last_pixel_q <= {1'b0, rows.last_pixel_bytes};
          end else begin
            last_pixel_q <= {1'b0, rows.row_bytes};
          end
        end
        OpLoadParams: last_pixel_q <= 15'({params.count, 3'b000}) + 15'(params.count);
        default:      last_pixel_q <= weights.bytes;
      endcase
    end else if (fire) begin
      if (row_end) begin
        rows_q     <= rows_q - 10'd1;
        segment_q  <= segments_q;
        row_addr_q <= next_row;
        addr_q     <= next_row;
      end else begin
        segment_q <= segment_q - 8'd1;
        addr_q    <= addr_q + AddrW'(segment_pitch_q);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (state_q == StSetup) begin
      bytes_q      <= BytesW'(some_bytes(25'(columns_q) * 25'(pixel_q), BytesW));
      last_bytes_q <= BytesW'(some_bytes(25'(columns_q) * 25'(last_pixel_q), BytesW));
    end
  end

endmodule
