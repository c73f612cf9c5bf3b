#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""A part of the soak: random networks, bus errors, soft resets and repetitions on simulators that are never exchanged, every tensor
compared and every beat counted on both sides (tests/system/soak_runs.h), on all configurations that are built.

usage: soak.py [--build DIR] [-j N] [--minutes M] [--restart] [--record]
Goes on behind the part before (build/soak/<hash of the RTL>.json, else docs/data/soak.json if it is of this RTL) until there are 10^9
beats. --restart begins anew; --record copies what was reached to docs/data/soak.json. N ranks share the work where there is an mpirun. Writes build/soak/junit.xml."""
import argparse
import glob
import json
import os
import shutil
import sys
import time

import tools

OUT = os.path.join(tools.ROOT, "build", "soak")
RECORD = "docs/data/soak.json"


def recorded():
    with open(os.path.join(tools.ROOT, RECORD), encoding="utf-8") as f:
        return json.load(f)


def main():
    parser = argparse.ArgumentParser(description="A part of the soak.")
    parser.add_argument("--build", default="build")
    parser.add_argument("-j", type=int, default=os.cpu_count())
    parser.add_argument("--minutes", type=float, default=100)
    parser.add_argument("--restart", action="store_true")
    parser.add_argument("--record", action="store_true")
    args = parser.parse_args()
    os.makedirs(OUT, exist_ok=True)
    rtl = sorted(os.path.relpath(path, tools.ROOT) for path in glob.glob(os.path.join(tools.ROOT, "rtl", "**", "*.sv"), recursive=True))
    digest = tools.digest_files([*rtl, "rtl/configs.json"])[:16]
    state = os.path.join(OUT, f"{digest}.json")
    if args.restart and os.path.exists(state):
        os.remove(state)
    if not args.restart and not os.path.exists(state) and recorded().get("rtl") == digest:
        shutil.copyfile(os.path.join(tools.ROOT, RECORD), state)
    ranks = ["--ranks", str(args.j)] if args.j > 1 and shutil.which("mpirun") else []
    start = time.time()
    code, log = tools.run([os.path.join(tools.ROOT, args.build, "kaiten-soak"), "--minutes", str(args.minutes), "--state", state, *ranks],
                          limit=60 * args.minutes + 1800, cwd=tools.ROOT)
    print(log, end="")
    if args.record and code == 0:
        with open(state, encoding="utf-8") as f:
            tools.write(os.path.join(tools.ROOT, RECORD), json.dumps({"rtl": digest, **json.load(f)}, indent=1) + "\n")
    results = tools.Results("soak")
    if code == 0:
        results.passed("soak", time.time() - start)
    else:
        results.failed("soak", time.time() - start, f"exit code {code}", log)
    return results.finish(os.path.join(OUT, "junit.xml"))


if __name__ == "__main__":
    sys.exit(tools.guarded(main))
