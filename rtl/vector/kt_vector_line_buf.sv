// Line buffer of the vector engine: a ring of four columns, each three rows x 3 * Cp lanes. Cells outside the map and
// rows that the kernel does not have are replaced when they enter, so neither costs a read.
module kt_vector_line_buf
  import kt_vector_pkg::*;
#(
  parameter int unsigned Cp = 8,
  localparam int unsigned Lanes = 3 * Cp
) (
  input  logic              clk_i,
  input  vec_push_t         push_i,
  input  logic [Cp*8-1:0]   word_i   [9],
  output logic signed [7:0] column_o [4][3*Lanes]
);

  logic signed [7:0] byte_in[3*Lanes], byte_d[3*Lanes];
  logic signed [7:0] column_q[4][3*Lanes];

  kt_unpack #(
    .Cp(Cp)
  ) u_unpack (
    .word_i(word_i),
    .byte_o(byte_in)
  );

  always_comb begin
    byte_d = column_q[0];
    if (push_i.valid) begin
      byte_d = byte_in;
      for (int unsigned r = 0; r < 3; r++) begin
        if (push_i.missing[r] || push_i.off_map[r]) begin
          for (int unsigned l = 0; l < Lanes; l++) begin
            byte_d[r*Lanes+l] = push_i.missing[r] ? push_i.neutral : push_i.pad_value;
          end
        end
      end
    end
  end

  always_ff @(posedge clk_i) if (push_i.valid) column_q[push_i.column] <= byte_d;

  assign column_o = column_q;

endmodule
