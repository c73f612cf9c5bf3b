#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Figures 11 to 13 of the cDMA paper for its six networks, on synthetic maps: ratios by codec and layout, traffic, speed.

usage: bench/cdma.py [--build DIR] [--docs]
A synthetic map has IMAGES images of CHANNELS channels of SIDE x SIDE 32-bit words and the density of a layer (sw/offload/densities.json).
What is not zero lies in patches: a smooth field, a bias of each channel that all images share and some noise are cut where so many are
left. `kaiten compress` packs it in windows of 4 KB. Averages are weighted by the layers' bytes; speed is `kaiten offload`'s with each
layer's measured ratio. The same on every machine. --docs writes the tables into docs/software/offload.md."""
import argparse
import array
import json
import os
import random
import sys
import tempfile

import report
from offload import NETWORKS
from report import ROOT, markdown, tools

CODECS = {"rle": "RLE", "zvc": "ZVC", "zlib": "zlib"}
LAYOUTS = ("nchw", "nhwc", "chwn")
IMAGES, CHANNELS, SIDE, CELL = 8, 16, 32, 8
WORD = 32
DENSITIES = os.path.join(ROOT, "sw", "offload", "densities.json")
DEVICE = "titan-xp"


def smooth_field(rng):
    """SIDE x SIDE values between those of a grid of CELL x CELL pixels."""
    corners = SIDE // CELL + 1
    grid = [[rng.gauss(0, 1) for _ in range(corners)] for _ in range(corners)]
    field = []
    for y in range(SIDE):
        i, v = divmod(y, CELL)
        for x in range(SIDE):
            j, u = divmod(x, CELL)
            left, right = ((grid[i][k] * (CELL - v) + grid[i + 1][k] * v) / CELL for k in (j, j + 1))
            field.append((left * (CELL - u) + right * u) / CELL)
    return field


def synthetic_map(density):
    """Its words in NCHW."""
    rng = random.Random(1)
    bias = [rng.gauss(0, 0.5) for _ in range(CHANNELS)]
    values = [v + b + rng.gauss(0, 0.2) for _ in range(IMAGES) for b in bias for v in smooth_field(rng)]
    cut = sorted(values, reverse=True)[min(round(density * len(values)), len(values) - 1)]
    return array.array("f", (v - cut if v > cut else 0.0 for v in values)).tobytes()


def ratios(kaiten, density, memory):
    """{(codec, layout): ratio} of a map of this density."""
    if density not in memory:
        with tempfile.NamedTemporaryFile(suffix=".bin") as file:
            file.write(synthetic_map(density))
            file.flush()
            rows = report.result(kaiten, "compress", file.name, "--bits", str(WORD), "--shape", f"{IMAGES},{CHANNELS},{SIDE},{SIDE}", "--from", "nchw")
        memory[density] = {(r["codec"], r["layout"]): r["ratio"] for r in rows}
    return memory[density]


def speeds(kaiten, table, layers, batch, ratio_of):
    """{policy: share of the oracle's speed} when layers compress by these ratios, given as the densities whose ZVC ratios they are."""
    as_density = {name: min(max(1 / ratio_of(density) - 1 / WORD, 0), 1) for name, density in layers.items()}
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump({"batch": batch, "layers": as_density}, file)
        file.flush()
        run = report.result(kaiten, "offload", table, "--device", DEVICE, "--densities", file.name)
    return {p["name"]: p["performance"] for p in run["policies"]}


def means(rows):
    return [sum(column) / len(rows) for column in zip(*rows)]


def main():
    parser = argparse.ArgumentParser(description="Codecs, layouts, traffic and speed as in the cDMA paper's figures 11 to 13.")
    parser.add_argument("--build", default="build", help="build folder (default: build)")
    parser.add_argument("--docs", action="store_true", help="write the tables into docs/software/offload.md")
    args = parser.parse_args()
    kaiten = report.program(args.build, "kaiten")
    with open(DENSITIES, encoding="utf-8") as f:
        known = json.load(f)["networks"]
    memory, by_layout, traffic, speed, averages, shares = {}, [], [], [], [], []
    for network in NETWORKS:
        table = os.path.join(ROOT, "models", "tables", network + ".json")
        base = report.result(kaiten, "offload", table, "--device", DEVICE)
        name, layers = base["network"], known[base["network"]]["layers"]
        maps = [(layer["raw_bytes"], ratios(kaiten, layer["density"], memory)) for layer in base["layers"] if layer["raw_bytes"]]
        raw = sum(size for size, _ in maps)
        average = {key: raw / sum(size / r[key] for size, r in maps) for key in maps[0][1]}
        most = {key: max(r[key] for _, r in maps) for key in maps[0][1]}
        averages.append([average[c, o] for o in LAYOUTS for c in CODECS])
        by_layout.append([name, *(f"{average[c, o]:.2f}, {most[c, o]:.1f}" for o in LAYOUTS for c in CODECS)])
        traffic.append([name, *(f"{1 / average[c, 'nchw']:.2f}" for c in CODECS)])
        runs = {c: speeds(kaiten, table, layers, base["batch"], lambda d, c=c: ratios(kaiten, d, memory)[c, "nchw"]) for c in CODECS}
        row = [runs["zvc"]["vdnn"], *(runs[c]["cdma"] for c in CODECS), runs["zvc"]["cdma-aware"]]
        shares.append(row)
        speed.append([name, *(f"{v:.2f}" for v in row)])
        print(f"bench: {name}", file=sys.stderr, flush=True)
    by_layout.append(["mean", *(f"{v:.2f}" for v in means(averages))])
    traffic.append(["mean", *(f"{v:.2f}" for v in means([[1 / v for v in row[:len(CODECS)]] for row in averages]))])
    speed.append(["mean", *(f"{v:.2f}" for v in means(shares))])
    figure11 = markdown(["network: average, best layer", *(f"{n}, {o.upper()}" for o in LAYOUTS for n in CODECS.values())], by_layout)
    figure12 = markdown(["bytes over the link, of vDNN's", *CODECS.values()], traffic)
    figure13 = markdown([f"speed on {DEVICE}, of the oracle's", "vDNN", *CODECS.values(), "ZVC, bandwidth-aware"], speed)
    print(f"{figure11}\n{figure12}\n{figure13}", end="")
    if args.docs:
        report.write_between("docs/software/offload.md", "bench/cdma.py: figure 11", figure11)
        report.write_between("docs/software/offload.md", "bench/cdma.py: figure 12", figure12)
        report.write_between("docs/software/offload.md", "bench/cdma.py: figure 13", figure13)
    return 0


if __name__ == "__main__":
    sys.exit(tools.guarded(main))
