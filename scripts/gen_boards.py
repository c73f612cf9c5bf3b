#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the tables of boards: docs/hardware/boards.md, and README, from what is recorded: parts (fpga/boards/known.py), areas and the
routed clock (fpga/README.md), the longest path by the plain model (docs/data/depth.json), cycles (docs/hardware/boards.md).

usage: gen_boards.py [--check]
  --check  write nothing; exit code 1 if a committed file differs"""
import argparse
import json
import os
import sys

import gen_configs
import lint
import tools

sys.path.insert(0, os.path.join(tools.ROOT, "fpga", "boards"))
from known import BOARDS  # noqa: E402

PAGE = "docs/hardware/boards.md"
NETWORKS = ("ResNet-8", "MobileNetV2 224", "ResNet-50 224, random weights")


def capacity(board):
    """(LUTs, DSP blocks, RAM blocks) that Kaiten takes, as fpga/README.md has them."""
    lut, _, dsp, ram = (float(n) for n in gen_configs.resources(board.config)[board.family].split(" / "))
    return lut, dsp, ram


def amounts(board):
    lut, dsp, ram = capacity(board)
    return [f"{lut:,.0f} of {board.lut:,}", f"{dsp:g} of {board.dsp}", f"{ram:g} of {board.ram}"]


def listed():
    return tools.markdown(["`boards.py`", "board", "configuration", "LUTs", "DSP blocks", "RAM blocks", "built by"],
                          [[f"`{name}`", b.name, f"`{b.config}`", *amounts(b), b.tool] for name, b in BOARDS.items()])


def clock(board):
    """(MHz, where the figure is from)"""
    if board.family == "ecp5":
        return max(float(row["MHz"]) for row in tools.read_table("fpga/README.md", "route") if row["configuration"] == f"`{board.config}`"), "routed"
    if board.family == "xc7":
        with open(os.path.join(tools.ROOT, "docs/data/depth.json"), encoding="utf-8") as f:
            return 1000 / json.load(f)[board.config][""]["ns"], "estimated"
    return board.clock / 1e6, "of the project"


def rates():
    configs = lint.configurations()
    cycles = {(row["network"], row["configuration"]): int(row["cycles, 2 bytes a cycle"].replace(",", ""))
              for row in tools.read_table(PAGE, "bench/boards.py: rates")}
    rows = []
    for board in BOARDS.values():
        if board.demo_alone:
            continue  # its memory holds none of these networks
        mhz, origin = clock(board)
        gops = 2 * gen_configs.macs(configs[board.config])[0] * mhz / 1000
        images = [f"{mhz * 1e6 / cycles[network, f'`{board.config}`']:.3g}" for network in NETWORKS]
        rows.append([board.name, f"`{board.config}`", *amounts(board), f"{mhz:.3g}, {origin}", f"{gops:.3g}", *images])
    return tools.markdown(["board", "configuration", "LUTs", "DSP blocks", "RAM blocks", "MHz", "GOP/s of the array", "ResNet-8, images/s",
                           "MobileNetV2", "ResNet-50"], rows)


def main():
    parser = argparse.ArgumentParser(description="The tables of boards.")
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    files = {}
    for path, table in ((PAGE, listed()), ("README.md", rates())):
        with open(os.path.join(tools.ROOT, path), encoding="utf-8") as f:
            files[path] = tools.between(f.read(), "boards", table)
    return tools.write_generated(files, args.check)


if __name__ == "__main__":
    sys.exit(tools.guarded(main))
