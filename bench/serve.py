#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Measures how long a decision of the scheduler takes: choosing a SubNet, the mean SubNet, the scan of 500 SubGraphs.

usage: bench/serve.py [--build DIR] [--queries N]
Decisions on PB are made after every query, every 8th and every 8th with accuracies that change; times include reading the clock.
Exit code 1 when the 99th percentile is above a microsecond."""
import argparse
import json
import subprocess
import sys

import report

GOAL_NS = 1000
COLUMNS = 500


def main():
    parser = argparse.ArgumentParser(description="Time of a scheduler's decision.")
    parser.add_argument("--build", default="build")
    parser.add_argument("--queries", type=int, default=1000000)
    args = parser.parse_args()
    program = report.program(args.build, "kaiten", "kaiten")
    slow = False
    print("| SuperNet | scheduler | mean ns | p99 ns |\n|---|---|---|---|")
    for supernet in ("ofa-resnet50", "ofa-mobilenetv3", "compofa"):
        for scheduler in ("sushi", "per-query", "saved"):
            done = subprocess.run([program, "serve", "--generate", f"uniform:{args.queries}", "--supernet", supernet, "--scheduler", scheduler,
                                   "--columns", str(COLUMNS), "--json", "-"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
            if done.returncode:
                sys.exit("bench: " + done.stderr.strip())
            times = json.loads(done.stdout)["decision_ns"]
            slow |= times["p99"] > GOAL_NS
            print(f"| {supernet} | {scheduler} | {times['mean']:.0f} | {times['p99']:.0f} |")
    return int(slow)


if __name__ == "__main__":
    sys.exit(main())
