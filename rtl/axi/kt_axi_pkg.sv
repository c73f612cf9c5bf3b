// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// AXI4 as the bus masters and their port use it: channels are structs, handshakes stand beside them.
//
// Every burst is INCR, of beats as wide as the bus; only the port knows burst type, size and ID. Structs that carry
// data are as wide as the bus: a module takes them as type parameters, with these fields:
//   r_t  resp, last, data          w_t  last, strb, data
package kt_axi_pkg;

  localparam int unsigned AddrW  = 40;
  localparam int unsigned BytesW = 20;  // byte count of a request

  // AR or AW: address of the first beat, number of beats - 1
  typedef struct packed {
    logic [AddrW-1:0] addr;
    logic [7:0]       len;
  } burst_t;

  // What a client asks of a bus master: any byte address, at least one byte
  typedef struct packed {
    logic [AddrW-1:0]  addr;
    logic [BytesW-1:0] bytes;
  } request_t;

  localparam logic [1:0] BurstIncr = 2'b01;
  localparam logic [1:0] RespOkay  = 2'b00;
  localparam logic [1:0] RespError = 2'b10;  // SLVERR

  // Bus masters, as indices of arrays; a read master's index is its ID
  localparam int unsigned Masters     = 3;
  localparam int unsigned MasterFetch = 0;
  localparam int unsigned MasterLoad  = 1;
  localparam int unsigned MasterStore = 2;

endpackage
