// One column of the window: three cells a lane, their weights, and what they add up to (or their maximum).
//   window   the column is taken from the line buffer, or filled where it lies outside the map
//   product  three products a lane, one cycle later
// Weights are loaded into shadow registers; `swap` makes them current together with the cells of its step.
module kt_vector_column
  import kt_vector_pkg::*;
#(
  parameter int unsigned Lanes  = 24,
  parameter int unsigned Column = 0
) (
  input  logic               clk_i,
  // window: step and line buffer
  // every stage uses its own fields of the token
  /* verilator lint_off UNUSEDSIGNAL */
  input  vec_token_t         window_i,
  input  vec_token_t         product_i,
  /* verilator lint_on UNUSEDSIGNAL */
  input  logic signed [7:0]  column_i [4][3*Lanes],
  // weights: 3 * row + group, then channel
  input  logic               shadow_we_i,
  input  logic               row_we_i,     // straight into the current ones
  input  logic signed [7:0]  weight_i [3*Lanes],
  // product stage
  output logic signed [7:0]  cell_o   [Lanes],  // upper row
  output logic signed [31:0] result_o [Lanes]   // registered
);

  logic              run;
  logic [1:0]        from;
  logic signed [7:0] cell_d[3*Lanes], cell_q[3*Lanes];

  assign run  = window_i.valid && window_i.columns[Column];
  assign from = window_i.left + 2'(Column);

  always_comb begin
    cell_d = cell_q;
    if (run) begin
      cell_d = column_i[from];
      if (window_i.off_map[Column]) begin
        for (int unsigned r = 0; r < 3; r++) begin
          for (int unsigned l = 0; l < Lanes; l++) begin
            cell_d[r*Lanes+l] = window_i.rows[r] ? window_i.pad_value : neutral_value(window_i.kind);
          end
        end
      end
    end
  end
  always_ff @(posedge clk_i) cell_q <= cell_d;

  logic signed [7:0] weight_d[3*Lanes], weight_q[3*Lanes], shadow_q[3*Lanes];
  always_comb begin
    weight_d = weight_q;
    if (row_we_i) weight_d = weight_i;
    else if (window_i.swap) weight_d = shadow_q;
    // an average is a sum
    if (window_i.swap && (window_i.kind == KindAverage)) weight_d = '{default: 8'sd1};
  end
  always_ff @(posedge clk_i) begin
    if (shadow_we_i) shadow_q <= weight_i;
    if (row_we_i || window_i.swap) weight_q <= weight_d;
  end

  // Sign extension written as (u ^ 80h) - 80h: the C++ compiler sees plain byte arithmetic and vectorises it well.
  logic signed [31:0] result_d[Lanes], result_q[Lanes];
  always_comb begin
    result_d = result_q;
    if (product_i.valid && product_i.columns[Column]) begin
      if (product_i.kind == KindMaximum) begin
        for (int unsigned l = 0; l < Lanes; l++) begin
          automatic logic signed [7:0] m = (cell_q[l] > cell_q[Lanes+l]) ? cell_q[l] : cell_q[Lanes+l];
          result_d[l] = 32'((m > cell_q[2*Lanes+l]) ? m : cell_q[2*Lanes+l]);
        end
      end else if (product_i.kind != KindAdd) begin
        for (int unsigned l = 0; l < Lanes; l++) begin
          result_d[l] = ((32'(unsigned'(cell_q[l])) ^ 32'h80) - 32'h80)
                        * ((32'(unsigned'(weight_q[l])) ^ 32'h80) - 32'h80)
                      + ((32'(unsigned'(cell_q[Lanes+l])) ^ 32'h80) - 32'h80)
                        * ((32'(unsigned'(weight_q[Lanes+l])) ^ 32'h80) - 32'h80)
                      + ((32'(unsigned'(cell_q[2*Lanes+l])) ^ 32'h80) - 32'h80)
                        * ((32'(unsigned'(weight_q[2*Lanes+l])) ^ 32'h80) - 32'h80);
        end
      end
    end
  end
  always_ff @(posedge clk_i) result_q <= result_d;

  assign result_o = result_q;
  for (genvar l = 0; l < int'(Lanes); l++) begin : g_cell
    assign cell_o[l] = cell_q[l];
  end

endmodule
