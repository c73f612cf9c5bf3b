// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Line buffer of the vector engine: a ring of four columns, each three rows x three groups x Cp channels (word 3 * row
// + group). Cells outside the map and rows that the kernel does not have are replaced when they enter, so neither costs
// a read.
//
// In this engine arrays of 9 * Cp cells are ordered by row, then lane, those of 3 * Cp lanes by group, then channel.
module kt_vector_line_buf
  import kt_vector_pkg::*;
#(
  parameter int unsigned Cp = 8,
  localparam int unsigned Lanes = 3 * Cp,
  localparam int unsigned Cells = array_size(9 * Cp)
) (
  input  logic              clk_i,
  input  vec_push_t         push_i,
  input  logic [Cp*8-1:0]   word_i    [9],
  // four arrays, not one of four: simulation moves them whole
  output logic signed [7:0] column0_o [Cells],
  output logic signed [7:0] column1_o [Cells],
  output logic signed [7:0] column2_o [Cells],
  output logic signed [7:0] column3_o [Cells]
);

  logic signed [7:0] column_d[Cells];

  always_comb begin
    column_d = '{default: '0};
    if (push_i.valid) begin
      for (int unsigned t = 0; t < 9; t++) begin
        automatic logic [Cp*8-1:0] word = word_i[t];
        for (int unsigned b = 0; b < Cp; b++) column_d[t*Cp+b] = word[8*b+:8];
      end
      for (int unsigned r = 0; r < 3; r++) begin
        if (push_i.missing[r] || push_i.off_map[r]) begin
          for (int unsigned l = 0; l < Lanes; l++) begin
            column_d[r*Lanes+l] = push_i.missing[r] ? push_i.neutral : push_i.pad_value;
          end
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (push_i.valid) begin
      unique case (push_i.column)
        2'd0:    column0_o <= column_d;
        2'd1:    column1_o <= column_d;
        2'd2:    column2_o <= column_d;
        default: column3_o <= column_d;
      endcase
    end
  end

endmodule
