#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Plans the networks of the Occam paper at 3 MiB and compares with what it publishes; measures the planner's speed.

usage: bench/plan.py [--build DIR]
Traffic and partitions are the same on every machine, the times are this one's. docs/compiler/planning.md explains the differences. Exit
code 1 when a partition costs more than the published one under the paper's own rules."""
import argparse
import json
import os
import random
import sys
import tempfile
import time

import report
from report import ROOT, markdown

TABLES = os.path.join(ROOT, "models", "tables")
CAPACITY = "3MiB"
# Network, boundaries (table II), misses of Occam and Layer Fusion by the paper's model and instructions of Layer Fusion, each of
# the base case (table III).
PAPER = {
    "alexnet": ([0, 8], 0.05, 0.10, 1.70),
    "vgg16": ([0, 6, 11, 12, 14, 15, 16, 18], 0.06, 0.06, 1.29),
    "zfnet": ([0, 5, 8], 0.06, 0.06, 1.05),
    "resnet18": ([0, 12, 15, 16, 17, 18], 0.04, 0.04, 1.72),
    "resnet34": ([0, 15, 21, 26, 29, 30, 31, 32, 33, 34], 0.04, 0.04, 1.77),
    "resnet50": ([0, 21, 30, 37, 42, 43, 45, 46, 48, 49, 50], 0.04, 0.05, 1.36),
    "resnet101": ([0, 21, 30, 37, 45, 52, 60, 67, 75, 82, 90, 93, 94, 96, 97, 99, 100, 101], 0.03, 0.04, 1.40),
    "resnet152": ([0, 21, 36, 43, 51, 58, 66, 73, 81, 88, 96, 103, 111, 118, 126, 133, 141, 144, 145, 147, 148, 150, 151, 152],
                  0.03, 0.04, 1.37),
}


def plan(kaiten, table, *options):
    return report.result(kaiten, "plan", table, *options)


def method(result, name, closure=None):
    return next(m for m in result["methods"] if m["name"] == name and closure in (None, m["closure"]))


def cuts(m):
    return [s["first"] for s in m["spans"]] + [m["spans"][-1]["last"] + 1]


def random_table(layers):
    rng = random.Random(1)
    names, rows = ["input"], []
    for i in range(layers):
        row = {"name": f"l{i}", "op": "conv", "kernel": [3, 3], "pad": [1, 1, 1, 1], "channels": 16}
        if i > 2 and rng.random() < 0.3:
            row["add"] = names[rng.randrange(max(1, i - 40), i)]
        names.append(row["name"])
        rows.append(row)
    return json.dumps({"name": "random", "input": {"height": 32, "width": 32, "channels": 16}, "layers": rows})


def main():
    parser = argparse.ArgumentParser(description="Plans the networks of the Occam paper and compares with its figures.")
    parser.add_argument("--build", default="build", help="build folder (default: build)")
    kaiten = report.program(parser.parse_args().build, "kaiten")
    rows, partitions, worse = [], [], []
    for name, (published, miss, fusion_miss, instructions) in PAPER.items():
        path = os.path.join(TABLES, name + ".json")
        on = plan(kaiten, path, "--capacity", CAPACITY)
        off = plan(kaiten, path, "--capacity", CAPACITY, "--residual-penalty", "off")
        base, fusion = method(on, "per-layer"), method(on, "layer-fusion")
        weights = sum(s["weights_bytes"] for s in base["spans"])
        free = method(off, "optimal", "paper")
        ours = cuts(free)
        same = "equal" if ours == published else "other, of equal cost" if name == "resnet152" else "**other**"
        if ours != published and name != "resnet152":
            worse.append(name)
        row = [on["network"], f"{len(ours) - 1}", same, f"{free['traffic_bytes']:,}"]
        for closure in ("paper", "rolling"):
            m = method(on, "optimal", closure)
            row += [f"{m['traffic_bytes']:,}", f"{base['traffic_bytes'] / m['traffic_bytes']:.1f}"]
            partitions.append(f"{on['network']}, {closure}: {' '.join(map(str, cuts(m)))}")
        partitions.append(f"{on['network']}, paper, no penalty: {' '.join(map(str, ours))}")
        both = base["traffic_bytes"] + weights
        paper_on = method(on, "optimal", "paper")
        row += [f"{free['traffic_bytes'] / both:.3f}", f"{paper_on['traffic_bytes'] / both:.3f}", f"{miss:.2f}",
                f"{fusion['traffic_bytes'] / both:.3f}", f"{fusion_miss:.2f}", f"{fusion['macs'] / base['macs']:.2f}", f"{instructions:.2f}"]
        rows.append(row)
    print(markdown(["network", "spans", "published boundaries", "traffic without penalty", "paper closure", "reduction", "rolling",
                    "reduction", "of base with weights, without penalty", "with", "in the paper", "Layer Fusion of base",
                    "in the paper", "Layer Fusion MACs", "instructions in the paper"], rows))
    print("Boundaries at " + CAPACITY)
    print("\n".join("  " + p for p in partitions) + "\n")

    path = os.path.join(TABLES, "resnet152.json")
    planning = min(plan(kaiten, path, "--capacity", CAPACITY, "--method", "optimal")["planning_ms"] for _ in range(5))
    start = time.monotonic()
    plan(kaiten, path, "--sweep", "256KiB:16MiB", "--method", "optimal")
    sweep = time.monotonic() - start
    with tempfile.TemporaryDirectory() as folder:
        random_path = os.path.join(folder, "random.json")
        with open(random_path, "w") as f:
            f.write(random_table(1000))
        large = plan(kaiten, random_path, "--capacity", "1MiB", "--method", "optimal")["planning_ms"]
    print(f"ResNet-152 planned in {planning:.2f} ms (goal 10), 64 capacities in {1000 * sweep:.0f} ms with start-up (goal 1000), "
          f"1,000 layers with residual edges in {large:.0f} ms (goal 2000)")
    if worse:
        print("other boundaries than published: " + ", ".join(worse), file=sys.stderr)
    return int(bool(worse))


if __name__ == "__main__":
    sys.exit(main())
