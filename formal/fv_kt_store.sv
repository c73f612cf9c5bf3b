// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

`include "fv.svh"
// Bytes and requests of STORE, with every port free to stall. Pixels are those that leave the skid buffers at its inputs,
// which are proven in kt_skid:
//   - a result byte, picked when its pixel is taken, stands in the beat and lane its address says, unchanged; as many
//     beats come as the requests touch, and they hold still until taken;
//   - a request, picked when the first pixel of its row is taken, comes with the row's address and exact byte count, in
//     order; there is never a request whose row has no pixel yet;
//   - a command is done when, and only when, the last of its requests is answered; an error names the request's command.
// Counts are small, base, offset and pitches any values. Bytes are proven by induction; so is what enters the two FIFOs of
// requests, whose order is proven in kt_fifo. Requests and completion end to end (Bounded) are searched from reset.
module fv_kt_store
  import kt_pkg::*;
  import kt_cmd_pkg::*;
#(
  parameter int unsigned AddrW   = 8,
  parameter int unsigned BytesW  = 6,
  parameter bit          Bounded = 1'b0
) (
  input logic                clk_i,
  input logic                rst_ni,
  input logic [AddrW-1:0]    base_i,
  input logic                cmd_valid_i,
  input logic [BodyBits-1:0] cmd_i,
  input index_t              cmd_index_i,
  input logic                conv_valid_i,
  input logic [15:0]         array_i,
  input logic                vector_valid_i,
  input logic [23:0]         vector_i,
  input logic                req_ready_i,
  input logic                data_ready_i,
  input logic                wr_done_i,
  input logic                wr_error_i,
  input logic                pick_i,
  input logic [1:0]          pick_byte_i
);
  logic [AddrW-1:0] base[8];
  logic [7:0] array[2], vector[3];
  always_comb begin
    for (int unsigned i = 0; i < 8; i++) base[i] = (i == 3) ? base_i : ~base_i;
    for (int unsigned i = 0; i < 2; i++) array[i] = array_i[8*i+:8];
    for (int unsigned i = 0; i < 3; i++) vector[i] = vector_i[8*i+:8];
  end
  logic cmd_ready, done, busy, conv_ready, vector_ready, req_valid, data_valid, error, written;
  logic [AddrW-1:0]  req_addr;
  logic [BytesW-1:0] req_bytes, written_bytes;
  logic [31:0]       data;
  engine_error_t     report;
  index_t            error_index;
  kt_store #(
    .Kp    (2),
    .Cp    (1),
    .AxiW  (32),
    .AddrW (AddrW),
    .BytesW(BytesW),
    .Open  (3)
  ) dut (
    .clk_i,
    .rst_ni,
    .base_i        (base),
    .cmd_valid_i,
    .cmd_ready_o   (cmd_ready),
    .cmd_i         ({cmd_index_i, OpStore, cmd_i}),
    .done_o        (done),
    .busy_o        (busy),
    .conv_valid_i,
    .conv_ready_o  (conv_ready),
    .conv_word_i   (array),
    .vector_valid_i,
    .vector_ready_o(vector_ready),
    .vector_word_i (vector),
    .req_valid_o   (req_valid),
    .req_ready_i,
    .req_addr_o    (req_addr),
    .req_bytes_o   (req_bytes),
    .data_valid_o  (data_valid),
    .data_ready_i,
    .data_o        (data),
    .wr_done_i,
    .wr_error_i,
    .error_o       (report),
    .written_o     (written),
    .written_bytes_o(written_bytes)
  );
  `include "fv_reset.svh"

  assign error       = report.bus;
  assign error_index = report.index;

  store_t cmd;
  assign cmd = store_t'(cmd_i);
  wire [1:0] most = cmd.from_vector ? 2'd3 : 2'd2;
  `FV_ASSUME(m_counts, cmd.rows != '0 && 32'(cmd.rows) <= 2 && cmd.segments != '0 && 32'(cmd.segments) <= 2 &&
                       cmd.columns != '0 && 32'(cmd.columns) <= 3)
  `FV_ASSUME(m_bytes, cmd.pixel_bytes != '0 && cmd.pixel_bytes <= 12'(most) && cmd.last_pixel_bytes != '0 &&
                      cmd.last_pixel_bytes <= 12'(most))

  // ---- the loops again, from the command and the pixels taken
  store_t     c_q;
  index_t     index_q;
  logic [AddrW-1:0] start_q;
  logic [1:0] column_q, row_q, segment_q;
  logic [3:0] taken_q;                        // bytes of the row so far
  logic [5:0] beats_q;                        // beats of all rows that are complete
  logic [4:0] rows_q;                         // rows begun
  logic [2:0] commands_q, dones_q;            // taken, done
  logic       open_q;                         // the command's pixels are not all taken
  wire take_cmd = cmd_valid_i && cmd_ready;
  wire conv_take = dut.conv_valid && dut.room && !dut.from_vector_q, vector_take = dut.vector_valid && dut.room && dut.from_vector_q;
  wire take = conv_take || vector_take;
  wire last_segment = 32'(segment_q) + 1 == 32'(c_q.segments);
  wire row_end = 32'(column_q) + 1 == 32'(c_q.columns);
  wire segment_end = row_end && 32'(row_q) + 1 == 32'(c_q.rows);
  wire [1:0] bytes = 2'(last_segment ? c_q.last_pixel_bytes : c_q.pixel_bytes);
  wire [AddrW-1:0] address = start_q + (row_q[0] ? AddrW'(c_q.row_pitch) : '0) +
                             (segment_q[0] ? AddrW'(c_q.segment_pitch) : '0);
  // beats that the first n bytes of the row touch
  function automatic logic [5:0] touched(logic [1:0] lane, logic [3:0] n);
    return (n == '0) ? 6'd0 : 6'((6'(lane) + 6'(n) + 6'd3) >> 2);
  endfunction
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      open_q     <= 1'b0;
      beats_q    <= '0;
      rows_q     <= '0;
      commands_q <= '0;
      column_q   <= '0;
      row_q      <= '0;
      segment_q  <= '0;
      taken_q    <= '0;
    end else begin
      if (take_cmd) begin
        open_q     <= 1'b1;
        commands_q <= commands_q + 3'd1;
        row_q      <= '0;
        segment_q  <= '0;
      end
      if (take) begin
        column_q <= row_end ? '0 : column_q + 2'd1;
        taken_q  <= row_end ? '0 : taken_q + 4'(bytes);
        if (column_q == '0) rows_q <= rows_q + 5'd1;
        if (row_end) begin
          beats_q <= beats_q + touched(address[1:0], taken_q + 4'(bytes));
          row_q   <= segment_end ? '0 : row_q + 2'd1;
          if (segment_end) segment_q <= segment_q + 2'd1;
          if (segment_end && last_segment) open_q <= 1'b0;
        end
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (take_cmd) begin
      c_q     <= cmd;
      index_q <= cmd_index_i;
      start_q <= base[cmd.base] + AddrW'(cmd.offset);
    end
  end

  // ---- what left
  logic [5:0] out_q;                  // beats
  logic [4:0] asked_q, answered_q;    // requests
  logic       hold_q;
  logic [31:0] held_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      out_q      <= '0;
      asked_q    <= '0;
      answered_q <= '0;
      dones_q    <= '0;
      hold_q     <= 1'b0;
    end else begin
      out_q      <= out_q + 6'(data_valid && data_ready_i);
      asked_q    <= asked_q + 5'(req_valid && req_ready_i);
      answered_q <= answered_q + 5'(wr_done_i);
      dones_q    <= dones_q + 3'(done);
      hold_q     <= data_valid && !data_ready_i;
    end
  end
  always_ff @(posedge clk_i) held_q <= data;
  // an answer comes after the data of its row
  `FV_ASSUME(m_done, !wr_done_i || (answered_q != asked_q && (answered_q + 5'd1 != rows_q ||
                                    (column_q == '0 && out_q == beats_q))))
  `FV_ASSUME(m_error, !wr_error_i || answered_q != asked_q)

  // ---- the picked byte, request and command
  logic             byte_q, gone_q, request_q, command_q, complete_q;
  logic [5:0]       byte_beat_q;
  logic [1:0]       byte_lane_q;
  logic [7:0]       byte_value_q;
  logic [4:0]       request_number_q, last_request_q;
  index_t           request_index_q;
  logic [AddrW-1:0] request_addr_q;
  logic [BytesW-1:0] request_bytes_q;
  logic [2:0]       command_number_q;
  wire [AddrW-1:0]  byte_addr = address + AddrW'(taken_q) + AddrW'(pick_byte_i);
  wire [23:0]       pixel = vector_take ? {dut.vector_pixel[2], dut.vector_pixel[1], dut.vector_pixel[0]} :
                                         {8'd0, dut.conv_pixel[1], dut.conv_pixel[0]};
  wire pick_byte = take && pick_i && !byte_q && pick_byte_i < bytes;
  wire pick_request = take && pick_i && !request_q && column_q == '0;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      byte_q     <= 1'b0;
      gone_q     <= 1'b0;
      request_q  <= 1'b0;
      command_q  <= 1'b0;
      complete_q <= 1'b0;
    end else begin
      if (pick_byte) byte_q <= 1'b1;
      if (byte_q && data_valid && data_ready_i && out_q == byte_beat_q) gone_q <= 1'b1;
      if (pick_request) request_q <= 1'b1;
      if (take_cmd && pick_i && !command_q) command_q <= 1'b1;
      if (command_q && commands_q == command_number_q + 3'd1 && take && segment_end && last_segment) complete_q <= 1'b1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (pick_byte) begin
      byte_beat_q  <= beats_q + touched(address[1:0], taken_q + 4'(pick_byte_i) + 4'd1) - 6'd1;
      byte_lane_q  <= byte_addr[1:0];
      byte_value_q <= 8'(pixel >> {pick_byte_i, 3'b000});
    end
    if (pick_request) begin
      request_number_q <= rows_q;
      request_addr_q   <= address;
      request_index_q  <= index_q;
      request_bytes_q  <= BytesW'((c_q.columns[0] ? 6'(bytes) : 6'd0) + (c_q.columns[1] ? {3'd0, bytes, 1'b0} : 6'd0));
    end
    if (take_cmd && !command_q) command_number_q <= commands_q;
    if (!complete_q) last_request_q <= rows_q + 5'(take && column_q == '0);
  end

  `FV_ASSERT(a_value, !(byte_q && !gone_q && data_valid && out_q == byte_beat_q) || 8'(data >> {byte_lane_q, 3'b000}) == byte_value_q)
  wire [5:0] missing = beats_q + touched(address[1:0], taken_q) - out_q - 6'(data_valid);  // beats still to come
  `FV_ASSERT(a_beats, missing <= 6'd3)
  `FV_ASSERT(a_all, dut.u_pack.tail_q || data_valid || taken_q != '0 || out_q == beats_q)
  `FV_ASSERT(a_hold, !hold_q || (data_valid && data == held_q))
  `FV_ASSERT(a_stream, !(conv_ready && vector_ready) && (!conv_ready || !c_q.from_vector) &&
                       (!vector_ready || c_q.from_vector) && (!take || open_q))
  wire [BytesW-1:0] row_bytes = times(c_q.columns[1:0], 12'(bytes));
  wire request_in = dut.u_requests.in_valid_i && dut.u_requests.in_ready_o;
  wire open_in    = dut.u_open.in_valid_i && dut.u_open.in_ready_o;
  `FV_ASSERT(a_request_in, request_in == (take && column_q == '0) &&
      (!request_in || dut.u_requests.in_data_i == {address, row_bytes}))
  `FV_ASSERT(a_open_in, open_in == (take && column_q == '0) &&
      (!open_in || dut.u_open.in_data_i == {index_q, last_segment && 32'(row_q) + 1 == 32'(c_q.rows)}))
  `FV_ASSERT(a_owed, !req_valid || asked_q != rows_q)

  if (Bounded) begin : gen_bounded
    `FV_ASSERT(a_request, !(request_q && req_valid && asked_q == request_number_q) ||
                          (req_addr == request_addr_q && req_bytes == request_bytes_q))
    `FV_ASSERT(a_done, !(done && command_q && dones_q == command_number_q) ||
                       (complete_q && answered_q == last_request_q))
    `FV_ASSERT(a_done_now, !(command_q && complete_q && dones_q == command_number_q &&
                             answered_q == last_request_q) || done)
    logic       error_q;  // an error came a cycle ago, with the answer to this request
    logic [4:0] error_number_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) error_q <= 1'b0;
      else error_q <= wr_error_i;
    end
    always_ff @(posedge clk_i) error_number_q <= answered_q;
    `FV_ASSERT(a_error, error == error_q)
    `FV_ASSERT(a_error_index, !(error && request_q && error_number_q == request_number_q) || error_index == request_index_q)
    `FV_ASSERT(a_written, written == (req_valid && req_ready_i) && written_bytes == req_bytes)
    `FV_ASSERT(a_busy, busy || (dones_q == commands_q && out_q == beats_q))
  end

  // ---- the engine's registers say the same
  function automatic logic [BytesW-1:0] times(logic [1:0] n, logic [11:0] m);
    return (n[0] ? BytesW'(m) : '0) + (n[1] ? BytesW'(m << 1) : '0);
  endfunction
  wire running = dut.state_q == 2'd2;
  wire in_row  = column_q != '0;
  wire [1:0] c_most = c_q.from_vector ? 2'd3 : 2'd2;
  wire [AddrW-1:0] next_byte = address + AddrW'(taken_q);
  wire [5:0] byte_due = out_q + 6'(data_valid);           // beat under construction, or the tail
  `FV_ASSERT(i_state, open_q == (dut.state_q != 2'd0) && dut.state_q != 2'd3)
  `FV_ASSERT(i_setup, dut.state_q != 2'd1 || (column_q == '0 && row_q == '0 && segment_q == '0))
  `FV_ASSERT(i_small, !open_q || (32'(c_q.rows) <= 2 && c_q.rows != '0 && 32'(c_q.segments) <= 2 && c_q.segments != '0 &&
      32'(c_q.columns) <= 3 && c_q.columns != '0 && c_q.pixel_bytes != '0 && c_q.pixel_bytes <= 12'(c_most) &&
      c_q.last_pixel_bytes != '0 && c_q.last_pixel_bytes <= 12'(c_most)))
  `FV_ASSERT(i_closed, open_q || (column_q == '0 && taken_q == '0))
  `FV_ASSERT(i_counts, !open_q || (32'(column_q) < 32'(c_q.columns) && 32'(row_q) < 32'(c_q.rows) &&
      32'(segment_q) < 32'(c_q.segments) && 32'(dut.column_q) + 32'(column_q) + 1 == 32'(c_q.columns) &&
      32'(dut.row_q) + 32'(row_q) + 1 == 32'(c_q.rows) && 32'(dut.segment_q) + 32'(segment_q) + 1 == 32'(c_q.segments) &&
      32'(dut.rows_q) + 1 == 32'(c_q.rows) && dut.columns_q == c_q.columns && dut.row_first_q == !in_row))
  `FV_ASSERT(i_copy, !open_q || (dut.row_pitch_q == c_q.row_pitch && dut.segment_pitch_q == c_q.segment_pitch &&
      dut.pixel_q == c_q.pixel_bytes && dut.last_pixel_q == c_q.last_pixel_bytes &&
      dut.from_vector_q == c_q.from_vector && dut.index_q == index_q))
  `FV_ASSERT(i_address, !open_q || (dut.addr_q == address &&
      dut.segment_addr_q == AddrW'(start_q + (segment_q[0] ? AddrW'(c_q.segment_pitch) : '0))))
  `FV_ASSERT(i_segment, !open_q || (dut.last_segment_q == last_segment && dut.pixel_bytes_q == bytes))
  `FV_ASSERT(i_bytes, !running || (dut.bytes_q == times(c_q.columns[1:0], c_q.pixel_bytes) &&
      dut.last_bytes_q == times(c_q.columns[1:0], c_q.last_pixel_bytes) &&
      dut.mask_q == ({24{1'b1}} >> {2'd3 - c_q.pixel_bytes[1:0], 3'b000}) &&
      dut.last_mask_q == ({24{1'b1}} >> {2'd3 - c_q.last_pixel_bytes[1:0], 3'b000})))
  `FV_ASSERT(i_taken, !open_q || 6'(taken_q) == times(column_q, 12'(bytes)))
  `FV_ASSERT(i_pos, !in_row || (dut.u_pack.pos_q == next_byte[1:0] && !dut.u_pack.tail_q && (dut.u_pack.part_q >> {dut.u_pack.pos_q, 3'b000}) == '0))
  `FV_ASSERT(i_beats, byte_due + 6'(dut.u_pack.tail_q) == beats_q + (in_row ? 6'((6'(address[1:0]) + 6'(taken_q)) >> 2) : 6'd0))
  `FV_ASSERT(i_byte, !byte_q || gone_q || (data_valid && byte_beat_q == out_q) || (byte_beat_q == byte_due && (dut.u_pack.tail_q || in_row) &&
      8'(dut.u_pack.part_q >> {byte_lane_q, 3'b000}) == byte_value_q && (dut.u_pack.tail_q || byte_lane_q < dut.u_pack.pos_q)))
  `FV_ASSERT(i_requests, dut.u_requests.level_q == 3'(rows_q - asked_q) && dut.u_requests.level_q <= 3'd4 &&
      5'(rows_q - asked_q) <= 5'd4 && dut.u_requests.out_valid_q == (dut.u_requests.level_q != '0))
  `FV_COVER(c_tail, dut.u_pack.tail_q && take)
  `FV_COVER(c_vector, byte_q && c_q.from_vector && data_valid && out_q == byte_beat_q && out_q == 6'd2)
  `FV_COVER(c_done, done && dones_q == 3'd1)
  `FV_COVER(c_error, error)
endmodule
