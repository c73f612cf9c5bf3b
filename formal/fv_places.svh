// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

  // Included inside a harness of the vector engine: the sum of two places counted in words of nine banks, and the slot below one
  // in its ring.
  function automatic word_t plus(word_t a, word_t b);
    automatic logic [4:0] mod = 5'(a.mod) + 5'(b.mod);
    return '{div: a.div + b.div + 14'(mod / 5'd9), mod: 4'(mod % 5'd9)};
  endfunction
  function automatic addr_t below(ring_t ring, addr_t slot);
    return (slot == ring.last) ? ring.first : slot + ring.size;
  endfunction
