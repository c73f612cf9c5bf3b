#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Times convolutions by FFT: pruned transforms of kernels against padded ones, and layers against oneDNN's direct convolution, the
library's own and SciPy's oaconvolve.

usage: bench/fft.py [--build DIR] [--quick] [--docs]
Ratios are of times taken in turns in one run, the shortest of each. With one thread the processor's time counts, with two the clock's.
oneDNN (Debian: libdnnl-dev, when the bench was built) and SciPy (for `python3` or /usr/bin/python3) are optional. --docs
writes the tables into docs/software/fft.md, between its two markers. Needs kaiten-bench-fft (`cmake --build build --target kaiten-bench-fft`). Exit
code 1 when FFT layers lose to oneDNN where they must not."""
import argparse
import json
import math
import os
import shutil
import subprocess
import sys

import report
from report import tools

METHODS = ["blocked", "data-parallel", "task-parallel", "patches"]
# From here on the best FFT layer must be faster than oneDNN.
LEAST_KERNEL, LEAST_CHANNELS = 5, 16
# One layer of 64^3 by oaconvolve, channels in and out; prints the shortest processor time of three runs.
SCIPY = """
import sys, time, numpy, scipy, scipy.signal
f, k = int(sys.argv[1]), int(sys.argv[2])
r = numpy.random.default_rng(1)
image = r.random((f, 64, 64, 64), dtype=numpy.float32)
kernels = r.random((f, f, k, k, k), dtype=numpy.float32)
def layer():
    return [scipy.signal.oaconvolve(image, w[:, ::-1, ::-1, ::-1], mode="valid", axes=(1, 2, 3)).sum(0) for w in kernels]
times = []
for _ in range(3):
    start = time.process_time()
    layer()
    times.append(time.process_time() - start)
print(min(times), numpy.__version__, scipy.__version__)
"""


def measured(program, *arguments):
    with subprocess.Popen([program, *arguments], stdout=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL) as run:
        for line in run.stdout:
            yield json.loads(line)
    if run.returncode:
        sys.exit(f"bench: {os.path.basename(program)} {' '.join(arguments)} failed")


def geometric_mean(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values))


said = []


def say(text):
    said.append(text + "\n")
    print(text, flush=True)


def row(*cells):
    say("| " + " | ".join(str(c) for c in cells) + " |")


def head(*cells):
    row(*cells)
    row(*["---"] * len(cells))


def transforms(program):
    say("Transforms of kernels, float32, one thread, plans measured. Padded: FFTW's own transform of the whole size.\n")
    head("size", "kernel", "pruned us", "padded us", "ratio", "own passes, padded us", "ratio")
    points = []
    for p in measured(program, "transforms"):
        points.append(p)
        d = p["dimensions"]
        row(f"{p['n']}^{d}", f"{p['k']}^{d}", f"{p['pruned_us']:.1f}", f"{p['padded_us']:.1f}", f"{p['padded_us'] / p['pruned_us']:.2f}",
            f"{p['own_padded_us']:.1f}", f"{p['own_padded_us'] / p['pruned_us']:.2f}")
    say("")
    for d in (2, 3):
        ratios = [p["padded_us"] / p["pruned_us"] for p in points if p["dimensions"] == d]
        own = [p["own_padded_us"] / p["pruned_us"] for p in points if p["dimensions"] == d]
        say(f"- {d}-D: geometric mean {geometric_mean(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}), of the library's own passes "
              f"{geometric_mean(own):.2f}")
    say(f"- all: geometric mean {geometric_mean(p['padded_us'] / p['pruned_us'] for p in points):.2f}\n")


def scipy_seconds(channels, kernel):
    for python in dict.fromkeys([shutil.which("python3"), "/usr/bin/python3"]):
        if python is None or not os.path.exists(python):
            continue
        environment = dict(os.environ, OMP_NUM_THREADS="1")
        done = subprocess.run([python, "-c", SCIPY, str(channels), str(kernel)], capture_output=True, text=True, env=environment,
                              stdin=subprocess.DEVNULL)
        if done.returncode == 0:
            seconds, numpy, scipy = done.stdout.split()
            return float(seconds), f"NumPy {numpy}, SciPy {scipy}"
    return None, None


def layers(program, threads, channels, kernels):
    """How many points are lost to oneDNN that must not be."""
    say(f"Layers on 64^3, batch 1, float32, {threads} thread{'s' if threads > 1 else ''}: milliseconds. Last columns: how much faster the best "
          "FFT layer is.\n")
    head("channels", "kernel", *METHODS, "patches' transform", "oneDNN", "oneDNN / best", "blocked / best")
    lost, versions, shortest = 0, set(), {}
    for p in measured(program, "layers", str(threads), ",".join(map(str, channels)), ",".join(map(str, kernels))):
        times = p["ms"]
        best = min(times[m] for m in METHODS[1:])
        shortest[p["channels"], p["k"]] = best
        other = times.get("onednn")
        versions.add(p["onednn"])
        row(f"{p['channels']} to {p['channels']}", f"{p['k']}^3", *[f"{times[m]:.0f}" for m in METHODS], p["transform"],
            f"{other:.0f}" if other else "-", f"{other / best:.2f}" if other else "-", f"{times['blocked'] / best:.2f}")
        if p["largest_difference"] > 1e-4:
            sys.exit(f"bench: results differ by {p['largest_difference']}")
        if other and other < best and p["k"] >= LEAST_KERNEL and p["channels"] >= LEAST_CHANNELS:
            lost += 1
    say("\noneDNN: " + (", ".join(sorted(versions)) if versions != {""} else "not found when the bench was built (Debian: libdnnl-dev)"))
    if threads == 1:
        for k in kernels:
            seconds, version = scipy_seconds(channels[0], k)
            if seconds is None:
                say("oaconvolve: no python3 with SciPy (Debian: python3-scipy)")
                break
            say(f"oaconvolve ({version}), {channels[0]} to {channels[0]} channels, {k}^3: {1e3 * seconds:.0f} ms, "
                  f"{1e3 * seconds / shortest[channels[0], k]:.1f} times the best FFT layer's")
    say("")
    return lost


def main():
    parser = argparse.ArgumentParser(description="Times convolutions by FFT.")
    parser.add_argument("--build", default="build", help="build folder (default: build)")
    parser.add_argument("--docs", action="store_true", help="write the tables into docs/software/fft.md")
    parser.add_argument("--quick", action="store_true", help="layers of 8 and 16 channels only")
    args = parser.parse_args()
    program = report.program(args.build, "kaiten-bench-fft", "kaiten-bench-fft")
    transforms(program)
    channels = [8, 16] if args.quick else [8, 16, 32, 64]
    lost = sum(layers(program, threads, channels, [3, 5, 7, 9]) for threads in (1, 2))
    if args.docs:
        report.write_between("docs/software/fft.md", "bench/fft.py", "".join(said).rstrip() + "\n")
    if lost:
        print(f"bench: oneDNN is faster at {lost} points of {LEAST_CHANNELS} channels and kernels of {LEAST_KERNEL} and more", file=sys.stderr)
    return int(lost > 0)


if __name__ == "__main__":
    sys.exit(tools.guarded(main))
