#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Measures every configuration with every network and prints the table of README.

usage: bench/run.py [--build DIR] [--configs nano,base] [--networks REGEX] [--seconds S] [--readme] [--layers]
A row is `kaiten run NETWORK --config CONFIG`, twice: once as users run it, which gives the seconds of the whole command, the
comparison of every tensor with the reference included, and its peak memory; and once with `--seconds S`, which gives the
simulation speed over at least S seconds. Cycles, utilisation and bytes are the same on every machine. A difference from the
reference ends the bench with exit code 1. Generated networks are made by `kaiten-generate` in DIR/bench. --readme writes the table
into README.md, between its two markers, --layers the tables of the layers into docs/layer_results.md. Results also go to
DIR/bench/results.json."""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time

import report
from report import ROOT, markdown, tools

ALL = ("micro", "nano", "unit", "small", "base")
TFLITE = "models/tflite/"  # in the shared folder
NETWORKS = {  # name -> file in the shared folder, or what kaiten-generate makes, configurations
    "demo": ("demo", ALL),
    "ResNet-8": (TFLITE + "mlperf-tiny/pretrainedResnet_quant.tflite", ALL),
    "DS-CNN keyword spotting": (TFLITE + "mlperf-tiny/kws_ref_model.tflite", ("nano", "base")),
    "MobileNetV1 0.25-96 person detection": (TFLITE + "mlperf-tiny/vww_96_int8.tflite", ("nano", "base")),
    "MobileNetV2 224": (TFLITE + "coral/tf2_mobilenet_v2_1.0_224_ptq.tflite", ("base",)),
    "MobileNet-EdgeTPU 0.75-224": (TFLITE + "coral-edgetpu/mobilenet_edgetpu_0.75_224_post_training_quant.tflite", ("base",)),
    "MobileNetV1 224, random weights": ("mobilenet_v1", ("base",)),
    "ResNet-18, random weights": ("resnet18", ("base",)),
    "ResNet-50, random weights": ("resnet50", ("base",)),
    "SqueezeNet 1.1, random weights": ("squeezenet", ("base",)),
    "GoogLeNet, random weights": ("googlenet", ("base",)),
    "VGG-19, random weights": ("vgg19", ("base",)),
    # the first-layer path: one layer on an image of three channels
    "first layer 3x3/2, 32 channels": ("stem_3x3", ("nano", "base")),
    "first layer 7x7/2, 64 channels": ("stem_7x7", ("nano", "base")),
    "first layer 11x11/4, 96 channels": ("stem_11x11", ("nano", "base")),
}
LAYERS = ("MobileNetV2 224", "ResNet-50, random weights")  # whose tables are in docs/layer_results.md


def run(kaiten, model, config, *options):
    """The report of a run, its wall-clock seconds and its peak memory in MiB."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
        start = time.monotonic()
        process = subprocess.Popen([kaiten, "run", model, "--config", config, "--json", "-", *options], stdout=out, stderr=errors,
                                   stdin=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - start
        code = process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        errors.seek(0)
        if code not in (0, 1):
            sys.exit(f"bench: {model} on {config}: " + (errors.read().strip().splitlines() or [str(code)])[-1])
        return json.load(out), seconds, usage.ru_maxrss / 1024


def measure(kaiten, model, config, seconds):
    result, total, peak = run(kaiten, model, config)
    result["total_seconds"], result["peak_mib"] = total, peak
    fast, _, _ = run(kaiten, model, config, "--no-check", "--seconds", str(seconds))
    result["seconds"], result["khz"] = fast["seconds"], fast["khz"]
    return result


def kib(n):
    return f"{n / 1024:,.1f}"


def row(config, network, r):
    speed = r["khz"] * r["macs"] / r["cycles"] / 1e6  # thousand cycles a second x MACs a cycle, in GMAC
    read, written = sum(r["bytes"]["read"].values()), sum(r["bytes"]["written"].values())
    return [config, network, "yes" if r["exact"] else "**NO**", f"{r['cycles']:,}", f"{100 * r['array_utilization']:.1f} %",
            f"{100 * r['mac_utilization']:.1f} %", kib(read), kib(written), f"{r['khz']:,.0f}", f"{speed:.2f}", f"{r['total_seconds']:.1f}", f"{r['peak_mib']:,.0f}"]


HEAD = ["configuration", "network", "bit-exact", "cycles", "array utilisation", "MAC utilisation", "KiB read", "KiB written",
        "simulated kHz", "simulated GMAC/s", "seconds in all", "peak MiB"]
LAYER_HEAD = ["layer", "operator", "input", "output", "MACs", "cycles", "utilisation", "limited by", "lost to", "bytes read",
              "bytes written"]


def layer_table(r):
    def number(n):
        return f"{n:,}" if n else "-"

    rows = []
    for layer in r["layers"]:
        lost = [f"{what} {100 * share:.0f} %" for what, share in sorted(layer["losses"].items(), key=lambda x: -x[1])
                if share >= 0.02]
        rows.append([layer["name"].split("/batch_norm")[0], layer["op"], layer["shape_in"], layer["shape_out"],
                     number(layer["macs"]), number(layer["cycles"]),
                     f"{100 * layer['utilization']:.1f} %" if layer["macs"] and layer["cycles"] else "-",
                     layer["limited_by"] or "-", ", ".join(lost) or "-", number(layer["bytes_read"]),
                     number(layer["bytes_written"])])
    return markdown(LAYER_HEAD, rows)


def where_cycles_go(r):
    """Shares of a run's cycles: the array's products, what its layers lost to what, and layers of the vector engine."""
    shares = {"products on the array": r["array_utilization"]}
    for layer in r["layers"]:
        if layer["op"] in ("conv", "fc"):
            for what, share in layer["losses"].items():
                shares[what] = shares.get(what, 0) + share * layer["cycles"] / r["cycles"]
        else:
            shares["vector engine alone"] = shares.get("vector engine alone", 0) + layer["cycles"] / r["cycles"]
    return ", ".join(f"{what} {100 * share:.1f} %" for what, share in sorted(shares.items(), key=lambda x: -x[1])
                     if share >= 0.0005)


def layers_page(results):
    text = """# Layer by layer

Made by `make bench BENCH_ARGS=--layers` (`bench/run.py --layers`). Array and vector engine work on neighbouring layers
at the same time; a cycle belongs to the layer the array works for, else to that of the vector engine, so the cycles of
all layers add up to those of the run and a layer that hides behind another has few. Utilisation is that of the engine
the layer runs on; "padding" are multipliers without an operand, everything else are waits (`sw/observe/layer_clock.h`).
"""
    for name in LAYERS:
        r = results.get((name, "base"))
        if r:
            text += (f"\n## {name} on base\n\n{r['cycles']:,} cycles, array {100 * r['array_utilization']:.1f} %, all multipliers "
                     f"{100 * r['mac_utilization']:.1f} %. Of the cycles: {where_cycles_go(r)}.\n\n{layer_table(r)}")
    return tools.wrapped(text)



def main():
    parser = argparse.ArgumentParser(description="Measures every configuration with every network.")
    parser.add_argument("--build", default="build", help="build folder (default: build)")
    parser.add_argument("--configs", default="micro,nano,unit,small,base", help="comma-separated (default: all five)")
    parser.add_argument("--seconds", type=float, default=1.5, help="least duration of a speed measurement")
    parser.add_argument("--networks", default="", help="only networks whose name matches this expression")
    parser.add_argument("--readme", action="store_true", help="write the table into README.md")
    parser.add_argument("--layers", action="store_true", help="write docs/layer_results.md")
    args = parser.parse_args()
    build = os.path.join(ROOT, args.build)
    kaiten = report.program(args.build, "kaiten")
    results = {}
    wanted = args.configs.split(",")
    for name, (_, configs) in NETWORKS.items():
        configs = [c for c in configs if c in wanted]
        if not configs or not re.search(args.networks, name):
            continue
        model = report.model(NETWORKS[name][0], name, args.build)
        for config in configs if model else ():
            result = results[name, config] = measure(kaiten, model, config, args.seconds)
            print(f"bench: {name} on {config}: {result['cycles']:,} cycles, {result['khz']:,.0f} kHz, "
                  f"{result['total_seconds']:.1f} s, {result['peak_mib']:,.0f} MiB", file=sys.stderr, flush=True)
    table = markdown(HEAD, [row(config, name, r) for (name, config), r in results.items()])
    print(table, end="")
    os.makedirs(os.path.join(build, "bench"), exist_ok=True)
    tools.write(os.path.join(build, "bench", "results.json"), json.dumps(list(results.values()), indent=1) + "\n")
    if args.layers:
        missing = [name for name in LAYERS if (name, "base") not in results]
        if missing:
            sys.exit("bench: docs/layer_results.md needs " + " and ".join(missing) + " on base")
        tools.write(os.path.join(ROOT, "docs", "layer_results.md"), layers_page(results))
    if args.readme:
        report.write_between("README.md", "make bench", table)
    return int(any(not r["exact"] for r in results.values()))


if __name__ == "__main__":
    sys.exit(tools.guarded(main))
