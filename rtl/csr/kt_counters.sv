// Performance counters: number and order are those of the regfile `counters` in kaiten.rdl.
//
// They are 0 at the start of a run, count while it lasts and keep their values until the next start. Reading the low word
// of a counter keeps its high word aside; reading any high word gives what was kept. So the pair low, high is one
// value even while the counter runs, as long as no other reader comes between.
module kt_counters
  import kt_control_pkg::*;
(
  input  logic            clk_i,
  input  logic            rst_ni,
  input  control_events_t control_i,
  input  engine_events_t  engine_i,
  // read: data with acknowledge in the next cycle
  input  logic            rd_req_i,
  input  logic [8:2]      rd_addr_i,  // 32-bit words
  output logic            rd_ack_o,
  output logic [31:0]     rd_data_o
);

  localparam int unsigned Flags    = 31;  // counters of cycles or beats; after them counters of bytes
  localparam int unsigned Weights  = Flags;
  localparam int unsigned Params   = Flags + 1;
  localparam int unsigned Rows     = Flags + 2;
  localparam int unsigned Fetch    = Flags + 3;
  localparam int unsigned Written  = Flags + 4;
  localparam int unsigned Counters = Flags + 5;

  // Events are registered first: they come from all over the design.
  control_events_t  control_q;
  engine_events_t   engine_q;
  logic [Flags-1:0] flags;
  logic [63:0]      count_d[Counters];
  logic [63:0]      count_q[Counters];

  assign flags = {
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

  always_comb begin
    count_d = count_q;
    for (int unsigned i = 0; i < Flags; i++) count_d[i] = count_q[i] + 64'(flags[i]);
    if (engine_q.read_weights) count_d[Weights] = count_q[Weights] + 64'(engine_q.read_bytes);
    if (engine_q.read_params) count_d[Params] = count_q[Params] + 64'(engine_q.read_bytes);
    if (engine_q.read_rows) count_d[Rows] = count_q[Rows] + 64'(engine_q.read_bytes);
    if (control_q.fetch) count_d[Fetch] = count_q[Fetch] + 64'(control_q.fetch_bytes);
    if (engine_q.written) count_d[Written] = count_q[Written] + 64'(engine_q.written_bytes);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q   <= '{default: '0};
      control_q <= '0;
    end else begin
      control_q <= control_i;
      if (control_q.start) count_q <= '{default: '0};
      else if (control_q.running) count_q <= count_d;
    end
  end

  always_ff @(posedge clk_i) engine_q <= engine_i;

  // ---- read
  logic        ack_q;
  logic [31:0] data_q, high_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) ack_q <= 1'b0;
    else ack_q <= rd_req_i;
  end

  always_ff @(posedge clk_i) begin
    if (rd_req_i) begin
      if (rd_addr_i[2]) data_q <= high_q;
      else if (rd_addr_i[8:3] < 6'(Counters)) {high_q, data_q} <= count_q[rd_addr_i[8:3]];
    end
  end

  assign rd_ack_o  = ack_q;
  assign rd_data_o = data_q;

endmodule
