// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Rows leave LOAD for SB and VB: a skid buffer of requests and their words, so that no grant of a bank reaches further
// back in its own cycle. Each buffer accepts on its own: *_valid_o and what belongs to it stay until *_grant_i; the
// next request follows when all buffers that this one goes to have it.
module kt_load_output
  import kt_pkg::*;
#(
  parameter int unsigned Cp = 4,
  parameter int unsigned Lw = 4  // words of a request
) (
  input  logic            clk_i,
  input  logic            rst_ni,
  // in
  input  logic            valid_i,
  output logic            ready_o,
  input  logic            to_sb_i,
  input  logic            to_vb_i,
  input  logic            last_i,      // of its command
  input  bank_req_t       sb_req_i[Lw],
  input  bank_req_t       vb_req_i[Lw],
  input  logic [Cp*8-1:0] word_i[Lw],
  // SB and VB
  output logic            sb_valid_o,
  input  logic            sb_grant_i,
  output bank_req_t       sb_req_o[Lw],
  output logic            vb_valid_o,
  input  logic            vb_grant_i,
  output bank_req_t       vb_req_o[Lw],
  output logic [Cp*8-1:0] word_o[Lw],
  output logic            empty_o,
  output logic            done_o       // a command's last request is written
);

  // at the outputs; and behind them (skid), while what is there waits. Arrays move whole, for the simulation.
  logic            out_valid_q, to_sb_q, to_vb_q, last_q, out_ready, free;
  logic            skid_valid_q, skid_to_sb_q, skid_to_vb_q, skid_last_q;
  bank_req_t       skid_sb_req_q[Lw], skid_vb_req_q[Lw];
  logic [Cp*8-1:0] skid_word_q[Lw];
  logic            sb_done_q, vb_done_q, sb_ok, vb_ok;

  assign ready_o = !skid_valid_q;
  assign free    = !out_valid_q || out_ready;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      out_valid_q  <= 1'b0;
      skid_valid_q <= 1'b0;
    end else if (free) begin
      out_valid_q  <= skid_valid_q || valid_i;
      skid_valid_q <= 1'b0;
    end else if (valid_i) begin
      skid_valid_q <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (free && skid_valid_q) begin
      to_sb_q  <= skid_to_sb_q;
      to_vb_q  <= skid_to_vb_q;
      last_q   <= skid_last_q;
      sb_req_o <= skid_sb_req_q;
      vb_req_o <= skid_vb_req_q;
      word_o   <= skid_word_q;
    end else if (free && valid_i) begin
      to_sb_q  <= to_sb_i;
      to_vb_q  <= to_vb_i;
      last_q   <= last_i;
      sb_req_o <= sb_req_i;
      vb_req_o <= vb_req_i;
      word_o   <= word_i;
    end
    if (!free && valid_i && !skid_valid_q) begin
      skid_to_sb_q  <= to_sb_i;
      skid_to_vb_q  <= to_vb_i;
      skid_last_q   <= last_i;
      skid_sb_req_q <= sb_req_i;
      skid_vb_req_q <= vb_req_i;
      skid_word_q   <= word_i;
    end
  end

  assign sb_valid_o = out_valid_q && to_sb_q && !sb_done_q;
  assign vb_valid_o = out_valid_q && to_vb_q && !vb_done_q;
  assign sb_ok      = !sb_valid_o || sb_grant_i;
  assign vb_ok      = !vb_valid_o || vb_grant_i;
  assign out_ready  = sb_ok && vb_ok;
  assign empty_o    = !out_valid_q;
  assign done_o     = out_valid_q && out_ready && last_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      sb_done_q <= 1'b0;
      vb_done_q <= 1'b0;
    end else if (out_valid_q) begin
      sb_done_q <= !out_ready && (sb_done_q || (sb_valid_o && sb_grant_i));
      vb_done_q <= !out_ready && (vb_done_q || (vb_valid_o && vb_grant_i));
    end
  end

endmodule
