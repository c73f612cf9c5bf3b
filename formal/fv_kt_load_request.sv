// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

`include "fv.svh"
// The requests of a command, whatever the read master's readiness: LoadRows asks for every (row, segment) once, in order,
// at base + offset + row * row_pitch + segment * segment_pitch, columns * pixel_bytes each, row_bytes for an image; the other two ask once. The
// engine takes its next command after the last of them. Base, offset and pitches are any values; counts are small.
module fv_kt_load_request
  import kt_cmd_pkg::*;
#(
  parameter int unsigned AddrW  = 12,
  parameter int unsigned BytesW = 8,
  parameter int unsigned Most   = 3   // of every count
) (
  input logic                clk_i,
  input logic                rst_ni,
  input logic [AddrW-1:0]    base_i,
  input logic                cmd_valid_i,
  input logic [3:0]          op_i,
  input logic [BodyBits-1:0] cmd_i,
  input logic                req_ready_i
);
  logic             cmd_ready, req_valid;
  logic [AddrW-1:0] req_addr, base[8];
  logic [BytesW-1:0] req_bytes;
  logic [3:0]       req_op;
  always_comb for (int unsigned i = 0; i < 8; i++) base[i] = (i == 5) ? base_i : ~base_i;
  kt_load_request #(
    .AddrW (AddrW),
    .BytesW(BytesW)
  ) dut (
    .clk_i,
    .rst_ni,
    .base_i     (base),
    .cmd_valid_i,
    .cmd_ready_o(cmd_ready),
    .cmd_i      ('{index: '0, op: op_i, body: cmd_i}),
    .req_valid_o(req_valid),
    .req_ready_i,
    .req_addr_o (req_addr),
    .req_bytes_o(req_bytes),
    .req_op_o   (req_op)
  );
  `include "fv_reset.svh"

  wire take = cmd_valid_i && cmd_ready;
  wire fire = req_valid && req_ready_i;

  load_rows_t    rows;
  load_weights_t weights;
  load_params_t  params;
  assign rows    = load_rows_t'(cmd_i);
  assign weights = load_weights_t'(cmd_i);
  assign params  = load_params_t'(cmd_i);
  `FV_ASSUME(m_op, op_i == OpLoadRows || op_i == OpLoadWeights || op_i == OpLoadParams)
  `FV_ASSUME(m_rows, op_i != OpLoadRows || (rows.rows != '0 && 32'(rows.rows) <= Most && rows.segments != '0 &&
                     32'(rows.segments) <= Most && rows.columns != '0 && 32'(rows.columns) <= Most &&
                     rows.pixel_bytes != '0 && 32'(rows.pixel_bytes) <= 2 * Most && rows.last_pixel_bytes != '0 &&
                     32'(rows.last_pixel_bytes) <= 2 * Most && (rows.step_bytes == '0 || (rows.segments == 8'd1 &&
                     32'(rows.row_bytes) < (1 << BytesW)))))
  `FV_ASSUME(m_weights, op_i != OpLoadWeights || (weights.bytes != '0 && 32'(weights.bytes) < (1 << BytesW)))
  `FV_ASSUME(m_params, op_i != OpLoadParams || (params.count != '0 && 32'(params.count) <= Most))

  // the command under way and the place in its loops
  logic       open_q;      // requests are missing
  logic [3:0] op_q;
  load_rows_t rows_q;
  logic [AddrW-1:0] start_q;
  logic [BytesW-1:0] once_q;
  logic [1:0] row_q, segment_q;
  wire last_segment = op_q != OpLoadRows || 32'(segment_q) + 1 == 32'(rows_q.segments);
  wire last = last_segment && (op_q != OpLoadRows || 32'(row_q) + 1 == 32'(rows_q.rows));
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      open_q    <= 1'b0;
      row_q     <= '0;
      segment_q <= '0;
    end else if (take) begin
      open_q    <= 1'b1;
      row_q     <= '0;
      segment_q <= '0;
    end else if (fire) begin
      open_q    <= !last;
      segment_q <= last_segment ? '0 : segment_q + 2'd1;
      row_q     <= row_q + 2'(last_segment);
    end
  end
  always_ff @(posedge clk_i) begin
    if (take) begin
      op_q    <= op_i;
      rows_q  <= rows;
      start_q <= base[rows.base] + AddrW'(rows.offset);
      once_q  <= (op_i == OpLoadParams) ? BytesW'(32'(params.count) * 9) : BytesW'(weights.bytes);
    end
  end

  function automatic logic [AddrW-1:0] times(logic [1:0] n, logic [AddrW-1:0] pitch);
    return (n[0] ? pitch : '0) + (n[1] ? pitch << 1 : '0);
  endfunction
  wire [AddrW-1:0] address = start_q + (op_q != OpLoadRows ? '0 : times(row_q, AddrW'(rows_q.row_pitch)) +
                                        times(segment_q, AddrW'(rows_q.segment_pitch)));
  wire [13:0] pixel = last_segment ? rows_q.last_pixel_bytes : rows_q.pixel_bytes;
  wire [BytesW-1:0] bytes = (op_q != OpLoadRows) ? once_q
                             : (rows_q.step_bytes != '0) ? BytesW'(rows_q.row_bytes)
                                                         : BytesW'(times(2'(rows_q.columns), AddrW'(pixel[3:0])));

  logic hold_q;
  logic [AddrW+BytesW-1:0] held_q;
  logic [2:0] fires_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      hold_q  <= 1'b0;
      fires_q <= '0;
    end else begin
      hold_q  <= req_valid && !req_ready_i;
      fires_q <= take ? '0 : fires_q + 3'(fire && fires_q != '1);
    end
  end
  always_ff @(posedge clk_i) held_q <= {req_addr, req_bytes};

  // ---- the engine's registers say the same
  wire is_rows = op_q == OpLoadRows;
  wire is_image = rows_q.step_bytes != '0;
  wire small_counts = 32'(rows_q.rows) <= Most && rows_q.rows != '0 && 32'(rows_q.segments) <= Most &&
                      rows_q.segments != '0 && 32'(rows_q.columns) <= Most && rows_q.columns != '0 &&
                      32'(rows_q.pixel_bytes) <= 2 * Most && 32'(rows_q.last_pixel_bytes) <= 2 * Most;
  wire running = dut.state_q == 2'd2;
  `FV_ASSERT(i_state, open_q == (dut.state_q != 2'd0) && dut.state_q != 2'd3)
  `FV_ASSERT(i_setup, dut.state_q != 2'd1 || (row_q == '0 && segment_q == '0))
  `FV_ASSERT(i_op, !open_q || (dut.op_q == op_q && (is_rows || op_q == OpLoadWeights || op_q == OpLoadParams)))
  `FV_ASSERT(i_counts, !open_q || (!is_rows ? row_q == '0 && segment_q == '0 && dut.rows_q == '0 && dut.segment_q == '0 :
      small_counts && 32'(row_q) < 32'(rows_q.rows) && 32'(segment_q) < 32'(rows_q.segments) &&
      32'(dut.rows_q) + 32'(row_q) + 1 == 32'(rows_q.rows) &&
      32'(dut.segment_q) + 32'(segment_q) + 1 == 32'(rows_q.segments) &&
      32'(dut.segments_q) + 1 == 32'(rows_q.segments)))
  `FV_ASSERT(i_copy, !open_q || !is_rows || (dut.row_pitch_q == rows_q.row_pitch &&
      dut.columns_q == (is_image ? 10'd1 : rows_q.columns) &&
      dut.segment_pitch_q == rows_q.segment_pitch && 32'(dut.pixel_q) == 32'(rows_q.pixel_bytes) &&
      32'(dut.last_pixel_q) == 32'(is_image ? rows_q.row_bytes : rows_q.last_pixel_bytes)))
  `FV_ASSERT(i_image, !open_q || !is_rows || !is_image || (rows_q.segments == 8'd1 &&
      32'(rows_q.row_bytes) < (1 << BytesW)))
  `FV_ASSERT(i_once, !open_q || is_rows || (dut.columns_q == 10'd1 && 32'(dut.last_pixel_q) == 32'(once_q)))
  `FV_ASSERT(i_address, !open_q || (dut.addr_q == address && (!is_rows ||
      dut.row_addr_q == AddrW'(start_q + times(row_q, AddrW'(rows_q.row_pitch))))))
  `FV_ASSERT(i_bytes, !running || (is_rows && !is_image ?
      dut.bytes_q == BytesW'(times(2'(rows_q.columns), AddrW'(rows_q.pixel_bytes[3:0]))) &&
      dut.last_bytes_q == BytesW'(times(2'(rows_q.columns), AddrW'(rows_q.last_pixel_bytes[3:0]))) :
      dut.last_bytes_q == (is_image && is_rows ? BytesW'(rows_q.row_bytes) : once_q)))

  `FV_ASSERT(a_owed, !req_valid || open_q)
  `FV_ASSERT(a_all, !cmd_ready || !open_q)
  `FV_ASSERT(a_address, !req_valid || req_addr == address)
  `FV_ASSERT(a_bytes, !req_valid || req_bytes == bytes)
  `FV_ASSERT(a_op, !req_valid || req_op == op_q)
  `FV_ASSERT(a_hold, !hold_q || (req_valid && {req_addr, req_bytes} == held_q))
  `FV_COVER(c_loops, fire && last && row_q == 2'd1 && segment_q == 2'd1)
  `FV_COVER(c_image, fire && is_rows && is_image && row_q == 2'd1)
  `FV_COVER(c_next, take && fires_q == 3'd4)
endmodule
