// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

`include "fv.svh"
// Performance counters: each counts its own events or bytes, from the start of a run and while it lasts; a low word is that of the
// cycle in which it is asked for, and a high word belongs to the low word read last. So no carry is lost between the low bits in the
// planes and the upper ones in the memory, at whatever pace events come, and none is seen twice.
// One counter, picked at power-up, is followed. That it is cleared in time rests on the scan, which passes all counters in 33 cycles.
module fv_kt_counters
  import kt_control_pkg::*;
(
  input logic            clk_i,
  input logic            rst_ni,
  input control_events_t control_i,
  input engine_events_t  engine_i,
  input logic            rd_req_i,
  input logic [8:2]      rd_addr_i,
  input logic [5:0]      pick_i
);
  logic [31:0] rd_data;
  kt_counters dut (
    .clk_i,
    .rst_ni,
    .control_i,
    .engine_i,
    .rd_req_i,
    .rd_addr_i,
    .rd_data_o(rd_data)
  );
  `include "fv_reset.svh"

  // ---- what counter n counts, in the order of kaiten.rdl; how much it adds
  function automatic logic [20:0] adds(logic [5:0] n, control_events_t c, engine_events_t e);
    logic event_;
    case (n)
      6'd0:  event_ = 1'b1;
      6'd1:  event_ = e.array_busy;
      6'd2:  event_ = e.array_no_command;
      6'd3:  event_ = e.array_no_rows;
      6'd4:  event_ = e.array_no_weights;
      6'd5:  event_ = e.array_no_output;
      6'd6:  event_ = e.vector_busy;
      6'd7:  event_ = e.vector_conflict;
      6'd8:  event_ = e.load_conflict;
      6'd29: event_ = e.beat_read;
      6'd30: event_ = e.beat_written;
      6'd31: event_ = c.load_arrived;
      default: begin
        event_ = 1'b0;
        for (int unsigned q = 0; q < 4; q++) begin  // LOAD, CONV, VECTOR, STORE
          for (int unsigned k = 0; k < 4; k++) if (32'(n) == 9 + 4 * q + k) event_ = c.waits[q][k];
          if (32'(n) == 25 + q) event_ = c.no_command[q];
        end
      end
    endcase
    case (n)
      6'd32:   return e.read_weights ? 21'(e.read_bytes) : '0;
      6'd33:   return e.read_params ? 21'(e.read_bytes) : '0;
      6'd34:   return e.read_rows ? 21'(e.read_bytes) : '0;
      6'd35:   return c.fetch ? 21'(c.fetch_bytes) : '0;
      6'd36:   return e.written ? 21'(e.written_bytes) : '0;
      6'd37:   return e.zvc_read ? 21'(e.zvc_read_raw) : '0;
      6'd38:   return e.zvc_read ? 21'(e.read_bytes) : '0;
      6'd39:   return e.zvc_written ? 21'(e.zvc_written_raw) : '0;
      6'd40:   return e.zvc_written ? 21'(e.written_bytes) : '0;
      default: return 21'(event_);
    endcase
  endfunction

  // ---- the picked counter
  logic [5:0]  n_q;
  logic [63:0] count_q;
  logic        fresh_q;  // the first cycle after a reset, which clears
  control_events_t control_q;
  engine_events_t  engine_q;
  always_ff @(posedge clk_i) if (!past_ok_q) n_q <= pick_i;
  `FV_ASSUME(m_pick, !past_ok_q || n_q <= 6'd40)
  wire picks_event = !n_q[5];
  wire clears = fresh_q || control_q.start;
  always_ff @(posedge clk_i) begin
    engine_q <= engine_i;
    if (clears) count_q <= '0;
    else if (control_q.running) count_q <= count_q + 64'(adds(n_q, control_q, engine_q));
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      control_q <= '0;
      fresh_q   <= 1'b1;
    end else begin
      control_q <= control_i;
      fresh_q   <= 1'b0;
    end
  end

  // ---- reads of it
  logic        low_q, high_q;  // its low word, any high word was asked for a cycle ago
  logic        kept_q;         // the low word read last was its
  logic [63:0] at_q, pair_q;   // the count then
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      low_q  <= 1'b0;
      high_q <= 1'b0;
      kept_q <= 1'b0;
    end else begin
      low_q  <= rd_req_i && !rd_addr_i[2] && rd_addr_i[8:3] == n_q && !fresh_q;
      high_q <= rd_req_i && rd_addr_i[2];
      if (rd_req_i && !rd_addr_i[2]) kept_q <= rd_addr_i[8:3] == n_q && !fresh_q;
    end
  end
  always_ff @(posedge clk_i) begin
    at_q <= count_q;
    if (low_q) pair_q <= at_q;
  end
  `FV_ASSERT(a_low, !low_q || rd_data == at_q[31:0])
  `FV_ASSERT(a_high, !(high_q && kept_q) || rd_data == pair_q[63:32])

  // ---- invariants: what of the count stands where
  wire         on    = past_ok_q && !fresh_q;
  wire [4:0]   e     = n_q[4:0];
  wire         adds_now = dut.add_q && dut.write_q == e;  // the carry reaches the memory with the next edge
  wire [4:0]   ahead = e - dut.scan_q;
  wire [5:0]   left  = adds_now ? 6'd0 : 6'(ahead) + 6'd1;  // cycles until it does
  wire         zero  = dut.clear_q && (dut.write_q <= e);   // the memory's word is still to be cleared
  logic [7:0]  low;
  logic [55:0] upper;
  always_comb begin
    for (int b = 0; b < 8; b++) low[b] = dut.plane_q[b][e];
    upper = zero ? '0 : dut.upper[e];
  end
  `FV_ASSERT(i_registers, !past_ok_q || (dut.control_q == control_q && dut.fresh_q == fresh_q && dut.engine_q == engine_q))
  `FV_ASSERT(i_count, !(on && picks_event) || count_q == {upper + 56'(dut.pending_q[e]), low})
  `FV_ASSERT(i_carry, !(on && picks_event && dut.pending_q[e]) || (9'(low) + 9'(left) <= 9'd33 && !dut.clear_q))
  `FV_ASSERT(i_adds, !(on && picks_event && adds_now) || (dut.pending_q[e] && dut.upper_q == dut.upper[e]))
  `FV_ASSERT(i_scan, !on || dut.write_q == dut.scan_q - 5'd1 || (dut.clear_q && dut.scan_q == '0 && dut.write_q == '0))
  // the scan that clears has passed all counters before a low part can be full
  `FV_ASSERT(i_clear, !(on && picks_event && dut.clear_q) || count_q <= 64'({dut.scan_q == '0 && dut.write_q == '1, dut.scan_q}))
  for (genvar s = 0; s < 9; s++) begin : g_sum
    `FV_ASSERT(i_sum, !(on && n_q == 6'(32 + s)) || dut.sum_q[s] == count_q)
  end
  `FV_ASSERT(i_read, !past_ok_q || ((!low_q || (dut.low_read_q && !dut.high_q && dut.value == at_q)) && dut.high_q >= high_q &&
             (!(kept_q && !dut.low_read_q) || dut.high_word_q == pair_q[63:32]) && (!kept_q || low_q == dut.low_read_q)))

  `FV_COVER(c_wait, low_q && n_q == 6'd22 && at_q == 64'd3)
  `FV_COVER(c_pair, high_q && kept_q && n_q == 6'd32 && pair_q[31:0] != count_q[31:0] && count_q != '0)
endmodule
