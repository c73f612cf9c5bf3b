#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""What `kaiten explore` finds: how good its area model is, and the accelerators for SubNets within the paper's two boards.

usage: bench/explore.py [--build DIR] [--only area|paper|search] [--docs]
area: every mapped accelerator beside the area model of all others, by family. paper: what the SUSHI paper's two accelerators take, and
those of the same multipliers and buffers by the area model. search: SubNets of both families within what ZCU104 and Alveo U50 have.
--docs writes the tables, which are the same on every machine, into docs/software/explore.md."""
import sys

import report

DOCS = "docs/software/explore.md"
NETWORKS = ("ofa-resnet50/RA", "ofa-mobilenetv3/MA")
FAMILIES = ("xc7", "xcup", "cyclonev", "ecp5")
RESOURCES = ("lut", "dsp", "ram", "uram")
# LUTs, DSPs, RAM blocks, UltraRAMs, bytes a cycle of the memory at 100 MHz: data sheets, the SUSHI paper.
BOARDS = {"ZCU104": (230400, 1728, 312, 96, 192), "Alveo U50": (872000, 5952, 1344, 640, 144)}
# The same of the SUSHI paper's accelerators with PB (its table 2), and what is as large here: sizes as options.
PAPER = {"ZCU104": ((64307, 1459, 198.5, 96), {"kp": 36, "cp": 4, "wb": 2303, "sb": 576, "vb": 576, "ob": 2325, "zsb": 900}),
         "Alveo U50": ((244969, 4740, 452.5, 96), {"kp": 32, "cp": 16, "wb": 2880, "sb": 576, "vb": 576, "ob": 2616, "zsb": 896})}


def explored(kaiten, *arguments):
    return report.result(kaiten, "explore", *map(str, arguments))


def amount(value):
    return f"{value:,.1f}".removesuffix(".0")


def area(_args, kaiten):
    rows = []
    for family in FAMILIES:
        model = explored(kaiten, "demo", "--family", family, "--kp", 8, "--cp", 4, "--bus", 128, "--wb", 72, "--sb", 36, "--vb", 18)["area_model"]
        for entry in model["leave_one_out"]:
            cells = [family, entry["name"]]
            for resource in RESOURCES[:3]:
                mapped, predicted = entry["mapped"][resource], entry["predicted"][resource]
                cells += [amount(mapped), f"{100 * (predicted / mapped - 1):+.1f} %"]
            rows.append(cells)
    return rows


def paper(_args, kaiten):
    rows = []
    for board, (printed, sizes) in PAPER.items():
        options = [word for name, value in sizes.items() for word in ("--" + name, value)]
        front = explored(kaiten, "demo", "--family", "xcup", "--bus", 512, "--uram", printed[3], "--conv-table", 0, *options)["front"]
        rows += [[board, "the paper", *map(amount, printed)],
                 [board, f"{sizes['kp']} x {sizes['cp']}, by the model", *(amount(front[0]["area"][r]) for r in RESOURCES)]]
    return rows


def search(_args, kaiten):
    rows = []
    for board, (lut, dsp, ram, uram, bandwidth) in BOARDS.items():
        found = explored(kaiten, *NETWORKS, "--family", "xcup", "--lut", lut, "--dsp", dsp, "--ram", ram, "--uram", uram, "--bandwidth", bandwidth)
        for entry in found["front"][:3]:
            p, a = entry["parameters"], entry["area"]
            word = p["Cp"] * 9 / 1024
            rows.append([board, f"{p['Kp']} x {p['Cp']}", str(p["AxiW"]), f"{p['WbRows'] * word:,.0f}", f"{p['SbDepth'] * word:,.0f}",
                         f"{p['VbDepth'] * word:,.0f}", *(amount(a[r]) for r in RESOURCES), *(f"{c:,}" for c in entry["network_cycles"])])
        print(f"{board}: {found['candidates']} candidates, {found['over_budget']} over the budget, {found['refused']} refused, "
              f"{found['pruned']} beaten by their least cycles, {found['compiled']} compiled, {len(found['front'])} in the set")
    return rows


TABLES = {"area": (["family", "mapped", "LUT", "model", "DSP", "model", "RAM", "model"], area),
          "paper": (["board", "accelerator", "LUT", "DSP", "RAM", "URAM"], paper),
          "search": (["board", "KP x CP", "bus", "WB KiB", "SB KiB", "VB KiB", "LUT", "DSP", "RAM", "URAM",
                      *(f"`{n.split('/')[1]}`, cycles" for n in NETWORKS)], search)}


if __name__ == "__main__":
    sys.exit(report.main(__file__, __doc__, DOCS, TABLES))
