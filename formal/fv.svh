// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Property vocabulary, valid in a scope that has clk_i and rst_ni. Nothing is claimed while in reset.
//   proof       combinational: no step is lost to sampling, so an invariant is inductive at depth 1
//   simulation  (Verilator --assert) sampled on the clock
// History goes into named registers, not into $past. `name` appears in logs and traces: a_ claims, m_ assumptions about
// the environment, i_ invariants that only help induction, c_ covers.
`ifndef FV_SVH
`define FV_SVH
`ifdef FORMAL
`define FV_ASSERT(name, expr) always_comb if (rst_ni) begin name : assert (expr); end
`define FV_ASSUME(name, expr) always_comb begin name : assume (expr); end
`define FV_COVER(name, expr) always_comb if (rst_ni) begin name : cover (expr); end
`else
`define FV_ASSERT(name, expr) always_ff @(posedge clk_i) if (rst_ni) begin name : assert (expr); end
`define FV_ASSUME(name, expr)
`define FV_COVER(name, expr) always_ff @(posedge clk_i) if (rst_ni) begin name : cover (expr); end
`endif
`endif
