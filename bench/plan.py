#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Plans the networks of the Occam paper and compares with what it publishes: partitions, misses, energy, and its FPGA.

usage: bench/plan.py [--build DIR] [--only misses|energy|fpga|speed] [--docs]
Traffic, partitions and modelled cycles are the same on every machine, the times of `speed` are this one's. --docs writes the tables into
docs/compiler/planning.md, which explains the differences. Exit code 1 when a partition costs more than the published one under the paper's
own rules."""
import json
import math
import os
import random
import sys
import tempfile
import time

import report
from report import ROOT

DOCS = "docs/compiler/planning.md"
TABLES = os.path.join(ROOT, "models", "tables")
CAPACITY = "3MiB"
with open(os.path.join(ROOT, "sw", "plan", "energy.json"), encoding="utf-8") as parameters:
    DRAM_PICOJOULES = json.load(parameters)["dram_picojoules_per_byte"]
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
# Its FPGA (section V-C, table IV): 64 lanes, 350 MB/s at 50 MHz, networks with half the channels.
FPGA_CONFIG = "de2_150"
FPGA_CAPACITY = "800KiB"  # 820 KB
FPGA_BYTES_PER_CYCLE = (7, 1)
FPGA_IMAGES = 16
FPGA_REDUCTION = {"alexnet": 7, "resnet34": 31, "resnet101": 43}


def plan(kaiten, table, *options):
    return report.result(kaiten, "plan", table, *options)


def table_of(name):
    return os.path.join(TABLES, name + ".json")


def method(result, name, closure=None):
    return next(m for m in result["methods"] if m["name"] == name and closure in (None, m["closure"]))


def cuts(m):
    return [s["first"] for s in m["spans"]] + [m["spans"][-1]["last"] + 1]


def weights_of(m):
    return sum(s["weights_bytes"] for s in m["spans"])


def mean(values):
    """Geometric."""
    return math.exp(sum(map(math.log, values)) / len(values))


def misses(_, kaiten):
    """Partitions and traffic at CAPACITY, beside tables II and III."""
    rows, partitions, worse, free_all, with_all, paper_all = [], [], [], [], [], []
    for name, (published, miss, fusion_miss, instructions) in PAPER.items():
        on = plan(kaiten, table_of(name), "--capacity", CAPACITY)
        off = plan(kaiten, table_of(name), "--capacity", CAPACITY, "--residual-penalty", "off")
        base, fusion = method(on, "per-layer"), method(on, "layer-fusion")
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
        both = base["traffic_bytes"] + weights_of(base)
        free_share, with_share = free["traffic_bytes"] / both, method(on, "optimal", "paper")["traffic_bytes"] / both
        row += [f"{free_share:.3f}", f"{with_share:.3f}", f"{miss:.2f}", f"{fusion['traffic_bytes'] / both:.3f}", f"{fusion_miss:.2f}",
                f"{fusion['macs'] / base['macs']:.2f}", f"{instructions:.2f}"]
        rows.append(row)
        free_all.append(1 / free_share)
        with_all.append(1 / with_share)
        paper_all.append(1 / miss)
    print("Boundaries at " + CAPACITY + "\n" + "\n".join("  " + p for p in partitions) + "\n", file=sys.stderr)
    if worse:
        sys.exit("bench: other boundaries than published: " + ", ".join(worse))
    rows.append(["fewer, geometric mean", *[""] * 7, f"{mean(free_all):.1f}", f"{mean(with_all):.1f}", f"{mean(paper_all):.1f}", *[""] * 4])
    return rows


def energy(_, kaiten):
    """Millijoules an image at CAPACITY, the base case's filters counted as its misses are, beside figure 9."""
    rows, shares, saved, saved_fusion = [], [], [], []
    for name in PAPER:
        found = plan(kaiten, table_of(name), "--capacity", CAPACITY, "--closure", "paper", "--residual-penalty", "off")
        base = method(found, "per-layer")
        dram = DRAM_PICOJOULES * (base["traffic_bytes"] + weights_of(base)) / 1e9
        compute = base["energy_millijoules"]["compute"]
        total = compute + dram
        row = [found["network"], f"{compute:.2f}", f"{dram:.2f}", f"{100 * compute / total:.0f} : {100 * dram / total:.0f}"]
        for m in (method(found, "optimal", "paper"), method(found, "layer-fusion")):
            e = m["energy_millijoules"]
            row += [f"{e['compute']:.2f}", f"{e['dram'] + e['link']:.2f}", f"{100 * (1 - sum(e.values()) / total):.0f} %"]
            (saved if m["name"] == "optimal" else saved_fusion).append(1 - sum(e.values()) / total)
        shares.append(compute / total)
        rows.append(row)
    n = len(rows)
    rows.append(["mean", "", "", f"{100 * sum(shares) / n:.0f} : {100 - 100 * sum(shares) / n:.0f}", "", "", f"{100 * sum(saved) / n:.0f} %", "", "",
                 f"{100 * sum(saved_fusion) / n:.0f} %"])
    rows.append(["in the paper", "", "", "65 : 35", "", "", "33 %", "", "", "12 %"])
    return rows


def thinned(name):
    """The layer table with half the channels and without its classifier, as the paper's FPGA had the networks."""
    with open(table_of(name), encoding="utf-8") as f:
        table = json.load(f)
    head = table.pop("classifier", None)
    kept = []
    for layer in table["layers"]:
        if layer["name"] == head or layer["op"] == "fc":
            break
        if "channels" in layer:
            layer["channels"] //= 2
        kept.append(layer)
    return {**table, "layers": kept}


def fpga(_, kaiten):
    """One image layer by layer, filters read for it, against the plan with filters on chip: FPGA_IMAGES images stand for many."""
    rows, by_rules, fewer, faster = [], [], [], {rate: [] for rate in FPGA_BYTES_PER_CYCLE}
    for name, paper in FPGA_REDUCTION.items():
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, name + ".json")
            with open(path, "w", encoding="utf-8") as f:
                json.dump(thinned(name), f)
            rules = plan(kaiten, path, "--capacity", FPGA_CAPACITY, "--closure", "paper", "--residual-penalty", "off")
            runs = {rate: (one_by_one(kaiten, path, rate), resident(kaiten, path, rate)) for rate in FPGA_BYTES_PER_CYCLE}
        base = method(rules, "per-layer")
        by_rules.append((base["traffic_bytes"] + weights_of(base)) / method(rules, "optimal", "paper")["traffic_bytes"])
        before, after = runs[FPGA_BYTES_PER_CYCLE[0]]
        bytes_before, bytes_after = moved(before, MAPS + ("weights", "parameters")), moved(after, MAPS) / FPGA_IMAGES
        fewer.append(bytes_before / bytes_after)
        row = [rules["network"], f"{by_rules[-1]:.1f}", f"{bytes_before:,}", f"{bytes_after:,.0f}", f"{fewer[-1]:.1f}", str(paper)]
        for rate, (slow, fast) in runs.items():
            cycles = fast["cycles"] / FPGA_IMAGES
            faster[rate].append(slow["cycles"] / cycles)
            row += [f"{slow['cycles']:,}", f"{cycles:,.0f}", f"{faster[rate][-1]:.2f}"]
        rows.append(row)
    rows.append(["geometric mean", f"{mean(by_rules):.1f}", "", "", f"{mean(fewer):.1f}", f"{mean(FPGA_REDUCTION.values()):.0f}",
                 *(x for times in faster.values() for x in ("", "", f"{mean(times):.2f}"))])
    return rows


MAPS = ("input", "output", "spilled", "residual")


def moved(m, kinds):
    return sum(m["bytes"][kind] for kind in kinds)


def one_by_one(kaiten, path, rate):
    return plan(kaiten, path, "--config", FPGA_CONFIG, "--bytes-per-cycle", str(rate), "--method", "per-layer")["methods"][0]


def resident(kaiten, path, rate):
    return plan(kaiten, path, "--config", FPGA_CONFIG, "--bytes-per-cycle", str(rate), "--method", "optimal", "--batch",
                str(FPGA_IMAGES))["methods"][0]


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


def speed(_, kaiten):
    path = table_of("resnet152")
    planning = min(plan(kaiten, path, "--capacity", CAPACITY, "--method", "optimal")["planning_ms"] for _ in range(5))
    start = time.monotonic()
    plan(kaiten, path, "--sweep", "256KiB:16MiB", "--method", "optimal")
    sweep = time.monotonic() - start
    with tempfile.TemporaryDirectory() as folder:
        random_path = os.path.join(folder, "random.json")
        with open(random_path, "w", encoding="utf-8") as f:
            f.write(random_table(1000))
        large = plan(kaiten, random_path, "--capacity", "1MiB", "--method", "optimal")["planning_ms"]
    return [["ResNet-152", f"{planning:.2f}", "10"], ["ResNet-152 at 64 capacities, with start-up", f"{1000 * sweep:.0f}", "1000"],
            ["1,000 layers with residual edges", f"{large:.0f}", "2000"]]


TABLES_OF = {
    "misses": (["network", "spans", "published boundaries", "traffic without penalty", "paper closure", "reduction", "rolling", "reduction",
                "of base with weights, without penalty", "with", "in the paper", "Layer Fusion of base", "in the paper", "Layer Fusion MACs",
                "instructions in the paper"], misses),
    "energy": (["mJ an image", "base: compute", "DRAM", "%", "Occam: compute", "DRAM, links", "saved", "Layer Fusion: compute", "DRAM, links",
                "saved"], energy),
    "fpga": (["half the channels", "by the paper's rules, fewer bytes", "bytes an image, layer by layer", "planned", "fewer", "in the paper",
              *(x for rate in FPGA_BYTES_PER_CYCLE for x in (f"cycles at {rate} B/cycle, layer by layer", "planned", "times as fast"))], fpga),
    "speed": (["planned", "ms", "goal"], speed),
}

if __name__ == "__main__":
    sys.exit(report.main(__file__, __doc__, DOCS, TABLES_OF))
