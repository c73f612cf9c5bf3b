// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

`include "fv.svh"
// Compression of LOAD between its requests and its read master, whatever the memory holds: sizes, packed beats and errors are
// any values, all sides stall freely. The environment keeps the sides' contracts: a command, then its requests; every
// request answered with the beats it touches.
//   - a segment is asked for at its address, with its units where its size says fewer than raw ones, else raw: never more
//     than it stands for; a size that no compressor writes is reported with command and row;
//   - a segment gives exactly the beats it stands for, in its turn, raw ones unchanged, packed ones to kt_zvc_expand (proven alone)
//     with the segment's count and zero value: nothing is written that an
//     uncompressed read would not write; errors are reported with the last of them, for its command and row;
//   - no more requests are open than there are tags, and no surface is asked for without room (kt_load_surface);
//   - requests and beats hold still, but for a surface that overtakes a request;
//   - while the memory answers and the taker takes, something moves at least every Idle cycles: no hang.
module fv_kt_load_zvc
  import kt_pkg::*;
  import kt_cmd_pkg::*;
#(
  parameter int unsigned AddrW  = 5,
  parameter int unsigned BytesW = 5,
  parameter int unsigned Idle   = 6,
  localparam int unsigned Tags    = 3,
  localparam int unsigned Surface = 8
) (
  input logic                clk_i,
  input logic                rst_ni,
  input logic [AddrW-1:0]    base_i,
  input logic                cmd_valid_i,
  input logic [3:0]          op_i,
  input logic [BodyBits-1:0] cmd_i,
  input logic                ask_i,        // the engine behind may take a command, give a request
  input logic [AddrW-1:0]    addr_i,       // of its next request
  input logic [3:0]          bytes_i,
  input logic                req_ready_i,
  input logic                rsp_valid_i,
  input logic [31:0]         rsp_data_i,
  input logic                rsp_error_i,
  input logic                rsp_ready_i
);
  logic [AddrW-1:0] base[8];
  always_comb for (int unsigned i = 0; i < 8; i++) base[i] = base_i;
  logic cmd_ready, cmd_valid, req_in_ready, req_valid, surface, rsp_ready, out_valid, out_error, bus_error, corrupt, zvc;
  logic [3:0]          op;
  logic [BodyBits-1:0] cmd;
  index_t              unused_index;
  logic [AddrW-1:0]    req_addr;
  logic [BytesW-1:0]   req_bytes, raw_bytes;
  logic [31:0]         out_data;
  logic [1:0]          rsp_offset, out_offset;
  logic [2:0]          rsp_bytes;
  logic                rsp_last;
  index_t              error_index, index_q;
  logic [9:0]          error_row;

  // ---- the engine behind: a command's requests, one row of segments behind the other
  load_rows_t    rows, in_rows;
  load_weights_t weights;
  assign rows    = load_rows_t'(cmd);
  assign in_rows = load_rows_t'(cmd_i);
  assign weights = load_weights_t'(cmd);
  logic [2:0]       missing_q;   // requests of the command
  logic             segments_q;  // of it, less one
  logic             segment_q, row_q;
  logic [1:0]       kind_q;      // 0: raw, 1: sizes from the surface, 2: from the command
  logic [3:0]       units_q;     // of the command
  logic [7:0]       zero_q;
  index_t           given_q;     // number of the command
  logic [AddrW-1:0] addr_q;
  logic [3:0]       bytes_q;
  logic             asks_q;
  wire take_cmd = cmd_valid_i && cmd_ready;
  wire give_cmd = cmd_valid && missing_q == '0 && ask_i;
  wire req_in   = missing_q != '0 && asks_q;
  wire fire     = req_in && req_in_ready;
  wire ask      = req_valid && req_ready_i;

  kt_load_zvc #(
    .AxiW   (32),
    .AddrW  (AddrW),
    .BytesW (BytesW),
    .Tags   (Tags),
    .Surface(Surface)
  ) dut (
    .clk_i, .rst_ni, .base_i(base),
    .cmd_valid_i, .cmd_ready_o(cmd_ready), .cmd_i('{index: index_q, op: op_i, body: cmd_i}),
    .cmd_valid_o(cmd_valid), .cmd_ready_i(missing_q == '0 && ask_i), .cmd_o({unused_index, op, cmd}),
    .req_valid_i(req_in), .req_ready_o(req_in_ready), .req_addr_i(addr_q), .req_bytes_i(BytesW'(bytes_q)),
    .req_valid_o(req_valid), .req_ready_i, .req_addr_o(req_addr), .req_bytes_o(req_bytes), .surface_o(surface),
    .rsp_valid_i, .rsp_ready_o(rsp_ready), .rsp_data_i, .rsp_offset_i(rsp_offset), .rsp_bytes_i(rsp_bytes),
    .rsp_last_i(rsp_last), .rsp_error_i,
    .rsp_valid_o(out_valid), .rsp_ready_i, .rsp_data_o(out_data), .rsp_offset_o(out_offset), .rsp_error_o(out_error),
    .bus_error_o(bus_error), .corrupt_o(corrupt), .error_index_o(error_index), .error_row_o(error_row),
    .zvc_o(zvc), .raw_bytes_o(raw_bytes)
  );
  `include "fv_reset.svh"
  `FV_ASSUME(m_op, op_i == OpLoadRows || op_i == OpLoadWeights)
  `FV_ASSUME(m_rows, op_i != OpLoadRows || (in_rows.rows != '0 && in_rows.rows <= 10'd2 && in_rows.segments != '0 &&
                                            in_rows.segments <= 8'd2))
  `FV_ASSUME(m_weights, op_i != OpLoadWeights || in_rows[BodyBits-1:0] == '0 || load_weights_t'(cmd_i).zvc_beats <= 11'd3)
  `FV_ASSUME(m_bytes, bytes_i != '0 && bytes_i <= 4'd8)
  wire [1:0] kind = (op == OpLoadRows) ? {1'b0, rows.zvc} : {weights.zvc_beats != '0, 1'b0};
  // numbers of commands: as they are taken; they come out in this order
  index_t next_given_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      missing_q    <= '0;
      asks_q       <= 1'b0;
      index_q      <= '0;
      next_given_q <= '0;
    end else begin
      if (take_cmd) index_q <= index_q + 1'b1;
      if (give_cmd) begin
        next_given_q <= next_given_q + 1'b1;
        missing_q    <= (op != OpLoadRows) ? 3'd1 : (rows.rows[1] && rows.segments[1]) ? 3'd4 : 3'(rows.rows + 10'(rows.segments) - 10'd1);
        asks_q       <= 1'b0;
      end else begin
        if (fire) missing_q <= missing_q - 3'd1;
        asks_q <= (asks_q && !fire) || ask_i;
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (give_cmd) begin
      kind_q     <= kind;
      units_q    <= 4'(weights.zvc_beats);
      zero_q     <= (op == OpLoadRows) ? rows.fill : weights.fill;
      given_q    <= next_given_q;
      segments_q <= op == OpLoadRows && rows.segments[1];
      segment_q  <= 1'b0;
      row_q      <= 1'b0;
    end else if (fire && kind_q == 2'd1) begin
      segment_q <= segments_q && !segment_q;
      if (segment_q == segments_q) row_q <= ~row_q;
    end
    if (give_cmd || fire) begin
      addr_q  <= {addr_i[AddrW-1:2], ((give_cmd ? kind : kind_q) == '0) ? addr_i[1:0] : 2'd0};
      bytes_q <= bytes_i;
    end
  end

  // ---- memory: requests answered in order
  function automatic logic [3:0] touched(logic [1:0] lane, logic [4:0] n);
    return 4'((6'(n) + 6'(lane) + 6'd3) >> 2);
  endfunction
  logic [3:0] left_q[4];   // bytes of an open request
  logic [1:0] lane_q[4];
  logic       map_q [4];   // it is for a surface
  logic [3:0] bytes_asked_q[4];  // of the segment it stands for
  logic [7:0] zero_asked_q [4];
  logic [1:0] head_q, tail_q;
  logic [2:0] open_q;
  wire [3:0] room = 4'd4 - 4'(lane_q[head_q]);
  assign rsp_offset = lane_q[head_q];
  assign rsp_last   = left_q[head_q] <= room;
  assign rsp_bytes  = rsp_last ? 3'(left_q[head_q]) : 3'(room);
  wire rsp = rsp_valid_i && rsp_ready;
  logic        wait_q;
  logic [32:0] waiting_q;
  `FV_ASSUME(m_rsp, !rsp_valid_i || open_q != '0)
  `FV_ASSUME(m_rsp_hold, !wait_q || (rsp_valid_i && {rsp_error_i, rsp_data_i} == waiting_q))
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      head_q <= '0;
      tail_q <= '0;
      open_q <= '0;
      wait_q <= 1'b0;
    end else begin
      if (ask) tail_q <= tail_q + 2'd1;
      if (rsp && rsp_last) head_q <= head_q + 2'd1;
      open_q <= open_q + 3'(ask) - 3'(rsp && rsp_last);
      wait_q <= rsp_valid_i && !rsp_ready;
    end
  end
  always_ff @(posedge clk_i) begin
    waiting_q <= {rsp_error_i, rsp_data_i};
    if (ask) begin
      left_q[tail_q] <= 4'(req_bytes);
      lane_q[tail_q] <= req_addr[1:0];
      map_q[tail_q]  <= surface;
      bytes_asked_q[tail_q] <= bytes_q;
      zero_asked_q[tail_q]  <= zero_q;
    end
    if (rsp) begin
      left_q[head_q] <= left_q[head_q] - 4'(rsp_bytes);
      lane_q[head_q] <= '0;
    end
  end
  // the expander gets a segment's beats with its count of elements and its zero value
  `FV_ASSERT(a_expand, !dut.zip_in || (dut.tag.bytes == 15'(bytes_asked_q[head_q]) && dut.tag.zero == zero_asked_q[head_q]))
  `FV_ASSERT(a_open, 32'(open_q) <= Tags && (!ask || 32'(open_q) < Tags))

  // ---- sizes, as they came
  logic [7:0] sizes_q[16];
  logic [3:0] came_q, used_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      came_q <= '0;
      used_q <= '0;
    end else begin
      if (rsp && map_q[head_q]) came_q <= came_q + 4'(rsp_bytes);
      if (fire && kind_q == 2'd1) used_q <= used_q + 4'd1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (rsp && map_q[head_q]) begin
      for (int unsigned i = 0; i < 4; i++) begin
        if (i < 32'(rsp_bytes)) sizes_q[came_q+4'(i)] <= 8'(rsp_data_i >> {rsp_offset + 2'(i), 3'b000});
      end
    end
  end
  wire [7:0] size  = (kind_q == 2'd1) ? sizes_q[used_q] : (kind_q == 2'd2) ? 8'(units_q) : 8'd0;
  wire [3:0] beats = touched('0, 5'(bytes_q));
  wire       packs = size != '0 && size < 8'(beats);
  wire       wrong = size >= 8'(beats) && size != '0;
  `FV_ASSERT(a_size, !(fire && kind_q == 2'd1) || came_q != used_q)
  `FV_ASSERT(a_segment, !fire || (!surface && ask && req_addr == addr_q && raw_bytes == BytesW'(bytes_q) &&
             zvc == (kind_q != '0) && req_bytes == (packs ? BytesW'({size[2:0], 2'b00}) : BytesW'(bytes_q))))

  // ---- what segments stand for
  typedef struct packed {
    logic       zip;
    logic [3:0] beats;
    index_t     index;
    logic       row;
  } due_t;
  due_t       due_q[8];
  logic [2:0] first_q, end_q;
  logic [3:0] due_count_q, gone_q;  // segments; beats of the first that are out
  due_t due;
  assign due = due_q[first_q];
  wire out      = out_valid && rsp_ready_i;
  wire out_last = gone_q + 4'd1 == due.beats;
  `FV_ASSUME(m_due, due_count_q != 4'd8 || !req_ready_i)
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      first_q     <= '0;
      end_q       <= '0;
      due_count_q <= '0;
      gone_q      <= '0;
    end else begin
      if (fire) end_q <= end_q + 3'd1;
      if (out && out_last) first_q <= first_q + 3'd1;
      due_count_q <= due_count_q + 4'(fire) - 4'(out && out_last);
      if (out) gone_q <= out_last ? '0 : gone_q + 4'd1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (fire) due_q[end_q] <= '{zip: packs, beats: touched(addr_q[1:0], 5'(bytes_q)), index: given_q, row: row_q};
  end
  wire zips = due_count_q != '0 && due.zip;
  `FV_ASSERT(a_due, !out_valid || due_count_q != '0)
  `FV_ASSERT(a_raw, !out_valid || zips || (rsp_valid_i && !map_q[head_q] && out_data == rsp_data_i &&
             out_offset == rsp_offset && out_error == rsp_error_i && rsp == out && (rsp_last == out_last)))
  `FV_ASSERT(a_zip, !(out_valid && zips) || (dut.zip_valid && dut.zip_last == out_last && out_offset == '0 && !out_error))

  // ---- errors: with the last beat of a segment, with a request, with a beat of a surface
  wire at_end     = out && zips && out_last;
  wire end_error  = dut.place_end && (dut.zip_wrong || dut.zip_error);
  wire map_error  = rsp && map_q[head_q] && rsp_error_i;
  `FV_ASSERT(a_end, dut.place_end == at_end)
  `FV_ASSERT(a_told, !(end_error || map_error || (fire && wrong)) || bus_error || corrupt)
  `FV_ASSERT(a_cause, !(bus_error || corrupt) || end_error || map_error || (fire && wrong))
  `FV_ASSERT(a_place, !end_error || (error_index == due.index && error_row == 10'(due.row)))
  `FV_ASSERT(a_wrong, !(fire && wrong) || end_error || map_error || (error_index == given_q && error_row == 10'(row_q)))

  // ---- hold
  logic req_hold_q, out_hold_q, surface_q;
  logic [AddrW+BytesW-1:0] request_q;
  logic [34:0] out_q;
  wire [34:0] out_now = {out_data, out_offset, out_error};
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      req_hold_q <= 1'b0;
      out_hold_q <= 1'b0;
    end else begin
      req_hold_q <= req_valid && !req_ready_i;
      out_hold_q <= out_valid && !rsp_ready_i;
    end
  end
  always_ff @(posedge clk_i) begin
    surface_q <= surface;
    request_q <= {req_addr, req_bytes};
    out_q     <= out_now;
  end
  `FV_ASSERT(a_req_hold, !req_hold_q || (req_valid && ((surface && !surface_q) || {req_addr, req_bytes} == request_q)))
  // of packed ones, the rest holds by the proof of kt_zvc_expand
  `FV_ASSERT(a_out_hold, !out_hold_q || (out_valid && (zips || out_now == out_q)))

  // ---- something moves
  logic [3:0] idle_q;
  wire moves  = take_cmd || give_cmd || ask || rsp || out;
  wire work   = open_q != '0 || due_count_q != '0 || missing_q != '0 || dut.u_surface.state_q != '0;
  wire pushed = req_ready_i && rsp_ready_i && ask_i && (rsp_valid_i || open_q == '0);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) idle_q <= '0;
    else idle_q <= (moves || !work || !pushed) ? '0 : idle_q + 4'd1;
  end
  `FV_ASSERT(a_moves, 32'(idle_q) <= Idle)

  `FV_COVER(c_zip, out && zips && out_last && gone_q == 4'd1 && !end_error)
  `FV_COVER(c_raw_behind, out && !zips && due_count_q != '0 && used_q == 4'd2)
  `FV_COVER(c_wrong, fire && wrong && corrupt)
  `FV_COVER(c_overtaken, req_hold_q && surface && !surface_q)
  `FV_COVER(c_full, 32'(open_q) == Tags)
`ifdef FV_LATE  // half a minute from reset
  `FV_COVER(c_corrupt, end_error && corrupt && due.row)
`endif
endmodule
