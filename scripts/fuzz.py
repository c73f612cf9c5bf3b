#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the libFuzzer targets of tests/fuzz, built by the preset `sanitize`, from the project's own models and tables and from
every input that once found something (tests/fuzz/corpus/<target>/).

usage: fuzz.py [--build DIR] [--long] [--seconds N] [TARGET ...]
  --seconds  for each target (default 10)
  --long     a million executions for each target instead, or half an hour; a target that has done that, unchanged and from the
             same inputs, is not run again
What is found lies in <build>/fuzz/found; put it into tests/fuzz/corpus, where every later run tries it first. Writes
<build>/fuzz/junit.xml."""
import argparse
import glob
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import time
import zlib
from concurrent.futures import ThreadPoolExecutor

import tools

LONG_RUNS = 1_000_000
LONG_SECONDS = 1800  # the simulated hardware does about 850 executions a second
STAMPS = os.path.join(tools.ROOT, "build", "fuzz")
MAX_BYTES = {"tflite": 1 << 16, "onnx": 1 << 16, "table": 1 << 13, "image": 1 << 12, "disasm": 1 << 10, "zvc": 1 << 10,
             "commands": 48, "program_image": 1 << 16}


# Of the usual build: the one with sanitizers has no tool.
TOOL = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "build", "kaiten")


def png():
    """A grey image of 5 x 3 pixels."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = b"".join(b"\0" + bytes(range(16 * r, 16 * r + 5)) for r in range(3))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 5, 3, 8, 0, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def small(pattern):
    return [f for f in sorted(glob.glob(pattern, recursive=True)) if os.path.getsize(f) <= 1 << 16]


def seeds(target, build):
    """Files a target starts from, as (name, bytes)."""
    files = glob.glob(os.path.join(tools.ROOT, "tests/fuzz/corpus", target, "*"))
    made = []
    if target == "tflite":
        files += small(os.path.join(tools.ROOT, "models/**/*.tflite")) + small(os.path.join(tools.SHARED, "models/**/*.tflite"))
    elif target == "onnx":
        files += small(os.path.join(tools.SHARED, "models/**/*.onnx"))
    elif target == "table":
        files += small(os.path.join(tools.ROOT, "models/tables/*"))
        made.append(("topology", b"Layer name,IFMAP Height,IFMAP Width,Filter Height,Filter Width,Channels,Num Filter,Strides,\n"
                     b"conv1,8,8,3,3,3,4,1,\nconv2,6,6,1,1,4,8,2,\n"))
    elif target == "image":
        with open(os.path.join(tools.ROOT, "tests/sw/image/image_vectors.json"), encoding="utf-8") as f:
            made += [(v["name"], bytes.fromhex(v["file"])) for v in json.load(f)["images"]]
        made += [("png", png()), ("pgm", b"P5\n5 3\n255\n" + bytes(15)), ("ppm", b"P6 2 2 255 " + bytes(12))]
    elif target == "disasm":
        program = os.path.join(build, "fuzz", "demo.program")
        if os.path.exists(TOOL):
            subprocess.run([TOOL, "disasm", "demo", "--output", program], stdout=subprocess.DEVNULL, check=False)
        if os.path.exists(program):
            with open(program, "rb") as f:
                made += [(f"command{i}", f.read(64)) for i in range(32)]
    elif target == "program_image":
        image = os.path.join(build, "fuzz", "mnist.kimg")
        model = os.path.join(tools.SHARED, "models/tflite/tinymaix/mnist_valid_q.tflite")
        if os.path.exists(model) and os.path.exists(TOOL):
            subprocess.run([TOOL, "compile", model, "--config", "nano", "--image", image],
                           stdout=subprocess.DEVNULL, check=False)
            files += glob.glob(image)
    for path in files:
        with open(path, "rb") as f:
            made.append((os.path.basename(path), f.read()))
    return made


def run(binary, build, args):
    """(target, seconds, failure or None, log, message)"""
    target = os.path.basename(binary)[len("fuzz_"):]
    folder = os.path.join(build, "fuzz")
    start_from = os.path.join(folder, "seeds", target)
    found = os.path.join(folder, "found", target + "-")
    shutil.rmtree(start_from, ignore_errors=True)
    for path in (start_from, os.path.dirname(found), STAMPS):
        os.makedirs(path, exist_ok=True)
    for name, data in seeds(target, build):
        with open(os.path.join(start_from, name), "wb") as f:
            f.write(data)
    inputs = sorted(map(tools.digest_of, glob.glob(os.path.join(start_from, "*"))))
    stamp = tools.Stamp(os.path.join(STAMPS, target), [str(LONG_RUNS), str(LONG_SECONDS), str(MAX_BYTES[target]), tools.digest_of(binary), *inputs])
    if args.long and stamp.holds():
        return target, stamp.seconds, None, "", "unchanged"
    limit = [f"-runs={LONG_RUNS}", f"-max_total_time={LONG_SECONDS}"] if args.long else [f"-max_total_time={args.seconds}"]
    command = [binary, f"-max_len={MAX_BYTES[target]}", "-timeout=30", "-rss_limit_mb=2000", "-seed=1", "-print_final_stats=1",
               "-verbosity=1", f"-artifact_prefix={found}", *limit, start_from]
    start = time.time()
    env = {**tools.environment(), "ASAN_OPTIONS": "quarantine_size_mb=16:allocator_may_return_null=1"}
    code, log = tools.run(command, limit=LONG_SECONDS + 300, env=env)
    executed = re.search(r"stat::number_of_executed_units:\s+(\d+)", log)
    seconds, good = time.time() - start, code == 0 and executed
    message = f"{seconds:6.1f} s, {int(executed.group(1)):,} executions" if executed else "no executions"
    if args.long and good:
        stamp.record(seconds)
    return target, seconds, None if good else f"exit code {code}", log, message


def main():
    parser = argparse.ArgumentParser(description="Runs the fuzz targets.")
    parser.add_argument("--build", default=os.path.join(tools.ROOT, "build-sanitize"))
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("-j", type=int, default=os.cpu_count())
    parser.add_argument("targets", nargs="*")
    args = parser.parse_args()
    build = os.path.abspath(args.build)
    binaries = sorted(f for f in glob.glob(os.path.join(build, "fuzz", "fuzz_*")) if os.access(f, os.X_OK))
    known = [os.path.basename(b)[len("fuzz_"):] for b in binaries]
    for target in args.targets:
        if target not in known:
            parser.error(f"no target '{target}'; there are: {', '.join(known) or 'none (cmake --build build-sanitize --target fuzz_targets)'}")
    results = tools.Results("fuzz")
    os.makedirs(os.path.join(build, "fuzz"), exist_ok=True)
    if not binaries:
        results.skip("fuzz", "built with clang only")
    chosen = [b for b, name in zip(binaries, known) if not args.targets or name in args.targets]
    with ThreadPoolExecutor(args.j) as pool:
        for target, seconds, failure, log, message in pool.map(lambda b: run(b, build, args), chosen):
            if failure:
                results.failed(target, seconds, failure, log)
            else:
                results.passed(target, seconds, message)
    return results.finish(os.path.join(build, "fuzz", "junit.xml"))


if __name__ == "__main__":
    sys.exit(tools.guarded(main))
