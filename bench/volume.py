#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""ZNNi's four networks on this computer: the plans found, the rates measured, and how good the choice is.

usage: bench/volume.py [--build DIR] [--only TABLE] [--memory SIZE] [--docs]
networks: a block of each network by the plan found for --memory (default: three quarters of this computer's), halos computed again.
choices: a block of the ten best plans, different in more than size, of two networks in 4 GiB, by processor time: what other programs do
counts less. halos: each network with halos computed again, a block, and kept, a column of blocks, in so little memory that runs are
short. onednn: a block of each network on one thread, and its convolutions by oneDNN's direct method on one fragment times the fragments,
both by processor time.
large: what the model says of a large volume. split: the splits of all four between processors and accelerator, by its cycle model
(minutes each). paper: those of a computer like the paper's. --docs writes them into docs/software/volumes.md."""
import json
import os
import subprocess
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

ONEDNN_MEMORY = "4GiB"
HALO_MEMORY = {"n337": "1GiB", "n537": "4GiB", "n726": "4GiB", "n926": "4GiB"}


def cube(size):
    return f"{size[0]}^3" if len(set(size)) == 1 else " x ".join(map(str, size))


def run(kaiten, network, *options, blocks=1):
    report.progress(f"{network}, {' '.join(options)}")
    return report.result(kaiten, "volume", f"models/volumes/{network}.znni", "--size", f"{SIDE},{SIDE},{SIDE}", "--blocks", str(blocks), *options)


def rates(j):
    """Voxels a second by the clock, and by processor time over the threads."""
    return j["voxels_per_second"], j["voxels_per_processor_second"] * j["threads"]


def networks(args, kaiten):
    rows = []
    for network, published in TWO_CORES.items():
        j = run(kaiten, network, "--best", "1", "--halos", "computed", *(("--memory", args.memory) if args.memory else ()))
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
            j = run(kaiten, network, "--best", str(PLANS), "--plan", str(n), "--halos", "computed", "--memory", COMPARED_MEMORY)
            measured.append((rates(j)[1], j["plans"][n - 1]))
        best = max(rate for rate, _ in measured)
        for n, (rate, plan) in enumerate(measured, 1):
            predicted = plan["predicted_voxels_per_second"]
            rows.append([network, str(n), " x ".join(map(str, plan["block_result"])), str(plan["batch"]), plan["layers"], f"{rate:,.0f}", f"{predicted:,.0f}",
                         f"{100 * (predicted / rate - 1):+.0f} %", f"{100 * rate / best:.0f} %"])
    return rows


def column(kaiten, network, halos, memory):
    """A block, or of kept halos a column of them, in so much memory."""
    plan = run(kaiten, network, "--best", "1", "--memory", memory, "--halos", halos, "--plan-only")["plans"][0]
    return run(kaiten, network, "--best", "1", "--memory", memory, "--halos", halos,
               blocks=plan["column_blocks"] if halos == "kept" else 1)


def halo_rate(j):
    """Voxels a second of the whole volume by processor time: all blocks, those that reach beyond it included, take what those measured do."""
    results = 1
    for view in j["field_of_view"]:
        results *= SIDE - view + 1
    return results * j["blocks"]["done"] / j["blocks"]["all"] / (j["processor_seconds"] / j["threads"])


def halo_rows(network, memory, computed, kept):
    rows, before = [], halo_rate(computed)
    for j in (computed, kept):
        plan, rate = j["plans"][0], halo_rate(j)
        predicted = plan["predicted_voxels_per_second"]
        rows.append([network, memory.replace("GiB", " GiB"), plan["halos"], " x ".join(map(str, plan["block_result"])), f"{plan['halo_bytes'] / 2**20:,.0f}", plan["layers"],
                     f"{rate:,.0f}", f"{predicted:,.0f}", f"{100 * (predicted / rate - 1):+.0f} %", f"{rate / before:.2f}", f"{rate / TWO_CORES[network]:.1f}"])
    return rows


def halos(_args, kaiten):
    return [row for network, memory in HALO_MEMORY.items()
            for row in halo_rows(network, memory, *(column(kaiten, network, how, memory) for how in ("computed", "kept")))]


def convolutions(network, block):
    """Of a block by MPF, from its first layer on: (images, channels, outputs, extent of an image, kernel)."""
    with open(os.path.join(report.ROOT, "models", "volumes", network + ".znni"), encoding="utf-8") as f:
        lines = [line.split() for line in f.read().splitlines()[1:] if line.split()]
    layers, maps = [], 1
    for kind, size, *outputs in lines:
        window = [int(n) for n in size.split(",")]
        layers.append((kind, window, maps, int(outputs[0]) if outputs else maps))
        maps = layers[-1][3]
    extent, images = list(block), 1
    for kind, window, _, _ in layers:
        if kind == "POOL":
            images *= window[0] * window[1] * window[2]
            extent = [e // w for e, w in zip(extent, window)]
    found = []
    for kind, window, channels, outputs in reversed(layers):
        if kind == "POOL":
            images //= window[0] * window[1] * window[2]
            extent = [w * e + w - 1 for e, w in zip(extent, window)]
        else:
            extent = [e + w - 1 for e, w in zip(extent, window)]
            found.append((images, channels, outputs, extent, window[0]))
    return found[::-1]


def onednn(args, kaiten):
    """The direct method takes a block as large as the transforms', whose first layers' halos count less in it."""
    program = report.program(args.build, "kaiten-bench-fft", "kaiten-bench-fft")
    rows = []
    for network in TWO_CORES:
        j = run(kaiten, network, "--best", "1", "--halos", "computed", "--memory", ONEDNN_MEMORY, "--threads", "1")
        block = j["plans"][0]["block_result"]
        layers = convolutions(network, block)
        done = subprocess.run([program, "onednn", "1", *(",".join(map(str, (channels, outputs, *extent, kernel))) for _, channels, outputs, extent, kernel in layers)],
                              capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if done.returncode:
            sys.exit("bench: " + done.stderr.strip())
        times = [json.loads(line)["ms"] / 1e3 * images for line, (images, *_) in zip(done.stdout.splitlines(), layers)]
        macs = sum(images * channels * outputs * kernel**3 * (extent[0] - kernel + 1) * (extent[1] - kernel + 1) * (extent[2] - kernel + 1)
                   for images, channels, outputs, extent, kernel in layers)
        ours, theirs = rates(j)[1], block[0] * block[1] * block[2] / sum(times)
        rows.append([network, cube(block), j["plans"][0]["layers"], f"{ours:,.0f}", f"{theirs:,.0f}", f"{2 * macs / sum(times) / 1e9:,.0f}", f"{ours / theirs:.2f}"])
    return rows


def large(_args, kaiten):
    """By the model alone."""
    rows = []
    for network, published in TWO_CORES.items():
        plans = [report.result(kaiten, "volume", f"models/volumes/{network}.znni", "--size", "1024,1024,1024", "--memory", "16GiB", "--best", "1", "--plan-only",
                               "--halos", how)["plans"][0] for how in ("computed", "kept")]
        before, after = (p["predicted_voxels_per_second"] for p in plans)
        rows.append([network, *(" x ".join(map(str, p["block_result"])) for p in plans), f"{plans[1]['halo_bytes'] / 2**30:.1f}", f"{before:,.0f}", f"{after:,.0f}",
                     f"{after / before:.2f}", f"{after / published:.1f}"])
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
    """The paper's computer, on paper: this one's rates over as many threads as it has cores, by the calibration of the splits above."""
    report.result(kaiten, "volume", "models/volumes/small.znni", "--int8", "--plan-only", "--size", "28,28,28", "--threads", "2")
    with open(os.path.join(os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache")), "kaiten", "volume-int8-2-threads.json")) as f:
        rates = json.load(f)
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "rates.json")
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
          "halos": (["network", "memory", "halos", "block's result", "halos, MiB", "layers", "voxels/s by processor time", "predicted", "off", "times computed",
                     "times ZNNi's two cores"], halos),
          "onednn": (["network", "block's result", "layers", "voxels/s of one thread", "oneDNN's convolutions, voxels/s", "their GOP/s", "times as fast"], onednn),
          "large": (["network", "block's result, computed", "kept", "halos, GiB", "voxels/s, computed", "kept", "times computed", "times ZNNi's two cores"], large),
          "split": (SPLIT_HEAD, split),
          "paper": (SPLIT_HEAD, paper)}


if __name__ == "__main__":
    sys.exit(report.main(__file__, __doc__, DOCS, TABLES, memory="bound of memory of the first table, such as 16GiB"))
