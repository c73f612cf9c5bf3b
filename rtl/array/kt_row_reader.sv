// Reader half of the CONV sequencer: walks columns of rows of passes of pieces of tiles and forms the bank addresses of
// each read.
// Every rd_i takes one read: one column of three rows (3x3), two columns of three rows (3x3, stride 2), nine groups of
// one pixel (1x1) or three groups of one column of three rows (column). It knows nothing of windows, weights or results.
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
  input  logic  masked_i,     // nobody looks at what is read
  output logic  done_o,
  // registered request and, for each of the three rows, whether it lies outside the map
  output bank_req_t  rd_req_o [9],
  output logic  outside_o [3]
);

  logic [9:0]         reads_q, rows_q, tiles_q;            // left after this one
  word_t              pos_q;                               // word of the current column
  word_t              group_q;                             // first word of the current pass
  word_t              piece_q;                             // and of its piece's first pass
  addr_t              slot_q[3];                           // slots of the three rows
  addr_t              piece_slot_q[3];                     // slots under the piece's first output row
  addr_t              stride_q;                            // addresses from an output row's slot to the next one's
  logic [1:0]         stride_mod3_q;
  logic [1:0]         mod3_q, piece_mod3_q;                // top row mod 3
  logic signed [11:0] top_q, piece_top_q;
  logic               done_q;

  logic  one_by_one, column, stride2;
  ring_t ring;
  word_t first_group;
  assign one_by_one  = cmd_i.mode == kt_array_pkg::Mode1x1;
  assign column      = cmd_i.mode == kt_array_pkg::ModeColumn;
  assign stride2     = cmd_i.column_stride[1];
  assign ring        = '{first: addr_t'(cmd_i.in_first), last: addr_t'(cmd_i.in_last), size: addr_t'(cmd_i.in_slot_size)};
  assign first_group = '{div: {{6{cmd_i.in_group.div[7]}}, cmd_i.in_group.div}, mod: cmd_i.in_group.mod};

  assign done_o = done_q;

  logic row_end, pass_end;
  assign row_end  = reads_q == '0;
  assign pass_end = row_end && (rows_q == '0);

  logic              last_pass, last_of_row, last_of_piece;
  logic signed [6:0] left, next_left;
  logic [9:0]        reads, next_reads;
  kt_conv_pieces u_pieces (
    .clk_i,
    .start_i,
    .cmd_i,
    .step_i      (rd_i && pass_end),
    .last_o      (last_pass),
    .last_row_o  (last_of_row),
    .last_piece_o(last_of_piece),
    .left_o      (left),
    .reads_o     (reads),
    .next_left_o (next_left),
    .next_reads_o(next_reads)
  );

  // slots of the rows under the next output row; at its pass's end, of the first output row in the next pass
  addr_t slot_first[3], slot_next[3], stepped;
  assign stepped = slot_q[0] + stride_q;
  always_comb begin
    slot_next[0] = (stepped > ring.last) ? stepped - (ring.last - ring.first + ring.size) : stepped;
    slot_next[1] = next_slot(ring, slot_next[0]);
    slot_next[2] = next_slot(ring, slot_next[1]);
    slot_first   = piece_slot_q;
    if (start_i || (rd_i && pass_end && last_of_row)) begin
      if (start_i || last_pass) slot_first[0] = addr_t'(cmd_i.in_slot);
      else slot_first[0] = one_by_one ? piece_slot_q[1] : next_slot(ring, piece_slot_q[2]);
      slot_first[1] = next_slot(ring, slot_first[0]);
      slot_first[2] = next_slot(ring, slot_first[1]);
    end
  end

  // and its rows: three further down are the same mod 3
  logic signed [11:0] piece_top;
  logic [1:0]         piece_mod3;
  assign piece_top  = last_pass ? cmd_i.top_row : piece_top_q + (one_by_one ? 12'sd1 : 12'sd3);
  assign piece_mod3 = last_pass ? cmd_i.top_mod3 : one_by_one ? add3(piece_mod3_q, 2'd1) : piece_mod3_q;

  function automatic logic [1:0] mod3(logic [3:0] n);
    return add3(add3(2'(n[1:0] == 2'd3 ? 2'd0 : n[1:0]), 2'(n[3:2] == 2'd3 ? 2'd0 : n[3:2])), 2'd0);
  endfunction

  // The next piece begins one column further right, or three, less where columns left of the map are not read.
  word_t pixel, group_next, piece_next;
  assign pixel = word_of(cmd_i.in_pixel);
  always_comb begin
    automatic logic [1:0] columns = (next_left <= 0) ? 2'd0 : (left < 0) ? next_left[1:0] : 2'd3;
    piece_next = piece_q;
    if (!(rd_i && pass_end)) begin  // idle, for the simulation
      piece_next = piece_q;
    end else if (last_of_row) begin
      piece_next = first_group;
    end else if (last_of_piece && (one_by_one || column)) begin
      piece_next = word_add(piece_q, pixel);
    end else if (last_of_piece && columns != 2'd0) begin
      piece_next = word_add(piece_q, pixel);
      if (columns[1]) piece_next = word_add(piece_next, pixel);
      if (columns == 2'd3) piece_next = word_add(piece_next, pixel);
    end
    group_next = last_of_piece ? piece_next
               : word_add(group_q, one_by_one ? '{div: 14'd1, mod: 4'd0} : '{div: 14'd0, mod: column ? 4'd3 : 4'd1});
  end

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      done_q       <= 1'b0;
      reads_q      <= next_reads - 10'd1;
      rows_q       <= cmd_i.rows - 10'd1;
      tiles_q      <= cmd_i.tiles - 10'd1;
      pos_q        <= first_group;
      group_q      <= first_group;
      piece_q      <= first_group;
      slot_q       <= slot_first;
      piece_slot_q <= slot_first;
      // 15 rows at most, the last of them in the ring: a product of four bits and the size
      stride_q      <= addr_t'(cmd_i.in_slot_size * 14'(cmd_i.stride));
      stride_mod3_q <= mod3(cmd_i.stride);
      piece_mod3_q <= cmd_i.top_mod3;
      mod3_q       <= cmd_i.top_mod3;
      top_q        <= cmd_i.top_row;
      piece_top_q  <= cmd_i.top_row;
    end else if (rd_i) begin
      if (pass_end) begin
        reads_q <= next_reads - 10'd1;
        pos_q   <= group_next;
        rows_q  <= cmd_i.rows - 10'd1;
        slot_q  <= slot_first;
        mod3_q  <= piece_mod3_q;
        top_q   <= piece_top_q;
        group_q <= group_next;
        if (last_of_piece) piece_q <= piece_next;
        if (last_of_row) begin
          top_q        <= piece_top;
          piece_top_q  <= piece_top;
          mod3_q       <= piece_mod3;
          piece_mod3_q <= piece_mod3;
          piece_slot_q <= slot_first;
        end
        if (last_pass) begin
          tiles_q <= tiles_q - 10'd1;
          if (tiles_q == '0) done_q <= 1'b1;
        end
      end else if (row_end) begin
        reads_q <= reads - 10'd1;
        pos_q   <= group_q;
        rows_q  <= rows_q - 10'd1;
        slot_q  <= slot_next;
        mod3_q  <= add3(mod3_q, stride_mod3_q);
        top_q   <= top_q + $signed({8'd0, cmd_i.stride});
      end else begin
        reads_q <= reads_q - 10'd1;
        pos_q   <= word_add(pos_q, word_of(cmd_i.in_step));
      end
    end
  end

  // bank offset 3r mod 9 of the three rows
  logic [3:0] rot[3];
  always_comb begin
    for (int k = 0; k < 3; k++) rot[k] = row_bank(add3(mod3_q, 2'(k)));
  end

  word_t second;  // the column to the right, for stride 2
  assign second = word_add(pos_q, pixel);

  bank_req_t rd_req_d[9];
  logic outside_d[3];
  logic en;
  assign en = rd_i && !masked_i;
  always_comb begin
    if (one_by_one) begin
      for (int t = 0; t < 9; t++) begin
        automatic word_t w = word_add(pos_q, '{div: 14'd0, mod: 4'(t)});
        rd_req_d[t] = bank_req(en, slot_q[0], rot[0], w);
      end
    end else if (column) begin
      for (int g = 0; g < 3; g++) begin
        automatic word_t w = word_add(pos_q, '{div: 14'd0, mod: 4'(g)});
        for (int k = 0; k < 3; k++) rd_req_d[3*g+k] = bank_req(en, slot_q[k], rot[k], w);
      end
    end else begin
      for (int k = 0; k < 3; k++) begin
        rd_req_d[k]   = bank_req(en, slot_q[k], rot[k], pos_q);
        rd_req_d[k+3] = bank_req(en && stride2, slot_q[k], rot[k], second);
        rd_req_d[k+6] = '0;
      end
    end
    for (int k = 0; k < 3; k++) begin
      automatic logic signed [11:0] row = one_by_one ? top_q : top_q + 12'(k);
      outside_d[k] = (row < 0) || (row >= $signed({2'b0, cmd_i.in_height}));
    end
  end

  always_ff @(posedge clk_i) begin
    rd_req_o     <= rd_req_d;
    outside_o <= outside_d;
  end

endmodule
