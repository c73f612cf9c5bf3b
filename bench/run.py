#!/usr/bin/env python3
"""Measures every configuration with every network and prints the table of README.

usage: bench/run.py [--build DIR] [--configs nano,base] [--seconds S] [--readme]
Each cell is `kaiten run NETWORK --config CONFIG --seconds S --json -`: cycles, utilisation and bytes are those of one run and the
same on every machine, the simulation speed is that of this machine, over at least S seconds. Every run is compared with the
reference, tensor by tensor; a difference ends the bench with exit code 1. --readme writes the table into README.md, between
its two markers. Results also go to DIR/bench/results.json."""
import argparse
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "scripts"))
import tools

SHARED = os.environ.get("KAITEN_SHARED") or os.path.join(ROOT, "..", "shared")
ALL = ("nano", "unit", "small", "base")
NETWORKS = {  # name -> file under models/tflite of the shared folder, configurations
    "demo": (None, ALL),
    "ResNet-8": ("mlperf-tiny/pretrainedResnet_quant.tflite", ALL),
    "DS-CNN keyword spotting": ("mlperf-tiny/kws_ref_model.tflite", ("nano", "base")),
    "MobileNetV1 0.25-96 person detection": ("mlperf-tiny/vww_96_int8.tflite", ("nano", "base")),
    "MobileNetV2 224": ("coral/tf2_mobilenet_v2_1.0_224_ptq.tflite", ("base",)),
    "MobileNet-EdgeTPU 0.75-224": ("coral-edgetpu/mobilenet_edgetpu_0.75_224_post_training_quant.tflite", ("base",)),
}
BEGIN, END = "<!-- make bench: begin -->", "<!-- make bench: end -->"


def measure(kaiten, network, config, seconds):
    done = subprocess.run([kaiten, "run", network, "--config", config, "--seconds", str(seconds), "--json", "-"],
                          capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode not in (0, 1):
        sys.exit(f"bench: {network} on {config}: {done.stderr.strip().splitlines()[-1] if done.stderr.strip() else done.returncode}")
    return json.loads(done.stdout)


def kib(n):
    return f"{n / 1024:,.1f}"


def row(config, network, r):
    speed = r["khz"] * r["macs"] / r["cycles"] / 1e6  # thousand cycles a second x MACs a cycle, in GMAC
    read, written = sum(r["bytes"]["read"].values()), sum(r["bytes"]["written"].values())
    return [config, network, "yes" if r["exact"] else "**NO**", f"{r['cycles']:,}", f"{100 * r['array_utilization']:.1f} %",
            f"{100 * r['mac_utilization']:.1f} %", kib(read), kib(written), f"{r['khz']:,.0f}", f"{speed:.2f}"]


HEAD = ["configuration", "network", "bit-exact", "cycles", "array utilisation", "MAC utilisation", "KiB read", "KiB written",
        "simulated kHz", "simulated GMAC/s"]


def main():
    parser = argparse.ArgumentParser(description="Measures every configuration with every network.")
    parser.add_argument("--build", default="build", help="build folder (default: build)")
    parser.add_argument("--configs", default="nano,unit,small,base", help="comma-separated (default: all four)")
    parser.add_argument("--seconds", type=float, default=1.5, help="least duration of a speed measurement")
    parser.add_argument("--readme", action="store_true", help="write the table into README.md")
    args = parser.parse_args()
    kaiten = os.path.join(ROOT, args.build, "kaiten")
    if not os.path.exists(kaiten):
        sys.exit(f"bench: {os.path.relpath(kaiten)} is missing (run `make verilate`)")
    results, rows = [], []
    wanted = args.configs.split(",")
    for name, (file, configs) in NETWORKS.items():
        model = os.path.join(SHARED, "models/tflite", file) if file else "demo"
        if file and not os.path.exists(model):
            print(f"bench: {name} left out, {os.path.normpath(model)} is absent (docs/models.md)", file=sys.stderr)
            continue
        for config in (c for c in configs if c in wanted):
            result = measure(kaiten, model, config, args.seconds)
            results.append(result)
            rows.append(row(config, name, result))
            print(f"bench: {name} on {config}: {result['cycles']:,} cycles, {result['khz']:,.0f} kHz", file=sys.stderr, flush=True)
    lines = ["| " + " | ".join(HEAD) + " |", "|" + "---|" * len(HEAD)] + ["| " + " | ".join(r) + " |" for r in rows]
    table = "\n".join(lines) + "\n"
    print(table, end="")
    os.makedirs(os.path.join(ROOT, args.build, "bench"), exist_ok=True)
    tools.write(os.path.join(ROOT, args.build, "bench", "results.json"), json.dumps(results, indent=1) + "\n")
    if args.readme:
        path = os.path.join(ROOT, "README.md")
        with open(path) as f:
            text = f.read()
        if text.count(BEGIN) != 1 or text.count(END) != 1:
            sys.exit(f"bench: README.md lacks the markers {BEGIN} and {END}")
        head, rest = text.split(BEGIN)
        tools.write(path, f"{head}{BEGIN}\n{table}{END}{rest.split(END)[1]}")
    return int(any(not r["exact"] for r in results))


if __name__ == "__main__":
    sys.exit(tools.guarded(main))
