#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""ZNNi's four networks on this computer: the plans found, the rates measured, and how good the choice is.

usage: bench/volume.py [--build DIR] [--only TABLE] [--memory SIZE] [--docs]
The first table runs a block of each network by the plan found for --memory (default: three quarters of this computer's). The second
runs a block of the ten best plans, different in more than size, of two networks in 4 GiB, by processor time: what other programs do counts
less. --docs writes both into docs/software/volumes.md."""
import sys

import report

DOCS = "docs/software/volumes.md"
SIDE = 346  # of the volume
# The paper's voxels a second, over 72 cores, times two.
TWO_CORES = {"n337": 7281, "n537": 5408, "n726": 8342, "n926": 6922}
COMPARED, COMPARED_MEMORY, PLANS = ("n337", "n726"), "4GiB", 10


def run(kaiten, network, *options):
    return report.result(kaiten, "volume", f"models/volumes/{network}.znni", "--size", f"{SIDE},{SIDE},{SIDE}", "--blocks", "1", *options)


def rates(j):
    """Voxels a second by the clock, and by processor time over the threads."""
    return j["voxels_per_second"], j["voxels_per_processor_second"] * j["threads"]


def networks(args, kaiten):
    rows = []
    for network, published in TWO_CORES.items():
        j = run(kaiten, network, "--best", "1", *(("--memory", args.memory) if args.memory else ()))
        plan = j["plans"][0]
        wall, processor = rates(j)
        predicted = plan["predicted_voxels_per_second"]
        side = lambda size: f"{size[0]}^3" if len(set(size)) == 1 else " x ".join(map(str, size))
        rows.append([network, side(plan["block_result"]), f"{plan['bytes'] / 2**30:.1f}", plan["layers"], f"{wall:,.0f}", f"{processor:,.0f}",
                     f"{predicted:,.0f}", f"{100 * (predicted / processor - 1):+.0f} %", f"{published:,}", f"{wall / published:.1f}"])
    return rows


def choices(_args, kaiten):
    rows = []
    for network in COMPARED:
        measured = []
        for n in range(1, PLANS + 1):
            j = run(kaiten, network, "--best", str(PLANS), "--plan", str(n), "--memory", COMPARED_MEMORY)
            measured.append((rates(j)[1], j["plans"][n - 1]))
        best = max(rate for rate, _ in measured)
        for n, (rate, plan) in enumerate(measured, 1):
            predicted = plan["predicted_voxels_per_second"]
            rows.append([network, str(n), " x ".join(map(str, plan["block_result"])), str(plan["batch"]), plan["layers"], f"{rate:,.0f}", f"{predicted:,.0f}",
                         f"{100 * (predicted / rate - 1):+.0f} %", f"{100 * rate / best:.0f} %"])
    return rows


TABLES = {"networks": (["network", "block's result", "GiB", "layers", "voxels/s", "by processor time", "predicted", "off", "ZNNi, 2 of 72 cores", "times"],
                       networks),
          "choices": (["network", "plan", "block's result", "batch", "layers", "voxels/s by processor time", "predicted", "off", "of the best"], choices)}


if __name__ == "__main__":
    sys.exit(report.main(__file__, __doc__, DOCS, TABLES, memory="bound of memory of the first table, such as 16GiB"))
