// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Test top: the ZVC blocks side by side, of one size.
module zvc_blocks #(
  parameter int unsigned Lanes = 16,
  parameter int unsigned ElemW = 8,
  localparam int unsigned BeatW  = Lanes * ElemW,
  localparam int unsigned CountW = $clog2(Lanes + 1)
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  // compressor and counter; the counter sees the beats that the compressor takes
  input  logic              raw_valid_i,
  output logic              raw_ready_o,
  input  logic [BeatW-1:0]  raw_data_i,
  input  logic              raw_last_i,
  input  logic [CountW-1:0] raw_count_i,
  input  logic [ElemW-1:0]  raw_zero_i,
  output logic              packed_valid_o,
  input  logic              packed_ready_i,
  output logic [BeatW-1:0]  packed_data_o,
  output logic              packed_last_o,
  output logic              length_valid_o,
  output logic [19:0]       length_o,
  // expander
  input  logic              unit_valid_i,
  output logic              unit_ready_o,
  input  logic [BeatW-1:0]  unit_data_i,
  input  logic              unit_last_i,
  input  logic              unit_error_i,
  input  logic [15:0]       unit_elements_i,
  input  logic [ElemW-1:0]  unit_zero_i,
  output logic              beat_valid_o,
  input  logic              beat_ready_i,
  output logic [BeatW-1:0]  beat_data_o,
  output logic              beat_last_o,
  output logic              beat_error_o,
  output logic              beat_bus_error_o
);

  kt_zvc_compress #(
    .Lanes(Lanes),
    .ElemW(ElemW)
  ) u_compress (
    .clk_i,
    .rst_ni,
    .in_valid_i (raw_valid_i),
    .in_ready_o (raw_ready_o),
    .in_data_i  (raw_data_i),
    .in_last_i  (raw_last_i),
    .in_count_i (raw_count_i),
    .in_zero_i  (raw_zero_i),
    .out_valid_o(packed_valid_o),
    .out_ready_i(packed_ready_i),
    .out_data_o (packed_data_o),
    .out_last_o (packed_last_o)
  );

  kt_zvc_count #(
    .Lanes (Lanes),
    .ElemW (ElemW),
    .BytesW(20)
  ) u_count (
    .clk_i,
    .rst_ni,
    .in_valid_i (raw_valid_i && raw_ready_o),
    .in_data_i  (raw_data_i),
    .in_last_i  (raw_last_i),
    .in_count_i (raw_count_i),
    .in_zero_i  (raw_zero_i),
    .out_valid_o(length_valid_o),
    .out_bytes_o(length_o)
  );

  kt_zvc_expand #(
    .Lanes    (Lanes),
    .ElemW    (ElemW),
    .ElementsW(16)
  ) u_expand (
    .clk_i,
    .rst_ni,
    .in_valid_i     (unit_valid_i),
    .in_ready_o     (unit_ready_o),
    .in_data_i      (unit_data_i),
    .in_last_i      (unit_last_i),
    .in_error_i     (unit_error_i),
    .in_elements_i  (unit_elements_i),
    .in_zero_i      (unit_zero_i),
    .out_valid_o    (beat_valid_o),
    .out_ready_i    (beat_ready_i),
    .out_data_o     (beat_data_o),
    .out_last_o     (beat_last_o),
    .out_error_o    (beat_error_o),
    .out_bus_error_o(beat_bus_error_o)
  );

endmodule
