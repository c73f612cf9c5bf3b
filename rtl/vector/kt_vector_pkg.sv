// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Types of the vector engine.
package kt_vector_pkg;

  import kt_cmd_pkg::*;
  import kt_pkg::*;

  // Entries of an array of n cells or lanes. Fast simulators round up to a power of two: an index that cannot leave its
  // array needs no bounds check, and one flat loop over the lanes becomes vector operations.
  function automatic int unsigned array_size(int unsigned n);
`ifdef KT_FAST_SIM
    return 2 ** $clog2(n);
`else
    return n;
`endif
  endfunction

  // A number of few bits in a lane of 32: a cell, or the sum of a column. Fast simulators need not be told.
  /* verilator lint_off UNUSEDSIGNAL */
  function automatic logic signed [31:0] as_cell(logic signed [31:0] lane);
`ifdef KT_FAST_SIM
    return lane;
`else
    return 32'(signed'(lane[7:0]));
`endif
  endfunction

  function automatic logic signed [31:0] as_sum(logic signed [31:0] lane);
`ifdef KT_FAST_SIM
    return lane;
`else
    return 32'(signed'(lane[18:0]));  // three products of 8 by 9 bits
`endif
  endfunction
  /* verilator lint_on UNUSEDSIGNAL */

  // Large windows: columns of a row whose sums are kept, cells of a side, bits of a sum (81 products of 8 by 9 bits)
  localparam int unsigned SumColumns = 128;
  localparam int unsigned SumAw      = $clog2(SumColumns);
  localparam int unsigned SumBits    = 24;
  localparam int unsigned MaxLarge   = 9;
  localparam int unsigned MinColumns = 4;  // a sum that is kept is read three cycles later, or more

  // Columns of the next kernel tile where so many of the kernel are left, 1 to 9: as even as can be, at most three
  function automatic logic [1:0] tile_width(logic [3:0] left);
    if (left == 4'd1) return 2'd1;
    return (left == 4'd2 || left == 4'd4) ? 2'd2 : 2'd3;
  endfunction

  // What the engine does with its operands: the kinds of a Window command, or Add.
  typedef enum logic [1:0] {
    KindDepthwise = WindowDepthwise,
    KindMaximum   = WindowMaximum,
    KindAverage   = WindowAverage,
    KindAdd       = 2'd3
  } kind_e;

  // A Window or Add command without its output side. Add is a window of one cell and two operands or more.
  typedef struct packed {
    kind_e              kind;
    ring_t              ring;
    addr_t              slot;       // of the row top_row
    ring_t              ring2;      // Add: second operand and further ones
    addr_t              slot2;
    logic [1:0]         more_operands;
    word_t              operand_step;  // words from one operand to the next
    element_kind_e      element;
    logic               broadcast;  // Add: the second operand is one pixel
    logic [1:0]         mod3_2;     // Add: first row mod 3 of the second operand and further ones
    logic               pair;       // Add: both operands in one slot, the second in the place of the second row
    word_t              pixel;      // words from one pixel to the next
    word_t              group;      // first word of the channel range
    logic [9:0]         in_width;
    logic [9:0]         in_height;
    logic signed [11:0] top_row;
    logic [1:0]         top_mod3;
    logic [7:0]         kernel_rows;
    logic [7:0]         kernel_columns;
    logic [3:0]         stride;
    logic [3:0]         pad_left;
    logic [7:0]         pad_value;
    logic [7:0]         weight_zero;
    logic [9:0]         columns;
    logic [9:0]         rows;
    logic [9:0]         tiles;
    addr_t              weights;
    addr_t              params;
    logic               look_up;    // results go through a table
    addr_t              table_word; // its first one in ZSB
    out_quant_t         out_quant;
  } vec_cmd_t;

  // What the sequencer needs besides, prepared by kt_vector_setup. The reader walks tiles, rows, windows of a row,
  // kernel tiles of a window (three rows each; Add: operands) and steps of a kernel tile (columns). Streamed rows are
  // read as one window as wide as the row; of a large window each kernel tile, three columns at most, is streamed by
  // itself.
  typedef struct packed {
    logic        stream;       // windows share columns through the line buffer; else window by window
    logic        tiled;        // and have several kernel tiles, whose sums are added up in a memory
    logic [9:0]  windows;
    logic [6:0]  kernel_tiles;
    logic [1:0]  last_tile;    // kernel tiles side by side, less one (tiled)
    logic [2:0][9:0] steps;    // of each of them
    word_t [2:0] tile_start;   // words from the row's first column to the first one it reads
    word_t       window_step;  // words from one window to the next
    word_t       origin;       // first word of the first window, wraps when it lies left of the row
    logic [1:0]  stride_mod3;
    addr_t [3:0] slots;        // of the first tile's rows top_row .. top_row + 3
  } vec_plan_t;

  // One step through the pipeline: a window column by column (stream: a whole window), or one operand of an addition.
  typedef struct packed {
    logic          valid;
    logic          first;     // the accumulator starts anew
    logic          last;      // the accumulator becomes a result
    logic          swap;      // parameters in the shadow registers become current
    logic          swap_weights;  // the weights there, too
    logic          add_kept;  // tiled: what the kernel tiles before came to is added
    logic          keep;      // tiled: the sum is kept for the next kernel tile
    logic [SumAw-1:0] place;  // of that sum
    kind_e         kind;
    logic          stream;
    logic [1:0]    operand;   // Add: which one
    element_kind_e element;
    logic          pair;      // Add: the second operand too
    logic          look_up;   // results go through the table
    logic          second;    // in the second one
    logic [1:0]    left;      // line buffer column of the window's left column
    logic [2:0]    off_map;   // window columns outside the map
    logic [2:0]    columns;   // window columns that exist
    logic [2:0]    rows;      // rows of the kernel that exist (stream)
    logic [7:0]    pad_value;
  } vec_token_t;

  // A column on its way into the line buffer. Bit r belongs to row r.
  typedef struct packed {
    logic       valid;
    logic [1:0] column;   // of the line buffer
    logic [2:0] off_map;  // cells outside the map
    logic [2:0] missing;  // rows beyond the kernel
    logic [7:0] pad_value;
    logic [7:0] neutral;  // value that does not change the result
  } vec_push_t;

  // Where a ZSB word goes: one lane's shadow, all lanes', an operand of Add, or the table.
  typedef enum logic [1:0] {
    ToLane,
    ToAll,
    ToOperand,
    ToTable
  } param_dest_e;

  function automatic word_t word_sub(word_t a, word_t b);
    logic borrow;
    borrow = a.mod < b.mod;
    return '{div: a.div - b.div - 14'(borrow), mod: a.mod - b.mod + (borrow ? 4'd9 : 4'd0)};
  endfunction

  // The slot two rows further down, in the time of one: whether that is the first one again is known without the sum
  function automatic addr_t slot_after_next(ring_t ring, addr_t slot);
    addr_t       apart;
    logic [14:0] carry;
    apart = slot ^ ring.size;
    carry = 15'((slot & ring.size) | (apart & ~ring.last));  // of slot + size, were it the last slot
    if (slot == ring.last) return next_slot(ring, ring.first);
    return ((apart ^ ring.last) == {carry, 1'b0}) ? ring.first : slot + {ring.size[14:0], 1'b0};
  endfunction

  // Cells that a kernel does not have must not change the result: least value for a maximum, 0 for a sum.
  function automatic logic [7:0] neutral_value(kind_e kind);
    return (kind == KindMaximum) ? 8'h80 : 8'h00;
  endfunction

endpackage
