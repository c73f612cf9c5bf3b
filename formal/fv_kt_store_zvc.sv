// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

`include "fv.svh"
// Compression of STORE, every port free to stall. The environment keeps STORE's side: a command, then its requests, each
// with exactly the beats it touches.
//   - a request, picked when it comes, is asked for once and in its turn, at its address: packed, in fewer units, exactly
//     where the format's definition says that it takes fewer, else raw;
//   - its beats follow those of the requests before it, as many as the request says: the raw beats unchanged, or what
//     kt_zvc_compress (proven alone) makes of them, which gets each of them once, in order;
//   - behind the last request of a command, and nowhere else, come the runs of its size surface, at their addresses, with
//     the picked request's size in its byte;
//   - nothing else is written; requests and beats hold still until taken; no length is lost for want of room;
//   - while the write master takes everything and the producer gives what it owes, something moves at least every Idle
//     cycles.
// Occupancy, order and stillness (Data = 0) by induction; the rest is searched from reset.
module fv_kt_store_zvc
  import kt_pkg::*;
#(
  parameter int unsigned AddrW  = 5,
  parameter int unsigned BytesW = 5,
  parameter int unsigned Beats  = 2,
  parameter bit          Data   = 1'b0,
  parameter int unsigned Idle   = 6,
  localparam int unsigned Lanes   = 4,
  localparam int unsigned Surface = 8,
  localparam int unsigned Jobs    = 2
) (
  input logic              clk_i,
  input logic              rst_ni,
  input logic              cmd_valid_i,
  input index_t            cmd_index_i,
  input logic [AddrW-1:0]  cmd_surface_i,
  input logic [9:0]        cmd_pitch_i,
  input logic [9:0]        cmd_rows_i,
  input logic [9:0]        cmd_segments_i,
  input logic              req_valid_i,
  input logic [AddrW-1:0]  req_addr_i,
  input logic [BytesW-1:0] req_bytes_i,
  input logic [7:0]        req_zero_i,
  input logic              data_valid_i,
  input logic [31:0]       data_i,
  input logic              req_ready_i,
  input logic              data_ready_i,
  input logic              pick_i
);
  logic cmd_ready, in_ready, in_data_ready, req_valid, req_last, data_valid, busy;
  logic [AddrW-1:0]  req_addr;
  logic [BytesW-1:0] req_bytes, raw_bytes;
  logic [31:0]       data;
  index_t            req_index;
  kt_store_zvc #(
    .AxiW   (8 * Lanes),
    .AddrW  (AddrW),
    .BytesW (BytesW),
    .Beats  (Beats),
    .Surface(Surface),
    .Jobs   (Jobs)
  ) dut (
    .clk_i, .rst_ni,
    .cmd_valid_i, .cmd_ready_o(cmd_ready), .cmd_index_i, .cmd_surface_i, .cmd_pitch_i, .cmd_rows_i, .cmd_segments_i,
    .req_valid_i, .req_ready_o(in_ready), .req_zvc_i(1'b1), .req_addr_i, .req_bytes_i, .req_zero_i, .req_index_i('0),
    .req_last_i(1'b0),
    .data_valid_i, .data_ready_o(in_data_ready), .data_zvc_i(1'b1), .data_i,
    .req_valid_o(req_valid), .req_ready_i, .req_zvc_o(), .req_addr_o(req_addr), .req_bytes_o(req_bytes), .req_index_o(req_index),
    .req_last_o(req_last), .data_valid_o(data_valid), .data_ready_i, .data_o(data), .busy_o(busy), .raw_bytes_o(raw_bytes)
  );
  `include "fv_reset.svh"

  wire take_cmd = cmd_valid_i && cmd_ready;
  wire take_req = req_valid_i && in_ready;
  wire take     = data_valid_i && in_data_ready;
  wire ask      = req_valid && req_ready_i;
  wire is_run   = dut.state_q == 3'd3;
  wire send     = data_valid && data_ready_i;
  function automatic logic [5:0] touched(logic [1:0] lane, logic [BytesW-1:0] n);
    return 6'((7'(n) + 7'(lane) + 7'd3) >> 2);
  endfunction

  // ---- environment
  logic [2:0] missing_q;  // requests of the command taken last
  logic [5:0] owed_in_q;  // beats of requests taken
  wire [9:0] extent = (cmd_rows_i[1] ? cmd_pitch_i : 10'd0) + cmd_segments_i;  // of the surface: two rows at most
  `FV_ASSUME(m_counts, cmd_rows_i != '0 && cmd_rows_i <= 10'd2 && cmd_segments_i != '0 && cmd_segments_i <= 10'd2 &&
                       cmd_pitch_i >= cmd_segments_i && cmd_pitch_i <= 10'd6 && extent <= 10'(Surface))
  `FV_ASSUME(m_command, !cmd_valid_i || missing_q == '0)
  `FV_ASSUME(m_request, !req_valid_i || (missing_q != '0 && req_bytes_i != '0 && 32'(req_bytes_i) <= Beats * Lanes &&
                                         req_addr_i[1:0] == '0))
  `FV_ASSUME(m_data, !data_valid_i || owed_in_q != '0)
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      missing_q <= '0;
      owed_in_q <= '0;
    end else begin
      if (take_cmd) missing_q <= (cmd_rows_i[1] && cmd_segments_i[1]) ? 3'd4 : 3'(cmd_rows_i + cmd_segments_i - 10'd1);
      else if (take_req) missing_q <= missing_q - 3'd1;
      owed_in_q <= owed_in_q + (take_req ? touched('0, req_bytes_i) : '0) - 6'(take);
    end
  end

  if (!Data) begin : gen_induction
    // ---- handshakes hold; no length comes without room; one source of beats at a time
    logic       req_hold_q, data_hold_q;
    logic [$bits(index_t)+AddrW+2*BytesW:0] request_q;
    logic [31:0] data_q;
    wire [$bits(index_t)+AddrW+2*BytesW:0] request = {req_index, req_last, req_addr, req_bytes, raw_bytes};
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        req_hold_q  <= 1'b0;
        data_hold_q <= 1'b0;
      end else begin
        req_hold_q  <= req_valid && !req_ready_i && dut.cmd_valid;  // a_command: there is one
        data_hold_q <= data_valid && !data_ready_i;
      end
    end
    always_ff @(posedge clk_i) begin
      request_q <= request;
      data_q    <= data;
    end
    `FV_ASSERT(a_req_hold, !req_hold_q || (req_valid && request == request_q))
    `FV_ASSERT(a_data_hold, !data_hold_q || (data_valid && data == data_q))
    `FV_ASSERT(a_jobs, !dut.length_valid || dut.u_jobs.in_ready_o)
    `FV_ASSERT(a_staged, !dut.beat || dut.u_stage.in_ready_o)
    // the other source never has a beat of its own while packed ones are left
    `FV_ASSERT(a_one_source, !(dut.packed_valid && (dut.state_q == 3'd4 || (dut.state_q == 3'd2 && !dut.pack_q))))

    // invariants: a request's beats are staged before its length is known, and counted once
    wire [3:0] lengths = 4'(dut.u_count.valid_q && dut.u_count.last_q) + 4'(dut.u_count.out_valid_q) + 4'(dut.u_jobs.level_q);
    `FV_ASSERT(i_jobs, dut.jobs_q == lengths && dut.jobs_q <= 4'(Jobs) && dut.u_jobs.out_valid_q == (dut.u_jobs.level_q != '0))
    `FV_ASSERT(i_state, dut.state_q <= 3'd4)
    `FV_ASSERT(i_staged, 32'(dut.u_stage.level_q) == 32'(dut.u_stage.gen_ram.stored_q) + 32'(dut.u_stage.out_valid_q))
    `FV_ASSERT(i_room, 32'(dut.u_stage.level_q) <= 2 * Beats && (!dut.room_q || 32'(dut.u_stage.level_q) < 2 * Beats))
    // zipped_q counts the segments in the compressor, the one on its way into it too: those whose last beat is in it ...
    wire sending = dut.state_q == 3'd2 && dut.pack_q;
    `FV_ASSERT(i_zipped, dut.zipped_q == 4'(sending) + 4'(dut.u_compress.valid1_q && dut.u_compress.last1_q) +
        4'(dut.u_compress.valid2_q && dut.u_compress.last2_q) + 4'(dut.u_compress.valid3_q && dut.u_compress.last3_q) +
        4'(dut.u_compress.closing_q) + 4'(dut.u_compress.out_valid_q && dut.u_compress.out_last_q))
    // ... and what came last into it, if it is not the last beat of its segment, is of the one on its way
    logic open_end;
    always_comb begin
      open_end = dut.u_compress.out_valid_q && !dut.u_compress.out_last_q;
      if (dut.u_compress.level_q != '0 || dut.u_compress.closing_q) open_end = !dut.u_compress.closing_q;
      if (dut.u_compress.valid3_q) open_end = !dut.u_compress.last3_q;
      if (dut.u_compress.valid2_q) open_end = !dut.u_compress.last2_q;
      if (dut.u_compress.valid1_q) open_end = !dut.u_compress.last1_q;
    end
    `FV_ASSERT(i_open_end, !open_end || sending)
    `FV_ASSERT(i_drained, !(dut.state_q == 3'd4 || (dut.state_q == 3'd2 && !dut.pack_q)) || dut.drained)
  end else begin : gen_data
    logic [5:0] owed_q;  // beats asked for and not sent
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) owed_q <= '0;
      else owed_q <= owed_q + (ask ? touched(req_addr[1:0], req_bytes) : '0) - 6'(send);
    end

    `FV_ASSERT(a_command, dut.state_q == 3'd0 || dut.cmd_valid)
    `FV_ASSERT(a_owed, !data_valid || owed_q != '0)
    `FV_ASSERT(a_idle, busy || (owed_q == '0 && missing_q == '0))

    // ---- the picked request: its number, its beats, its packed form
    logic [4:0] in_num_q, data_num_q, out_num_q;  // requests taken; with all their beats; asked for
    logic       picked_q, asked_q, packed_q;
    logic [4:0] num_q;
    logic [AddrW-1:0]  addr_q;
    logic [BytesW-1:0] bytes_q;
    logic [7:0]        zero_q;
    logic              beat_q;              // of its beats, the next to come
    logic [Beats*32-1:0] raw_q;
    logic [5:0] sent_q, due_q, first_q;     // beats sent, asked for in all; before the picked request's first
    wire pick = take_req && pick_i && !picked_q;
    wire its_beat = picked_q && take && data_num_q == num_q;
    wire its_ask  = picked_q && ask && !is_run && out_num_q == num_q;
    wire its_end  = 32'(beat_q) + 1 == 32'(touched('0, bytes_q));
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        in_num_q   <= '0;
        data_num_q <= '0;
        out_num_q  <= '0;
        picked_q   <= 1'b0;
        asked_q    <= 1'b0;
        beat_q     <= '0;
        sent_q     <= '0;
        due_q      <= '0;
      end else begin
        in_num_q   <= in_num_q + 5'(take_req);
        data_num_q <= data_num_q + 5'(dut.in_end);
        out_num_q  <= out_num_q + 5'(ask && !is_run);
        if (pick) picked_q <= 1'b1;
        if (its_beat) beat_q <= 1'b1;
        if (its_ask) asked_q <= 1'b1;
        sent_q <= sent_q + 6'(send);
        if (ask) due_q <= due_q + touched(req_addr[1:0], req_bytes);
      end
    end
    always_ff @(posedge clk_i) begin
      if (pick) begin
        num_q   <= in_num_q;
        addr_q  <= req_addr_i;
        bytes_q <= req_bytes_i;
        zero_q  <= req_zero_i;
      end
      if (its_beat) raw_q[32*beat_q+:32] <= data_i;
      if (its_ask) begin
        first_q  <= due_q;
        packed_q <= req_bytes != bytes_q;
      end
    end
    `FV_ASSERT(a_in_end, !its_beat || dut.in_end == its_end)

    // length of its packed form: kt_zvc_count's, whose proof says that it is the definition's
    logic [4:0] lengths_q;
    logic [5:0] length_q, units;
    wire        its_length = picked_q && dut.length_valid && lengths_q == num_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) lengths_q <= '0;
      else lengths_q <= lengths_q + 5'(dut.length_valid);
    end
    always_ff @(posedge clk_i) if (its_length) length_q <= 6'(dut.length);
    assign units = (length_q + 6'd3) >> 2;
    wire shorter = units < touched('0, bytes_q);

    `FV_ASSERT(a_request, !(picked_q && req_valid && !is_run && out_num_q == num_q) || (req_addr == addr_q &&
               raw_bytes == bytes_q && req_bytes == (shorter ? {units, 2'b00} : bytes_q)))
    wire [5:0] place = sent_q - first_q;
    wire here = picked_q && asked_q && data_valid && place < (packed_q ? units : touched('0, bytes_q));
    `FV_ASSERT(a_raw, !here || packed_q || data == 32'(raw_q >> {place, 5'd0}))
    // into the compressor (whose own proof says what it makes of them) go its beats, one behind the other, and out of it
    // come as many as were asked for
    logic [2:0] zipped_q;
    wire        zipping = picked_q && asked_q && packed_q && dut.zip_valid && dut.zip_ready && out_num_q == num_q + 5'd1;
    wire        zip_end = 32'(zipped_q) + 1 == 32'(touched('0, bytes_q));
    wire [5:0]  rest = 6'(bytes_q) - {1'b0, zipped_q, 2'b00};
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) zipped_q <= '0;
      else if (zipping) zipped_q <= zipped_q + 3'd1;
    end
    `FV_ASSERT(a_zip, !zipping || (32'(zipped_q) < Beats && dut.stage == 32'(raw_q >> {zipped_q, 5'd0}) && dut.send_end == zip_end &&
                                   dut.request_q.zero == zero_q && (!zip_end || 6'(dut.zip_elements) == rest)))
    `FV_ASSERT(a_units, !(here && packed_q) || (dut.packed_valid && dut.packed_last == (place + 6'd1 == units)))
    `FV_ASSERT(a_in_turn, !(picked_q && out_num_q == num_q && !asked_q) || in_num_q != num_q)

    // ---- the picked command: where its requests and runs are
    logic       command_q;
    logic [4:0] start_q;   // its first request
    index_t     index_q;
    logic [AddrW-1:0] surface_q;
    logic [9:0] pitch_q, rows_q, segments_q;
    logic [1:0] runs_q;    // of it, asked for
    wire [4:0] count = (rows_q[1] && segments_q[1]) ? 5'd4 : 5'(rows_q + segments_q - 10'd1);
    wire       whole = pitch_q == segments_q;
    wire [1:0] all_runs = whole ? 2'd1 : 2'(rows_q);
    wire [4:0] gone = out_num_q - start_q;
    wire       earlier = gone == '0 && start_q != '0 && is_run;  // runs of the command before it
    wire       its_command = command_q && gone < count && !earlier;
    wire       its_run = command_q && gone == count && runs_q != all_runs;
    wire pick_command = take_cmd && pick_i && !command_q;
    // The counters do not wrap in so few cycles: with the next command's first request gone > count.
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        command_q   <= 1'b0;
        runs_q      <= '0;
      end else begin
        if (pick_command) command_q <= 1'b1;
        if (its_run && ask) runs_q <= runs_q + 2'd1;
      end
    end
    always_ff @(posedge clk_i) begin
      if (pick_command) begin
        start_q    <= in_num_q;
        index_q    <= cmd_index_i;
        surface_q  <= cmd_surface_i;
        pitch_q    <= cmd_pitch_i;
        rows_q     <= cmd_rows_i;
        segments_q <= cmd_segments_i;
      end
    end
    wire [AddrW-1:0] run_addr = surface_q + (runs_q[0] ? AddrW'(pitch_q) : '0);
    wire [BytesW-1:0] run_bytes = BytesW'(segments_q) << (whole && rows_q[1]);
    `FV_ASSERT(a_segment, !(its_command && req_valid) || (!is_run && !req_last && req_index == index_q))
    `FV_ASSERT(a_run, !(its_run && req_valid) || (is_run && req_index == index_q && req_addr == run_addr &&
               req_bytes == run_bytes && raw_bytes == '0 && req_last == (runs_q + 2'd1 == all_runs)))
    `FV_ASSERT(a_run_once, !(command_q && gone == count && runs_q == all_runs && req_valid) || !is_run)

    // the size of the picked request, if the picked command is its own: request number k is row k mod rows of segment
    // k div rows
    wire [4:0] nth = num_q - start_q;
    wire       own = picked_q && command_q && nth < count;
    wire       row = rows_q[1] && nth[0];
    wire       segment = rows_q[1] ? nth[1] : nth[0];
    wire [AddrW-1:0] size_addr = surface_q + (row ? AddrW'(pitch_q) : '0) + AddrW'(segment);
    logic       run_q;         // a run with its byte was asked for
    logic [5:0] size_beat_q;
    wire [AddrW-1:0] size_off = size_addr - run_addr;
    wire its_size = own && its_run && ask && (whole || runs_q[0] == row);
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) run_q <= 1'b0;
      else if (its_size) run_q <= 1'b1;
    end
    always_ff @(posedge clk_i) begin
      if (its_size) size_beat_q <= due_q + 6'((7'(run_addr[1:0]) + 7'(size_off)) >> 2);
    end
    `FV_ASSERT(a_size, !(run_q && data_valid && sent_q == size_beat_q) ||
                       8'(data >> {size_addr[1:0], 3'b000}) == (shorter ? 8'(units) : 8'd0))

    // ---- something moves
    logic [3:0] idle_q;
    wire moves = take_cmd || take_req || take || ask || send;
    wire pushed = req_ready_i && data_ready_i && (data_valid_i || owed_in_q == '0) && (req_valid_i || missing_q == '0);
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) idle_q <= '0;
      else idle_q <= (moves || !busy || !pushed) ? '0 : idle_q + 4'd1;
    end
    `FV_ASSERT(a_moves, 32'(idle_q) <= Idle)

    `FV_COVER(c_packed, here && packed_q)
    `FV_COVER(c_raw, here && !packed_q && place == 6'd1)
    `FV_COVER(c_run, its_run && ask && req_last)
  end
endmodule
