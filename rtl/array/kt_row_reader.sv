// Reader half of the CONV sequencer: walks columns of rows of passes of tiles and forms the bank addresses of each read.
// Every rd_i takes one read: one column of three rows (3x3), two columns of three rows (3x3, stride 2) or nine groups
// of one pixel (1x1). It knows nothing of windows, weights or results.
module kt_row_reader
  import kt_cmd_pkg::*;
  import kt_pkg::*;
(
  input  logic  clk_i,
  input  logic  start_i,
  // reader and sequencer each use their own fields of the command
  /* verilator lint_off UNUSEDSIGNAL */
  input  conv_t cmd_i,
  /* verilator lint_on UNUSEDSIGNAL */
  input  logic  rd_i,
  output logic  done_o,
  // registered request and, for each of the three rows, whether it lies outside the map
  output tap_t  tap_o [9],
  output logic  outside_o [3]
);

  logic [9:0]         reads_q, rows_q, passes_q, tiles_q;  // left after this one
  word_t              pos_q;                               // word of the current column
  word_t              group_q;                             // first word of the current pass
  addr_t              slot_q[3];                           // slots of the three rows
  logic [1:0]         mod3_q;                              // top row mod 3
  logic signed [11:0] top_q;
  logic               done_q;

  logic  one_by_one, stride2;
  ring_t ring;
  word_t first_group;
  assign one_by_one  = cmd_i.mode == kt_array_pkg::Mode1x1;
  assign stride2     = cmd_i.stride == 2'd2;
  assign ring        = '{first: addr_t'(cmd_i.in_first), last: addr_t'(cmd_i.in_last), size: addr_t'(cmd_i.in_slot_size)};
  assign first_group = word_of(cmd_i.in_group);

  assign done_o = done_q;

  // slots of the rows under the next output row
  addr_t slot_first[3], slot_next[3];
  always_comb begin
    slot_first[0] = addr_t'(cmd_i.in_slot);
    slot_first[1] = next_slot(ring, slot_first[0]);
    slot_first[2] = next_slot(ring, slot_first[1]);
    slot_next[0]  = stride2 ? slot_q[2] : slot_q[1];
    slot_next[1]  = next_slot(ring, slot_next[0]);
    slot_next[2]  = next_slot(ring, slot_next[1]);
  end

  word_t group_next;
  assign group_next = (passes_q == '0) ? first_group
                    : word_add(group_q, one_by_one ? '{div: 14'd1, mod: 4'd0} : '{div: 14'd0, mod: 4'd1});

  logic row_end, pass_end;
  assign row_end  = reads_q == '0;
  assign pass_end = row_end && (rows_q == '0);

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      done_q   <= 1'b0;
      reads_q  <= cmd_i.reads - 10'd1;
      rows_q   <= cmd_i.rows - 10'd1;
      passes_q <= cmd_i.passes - 10'd1;
      tiles_q  <= cmd_i.tiles - 10'd1;
      pos_q    <= first_group;
      group_q  <= first_group;
      slot_q   <= slot_first;
      mod3_q   <= cmd_i.top_mod3;
      top_q    <= cmd_i.top_row;
    end else if (rd_i) begin
      reads_q <= row_end ? cmd_i.reads - 10'd1 : reads_q - 10'd1;
      pos_q   <= pass_end ? group_next : row_end ? group_q : word_add(pos_q, word_of(cmd_i.in_step));
      if (pass_end) begin
        rows_q   <= cmd_i.rows - 10'd1;
        slot_q   <= slot_first;
        mod3_q   <= cmd_i.top_mod3;
        top_q    <= cmd_i.top_row;
        group_q  <= group_next;
        passes_q <= (passes_q == '0) ? cmd_i.passes - 10'd1 : passes_q - 10'd1;
        if (passes_q == '0) begin
          tiles_q <= tiles_q - 10'd1;
          if (tiles_q == '0) done_q <= 1'b1;
        end
      end else if (row_end) begin
        rows_q <= rows_q - 10'd1;
        slot_q <= slot_next;
        mod3_q <= add3(mod3_q, stride2 ? 2'd2 : 2'd1);
        top_q  <= top_q + (stride2 ? 12'sd2 : 12'sd1);
      end
    end
  end

  // bank offset 3r mod 9 of the three rows
  logic [3:0] rot[3];
  always_comb begin
    for (int k = 0; k < 3; k++) rot[k] = row_bank(add3(mod3_q, 2'(k)));
  end

  word_t second;  // the column to the right, for stride 2
  assign second = word_add(pos_q, word_of(cmd_i.in_pixel));

  tap_t tap_d[9];
  logic outside_d[3];
  always_comb begin
    if (one_by_one) begin
      for (int t = 0; t < 9; t++) begin
        automatic word_t w = word_add(pos_q, '{div: 14'd0, mod: 4'(t)});
        tap_d[t] = '{en: rd_i, bank: add9(w.mod, rot[0]), addr: slot_q[0] + addr_t'(w.div)};
      end
    end else begin
      for (int k = 0; k < 3; k++) begin
        tap_d[k]   = '{en: rd_i, bank: add9(pos_q.mod, rot[k]), addr: slot_q[k] + addr_t'(pos_q.div)};
        tap_d[k+3] = '{en: rd_i && stride2, bank: add9(second.mod, rot[k]), addr: slot_q[k] + addr_t'(second.div)};
        tap_d[k+6] = '0;
      end
    end
    for (int k = 0; k < 3; k++) begin
      automatic logic signed [11:0] row = top_q + 12'(k);
      outside_d[k] = !one_by_one && ((row < 0) || (row >= $signed({2'b0, cmd_i.in_height})));
    end
  end

  always_ff @(posedge clk_i) begin
    tap_o     <= tap_d;
    outside_o <= outside_d;
  end

endmodule
