#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Prepares a netlist for nextpnr on a Lattice LFE5U-85F: where each multiplier stands, how its operands lie, and how fast the
router's price of conflicts rises.

usage: multipliers.py NETLIST.json OUTPUT.json     the netlist as yosys maps it, flat
The placer scatters multipliers where almost all of the part's are used, fifty cells from what they belong to on the average; then
their wires alone fill the chip. Given places, those of an engine lie side by side. And a multiplier has 18 bits: operands of 8
are moved up to the sign instead of extended with ten copies of it, each a wire of its own; what is 0 takes none.
Standard library only, in one file: the project of an ECP5 board carries it."""
import argparse
import json
import re

CELL = "MULT18X18D"
BITS = 18
# Three rows of the chip have multipliers, in blocks of four.
ROWS = (10, 34, 58)
BLOCKS = (4, 13, 22, 31, 40, 49, 58, 69, 78, 87, 96, 105, 114)
BLOCK = ((0, "MULT18_0"), (1, "MULT18_1"), (4, "MULT18_4"), (5, "MULT18_5"))
# (cells, [(row, block)]): the array engine at the left, the vector engine right of it; what is not named the placer puts where there
# is room. Cells of a group are taken in the order of order().
TOP, MIDDLE, BOTTOM = range(3)
PLAN = [
    (r"u_conv\.u_array\.", [(TOP, 0), (TOP, 1), (TOP, 2), (MIDDLE, 2), (MIDDLE, 1), (MIDDLE, 0), (BOTTOM, 0), (BOTTOM, 1), (BOTTOM, 2)]),
    (r"u_conv\.u_requant\.", [(TOP, 3), (MIDDLE, 3), (BOTTOM, 3), (MIDDLE, 4)]),
    (r"u_vector\.u_result\.", [(TOP, 5), (TOP, 6), (MIDDLE, 5), (MIDDLE, 6), (BOTTOM, 5), (BOTTOM, 6)]),
    (r"u_vector\.u_operand\.", [(TOP, 7), (MIDDLE, 7), (BOTTOM, 7)]),
    *((rf"u_vector\.gen_column\[{row}\]", [(row, block) for block in range(8, 13)]) for row in (TOP, MIDDLE, BOTTOM)),
]


# What a wire costs that others want, too, rises by a half in each pass instead of by two: else nets leave the wires that are in
# demand all at once, by detours in which they meet again.
ROUTER = {"router2/initCurrCongWeight": "1.0", "router2/currCongWeightMult": "0.5"}


def in_luts(products):
    """The yosys commands that make products of LUTs; `products`: what selects them, after proc, opt and wreduce."""
    return [f"select -set products {products}", "select -assert-any @products", "booth @products", "select -clear"]


def top_of(design):
    """The module of a design in yosys's JSON that is not one of the library: it has the most cells."""
    return max(design["modules"].values(), key=lambda module: len(module["cells"]))


def sites(blocks):
    return [f"X{BLOCKS[block] + x}/Y{ROWS[row]}/{name}" for row, block in blocks for x, name in BLOCK]


def order(name):
    """Taps of the array in the order of their chains, the rows that share their activations side by side; lanes in order."""
    numbers = [int(n) for n in re.findall(r"\[(\d+)\]", name)]
    return numbers[2:] + numbers[:2], name


def register_behind(start, cells, readers):
    """Name of the register nearest to the multiplier's product: what it is part of where it has no name of its own."""
    seen, front = {start}, [start]
    while front:
        behind = {name for cell in front for pin, bits in cells[cell]["connections"].items()
                  if cells[cell]["port_directions"][pin] == "output" for bit in bits for name in readers.get(bit, ())} - seen
        if found := sorted(name for name in behind if cells[name]["type"] == "TRELLIS_FF"):
            return found[0]
        seen |= behind
        front = [name for name in behind if cells[name]["type"] != CELL]
    return start


def names_of(cells):
    """{multiplier: name that tells its place}. In a flat netlist of Verilog most have none."""
    known = [re.compile(pattern) for pattern, _ in PLAN]
    readers = {}
    for name, cell in cells.items():
        for pin, bits in cell["connections"].items():
            if cell["port_directions"][pin] == "input" and not pin.startswith(("CLK", "CE", "LSR")):
                for bit in bits:
                    readers.setdefault(bit, []).append(name)
    return {name: name if any(pattern.search(name) for pattern in known) else register_behind(name, cells, readers)
            for name, cell in cells.items() if cell["type"] == CELL}


def place(cells):
    """Gives multipliers their places; how many."""
    placed = 0
    names = names_of(cells)
    for pattern, blocks in PLAN:
        group = sorted((name for name in names if re.search(pattern, names[name])), key=lambda name: (order(names[name]), name))
        places = sites(blocks)
        if len(group) > len(places):
            raise ValueError(f"multipliers of {pattern}: {len(group)}, places {len(places)}")
        for name, site in zip(group, places):
            cells[name]["attributes"]["BEL"] = site
        placed += len(group)
    return placed


def moved_up(bits):
    """(operand without copies of its sign, moved up; by how many bits)"""
    copies = 0
    while copies < BITS - 1 and bits[BITS - 1 - copies] == bits[BITS - 2 - copies]:
        copies += 1
    return ["0"] * copies + bits[:BITS - copies], copies


def align(cells):
    """Moves signed operands up to their sign, the product with them; how many wires that saves."""
    read = {bit for cell in cells.values() for pin, bits in cell["connections"].items() if cell["port_directions"][pin] == "input"
            for bit in bits}
    saved = 0
    for cell in cells.values():
        pins = cell["connections"]
        if cell["type"] != CELL or pins["SIGNEDA"] != ["1"] or pins["SIGNEDB"] != ["1"]:
            continue
        (a, up_a), (b, up_b) = (moved_up([pins[f"{operand}{i}"][0] for i in range(BITS)]) for operand in "AB")
        up = up_a + up_b
        product = [pins[f"P{i}"] for i in range(2 * BITS)]
        # Above the highest bit of the moved product there are copies of the sign, which nothing may read.
        if any(bits and bits[0] in read for bits in product[2 * BITS - up:]):
            continue
        for i in range(BITS):
            pins[f"A{i}"], pins[f"B{i}"] = [a[i]], [b[i]]
        for i in range(2 * BITS):
            pins[f"P{i}"] = product[i - up] if i >= up else []
        saved += up
    return saved


def prepare(netlist, output):
    """(multipliers placed, wires saved)"""
    with open(netlist, encoding="utf-8") as f:
        design = json.load(f)
    top = top_of(design)
    top["settings"] = top.get("settings", {}) | ROUTER
    found = place(top["cells"]), align(top["cells"])
    with open(output, "w", encoding="utf-8") as f:
        json.dump(design, f)
    return found


def main():
    parser = argparse.ArgumentParser(description="Places of multipliers for nextpnr.")
    parser.add_argument("netlist")
    parser.add_argument("output")
    args = parser.parse_args()
    placed, saved = prepare(args.netlist, args.output)
    print(f"{placed} multipliers placed, {saved} wires saved")


if __name__ == "__main__":
    main()
