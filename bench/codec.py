#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Measures the codecs of sw/codec on the same data: ratio, ratio as a share of ZVC's limit w / (w d + 1), GB/s beside memcpy's.

usage: bench/codec.py [--build DIR] [--seconds S] [--docs] [--second-stage | --layouts]
Data: 4 MiB of random elements at three densities, the paper's words at its mean density (62 % zeros), the activations of the demo
network and, where the shared models are, of MobileNetV2 on an image. Ratios are the same on every machine. --docs writes the tables into
docs/software/compression.md, between its two markers. --second-stage only counts what a second stage behind ZVC would save on MobileNetV2's maps
(bench/codec/second_stage.cpp, target kaiten-bench-second-stage), on four images; --layouts only compares its ratios in NCHW and NHWC. Exit code 1 when ZVC
stays below 97 % of its limit."""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

import report
from report import SHARED, tools

MOBILENET = os.path.join(SHARED, "models", "tflite", "coral", "tf2_mobilenet_v2_1.0_224_ptq.tflite")
IMAGES = [os.path.join(SHARED, "models", "images", "raw", name + "_224.rgb") for name in ("bird", "cat", "grace_hopper", "parrot")]
IMAGE = IMAGES[1]
BYTES = 4 << 20
CODECS = ("zvc", "zvc_scalar", "rle", "lz4", "zstd", "zlib")
GOAL = 0.97
DOCS = "docs/software/compression.md"


def second_stage(build, docs):
    if not all(os.path.exists(p) for p in (MOBILENET, *IMAGES)):
        print(f"bench: second stage left out, {os.path.normpath(MOBILENET)} or an image is absent (docs/third_party_models.md)", file=sys.stderr)
        return 0
    program = report.program(build, "kaiten-bench-second-stage", "kaiten-bench-second-stage")
    done = subprocess.run([program, MOBILENET, *IMAGES], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        sys.exit("bench: " + done.stderr.strip())
    print(done.stdout, end="")
    if docs:
        report.write_between(DOCS, "bench/codec.py --second-stage", done.stdout)
    return 0


def elements(size, density):
    """BYTES of random elements of so many bytes, a share of them not zero."""
    rng = random.Random(1)
    count = BYTES // size
    values = bytearray(rng.randbytes(BYTES))
    for i in range(count):
        if rng.random() >= density:
            values[i * size:(i + 1) * size] = bytes(size)
        elif size == 1:
            values[i] |= 1
        else:
            values[i * size] |= 1
    return bytes(values)


def measure(kaiten, source, codec, layout, seconds, *options):
    """What all activations of a model, or a file, come to."""
    done = subprocess.run([kaiten, "compress", source, "--codec", codec, "--layout", layout, "--seconds", str(seconds), "--json", "-",
                           *options], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        print("bench: " + done.stderr.strip(), file=sys.stderr)
        return None
    return json.loads(done.stdout)[0]


def layouts(kaiten, docs):
    if not all(os.path.exists(p) for p in (MOBILENET, IMAGE)):
        print(f"bench: layouts left out, {os.path.normpath(MOBILENET)} or an image is absent (docs/third_party_models.md)", file=sys.stderr)
        return 0
    lines = ["| codec | NCHW | NHWC |", "|---|---|---|"]
    for codec in CODECS:
        if codec == "zvc_scalar":
            continue
        ratios = [measure(kaiten, MOBILENET, codec, layout, 0, "--input", IMAGE) for layout in ("nchw", "nhwc")]
        if None not in ratios:
            lines.append(f"| {codec} | {ratios[0]['ratio']:.3f} | {ratios[1]['ratio']:.3f} |")
    table = "\n".join(lines) + "\n"
    print(table, end="")
    if docs:
        report.write_between(DOCS, "bench/codec.py --layouts", table)
    return 0


def main():
    parser = argparse.ArgumentParser(description="Measures the codecs on the same data.")
    parser.add_argument("--build", default="build", help="build folder (default: build)")
    parser.add_argument("--seconds", type=float, default=0.3, help="least duration of a measurement of a file (default: 0.3)")
    parser.add_argument("--docs", action="store_true", help="write the tables into docs/software/compression.md")
    parser.add_argument("--layouts", action="store_true", help="compare layouts, nothing else")
    parser.add_argument("--second-stage", action="store_true", help="count what a second stage would save, nothing else")
    args = parser.parse_args()
    if args.second_stage:
        return second_stage(args.build, args.docs)
    kaiten = report.program(args.build, "kaiten")
    if args.layouts:
        return layouts(kaiten, args.docs)
    lines = ["| data | density | codec | ratio | of the ZVC limit | compress GB/s | expand GB/s | memcpy GB/s |", "|" + "---|" * 8]
    low = []
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "map.bin")
        data = [(f"int8, density {d}", path, "nchw", (), 1, d) for d in (0.25, 0.5, 0.75)]
        data.append(("32-bit words, density 0.38", path, "nchw", ("--bits", "32"), 4, 0.38))
        data.append(("demo, activations", "demo", "nhwc", (), 0, 0))
        if os.path.exists(MOBILENET) and os.path.exists(IMAGE):
            data.append(("MobileNetV2, activations", MOBILENET, "nhwc", ("--input", IMAGE), 0, 0))
        else:
            print(f"bench: MobileNetV2 left out, {os.path.normpath(MOBILENET)} is absent (docs/third_party_models.md)", file=sys.stderr)
        for name, source, layout, options, size, density in data:
            if size:
                with open(path, "wb") as f:
                    f.write(elements(size, density))
            for codec in CODECS:
                # A model has many maps: as long in all as a file.
                r = measure(kaiten, source, codec, layout, args.seconds if size else args.seconds / 60, *options)
                if r is None:
                    continue
                share = r["ratio"] / r["zvc_limit"]
                lines.append(f"| {name} | {r['density']:.3f} | {codec} | {r['ratio']:.3f} | {100 * share:.1f} % | {r['compress_gbps']:.3g} | "
                             f"{r['expand_gbps']:.3g} | {r['memcpy_gbps']:.3g} |")
                if codec == "zvc" and share < GOAL:
                    low.append(f"{name}: {100 * share:.1f} %")
    table = "\n".join(lines) + "\n"
    print(table, end="")
    if args.docs:
        report.write_between(DOCS, "bench/codec.py", table)
    if low:
        print("ZVC below 97 % of its limit: " + ", ".join(low), file=sys.stderr)
    return int(bool(low))


if __name__ == "__main__":
    sys.exit(tools.guarded(main))
