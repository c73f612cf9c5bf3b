#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Whether two builds behave alike: every network of README's table in every configuration, run by both.

usage: bench/compare_builds.py --before DIR [--after DIR] [--networks REGEX] [--configs nano,base]
DIR is a build folder, `--before` usually that of another clone. Output bytes, cycles (of the whole and of every layer), counted and
predicted bytes, stalls and utilisation must be equal; times and speed are not compared. Prints a line a network; exit code 1 where
anything differs. A change that is to leave behaviour as it is runs this before it lands."""
import argparse
import os
import re
import sys
import tempfile

import report
from report import tools
from run import NETWORKS, run

# Measured on the machine that runs the bench, or naming the build.
TIMES = {"seconds", "khz", "total_seconds", "peak_mib", "program", "version"}


def behaviour(build, model, config):
    """The report of a run without times, and the bytes of its outputs."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "output")
        result, _, _ = run(report.program(build, "kaiten"), model, config, "--output", path)
        with open(path, "rb") as file:
            return {key: value for key, value in result.items() if key not in TIMES}, file.read()


def differences(before, after, at=""):
    """Paths of the values that differ; keys that only `after` has are additions, not differences."""
    if isinstance(before, dict) and isinstance(after, dict):
        return [d for key in before for d in differences(before[key], after.get(key), f"{at}.{key}" if at else key)]
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return [d for i, pair in enumerate(zip(before, after)) for d in differences(*pair, f"{at}[{i}]")]
    return [] if before == after else [f"{at}: {before} before, {after} after"]


def main():
    parser = argparse.ArgumentParser(description="Compares the behaviour of two builds.")
    parser.add_argument("--before", required=True, help="build folder")
    parser.add_argument("--after", default="build", help="build folder (default: build)")
    parser.add_argument("--networks", default="", help="only networks whose name matches this expression")
    parser.add_argument("--configs", default="nano,unit,small,base", help="comma-separated (default: all four)")
    args = parser.parse_args()
    wrong = runs = 0
    for name, (source, configs) in NETWORKS.items():
        model = report.model(source, name, args.before) if re.search(args.networks, name) else None
        for config in (c for c in configs if model and c in args.configs.split(",")):
            (old, old_output), (new, new_output) = (behaviour(build, model, config) for build in (args.before, args.after))
            found = differences(old, new)
            if old_output != new_output:
                found.append(f"outputs: {sum(a != b for a, b in zip(old_output, new_output))} bytes of {len(old_output)} differ")
            runs += 1
            wrong += bool(found)
            print(f"{config} {name}: " + ("; ".join(found[:5]) if found else f"equal ({new['cycles']:,} cycles)"), flush=True)
    print(f"{runs - wrong} of {runs} runs equal")
    return int(wrong > 0 or runs == 0)


if __name__ == "__main__":
    sys.exit(tools.guarded(main))
