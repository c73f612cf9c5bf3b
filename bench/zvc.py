#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Measures compression on the memory path: whole networks with --compress off and on, bytes and cycles, the ratio beside ZVC's limit.

usage: bench/zvc.py [--build DIR] [--docs]
The planner keeps nearly every map of these networks on chip, so there would be nothing to compress: --spill sends every map through
memory. Three memories for each: as wide as the bus, a quarter and an eighth of it. Bytes, cycles and ratios are the same on every machine. `limit` is
what ZVC needs for the maps that are compressed, a bit an element and the elements themselves (8 / (8 d + 1) at density d), over what moved
with them: whole bus beats and size surfaces. Another table is of weights, with maps on chip where the planner
keeps them: a trained network that has many of zero, and ResNet-18 of `kaiten-generate` with 0, 50 and 80 % of them zero. A difference from the reference ends the bench with exit code 1. --docs writes the
tables into docs/software/compression.md, between their markers. --only maps|weights measures one of them."""
import argparse
import os
import subprocess
import sys

import report
from report import SHARED, tools

TFLITE = os.path.join(SHARED, "models", "tflite")
IMAGE = os.path.join(SHARED, "models", "images", "raw", "cat_224.rgb")
RUNS = (  # network, model, configuration, its bus in bytes, input
    ("demo", "demo", "nano", 16, None),
    ("ResNet-8", os.path.join(TFLITE, "mlperf-tiny", "pretrainedResnet_quant.tflite"), "nano", 16, None),
    ("person detection", os.path.join(TFLITE, "mlperf-tiny", "vww_96_int8.tflite"), "nano", 16, None),
    ("MobileNetV2 224", os.path.join(TFLITE, "coral", "tf2_mobilenet_v2_1.0_224_ptq.tflite"), "base", 64, IMAGE),
)


def call(*command):
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        sys.exit(f"bench: {' '.join(command[1:])}: exit code {done.returncode}: {done.stderr.strip() or done.stdout[-300:]}")
    return done.stdout


def run(kaiten, model, config, compress, width, *more):
    return report.result(kaiten, "run", model, "--config", config, "--compress", compress, "--bytes-per-cycle", str(width), *more)


def moved(result):
    read, written = result["bytes"]["read"], result["bytes"]["written"]
    return read["activations"] + written["activations"]


def table(title, texts, rows):
    text = "| " + " | ".join(title) + " |\n|" + "---|" * texts + "---:|" * (len(title) - texts) + "\n"
    return text + "".join("| " + " | ".join(row) + " |\n" for row in rows)


def cycles(off, on):
    return f"{off['cycles']:,}", f"{on['cycles']:,}", f"{100 * (on['cycles'] / off['cycles'] - 1):+.1f} %"


def total(layers):
    return (sum(layer["zvc"][k] for layer in layers) for k in ("raw_bytes", "packed_bytes", "limit_bytes"))


def columns_of(layer):
    return int(layer["shape_out"].split("x")[-2])


def maps(kaiten):
    rows = []
    for network, model, config, bus, image in RUNS:
        if model != "demo" and not os.path.exists(model):
            print(f"bench: {network} left out, {os.path.normpath(model)} is absent (docs/third_party_models.md)", file=sys.stderr)
            continue
        for width in (bus, bus // 4, bus // 8):
            off, on = (run(kaiten, model, config, c, width, "--spill", *(["--input", image] if image else [])) for c in ("off", "auto"))
            raw, packed, limit = total(on["layers"])
            rows.append((network, config, str(width), f"{moved(off):,}", f"{moved(on):,}", *cycles(off, on), f"{raw / packed:.2f}",
                         f"{100 * limit / packed:.1f} %"))
        widest = on  # of the last network, which has maps of every size
    title = ("network", "size", "bytes/cycle", "activation bytes", "compressed", "cycles", "compressed", "", "ratio", "share of the limit")
    text = table(title, 2, rows)
    rows = []
    packed_layers = [layer for layer in widest["layers"] if layer["zvc"]["packed_bytes"]]
    for columns in sorted({columns_of(layer) for layer in packed_layers}, reverse=True):
        raw, packed, limit = total([layer for layer in packed_layers if columns_of(layer) == columns])
        rows.append((f"{columns}", f"{raw:,}", f"{packed:,}", f"{raw / packed:.2f}", f"{100 * limit / packed:.1f} %"))
    title = (f"maps of {widest['model']}, columns", "bytes", "compressed", "ratio", "share of the limit")
    return text + "\n" + table(title, 1, rows)


def weights(kaiten, build):
    folder = os.path.join(build, "bench")
    os.makedirs(folder, exist_ok=True)
    networks = [run[:4] for run in RUNS if run[0] == "person detection" and os.path.exists(run[1])]
    for zeros in (0, 50, 80):
        model = os.path.join(folder, f"resnet18_{zeros}.tflite")
        call(report.program(build, "kaiten-generate"), "resnet18", "--zeros", str(zeros), "--output", model)
        networks.append((f"ResNet-18, {zeros} % zero", model, "base", 64))
    rows = []
    for network, model, config, bus in networks:
        listed = report.result(kaiten, "compress", model, "--codec", "zvc")
        limit, density = next((l["zvc_limit"], l["density"]) for l in listed if l["of"] == "weights" and l["layer"] is None)
        for width in (bus, bus // 4, bus // 8):
            off, on = (run(kaiten, model, config, c, width) for c in ("off", "auto"))
            raw, packed = (r["bytes"]["read"]["weights"] for r in (off, on))
            rows.append((network, config, f"{density:.2f}", str(width), f"{raw:,}", f"{packed:,}", *cycles(off, on), f"{raw / packed:.2f}",
                         f"{100 * raw / packed / limit:.1f} %" if limit > 1 else "-"))
    title = ("network", "size", "density", "bytes/cycle", "weight bytes", "compressed", "cycles", "compressed", "", "ratio", "share of the limit")
    return table(title, 2, rows)


def main():
    parser = argparse.ArgumentParser(description="Compression on the memory path, off and on.")
    parser.add_argument("--build", default="build", help="folder with the tools")
    parser.add_argument("--docs", action="store_true", help="write the tables into docs/software/compression.md")
    parser.add_argument("--only", choices=("maps", "weights"), help="one table")
    args = parser.parse_args()
    kaiten = report.program(args.build, "kaiten")
    for what, place, make in (("maps", "bench/zvc.py", lambda: maps(kaiten)),
                              ("weights", "bench/zvc.py, weights", lambda: weights(kaiten, args.build))):
        if args.only not in (None, what):
            continue
        text = make()
        print(text)
        if args.docs:
            report.write_between("docs/software/compression.md", place, text)
    return 0


if __name__ == "__main__":
    sys.exit(tools.guarded(main))
