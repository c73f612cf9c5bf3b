// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What a command computes, in whole numbers: the rules of docs/compiler/numerics.md with magnitudes, halves and divisions, no
// pipeline, no width to save. Proofs compare blocks with it; tests/formal/spec_test.cpp compares it with the reference executor.
package kt_spec_pkg;
  import kt_cmd_pkg::*;
  import kt_pkg::*;

  typedef logic signed [63:0] whole_t;
  typedef logic [63:0]        size_t;

  // How a result is rounded and stored.
  typedef struct packed {
    logic [1:0]        rule;
    logic signed [7:0] zero, low, high;
  } store_t;

  function automatic size_t abs(whole_t x);
    return (x < 0) ? size_t'(-x) : size_t'(x);
  endfunction

  function automatic whole_t signed_as(whole_t x, size_t size);
    return (x < 0) ? -whole_t'(size) : whole_t'(size);
  endfunction

  // size / 2^n to the nearest whole number, halves away from zero or to even
  function automatic size_t nearest(size_t size, logic [5:0] n, logic even);
    size_t q, rest, half;
    q    = size >> n;
    rest = size & ((size_t'(1) << n) - 1'b1);
    half = (size_t'(1) << n) >> 1;
    return q + size_t'((n != '0) && (rest > half || (rest == half && (!even || q[0]))));
  endfunction

  // to 24 significant bits, halves to even
  function automatic size_t significant(size_t size);
    significant = size;
    for (int unsigned n = 1; n < 39; n++) begin
      if (size[n+23] && (size >> (n + 24)) == '0) significant = nearest(size, 6'(n), 1'b1) << n;
    end
  endfunction

  // ---- requantisation of a sum by a word of parameters
  // what is multiplied
  function automatic whole_t factor(logic [1:0] rule, logic signed [31:0] acc, requant_params_t word);
    whole_t sum;
    sum = whole_t'(acc) + whole_t'(word.bias);
    if (rule == RuleAverage) return 2 * whole_t'(abs(whole_t'(acc))) + whole_t'(word.bias);
    if (rule == RuleFloat) sum = signed_as(sum, significant(abs(sum)));
    return (word.shift < 0) ? sum : sum <<< word.shift[4:0];
  endfunction

  // the product's way to what is stored
  function automatic whole_t rounded(logic [1:0] rule, whole_t p, logic signed [31:0] acc, requant_params_t word);
    logic [5:0] right;
    whole_t     nudged;
    right = (word.shift < 0) ? 6'(-word.shift) : 6'd0;
    unique case (rule)
      RuleDouble: begin  // TensorFlow Lite: a nudge, then the division of C, which cuts towards zero
        nudged = p + ((p >= 0) ? whole_t'(2 ** 30) : whole_t'(1 - 2 ** 30));
        nudged = signed_as(nudged, abs(nudged) >> 31);
        return signed_as(nudged, nearest(abs(nudged), right, 1'b0));
      end
      RuleSingle:  return signed_as(p, nearest(abs(p), 6'd31 + right, 1'b0));
      RuleAverage: return signed_as(whole_t'(acc), size_t'(p) >> (6'd31 + right));
      default:     return signed_as(p, nearest(significant(abs(p)), 6'd31 + right, 1'b1));
    endcase
  endfunction

  function automatic logic signed [7:0] stored(whole_t y, store_t store);
    whole_t z;
    z = y + whole_t'(store.zero);
    if (z < whole_t'(store.low)) return store.low;
    if (z > whole_t'(store.high)) return store.high;
    return 8'(z);
  endfunction

  // with the product between them, which no solver multiplies out
  function automatic whole_t product(logic [1:0] rule, logic signed [31:0] acc, requant_params_t word);
    return factor(rule, acc, word) * whole_t'(word.mult);
  endfunction

  function automatic logic signed [7:0] requantised(logic signed [31:0] acc, requant_params_t word, store_t store);
    return stored(rounded(store.rule, product(store.rule, acc, word), acc, word), store);
  endfunction

  // ---- operators
  // an operand of an addition: its distance from the zero point, -bias, times 2^20, through its factor
  function automatic logic signed [31:0] operand(logic signed [7:0] a, requant_params_t word);
    requant_params_t scale;
    whole_t          x;
    scale      = word;
    scale.bias = '0;
    x          = (whole_t'(a) + whole_t'(word.bias)) <<< 20;
    return 32'(rounded(RuleDouble, product(RuleDouble, 32'(x), scale), 32'(x), scale));
  endfunction

  // sum, or difference, of two of them
  function automatic logic signed [7:0] added(logic signed [7:0] a, logic signed [7:0] b, requant_params_t word_a,
                                              requant_params_t word_b, logic subtract, requant_params_t word,
                                              store_t store);
    logic signed [31:0] second;
    second = operand(b, word_b);
    return requantised(operand(a, word_a) + (subtract ? -second : second), word, store);
  endfunction

  // product of two distances from zero points
  function automatic logic signed [7:0] multiplied(logic signed [7:0] a, logic signed [7:0] b,
                                                   requant_params_t word_a, requant_params_t word_b,
                                                   requant_params_t word, store_t store);
    return requantised((32'(a) + word_a.bias) * (32'(b) + word_b.bias), word, store);
  endfunction
endpackage
