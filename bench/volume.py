#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""ZNNi's four networks on this computer: the plans found, the rates measured, and how good the choice is.

usage: bench/volume.py [--build DIR] [--only TABLE] [--memory SIZE] [--docs]
The first table runs a block of each network by the plan found for --memory (default: three quarters of this computer's). The second
runs a block of the ten best plans, different in more than size, of two networks in 4 GiB, by processor time: what other programs do counts
less. The third searches the splits of all four between processors and accelerator, by its cycle model (minutes each), the fourth those
of a computer like the paper's. --docs writes them into docs/software/volumes.md."""
import json
import os
import sys
import tempfile

import report

DOCS = "docs/software/volumes.md"
SIDE = 346  # of the volume
# The paper's voxels a second, over 72 cores, times two.
TWO_CORES = {"n337": 7281, "n537": 5408, "n726": 8342, "n926": 6922}
# Theirs over the better of CPU and GPU with the computer's memory (table V).
PUBLISHED_GAIN = {"n337": 1059910 / 727103, "n537": 334163 / 194683, "n726": 470166 / 300312, "n926": 375295 / 249190}
CORES = 72
COMPARED, COMPARED_MEMORY, PLANS = ("n337", "n726"), "4GiB", 10


def cube(size):
    return f"{size[0]}^3" if len(set(size)) == 1 else " x ".join(map(str, size))


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
        rows.append([network, cube(plan["block_result"]), f"{plan['bytes'] / 2**30:.1f}", plan["layers"], f"{wall:,.0f}", f"{processor:,.0f}",
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


def split_row(network, j):
    s = j["split"]
    both = [p for p in s["plans"] if 0 < p["theta"] < len(p["layers"].split())]
    alone = s["processor_alone_voxels_per_second"], s["accelerator_alone_voxels_per_second"]
    row = [network, *(f"{rate:,.0f}" for rate in alone), *["-"] * 2]
    for p in s["plans"]:
        if p["theta"] == 0:
            row[3:] = [f"{p['device_memory_bytes'] / 2**20:.1f}", f"{p['link_bytes'] * s['clock_mhz'] / p['predicted_cycles'] / 1e3:.2f}"]
    if both:
        p = both[0]
        rate = p["predicted_voxels_per_second"]
        row += [str(p["theta"]), cube(p["block_result"]), f"{p['processor_seconds']:.1f}", f"{p['predicted_cycles'] / (s['clock_mhz'] * 1e6):.1f}",
                f"{rate:,.0f}", f"{rate / max(alone):.2f}", f"{rate / sum(alone):.2f}"]
    return [*row, *["-"] * (12 - len(row)), f"{PUBLISHED_GAIN[network]:.2f}"]


def splits(kaiten, *options):
    return [split_row(network, report.result(kaiten, "volume", f"models/volumes/{network}.znni", "--split", "--plan-only", "--size", "1024,1024,1024", "--clock", "200",
                                             "--device-memory", "256MiB", *options)) for network in TWO_CORES]


def split(_args, kaiten):
    return splits(kaiten, "--threads", "2", "--memory", "16GiB")


def paper(_args, kaiten):
    """The paper's computer, on paper: this one's rates over as many threads as it has cores."""
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "rates.json")
        report.result(kaiten, "volume", "models/volumes/small.znni", "--int8", "--plan-only", "--size", "28,28,28", "--calibration", file)
        with open(file) as f:
            rates = json.load(f)
        share = rates["threads"] / CORES
        rates |= {"threads": CORES, "pooled_voxel": rates["pooled_voxel"] * share,
                  "methods": {name: [rate * share for rate in method] for name, method in rates["methods"].items()}}
        with open(file, "w") as f:
            json.dump(rates, f)
        return splits(kaiten, "--threads", str(CORES), "--memory", "256GiB", "--calibration", file)


SPLIT_HEAD = ["network", "processors alone, voxels/s", "accelerator alone", "its MiB", "its link, GB/s", "theta", "block's result", "processors, s", "accelerator, s", "split, voxels/s",
              "gain over the better", "over the sum", "ZNNi's over the better"]
TABLES = {"networks": (["network", "block's result", "GiB", "layers", "voxels/s", "by processor time", "predicted", "off", "ZNNi, 2 of 72 cores", "times"],
                       networks),
          "choices": (["network", "plan", "block's result", "batch", "layers", "voxels/s by processor time", "predicted", "off", "of the best"], choices),
          "split": (SPLIT_HEAD, split),
          "paper": (SPLIT_HEAD, paper)}


if __name__ == "__main__":
    sys.exit(report.main(__file__, __doc__, DOCS, TABLES, memory="bound of memory of the first table, such as 16GiB"))
