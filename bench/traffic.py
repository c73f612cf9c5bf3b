#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Bytes that cross the memory bus on `base`, as the counters of the RTL tell them: the compiler's plan beside the per-layer schedule.

usage: bench/traffic.py [--build DIR] [--docs]
A row is `kaiten run NETWORK --config base --no-check --json -`, once as it is and once with --spill, which sends every map through memory. The
bound is that of `kaiten plan --method bound`: compact weights, parameters, image and outputs. --docs writes the table into
docs/compiler/planning.md. Exit code 1 when a plan moves more than its limit allows, commands apart."""
import argparse
import sys

import report
from cycle_model import CONFIG, NETWORKS
from report import markdown, tools

PAYLOAD = 1.02  # of the bound, commands apart
COMMANDS = {"MobileNetV2 224": 0.03, "ResNet-50": 0.015}  # share of all payload
MEASURED = ("ResNet-8", *COMMANDS, "MobileNet-EdgeTPU 0.75-224", "MobileNetV1 224", "GoogLeNet", "ResNet-18", "ResNet-152", "VGG-19")


def main():
    parser = argparse.ArgumentParser(description="Counts what a network moves, planned and layer by layer.")
    parser.add_argument("--build", default="build", help="build folder (default: build)")
    parser.add_argument("--docs", action="store_true", help="write the table into docs/compiler/planning.md")
    args = parser.parse_args()
    kaiten = report.program(args.build, "kaiten")
    rows, over = [], []
    for name in MEASURED:
        model = report.model(NETWORKS[name], name, args.build)
        if not model:
            continue
        bound = report.result(kaiten, "plan", model, "--config", CONFIG, "--method", "bound")["methods"][0]["traffic_bytes"]
        for schedule, options in (("planned", ()), ("per layer", ("--spill",))):
            run = report.result(kaiten, "run", model, "--config", CONFIG, "--no-check", *options)
            read, written = run["bytes"]["read"], run["bytes"]["written"]["activations"]
            commands = read["commands"]
            payload = sum(read.values()) + written - commands
            share = commands / (payload + commands)
            rows.append([name, schedule, f"{read['weights'] + read['parameters']:,}", f"{read['activations']:,}", f"{written:,}",
                         f"{payload:,}", f"{payload / bound:.4f}", f"{commands:,}", f"{100 * share:.2f} %",
                         f"{sum(run['bus_bytes'].values()):,}", f"{run['cycles']:,}"])
            if name in COMMANDS and not options and (payload > PAYLOAD * bound or share > COMMANDS[name]):
                over.append(name)
            print(f"bench: {name}, {schedule}: {payload / bound:.4f} of the bound", file=sys.stderr, flush=True)
    table = markdown([f"network on `{CONFIG}`", "schedule", "weights, parameters", "rows read", "rows written", "together", "of the bound",
                      "commands", "share", "on the bus", "cycles"], rows)
    print(table, end="")
    if args.docs:
        if len(rows) < 2 * len(MEASURED):
            sys.exit("bench: docs/compiler/planning.md needs every network")
        report.write_between("docs/compiler/planning.md", "traffic", table)
    if over:
        print("more bytes than the limit: " + ", ".join(over), file=sys.stderr)
    return int(bool(over))


if __name__ == "__main__":
    sys.exit(tools.guarded(main))
