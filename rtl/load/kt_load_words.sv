// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// After the gearbox's register: the bytes of a slice as words of CP bytes, `fill` where memory holds none.
// The first `full` words take CP bytes each, those behind them `bytes` each, one after the other. Of the slice only the
// bytes of the stream are used, low <= i <= high; see kt_gearbox.
//
// Slices come in three kinds, and only in these a byte has few places to come from: all words narrow (full = 0: pixels,
// weights of mode 3x3), three narrow words behind full = 3 or 6 (mode 3x1), one narrow word behind any number of full
// ones (mode 1x1), which stands where a full one would.
module kt_load_words #(
  parameter int unsigned Cp     = 4,
  localparam int unsigned NeedW = $clog2(9 * Cp + 1)
) (
  input  logic [9*Cp*8-1:0]       slice_i,
  input  logic                    plain_i,  // all words are full and in the stream: the slice as it is
  input  logic signed [NeedW+1:0] low_i,
  input  logic signed [NeedW+1:0] high_i,
  input  logic [3:0]              full_i,   // 9: all
  input  logic [4:0]              bytes_i,
  input  logic [7:0]              fill_i,
  output logic [Cp*8-1:0]         word_o [9]
);

  always_comb begin
    for (int unsigned w = 0; w < 9; w++) word_o[w] = slice_i[w*Cp*8+:Cp*8];
    if (!plain_i) begin
      automatic logic [7:0] stream[9*Cp];
      for (int unsigned i = 0; i < 9 * Cp; i++) begin
        automatic logic signed [NeedW+1:0] at = (NeedW + 2)'(i);
        stream[i] = (at >= low_i && at <= high_i) ? slice_i[8*i+:8] : fill_i;
      end
      for (int unsigned w = 0; w < 9; w++) begin
        for (int unsigned i = 0; i < Cp; i++) word_o[w][8*i+:8] = stream[w*Cp+i];
      end
      for (int unsigned n = 1; n < Cp; n++) begin
        if (bytes_i == 5'(n)) begin
          for (int unsigned w = 0; w < 9; w++) begin
            if (w >= 32'(full_i)) begin
              for (int unsigned i = 0; i < n; i++) begin
                if (full_i == 4'd0) word_o[w][8*i+:8] = stream[w*n+i];
                else if (full_i == 4'd3 || full_i == 4'd6) word_o[w][8*i+:8] = stream[w*Cp-(w%3)*(Cp-n)+i];
              end
              for (int unsigned i = n; i < Cp; i++) word_o[w][8*i+:8] = fill_i;
            end
          end
        end
      end
    end
  end

endmodule
