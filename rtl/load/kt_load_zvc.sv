// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Compression between LOAD and its read master (docs/formats/zvc.md): requests for segments become requests for what
// they take in memory, and packed beats become the beats an uncompressed read would give.
//
//   commands -> kt_load_surface ---> kt_load_request        beats <--------------------------- raw ---+
//                  ^ |                     | requests         ^                                       |
//            beats | +- surface request    v                  +- kt_zvc_expand <- packed -+           |
//                  |        +------> cut to units -> master                               |           |
//                  +----------------------------------------------------------- surface --+-- responses by tag
//
// Nothing is staged: a beat is taken from the bus when its place is free, so RREADY holds back what a row of zeros
// cannot take yet, and no request needs room. Commands without compression pass without a cycle of delay.
//
// What no compressor writes is reported once a segment, with command and row. The segment still takes all its beats and
// gives all it stands for, so LOAD goes on, inside its destination, until the control stops it.
module kt_load_zvc
  import kt_pkg::*;
  import kt_cmd_pkg::*;
#(
  parameter int unsigned AxiW    = 128,
  parameter int unsigned AddrW   = 40,
  parameter int unsigned BytesW  = 20,
  parameter int unsigned Tags    = 40,    // requests without response; the master's bursts and a few more
  parameter int unsigned Surface = 1024,  // bytes of a command's size surface, at most
  localparam int unsigned Lanes = AxiW / 8,
  localparam int unsigned LaneW = $clog2(Lanes)
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic [AddrW-1:0]    base_i[8],
  // commands, and on to kt_load_request
  input  logic                cmd_valid_i,
  output logic                cmd_ready_o,
  input  command_t            cmd_i,
  output logic                cmd_valid_o,
  input  logic                cmd_ready_i,
  output command_t            cmd_o,
  // its requests, and on to the read master
  input  logic                req_valid_i,
  output logic                req_ready_o,
  input  logic [AddrW-1:0]    req_addr_i,
  input  logic [BytesW-1:0]   req_bytes_i,
  output logic                req_valid_o,
  input  logic                req_ready_i,
  output logic [AddrW-1:0]    req_addr_o,
  output logic [BytesW-1:0]   req_bytes_o,
  output logic                surface_o,      // it is for a surface
  // responses, and on to the gearbox
  input  logic                rsp_valid_i,
  output logic                rsp_ready_o,
  input  logic [AxiW-1:0]     rsp_data_i,
  input  logic [LaneW-1:0]    rsp_offset_i,
  input  logic [LaneW:0]      rsp_bytes_i,
  input  logic                rsp_last_i,
  input  logic                rsp_error_i,
  output logic                rsp_valid_o,
  input  logic                rsp_ready_i,
  output logic [AxiW-1:0]     rsp_data_o,
  output logic [LaneW-1:0]    rsp_offset_o,
  output logic                rsp_last_o,
  output logic                rsp_error_o,
  // a beat of a surface or of a packed segment came with an error; a segment is corrupt. They belong to this command,
  // row
  output logic                bus_error_o,
  output logic                corrupt_o,
  output index_t              error_index_o,
  output logic [9:0]          error_row_o,
  // with a request: it belongs to compression, and stands for these bytes
  output logic                zvc_o,
  output logic [BytesW-1:0]   raw_bytes_o
);

  typedef struct packed {
    index_t     index;
    logic [9:0] row;
  } place_t;

  typedef struct packed {
    logic        surface;
    logic        packed_;
    logic [14:0] bytes;  // of the segment
    logic [7:0]  zero;
    place_t      place;
  } tag_t;

  // ---- commands and surfaces
  logic              size_valid, size_take, surface_valid, surface_free, surface_rsp;
  logic [7:0]        surface_size;
  logic [AddrW-1:0]  surface_addr;
  logic [BytesW-1:0] surface_bytes;

  kt_load_surface #(
    .AxiW   (AxiW),
    .AddrW  (AddrW),
    .BytesW (BytesW),
    .Surface(Surface)
  ) u_surface (
    .clk_i,
    .rst_ni,
    .base_i,
    .cmd_valid_i,
    .cmd_ready_o,
    .cmd_i,
    .cmd_valid_o,
    .cmd_ready_i,
    .cmd_o,
    .req_valid_o  (surface_valid),
    .req_ready_i  (surface_free),
    .req_addr_o   (surface_addr),
    .req_bytes_o  (surface_bytes),
    .rsp_valid_i  (surface_rsp),
    .rsp_data_i,
    .rsp_offset_i,
    .rsp_bytes_i,
    .size_valid_o (size_valid),
    .size_take_i  (size_take),
    .size_o       (surface_size)
  );

  // ---- of the command whose segments are asked for
  logic [1:0]        kind_q;  // 0: nothing is compressed, 1: sizes come from the surface, 2: from the command
  logic [10:0]       cmd_size_q;
  logic [7:0]        zero_q, segments_q, segment_q;
  place_t            place_q;
  logic              fire;

  /* verilator lint_off UNUSEDSIGNAL */  // segments need some fields
  load_rows_t    rows;
  load_weights_t weights;
  /* verilator lint_on UNUSEDSIGNAL */
  assign rows    = load_rows_t'(cmd_o.body);
  assign weights = load_weights_t'(cmd_o.body);

  always_ff @(posedge clk_i) begin
    if (cmd_valid_o && cmd_ready_i) begin
      kind_q      <= (cmd_o.op == OpLoadRows) ? {1'b0, rows.zvc}
                                              : {cmd_o.op == OpLoadWeights && weights.zvc_beats != '0, 1'b0};
      cmd_size_q  <= weights.zvc_beats;
      zero_q      <= (cmd_o.op == OpLoadRows) ? rows.fill : weights.fill;
      segments_q  <= rows.segments - 8'd1;
      segment_q   <= rows.segments - 8'd1;
      place_q     <= '{index: cmd_o.index, row: '0};
    end else if (fire && kind_q == 2'd1) begin
      segment_q <= (segment_q == '0) ? segments_q : segment_q - 8'd1;
      if (segment_q == '0) place_q.row <= place_q.row + 10'd1;
    end
  end

  // ---- requests: surfaces first
  logic        tag_free, wrong, go;
  logic [10:0] size, raw_beats;
  tag_t        tag_in, tag;

  assign size       = (kind_q == 2'd0) ? '0 : (kind_q == 2'd1) ? {3'b0, surface_size} : cmd_size_q;
  assign raw_beats   = 11'(req_bytes_i >> LaneW) + 11'(req_bytes_i[LaneW-1:0] != '0);
  assign wrong       = size >= raw_beats;
  assign go          = kind_q != 2'd1 || size_valid;
  assign surface_o   = surface_valid;
  assign req_valid_o = (surface_valid || (req_valid_i && go)) && tag_free;
  assign surface_free = req_ready_i && tag_free;
  assign req_ready_o  = req_ready_i && tag_free && go && !surface_valid;
  assign fire         = req_valid_i && req_ready_o;
  assign size_take   = fire && kind_q == 2'd1;

  always_comb begin
    req_addr_o  = req_addr_i;
    req_bytes_o = req_bytes_i;
    if (surface_valid) begin
      req_addr_o  = surface_addr;
      req_bytes_o = surface_bytes;
    end else if (size != '0 && !wrong) begin
      req_addr_o[LaneW-1:0] = '0;
      req_bytes_o           = BytesW'(size) << LaneW;
    end
  end
  assign zvc_o       = surface_valid || kind_q != 2'd0;
  assign raw_bytes_o = surface_valid ? '0 : req_bytes_i;

  assign tag_in = '{
    surface: surface_valid,
    packed_: !surface_valid && size != '0 && !wrong,
    bytes:   15'(req_bytes_i),
    zero:    zero_q,
    place:   surface_valid ? '{index: cmd_o.index, row: '0} : place_q
  };

  logic tag_valid, tag_pop;
  logic [$clog2(Tags+1)-1:0] unused_tag_level;
  kt_fifo #(
    .Width   ($bits(tag_t)),
    .Depth   (Tags),
    .BlockRam(1'b0)
  ) u_tags (
    .clk_i,
    .rst_ni,
    .in_valid_i (req_valid_o && req_ready_i),
    .in_ready_o (tag_free),
    .in_data_i  (tag_in),
    .out_valid_o(tag_valid),
    .out_ready_i(tag_pop),
    .out_data_o (tag),
    .level_o    (unused_tag_level)
  );

  // ---- responses
  logic            is_packed, is_raw, first_q, zip_in, zip_ready, zip_valid, zip_last, zip_wrong, zip_error;
  logic            place_free, place_valid, place_end, take;
  logic [AxiW-1:0] zip_data;
  place_t          place;

  assign is_packed = tag_valid && tag.packed_;
  assign is_raw    = tag_valid && !tag.packed_ && !tag.surface && !place_valid;
  always_comb begin
    rsp_ready_o = is_raw && rsp_ready_i;
    if (tag_valid && tag.surface) rsp_ready_o = 1'b1;
    else if (is_packed) rsp_ready_o = zip_ready && (place_free || !first_q);
  end
  assign take        = rsp_valid_i && rsp_ready_o;
  assign tag_pop     = take && rsp_last_i;
  assign surface_rsp = rsp_valid_i && tag_valid && tag.surface;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) first_q <= 1'b1;
    else if (take) first_q <= rsp_last_i;
  end

  // segments in the expander
  logic [$clog2(8+1)-1:0] unused_place_level;
  kt_fifo #(
    .Width($bits(place_t)),
    .Depth(8)
  ) u_places (
    .clk_i,
    .rst_ni,
    .in_valid_i (take && is_packed && first_q),
    .in_ready_o (place_free),
    .in_data_i  (tag.place),
    .out_valid_o(place_valid),
    .out_ready_i(place_end),
    .out_data_o (place),
    .level_o    (unused_place_level)
  );

  // The expander's clock runs while it has a segment, and until the rest of one that is too long is gone.
  logic       zip_clk;
  logic [2:0] linger_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) linger_q <= '0;
    else if (is_packed || place_valid) linger_q <= '1;
    else if (linger_q != '0) linger_q <= linger_q - 3'd1;
  end
  kt_clk_gate u_zip_clk (
    .clk_i,
    .en_i (is_packed || place_valid || linger_q != '0 || !rst_ni),
    .clk_o(zip_clk)
  );

  assign zip_in    = rsp_valid_i && is_packed && (place_free || !first_q);
  assign place_end = zip_valid && rsp_ready_i && zip_last;
  kt_zvc_expand #(
    .Lanes    (Lanes),
    .ElementsW(15)
  ) u_expand (
    .clk_i          (zip_clk),
    .rst_ni,
    .in_valid_i     (zip_in),
    .in_ready_o     (zip_ready),
    .in_data_i      (rsp_data_i),
    .in_last_i      (rsp_last_i),
    .in_error_i     (rsp_error_i),
    .in_elements_i  (tag.bytes),
    .in_zero_i      (tag.zero),
    .out_valid_o    (zip_valid),
    .out_ready_i    (rsp_ready_i),
    .out_data_o     (zip_data),
    .out_last_o     (zip_last),
    .out_error_o    (zip_wrong),
    .out_bus_error_o(zip_error)
  );

  assign rsp_valid_o  = zip_valid || (rsp_valid_i && is_raw);
  assign rsp_data_o   = zip_valid ? zip_data : rsp_data_i;
  assign rsp_offset_o = zip_valid ? '0 : rsp_offset_i;
  assign rsp_last_o   = zip_valid ? zip_last : rsp_last_i;
  assign rsp_error_o  = !zip_valid && rsp_error_i;

  // ---- errors; of several in a cycle the earliest in the program
  logic wrong_size, surface_error;
  assign wrong_size    = fire && wrong && size != '0;
  assign surface_error = surface_rsp && rsp_error_i;
  assign bus_error_o   = (place_end && zip_error) || surface_error;
  assign corrupt_o     = (place_end && zip_wrong && !zip_error) || wrong_size;
  always_comb begin
    error_index_o = place_q.index;
    error_row_o   = place_q.row;
    if (place_end && (zip_error || zip_wrong)) begin
      error_index_o = place.index;
      error_row_o   = place.row;
    end else if (surface_error) begin
      error_index_o = tag.place.index;
    end
  end

endmodule
