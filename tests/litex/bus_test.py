# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""fpga/litex: the window and the bridge between a master that sends what Kaiten may send and a Wishbone memory, both with random
pauses. Every beat, identifier, answer and byte is compared. Needs LiteX: scripts/soc.py runs it (KAITEN_SEED chooses the traffic)."""
import itertools
import os
import random
import sys
import unittest

from migen import Module, passive, run_simulation

from litex.soc.integration import builder  # noqa: F401: LiteX imports in a circle otherwise
from litex.soc.interconnect import axi, stream, wishbone

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../fpga/litex"))
from kaiten_litex import AXI2WishboneBursts, AXIWindow

BYTES = 16
ORIGIN, SIZE = 0x2000, 0x4000
ERRORS = 0x4000  # in this page some words are answered with ERR
OKAY, SLVERR, DECERR = 0, 2, 3
SEED = int(os.environ.get("KAITEN_SEED", "1"))


class Path(Module):
    """Window and bridge; the memory is a generator.
      queued   data of writes wait in a queue between the two, before their addresses or behind them
      litex    in place of the bridge what LiteX puts before a bus of 32 bits"""

    def __init__(self, way=""):
        self.master = axi.AXIInterface(data_width=8 * BYTES, address_width=40, id_width=1)
        inside = axi.AXIInterface(data_width=8 * BYTES, address_width=32, id_width=1)
        self.bus = wishbone.Interface(data_width=8 * BYTES, address_width=32, addressing="word")
        self.submodules += AXIWindow(self.master, inside, ORIGIN, SIZE)
        if way == "queued":
            behind = axi.AXIInterface(data_width=8 * BYTES, address_width=32, id_width=1)
            self.submodules.queue = queue = stream.SyncFIFO([("data", 8 * BYTES), ("strb", BYTES)], 40)
            self.comb += [inside.aw.connect(behind.aw), inside.ar.connect(behind.ar), behind.r.connect(inside.r), behind.b.connect(inside.b)]
            for source, sink in ((inside.w, queue.sink), (queue.source, behind.w)):
                self.comb += [getattr(sink, name).eq(getattr(source, name)) for name in ("valid", "last", "data", "strb")]
                self.comb += source.ready.eq(sink.ready)
            inside = behind
        if way != "litex":
            self.submodules += AXI2WishboneBursts(inside, self.bus)
            return
        narrow = axi.AXIInterface(data_width=32, address_width=32, id_width=1)
        words = wishbone.Interface(data_width=32, address_width=32, addressing="word")
        self.submodules += axi.AXIConverter(inside, narrow), axi.AXI2Wishbone(narrow, words), wishbone.Converter(words, self.bus)


def beat_of(address):
    """What memory holds there at first."""
    return random.Random(address).getrandbits(8 * BYTES)


def answer_of(address):
    if not ORIGIN <= address < ORIGIN + SIZE:
        return DECERR
    return SLVERR if address // 0x1000 * 0x1000 == ERRORS and address // BYTES % 5 == 3 else OKAY


class Traffic:
    """Bursts, what must come back for them, and the processes that drive and watch the path."""

    def __init__(self, seed, bursts, pauses, way=""):
        self.random = random.Random(seed)
        self.pauses = pauses
        self.path = Path(way)
        self.memory = {}    # word address: value, where written
        self.expected = {}  # the same, as it must be
        self.faults = []
        self.reads = [self.burst() for _ in range(bursts)]
        # Bytes that are written are read by nobody, so that the order of reads and writes does not matter.
        self.writes = [self.burst(write=True) for _ in range(bursts // 2)]
        self.answered = {"r": 0, "b": 0}
        self.asked = 0

    def burst(self, write=False):
        r = self.random
        beats = r.choice([1, 1, 2, 3, 16, r.randint(1, 16)])
        page = r.choice([0x1000, 0x2000, 0x3000, ERRORS, 0x5000, 0x6000, 0x70_0000_2000])
        if page == 0x5000 and not write:
            page = 0x3000
        elif write and page in (0x2000, 0x3000):
            page = 0x5000
        # Half of the page with errors is read, half is written.
        low, high = (128 * write, 128 + 128 * write) if page == ERRORS else (0, 256)
        address = page + BYTES * r.choice([low, high - beats, r.randint(low, high - beats)])
        answers = [answer_of(address + BYTES * i) for i in range(beats)]
        data = [(r.getrandbits(8 * BYTES), r.choice([0xFFFF, r.getrandbits(BYTES) or 1])) for _ in range(beats)] if write else None
        return {"address": address, "beats": beats, "id": 0 if write else r.randint(0, 1), "answers": answers, "data": data}

    def pause(self):
        return self.random.random() < self.pauses and not self.faults  # which end everything

    def addresses(self, channel, bursts):
        for burst in bursts:
            while self.pause():
                yield
            for name, value in (("addr", burst["address"]), ("len", burst["beats"] - 1), ("id", burst["id"]), ("size", 4), ("burst", 1)):
                yield getattr(channel, name).eq(value)
            yield channel.valid.eq(1)
            yield
            while not (yield channel.ready) and not self.faults:
                yield
            yield channel.valid.eq(0)

    def data(self):
        channel = self.path.master.w
        for burst in self.writes:
            for i, (value, strobes) in enumerate(burst["data"]):
                while self.pause():
                    yield
                yield channel.data.eq(value)
                yield channel.strb.eq(strobes)
                yield channel.last.eq(i == burst["beats"] - 1)
                yield channel.valid.eq(1)
                yield
                while not (yield channel.ready) and not self.faults:
                    yield
                yield channel.valid.eq(0)
                if burst["answers"][i] == OKAY:
                    word = burst["address"] // BYTES + i
                    self.expected[word] = merged(self.expected.get(word, beat_of(word * BYTES)), value, strobes)

    def answers(self, name, wanted):
        """Takes a channel's beats until all have come; `wanted` are tuples, by identifier in order."""
        channel = getattr(self.path.master, name)
        fields = ("id", "resp") if name == "b" else ("id", "resp", "last", "data")
        left = {i: [w for w in wanted if w[0] == i] for i in (0, 1)}
        held = None
        ready = 0
        for _ in range(100_000):
            if not any(left.values()) or self.faults:
                return
            if (yield channel.valid):
                seen = []
                for field in fields:
                    seen.append((yield getattr(channel, field)))
                if held is not None and seen != held:
                    self.faults.append(f"{name}: {held} became {seen} while it waited")
                held = None if ready else seen
                if ready:
                    ours = left[seen[0]]
                    if not ours:
                        self.faults.append(f"{name}: {seen}, and nothing is owed")
                    # What an error carries is nobody's business.
                    elif tuple(seen[:3]) != ours[0][:3] or (seen[1] == OKAY and tuple(seen) != ours[0]):
                        self.faults.append(f"{name}: {seen} instead of {ours[0]}")
                    if ours:
                        ours.pop(0)
            elif held is not None:
                self.faults.append(f"{name}: VALID fell")
                held = None
            ready = int(not self.pause())
            yield channel.ready.eq(ready)
            yield
        self.faults.append(f"{name}: {sum(map(len, left.values()))} beats did not come")

    @passive
    def serve(self):
        bus = self.path.bus
        while True:
            if not ((yield bus.stb) and (yield bus.cyc)):
                yield
                continue
            word = yield bus.adr
            while self.pause():
                yield
                if not (yield bus.stb) or (yield bus.adr) != word:
                    self.faults.append("an access was taken back")
            self.asked += 1
            address = word * BYTES
            if not ORIGIN <= address < ORIGIN + SIZE:
                self.faults.append(f"an access outside of the window at 0x{address:x}")
            failing = answer_of(address) == SLVERR
            old = self.memory.get(word, beat_of(address))
            if (yield bus.we) and not failing:
                self.memory[word] = merged(old, (yield bus.dat_w), (yield bus.sel))
            yield bus.dat_r.eq(old)
            yield (bus.err if failing else bus.ack).eq(1)
            yield
            yield bus.ack.eq(0)
            yield bus.err.eq(0)
            yield

    def run(self):
        beats = [(b["id"], b["answers"][i], int(i == b["beats"] - 1), beat_of(b["address"] + BYTES * i))
                 for b in self.reads for i in range(b["beats"])]
        m = self.path.master
        run_simulation(self.path, [self.addresses(m.ar, self.reads), self.addresses(m.aw, self.writes), self.data(),
                                   self.answers("r", beats), self.answers("b", [(b["id"], max(b["answers"])) for b in self.writes]), self.serve()])


def merged(old, new, strobes):
    """A word after a write of the bytes whose strobes are 1."""
    mask = sum(0xFF << 8 * i for i in range(BYTES) if strobes >> i & 1)
    return old & ~mask | new & mask


class Bus(unittest.TestCase):
    def test_every_beat_and_answer_is_right(self):
        for pauses, way in itertools.product((0.0, 0.3, 0.8), ("", "queued")):
            with self.subTest(pauses=pauses, way=way, seed=SEED):
                traffic = Traffic(SEED, 50, pauses, way)
                traffic.run()
                self.assertEqual(traffic.faults, [])
                self.assertEqual(traffic.memory, traffic.expected)
                self.assertGreater(traffic.asked, 100)

    def test_litexs_converter_changes_identifiers(self):
        """Why there is a bridge. Good reads only; without pauses they come back as they should."""
        found = {}
        for pauses in (0.0, 0.8):
            traffic = Traffic(SEED, 60, pauses, "litex")
            traffic.reads = [burst for burst in traffic.reads if set(burst["answers"]) == {OKAY}]
            traffic.writes = []
            traffic.run()
            found[pauses] = traffic.faults
        self.assertEqual(found[0.0], [])
        self.assertTrue(any("became" in fault or "instead of" in fault for fault in found[0.8]), found)

    def test_a_changed_answer_is_found(self):
        traffic = Traffic(SEED, 8, 0.3)
        traffic.reads[3]["answers"][0] ^= 1
        traffic.run()
        self.assertNotEqual(traffic.faults, [])

    def test_windows_are_whole_pages(self):
        m = axi.AXIInterface(data_width=128, address_width=32, id_width=1)
        for origin, size in ((0x100, 0x1000), (0, 0x800), (0, 0)):
            self.assertRaises(ValueError, AXIWindow, m, m, origin, size)

    def test_widths_must_agree(self):
        m = axi.AXIInterface(data_width=128, address_width=32, id_width=1)
        self.assertRaises(ValueError, AXI2WishboneBursts, m, wishbone.Interface(data_width=32, address_width=32, addressing="word"))


if __name__ == "__main__":
    unittest.main()
