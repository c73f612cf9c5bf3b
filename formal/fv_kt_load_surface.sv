// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

`include "fv.svh"
// Size surfaces of LOAD, requests, beats and sizes at any pace:
//   - commands come out in order and unchanged, one that is compressed only when its surface has been asked for, at its
//     address, with a byte a segment;
//   - what is asked for and has not been given never exceeds the room, so a beat is never refused;
//   - the sizes are the bytes of the beats, one by one, in order; none without a byte, none left over: the surface's bytes
//     are the command's segments.
// By induction, the value of a byte inside the FIFO (which is proven in kt_fifo) as it goes in; end to end (Bounded) by
// search from reset. The environment answers every request with its bytes, as kt_axi_rd does.
module fv_kt_load_surface
  import kt_pkg::*;
  import kt_cmd_pkg::*;
#(
  parameter int unsigned AddrW   = 6,
  parameter int unsigned BytesW  = 6,
  parameter bit          Bounded = 1'b0,
  localparam int unsigned Surface = 8,
  localparam int unsigned Depth   = Surface / 4 + 1
) (
  input logic                clk_i,
  input logic                rst_ni,
  input logic [AddrW-1:0]    base_i,
  input logic                cmd_valid_i,
  input logic [3:0]          op_i,
  input logic [BodyBits-1:0] cmd_i,
  input index_t              index_i,
  input logic                cmd_ready_i,
  input logic                req_ready_i,
  input logic                rsp_valid_i,
  input logic [31:0]         rsp_data_i,
  input logic                size_take_i,
  input logic                pick_i,
  input logic [1:0]          pick_lane_i
);
  logic cmd_ready, cmd_valid, req_valid, size_valid;
  logic [AddrW-1:0]    base[8], req_addr;
  logic [BytesW-1:0]   req_bytes;
  logic [3:0]          op;
  logic [BodyBits-1:0] cmd_out;
  index_t              index;
  logic [1:0]          rsp_offset;
  logic [2:0]          rsp_bytes;
  logic [7:0]          size;
  always_comb for (int unsigned i = 0; i < 8; i++) base[i] = (i == 5) ? base_i : ~base_i;
  kt_load_surface #(
    .AxiW   (32),
    .AddrW  (AddrW),
    .BytesW (BytesW),
    .Surface(Surface)
  ) dut (
    .clk_i, .rst_ni, .base_i(base),
    .cmd_valid_i, .cmd_ready_o(cmd_ready), .cmd_i('{index: index_i, op: op_i, body: cmd_i}),
    .cmd_valid_o(cmd_valid), .cmd_ready_i, .cmd_o({index, op, cmd_out}),
    .req_valid_o(req_valid), .req_ready_i, .req_addr_o(req_addr), .req_bytes_o(req_bytes),
    .rsp_valid_i, .rsp_data_i, .rsp_offset_i(rsp_offset), .rsp_bytes_i(rsp_bytes),
    .size_valid_o(size_valid), .size_take_i, .size_o(size)
  );
  `include "fv_reset.svh"

  load_rows_t rows;
  assign rows = load_rows_t'(cmd_i);
  wire keep = op_i == OpLoadRows && rows.zvc;
  wire take = cmd_valid_i && cmd_ready;
  wire ask  = req_valid && req_ready_i;
  wire give = cmd_valid && cmd_ready_i;
  `FV_ASSUME(m_counts, !keep || (rows.rows != '0 && rows.rows <= 10'd2 && rows.segments != '0 && rows.segments <= 8'd4))
  `FV_ASSUME(m_take, !size_take_i || size_valid)
  wire [3:0] count = rows.rows[1] ? 4'({rows.segments[2:0], 1'b0}) : 4'(rows.segments);

  // ---- what was asked for and not answered: at most Depth requests, a beat each at least
  logic [3:0] left_q [4];  // bytes of a request
  logic [1:0] lane_q [4];  // of its first byte to come
  logic [1:0] head_q, tail_q;
  logic [2:0] open_q;
  wire [3:0] room = 4'd4 - 4'(lane_q[head_q]);
  assign rsp_offset = lane_q[head_q];
  assign rsp_bytes  = (left_q[head_q] < room) ? 3'(left_q[head_q]) : 3'(room);
  wire rsp_last = left_q[head_q] <= room;
  `FV_ASSUME(m_rsp, !rsp_valid_i || open_q != '0)
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      head_q <= '0;
      tail_q <= '0;
      open_q <= '0;
    end else begin
      if (ask) tail_q <= tail_q + 2'd1;
      if (rsp_valid_i && rsp_last) head_q <= head_q + 2'd1;
      open_q <= open_q + 3'(ask) - 3'(rsp_valid_i && rsp_last);
    end
  end
  always_ff @(posedge clk_i) begin
    if (ask) begin
      left_q[tail_q] <= 4'(req_bytes);
      lane_q[tail_q] <= req_addr[1:0];
    end
    if (rsp_valid_i) begin
      left_q[head_q] <= left_q[head_q] - 4'(rsp_bytes);
      lane_q[head_q] <= '0;
    end
  end
  function automatic logic [2:0] touched(logic [1:0] lane, logic [3:0] n);
    return 3'((5'(n) + 5'(lane) + 5'd3) >> 2);
  endfunction
  logic [3:0] beats;  // to come
  logic [4:0] bytes;
  always_comb begin
    beats = '0;
    bytes = '0;
    for (int unsigned i = 0; i < 4; i++) begin
      if (i < 32'(open_q)) begin
        beats = beats + 4'(touched(lane_q[head_q+2'(i)], left_q[head_q+2'(i)]));
        bytes = bytes + 5'(left_q[head_q+2'(i)]);
      end
    end
  end

  // ---- the command that is kept
  logic             kept_q, asked_q;
  index_t           index_q;
  load_rows_t       rows_q;
  logic [AddrW-1:0] addr_q;
  logic [3:0]       count_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      kept_q  <= 1'b0;
      asked_q <= 1'b0;
    end else begin
      if (take && keep) kept_q <= 1'b1;
      else if (give) kept_q <= 1'b0;
      asked_q <= kept_q && !give && (asked_q || ask);
    end
  end
  always_ff @(posedge clk_i) begin
    if (take && keep) begin
      index_q <= index_i;
      rows_q  <= rows;
      addr_q  <= base[rows.base] + AddrW'(rows.surface);
      count_q <= count;
    end
  end
  `FV_ASSERT(a_command, !cmd_valid || (kept_q ? asked_q && {index, op, cmd_out} == {index_q, OpLoadRows, rows_q} :
                                       cmd_valid_i && !keep && {index, op, cmd_out} == {index_i, op_i, cmd_i}))
  `FV_ASSERT(a_passes, !(take && !keep) || give)
  `FV_ASSERT(a_behind, !(take && kept_q))
  `FV_ASSERT(a_request, !req_valid || (kept_q && !asked_q && req_addr == addr_q && req_bytes == BytesW'(count_q)))
  `FV_ASSERT(a_room, !rsp_valid_i || dut.u_beats.in_ready_o)
  `FV_ASSERT(a_bound, 4'(dut.u_beats.level_q) + beats + 4'(dut.room_q) == 4'(Depth) && 32'(dut.room_q) <= Depth &&
                      beats <= 4'(Depth) && 32'(dut.u_beats.level_q) <= Depth)
  logic hold_q;
  logic [AddrW+BytesW-1:0] held_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) hold_q <= 1'b0;
    else hold_q <= req_valid && !req_ready_i;
  end
  always_ff @(posedge clk_i) held_q <= {req_addr, req_bytes};
  `FV_ASSERT(a_hold, !hold_q || (req_valid && {req_addr, req_bytes} == held_q))
  // what is kept is asked for the cycle after there is room, and there is when nothing is inside
  logic empty_q;
  wire empty = dut.state_q == 2'd2 && open_q == '0 && dut.u_beats.level_q == '0;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) empty_q <= 1'b0;
    else empty_q <= empty;
  end
  `FV_ASSERT(a_asks, !(empty_q && empty) || req_valid)
  `FV_ASSERT(a_fits, !req_valid || (dut.room_q >= dut.beats && dut.beats_q == dut.beats))

  if (Bounded) begin : gen_bounded
    // a byte, picked when its beat comes, is the size with its number
    logic [4:0] came_q, went_q, asked_bytes_q, number_q;
    logic       byte_q;
    logic [7:0] value_q;
    wire pick = rsp_valid_i && pick_i && !byte_q && 3'(pick_lane_i) < rsp_bytes;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        came_q        <= '0;
        went_q        <= '0;
        asked_bytes_q <= '0;
        byte_q        <= 1'b0;
      end else begin
        if (rsp_valid_i) came_q <= came_q + 5'(rsp_bytes);
        if (size_take_i) went_q <= went_q + 5'd1;
        if (ask) asked_bytes_q <= asked_bytes_q + 5'(req_bytes);
        if (pick) byte_q <= 1'b1;
      end
    end
    always_ff @(posedge clk_i) begin
      if (pick) begin
        number_q <= came_q + 5'(pick_lane_i);
        value_q  <= 8'(rsp_data_i >> {rsp_offset + pick_lane_i, 3'b000});
      end
    end
    `FV_ASSERT(a_size, !(byte_q && size_valid && went_q == number_q) || size == value_q)
    `FV_ASSERT(a_all, size_valid == (went_q != came_q))
    `FV_ASSERT(a_count, asked_bytes_q == came_q + bytes)
    `FV_COVER(c_size, byte_q && size_valid && went_q == number_q && number_q == 5'd5)
    `FV_COVER(c_waits, dut.state_q == 2'd2 && dut.room_q < dut.beats)
  end else begin : gen_induction
    `FV_ASSERT(i_state, kept_q == (dut.state_q != 2'd0) && asked_q == (dut.state_q == 2'd3))
    `FV_ASSERT(i_kept, !kept_q || (dut.item_q == {index_q, OpLoadRows, rows_q} && dut.addr_q == addr_q && rows_q.zvc &&
        rows_q.rows != '0 && rows_q.rows <= 10'd2 && rows_q.segments != '0 && rows_q.segments <= 8'd4 &&
        count_q == (rows_q.rows[1] ? 4'({rows_q.segments[2:0], 1'b0}) : 4'(rows_q.segments)) && count_q <= 4'(Surface)))
    `FV_ASSERT(i_asks, !req_valid || dut.state_q == 2'd2)
    `FV_ASSERT(i_bytes, !(dut.state_q == 2'd2) || dut.bytes_q == BytesW'(count_q))
    `FV_ASSERT(i_open, open_q <= 3'd4 && tail_q == head_q + 2'(open_q) && beats >= 4'(open_q))
    for (genvar i = 0; i < 4; i++) begin : gen_left
      `FV_ASSERT(i_left, i >= 32'(open_q) || (left_q[head_q+2'(i)] != '0 && left_q[head_q+2'(i)] <= 4'(Surface)))
    end
    `FV_ASSERT(i_fifo, dut.u_beats.out_valid_q == (dut.u_beats.level_q != '0))
    wire held_op = dut.item_q.op == OpLoadRows;
    `FV_ASSERT(i_op, !kept_q || held_op)
  end
  `FV_COVER(c_full, 32'(dut.u_beats.level_q) == Depth)
  `FV_COVER(c_ahead, open_q == 3'd2)
endmodule
