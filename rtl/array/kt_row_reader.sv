// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Reader half of the CONV sequencer: walks columns of rows of passes of kernel tiles of tiles and forms the bank
// addresses of each read. Every rd_i takes one read: one column of three rows (3x3), two columns of three rows (3x3,
// stride 2), nine groups of one pixel (1x1), up to four groups of each of two windows (1x1, the last pass with pair_groups) or three
// groups of one column of three rows (column). It knows nothing of windows, weights or results.
module kt_row_reader
  import kt_cmd_pkg::*;
  import kt_pkg::*;
#(
  parameter bit TwoPixels = 1
) (
  input  logic  clk_i,
  input  logic  start_i,
  // reader and sequencer each use their own fields of the command
  /* verilator lint_off UNUSEDSIGNAL */
  input  conv_t cmd_i,
  /* verilator lint_on UNUSEDSIGNAL */
  input  logic  rd_i,
  input  logic  masked_i,     // the words are don't-care
  output logic  done_o,
  // registered request and, for each of the three rows, whether it lies outside the map
  output bank_req_t  rd_req_o [9],
  output logic  outside_o [3]
);

  logic [9:0]         reads_q, rows_q, tiles_q;            // left after this one
  logic               read_last_q, row_last_q;             // none is left
  word_t              pos_q;                               // word of the current column
  word_t              group_q;                             // first word of the current pass
  word_t              kernel_tile_q;                       // and of its kernel tile's first pass
  word_t              two_pixels_q, three_pixels_q;        // words of so many
  word_t              two_steps_q;                         // from a read to the next one that are two windows each
  word_t              second_q[4];                         // to the second column (stride 2) or window: its groups
  addr_t              slot_q[3];                           // slots of the three rows
  addr_t              kernel_tile_slot_q[3];               // slots under the kernel tile's first output row
  // addresses: all of the ring's; from an output row's slot to the next one's, from a row of kernel tiles to the next
  addr_t              ring_q, stride_q, kernel_tile_stride_q;
  logic [1:0]         stride_mod3_q;
  logic [1:0]         mod3_q, kernel_tile_mod3_q;          // top row mod 3
  logic signed [11:0] top_q, kernel_tile_top_q;
  logic               done_q;

  logic  one_by_one, column, stride2;
  ring_t ring;
  word_t first_group;
  assign one_by_one  = cmd_i.mode == kt_cmd_pkg::Mode1x1;
  assign column      = cmd_i.mode == kt_cmd_pkg::Mode3x1;
  assign stride2     = cmd_i.column_stride[1];
  assign ring = '{first: addr_t'(cmd_i.in_first), last: addr_t'(cmd_i.in_last), size: addr_t'(cmd_i.in_slot_size)};
  assign first_group = '{div: {{6{cmd_i.in_group.div[7]}}, cmd_i.in_group.div}, mod: cmd_i.in_group.mod};

  assign done_o = done_q;

  logic walk_begin, row_end, pass_end;
  assign row_end  = read_last_q;
  assign pass_end = row_end && row_last_q;

  kt_array_pkg::pass_t     pass;
  /* verilator lint_off UNUSEDSIGNAL */  // the sequencer looks at `two`
  kt_array_pkg::pass_row_t next_row;
  /* verilator lint_on UNUSEDSIGNAL */
  kt_conv_kernel_tiles #(
    .TwoPixels(TwoPixels)
  ) u_kernel_tiles (
    .clk_i,
    .start_i,
    .cmd_i,
    .step_i    (rd_i && pass_end),
    .begin_o   (walk_begin),
    .pass_o    (pass),
    .next_row_o(next_row)
  );

  // Slots of the rows under the next output row; at its pass's end, of the first output row in the next pass. Each row
  // moves by itself: by so many slots that it meets the ring's end once at most.
  addr_t slot_next[3], rows_step;
  assign rows_step = !pass_end ? stride_q : pass.last_row ? kernel_tile_stride_q : '0;
  always_comb begin
    for (int k = 0; k < 3; k++) begin
      automatic addr_t stepped = rows_step + (pass_end ? kernel_tile_slot_q[k] : slot_q[k]);
      slot_next[k] = (stepped > ring.last) ? stepped - ring_q : stepped;
    end
    if (walk_begin || (pass_end && pass.last)) begin
      slot_next[0] = addr_t'(cmd_i.in_slot);
      slot_next[1] = next_slot(ring, slot_next[0]);
      slot_next[2] = next_slot(ring, slot_next[1]);
    end
  end

  // A row of kernel tiles is three rows further down, in mode 1x1 one: in a ring of fewer slots, what is left of them.
  addr_t kernel_tile_stride;
  always_comb begin
    kernel_tile_stride = one_by_one ? ring.size : ring.size + {ring.size[14:0], 1'b0};
    if (ring.first + ring.size == ring.last) kernel_tile_stride = ring.size;
    if (ring.first == ring.last) kernel_tile_stride = '0;
  end

  // and its rows: three further down are the same mod 3
  logic signed [11:0] kernel_tile_top;
  logic [1:0]         kernel_tile_mod3;
  assign kernel_tile_top  = pass.last ? cmd_i.top_row : kernel_tile_top_q + (one_by_one ? 12'sd1 : 12'sd3);
  assign kernel_tile_mod3 = pass.last  ? cmd_i.top_mod3 :
                            one_by_one ? add3(kernel_tile_mod3_q, 2'd1) : kernel_tile_mod3_q;

  function automatic logic [1:0] mod3(logic [3:0] n);
    return add3(add3(2'(n[1:0] == 2'd3 ? 2'd0 : n[1:0]), 2'(n[3:2] == 2'd3 ? 2'd0 : n[3:2])), 2'd0);
  endfunction

  word_t pixel;
  assign pixel = word_of(cmd_i.in_pixel);

  logic two;
  assign two = TwoPixels && pass.row.two;

  // The next kernel tile begins one column further right, or three, less where columns left of the map are not read.
  word_t group_next, kernel_tile_next;
  always_comb begin
    automatic logic [1:0] columns = (one_by_one || column) ? 2'd1 : (next_row.left <= 0) ? 2'd0 :
                                    (pass.row.left < 0) ? next_row.left[1:0] : 2'd3;
    kernel_tile_next = kernel_tile_q;
    if (Rests && !(rd_i && pass_end)) begin
      kernel_tile_next = kernel_tile_q;
    end else if (pass.last_row) begin
      kernel_tile_next = first_group;
    end else if (pass.last_kernel_tile && columns != 2'd0) begin
      kernel_tile_next = word_add(kernel_tile_q, !columns[1] ? pixel : columns[0] ? three_pixels_q : two_pixels_q);
    end
    group_next = pass.last_kernel_tile ? kernel_tile_next
               : word_add(group_q, one_by_one ? '{div: 14'd1, mod: 4'd0} : few_words(column ? 4'd3 : 4'd1));
  end

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      ring_q               <= ring.last - ring.first + ring.size;
      // 15 rows at most, the last of them in the ring: a product of four bits and the size
      stride_q             <= addr_t'(cmd_i.in_slot_size * 14'(cmd_i.stride));
      stride_mod3_q        <= mod3(cmd_i.stride);
      kernel_tile_stride_q <= kernel_tile_stride;
      two_pixels_q         <= word_add(pixel, pixel);
      two_steps_q          <= word_add(word_of(cmd_i.in_step), word_of(cmd_i.in_step));
      for (int g = 0; g < 4; g++) begin
        second_q[g] <= word_add(one_by_one ? word_of(cmd_i.in_step) : pixel, few_words(4'(g)));
      end
    end
    if (walk_begin || rd_i) begin
      automatic logic [9:0] more = (walk_begin || pass_end) ? next_row.more_reads : pass.row.more_reads;
      automatic logic [9:0] rows = (walk_begin || pass_end) ? cmd_i.rows : rows_q;
      reads_q     <= (walk_begin || row_end) ? more : reads_q - 10'd1;
      read_last_q <= (walk_begin || row_end) ? more == '0 : reads_q == 10'd1;
      if (walk_begin || row_end) begin
        rows_q     <= rows - 10'd1;
        row_last_q <= rows == 10'd1;
      end
    end
    if (walk_begin) begin
      done_q             <= 1'b0;
      tiles_q            <= cmd_i.tiles - 10'd1;
      pos_q              <= first_group;
      group_q            <= first_group;
      kernel_tile_q      <= first_group;
      three_pixels_q     <= word_add(two_pixels_q, pixel);
      slot_q             <= slot_next;
      kernel_tile_slot_q <= slot_next;
      kernel_tile_mod3_q <= cmd_i.top_mod3;
      mod3_q             <= cmd_i.top_mod3;
      top_q              <= cmd_i.top_row;
      kernel_tile_top_q  <= cmd_i.top_row;
    end else if (rd_i) begin
      if (pass_end) begin
        pos_q   <= group_next;
        slot_q  <= slot_next;
        mod3_q  <= kernel_tile_mod3_q;
        top_q   <= kernel_tile_top_q;
        group_q <= group_next;
        if (pass.last_kernel_tile) kernel_tile_q <= kernel_tile_next;
        if (pass.last_row) begin
          top_q              <= kernel_tile_top;
          kernel_tile_top_q  <= kernel_tile_top;
          mod3_q             <= kernel_tile_mod3;
          kernel_tile_mod3_q <= kernel_tile_mod3;
          kernel_tile_slot_q <= slot_next;
        end
        if (pass.last) begin
          tiles_q <= tiles_q - 10'd1;
          if (tiles_q == '0) done_q <= 1'b1;
        end
      end else if (row_end) begin
        pos_q   <= group_q;
        slot_q  <= slot_next;
        mod3_q  <= add3(mod3_q, stride_mod3_q);
        top_q   <= top_q + $signed({8'd0, cmd_i.stride});
      end else begin
        pos_q   <= word_add(pos_q, two ? two_steps_q : word_of(cmd_i.in_step));
      end
    end
  end

  // bank offset 3r mod 9 of the three rows
  logic [3:0] rot[3];
  always_comb begin
    for (int k = 0; k < 3; k++) rot[k] = row_bank(add3(mod3_q, 2'(k)));
  end

  bank_req_t rd_req_d[9];
  logic outside_d[3];
  logic en, second_exists;
  assign en = rd_i && !masked_i;
  assign second_exists = !(row_end && cmd_i.columns[0]);
  always_comb begin
    if (one_by_one) begin
      for (int t = 0; t < 9; t++) begin
        rd_req_d[t] = bank_req_behind(en && (!two || t < 32'(cmd_i.pair_groups)), slot_q[0], rot[0], pos_q,
                                      few_words(4'(t)));
      end
      if (two) begin
        for (int g = 0; g < 4; g++) begin
          rd_req_d[g+4] = bank_req_behind(en && second_exists && (g < 32'(cmd_i.pair_groups)), slot_q[0], rot[0], pos_q,
                                          second_q[g]);
        end
      end
    end else if (column) begin
      for (int g = 0; g < 3; g++) begin
        for (int k = 0; k < 3; k++) rd_req_d[3*g+k] = bank_req_behind(en, slot_q[k], rot[k], pos_q, few_words(4'(g)));
      end
    end else begin
      for (int k = 0; k < 3; k++) begin
        rd_req_d[k]   = bank_req(en, slot_q[k], rot[k], pos_q);
        rd_req_d[k+3] = bank_req_behind(en && stride2, slot_q[k], rot[k], pos_q, second_q[0]);
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
