# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""What stands between Kaiten's memory port and a memory: a window that answers for addresses outside of it, and a bridge to
Wishbone that keeps identifiers and errors. Both take what Kaiten sends: INCR bursts of whole aligned beats inside 4 KiB."""
from migen import If, Mux, Signal

from litex.gen import LiteXModule
from litex.soc.interconnect.axi import RESP_DECERR, RESP_OKAY, RESP_SLVERR
from migen.genlib.fsm import FSM, NextState, NextValue

PAGE = 4096  # no burst crosses a multiple of it


def _forward(source, sink, gate=1):
    """The payload of an AXI channel, and its handshake where `gate` is 1."""
    payload = [getattr(sink, name).eq(getattr(source, name)) for name in ("addr", "len", "size", "burst", "cache", "id", "data", "strb", "resp")
               if hasattr(sink, name) and hasattr(source, name)]
    return [*payload, sink.last.eq(source.last), sink.valid.eq(source.valid & gate), source.ready.eq(sink.ready & gate)]


class AXIWindow(LiteXModule):
    """Lets bursts pass whose address is in [origin, origin + size); answers the others itself with DECERR, in their turn, so that
    a wrong address ends a program with an error and neither hangs the bus nor wraps around. Both ends are AXIInterface; `master`
    may have more address bits."""

    def __init__(self, master, slave, origin, size):
        if origin % PAGE or size % PAGE or size <= 0:
            raise ValueError(f"window of 0x{size:x} bytes at 0x{origin:x}: both must be multiples of {PAGE}")
        inside = lambda address: (address >= origin) & (address < origin + size)

        # Reads: an outside burst waits until all earlier ones are answered.
        reads = Signal(8)  # passed, last beat not yet back
        begun, ended = Signal(), Signal()
        left, identifier = Signal(8), Signal(len(master.ar.id))
        self.comb += [begun.eq(slave.ar.valid & slave.ar.ready), ended.eq(slave.r.valid & slave.r.ready & slave.r.last)]
        self.sync += reads.eq(reads + begun - ended)
        self.read = read = FSM(reset_state="PASS")
        read.act("PASS",
            *_forward(master.ar, slave.ar, inside(master.ar.addr) & (reads != 255)),
            *_forward(slave.r, master.r),
            If(master.ar.valid & ~inside(master.ar.addr) & (reads == 0),
                master.ar.ready.eq(1),
                NextValue(left, master.ar.len),
                NextValue(identifier, master.ar.id),
                NextState("REFUSE"),
            ))
        read.act("REFUSE",
            master.r.valid.eq(1),
            master.r.resp.eq(RESP_DECERR),
            master.r.id.eq(identifier),
            master.r.last.eq(left == 0),
            If(master.r.ready,
                NextValue(left, left - 1),
                If(left == 0, NextState("PASS")),
            ))

        # Writes: data pass once the window knows the address that they belong to.
        writes, owed = Signal(8), Signal(8)  # passed and not answered; of these, data not complete
        accepted, complete, answered = Signal(), Signal(), Signal()
        name = Signal(len(master.aw.id))
        self.comb += [
            accepted.eq(slave.aw.valid & slave.aw.ready),
            complete.eq(slave.w.valid & slave.w.ready & slave.w.last),
            answered.eq(slave.b.valid & slave.b.ready),
        ]
        self.write = write = FSM(reset_state="PASS")
        # The data of the offered address may pass before it does, all of them even: then `early` until the address is taken.
        early, here = Signal(), Signal()
        first = Signal()  # no address before the offered one waits for data
        self.comb += [first.eq((owed == 0) & ~early), here.eq(first & master.aw.valid & inside(master.aw.addr))]
        self.sync += [
            writes.eq(writes + accepted - answered),
            owed.eq(owed + (accepted & ~early) - (complete & ~(first & ~accepted))),
            If(accepted, early.eq(0)).Elif(complete & first, early.eq(1)),
        ]
        write.act("PASS",
            *_forward(master.aw, slave.aw, inside(master.aw.addr) & (writes != 255)),
            *_forward(master.w, slave.w, (owed != 0) | here),
            *_forward(slave.b, master.b),
            If(master.aw.valid & ~inside(master.aw.addr) & (writes == 0),
                master.aw.ready.eq(1),
                NextValue(name, master.aw.id),
                NextState("SWALLOW"),
            ))
        write.act("SWALLOW",
            master.w.ready.eq(1),
            If(master.w.valid & master.w.last, NextState("REFUSE")))
        write.act("REFUSE",
            master.b.valid.eq(1),
            master.b.resp.eq(RESP_DECERR),
            master.b.id.eq(name),
            If(master.b.ready, NextState("PASS")))


class AXI2WishboneBursts(LiteXModule):
    """AXI to Wishbone of the same width, a burst at a time, reads and writes in turn. The next word is asked for while the last
    one is handed over; ERR becomes SLVERR; RID and BID are those of the burst."""

    def __init__(self, axi, wishbone):
        if axi.data_width != wishbone.data_width or wishbone.addressing != "word":
            raise ValueError(f"AXI of {axi.data_width} bits, Wishbone of {wishbone.data_width} addressed by the {wishbone.addressing}")
        shift = (axi.data_width // 8).bit_length() - 1
        address = Signal(len(wishbone.adr))
        left = Signal(9)  # beats to ask for
        identifier = Signal(len(axi.ar.id))
        wrote = Signal()  # the last burst was a write
        failed = Signal()
        full = Signal()  # a word waits to be taken
        read = Signal()
        self.comb += [
            read.eq(axi.ar.valid & (wrote | ~axi.aw.valid)),
            wishbone.adr.eq(address),
            wishbone.dat_w.eq(axi.w.data),
            axi.r.id.eq(identifier),
            axi.b.id.eq(identifier),
            axi.b.resp.eq(Mux(failed, RESP_SLVERR, RESP_OKAY)),
        ]
        done = Signal()  # of a Wishbone access
        self.comb += done.eq(wishbone.stb & (wishbone.ack | wishbone.err))
        self.fsm = fsm = FSM(reset_state="IDLE")
        fsm.act("IDLE",
            NextValue(failed, 0),
            If(read,
                axi.ar.ready.eq(1),
                NextValue(address, axi.ar.addr[shift:]),
                NextValue(left, axi.ar.len + 1),
                NextValue(identifier, axi.ar.id),
                NextValue(wrote, 0),
                NextState("READ"),
            ).Elif(axi.aw.valid,
                axi.aw.ready.eq(1),
                NextValue(address, axi.aw.addr[shift:]),
                NextValue(identifier, axi.aw.id),
                NextValue(wrote, 1),
                NextState("WRITE"),
            ))
        fsm.act("READ",
            # Once begun, an access goes on to its end: `full` cannot rise before.
            wishbone.stb.eq((left != 0) & (~full | axi.r.ready)),
            wishbone.cyc.eq(wishbone.stb),
            wishbone.sel.eq(2**len(wishbone.sel) - 1),
            axi.r.valid.eq(full),
            If(done,
                NextValue(address, address + 1),
                NextValue(left, left - 1),
                NextValue(axi.r.data, wishbone.dat_r),
                NextValue(axi.r.resp, Mux(wishbone.err, RESP_SLVERR, RESP_OKAY)),
                NextValue(axi.r.last, left == 1),
                NextValue(full, 1),
            ).Elif(axi.r.ready,
                NextValue(full, 0),
            ),
            If(full & axi.r.ready & axi.r.last, NextState("IDLE")))
        fsm.act("WRITE",
            wishbone.stb.eq(axi.w.valid),
            wishbone.cyc.eq(axi.w.valid),
            wishbone.we.eq(1),
            wishbone.sel.eq(axi.w.strb),
            axi.w.ready.eq(done),
            If(done,
                NextValue(address, address + 1),
                NextValue(failed, failed | wishbone.err),
                If(axi.w.last, NextState("ANSWER")),
            ))
        fsm.act("ANSWER",
            axi.b.valid.eq(1),
            If(axi.b.ready, NextState("IDLE")))
