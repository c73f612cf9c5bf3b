// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Performance counters: number and order are those of the regfile `counters` in kaiten.rdl.
//
// They are 0 at the start of a run, count while it lasts and keep their values until the next start. Reading the low
// word of a counter keeps its high word aside; reading any high word gives what was kept. So the pair low, high is one
// value even while the counter runs, as long as no other reader comes between.
//
// A counter of events has two parts. The low eight bits of all counters stand in eight planes, one bit of every counter
// in each: counting is a carry that runs through the planes. The upper bits are words of a small memory; a scan passes
// all of them every 32 cycles and adds the carry that the low part left behind (it cannot leave a second one so soon).
// That is one wide adder for all counters, and a dozen instructions a cycle for the simulator.
module kt_counters
  import kt_control_pkg::*;
(
  input  logic            clk_i,
  input  logic            rst_ni,
  input  control_events_t control_i,
  input  engine_events_t  engine_i,
  // read: data in the next cycle
  input  logic            rd_req_i,
  input  logic [8:2]      rd_addr_i,  // 32-bit words
  output logic [31:0]     rd_data_o
);

  localparam int unsigned Events     = 32;  // counters of events, then of bytes
  localparam int unsigned Weights    = 0;
  localparam int unsigned Params     = 1;
  localparam int unsigned Rows       = 2;
  localparam int unsigned Commands   = 3;
  localparam int unsigned Written    = 4;
  localparam int unsigned ZvcRead    = 5;  // raw, then packed
  localparam int unsigned ZvcWritten = 7;
  localparam int unsigned Sums       = 9;

  // Events come from all over the design: registered first.
  control_events_t control_q;
  engine_events_t  engine_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) control_q <= '0;
    else control_q <= control_i;
  end
  always_ff @(posedge clk_i) engine_q <= engine_i;

  // ---- events
  logic [31:0] flags;       // bit i: counter i counts
  assign flags = {
    control_q.load_arrived,
    engine_q.beat_written,
    engine_q.beat_read,
    control_q.no_command,
    control_q.waits,
    engine_q.load_conflict,
    engine_q.vector_conflict,
    engine_q.vector_busy,
    engine_q.array_no_output,
    engine_q.array_no_weights,
    engine_q.array_no_rows,
    engine_q.array_no_command,
    engine_q.array_busy,
    1'b1
  };

  logic [31:0] counted /* verilator public_flat_rd */;  // the test bench tells layers apart with it
  assign counted = control_q.running ? flags : '0;

  logic [31:0] plane_d[8], plane_q[8];
  logic [31:0] carry;                   // out of the last plane
  logic [31:0] pending_q;               // carries that wait for the scan
  logic [55:0] upper[32];
  logic [4:0]  scan_q;
  logic        clear_q;                 // the scan clears, it started with the run
  logic        add;

  always_comb begin
    carry = counted;
    for (int unsigned b = 0; b < 8; b++) begin
      plane_d[b] = plane_q[b] ^ carry;
      carry      = plane_q[b] & carry;
    end
  end

  assign add = pending_q[scan_q];

  // The scan reads an upper half in one cycle and writes it, one more, in the next.
  logic [4:0]  write_q;
  logic        add_q;
  logic [55:0] upper_q;

  // Counters are cleared by a start, and in the cycle after a reset: a synchronous clear costs flip-flops no logic.
  logic fresh_q, clear;
  assign clear = control_q.start || fresh_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) fresh_q <= 1'b1;
    else fresh_q <= 1'b0;
  end

  always_ff @(posedge clk_i) begin
    if (clear) begin
      plane_q   <= '{default: '0};
      pending_q <= '0;
      scan_q    <= '0;
      write_q   <= '0;
      add_q     <= 1'b0;
      clear_q   <= 1'b1;
    end else begin
      plane_q   <= plane_d;
      pending_q <= (pending_q & ~(32'(add_q) << write_q)) | carry;
      scan_q    <= scan_q + 5'd1;
      write_q   <= scan_q;
      add_q     <= add;
      if (write_q == '1 && scan_q == '0) clear_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (add) upper_q <= upper[scan_q];
    if (clear_q || add_q) upper[write_q] <= clear_q ? '0 : upper_q + 56'd1;
  end

  // ---- bytes
  logic [63:0] sum_d[Sums], sum_q[Sums];

  always_comb begin
    sum_d = sum_q;
    if (engine_q.read_weights) sum_d[Weights] = sum_q[Weights] + 64'(engine_q.read_bytes);
    if (engine_q.read_params) sum_d[Params] = sum_q[Params] + 64'(engine_q.read_bytes);
    if (engine_q.read_rows) sum_d[Rows] = sum_q[Rows] + 64'(engine_q.read_bytes);
    if (control_q.fetch) sum_d[Commands] = sum_q[Commands] + 64'(control_q.fetch_bytes);
    if (engine_q.written) sum_d[Written] = sum_q[Written] + 64'(engine_q.written_bytes);
    if (engine_q.zvc_read) begin
      sum_d[ZvcRead]   = sum_q[ZvcRead] + 64'(engine_q.zvc_read_raw);
      sum_d[ZvcRead+1] = sum_q[ZvcRead+1] + 64'(engine_q.read_bytes);
    end
    if (engine_q.zvc_written) begin
      sum_d[ZvcWritten]   = sum_q[ZvcWritten] + 64'(engine_q.zvc_written_raw);
      sum_d[ZvcWritten+1] = sum_q[ZvcWritten+1] + 64'(engine_q.written_bytes);
    end
  end

  always_ff @(posedge clk_i) begin
    if (clear) sum_q <= '{default: '0};
    else if (control_q.running) sum_q <= sum_d;
  end

  // ---- read; what is not cleared yet is 0. A carry on its way belongs to the value: it is kept beside it, and added
  // when the data are looked at.
  logic [4:0]  number;
  logic [63:0] stored, stored_q, value;
  logic        stored_carry_q, high_q, low_read_q;
  logic [31:0] high_word_q;

  assign number = rd_addr_i[7:3];

  always_comb begin
    stored = '0;
    if (rd_req_i) begin
      if (rd_addr_i[8:3] < 6'(Events)) begin
        if (!clear_q) stored[63:8] = upper[number];
        for (int unsigned b = 0; b < 8; b++) stored[b] = plane_q[b][number];
      end
      for (int unsigned i = 0; i < Sums; i++) begin
        if (rd_addr_i[8:3] == 6'(Events + i)) stored = sum_q[i];
      end
    end
  end
  assign value = stored_q + {55'd0, stored_carry_q, 8'd0};

  always_ff @(posedge clk_i) begin
    low_read_q <= rd_req_i && !rd_addr_i[2];
    if (low_read_q) high_word_q <= value[63:32];
    if (rd_req_i) begin
      high_q         <= rd_addr_i[2];
      stored_q       <= stored;
      stored_carry_q <= rd_addr_i[8:3] < 6'(Events) && !clear_q && pending_q[number];
    end
  end

  assign rd_data_o = high_q ? high_word_q : value[31:0];

endmodule
