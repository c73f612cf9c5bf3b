// Requantisation parameters of the lanes: shadow registers filled by kt_vector_loader, current ones used by the
// requantiser and, for additions, by the operand stage. An average's word comes with its result and goes to all lanes.
module kt_vector_params
  import kt_pkg::*;
  import kt_vector_pkg::*;
#(
  parameter int unsigned Lanes = 24,
  localparam int unsigned LaneW = $clog2(Lanes)
) (
  input  logic               clk_i,
  // a ZSB word for the shadow registers
  input  logic               we_i,
  input  param_dest_e        dest_i,
  input  logic [LaneW-1:0]   lane_i,
  input  param_t             word_i,
  input  finish_t            finish_i,
  // shadow to current: operands of Add, lanes
  input  logic               swap_operand_i,
  input  logic               swap_i,
  input  logic               average_i,   // word_i is for all current lanes
  output param_t             operand_o [2],
  output logic signed [31:0] bias_o    [Lanes],
  output logic signed [31:0] mult_o    [Lanes],
  output logic signed [7:0]  shift_o   [Lanes],
  output logic signed [7:0]  zero_o    [Lanes],
  output logic signed [7:0]  low_o     [Lanes],
  output logic signed [7:0]  high_o    [Lanes],
  output logic [1:0]         rule_o    [Lanes]
);

  param_t             operand_q[2];
  logic signed [31:0] bias_q[Lanes], mult_q[Lanes];
  logic signed [7:0]  shift_q[Lanes];

  always_ff @(posedge clk_i) begin
    if (we_i) begin
      unique case (dest_i)
        ToAll: begin
          bias_q  <= '{default: word_i.bias};
          mult_q  <= '{default: word_i.mult};
          shift_q <= '{default: word_i.shift};
        end
        ToOperand: operand_q[lane_i[0]] <= word_i;
        default: begin
          bias_q[lane_i]  <= word_i.bias;
          mult_q[lane_i]  <= word_i.mult;
          shift_q[lane_i] <= word_i.shift;
        end
      endcase
    end
    if (swap_operand_i) operand_o <= operand_q;
    if (average_i) begin
      bias_o  <= '{default: word_i.bias};
      mult_o  <= '{default: word_i.mult};
      shift_o <= '{default: word_i.shift};
    end else if (swap_i) begin
      bias_o  <= bias_q;
      mult_o  <= mult_q;
      shift_o <= shift_q;
    end
    if (swap_i) begin
      zero_o <= '{default: finish_i.zero};
      low_o  <= '{default: finish_i.low};
      high_o <= '{default: finish_i.high};
      rule_o <= '{default: finish_i.rule};
    end
  end

endmodule
