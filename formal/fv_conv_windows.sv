// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

`include "fv.svh"
// Windows of a CONV in map order: sequencer and row reader together, with any command of small counts, any weights, parameters
// and credits. Loops are counted upwards here, where the blocks count down, once for the windows that are emitted (s) and once
// for the reads (r): tile, kernel tile row, kernel tile column, pass, row, column. Of all columns that a command reads, counted one after
// the other, the line buffer holds the last four. The claims:
//   a_order    windows come in the order of the loops; the control token says which
//   a_read     the reads too; each asks for the words of the map's rows and columns that belong to its place in the loops
//   a_silent   and for nothing else: a bank answers one request a cycle
//   a_inside   columns outside the map are not read, but for the right half of a pair (stride 2) and the one read of a row of
//              windows wholly beside the map; such cells are masked in every window (a_edge, a_outside)
//   a_there    the columns of a window that lie in the map have been read and are not yet overwritten
//   a_cell     and belong to this row of windows: one read, picked at an arbitrary moment, is followed until windows show it
//              (commands of one tile and one kernel tile row)
//   a_moves    with all permissions, a read or a window comes in every cycle (the same commands)
// In modes 1x1 and 3x1 window and read share a slot (a_whole). In a last pass of two windows at once, a read asks for the
// groups of both, of the second where the row has it. What the line buffer does with a column is kt_line_buf's
// proof; the pipeline between the two is of fixed latency (kt_conv).
module fv_conv_windows
  import kt_cmd_pkg::*;
  import kt_pkg::*;
#(
  parameter logic [1:0]  Mode   = 0,
  parameter int unsigned Stride = 1,  // of columns
  parameter int unsigned Groups = 0,  // of the last pass, which takes two windows at once; 0: one
  parameter int unsigned Part   = 1
) (
  input logic  clk_i,
  input logic  rst_ni,
  input logic  offer_i,
  input conv_t cmd_i,
  input logic  weights_i,
  input logic  params_i,
  input logic  credit_i,
  input logic  pick_i
);
  localparam bit Whole = Mode != kt_cmd_pkg::Mode3x3;
  localparam bit Given = Part == 3 || Part == 4;  // properties of parts 1 and 2 are assumed
  typedef logic signed [12:0] num_t;

  conv_t cmd_q, cmd;
  logic  start, start_q;
  logic  busy, rd, rd_masked, rd_done, swap, result, outside[3];
  logic [2:0] edge_;
  logic [1:0] rd_col, win_col;
  logic [4:0] pixel;
  bank_req_t  req[9];
  kt_array_pkg::token_t token;
  kt_conv_seq #(
    .ObAw(5)
  ) dut (
    .clk_i,
    .rst_ni,
    .start_i       (start_q),
    .cmd_i         (cmd),
    .busy_o        (busy),
    .rd_done_i     (rd_done),
    .rd_o          (rd),
    .rd_masked_o   (rd_masked),
    .rd_col_o      (rd_col),
    .weights_i,
    .params_i,
    .credit_i,
    .swap_o        (swap),
    .last_tile_o   (),
    .result_o      (result),
    .wait_weights_o(),
    .wait_credit_o (),
    .token_o       (token),
    .pixel_o       (pixel),
    .win_col_o     (win_col),
    .edge_o        (edge_)
  );
  kt_row_reader reader (
    .clk_i,
    .start_i  (start_q),
    .cmd_i    (cmd),
    .rd_i     (rd),
    .masked_i (rd_masked),
    .done_o   (rd_done),
    .rd_req_o (req),
    .outside_o(outside)
  );
  `include "fv_reset.svh"

  // The proof has parts, since none of them needs all invariants: what is read (1), how columns are counted (2), and from these
  // a_there (3) and, from all of that, a_cell (4). Part 0 is parts 1 and 2, for modes 1x1 and 3x1,
  // part 5 all four for the commands of part 4: what judges mutants.
  // `part`: the one that does without this property (0: none). Part 1 rests on itself: what both share it proves for part 2.
`define FV_PART(name, part, expr) \
  `FV_ASSERT(name, Given || (Part != 0 && Part == (part)) || (Part == 2 && (part) == 0) || (expr)) \
  `FV_ASSUME(m_``name, !(Given || (Part == 2 && (part) == 0)) || !(past_ok_q && rst_ni) || (expr))


  // as in kt_conv: a command is taken when the one before has issued its last window
  assign start = offer_i && !busy && !start_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) start_q <= 1'b0;
    else start_q <= start;
  end
  always_ff @(posedge clk_i) if (start) cmd_q <= cmd_i;
  assign cmd = shrunk(cmd_q);

  // ---- commands: small counts, a ring of 1 to 4 slots; what they say twice agrees
  function automatic conv_t shrunk(conv_t c);
    shrunk = '0;
    shrunk.mode               = Mode;
    shrunk.column_stride      = 4'(Stride);
    shrunk.columns            = 10'(c.columns[1:0]);
    shrunk.rows               = 10'(c.rows[1:0]);
    shrunk.tiles              = (Part >= 4) ? 10'd1 : 10'(c.tiles[1:0]);
    shrunk.passes             = 10'(c.passes[1:0]);
    shrunk.more_kernel_tile_rows    = (Part >= 4) ? 4'd0 : 4'(c.more_kernel_tile_rows[0]);
    shrunk.more_kernel_tile_columns = 4'(c.more_kernel_tile_columns[0]);
    shrunk.in_width           = 10'(c.in_width[2:0]);
    shrunk.in_height          = 10'(c.in_height[2:0]);
    shrunk.pad_left           = 5'(c.pad_left[1:0]);
    shrunk.top_row            = 12'(signed'(c.top_row[3:0]));
    shrunk.top_mod3           = c.top_mod3;
    shrunk.stride             = 4'(c.stride[1:0]);
    shrunk.in_pixel           = '{div: '0, mod: 4'(c.in_pixel.mod[2:0])};
    shrunk.in_step            = '{div: 8'(c.in_step.div[0]), mod: c.in_step.mod};
    shrunk.in_group           = '{div: 8'(signed'(c.in_group.div[2:0])), mod: c.in_group.mod};
    shrunk.in_slot_size       = 14'(c.in_slot_size[1:0]);
    shrunk.in_first           = 14'(c.in_first[1:0]);
    shrunk.in_last            = 14'(c.in_last[3:0]);
    shrunk.in_slot            = 14'(c.in_slot[3:0]);
    if (Groups != 0) begin
      shrunk.pair_groups              = 3'(Groups);
      shrunk.more_kernel_tile_columns = '0;
      shrunk.more_kernel_tile_rows    = '0;
      shrunk.pad_left                 = '0;
    end
  endfunction
  function automatic logic two(logic [1:0] pass);  // windows at once
    return Groups != 0 && 10'(pass) + 10'd1 == cmd.passes;
  endfunction
  function automatic num_t windows(logic [1:0] pass);  // slots of a row
    return two(pass) ? (num_t'(cmd.columns[1:0]) + 1) >>> 1 : num_t'(cmd.columns[1:0]);
  endfunction
  function automatic num_t number(logic [1:0] pass, logic [3:0] x);  // of a slot's first window in the row
    return two(pass) ? 2 * num_t'(x) : num_t'(x);
  endfunction

  function automatic num_t times(num_t a, logic [1:0] n);
    return (n[0] ? a : 0) + (n[1] ? 2 * a : 0);
  endfunction
  function automatic num_t words(logic [3:0] div, logic [3:0] mod);  // a position; `div` has a sign
    return num_t'(signed'({div, 3'b0})) + num_t'(signed'(div)) + num_t'(mod);
  endfunction
  function automatic logic [2:0] slots_of(conv_t c);
    for (int n = 1; n < 4; n++) if (c.in_last == c.in_first + 14'(times(num_t'(c.in_slot_size[1:0]), 2'(n - 1)))) return 3'(n);
    return 3'd4;
  endfunction
  function automatic logic [1:0] slot_no(conv_t c);
    for (int n = 0; n < 3; n++) if (c.in_slot == c.in_first + 14'(times(num_t'(c.in_slot_size[1:0]), 2'(n)))) return 2'(n);
    return 2'd3;
  endfunction
  function automatic num_t pixels(num_t n, conv_t c);  // n pixels, in words
    return c.in_pixel.mod[2] ? 4 * n : c.in_pixel.mod[1] ? 2 * n : n;
  endfunction
  // words of column 0 of the map (modes 1x1 and 3x1 count from the first window's column)
  function automatic num_t origin(conv_t c);
    return words(c.in_group.div[3:0], c.in_group.mod) + (Whole ? pixels(num_t'(c.pad_left[1:0]), c) : 0);
  endfunction

  function automatic logic legal(conv_t c);
    legal = c.columns[1:0] != '0 && (c.rows[1:0] inside {1, 2}) && (c.tiles[1:0] inside {1, 2}) && (c.passes[1:0] inside {1, 2}) &&
            (c.stride[1:0] inside {1, 2}) && (c.in_pixel.mod inside {1, 2, 4}) && c.in_step.mod < 9 && c.in_group.mod < 9;
    legal = legal && words(c.in_step.div[3:0], c.in_step.mod) == pixels(num_t'(Stride), c);
    legal = legal && c.top_mod3 == 2'((6'(signed'(c.top_row[4:0])) + 6'd9) % 6'd3);
    legal = legal && origin(c) >= 0 && origin(c) < 16;
    legal = legal && c.in_slot_size[1:0] != '0 && c.in_slot == c.in_first + 14'(times(num_t'(c.in_slot_size[1:0]), slot_no(c))) &&
            c.in_last == c.in_first + 14'(times(num_t'(c.in_slot_size[1:0]), 2'(slots_of(c) - 3'd1))) &&
            3'(slot_no(c)) < slots_of(c) && 3'(c.stride[1:0]) <= slots_of(c);
    if (Groups != 0) legal = legal && 32'(c.in_step.mod) >= Groups && 32'(c.in_step.mod) <= 9 - Groups;
  endfunction
  `FV_ASSUME(m_legal, !start || legal(shrunk(cmd_i)))

  // ---- places in the loops; behind the last one is the first of a tile too many
  typedef struct packed {
    logic [1:0] tile, kernel_tile_row, kernel_tile_column, pass, row;
    logic [3:0] x;  // window, or read, of the row
  } place_t;

  function automatic num_t left(num_t kernel_tile_column);  // column of the map under the first window
    return (Whole ? kernel_tile_column : 3 * kernel_tile_column) - num_t'(cmd.pad_left[1:0]);
  endfunction
  function automatic num_t from(num_t kernel_tile_column);  // first column that is read
    return (left(kernel_tile_column) < 0 && !Whole) ? 0 : left(kernel_tile_column);
  endfunction
  function automatic num_t count(num_t kernel_tile_column); // columns of the map under the windows
    num_t stop;
    stop = left(kernel_tile_column) + num_t'(Stride) * (num_t'(cmd.columns[1:0]) - 1) + 3;
    return ((stop > num_t'(cmd.in_width[2:0])) ? num_t'(cmd.in_width[2:0]) : stop) - from(kernel_tile_column);
  endfunction
  function automatic num_t reads(num_t kernel_tile_column, logic [1:0] pass);
    num_t n;
    n = count(kernel_tile_column);
    if (Whole) return windows(pass);
    if (n <= 0) return 1;
    return (num_t'(Stride) == 2) ? (n + 1) >>> 1 : n;
  endfunction
  function automatic num_t each_read(num_t kernel_tile_column);  // the same, were each window one by itself
    return Whole ? num_t'(cmd.columns[1:0]) : reads(kernel_tile_column, '0);
  endfunction
  function automatic num_t length(num_t kernel_tile_column);  // columns of a row, as they are counted
    return num_t'(Stride) * reads(kernel_tile_column, '0);
  endfunction
  logic [3:0] row_q[2];  // length of a row, for the two kernel tile columns
  always_ff @(posedge clk_i) begin
    for (int c = 0; c < 2; c++) if (start_q) row_q[c] <= 4'(length(num_t'(c)));
  end
  // columns of all rows before this one; nine bits hold them
  function automatic num_t columns_before(place_t p);
    logic [8:0] row[2], pass[2], kernel_tile_row, sum;  // [kernel tile column]: columns of a row, of all passes
    for (int c = 0; c < 2; c++) begin
      row[c]  = 9'(row_q[c]);
      pass[c] = row[c] << (2'(cmd.rows[1]) + 2'(cmd.passes[1]));
    end
    kernel_tile_row = cmd.more_kernel_tile_columns[0] ? pass[0] + pass[1] : pass[0];
    sum = (cmd.more_kernel_tile_rows[0] ? 9'(2 * kernel_tile_row) : kernel_tile_row) & {9{p.tile[0]}};
    if (p.tile[1]) sum = cmd.more_kernel_tile_rows[0] ? 9'(4 * kernel_tile_row) : 9'(2 * kernel_tile_row);
    if (p.kernel_tile_row[0]) sum = sum + kernel_tile_row;
    if (p.kernel_tile_column[0]) sum = sum + pass[0];
    if (p.pass[0]) sum = sum + (row[p.kernel_tile_column[0]] << cmd.rows[1]);
    if (p.row[0]) sum = sum + row[p.kernel_tile_column[0]];
    return num_t'(sum);
  endfunction

  function automatic place_t step(place_t p, num_t row_length);
    step = p;
    step.x = p.x + 1'b1;
    if (num_t'(step.x) == row_length) begin
      step.x   = '0;
      step.row = p.row + 1'b1;
      if (10'(step.row) == cmd.rows) begin
        step.row  = '0;
        step.pass = p.pass + 1'b1;
        if (10'(step.pass) == cmd.passes) begin
          step.pass         = '0;
          step.kernel_tile_column = p.kernel_tile_column + 1'b1;
          if (4'(p.kernel_tile_column) == cmd.more_kernel_tile_columns) begin
            step.kernel_tile_column = '0;
            step.kernel_tile_row    = p.kernel_tile_row + 1'b1;
            if (4'(p.kernel_tile_row) == cmd.more_kernel_tile_rows) begin
              step.kernel_tile_row = '0;
              step.tile      = p.tile + 1'b1;
            end
          end
        end
      end
    end
  endfunction
  function automatic logic in_loops(place_t p, num_t row_length);
    return 10'(p.tile) < cmd.tiles && 4'(p.kernel_tile_row) <= cmd.more_kernel_tile_rows &&
           4'(p.kernel_tile_column) <= cmd.more_kernel_tile_columns &&
           10'(p.pass) < cmd.passes && 10'(p.row) < cmd.rows && num_t'(p.x) < row_length;
  endfunction

  place_t s_q, r_q;
  num_t   s_before_q, r_before_q;  // columns of the rows before
  num_t   s_pc, r_pc, column, r_column;
  logic   reading;  // reads are left
  assign s_pc     = num_t'(s_q.kernel_tile_column);
  assign r_pc     = num_t'(r_q.kernel_tile_column);
  assign column   = left(s_pc) + num_t'(Stride) * number(s_q.pass, s_q.x);  // of the map, under the window's left column
  assign r_column = from(r_pc) + num_t'(Stride) * number(r_q.pass, r_q.x);
  assign reading  = 10'(r_q.tile) < cmd.tiles;
  always_ff @(posedge clk_i) begin
    if (start_q) begin
      s_q        <= '0;
      r_q        <= '0;
      s_before_q <= '0;
      r_before_q <= '0;
    end else begin
      if (token.valid) begin
        s_q <= step(s_q, windows(s_q.pass));
        if (num_t'(s_q.x) + 1 == windows(s_q.pass)) s_before_q <= s_before_q + num_t'(row_q[s_q.kernel_tile_column[0]]);
      end
      if (rd) begin
        r_q <= step(r_q, reads(r_pc, r_q.pass));
        if (num_t'(r_q.x) + 1 == reads(r_pc, r_q.pass)) r_before_q <= r_before_q + num_t'(row_q[r_q.kernel_tile_column[0]]);
      end
    end
  end

  // the place's next pass, with it the first one behind a tile's last
  function automatic place_t next_pass(place_t p);
    place_t last;
    last     = p;
    last.x   = '0;
    last.row = 2'(cmd.rows - 10'd1);
    return step(last, num_t'(1));
  endfunction

  logic on, sets_up, last_pass;
  assign sets_up   = past_ok_q && rst_ni && busy && dut.walk_begin;  // the cycle behind start_i
  assign on        = past_ok_q && rst_ni && busy && !dut.walk_begin;
  assign last_pass = 4'(s_q.kernel_tile_row) == cmd.more_kernel_tile_rows &&
                     4'(s_q.kernel_tile_column) == cmd.more_kernel_tile_columns &&
                     10'(s_q.pass) == cmd.passes - 10'd1;

  // ---- windows
  place_t s_next;
  assign s_next = step(s_q, windows(s_q.pass));
  `FV_PART(a_order, 1, !(on && token.valid) || (in_loops(s_q, windows(s_q.pass)) &&
             token.first == (s_q.kernel_tile_row == '0 && s_q.kernel_tile_column == '0 && s_q.pass == '0) && token.last == last_pass &&
             token.swap == (s_q.row == '0 && s_q.x == '0) && num_t'(pixel) == times(num_t'(cmd.columns[1:0]), s_q.row) + number(s_q.pass, s_q.x) &&
             result == last_pass && swap == token.swap))
  `FV_PART(a_end, 1, !(on && token.valid) || dut.last == (10'(s_next.tile) == cmd.tiles))
  `FV_PART(a_permitted, 1, !(on && token.valid) || ((!swap || weights_i) && (!result || credit_i)))

  // ---- reads: what is asked for a cycle later
  place_t     read_q;
  logic       read_valid_q, read_masked_q;
  num_t       read_column_q;
  always_ff @(posedge clk_i) begin
    read_valid_q  <= past_ok_q && rst_ni && rd;
    read_masked_q <= rd_masked;
    read_q        <= r_q;
    read_column_q <= r_column;
  end
  function automatic num_t row_of(place_t p);  // of the map, under the uppermost tap
    return num_t'(signed'(cmd.top_row[3:0])) + times(num_t'(cmd.stride[1:0]), p.row) +
           times(num_t'(p.kernel_tile_row), (Mode == kt_cmd_pkg::Mode1x1) ? 2'd1 : 2'd3);
  endfunction
  function automatic addr_t slot_address(num_t rows);  // of the row so many below top_row
    logic [4:0] n;
    n = 5'(rows) + 5'(slot_no(cmd));
    n = n % 5'(slots_of(cmd));
    return addr_t'(cmd.in_first) + addr_t'(times(num_t'(cmd.in_slot_size[1:0]), n[1:0]));
  endfunction
  // the word of a column and group of row k below the uppermost, as docs/formats/tensors.md places it
  function automatic logic lies(bank_req_t t, num_t col, num_t group, num_t k);
    num_t word, row;
    row  = row_of(read_q) + k;
    word = origin(cmd) + pixels(col, cmd) + group;
    return t.en && 7'(t.bank) == (7'(word) + 7'd3 * (7'(row) % 7'd3)) % 7'd9 &&
           t.addr == slot_address(row - num_t'(signed'(cmd.top_row[3:0]))) + addr_t'(7'(word) / 7'd9);
  endfunction
  `FV_PART(a_reading, 2, !(on && rd) || reading)
  for (genvar k = 0; k < 3; k++) begin : g_read
    num_t row;
    assign row = row_of(read_q) + ((Mode == kt_cmd_pkg::Mode1x1) ? 0 : k);
    `FV_PART(a_outside, 2, !(past_ok_q && rst_ni && read_valid_q && !start_q) ||
             outside[k] == (row < 0 || row >= num_t'(cmd.in_height[2:0])))
    logic asks;
    always_comb begin
      asks = 1'b1;
      if (!Whole) begin
        asks = lies(req[k], read_column_q, num_t'(read_q.pass), k);
        if (num_t'(Stride) == 2 && !lies(req[k+3], read_column_q + 1, num_t'(read_q.pass), k)) asks = 1'b0;
      end else if (Mode == kt_cmd_pkg::Mode1x1) begin
        for (int t = 3 * k; t < 3 * k + 3; t++) begin
          if (!two(read_q.pass) || t < int'(Groups)) begin
            if (!lies(req[t], read_column_q, 9 * num_t'(read_q.pass) + num_t'(t), 0)) asks = 1'b0;
          end else if (t >= 4 && t - 4 < int'(Groups) && 2 * 32'(read_q.x) + 1 < 32'(cmd.columns)) begin
            if (!lies(req[t], read_column_q + num_t'(Stride), 9 * num_t'(read_q.pass) + num_t'(t - 4), 0)) asks = 1'b0;
          end else if (req[t].en) begin
            asks = 1'b0;
          end
        end
      end else begin
        for (int g = 0; g < 3; g++) if (!lies(req[3*g+k], read_column_q, 3 * num_t'(read_q.pass) + num_t'(g), k)) asks = 1'b0;
      end
    end
    `FV_PART(a_read, 2, !(past_ok_q && rst_ni && read_valid_q && !start_q && !read_masked_q && row >= 0) || asks)
  end
  logic [8:0] asked, in_use;  // requests, and those this mode has
  for (genvar t = 0; t < 9; t++) begin : g_asked
    assign asked[t]  = req[t].en;
    assign in_use[t] = Whole || t < 3 * int'(Stride);
  end
  `FV_PART(a_silent, 2, !(past_ok_q && rst_ni) || (asked & ~(in_use & {9{read_valid_q && !read_masked_q}})) == '0)
  `FV_PART(a_inside, 2, !(on && rd && !rd_masked) || (r_column >= 0 && r_column < num_t'(cmd.in_width[2:0])) ||
             (!Whole && count(r_pc) <= 0))

  // ---- columns of the command, counted one after the other: read so far; under the window's left column; the row's end
  num_t requested_q, window_q, stop_q, row_pc;
  logic row_end;
  assign row_end = num_t'(s_q.x) + 1 == windows(s_q.pass);
  assign row_pc  = sets_up ? 0 : num_t'(s_next.kernel_tile_column);  // of the row that begins next
  always_ff @(posedge clk_i) begin
    if (start_q) begin
      requested_q <= 0;
      stop_q      <= 0;
    end else begin
      if (rd) requested_q <= requested_q + num_t'(Stride);
      if (sets_up || (token.valid && row_end)) begin
        window_q <= stop_q + left(row_pc) - from(row_pc);
        stop_q   <= stop_q + num_t'(row_q[row_pc[0]]);
      end else if (token.valid) begin
        window_q <= window_q + num_t'(Stride);
      end
    end
  end

  // ---- one column of a read, the left or the right one
  logic   follow_q;
  place_t place_q;
  num_t   index_q, column_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || start_q) follow_q <= 1'b0;
    else if (!follow_q && rd && pick_i) follow_q <= 1'b1;
    if (!follow_q) begin
      place_q  <= r_q;
      index_q  <= requested_q + num_t'(offer_i && num_t'(Stride) == 2);  // offer_i: any free bit
      column_q <= r_column + num_t'(offer_i && num_t'(Stride) == 2);
    end
  end

  // ---- columns of windows, in modes 1x1 and 3x1 read in the same slot, else held by the line buffer
    num_t pushed, first;  // columns read so far, with this slot's; before this row
  assign pushed = requested_q + (rd ? num_t'(Stride) : 0);
  assign first  = s_before_q;
  `FV_PART(a_whole, 0, !(on && Whole) || (rd == token.valid && (!rd || r_q == s_q)))
  for (genvar c = 0; c < 3; c++) begin : g_column
    logic inside_map;
    num_t index;  // of all columns of the command
    assign inside_map = Whole ? (column >= 0 && column < num_t'(cmd.in_width[2:0]))
                              : (column + c >= 0 && column + c < num_t'(cmd.in_width[2:0]));
    assign index      = window_q + c;
    `FV_PART(a_edge, 1, !(on && token.valid) || edge_[c] == !inside_map)
    `FV_PART(a_masked, 1, !(on && token.valid && Whole) || rd_masked == !inside_map)
    logic there;
    assign there = index - first >= 0 &&
               index - first < num_t'(row_q[s_q.kernel_tile_column[0]]) && pushed - index > 0 && pushed - index <= 4 &&
               2'(win_col + 2'(c)) == index[1:0];
    `FV_ASSERT(a_there, (Part != 3 && Part != 5) || !(on && token.valid && inside_map && !Whole) || there)
    `FV_ASSUME(m_there, Part != 4 || !(on && token.valid && inside_map && !Whole) || there)
    `FV_ASSERT(a_cell, Part < 4 || !(on && token.valid && inside_map && !Whole && follow_q && index == index_q) ||
               (s_q[$bits(place_t)-1:4] == place_q[$bits(place_t)-1:4] && column + c == column_q))
  end

  `FV_ASSERT(a_moves, Part < 4 || !(on && weights_i && params_i && credit_i) || rd || token.valid)
  `FV_PART(a_column, 1, !(on && rd && !Whole) || rd_col == requested_q[1:0])

  // ---- invariants: the command, the two walks
  wire active = past_ok_q && rst_ni && (busy || start_q);
  `FV_PART(i_legal, 0, !active || legal(cmd))
  `FV_PART(i_one, 0, !(past_ok_q && rst_ni && busy) || !start_q)
  `FV_PART(i_walks, 0, !(past_ok_q && rst_ni) || (dut.walk_q == on && dut.walk_begin == reader.walk_begin))
  `FV_PART(i_sets_up, 0, !sets_up || (!rd && !token.valid && !follow_q && s_q == '0 && r_q == '0 && s_before_q == 0 && r_before_q == 0 && requested_q == 0 && stop_q == 0 &&
             dut.x_q == '0 && dut.y_q == '0 && dut.tile_q + 10'd1 == cmd.tiles && dut.first_pass_q && dut.pushed_q == '0 && dut.ahead_q == 0))
  `FV_PART(i_windows, 0, !on || (in_loops(s_q, windows(s_q.pass)) && num_t'(dut.to_edge_q) == num_t'(cmd.in_width[2:0]) - column &&
             (num_t'(dut.column_q) == column || (dut.column_q >= 0 && column >= 0)) &&
             num_t'(s_q.x) + num_t'(dut.x_q) + 1 == windows(s_q.pass) && 10'(s_q.row) + dut.y_q + 10'd1 == cmd.rows &&
             10'(s_q.tile) + dut.tile_q + 10'd1 == cmd.tiles &&
             num_t'(dut.pixel_q) == times(num_t'(cmd.columns[1:0]), s_q.row) + number(s_q.pass, s_q.x) &&
             dut.pass_start_q == (s_q.row == '0 && s_q.x == '0) &&
             dut.first_pass_q == (s_q.kernel_tile_row == '0 && s_q.kernel_tile_column == '0 && s_q.pass == '0)))
  // its counters are those of the next pass
  place_t s_tiles, r_tiles;
  num_t   s_next_pc, r_next_pc;
  assign s_tiles   = sets_up ? '0 : next_pass(s_q);
  assign r_tiles   = sets_up ? '0 : next_pass(r_q);
  assign s_next_pc = num_t'(s_tiles.kernel_tile_column);
  assign r_next_pc = num_t'(r_tiles.kernel_tile_column);
  `FV_PART(i_next_pass, 0, !(on || sets_up) || (10'(s_tiles.pass) + dut.u_kernel_tiles.pass_q + 10'd1 == cmd.passes &&
             4'(s_tiles.kernel_tile_column) + dut.u_kernel_tiles.column_q == cmd.more_kernel_tile_columns &&
             4'(s_tiles.kernel_tile_row) + dut.u_kernel_tiles.row_q == cmd.more_kernel_tile_rows &&
             dut.u_kernel_tiles.pass_last_q == (dut.u_kernel_tiles.pass_q == '0) && dut.u_kernel_tiles.column_last_q == (dut.u_kernel_tiles.column_q == '0) && dut.u_kernel_tiles.row_last_q == (dut.u_kernel_tiles.row_q == '0) &&
             num_t'(dut.u_kernel_tiles.first_reads_q) + 1 == each_read(0) && num_t'(dut.u_kernel_tiles.more_reads_q) + 1 == each_read(s_next_pc) &&
             num_t'(dut.next_row.left) == left(s_next_pc) && num_t'(dut.u_kernel_tiles.right_q) == left(s_next_pc + 1) &&
             num_t'(dut.next_row.more_reads) + 1 == reads(s_next_pc, s_tiles.pass) &&
             dut.next_row.two == two(s_tiles.pass)))
  `FV_PART(i_pass, 0, !on || (dut.pass.last_kernel_tile == (10'(s_q.pass) + 10'd1 == cmd.passes) &&
             dut.pass.last == last_pass && num_t'(dut.pass.row.left) == left(s_pc) &&
             num_t'(dut.pass.row.more_reads) + 1 == reads(s_pc, s_q.pass) && dut.pass.row.two == two(s_q.pass)))
  `FV_PART(i_done, 0, !on || (rd_done == !reading && (reading || r_q == {cmd.tiles[1:0], 12'd0})))
  wire walks = on && reading;
  `FV_PART(i_reads, 0, !walks || (in_loops(r_q, reads(r_pc, r_q.pass)) && num_t'(reader.reads_q) + num_t'(r_q.x) + 1 == reads(r_pc, r_q.pass) &&
             reader.read_last_q == (reader.reads_q == '0) && reader.row_last_q == (reader.rows_q == '0) &&
             10'(r_q.row) + reader.rows_q + 10'd1 == cmd.rows && 10'(r_q.tile) + reader.tiles_q + 10'd1 == cmd.tiles))
  `FV_PART(i_read_next_pass, 0, !(walks || sets_up) || (10'(r_tiles.pass) + reader.u_kernel_tiles.pass_q + 10'd1 == cmd.passes &&
             4'(r_tiles.kernel_tile_column) + reader.u_kernel_tiles.column_q == cmd.more_kernel_tile_columns &&
             4'(r_tiles.kernel_tile_row) + reader.u_kernel_tiles.row_q == cmd.more_kernel_tile_rows &&
             reader.u_kernel_tiles.pass_last_q == (reader.u_kernel_tiles.pass_q == '0) && reader.u_kernel_tiles.column_last_q == (reader.u_kernel_tiles.column_q == '0) && reader.u_kernel_tiles.row_last_q == (reader.u_kernel_tiles.row_q == '0) &&
             num_t'(reader.u_kernel_tiles.first_reads_q) + 1 == each_read(0) && num_t'(reader.u_kernel_tiles.more_reads_q) + 1 == each_read(r_next_pc) &&
             num_t'(reader.next_row.left) == left(r_next_pc) && num_t'(reader.u_kernel_tiles.right_q) == left(r_next_pc + 1) &&
             num_t'(reader.next_row.more_reads) + 1 == reads(r_next_pc, r_tiles.pass) &&
             reader.next_row.two == two(r_tiles.pass)))
  `FV_PART(i_read_pass, 0, !walks || (reader.pass.last_kernel_tile == (10'(r_q.pass) + 10'd1 == cmd.passes) &&
             reader.pass.last_row == (reader.pass.last_kernel_tile && 4'(r_q.kernel_tile_column) == cmd.more_kernel_tile_columns) &&
             reader.pass.last == (reader.pass.last_row && 4'(r_q.kernel_tile_row) == cmd.more_kernel_tile_rows) &&
             num_t'(reader.pass.row.left) == left(r_pc) &&
             num_t'(reader.pass.row.more_reads) + 1 == reads(r_pc, r_q.pass) && reader.pass.row.two == two(r_q.pass)))
  `FV_PART(i_whole, 0, !(on && Whole) || s_q == r_q)

  // ---- invariants: columns are counted alike
  `FV_PART(i_counts, 1, !(on && !Whole) || (dut.pushed_q == requested_q[1:0] && num_t'(dut.held_q) == requested_q - window_q &&
             num_t'(dut.ahead_q) == requested_q - stop_q))
  `FV_PART(i_requested, 1, !(on && !Whole) || requested_q == r_before_q + num_t'(Stride) * num_t'(r_q.x))
  `FV_PART(i_stop, 1, !(on && !Whole) || stop_q == first + num_t'(row_q[s_q.kernel_tile_column[0]]))
  `FV_PART(i_window, 1, !(on && !Whole) || window_q == first + column - from(s_pc))
  num_t keep;  // the first column that must stay
  always_comb begin
    keep = (window_q < stop_q) ? window_q : stop_q;
    if (keep - first < 0) keep = first;
  end
  `FV_PART(i_ring, 1, !(on && !Whole) || requested_q - keep <= 4)
  `FV_ASSERT(i_follow, Part < 4 || !(on && !Whole && follow_q) || (in_loops(place_q, reads(num_t'(place_q.kernel_tile_column), place_q.pass)) &&
             index_q >= columns_before(place_q) &&
             index_q < columns_before(place_q) + num_t'(row_q[place_q.kernel_tile_column[0]]) &&
             column_q == from(num_t'(place_q.kernel_tile_column)) + index_q - columns_before(place_q)))

  // no row has more than eight columns: counts stay far below 8192
  function automatic num_t rows_before(place_t p);
    num_t n;
    n = (num_t'(p.tile) << cmd.more_kernel_tile_rows[0]) + num_t'(p.kernel_tile_row);
    n = (n << cmd.more_kernel_tile_columns[0]) + num_t'(p.kernel_tile_column);
    n = (n << cmd.passes[1]) + num_t'(p.pass);
    return (n << cmd.rows[1]) + num_t'(p.row);
  endfunction
  `FV_PART(i_bound, 1, !(on && !Whole) || (s_before_q >= 0 && s_before_q <= 8 * rows_before(s_q) &&
           r_before_q >= 0 && r_before_q <= 8 * rows_before(r_q)))
  for (genvar c = 0; c < 2; c++) begin : g_length
    `FV_PART(i_length, 1, !((on || sets_up) && !Whole) || (num_t'(row_q[c]) == length(num_t'(c)) && row_q[c] <= 4'd8))
  end
  `FV_ASSERT(i_before, Part < 4 || !(on && !Whole) || (s_before_q == columns_before(s_q) && r_before_q == columns_before(r_q)))

  // ---- invariants: positions, slots and rows of the reader
  num_t kernel_tile_word, group_word, steps;
  assign kernel_tile_word = words(cmd.in_group.div[3:0], cmd.in_group.mod) + pixels(Whole ? r_pc : from(r_pc), cmd);
  assign group_word = kernel_tile_word + ((Mode == kt_cmd_pkg::Mode1x1) ? 9 : Whole ? 3 : 1) * num_t'(r_q.pass);
  assign steps      = row_of(r_q) - num_t'(signed'(cmd.top_row[3:0]));
  `FV_PART(i_position, 2, !walks || (reader.pos_q.mod < 9 && reader.group_q.mod < 9 && reader.kernel_tile_q.mod < 9 &&
             words(reader.kernel_tile_q.div[3:0], reader.kernel_tile_q.mod) == kernel_tile_word &&
             words(reader.group_q.div[3:0], reader.group_q.mod) == group_word &&
             words(reader.pos_q.div[3:0], reader.pos_q.mod) == group_word + pixels(num_t'(Stride) * number(r_q.pass, r_q.x), cmd) &&
             14'(signed'(reader.kernel_tile_q.div[3:0])) == reader.kernel_tile_q.div && 14'(signed'(reader.group_q.div[3:0])) == reader.group_q.div &&
             14'(signed'(reader.pos_q.div[3:0])) == reader.pos_q.div))
  num_t below;  // rows of kernel tiles above this one's
  assign below = times(num_t'(r_q.kernel_tile_row), (Mode == kt_cmd_pkg::Mode1x1) ? 2'd1 : 2'd3);
  for (genvar k = 0; k < 3; k++) begin : g_slot
    `FV_PART(i_slot, 2, !walks || (reader.slot_q[k] == slot_address(steps + k) && reader.kernel_tile_slot_q[k] == slot_address(below + k)))
  end
  // what the command says in other words
  num_t       ring;
  logic [1:0] kernel_tile_slots;  // from a row of kernel tiles to the next
  assign ring = (slots_of(cmd) == 3'd4) ? 4 * num_t'(cmd.in_slot_size[1:0]) : times(num_t'(cmd.in_slot_size[1:0]), 2'(slots_of(cmd)));
  assign kernel_tile_slots = (slots_of(cmd) == 3'd1) ? 2'd0 : (Mode == kt_cmd_pkg::Mode1x1 || slots_of(cmd) == 3'd2) ? 2'd1 : 2'd3;
  `FV_PART(i_steps, 2, !(walks || sets_up) || (reader.stride_mod3_q == cmd.stride[1:0] &&
             reader.stride_q == addr_t'(times(num_t'(cmd.in_slot_size[1:0]), cmd.stride[1:0])) && reader.ring_q == addr_t'(ring) &&
             reader.kernel_tile_stride_q == addr_t'(times(num_t'(cmd.in_slot_size[1:0]), kernel_tile_slots)) &&
             reader.two_pixels_q.mod < 9 && reader.two_pixels_q.div < 8 &&
             words(reader.two_pixels_q.div[3:0], reader.two_pixels_q.mod) == pixels(2, cmd) &&
             reader.two_steps_q.mod < 9 && reader.two_steps_q.div < 8 &&
             words(reader.two_steps_q.div[3:0], reader.two_steps_q.mod) == pixels(2 * num_t'(Stride), cmd)))
  for (genvar g = 0; g < 4; g++) begin : g_second
    `FV_PART(i_second, 2, !(walks || sets_up) || (reader.second_q[g].mod < 9 && reader.second_q[g].div < 8 &&
               words(reader.second_q[g].div[3:0], reader.second_q[g].mod) == pixels((Mode == kt_cmd_pkg::Mode1x1) ? num_t'(Stride) : 1, cmd) + g))
  end
  `FV_PART(i_three_pixels, 2, !walks || (reader.three_pixels_q.mod < 9 &&
             words(reader.three_pixels_q.div[3:0], reader.three_pixels_q.mod) == pixels(3, cmd) && reader.three_pixels_q.div < 8))
  `FV_PART(i_rows, 2, !walks || (num_t'(reader.top_q) == row_of(r_q) &&
             num_t'(reader.kernel_tile_top_q) == num_t'(signed'(cmd.top_row[3:0])) + below &&
             6'(reader.mod3_q) == 6'(row_of(r_q) + 9) % 6'd3 &&
             6'(reader.kernel_tile_mod3_q) == 6'(num_t'(signed'(cmd.top_row[3:0])) + below + 9) % 6'd3))

  if (Whole) begin : g_cover_whole
    `FV_COVER(c_masked, on && token.valid && rd_masked && s_q.kernel_tile_row == 2'd1)
  end else begin : g_cover
    `FV_COVER(c_ahead, on && token.valid && r_q.tile != s_q.tile && !edge_[0])
    `FV_COVER(c_outruns, on && token.valid && pushed < stop_q && dut.row_end)
    `FV_COVER(c_pair, on && token.valid && num_t'(Stride) == 2 && s_q.kernel_tile_column == 2'd1 && s_q.row == 2'd1 && !edge_[0] && edge_[2])
    `FV_COVER(c_followed, on && token.valid && follow_q && s_q.x == 4'd1 && window_q + 1 == index_q && !edge_[1])
  end
endmodule
