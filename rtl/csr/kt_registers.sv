// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Registers: AXI4-Lite, the generated register block kt_csr, the performance counters, and the wires to the design.
// Reset by rst_ni only: a soft reset of the engines leaves the registers as they are. Described in
// docs/formats/registers.md.
module kt_registers
  import kt_cmd_pkg::*;
  import kt_csr_pkg::*;
  import kt_pkg::*;
  import kt_control_pkg::*;
#(
  parameter int unsigned Kp        = 4,
  parameter int unsigned Cp        = 4,
  parameter int unsigned StageRows = 2,
  parameter int unsigned AxiW      = 128,
  parameter int unsigned WbRows    = 2048,
  parameter int unsigned VwbRows   = 256,
  parameter int unsigned SbDepth   = 1024,
  parameter int unsigned VbDepth   = 512,
  parameter int unsigned ObPixels  = 128,
  parameter int unsigned ZsbArray  = 1024,
  parameter int unsigned ZsbVector = 1024,
  parameter bit          SumRow    = 1,
  parameter bit          AddPair   = 1,
  parameter bit          LargeWindows = 1,
  parameter bit          TwoPixels = 1,
  parameter bit          Resident  = 1,
  parameter bit          ConvTable = 1,
  parameter bit          Float     = 1,
  parameter bit          Average   = 1,
  parameter bit          Table     = 1,
  parameter int unsigned Zvc       = 0
) (
  input  logic            clk_i,
  input  logic            rst_ni,
  // AXI4-Lite
  input  logic            aw_valid_i,
  output logic            aw_ready_o,
  input  logic [9:2]      aw_addr_i,      // bits 1 and 0 do not matter
  input  logic            w_valid_i,
  output logic            w_ready_o,
  input  logic [31:0]     w_data_i,
  input  logic [3:0]      w_strb_i,
  output logic            b_valid_o,
  input  logic            b_ready_i,
  output logic [1:0]      b_resp_o,
  input  logic            ar_valid_i,
  output logic            ar_ready_o,
  input  logic [9:2]      ar_addr_i,
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

  // ---- access
  logic        req, write, error;
  logic [9:2]  addr;
  logic [31:0] wdata, rdata;
  logic [3:0]  strb;

  // Bus and registers stand still between accesses; pulses end while the access that made them is answered.
  logic bus_clk, bus_busy;

  kt_clk_gate u_bus_clk (
    .clk_i,
    .en_i (aw_valid_i || w_valid_i || ar_valid_i || bus_busy || status_i.run_completed || status_i.run_stopped ||
           !rst_ni),
    .clk_o(bus_clk)
  );

  kt_axi_lite u_axi_lite (
    .clk_i     (bus_clk),
    .rst_ni,
    .aw_valid_i,
    .aw_ready_o,
    .aw_addr_i,
    .w_valid_i,
    .w_ready_o,
    .w_data_i,
    .w_strb_i,
    .b_valid_o,
    .b_ready_i,
    .b_resp_o,
    .ar_valid_i,
    .ar_ready_o,
    .ar_addr_i,
    .r_valid_o,
    .r_ready_i,
    .r_data_o,
    .r_resp_o,
    .busy_o    (bus_busy),
    .req_o     (req),
    .write_o   (write),
    .addr_o    (addr),
    .wdata_o   (wdata),
    .strb_o    (strb),
    .rdata_i   (rdata),
    .error_i   (error)
  );

  // ---- registers
  logic        irq_enable, irq_done, irq_error, counters_read;
  logic [8:2]  counters_addr;
  logic [31:0] counters_data, base_lo[8];
  logic [25:0] program_lo;
  logic [7:0]  program_hi, base_hi[8];

  kt_csr u_csr (
    .clk_i                 (bus_clk),
    .rst_ni,
    .req_i                 (req),
    .write_i               (write),
    .addr_i                (addr),
    .wdata_i               (wdata),
    .strb_i                (strb),
    .rdata_o               (rdata),
    .error_o               (error),
    .kp_i                  (32'(Kp)),
    .cp_i                  (32'(Cp)),
    .stage_rows_i          (32'(StageRows)),
    .axi_bytes_i           (32'(AxiW / 8)),
    .wb_rows_i             (32'(WbRows)),
    .vwb_rows_i            (32'(VwbRows)),
    .sb_depth_i            (32'(SbDepth)),
    .vb_depth_i            (32'(VbDepth)),
    .ob_pixels_i           (32'(ObPixels)),
    .zsb_array_i           (32'(ZsbArray)),
    .zsb_vector_i          (32'(ZsbVector)),
    .zvc_beats_i           (32'(Zvc)),
    .options_conv_modes_i   (7'(ConvModeMask)),
    .options_conv_tables_i  (ConvTable),
    .options_large_windows_i(LargeWindows),
    .options_window_kinds_i (6'(WindowKindMask) & ~(6'(!Average) << WindowAverage)),
    .options_tables_i       (Table),
    .options_rules_i        (RoundingMask & ~(8'(!Average) << RuleAverage) & ~(8'(!Float) << RuleFloat)),
    .options_features_i     ((4'(SumRow) << FeatureSumRow) | (4'(AddPair) << FeaturePair) |
                               (4'(Resident) << FeatureResident) | (4'(TwoPixels) << FeatureTwoPixels)),
    .options_element_kinds_i(4'(ElementKindMask)),
    .control_start_o       (start_o),
    .control_soft_reset_o  (soft_reset_o),
    .control_irq_enable_o  (irq_enable),
    .status_busy_i         (status_i.busy),
    .status_done_i         (status_i.done),
    .status_error_i        (status_i.error),
    .status_resetting_i    (status_i.resetting),
    .irq_status_done_set_i (status_i.run_completed),
    .irq_status_done_o     (irq_done),
    .irq_status_error_set_i(status_i.run_stopped),
    .irq_status_error_o    (irq_error),
    .watchdog_o            (settings_o.watchdog),
    .arrived_o             (settings_o.arrived),
    .program_lo_o          (program_lo),
    .program_hi_o          (program_hi),
    .command_count_o       (settings_o.command_count),
    .wb_split_o,
    .error_cause_i         (status_i.cause),
    .error_index_i         (status_i.index),
    .error_info_info_i     (status_i.info),
    .error_info_row_i      (status_i.row),
    .completed_load_i      (status_i.completed[QLoad]),
    .completed_conv_i      (status_i.completed[QConv]),
    .completed_vector_i    (status_i.completed[QVector]),
    .completed_store_i     (status_i.completed[QStore]),
    .base_lo_o             (base_lo),
    .base_hi_o             (base_hi),
    .counters_read_o       (counters_read),
    .counters_addr_o       (counters_addr),
    .counters_data_i       (counters_data)
  );

  assign settings_o.program_addr = {program_hi, program_lo, 6'b0};
  for (genvar i = 0; i < 8; i++) begin : gen_base
    assign base_o[i] = {base_hi[i], base_lo[i]};
  end

  kt_counters u_counters (
    .clk_i,
    .rst_ni,
    .control_i(control_events_i),
    .engine_i (engine_events_i),
    .rd_req_i (counters_read),
    .rd_addr_i(counters_addr),
    .rd_data_o(counters_data)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) irq_o <= 1'b0;
    else irq_o <= irq_enable && (irq_done || irq_error);
  end

endmodule
