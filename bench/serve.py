#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Measures `kaiten serve`: its scheduler's decisions, its analytic model beside the compiler's, its schedulers over memory buses.

usage: bench/serve.py [--build DIR] [--queries N] [--decisions | --model | --streams] [--docs]
--decisions: choosing a SubNet, the mean SubNet and the scan of 500 SubGraphs, with the clock's reading; exit code 1 when a 99th percentile
is above a microsecond. --model: cycles of RA to RF on `base` by the model and by the compiler (needs kaiten-generate). --streams: what PB
saves by the model, over widths of the bus. Without one of them all three. --docs writes the tables of the last two, which are the same on
every machine, into docs/software/serving.md."""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import report

GOAL_NS = 1000
COLUMNS = 500
DOCS = "docs/software/serving.md"
BUSES = (64, 32, 16, 8, 4)  # bytes a cycle
FAMILIES = ("ofa-resnet50", "ofa-mobilenetv3")


def called(program, *arguments):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        sys.exit("bench: " + done.stderr.strip())
    return done.stdout


def served(kaiten, *arguments):
    return json.loads(called(kaiten, "serve", *arguments, "--json", "-"))


def decisions(kaiten, queries):
    rows, slow = [], False
    for supernet in (*FAMILIES, "compofa"):
        for scheduler in ("sushi", "per-query", "saved"):
            times = served(kaiten, "--generate", f"uniform:{queries}", "--supernet", supernet, "--scheduler", scheduler, "--columns",
                           COLUMNS)["decision_ns"]
            slow |= times["p99"] > GOAL_NS
            rows.append([supernet, scheduler, f"{times['mean']:.0f}", f"{times['p99']:.0f}"])
    print(report.markdown(["SuperNet", "scheduler", "mean ns", "p99 ns"], rows))
    return slow


def model(kaiten, build):
    """Cycles without PB of the members of the family."""
    generate = report.program(build, "kaiten-generate", "kaiten-generate")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "table.json")
        served(kaiten, "--generate", "uniform:1", "--write-table", path)
        with open(path, encoding="utf-8") as f:
            table = json.load(f)
        for subnet, latencies in zip(table["subnets"], table["latency_ms"]):
            file = os.path.join(folder, subnet["name"] + ".tflite")
            called(generate, "ofa-resnet50/" + subnet["name"], "--output", file)
            plan = json.loads(called(kaiten, "plan", file, "--config", "base", "--method", "optimal", "--json", "-"))
            cycles, compiled = latencies[0] * 1e5, plan["methods"][0]["cycles"]  # at 100 MHz
            rows.append([f"`{subnet['name']}`", f"{cycles:,.0f}", f"{compiled:,}", f"{100 * (cycles / compiled - 1):+.1f} %"])
    return report.markdown(["SubNet", "analytic model", "compiler's cycle model", "difference"], rows)


def streams(kaiten):
    """Of single streams of random queries: mean latency against that without PB, by scheduler."""
    names = ("static", "sushi", "saved", "unaware", "per-query", "oracle")
    rows = []
    for supernet in FAMILIES:
        for bus in BUSES:
            j = served(kaiten, "--generate", "uniform:10000", "--supernet", supernet, "--bus", bus, "--scheduler", "all")
            by = {s["scheduler"]: s for s in j["schedulers"]}
            none = by["none"]["latency_ms"]["mean"]
            rows.append([supernet, str(bus), f"{none:.2f}", *(f"{100 * (by[n]['latency_ms']['mean'] / none - 1):+.1f} %" for n in names),
                         f"{100 * by['sushi']['hit_ratio']:.0f} %",
                         f"{100 * (by['saved']['energy_millijoules'] / by['none']['energy_millijoules'] - 1):+.1f} %"])
    return report.markdown(["SuperNet", "bytes a cycle", "none, ms", *names, "hits, sushi", "energy, saved"], rows)


def main():
    parser = argparse.ArgumentParser(description="Measures kaiten serve.")
    parser.add_argument("--build", default="build")
    parser.add_argument("--queries", type=int, default=1000000)
    parser.add_argument("--docs", action="store_true")
    for part in ("decisions", "model", "streams"):
        parser.add_argument("--" + part, action="store_true")
    args = parser.parse_args()
    every = not (args.decisions or args.model or args.streams)
    kaiten = report.program(args.build, "kaiten", "kaiten")
    slow = decisions(kaiten, args.queries) if args.decisions or every else False
    if args.model or every:
        table = model(kaiten, args.build)
        print(table)
        if args.docs:
            report.write_between(DOCS, "bench/serve.py --model", table)
    if args.streams or every:
        table = streams(kaiten)
        print(table)
        if args.docs:
            report.write_between(DOCS, "bench/serve.py --streams", table)
    return int(slow)


if __name__ == "__main__":
    sys.exit(main())
