// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Fields of the two VECTOR commands: what to compute, and where the results go.
module kt_vector_decode
  import kt_cmd_pkg::*;
  import kt_pkg::*;
  import kt_vector_pkg::*;
(
  input  logic                valid_i,  // there is a command: idle queues cost nothing in simulation
  input  logic [3:0]          op_i,
  // the spare bits are checked by the fetch
  /* verilator lint_off UNUSEDSIGNAL */
  input  logic [BodyBits-1:0] cmd_i,
  /* verilator lint_on UNUSEDSIGNAL */
  input  index_t              index_i,
  output vec_cmd_t            cmd_o,
  output out_cmd_t            out_o
);

  /* verilator lint_off UNUSEDSIGNAL */  // spare bits are checked by the fetch
  window_t w;
  add_t    a;
  /* verilator lint_on UNUSEDSIGNAL */
  assign w = cmd_i;
  assign a = cmd_i;

  function automatic ring_t ring_of(logic [13:0] first, logic [13:0] last, logic [13:0] size);
    return '{first: addr_t'(first), last: addr_t'(last), size: addr_t'(size)};
  endfunction

  always_comb begin
    cmd_o = '0;
    out_o = '0;
    if (valid_i && (op_i == OpAdd)) begin
      cmd_o = '{
        kind:           KindAdd,
        ring:           ring_of(a.in_first, a.in_last, a.in_slot_size),
        slot:           addr_t'(a.in_slot),
        ring2:          ring_of(a.in2_first, a.in2_last, a.in_slot_size),
        slot2:          addr_t'(a.in2_slot),
        more_operands:  a.more_operands,
        operand_step:   word_of(a.operand_step),
        element:        element_kind_e'(a.kind),
        broadcast:      a.broadcast,
        mod3_2:         a.in2_mod3,
        pair:           a.pair,
        pixel:          word_of(a.in_pixel),
        group:          word_of(a.in_group),
        in_width:       a.columns,
        in_height:      a.rows,
        top_row:        '0,
        top_mod3:       a.top_mod3,
        kernel_rows:    8'd1,
        kernel_columns: 8'd1,
        stride:         4'd1,
        pad_left:       '0,
        pad_value:      '0,
        weight_zero:    '0,
        columns:        a.columns,
        rows:           a.rows,
        tiles:          a.tiles,
        weights:        '0,
        params:         addr_t'(a.params),
        look_up:        a.look_up,
        table_word:     addr_t'(a.table_word),
        out_quant:      '{zero: a.zero, low: a.low, high: a.high, rule: a.rule}
      };
      out_o = '{
        columns:  a.columns,
        rows:     a.rows,
        tiles:    a.tiles,
        groups:   a.out_groups,
        group:    a.out_group,
        first:    word_of(a.out_first),
        pixel:    word_of(a.out_pixel),
        row_mod3: a.out_row_mod3,
        sb_ring:  ring_of(a.sb_first, a.sb_last, a.out_slot_size),
        sb_slot:  addr_t'(a.sb_slot),
        vb_ring:  ring_of(a.vb_first, a.vb_last, a.out_slot_size),
        vb_slot:  addr_t'(a.vb_slot),
        to_sb:    a.to_sb,
        to_vb:    a.to_vb,
        to_store: a.to_store,
        two:      1'b0,
        index:    index_i
      };
    end else if (valid_i) begin
      cmd_o = '{
        kind:           kind_e'(w.kind),
        ring:           ring_of(w.in_first, w.in_last, w.in_slot_size),
        slot:           addr_t'(w.in_slot),
        ring2:          '0,
        slot2:          '0,
        more_operands:  '0,
        operand_step:   '0,
        element:        ElementSum,
        broadcast:      1'b0,
        mod3_2:         '0,
        pair:           1'b0,
        pixel:          word_of(w.in_pixel),
        group:          word_of(w.in_group),
        in_width:       w.in_width,
        in_height:      w.in_height,
        top_row:        w.top_row,
        top_mod3:       w.top_mod3,
        kernel_rows:    w.kernel_rows,
        kernel_columns: w.kernel_columns,
        stride:         w.stride,
        pad_left:       w.pad_left,
        pad_value:      w.pad_value,
        weight_zero:    w.weight_zero,
        columns:        w.columns,
        rows:           w.rows,
        tiles:          w.tiles,
        weights:        addr_t'(w.weights),
        params:         addr_t'(w.params),
        look_up:        w.look_up,
        table_word:     addr_t'(w.table_word),
        out_quant:      '{zero: w.zero, low: w.low, high: w.high, rule: w.rule}
      };
      out_o = '{
        columns:  w.columns,
        rows:     w.rows,
        tiles:    w.tiles,
        groups:   w.out_groups,
        group:    w.out_group,
        first:    word_of(w.out_first),
        pixel:    word_of(w.out_pixel),
        row_mod3: w.out_row_mod3,
        sb_ring:  ring_of(w.sb_first, w.sb_last, w.out_slot_size),
        sb_slot:  addr_t'(w.sb_slot),
        vb_ring:  ring_of(w.vb_first, w.vb_last, w.out_slot_size),
        vb_slot:  addr_t'(w.vb_slot),
        to_sb:    w.to_sb,
        to_vb:    w.to_vb,
        to_store: w.to_store,
        two:      1'b0,
        index:    index_i
      };
    end
  end

endmodule
