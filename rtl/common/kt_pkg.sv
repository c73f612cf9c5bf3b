// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Types and helpers shared by all blocks: positions in words, rings of rows, requests to the banks of a streaming
// buffer, requantisation parameters, where results go.
package kt_pkg;

  import kt_cmd_pkg::*;

  // Address inside a bank, a row of WB, a word of a ZSB: as wide as the largest memory.
  typedef logic [15:0] addr_t;

  // Number of a command in its program; used by error reports and by the watchers of the test bench.
  typedef logic [23:0] index_t;

  // What extend_conv says of the command after it; 0 without one.
  typedef struct packed {
    addr_t      first;        // WB row of the first resident pass
    addr_t      pitch;        // rows from a kernel tile to the next
    logic [9:0] passes;       // of a kernel tile that are resident
    logic [3:0] last_groups;  // of its last pass that exist, 0: all
    logic       look_up;      // results go through a table
    addr_t      table_word;   // its first ZSB word
  } extension_t;

  // ZSB words of a table of 256 bytes, eight in each.
  localparam int unsigned TableWords = 32;

  // A command as its queue offers it to its engine. The bits of the body are those of its operation in kt_cmd_pkg.
  typedef struct packed {
    index_t              index;
    logic [3:0]          op;
    logic [BodyBits-1:0] body;
  } command_t;

  // What LOAD and STORE report of a command: pulses, and which command it is.
  typedef struct packed {
    logic       bus;      // a beat of it came with an error, or a burst of it was answered with one
    logic       illegal;  // it takes more or fewer bytes than it asks for
    logic       corrupt;  // its compressed row `row` is corrupt
    index_t     index;
    logic [9:0] row;
  } engine_error_t;

  // A position inside a tensor row, counted in words of CP channels: word = 9 * div + mod.
  // Rows are dense, so `div` is the address inside the row's slot and `mod` decides the bank.
  typedef struct packed {
    logic [13:0] div;
    logic [3:0]  mod;  // 0..8
  } word_t;

  function automatic word_t word_of(cmd_word_t w);
    return '{div: 14'(w.div), mod: w.mod};
  endfunction

  function automatic word_t few_words(logic [3:0] n);  // 0..8
    return '{div: '0, mod: n};
  endfunction

  // Small sums modulo 9 and 3. Simulators compute them by arithmetic; hardware bit by bit, as synthesis makes a chain of
  // carries of each sum and comparison, and memories of tables.

  // {a + b >= 9, (a + b) mod 9} for a, b in 0..8
  function automatic logic [4:0] sum9(logic [3:0] a, logic [3:0] b);
    logic [4:0] m;
`ifdef KT_FAST_SIM
    m = 5'(a) + 5'(b);
    return (m >= 5'd9) ? m + 5'd7 : m;
`else
    logic carry;
    carry = 1'b0;
    for (int i = 0; i < 4; i++) begin
      m[i]  = a[i] ^ b[i] ^ carry;
      carry = (a[i] && b[i]) || (carry && (a[i] ^ b[i]));
    end
    m[4] = carry;
    // less 9: one less in three bits, as the result is 7 at most
    if (m[4] || (m[3] && m[2:0] != '0)) return {2'b10, m[2] ^ (m[1:0] == '0), m[1] ^ !m[0], !m[0]};
    return {1'b0, m[3:0]};
`endif
  endfunction

  // (a + b) mod 9 for a, b in 0..8
  function automatic logic [3:0] add9(logic [3:0] a, logic [3:0] b);
    return 4'(sum9(a, b));
  endfunction

  function automatic word_t word_add(word_t a, word_t b);
    logic       carry;
    logic [3:0] mod;
    {carry, mod} = sum9(a.mod, b.mod);
    return '{div: a.div + b.div + 14'(carry), mod: mod};
  endfunction

  // (a + b) mod 3 for a in 0..2, b in 0..3
  function automatic logic [1:0] add3(logic [1:0] a, logic [1:0] b);
`ifdef KT_FAST_SIM
    logic [2:0] m;
    m = 3'(a) + 3'(b);
    return (m >= 3'd3) ? 2'(m - 3'd3) : 2'(m);
`else
    logic a0, b0;
    a0 = a == 2'd0;
    b0 = b == 2'd0 || b == 2'd3;
    return {(a[1] && b0) || (a0 && b == 2'd2) || (a[0] && b == 2'd1),
            (a[0] && b0) || (a0 && b == 2'd1) || (a[1] && b == 2'd2)};
`endif
  endfunction

  // Bank offset of a row: 3r mod 9 from r mod 3
  function automatic logic [3:0] row_bank(logic [1:0] row_mod3);
    return {1'b0, row_mod3, 1'b0} + {2'b0, row_mod3};
  endfunction

  // Rows live in a ring of slots; `first` and `last` are the addresses of its first and last slot.
  typedef struct packed {
    addr_t first;
    addr_t last;
    addr_t size;  // addresses of a slot: ceil(columns * P / 9)
  } ring_t;

  function automatic addr_t next_slot(ring_t ring, addr_t slot);
    return (slot == ring.last) ? ring.first : slot + ring.size;
  endfunction

  // A product of counts for a request whose byte count has `bits` bits: rows that long do not exist, but what is left
  // of one that a wrong command names must not be a request of no bytes.
  function automatic logic [24:0] some_bytes(logic [24:0] product, int unsigned bits);
    return product | 25'((product >> bits) != '0);
  endfunction

  // One access to a bank of a streaming buffer. Accesses that are enabled at a time name different banks.
  typedef struct packed {
    logic       en;
    logic [3:0] bank;
    addr_t      addr;
  } bank_req_t;

  // Combinational logic whose result is looked at in few cycles rests in the others where simulators are fast; hardware
  // would wait for the condition.
`ifdef KT_FAST_SIM
  localparam bit Rests = 1;
`else
  localparam bit Rests = 0;
`endif

  // Where word i of row r lies: in bank (i + 3r) mod 9, at the row's slot + i div 9. `bank_offset` is row_bank(r mod
  // 3).
  function automatic bank_req_t bank_req(logic en, addr_t slot, logic [3:0] bank_offset, word_t word);
    return '{en: en, bank: add9(word.mod, bank_offset), addr: slot + addr_t'(word.div)};
  endfunction

  // The same for the word `more` words behind it; no sum waits for another one's end.
  function automatic bank_req_t bank_req_behind(logic en, addr_t slot, logic [3:0] bank_offset, word_t word,
                                                word_t more);
    logic       carry;
    logic [3:0] mod;
    {carry, mod} = sum9(word.mod, more.mod);
    return '{en: en, bank: add9(mod, bank_offset), addr: slot + addr_t'(word.div) + addr_t'(more.div) + addr_t'(carry)};
  endfunction

  // Requantisation of one output channel, one ZSB word; in memory nine bytes, little endian, in this order.
  typedef struct packed {
    logic signed [7:0]  shift;  // e of multiplier * 2^(e - 31): positive left, negative right
    logic signed [31:0] mult;   // 0 or 2^30 .. 2^31 - 1
    logic signed [31:0] bias;
  } requant_params_t;

  // How results are stored: rounded by `rule`, plus `zero`, clamped. Per command, travels with the parameters.
  typedef struct packed {
    logic signed [7:0] zero;
    logic signed [7:0] low;
    logic signed [7:0] high;
    logic [1:0]        rule;  // rounding_e
  } out_quant_t;

  // Where the results of a CONV or VECTOR command go. Results come in the order tile, row, column.
  typedef struct packed {
    logic [9:0] columns;
    logic [9:0] rows;
    logic [9:0] tiles;
    logic [9:0] groups;    // words that exist in a pixel (G); words beyond them are dropped
    logic [9:0] group;     // first word of the first tile ...
    word_t      first;     // ... and the same number as a position
    word_t      pixel;     // words from one pixel to the next (P)
    logic [1:0] row_mod3;  // first row mod 3
    ring_t      sb_ring;
    addr_t      sb_slot;   // slot of the first row
    ring_t      vb_ring;
    addr_t      vb_slot;
    logic       to_sb;
    logic       to_vb;
    logic       to_store;
    logic       two;       // neighbouring columns come as one result
    index_t     index;
  } out_cmd_t;

  // Every result word, seen by the test bench where it leaves the output FIFO: counters run down to 0.
  typedef struct packed {
    logic       two;      // and the next column's
    logic       valid;
    index_t     index;    // command
    logic [9:0] columns;  // left after this one
    logic [9:0] rows;
    logic [9:0] tiles;
  } watch_t;

endpackage
