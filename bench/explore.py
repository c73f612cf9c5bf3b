#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""What `kaiten explore` finds: how good its area model is, and the accelerators for SubNets within the paper's two boards.

usage: bench/explore.py [--build DIR] [--only area|search] [--docs]
area: every mapped accelerator beside the area model of all others. search: SubNets of both families within what ZCU104 and Alveo U50
have. --docs writes the tables, which are the same on every machine, into docs/software/explore.md."""
import sys

import report

DOCS = "docs/software/explore.md"
NETWORKS = ("ofa-resnet50/RA", "ofa-mobilenetv3/MA")
# LUTs, DSPs, RAM blocks of 36 Kb (not those of 288 Kb), bytes a cycle of the memory at 100 MHz: data sheets, the SUSHI paper.
BOARDS = {"ZCU104": (230400, 1728, 312, 192), "Alveo U50": (872000, 5952, 1344, 144)}


def explored(kaiten, *arguments):
    return report.result(kaiten, "explore", *map(str, arguments))


def area(_args, kaiten):
    model = explored(kaiten, "demo", "--kp", 8, "--cp", 4, "--bus", 128, "--wb", 72, "--sb", 36, "--vb", 18)["area_model"]
    rows = []
    for entry in model["leave_one_out"]:
        cells = [entry["name"]]
        for resource in ("lut", "dsp", "ram"):
            mapped, predicted = entry["mapped"][resource], entry["predicted"][resource]
            cells += [f"{mapped:,g}" if mapped < 1e5 else f"{mapped:,.0f}", f"{100 * (predicted / mapped - 1):+.1f} %"]
        rows.append(cells)
    return rows


def search(_args, kaiten):
    rows = []
    for board, (lut, dsp, ram, bandwidth) in BOARDS.items():
        found = explored(kaiten, *NETWORKS, "--lut", lut, "--dsp", dsp, "--ram", ram, "--bandwidth", bandwidth)
        for entry in found["front"][:3]:
            p, a = entry["parameters"], entry["area"]
            word = p["Cp"] * 9 / 1024
            rows.append([board, f"{p['Kp']} x {p['Cp']}", str(p["AxiW"]), f"{p['WbRows'] * word:,.0f}", f"{p['SbDepth'] * word:,.0f}",
                         f"{p['VbDepth'] * word:,.0f}", f"{a['lut']:,.0f}", f"{a['dsp']:,.0f}", f"{a['ram']:,g}",
                         *(f"{c:,}" for c in entry["network_cycles"])])
        print(f"{board}: {found['candidates']} candidates, {found['over_budget']} over the budget, {found['refused']} refused, "
              f"{found['pruned']} beaten by their least cycles, {found['compiled']} compiled, {len(found['front'])} in the set")
    return rows


TABLES = {"area": (["mapped", "LUT", "model", "DSP", "model", "RAM", "model"], area),
          "search": (["board", "KP x CP", "bus", "WB KiB", "SB KiB", "VB KiB", "LUT", "DSP", "RAM",
                      *(f"`{n.split('/')[1]}`, cycles" for n in NETWORKS)], search)}


if __name__ == "__main__":
    sys.exit(report.main(__file__, __doc__, DOCS, TABLES))
