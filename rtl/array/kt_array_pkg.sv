// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Types of the DPE array.
package kt_array_pkg;

  // Control that travels with the activations through the array.
  typedef struct packed {
    logic valid;
    logic swap;   // first pixel of a pass: the shadow weights become current
    logic first;  // first pass: ignore what OB holds
    logic last;   // last pass: the sum goes to the requantiser instead of OB
    logic two;    // two pixels: their sums stay apart
  } token_t;

  // How a pass reads the rows of the map, see kt_conv_kernel_tiles.
  typedef struct packed {
    logic signed [6:0] left;        // column of the map under the left column of a row's first window
    logic        [9:0] more_reads;  // SB reads of a row after the first
    logic              two;         // windows at once
  } pass_row_t;

  // A pass of a tile.
  typedef struct packed {
    logic      last;              // it is the last of its tile ...
    logic      last_row;          // ... of its row of kernel tiles
    logic      last_kernel_tile;  // ... of its kernel tile
    pass_row_t row;
  } pass_t;

  // Weights of a tap of two rows, for one multiplier: as a number, high * 2^n + low with low's sign, is upper * 2^n + lower.
  typedef struct packed {
    logic signed [8:0] high;
    logic signed [7:0] low;
    logic        [2:0] last;  // bits of the upper weight
  } pair_weight_t;

  function automatic pair_weight_t pair_weight(logic signed [7:0] lower, logic signed [7:0] upper);
    return '{high: 9'(upper) - 9'(lower[7]), low: lower, last: upper[2:0]};
  endfunction

  // Bits of a sum of `chain` products of bytes, from -127 * 128 to 128 * 128 each, above those of a number of `shift` bits.
  function automatic int unsigned pair_carry(int unsigned chain, int unsigned shift);
    automatic int unsigned bits = $clog2(chain * (127 * 128 + 128 * 128) + 1);
    return (bits > shift) ? bits - shift : 0;
  endfunction

  // Taps whose products a row adds one after another, a cycle each: as many as suit two pixels at once, and few enough.
  function automatic int unsigned chain_of(int unsigned cp, bit two_pixels);
    if (!two_pixels) return 9;
    return (cp < 8) ? cp : 8;
  endfunction

  // Entries of the FIFO of results: those in flight behind a credit, from the slot to the last lane; a power of two.
  function automatic int unsigned conv_fifo(int unsigned stages, int unsigned chain);
    return 2 ** $clog2(stages + chain + 15);
  endfunction

endpackage
