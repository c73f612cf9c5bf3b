#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Tables I to III of Kim et al., Efficient Multi-GPU Memory Management for Deep Learning Acceleration (2018), beside what `kaiten swap`
predicts.

usage: bench/swap.py [--build DIR] [--calibrate] [--docs]
The figures are a model's and the same on every machine. --calibrate sets what the model does not know from the rows without swapping
alone, and writes it into sw/swap/machines.json (build again afterwards); --docs writes the tables into docs/software/swap.md and
records the timelines of docs/data/swap (scripts/gen_pictures.py draws them)."""
import argparse
import json
import os
import sys

import report
from report import ROOT, markdown, tools

MACHINES = os.path.join(ROOT, "sw", "swap", "machines.json")
GIB = 1 << 30
# Rows without swapping: machine, network, batch, images/s of a device, and the largest batch that fits. Where the paper has a range
# (120 fits, 130 does not) its middle.
UNSWAPPED = {
    ("titanxp", "vgg16"): (80, 62.95, 80.5),
    ("titanxp", "inception_v3"): (114, 62.67, 114.5),
    ("p100x2", "vgg16"): (120, 83.56, 125),
    ("p100x4", "vgg16"): (110, 66.53, 115),
}
NAMES = {"vgg16": "VGG-16", "inception_v3": "Inception-v3"}
# Swapped: batch, images/s with vDNN (the paper's "original"), with its own scheme ("optimized").
SWAPPED = {"p100x2": ((120, 56.33, 81.14), (130, 56.66, 84.14), (140, 58.86, 86.65), (150, 60.12, 88.15)),
           "p100x4": ((110, 51.06, 68.31), (120, 52.49, 70.11), (130, 53.09, 70.24), (140, 54.86, 70.36))}
LARGEST = {("titanxp", "vgg16"): (80, 128, 73.93), ("titanxp", "inception_v3"): (114, 150, 63.34)}


class Tool:
    def __init__(self, build):
        self.kaiten = report.program(build, "kaiten")

    def __call__(self, machine, network, batch, policy, **options):
        more = [f"--{name.replace('_', '-')}={value!r}" for name, value in options.items()]
        return report.result(self.kaiten, "swap", network, "--topology", machine, "--batch", str(batch), "--policy", policy, *more)


def solve(function, low, high):
    """Where an increasing function is zero."""
    for _ in range(40):
        middle = (low * high) ** 0.5
        if function(middle) < 0:
            low = middle
        else:
            high = middle
    return low


def efficiency(swap, row, **options):
    batch, speed, _ = UNSWAPPED[row]
    return solve(lambda e: swap(*row, batch, "none", reserved=0, map_overhead=1, efficiency=e, **options)["images_per_second"] - speed,
                 0.01, 100)


def calibrate(swap):
    two, four = ("p100x2", "vgg16"), ("p100x4", "vgg16")

    def too_fast(rate):
        """With the efficiency that row two asks for, how far four devices are beyond the paper."""
        e = efficiency(swap, two, sum_gbps=rate)
        batch, speed, _ = UNSWAPPED[four]
        return swap(*four, batch, "none", reserved=0, map_overhead=1, efficiency=e, sum_gbps=rate)["images_per_second"] - speed

    rate = solve(too_fast, 1, 20)
    found = {row: {"efficiency": efficiency(swap, row, sum_gbps=rate)} for row in UNSWAPPED}

    def used(row, overhead):
        """Bytes that its largest batch takes, without what is reserved: linear in the batch."""
        at = [swap(*row, batch, "none", reserved=0, map_overhead=overhead)["peak_bytes"] for batch in (20, 40)]
        return at[0] + (at[1] - at[0]) * (UNSWAPPED[row][2] - 20) / 20

    titan = ("titanxp", "vgg16")
    overhead = solve(lambda f: used(two, f) - used(titan, f) - 4 * GIB, 0.5, 5)  # the same is reserved on 12 and on 16 GiB
    for row in UNSWAPPED:
        found[row]["reserved_bytes"] = (12 if row[0] == "titanxp" else 16) * GIB - used(row, overhead)
    return rate, overhead, found


def machines(rate, overhead, found):
    out = {}
    for machine, devices, per_switch in (("titanxp", 1, 1), ("p100x2", 2, 2), ("p100x4", 4, 2)):
        # Peak rate and bandwidth are the data sheets'; the link is PCIe gen3 as vDNN measures it.
        device = {"link_gbps": 12.8, "memory_bytes": (12 if machine == "titanxp" else 16) * GIB,
                  "tflops": 12.1 if machine == "titanxp" else 9.3, "memory_gbps": 548 if machine == "titanxp" else 732,
                  "networks": {NAMES[n]: {"efficiency": float(f"{c['efficiency']:.5g}"), "reserved_bytes": round(c["reserved_bytes"])}
                               for (m, n), c in found.items() if m == machine}}
        # Of other networks the mean of the known is the best guess there is.
        known = list(device["networks"].values())
        device["efficiency"] = float(f"{sum(c['efficiency'] for c in known) / len(known):.5g}")
        device["reserved_bytes"] = round(sum(c["reserved_bytes"] for c in known) / len(known))
        out[machine] = {"host": {"memory_gbps": 60, "pinned_bytes": 64 * GIB, "sum_gbps": float(f"{rate:.5g}")},
                        "switches": [{"name": f"switch{s}", "uplink_gbps": 12.8} for s in range(devices // per_switch)],
                        "devices": [{"name": f"gpu{d}", "switch": f"switch{d // per_switch}", **device} for d in range(devices)],
                        "latency_cycles": 10, "clock_mhz": 1, "map_overhead": float(f"{overhead:.5g}")}
    return json.dumps(out, indent=1) + "\n"


# Timelines of the documents: name, title, about, then options of the command and what each run is called.
JOBS = ("--topology", "examples/two_jobs/machine.json", "--independent", "--batch", "80")
GPUS = ("--topology", "p100x2", "--batch", "130")
TIMELINES = {
    "two_jobs": ("Two jobs on one uplink", "VGG-16 with 80 images on two devices that share an uplink, a job on each.",
                 JOBS, (("vdnn-conv", "vDNN, inputs of convolutions"), ("best", "found by search"))),
    "p100x2": ("Two GPUs of one switch", "VGG-16 with 130 images a GPU on two P100, as figure 3 of the paper.",
               GPUS, (("vdnn-conv", "vDNN, inputs of convolutions"), ("staggered", "staggered"))),
}


def record(swap):
    """Slices of compute, out and in by device, in milliseconds."""
    for name, (title, about, options, runs) in TIMELINES.items():
        out = []
        for policy, words in runs:
            trace = report.trace(swap.kaiten, "swap", "vgg16", *options, "--policy", policy)
            names = {e["pid"]: e["args"]["name"] for e in trace if e["name"] == "process_name"}
            slices = [e for e in trace if e["ph"] == "X"]
            out.append({"name": words, "milliseconds": round(max(e["ts"] + e["dur"] for e in slices) / 1e3, 1),
                        "devices": [n for n in names.values() if n != "host"],
                        "slices": [[e["tid"], e["pid"], round(e["ts"] / 1e3, 1), round((e["ts"] + e["dur"]) / 1e3, 1)]
                                   for e in slices if e["tid"] < 3]})
        with open(os.path.join(ROOT, "docs", "data", "swap", name + ".json"), "w") as f:
            f.write(json.dumps({"title": title, "about": about, "runs": out}) + "\n")


def beside(predicted, published):
    return [f"{predicted:.1f}", f"{published:.1f}", f"{100 * (predicted / published - 1):+.0f} %"]


def tables(swap):
    rows = []
    for (machine, network), (without, largest, speed) in LARGEST.items():
        plain = swap(machine, network, "max", "none")
        swapped = swap(machine, network, "max", "staggered")
        at, best = (swap(machine, network, min(largest, swapped["batch"]), p) for p in ("staggered", "best"))
        paper_plain = UNSWAPPED[machine, network][1]
        rows.append([NAMES[network], f"{plain['batch']}", f"{without}", f"{plain['images_per_second']:.1f}", f"{paper_plain:.1f}",
                     *(f"{v}" for v in (swapped["batch"], largest)), f"{100 * (swapped['batch'] / largest - 1):+.0f} %",
                     *beside(at["images_per_second"], speed),
                     f"{best['images_per_second']:.1f}"])
    out = ["Table I, one Titan Xp: largest batch, and images/s there (swapped: at the smaller of both batches).\n",
           markdown(["network", "batch without", "paper", "images/s", "paper", "batch with", "paper", "off", "images/s", "paper", "off", "best"],
                    rows)]
    for machine, title in (("p100x2", "Table II, VGG-16 on two P100 of one switch"), ("p100x4", "Table III, VGG-16 on four P100 of two switches")):
        rows = []
        for batch, vdnn, own in SWAPPED[machine]:
            speed = {p: swap(machine, "vgg16", batch, p)["images_per_second"] for p in ("vdnn-all", "vdnn-conv", "grappler", "staggered", "best")}
            rows.append([str(batch), f"{speed['vdnn-all']:.1f}", *beside(speed["vdnn-conv"], vdnn), f"{speed['grappler']:.1f}",
                         *beside(speed["staggered"], own), f"{100 * (speed['staggered'] / speed['vdnn-conv'] - 1):+.1f} %",
                         f"{100 * (own / vdnn - 1):+.1f} %", f"{speed['best']:.1f}"])
        plain, largest = (swap(machine, "vgg16", "max", p) for p in ("none", "staggered"))
        batch, speed, _ = UNSWAPPED[machine, "vgg16"]
        at = swap(machine, "vgg16", batch, "none")
        out += [f"\n{title}: images/s of a device.\nWithout swapping {at['images_per_second']:.2f} at batch {batch} (paper {speed}); largest batch "
                f"{plain['batch']}, staggered {largest['batch']}.\n",
                markdown(["batch", "vdnn-all", "vdnn-conv", "paper", "off", "grappler", "staggered", "paper", "off", "gain", "paper", "best"],
                         rows)]
    return "\n".join(out)


def main():
    parser = argparse.ArgumentParser(description="Predicts tables I to III of the multi-GPU swapping paper.")
    parser.add_argument("--build", default="build", help="build folder (default: build)")
    parser.add_argument("--calibrate", action="store_true", help="write sw/swap/machines.json from the rows without swapping")
    parser.add_argument("--docs", action="store_true", help="write the tables into docs/software/swap.md")
    args = parser.parse_args()
    swap = Tool(args.build)
    if args.calibrate:
        text = machines(*calibrate(swap))
        with open(MACHINES, "w") as f:
            f.write(text)
        return 0
    text = tables(swap)
    print(text, end="")
    if args.docs:
        report.write_between("docs/software/swap.md", "bench/swap.py", text)
        record(swap)
    return 0


if __name__ == "__main__":
    sys.exit(tools.guarded(main))
