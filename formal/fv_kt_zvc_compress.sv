// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

`include "fv.svh"
// A byte of the packed segment, as the format defines it from the raw beat with which it comes in, leaves on its lane of its
// beat: picked at any moment, any byte of a group or of the segment's padding. The beats before it are counted, so
// none is lost, doubled or out of order, and the segment's last beat is marked. A group adds its mask and its elements
// that differ from the zero value, nothing more. The output holds while it waits; the input waits at most one cycle
// longer than the output does; what is complete comes out within three cycles.
//
// An invariant says for each stage where the picked byte stands in it.
module fv_kt_zvc_compress #(
  parameter int unsigned Lanes = 4,
  parameter int unsigned ElemW = 8,
  localparam int unsigned BeatW  = Lanes * ElemW,
  localparam int unsigned CountW = $clog2(Lanes + 1),
  localparam int unsigned B      = BeatW / 8,        // bytes of a beat
  localparam int unsigned E      = ElemW / 8,
  localparam int unsigned M      = (Lanes + 7) / 8,
  localparam int unsigned ByteW  = $clog2(3 * B)
) (
  input logic              clk_i,
  input logic              rst_ni,
  input logic              in_valid_i,
  input logic [BeatW-1:0]  in_data_i,
  input logic              in_last_i,
  input logic [CountW-1:0] in_count_i,
  input logic [ElemW-1:0]  in_zero_i,
  input logic              out_ready_i,
  input logic              pick_i,
  input logic [ByteW-1:0]  pick_byte_i
);
  logic             in_ready, out_valid, out_last;
  logic [BeatW-1:0] out_data;
  kt_zvc_compress #(.Lanes(Lanes), .ElemW(ElemW)) dut (
    .clk_i, .rst_ni, .in_valid_i, .in_ready_o(in_ready), .in_data_i, .in_last_i, .in_count_i, .in_zero_i,
    .out_valid_o(out_valid), .out_ready_i, .out_data_o(out_data), .out_last_o(out_last)
  );
  `include "fv_reset.svh"
  `FV_ASSUME(m_count, !in_last_i || (in_count_i != '0 && 32'(in_count_i) <= Lanes))
  wire push = in_valid_i && in_ready;
  wire pop  = out_valid && out_ready_i;

  // Packed bytes of a group, one by one; behind them the zero value, byte by byte on its lane.
  typedef logic [M*8+BeatW-1:0] group_t;
  function automatic group_t kept_after(int unsigned mask_bytes, logic [Lanes-1:0] mask, logic [BeatW-1:0] data);
    group_t      g;
    int unsigned at;
    g  = group_t'(mask);
    at = mask_bytes;
    for (int unsigned i = 0; i < Lanes; i++) begin
      if (mask[i]) begin
        g  = g & ~(group_t'({ElemW{1'b1}}) << (8 * at)) | group_t'(data[i*ElemW+:ElemW]) << (8 * at);
        at = at + E;
      end
    end
    return g;
  endfunction
  function automatic logic [7:0] zero_at(logic [ElemW-1:0] zero, int unsigned at);
    return 8'(zero >> (8 * (at % E)));
  endfunction
  function automatic int unsigned units(logic last, int unsigned stop);
    return (stop + (last ? B - 1 : 0)) / B;
  endfunction

  // ---- the group at the input
  logic [Lanes-1:0] mask;
  logic [31:0]      size, mask_size;
  for (genvar i = 0; i < int'(Lanes); i++) begin : gen_mask
    assign mask[i] = (!in_last_i || 32'(in_count_i) > i) && in_data_i[i*ElemW+:ElemW] != in_zero_i;
  end
  assign mask_size = in_last_i ? (32'(in_count_i) + 7) / 8 : M;
  assign size      = mask_size + E * $countones(mask);
  group_t group;
  assign group = kept_after(mask_size, mask, in_data_i);

  logic [7:0] pos_q;   // where the group begins in its beat
  logic [7:0] owed_q;  // beats complete at the input that have not come out
  wire [31:0] stop  = 32'(pos_q) + size;
  wire [31:0] whole = units(in_last_i, stop);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      pos_q  <= '0;
      owed_q <= '0;
    end else begin
      if (push) pos_q <= in_last_i ? '0 : 8'(stop % B);
      owed_q <= owed_q + (push ? 8'(whole) : 8'd0) - 8'(pop);
    end
  end

  // ---- the picked byte
  logic [2:0] at_q;             // 0: none; 1, 2, 3: its group is in that stage; 4: in the rest; 5: at the output
  logic [7:0] byte_q;           // number in its group
  logic [7:0] value_q, ahead_q, lane_q;
  logic       known_q, final_q; // its group completes its beat; which is the segment's last
  wire [31:0] pick_at = 32'(pos_q) + 32'(pick_byte_i);
  wire pick = at_q == 3'd0 && push && pick_i &&
              (32'(pick_byte_i) < size || (in_last_i && pick_at < whole * B));
  wire        joins_out = dut.emit && dut.join_group && (32'(dut.pos3_q) + 32'(byte_q)) < B;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) at_q <= 3'd0;
    else begin
      case (at_q)
        3'd0: if (pick) at_q <= 3'd1;
        3'd1: if (dut.take2) at_q <= 3'd2;
        3'd2: if (dut.take3) at_q <= 3'd3;
        3'd3: if (dut.take) at_q <= joins_out ? 3'd5 : 3'd4;
        3'd4: if (dut.emit && ahead_q == 8'(out_valid)) at_q <= 3'd5;
        default: if (pop) at_q <= 3'd0;
      endcase
    end
  end
  always_ff @(posedge clk_i) begin
    if (pick) begin
      byte_q  <= 8'(pick_byte_i);
      value_q <= (32'(pick_byte_i) < size) ? 8'(group >> (8 * pick_byte_i)) : zero_at(in_zero_i, pick_at);
      ahead_q <= owed_q - 8'(pop) + 8'(pick_at / B);
      lane_q  <= 8'(pick_at % B);
      known_q <= pick_at / B < whole;
      final_q <= in_last_i && pick_at / B + 1 == whole;
    end else if (pop) begin
      ahead_q <= ahead_q - 8'd1;
    end
  end
  wire busy = at_q != 3'd0;

  // ---- history
  logic             held_q, refused_q;
  logic [BeatW:0]   out_q;
  logic [1:0]       waited_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      held_q    <= 1'b0;
      refused_q <= 1'b0;
      waited_q  <= '0;
    end else begin
      held_q    <= out_valid && !out_ready_i;
      refused_q <= !in_ready && (!out_valid || out_ready_i);
      waited_q  <= (owed_q != '0 && !out_valid) ? waited_q + 2'd1 : '0;
    end
  end
  always_ff @(posedge clk_i) out_q <= {out_last, out_data};

  `FV_ASSERT(a_value, !(busy && out_valid && ahead_q == '0) || 8'(out_data >> (8 * lane_q)) == value_q)
  `FV_ASSERT(a_last, !(busy && out_valid && ahead_q == '0 && known_q) || out_last == final_q)
  `FV_ASSERT(a_nothing_more, !out_valid || owed_q != '0)
  `FV_ASSERT(a_length, !dut.valid3_q || 32'(dut.stop3_q) - 32'(dut.pos3_q) <= M + B)
  `FV_ASSERT(a_hold, !held_q || (out_valid && out_q == {out_last, out_data}))
  `FV_ASSERT(a_flow, !refused_q || in_ready || (out_valid && !out_ready_i))
  `FV_ASSERT(a_comes_out, !(owed_q != '0 && !out_valid) || waited_q < 2'd3)

  // ---- invariants: positions and sizes from the output backwards
  wire [31:0] level = 32'(dut.level_q);
  wire [31:0] u4 = 32'(out_valid) + units(dut.closing_q, level);
  wire [31:0] p4 = dut.closing_q ? 0 : level % B;
  wire [31:0] stop3 = 32'(dut.stop3_q);
  wire [31:0] u3 = dut.valid3_q ? units(dut.last3_q, stop3) : 0;
  wire [31:0] p3 = !dut.valid3_q ? p4 : dut.last3_q ? 0 : stop3 % B;
  wire [31:0] stop2 = 32'(dut.stop2_q);
  wire [31:0] u2 = dut.valid2_q ? units(dut.last2_q, stop2) : 0;
  wire [31:0] p2 = !dut.valid2_q ? p3 : dut.last2_q ? 0 : stop2 % B;
  wire [31:0] size1 = 32'(dut.mask_bytes1_q) + E * $countones(dut.mask1_q);
  wire [31:0] stop1 = 32'(dut.pos_q) + size1;
  wire [31:0] u1 = dut.valid1_q ? units(dut.last1_q, stop1) : 0;
  wire [31:0] p1 = !dut.valid1_q ? p2 : dut.last1_q ? 0 : stop1 % B;
  function automatic logic sized(logic last, int unsigned pos, int unsigned start, int unsigned stop_at);
    return pos < B && start > pos && (last ? start <= pos + M : start == pos + M) && stop_at >= start && stop_at <= start + B;
  endfunction
  `FV_ASSERT(i_level, level <= B + M && !(dut.closing_q && level == 0))
  `FV_ASSERT(i_three, !dut.valid3_q || (32'(dut.pos3_q) == p4 && sized(dut.last3_q, p4, 32'(dut.start3_q), stop3)))
  `FV_ASSERT(i_two, !dut.valid2_q || (32'(dut.pos2_q) == p3 && sized(dut.last2_q, p3, 32'(dut.start2_q), stop2)))
  `FV_ASSERT(i_one, 32'(dut.pos_q) == p2 && (!dut.valid1_q || sized(dut.last1_q, p2, p2 + 32'(dut.mask_bytes1_q), stop1)))
  `FV_ASSERT(i_in, 32'(pos_q) == p1 && 32'(owed_q) == u1 + u2 + u3 + u4)
  wire [1:0] distance = dut.emit || u3 != 0 ? 2'd1 : u2 != 0 ? 2'd2 : 2'd3;
  `FV_ASSERT(i_waited, out_valid || owed_q == '0 || 32'(waited_q) + 32'(distance) <= 3)
  `FV_ASSERT(i_not_waited, (!out_valid && owed_q != '0) || waited_q == '0 || out_valid)

  for (genvar j = 0; j < int'(M); j++) begin : gen_ones
    `FV_ASSERT(i_ones, !dut.valid1_q || 32'(dut.ones1_q[j]) == $countones(8'(dut.mask1_q >> (8 * j))))
  end

  // ---- invariants: the picked byte in each stage
  function automatic logic placed(int unsigned ahead, int unsigned pos, logic last, int unsigned stop_at);
    int unsigned at;
    at = pos + 32'(byte_q);
    return 32'(ahead_q) == ahead + at / B && 32'(lane_q) == at % B && (at < stop_at || (last && at < units(last, stop_at) * B)) &&
           known_q == (at / B < units(last, stop_at)) && final_q == (last && at / B + 1 == units(last, stop_at));
  endfunction
  group_t     group1;
  logic [7:0] value1, value2, value3, value4;
  logic [BeatW-1:0] elem1;
  for (genvar i = 0; i < int'(Lanes); i++) begin : gen_elem1
    assign elem1[i*ElemW+:ElemW] = dut.elem1_q[i];
  end
  assign group1 = kept_after(32'(dut.mask_bytes1_q), dut.mask1_q, elem1);
  logic [BeatW-1:0] gathered, elem3, rest;
  logic [M*8-1:0]   mask2, mask3, over;
  for (genvar p = 0; p < int'(B); p++) begin : gen_bytes
    assign gathered[p*8+:8] = dut.gathered[p/E][(p%E)*8+:8];
    assign elem3[p*8+:8]    = dut.elem3_q[p];
    assign rest[p*8+:8]     = dut.rest_q[p];
  end
  for (genvar p = 0; p < int'(M); p++) begin : gen_mask_bytes
    assign mask2[p*8+:8] = dut.mask2_q[p];
    assign mask3[p*8+:8] = dut.mask3_q[p];
    assign over[p*8+:8]  = dut.over_q[p];
  end
  wire [31:0] at1 = 32'(dut.pos_q) + 32'(byte_q);
  wire [31:0] at2 = 32'(dut.pos2_q) + 32'(byte_q);
  wire [31:0] at3 = 32'(dut.pos3_q) + 32'(byte_q);
  wire [31:0] at4 = (32'(ahead_q) - 32'(out_valid)) * B + 32'(lane_q);
  assign value1 = (32'(byte_q) < size1) ? 8'(group1 >> (8 * byte_q)) : zero_at(dut.zero1_q, at1);
  assign value2 = (at2 < 32'(dut.start2_q)) ? 8'(mask2 >> (8 * (at2 % M)))
                : (at2 < stop2) ? 8'(gathered >> (8 * ((at2 + B - 32'(dut.start2_q) % E) % B))) : zero_at(dut.zero2_q, at2);
  assign value3 = (at3 < 32'(dut.start3_q)) ? 8'(mask3 >> (8 * (at3 % M)))
                : (at3 < stop3) ? 8'(elem3 >> (8 * (at3 % B))) : zero_at(dut.zero3_q, at3);
  assign value4 = (at4 >= level) ? zero_at(dut.zero_q, at4) : (at4 < B) ? 8'(rest >> (8 * at4)) : 8'(over >> (8 * (at4 - B)));
  `FV_ASSERT(i_at1, at_q != 3'd1 || (dut.valid1_q && placed(u4 + u3 + u2, 32'(dut.pos_q), dut.last1_q, stop1) && value1 == value_q))
  `FV_ASSERT(i_at2, at_q != 3'd2 || (dut.valid2_q && placed(u4 + u3, 32'(dut.pos2_q), dut.last2_q, stop2) && value2 == value_q))
  `FV_ASSERT(i_at3, at_q != 3'd3 || (dut.valid3_q && placed(u4, 32'(dut.pos3_q), dut.last3_q, stop3) && value3 == value_q))
  `FV_ASSERT(i_at4, at_q != 3'd4 || (ahead_q >= 8'(out_valid) && 32'(lane_q) < B && value4 == value_q &&
                                     (at4 < level || (dut.closing_q && at4 < units(1'b1, level) * B)) &&
                                     (!known_q || (at4 / B < units(dut.closing_q, level) &&
                                                   final_q == (dut.closing_q && at4 / B + 1 == units(1'b1, level))))))
  `FV_ASSERT(i_at5, at_q != 3'd5 || (out_valid && ahead_q == '0 && 32'(lane_q) < B))
  `FV_ASSERT(i_at, at_q <= 3'd5)

  `FV_COVER(c_over, at_q == 3'd4 && level > B && at4 >= B && at4 < level)
  `FV_COVER(c_swap, dut.swap && dut.take && dut.closing_q)
  `FV_COVER(c_fill, at_q == 3'd5 && pop && final_q && 32'(byte_q) > 2)
  `FV_COVER(c_full, !in_ready && owed_q > 8'd4)
endmodule
