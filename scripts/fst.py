# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Reads the waves that `kaiten run --wave` writes: FST, the format of GTKWave (its description is in the source of libfst), as
far as Verilator uses it. Standard library only.

    waves = Fst("w.fst"); waves.values("TOP.kaiten_top.u_conv.busy_o") -> [(time, "0"), ...], first the value at the start"""
import zlib

HEADER, GEOMETRY, CHANGES, HIERARCHY_GZ, HIERARCHY_LZ4 = 0, 3, 8, 4, 6
SCOPE, UPSCOPE, ATTRIBUTE, END_ATTRIBUTE = 254, 255, 252, 253


def lz4(data, size):
    """An LZ4 block, expanded."""
    out, i = bytearray(), 0

    def length(n, i):
        while n == 15 or n > 15:
            n, i = n + data[i], i + 1
            if data[i - 1] != 255:
                break
        return n, i

    while i < len(data):
        token, i = data[i], i + 1
        literals, i = length(token >> 4, i)
        out += data[i:i + literals]
        i += literals
        if i >= len(data):
            break
        offset, i = int.from_bytes(data[i:i + 2], "little"), i + 2
        count, i = length(token & 15, i)
        for _ in range(count + 4):
            out.append(out[-offset])
    if len(out) != size:
        raise ValueError("an LZ4 block of another size than it says")
    return bytes(out)


class Bytes:
    """A position in bytes."""

    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def take(self, n):
        self.at += n
        return self.data[self.at - n:self.at]

    def number(self, n=8):
        return int.from_bytes(self.take(n), "big")

    def varint(self):
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def signed_varint(self):
        start = self.at
        value = self.varint()
        bits = 7 * (self.at - start)
        return value - (1 << bits) if value >> (bits - 1) & 1 else value

    def word(self):
        end = self.data.index(0, self.at)
        word = self.data[self.at:end].decode()
        self.at = end + 1
        return word


class Fst:
    def __init__(self, path):
        with open(path, "rb") as f:
            file = Bytes(f.read())
        self.handles, self.lengths, self.blocks = {}, [], []
        while file.at < len(file.data):
            kind = file.take(1)[0]
            block = file.take(file.number() - 8)
            if kind == GEOMETRY:
                size, count = (int.from_bytes(block[i:i + 8], "big") for i in (0, 8))
                lengths = Bytes(block[16:] if len(block) - 16 == size else zlib.decompress(block[16:]))
                self.lengths = [lengths.varint() for _ in range(count)]
            elif kind == HIERARCHY_LZ4:
                self._hierarchy(Bytes(lz4(block[8:], int.from_bytes(block[:8], "big"))))
            elif kind == HIERARCHY_GZ:
                self._hierarchy(Bytes(zlib.decompress(block[8:], 31)))
            elif kind == CHANGES:
                self.blocks.append(block)
            elif kind != HEADER:
                raise ValueError(f"{path}: a block of kind {kind}")

    def _hierarchy(self, h):
        """Names with their scopes -> handles, counted from 1."""
        scopes, next_handle = [], 1
        while h.at < len(h.data):
            tag = h.take(1)[0]
            if tag == SCOPE:
                h.take(1)
                scopes.append(h.word())
                h.word()
            elif tag == UPSCOPE:
                scopes.pop()
            elif tag == ATTRIBUTE:
                h.take(2)
                h.word()
                h.varint()
            elif tag != END_ATTRIBUTE:
                h.take(1)
                name, _, alias = h.word(), h.varint(), h.varint()
                self.handles[".".join(scopes + [name.split(" ")[0]])] = alias or next_handle
                next_handle += not alias

    def values(self, name):
        """[(time, bits as text)]: the value at the start, then every change."""
        changes = []
        for block in self.blocks:
            changes += self._changes(block, self.handles[name] - 1)
        return changes

    def _changes(self, block, index):
        tail = Bytes(block, len(block) - 24)
        size, packed, items = tail.number(), tail.number(), tail.number()
        end = len(block) - 24 - packed
        text = block[end:end + packed]
        deltas, times, now = Bytes(text if size == packed else zlib.decompress(text)), [], 0
        for _ in range(items):
            now += deltas.varint()
            times.append(now)
        b = Bytes(block, 24)
        size, packed, _ = b.varint(), b.varint(), b.varint()
        frame = b.take(packed)
        frame = frame if size == packed else zlib.decompress(frame)
        length = self.lengths[index]
        at = sum(self.lengths[:index])
        found = [(times[0], frame[at:at + length].decode())]
        b.varint()
        start, pack = b.at, b.take(1)
        chains_end = end - 8
        chains = chains_end - int.from_bytes(block[chains_end:end], "big")
        begin, stop = self._chain(Bytes(block[chains:chains_end]), index, chains - start)
        if begin:
            data = Bytes(block[start + begin:start + stop])
            expanded = data.varint()
            rest = data.data[data.at:]
            unpack = {b"4": lz4, b"Z": lambda d, _: zlib.decompress(d)}
            found += self._decoded(Bytes(unpack[pack](rest, expanded) if expanded else rest), length, times)
        return found

    @staticmethod
    def _chain(c, index, end):
        """Where the changes of a signal begin and stop, (0, 0) without any."""
        table, at, alias, starts = [], 0, 0, []
        while c.at < len(c.data):
            if c.data[c.at] & 1:
                step = c.signed_varint() >> 1
                if step > 0:
                    at += step
                    starts.append(at)
                    table.append(at)
                else:
                    alias = step or alias
                    table.append(table[-alias - 1])
            else:
                table += [0] * (c.varint() >> 1)
        begin = table[index] if index < len(table) else 0
        return begin, next((s for s in starts if s > begin), end) if begin else 0

    @staticmethod
    def _decoded(d, length, times):
        found, at = [], 0
        while d.at < len(d.data):
            change = d.varint()
            if length == 1:
                at += change >> (4 if change & 1 else 2)
                value = "xzhuwl-?"[change >> 1 & 7] if change & 1 else str(change >> 1 & 1)
            else:
                at += change >> 1
                if change & 1:
                    value = d.take(length).decode()
                else:
                    count = -(-length // 8)
                    value = f"{d.number(count):0{8 * count}b}"[:length]
            found.append((times[at], value))
        return found
