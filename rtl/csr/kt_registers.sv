// Registers: the generated AXI4-Lite block kt_csr, the performance counters, and the wires from both to the design.
// Reset by rst_ni only: a soft reset of the engines leaves the registers as they are.
//
// AXI4-Lite: one read and one write may be outstanding beyond the one being answered; addresses that do not exist answer
// with a slave error, writes to read-only registers change nothing. Byte strobes are obeyed.
module kt_registers
  import kt_pkg::*;
  import kt_control_pkg::*;
#(
  parameter int unsigned Kp        = 4,
  parameter int unsigned Cp        = 4,
  parameter int unsigned AxiW      = 128,
  parameter int unsigned WbRows    = 2048,
  parameter int unsigned VwbRows   = 256,
  parameter int unsigned SbDepth   = 1024,
  parameter int unsigned VbDepth   = 512,
  parameter int unsigned ObPixels  = 128,
  parameter int unsigned ZsbArray  = 1024,
  parameter int unsigned ZsbVector = 1024
) (
  input  logic            clk_i,
  input  logic            rst_ni,
  // AXI4-Lite
  input  logic            aw_valid_i,
  output logic            aw_ready_o,
  input  logic [9:0]      aw_addr_i,
  input  logic            w_valid_i,
  output logic            w_ready_o,
  input  logic [31:0]     w_data_i,
  input  logic [3:0]      w_strb_i,
  output logic            b_valid_o,
  input  logic            b_ready_i,
  output logic [1:0]      b_resp_o,
  input  logic            ar_valid_i,
  output logic            ar_ready_o,
  input  logic [9:0]      ar_addr_i,
  output logic            r_valid_o,
  input  logic            r_ready_i,
  output logic [31:0]     r_data_o,
  output logic [1:0]      r_resp_o,
  // interrupt, level
  output logic            irq_o,
  // control
  output logic            start_o,       // pulses
  output logic            soft_reset_o,
  output settings_t       settings_o,
  input  status_t         status_i,
  // engines
  output logic [39:0]     base_o[8],
  output addr_t           wb_split_o,
  // what is counted
  input  control_events_t control_events_i,
  input  engine_events_t  engine_events_i
);

  kt_csr_pkg::kaiten__in_t  hw_in;
  /* verilator lint_off UNUSEDSIGNAL */  // write side of the read-only counters
  kt_csr_pkg::kaiten__out_t hw_out;
  /* verilator lint_on UNUSEDSIGNAL */

  kt_csr u_csr (
    .clk           (clk_i),
    .arst_n        (rst_ni),
    .s_axil_awready(aw_ready_o),
    .s_axil_awvalid(aw_valid_i),
    .s_axil_awaddr (aw_addr_i),
    .s_axil_awprot (3'b0),
    .s_axil_wready (w_ready_o),
    .s_axil_wvalid (w_valid_i),
    .s_axil_wdata  (w_data_i),
    .s_axil_wstrb  (w_strb_i),
    .s_axil_bready (b_ready_i),
    .s_axil_bvalid (b_valid_o),
    .s_axil_bresp  (b_resp_o),
    .s_axil_arready(ar_ready_o),
    .s_axil_arvalid(ar_valid_i),
    .s_axil_araddr (ar_addr_i),
    .s_axil_arprot (3'b0),
    .s_axil_rready (r_ready_i),
    .s_axil_rvalid (r_valid_o),
    .s_axil_rdata  (r_data_o),
    .s_axil_rresp  (r_resp_o),
    .hwif_in       (hw_in),
    .hwif_out      (hw_out)
  );

  logic        counters_ack, write_ack_q;
  logic [31:0] counters_data;

  kt_counters u_counters (
    .clk_i,
    .rst_ni,
    .control_i(control_events_i),
    .engine_i (engine_events_i),
    .rd_req_i (hw_out.counters.req && !hw_out.counters.req_is_wr),
    .rd_addr_i(hw_out.counters.addr[8:2]),
    .rd_ack_o (counters_ack),
    .rd_data_o(counters_data)
  );

  // Writes to counters are taken and do nothing.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) write_ack_q <= 1'b0;
    else write_ack_q <= hw_out.counters.req && hw_out.counters.req_is_wr;
  end

  always_comb begin
    hw_in.kp.value.next               = 32'(Kp);
    hw_in.cp.value.next               = 32'(Cp);
    hw_in.axi_bytes.value.next        = 32'(AxiW / 8);
    hw_in.wb_rows.value.next          = 32'(WbRows);
    hw_in.vwb_rows.value.next         = 32'(VwbRows);
    hw_in.sb_depth.value.next         = 32'(SbDepth);
    hw_in.vb_depth.value.next         = 32'(VbDepth);
    hw_in.ob_pixels.value.next        = 32'(ObPixels);
    hw_in.zsb_array.value.next        = 32'(ZsbArray);
    hw_in.zsb_vector.value.next       = 32'(ZsbVector);
    hw_in.options.conv_modes.next     = 8'b0000_0011;
    hw_in.options.window_kinds.next   = 8'b0000_0111;
    hw_in.options.rules.next          = 8'b0000_0111;
    hw_in.status.busy.next            = status_i.busy;
    hw_in.status.done.next            = status_i.done;
    hw_in.status.error.next           = status_i.error;
    hw_in.status.resetting.next       = status_i.resetting;
    hw_in.irq_status.done.hwset       = status_i.run_completed;
    hw_in.irq_status.error.hwset      = status_i.run_stopped;
    hw_in.error_cause.cause.next      = status_i.cause;
    hw_in.error_index.command.next    = status_i.index;
    hw_in.error_info.info.next        = status_i.info;
    hw_in.completed_load.count.next   = status_i.completed[QLoad];
    hw_in.completed_conv.count.next   = status_i.completed[QConv];
    hw_in.completed_vector.count.next = status_i.completed[QVector];
    hw_in.completed_store.count.next  = status_i.completed[QStore];
    hw_in.counters.rd_ack             = counters_ack;
    hw_in.counters.rd_data            = counters_data;
    hw_in.counters.wr_ack             = write_ack_q;
  end

  assign start_o                  = hw_out.control.start.value;
  assign soft_reset_o             = hw_out.control.soft_reset.value;
  assign settings_o.program_addr  = {hw_out.program_hi.value.value, hw_out.program_lo.value.value, 6'b0};
  assign settings_o.command_count = hw_out.command_count.count.value;
  assign settings_o.watchdog      = hw_out.watchdog.cycles.value;
  assign wb_split_o               = hw_out.wb_split.row.value;
  for (genvar i = 0; i < 8; i++) begin : gen_base
    assign base_o[i] = {hw_out.base[i].hi.value.value, hw_out.base[i].lo.value.value};
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) irq_o <= 1'b0;
    else irq_o <= hw_out.control.irq_enable.value &&
                  (hw_out.irq_status.done.value || hw_out.irq_status.error.value);
  end

endmodule
