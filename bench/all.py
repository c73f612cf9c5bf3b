#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""All benches of `make bench`, or some of them, one after the other; which takes how long.

usage: bench/all.py [--build DIR] [--list] [PART...] [--run-args ARGS]
`volume` is all parts whose names begin with `volume-`, and so on. A part that fails is named and does not keep the others from running;
exit code 1 then. --run-args go to bench/run.py."""
import argparse
import os
import shlex
import subprocess
import sys
import time

import report

# By name: script, options, what it measures.
PARTS = {"run": ("run.py", [], "README's table: networks on the RTL"),
         "cycle-model": ("cycle_model.py", [], "cycles of model and RTL, span by span"),
         "traffic": ("traffic.py", [], "bytes to and from memory by kind"),
         "bandwidth": ("bandwidth.py", [], "per-layer and planned runs at several bandwidths"),
         "plan": ("plan.py", [], "plans of the Occam paper's networks"),
         "codec": ("codec.py", [], "rates of the ZVC codec"),
         "codec-layouts": ("codec.py", ["--layouts"], "compression by layout"),
         "codec-second-stage": ("codec.py", ["--second-stage"], "Deflate behind ZVC"),
         "zvc": ("zvc.py", [], "networks with and without compression on the RTL"),
         "offload": ("offload.py", [], "what training would move, compressed"),
         "cdma": ("cdma.py", [], "the cDMA paper's figures"),
         "swap": ("swap.py", [], "training that swaps, staggered and not"),
         "cluster": ("cluster.py", [], "several chips"),
         "explore": ("explore.py", [], "the area model, and accelerators it finds"),
         "serve": ("serve.py", [], "serving of SubNets"),
         "fft": ("fft.py", [], "convolutions by FFT"),
         "volume-networks": ("volume.py", ["--only", "networks"], "ZNNi's networks, a block each by the plan found"),
         "volume-choices": ("volume.py", ["--only", "choices"], "the ten best plans of two of them, measured"),
         "volume-halos": ("volume.py", ["--only", "halos"], "halos computed again, and kept"),
         "volume-onednn": ("volume.py", ["--only", "onednn"], "the networks beside oneDNN"),
         "volume-large": ("volume.py", ["--only", "large"], "a large volume by the model"),
         "volume-split": ("volume.py", ["--only", "split"], "processors and accelerator together, by its cycle model"),
         "volume-paper": ("volume.py", ["--only", "paper"], "the same on a computer like the paper's"),
         "eval": ("eval.py", [], "10,000 images through ResNet-8 on the RTL"),
         "boards": ("boards.py", [], "images a second on boards")}


def run(name, build, more):
    """Exit code of a part, its output passed on."""
    script, options, what = PARTS[name]
    print(f"== {name}: {what} (bench/{script})", flush=True)
    start = time.monotonic()
    code = subprocess.run([sys.executable, os.path.join(report.ROOT, "bench", script), "--build", build, *options, *more], stdin=subprocess.DEVNULL).returncode
    print(f"== {name}: {'failed' if code else 'done'} in {(time.monotonic() - start) / 60:.1f} minutes", flush=True)
    return code


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build", help="build folder (default: build)")
    parser.add_argument("--run-args", default="", help="options of bench/run.py")
    parser.add_argument("--list", action="store_true", help="only say which parts there are")
    parser.add_argument("parts", nargs="*", metavar="PART", help="default: all")
    args = parser.parse_args()
    if args.list:
        print("\n".join(f"{name:20}{what}" for name, (_, _, what) in PARTS.items()))
        return 0
    names = []
    for part in args.parts or PARTS:
        found = [name for name in PARTS if name == part or name.startswith(part + "-")]
        if not found:
            parser.error(f"no part is called {part} (one of {', '.join(PARTS)})")
        names += [name for name in found if name not in names]
    try:
        failed = [name for name in names if run(name, args.build, shlex.split(args.run_args) if name == "run" else [])]
    except KeyboardInterrupt:
        return 130
    print(f"bench: {len(names) - len(failed)} parts done, {len(failed)} failed{': ' if failed else ''}{', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
