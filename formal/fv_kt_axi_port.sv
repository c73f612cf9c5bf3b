// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

`include "fv.svh"
// The pins of the accelerator's bus, whatever clients, memory and halt do: the fields that are constants; AR, AW and W
// unchanged until they are taken; bursts of 1 to 16 beats inside a page, at whole beats; each struct's fields at their
// own pins, read beats with their ID to the client of that ID; no new address after a halt. What the masters, the
// arbiter and the gate do inside is claimed by their own proofs.
module fv_kt_axi_port
  import kt_axi_pkg::*;
#(
  parameter int unsigned DataW       = 32,
  parameter int unsigned Outstanding = 3,
  localparam int unsigned Lanes = DataW / 8,
  localparam int unsigned LaneW = $clog2(Lanes)
) (
  input logic             clk_i,
  input logic             rst_ni,
  input logic             gate_rst_ni,
  input logic             halt_i,
  input logic             fetch_req_valid_i,
  input request_t         fetch_req_i,
  input logic             fetch_rsp_ready_i,
  input logic             load_req_valid_i,
  input request_t         load_req_i,
  input logic             load_rsp_ready_i,
  input logic             store_req_valid_i,
  input request_t         store_req_i,
  input logic             store_data_valid_i,
  input logic [DataW-1:0] store_data_i,
  input logic             ar_ready_i,
  input logic             r_valid_i,
  input logic [0:0]       r_id_i,
  input logic [DataW-1:0] r_data_i,
  input logic [1:0]       r_resp_i,
  input logic             r_last_i,
  input logic             aw_ready_i,
  input logic             w_ready_i,
  input logic             b_valid_i,
  input logic [1:0]       b_resp_i
);
  localparam int unsigned MaxBeats = 16;
  localparam int unsigned BeatW    = AddrW - LaneW;

  logic             fetch_req_ready, fetch_rsp_valid, fetch_rsp_error, fetch_busy, idle;
  logic             load_req_ready, load_rsp_valid, load_rsp_last, load_rsp_error;
  logic             store_req_ready, store_data_ready, store_done;
  logic [DataW-1:0] fetch_rsp_data, load_rsp_data;
  logic [LaneW-1:0] load_rsp_offset;
  logic [LaneW:0]   load_rsp_bytes;
  logic [2:0]       error;
  logic [1:0]       error_resp[Masters];
  logic             ar_valid, r_ready, aw_valid, w_valid, w_last, b_ready;
  logic [0:0]       ar_id, aw_id;
  logic [AddrW-1:0] ar_addr, aw_addr;
  logic [7:0]       ar_len, aw_len;
  logic [2:0]       ar_size, aw_size;
  logic [1:0]       ar_burst, aw_burst;
  logic [DataW-1:0] w_data;
  logic [Lanes-1:0] w_strb;
  kt_axi_port #(
    .DataW      (DataW),
    .Outstanding(Outstanding)
  ) dut (
    .clk_i,
    .fetch_clk_i       (clk_i),
    .load_clk_i        (clk_i),
    .store_clk_i       (clk_i),
    .rst_ni,
    .gate_rst_ni,
    .halt_i,
    .idle_o            (idle),
    .error_o           (error),
    .error_resp_o      (error_resp),
    .fetch_req_valid_i,
    .fetch_req_ready_o (fetch_req_ready),
    .fetch_req_i,
    .fetch_rsp_valid_o (fetch_rsp_valid),
    .fetch_rsp_ready_i,
    .fetch_rsp_data_o  (fetch_rsp_data),
    .fetch_rsp_error_o (fetch_rsp_error),
    .fetch_busy_o      (fetch_busy),
    .load_req_valid_i,
    .load_req_ready_o  (load_req_ready),
    .load_req_i,
    .load_rsp_valid_o  (load_rsp_valid),
    .load_rsp_ready_i,
    .load_rsp_data_o   (load_rsp_data),
    .load_rsp_offset_o (load_rsp_offset),
    .load_rsp_bytes_o  (load_rsp_bytes),
    .load_rsp_last_o   (load_rsp_last),
    .load_rsp_error_o  (load_rsp_error),
    .store_req_valid_i,
    .store_req_ready_o (store_req_ready),
    .store_req_i,
    .store_data_valid_i,
    .store_data_ready_o(store_data_ready),
    .store_data_i,
    .store_done_o      (store_done),
    .axi_ar_valid_o    (ar_valid),
    .axi_ar_ready_i    (ar_ready_i),
    .axi_ar_id_o       (ar_id),
    .axi_ar_addr_o     (ar_addr),
    .axi_ar_len_o      (ar_len),
    .axi_ar_size_o     (ar_size),
    .axi_ar_burst_o    (ar_burst),
    .axi_r_valid_i     (r_valid_i),
    .axi_r_ready_o     (r_ready),
    .axi_r_id_i        (r_id_i),
    .axi_r_data_i      (r_data_i),
    .axi_r_resp_i      (r_resp_i),
    .axi_r_last_i      (r_last_i),
    .axi_aw_valid_o    (aw_valid),
    .axi_aw_ready_i    (aw_ready_i),
    .axi_aw_id_o       (aw_id),
    .axi_aw_addr_o     (aw_addr),
    .axi_aw_len_o      (aw_len),
    .axi_aw_size_o     (aw_size),
    .axi_aw_burst_o    (aw_burst),
    .axi_w_valid_o     (w_valid),
    .axi_w_ready_i     (w_ready_i),
    .axi_w_data_o      (w_data),
    .axi_w_strb_o      (w_strb),
    .axi_w_last_o      (w_last),
    .axi_b_valid_i     (b_valid_i),
    .axi_b_ready_o     (b_ready),
    .axi_b_resp_i      (b_resp_i)
  );
  `include "fv_reset.svh"
  // The gate is reset with the masters or not at all; clients ask for at least a byte, inside the address space.
  `FV_ASSUME(m_gate_reset, gate_rst_ni || !rst_ni)
  `FV_ASSUME(m_gate_power_up, past_ok_q || !gate_rst_ni)
  function automatic logic request_ok(request_t request);
    logic [AddrW:0] stop;
    stop = (AddrW + 1)'(request.addr) + (AddrW + 1)'(request.bytes);
    return request.bytes != '0 && stop <= {1'b1, {AddrW{1'b0}}};
  endfunction
  `FV_ASSUME(m_requests, (!fetch_req_valid_i || request_ok(fetch_req_i)) && (!load_req_valid_i || request_ok(load_req_i)) &&
             (!store_req_valid_i || request_ok(store_req_i)))

  // ---- history: what was offered and not taken, the beat that was taken
  logic                 ar_stall_q, aw_stall_q, w_stall_q, r_taken_q, halted_q;
  logic [AddrW+8:0]     ar_h, aw_h;
  logic [DataW+Lanes:0] w_h;
  logic [DataW+3:0]     r_h;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ar_stall_q <= 1'b0;
      aw_stall_q <= 1'b0;
      w_stall_q  <= 1'b0;
      r_taken_q  <= 1'b0;
      halted_q   <= 1'b0;
    end else begin
      ar_stall_q <= ar_valid && !ar_ready_i;
      aw_stall_q <= aw_valid && !aw_ready_i;
      w_stall_q  <= w_valid && !w_ready_i;
      r_taken_q  <= r_valid_i && r_ready && !halt_i;
      halted_q   <= halt_i;
    end
  end
  always_ff @(posedge clk_i) begin
    ar_h <= {ar_addr, ar_len, ar_id};
    aw_h <= {aw_addr, aw_len, aw_id};
    w_h  <= {w_data, w_strb, w_last};
    r_h  <= {r_id_i, r_resp_i, r_last_i, r_data_i};
  end

  `include "fv_burst.svh"
  function automatic logic [BeatW+7:0] burst_of(logic [AddrW+8:0] ar_word);  // {address, len, ID}
    return {ar_word[AddrW+8-:BeatW], ar_word[8:1]};
  endfunction
`define HELD(skid) {skid.out_valid_q, skid.skid_valid_q}
`define NEXT_OK(split) (!split.active_q || burst_ok({split.beat_q, 8'(split.len_o)}))
`define BURSTS_OK(skid) ((!skid.out_valid_q || burst_ok(skid.out_data_q)) && (!skid.skid_valid_q || burst_ok(skid.skid_data_q)))

  wire [AddrW+8:0] ar_out  = dut.u_rd_arb.u_ar.out_data_q;
  wire [AddrW+8:0] ar_skid = dut.u_rd_arb.u_ar.skid_data_q;
  wire [BeatW+7:0] aw_out  = dut.u_wr.u_split.u_addr.out_data_q;
  wire [DataW+3:0] r_out   = dut.u_rd_arb.u_r.out_data_q;  // {ID, resp, last, data}
  wire [DataW+3:0] r_new   = dut.u_rd_arb.u_r.skid_valid_q ? dut.u_rd_arb.u_r.skid_data_q : r_out;

  // ---- claims
  `FV_ASSERT(a_const, 32'(ar_size) == LaneW && 32'(aw_size) == LaneW && ar_burst == 2'b01 && aw_burst == 2'b01 &&
             aw_id == 1'b0 && b_ready)
  `FV_ASSERT(a_ar_hold, !ar_stall_q || (ar_valid && {ar_addr, ar_len, ar_id} == ar_h))
  `FV_ASSERT(a_aw_hold, !aw_stall_q || (aw_valid && {aw_addr, aw_len, aw_id} == aw_h))
  `FV_ASSERT(a_w_hold, !w_stall_q || (w_valid && {w_data, w_strb, w_last} == w_h))
  `FV_ASSERT(a_ar_burst, !ar_valid || (burst_ok({ar_addr[AddrW-1:LaneW], ar_len}) && ar_addr[LaneW-1:0] == '0))
  `FV_ASSERT(a_aw_burst, !aw_valid || (burst_ok({aw_addr[AddrW-1:LaneW], aw_len}) && aw_addr[LaneW-1:0] == '0))
  `FV_ASSERT(a_ar_pins, {ar_addr, ar_len, ar_id} == ar_out)
  `FV_ASSERT(a_aw_pins, {aw_addr[AddrW-1:LaneW], aw_len} == aw_out)
  `FV_ASSERT(a_w_pins, {w_data, w_strb, w_last} == {dut.u_wr.w_data_q, dut.u_wr.w_strb_q, dut.u_wr.w_last_q})
  `FV_ASSERT(a_beat, !r_taken_q || (dut.u_rd_arb.u_r.out_valid_q && r_new == r_h))
  `FV_ASSERT(a_fetch, !fetch_rsp_valid || (r_out[DataW+3] == 1'(MasterFetch) && fetch_rsp_data == r_out[DataW-1:0] &&
             fetch_rsp_error == (r_out[DataW+2-:2] != 2'b00)))
  `FV_ASSERT(a_load, !load_rsp_valid || (r_out[DataW+3] == 1'(MasterLoad) && load_rsp_data == r_out[DataW-1:0] &&
             load_rsp_error == (r_out[DataW+2-:2] != 2'b00) && (!load_rsp_last || r_out[DataW])))
  `FV_ASSERT(a_no_new, !(halt_i && halted_q) || !ar_valid || ar_stall_q)

  // ---- invariants: order inside the skid buffers, bursts on their way to the pins
  `FV_ASSERT(i_skids, `HELD(dut.u_rd_arb.u_ar) != 2'b01 && `HELD(dut.u_rd_arb.u_r) != 2'b01 &&
             `HELD(dut.u_rd_fetch.u_split.u_addr) != 2'b01 && `HELD(dut.u_rd_load.u_split.u_addr) != 2'b01 &&
             `HELD(dut.u_wr.u_split.u_addr) != 2'b01)
  `FV_ASSERT(i_split, `BURSTS_OK(dut.u_rd_fetch.u_split.u_addr) && `BURSTS_OK(dut.u_rd_load.u_split.u_addr) &&
             `BURSTS_OK(dut.u_wr.u_split.u_addr))
  `FV_ASSERT(i_ar, (!dut.u_rd_arb.u_ar.out_valid_q || (burst_ok(burst_of(ar_out)) && ar_out[8+LaneW:9] == '0)) &&
             (!dut.u_rd_arb.u_ar.skid_valid_q || (burst_ok(burst_of(ar_skid)) && ar_skid[8+LaneW:9] == '0)))
  `FV_ASSERT(i_next, `NEXT_OK(dut.u_rd_fetch.u_split) && `NEXT_OK(dut.u_rd_load.u_split) && `NEXT_OK(dut.u_wr.u_split))

  `FV_COVER(c_load, ar_stall_q && ar_valid && ar_ready_i && ar_id == 1'(MasterLoad) && ar_len == 8'd15)
  `FV_COVER(c_page, ar_valid && ar_ready_i && ar_addr[11:0] == 12'(4096 - Lanes) && ar_len == 8'd0 &&
            dut.u_rd_load.u_split.active_q)
  `FV_COVER(c_fetch, r_taken_q && fetch_rsp_valid && fetch_rsp_ready_i)
  `FV_COVER(c_write, w_stall_q && w_valid && w_ready_i && w_last && !(&w_strb))
  `FV_COVER(c_halted, halt_i && halted_q && aw_stall_q && aw_valid && dut.ar_valid && !ar_valid)
endmodule
