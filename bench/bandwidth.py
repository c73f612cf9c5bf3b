#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""How much faster the compiler's plan makes a network than layer by layer, at narrower and narrower buses: Occam's figure 8 on `base`.

usage: bench/bandwidth.py [--build DIR] [--networks REGEX] [--docs]
A figure is the ratio of cycles of two runs of the RTL, `kaiten run NETWORK --config base --no-check --bytes-per-cycle N`, with --spill, which
sends every map through memory, and as it is. The last row is the geometric mean. --docs writes the table into docs/compiler/planning.md."""
import argparse
import math
import re
import sys

import report
from cycle_model import CONFIG, NETWORKS
from report import markdown, tools

BYTES_PER_CYCLE = (64, 16, 8)
MEASURED = ("ResNet-8", "MobileNetV1 224", "MobileNetV2 224", "MobileNet-EdgeTPU 0.75-224", "ShuffleNet", "SqueezeNet 1.1", "GoogLeNet",
            "ResNet-18", "ResNet-34", "ResNet-50", "ResNet-101", "ResNet-152", "VGG-19")


def cycles(kaiten, model, bandwidth, *options):
    return report.result(kaiten, "run", model, "--config", CONFIG, "--no-check", "--bytes-per-cycle", str(bandwidth), *options)["cycles"]


def main():
    parser = argparse.ArgumentParser(description="Plans against layer by layer at three widths of the bus.")
    parser.add_argument("--build", default="build", help="build folder (default: build)")
    parser.add_argument("--networks", default="", help="only networks whose name matches this expression")
    parser.add_argument("--docs", action="store_true", help="write the table into docs/compiler/planning.md")
    args = parser.parse_args()
    kaiten = report.program(args.build, "kaiten")
    rows, ratios = [], {b: [] for b in BYTES_PER_CYCLE}
    for name in MEASURED:
        if not re.search(args.networks, name):
            continue
        model = report.model(NETWORKS[name], name, args.build)
        if not model:
            continue
        row = [name]
        for bandwidth in BYTES_PER_CYCLE:
            planned, layers = cycles(kaiten, model, bandwidth), cycles(kaiten, model, bandwidth, "--spill")
            ratios[bandwidth].append(layers / planned)
            row += [f"{planned:,}", f"{layers:,}", f"{layers / planned:.2f}"]
        rows.append(row)
        print(f"bench: {name}: " + ", ".join(f"{r[-1]:.2f}" for r in ratios.values()), file=sys.stderr, flush=True)
    if not rows:
        sys.exit("bench: no network to measure")
    means = [math.exp(sum(map(math.log, r)) / len(r)) for r in ratios.values()]
    rows.append(["geometric mean", *(x for mean in means for x in ("", "", f"{mean:.2f}"))])
    heads = [x for b in BYTES_PER_CYCLE for x in (f"planned, {b} B/cycle", "per layer", "ratio")]
    table = markdown([f"network on `{CONFIG}`, cycles", *heads], rows)
    print(table, end="")
    if args.docs:
        if len(rows) <= len(MEASURED):
            sys.exit("bench: docs/compiler/planning.md needs every network")
        report.write_between("docs/compiler/planning.md", "bandwidth", table)
    return 0


if __name__ == "__main__":
    sys.exit(tools.guarded(main))
