// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Settings of the switches that move the marked lanes of a beat side by side (kt_zvc_switches), and how many there are.
// How many each byte of the mask has comes with it: a stage earlier there is time for these sums.
//
// Marked lane i goes to lane (base_i + marked lanes below i) mod Lanes. Stage s has Lanes / 2 switches; the one of
// lanes l and l + 2^s of a block of 2^(s+1) lanes crosses them where route_o[s] has ones at both. Packing goes through
// the stages upwards, so before stage s the marked lanes of each half block already stand in the order of their
// destinations mod 2^s. With q the destination of the first marked lane of the upper half, those of the lower half have
// the numbers below q: the lane l they meet on is crossed when bit s of the number that ends in l is set, and that is
// bit s of q, inverted from l = q mod 2^s on. So a stage needs nothing but the prefix sums in the middle of its blocks,
// s + 1 bits of each, and no two marked lanes ever want the same output.
module kt_zvc_routes #(
  parameter int unsigned Lanes  = 16,  // power of two
  localparam int unsigned LaneW  = $clog2(Lanes),
  localparam int unsigned CountW = $clog2(Lanes + 1),
  localparam int unsigned Byte   = (Lanes < 8) ? Lanes : 8,
  localparam int unsigned Bytes  = Lanes / Byte
) (
  input  logic                          en_i,    // low: the outputs are anything (idle, for the simulation)
  input  logic [Lanes-1:0]              mask_i,
  input  logic [3:0]                    ones_i [Bytes],  // of each byte of the mask
  input  logic [LaneW-1:0]              base_i,
  output logic [LaneW-1:0][Lanes-1:0] route_o,
  output logic [CountW-1:0]             kept_o
);

  if (Lanes < 2 || Lanes != 1 << LaneW) begin : gen_check
    $error("kt_zvc_routes: Lanes must be a power of two");
  end

  // A prefix network over the bytes of the mask, and short sums inside a byte.
  logic [CountW-1:0] below[Bytes];  // marked lanes in this byte and those below it
  logic [LaneW-1:0]  first[Bytes];  // destination of the byte's first marked lane

  always_comb begin
    route_o = 'x;
    kept_o  = 'x;
    below   = '{default: 'x};
    first   = '{default: 'x};
    if (en_i) begin
      for (int unsigned b = 0; b < Bytes; b++) below[b] = CountW'(ones_i[b]);
      for (int unsigned level = 0; Bytes >> level > 1; level++) begin
        for (int unsigned b = 0; b < Bytes; b++) begin
          if (((b >> level) & 1) == 1) below[b] = below[b] + below[((b>>level)<<level)-1];
        end
      end
      first[0] = base_i;
      for (int unsigned b = 1; b < Bytes; b++) first[b] = base_i + LaneW'(below[b-1]);
      kept_o = below[Bytes-1];

      for (int unsigned s = 0; s < LaneW; s++) begin
        automatic logic [Lanes-1:0] ones = ~(~Lanes'(0) << (1 << s));  // the switches of a block
        automatic logic [LaneW-1:0] low  = LaneW'((1 << s) - 1);
        automatic logic [Lanes-1:0] all  = '0;
        for (int unsigned block = 0; block < (Lanes >> (s + 1)); block++) begin
          automatic int unsigned        middle = (2 * block + 1) << s;
          automatic logic [Byte-1:0]    lower  = mask_i[(middle/Byte)*Byte+:Byte] & Byte'((1 << (middle % Byte)) - 1);
          automatic logic [LaneW-1:0]   q      = first[middle/Byte] + LaneW'($countones(lower));
          automatic logic [Lanes-1:0]   from   = ones & (ones << (q & low));
          automatic logic [Lanes-1:0]   route  = q[s] ? from ^ ones : from;
          all = all | ((route | route << (1 << s)) << (block << (s + 1)));
        end
        route_o[s] = all;
      end
    end
  end

endmodule
