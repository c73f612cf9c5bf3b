#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Writes what scripts/route.py placed and routed as plain Verilog with the ports of kaiten_top, for simulating it beside the RTL.

usage: routed.py [--config C] [--seed N] --output FILE
The shift registers around the design are taken away, pins that nextpnr ties to a constant are connected to it, and cells are
replaced by their models (fpga/sim)."""
import argparse
import itertools
import json
import os
import re
import sys

import dropin
import lint
import multipliers
import route
import tools

MODELS = ["fpga/sim/ecp5_routed.v", "fpga/sim/MULT18X18D.v", "fpga/sim/ecp5_ram.v"]
# Ports without a shift register.
CLOCK, RESET, INTERRUPT = "clk_i", "rst_ni", "irq_o"
# Pins that are high where nothing drives them; others are as their parameter <pin>MUX says.
PULLED_UP = {"TRELLIS_COMB": re.compile("[ABCD]"), "TRELLIS_RAMW": re.compile("[ABCD][01]")}
TIED = ("MULT18X18D", "DP16KD")
SHELL_TYPES = ("TRELLIS_IO", "DCCA")


def struct_ports(parameters):
    """{struct: [(port of kaiten_top, width)]} of the structs in fpga/route/kaiten_route.sv, most significant first."""
    with open(os.path.join(tools.ROOT, route.WRAPPER), encoding="utf-8") as f:
        text = f.read()
    widths = {"AxiW-1": parameters["AxiW"], "AxiW/8-1": parameters["AxiW"] // 8, "AddrW-1": 40}
    found = {}
    for fields, name in re.findall(r"typedef struct packed \{(.*?)\} (\w+);", text, re.S):
        found[name] = []
        for bounds, names in re.findall(r"logic\s*(?:\[([^\]]+):0\])?\s*([\w, ]+);", fields):
            width = 1 if not bounds else widths[bounds] if bounds in widths else int(bounds) + 1
            for field in names.split(","):
                field = field.strip()
                port = (field if field.startswith("axi_") else "csr_" + field) + ("_i" if name == "in_t" else "_o")
                found[name].append((port, width))
    return found


class Netlist:
    """A module of yosys's or nextpnr's JSON."""

    def __init__(self, path):
        with open(os.path.join(tools.ROOT, path), encoding="utf-8") as f:
            self.module = multipliers.top_of(json.load(f))
        self.cells = self.module["cells"]
        self.driver, self.sinks = {}, {}
        for name, cell in self.cells.items():
            for pin, bits in cell["connections"].items():
                for bit in bits:
                    if cell["port_directions"][pin] == "output":
                        self.driver[bit] = (name, pin)
                    else:
                        self.sinks.setdefault(bit, []).append((name, pin))


def model_pins():
    """{cell: pins that its model in fpga/sim has}"""
    found = {}
    for path in MODELS:
        with open(os.path.join(tools.ROOT, path), encoding="utf-8") as f:
            for name, pins in re.findall(r"^module (\w+) \((.*?)\);", f.read(), re.S | re.M):
                found[name] = set(re.findall(r"\b[A-Z]+[0-9]*[A-Z]*[0-9]*\b", pins))
    return found


def shell(mapped):
    """Names of the cells around the design: flip-flops of the shift registers, and what chooses between shifting and taking."""
    nets, ports = mapped.module["netnames"], mapped.module["ports"]
    driven = nets["in_q"]["bits"] + nets["out_q"]["bits"] + ports[INTERRUPT]["bits"]
    chosen = ports["take_i"]["bits"] + ports["scan_i"]["bits"]
    return {mapped.driver[bit][0] for bit in driven if bit in mapped.driver} | {cell for bit in chosen for cell, _ in mapped.sinks[bit]}


def counterparts(mapped, routed, around, parameters):
    """{port: (direction, bits of the routed netlist, None: not used)}, found by the names of cells, which stay."""
    structs = struct_ports(parameters)
    ports = {}

    def connection(cell, pin):
        bits = routed.cells[cell]["connections"]
        if routed.cells[cell]["type"] == "TRELLIS_FF" and pin == "DI" and not bits.get("DI"):
            pin = "M"
        return bits["F" if pin == "Z" else pin][0]

    def routed_input(bit):
        used = any(cell not in around for cell, _ in mapped.sinks.get(bit, []))
        return connection(*mapped.driver[bit]) if used else None

    def routed_output(bit):
        if isinstance(bit, str):
            return bit
        seen = [(cell, pin) for cell, pin in mapped.sinks.get(bit, []) if cell in around]
        return connection(*(seen[0] if seen else mapped.driver[bit]))

    for struct, net, direction, find in (("in_t", "in_q", "input", routed_input), ("out_t", "out", "output", routed_output)):
        bits = mapped.module["netnames"][net]["bits"]
        if len(bits) != sum(width for _, width in structs[struct]):
            sys.exit(f"routed: {route.WRAPPER}: {struct} has {len(bits)} bits, its fields {sum(w for _, w in structs[struct])}")
        end = len(bits)
        for port, width in structs[struct]:
            end -= width
            ports[port] = (direction, [find(bit) for bit in bits[end:end + width]])
    ports[INTERRUPT] = ("output", [routed_output(mapped.module["netnames"]["irq"]["bits"][0])])
    return ports


def as_table(cell):
    """A half slice that is a table alone, as yosys's own cell, which takes less to simulate; others as they are."""
    bits = cell["connections"]
    if cell["type"] != "TRELLIS_COMB" or "MODE" in cell["parameters"] or bits.get("OFX"):
        return cell
    return {"type": "$lut", "parameters": {"WIDTH": 4, "LUT": cell["parameters"]["INITVAL"]}, "attributes": {},
            "port_directions": {"A": "input", "Y": "output"},
            "connections": {"A": [(bits.get(pin) or ["1"])[0] for pin in "ABCD"], "Y": bits["F"]}}


def tie(cell, pins):
    """Gives the cell's input pins without a wire what nextpnr makes of them, and drops pins that its model lacks."""
    kind, connections = cell["type"], cell["connections"]
    if kind == "TRELLIS_COMB" and connections.get("FXA"):
        cell["parameters"]["IS_Z1"] = "1"  # an odd place in the slice, whose multiplexer is the wider one
    for pin in list(connections):
        if connections[pin]:
            continue
        if pin not in pins[kind] or cell["port_directions"][pin] == "output":
            del connections[pin], cell["port_directions"][pin]
        elif kind in TIED:
            tied = cell["parameters"].get(pin + "MUX", "0").strip()  # a space behind says that "1" is text
            connections[pin] = ["1" if tied in ("1", pin) else "0"]
        else:
            connections[pin] = ["1" if kind in PULLED_UP and PULLED_UP[kind].fullmatch(pin) else "0"]
    if kind in TIED:
        cell["parameters"] = {name: value for name, value in cell["parameters"].items() if name.startswith("DATA_WIDTH")}


def buffered(bit, out):
    return {"type": "$pos", "parameters": {"A_SIGNED": 0, "A_WIDTH": 1, "Y_WIDTH": 1}, "attributes": {},
            "port_directions": {"A": "input", "Y": "output"}, "connections": {"A": [bit], "Y": [out]}}


def without_shell(mapped, routed, parameters):
    """JSON of the routed design alone."""
    around = shell(mapped)
    clock = next(cell["connections"]["CLKO"][0] for cell in routed.cells.values() if cell["type"] == "DCCA")
    reset = next(cell["connections"]["O"][0] for name, cell in routed.cells.items() if cell["type"] == "TRELLIS_IO" and RESET in name)
    found = {CLOCK: ("input", [clock]), RESET: ("input", [reset]), **counterparts(mapped, routed, around, parameters)}
    pins = model_pins()
    cells = {}
    for name, cell in routed.cells.items():
        if name in around or cell["type"] in SHELL_TYPES:
            continue
        cell["attributes"] = {}
        cells[name] = as_table(cell)
        if cells[name] is cell:
            tie(cell, pins)
    free = itertools.count(max(bit for bit in routed.driver if isinstance(bit, int)) + 1)
    ports = {}
    for port, (direction, bits) in found.items():
        own = [next(free) if bit is None or direction == "output" else bit for bit in bits]
        ports[port] = {"direction": direction, "bits": own}
        if direction == "output":
            cells |= {f"$port_{to}": buffered(bit, to) for bit, to in zip(bits, own)}
    return {"creator": "kaiten", "modules": {lint.TOP: {"attributes": {"top": "1"}, "ports": ports, "cells": cells, "netnames": {}}}}


def script(netlist, output):
    return "\n".join([
        f"read_json {netlist}", *[f"read_verilog {models}" for models in MODELS], f"hierarchy -check -top {lint.TOP}",
        "proc; flatten; opt_clean -purge", "memory -nomap", "opt -fast", *dropin.TO_VERILOG, f"write_verilog -noattr {output}", ""])


def main():
    parser = argparse.ArgumentParser(description="A routed netlist as plain Verilog.")
    parser.add_argument("--config", default="micro", choices=sorted(lint.configurations()))
    parser.add_argument("--seed", type=int, help="default: the fastest of those routed last")
    parser.add_argument("--output", required=True)
    args = parser.parse_args()
    stem = os.path.join(route.OUT, args.config)
    netlist = stem + "_design.json"
    seed = args.seed or route.fastest_seed(args.config)
    design = without_shell(Netlist(stem + ".json"), Netlist(f"{stem}_{seed}_routed.json"), lint.configurations()[args.config])
    tools.write(os.path.join(tools.ROOT, netlist), json.dumps(design))
    return tools.yosys_verilog(lambda file: script(netlist, file), args.output)


if __name__ == "__main__":
    sys.exit(tools.guarded(main))
