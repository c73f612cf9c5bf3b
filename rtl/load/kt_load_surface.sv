// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Size surfaces of compressed LoadRows commands: reads them ahead of the segments, and gives one byte after the other.
//
// Commands pass through. One with `zvc` is kept until its surface has been asked for; the surface of the next such
// command is asked for while the segments of this one still are. Only what fits the FIFO is asked for, so beats are
// taken whenever they come.
module kt_load_surface
  import kt_pkg::*;
  import kt_cmd_pkg::*;
#(
  parameter int unsigned AxiW    = 128,
  parameter int unsigned AddrW   = 40,
  parameter int unsigned BytesW  = 20,
  parameter int unsigned Surface = 1024,  // bytes of a command, at most
  localparam int unsigned Lanes = AxiW / 8,
  localparam int unsigned LaneW = $clog2(Lanes)
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic [AddrW-1:0]    base_i[8],
  // commands
  input  logic                cmd_valid_i,
  output logic                cmd_ready_o,
  input  command_t            cmd_i,
  output logic                cmd_valid_o,
  input  logic                cmd_ready_i,
  output command_t            cmd_o,
  // request for a surface, its beats
  output logic                req_valid_o,
  input  logic                req_ready_i,
  output logic [AddrW-1:0]    req_addr_o,
  output logic [BytesW-1:0]   req_bytes_o,
  input  logic                rsp_valid_i,
  input  logic [AxiW-1:0]     rsp_data_i,
  input  logic [LaneW-1:0]    rsp_offset_i,
  input  logic [LaneW:0]      rsp_bytes_i,
  // sizes of segments
  output logic                size_valid_o,
  input  logic                size_take_i,
  output logic [7:0]          size_o
);

  localparam int unsigned Depth = Surface / Lanes + 1;  // beats that the longest surface touches
  localparam int unsigned RoomW = $clog2(Depth + 1);

  // ---- commands
  typedef enum logic [1:0] {
    StPass,   // nothing is kept
    StSetup,  // the length is on its way to bytes_q
    StAsk,
    StGive
  } state_e;

  state_e            state_q;
  command_t          item_q;
  logic [BytesW-1:0] bytes_q;
  logic [AddrW-1:0]  addr_q;
  logic [RoomW-1:0]  room_q, beats, beats_q;  // beats_q: as they were found with the room
  logic              keep, ask, pop;
  logic [BytesW-1:0] span;

  /* verilator lint_off UNUSEDSIGNAL */  // the size surface needs some fields
  load_rows_t rows, kept;
  /* verilator lint_on UNUSEDSIGNAL */
  assign rows = load_rows_t'(cmd_i.body);
  assign kept = load_rows_t'(item_q.body);
  assign keep = cmd_i.op == OpLoadRows && rows.zvc;

  assign cmd_ready_o = state_q == StPass && (keep || cmd_ready_i);
  assign cmd_valid_o = (state_q == StPass) ? cmd_valid_i && !keep : state_q == StGive;
  assign cmd_o       = (state_q == StPass) ? cmd_i : item_q;

  // The clock runs while a command is kept, and while beats of a surface are under way or here.
  logic clk;
  kt_clk_gate u_clk (
    .clk_i,
    .en_i (state_q != StPass || (cmd_valid_i && keep) || room_q != RoomW'(Depth) || !rst_ni),
    .clk_o(clk)
  );

  always_ff @(posedge clk or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StPass;
    end else begin
      unique case (state_q)
        StPass:  if (cmd_valid_i && keep) state_q <= StSetup;
        StSetup: state_q <= StAsk;
        StAsk:   if (ask) state_q <= StGive;
        default: if (cmd_ready_i) state_q <= StPass;
      endcase
    end
  end

  always_ff @(posedge clk) begin
    if (state_q == StPass && cmd_valid_i && keep) begin
      item_q <= cmd_i;
      addr_q <= base_i[rows.base] + AddrW'(rows.surface);
    end
    if (state_q == StSetup) bytes_q <= BytesW'(kept.rows) * BytesW'(kept.segments);
  end

  // ---- request, the cycle after there is room for all its beats: room only grows until it is taken
  logic roomy_q;
  assign span        = bytes_q + BytesW'(addr_q[LaneW-1:0]);
  assign beats       = RoomW'(span >> LaneW) + RoomW'(span[LaneW-1:0] != '0);
  always_ff @(posedge clk_i) if (state_q == StAsk) beats_q <= beats;
  assign req_valid_o = roomy_q;
  assign req_addr_o  = addr_q;
  assign req_bytes_o = bytes_q;
  assign ask         = req_valid_o && req_ready_i;

  always_ff @(posedge clk or negedge rst_ni) begin
    if (!rst_ni) roomy_q <= 1'b0;
    else roomy_q <= state_q == StAsk && !ask && room_q >= beats;
  end
  always_ff @(posedge clk or negedge rst_ni) begin
    if (!rst_ni) room_q <= RoomW'(Depth);
    else if (ask || pop) room_q <= room_q - (ask ? beats_q : '0) + RoomW'(pop);
  end

  // ---- bytes
  logic [AxiW-1:0]  data;
  logic [LaneW-1:0] offset, lane_q, lane;
  logic [LaneW:0]   bytes, left_q, left;
  logic             first_q, unused_free;
  logic [RoomW-1:0] unused_level;
  // data below, so that simulation moves whole words
  kt_fifo #(
    .Width(AxiW + LaneW + LaneW + 1),
    .Depth(Depth)
  ) u_beats (
    .clk_i      (clk),
    .rst_ni,
    .in_valid_i (rsp_valid_i),
    .in_ready_o (unused_free),  // room_q counts
    .in_data_i  ({rsp_offset_i, rsp_bytes_i, rsp_data_i}),
    .out_valid_o(size_valid_o),
    .out_ready_i(pop),
    .out_data_o ({offset, bytes, data}),
    .level_o    (unused_level)
  );

  assign lane    = first_q ? offset : lane_q;
  assign left    = first_q ? bytes : left_q;
  assign pop     = size_take_i && left == (LaneW + 1)'(1);
  assign size_o  = data[{lane, 3'b000}+:8];

  always_ff @(posedge clk or negedge rst_ni) begin
    if (!rst_ni) first_q <= 1'b1;
    else if (size_take_i) first_q <= pop;
  end
  always_ff @(posedge clk) begin
    if (size_take_i) begin
      lane_q <= lane + 1'b1;
      left_q <= left - 1'b1;
    end
  end

endmodule
