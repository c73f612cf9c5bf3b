#!/usr/bin/env python3
"""Measures compression on the memory path: whole networks with --compress off and on, bytes and cycles, the ratio beside ZVC's limit.

usage: bench/zvc.py [--build DIR] [--docs]
The planner keeps nearly every map of these networks on chip, so there would be nothing to compress: --spill sends every map through
memory. Three memories for each: as wide as the bus, a quarter and an eighth of it. Bytes, cycles and ratios are the same on every machine. `limit` is
what ZVC needs for the maps that are compressed, a bit an element and the elements themselves (8 / (8 d + 1) at density d), over what moved
with them: whole bus beats and size surfaces. A difference from the reference ends the bench with exit code 1. --docs writes the
table into docs/zvc.md, between its two markers."""
import argparse
import json
import os
import subprocess
import sys

import report
from report import ROOT, tools

SHARED = os.environ.get("KAITEN_SHARED") or os.path.join(ROOT, "..", "shared")
TFLITE = os.path.join(SHARED, "models", "tflite")
IMAGE = os.path.join(SHARED, "models", "images", "raw", "cat_224.rgb")
RUNS = (  # network, model, configuration, its bus in bytes, input
    ("demo", "demo", "nano", 16, None),
    ("ResNet-8", os.path.join(TFLITE, "mlperf-tiny", "pretrainedResnet_quant.tflite"), "nano", 16, None),
    ("person detection", os.path.join(TFLITE, "mlperf-tiny", "vww_96_int8.tflite"), "nano", 16, None),
    ("MobileNetV2 224", os.path.join(TFLITE, "coral", "tf2_mobilenet_v2_1.0_224_ptq.tflite"), "base", 64, IMAGE),
)


def run(kaiten, model, config, compress, width, image):
    command = [kaiten, "run", model, "--config", config, "--spill", "--compress", compress, "--bytes-per-cycle", str(width), "--json", "-"]
    done = subprocess.run(command + (["--input", image] if image else []), capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        sys.exit(f"bench: {' '.join(command[1:])}: exit code {done.returncode}: {done.stderr.strip() or done.stdout[-300:]}")
    return json.loads(done.stdout)


def moved(result):
    read, written = result["bytes"]["read"], result["bytes"]["written"]
    return read["activations"] + written["activations"]


def main():
    parser = argparse.ArgumentParser(description="Compression on the memory path, off and on.")
    parser.add_argument("--build", default="build", help="folder with the tools")
    parser.add_argument("--docs", action="store_true", help="write the table into docs/zvc.md")
    args = parser.parse_args()
    kaiten = report.program(args.build, "kaiten")
    rows = []
    for network, model, config, bus, image in RUNS:
        if model != "demo" and not os.path.exists(model):
            print(f"bench: {network} left out, {os.path.normpath(model)} is absent (docs/models.md)", file=sys.stderr)
            continue
        for width in (bus, bus // 4, bus // 8):
            off, on = (run(kaiten, model, config, c, width, image) for c in ("off", "auto"))
            maps = [layer["zvc"] for layer in on["layers"]]
            raw, packed, limit = (sum(m[k] for m in maps) for k in ("raw_bytes", "packed_bytes", "limit_bytes"))
            rows.append((network, config, str(width), f"{moved(off):,}", f"{moved(on):,}", f"{off['cycles']:,}", f"{on['cycles']:,}",
                         f"{100 * (on['cycles'] / off['cycles'] - 1):+.1f} %", f"{raw / packed:.2f}", f"{100 * limit / packed:.1f} %"))
    title = ("network", "size", "bytes/cycle", "activation bytes", "compressed", "cycles", "compressed", "", "ratio", "of the limit")
    table = "| " + " | ".join(title) + " |\n|---|---" + "|---:" * (len(title) - 2) + "|\n"
    table += "".join("| " + " | ".join(row) + " |\n" for row in rows)
    print(table, end="")
    if args.docs:
        report.write_between("docs/zvc.md", "bench/zvc.py", table)
    return 0


if __name__ == "__main__":
    sys.exit(tools.guarded(main))
