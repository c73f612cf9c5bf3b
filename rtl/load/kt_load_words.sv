// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// After the gearbox's register: the bytes of a slice as words of CP bytes, `fill` where memory holds none.
// The first `full` words take CP bytes each, those behind them `bytes` each, one after the other. Of the slice only the
// bytes of the stream are used, 0 <= first + i < need; see kt_gearbox.
module kt_load_words #(
  parameter int unsigned Cp     = 4,
  localparam int unsigned NeedW = $clog2(9 * Cp + 1)
) (
  input  logic [9*Cp*8-1:0]     slice_i,
  input  logic                  plain_i,  // all words are full and in the stream: the slice as it is
  input  logic signed [NeedW:0] first_i,
  input  logic [NeedW-1:0]      need_i,
  input  logic [3:0]            full_i,   // 9: all
  input  logic [4:0]            bytes_i,
  input  logic [7:0]            fill_i,
  output logic [Cp*8-1:0]       word_o [9]
);

  localparam int unsigned Bytes = 1 << NeedW;  // no bounds checks: whole power of two

  /* verilator lint_off UNUSEDSIGNAL */  // rounded up to a power of two
  logic [Bytes*8-1:0] slice;
  /* verilator lint_on UNUSEDSIGNAL */
  always_comb begin
    slice = '0;
    for (int unsigned w = 0; w < 9; w++) word_o[w] = slice_i[w*Cp*8+:Cp*8];
    if (!plain_i) begin
      slice = (Bytes * 8)'(slice_i);
      for (int unsigned w = 0; w < 9; w++) begin
        automatic logic             narrow = w >= 32'(full_i);
        automatic logic [NeedW-1:0] at = narrow ? NeedW'(32'(full_i) * Cp + (w - 32'(full_i)) * 32'(bytes_i))
                                                : NeedW'(w * Cp);
        for (int unsigned i = 0; i < Cp; i++) begin
          automatic logic [NeedW-1:0]        p = at + NeedW'(i);
          automatic logic signed [NeedW+1:0] s = (NeedW + 2)'(first_i) + $signed({2'b0, p});
          word_o[w][i*8+:8] = ((narrow && i >= 32'(bytes_i)) || s < 0 || s >= $signed({2'b0, need_i}))
                            ? fill_i : slice[{p, 3'b000}+:8];
        end
      end
    end
  end

endmodule
