// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Between the AXI masters and the port: on a halt the bus comes to rest by itself, whatever the design behind is doing,
// so that a reset can cut off masters and engines in the middle of anything (kt_control).
//
//   halt_i low    handshakes pass through, nothing is added or delayed
//   halt_i high   no new address passes; what was offered stays offered until it is taken; read beats are swallowed;
//                 write bursts whose address or first beat was offered are completed: a memory may wait for either
//                 before it takes the other. kt_axi_wr has all data of such a burst.
//   idle_o        nothing is outstanding or offered; with halt_i high it then stays so
//
// Once high, halt_i stays high until the masters have been reset. This block is not reset with them.
module kt_axi_gate (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic halt_i,
  output logic idle_o,
  // masters
  input  logic m_ar_valid_i,
  output logic m_ar_ready_o,
  output logic m_r_valid_o,
  input  logic m_r_ready_i,
  input  logic m_aw_valid_i,
  output logic m_aw_ready_o,
  input  logic m_w_valid_i,
  output logic m_w_ready_o,
  input  logic m_w_last_i,
  output logic m_b_valid_o,
  input  logic m_b_ready_i,
  // port
  output logic ar_valid_o,
  input  logic ar_ready_i,
  input  logic r_valid_i,
  output logic r_ready_o,
  input  logic r_last_i,
  output logic aw_valid_o,
  input  logic aw_ready_i,
  output logic w_valid_o,
  input  logic w_ready_i,
  input  logic b_valid_i,
  output logic b_ready_o
);

  // More than the masters together have outstanding
  localparam int unsigned CountW = 6;
  typedef logic [CountW-1:0] count_t;

  count_t reads_q;     // addresses taken, last beat not
  count_t writes_q;    // addresses taken, response not
  count_t owed_q;      // write addresses taken before their burst's last beat; negative (two's complement): after it
  logic   ar_held_q, aw_held_q, w_held_q;  // offered, not taken
  logic   inside_q;    // some beats of a write burst were taken, the last one was not
  logic   pass_ar, pass_aw, pass_w, ahead;
  logic   ar, aw, w, r_end, b;

  // Write data are ahead of their address: bursts were begun whose address was not taken.
  assign ahead = owed_q[CountW-1] || (owed_q == '0 && (inside_q || w_held_q));

  assign pass_ar = !halt_i || ar_held_q;
  assign pass_aw = !halt_i || aw_held_q || ahead;
  assign pass_w  = !halt_i || w_held_q || inside_q || (!owed_q[CountW-1] && owed_q != '0)
                || (aw_held_q && owed_q == '0);

  assign ar_valid_o   = m_ar_valid_i && pass_ar;
  assign m_ar_ready_o = ar_ready_i && pass_ar;
  assign aw_valid_o   = m_aw_valid_i && pass_aw;
  assign m_aw_ready_o = aw_ready_i && pass_aw;
  assign w_valid_o    = m_w_valid_i && pass_w;
  assign m_w_ready_o  = w_ready_i && pass_w;
  assign m_r_valid_o  = r_valid_i && !halt_i;
  assign r_ready_o    = m_r_ready_i || halt_i;
  assign m_b_valid_o  = b_valid_i;
  assign b_ready_o    = m_b_ready_i || halt_i;

  assign ar    = ar_valid_o && ar_ready_i;
  assign aw    = aw_valid_o && aw_ready_i;
  assign w     = w_valid_o && w_ready_i;
  assign r_end = r_valid_i && r_ready_o && r_last_i;
  assign b     = b_valid_i && b_ready_o;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      reads_q   <= '0;
      writes_q  <= '0;
      owed_q    <= '0;
      ar_held_q <= 1'b0;
      aw_held_q <= 1'b0;
      w_held_q  <= 1'b0;
      inside_q  <= 1'b0;
    end else begin
      if (ar != r_end) reads_q <= ar ? reads_q + 1'b1 : reads_q - 1'b1;
      if (aw != b) writes_q <= aw ? writes_q + 1'b1 : writes_q - 1'b1;
      if (aw != (w && m_w_last_i)) owed_q <= aw ? owed_q + 1'b1 : owed_q - 1'b1;
      ar_held_q <= ar_valid_o && !ar_ready_i;
      aw_held_q <= aw_valid_o && !aw_ready_i;
      w_held_q  <= w_valid_o && !w_ready_i;
      if (w) inside_q <= !m_w_last_i;
    end
  end

  assign idle_o = reads_q == '0 && writes_q == '0 && owed_q == '0 && !inside_q && !ar_held_q && !aw_held_q && !w_held_q;

endmodule
