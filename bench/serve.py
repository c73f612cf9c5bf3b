#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Measures `kaiten serve`: its scheduler's decisions, its analytic model beside the compiler's, its schedulers over memory buses.

usage: bench/serve.py [--build DIR] [--queries N] [--decisions | --model | --streams | --roofline | --paper | --storage] [--docs]
--decisions: choosing a SubNet, the mean SubNet and the scan of 100 to 2,000 SubGraphs (the SUSHI paper's table 6), with the clock's reading;
exit code 1 when a 99th percentile is above a microsecond for 500. --model: cycles of RA to RF and MA to MG on `base` by the model and by the compiler (needs kaiten-generate). --streams: what PB
saves by the model, over widths of the bus. --roofline: SubNets under the roofs of the SUSHI paper's machines. --paper: the SUSHI paper's
figures beside ours, and sweeps of columns, Q and PB. --storage: the three systems of its figure 16 at equal total storage, by the
compiler's cycle model (minutes on all cores). Without one of them all six.
--docs writes the tables of the last five, which are the same on every machine, into docs/software/serving.md and roofline.md, and what
the pictures of the roofs are made of into docs/data/roofline (then: make generate)."""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import report

GOAL_NS = 1000
COLUMNS = {100: "2", 200: "4", 500: "6", 1000: "10", 2000: "17"}  # microseconds in the paper's table 6, ResNet50
GOAL_COLUMNS = 500
DOCS = "docs/software/serving.md"
BUSES = (64, 32, 16, 8, 4)  # bytes a cycle
FAMILIES = ("ofa-resnet50", "ofa-mobilenetv3")
ROOFS_DOCS = "docs/software/roofline.md"
# Beside the SUSHI paper's results: configuration, bytes a cycle at 100 MHz, what it is.
MACHINES = (("base", 192, "`base`, the paper's 19.2 GB/s"), ("base", 64, "`base`, 6.4 GB/s"), ("base", 16, "`base`, 1.6 GB/s"), ("base", 4, "`base`, 0.4 GB/s"), ("u50", 144, "`u50`, the paper's 14.4 GB/s"))
SWEEP_BUS = 16
# Of the SUSHI paper: name, SuperNet, multipliers, bytes a cycle at 100 MHz, PB, kernel (0: all), what it is, latency as the paper prints.
ROOFS = (("resnet50", "ofa-resnet50", 6480, 192, "1728KiB", 0, "figures 10 and 11", "-5.7 to -7.92 %"),
         ("mobilenetv3", "ofa-mobilenetv3", 6480, 192, "1728KiB", 0, "figures 10 and 11", "-6 to -23.6 %"),
         ("u50", "ofa-resnet50", 4608, 144, "1728KiB", 3, "Alveo U50, 3x3 layers", "-"))


def served(kaiten, *arguments):
    return report.result(kaiten, "serve", *map(str, arguments))


def table_of(kaiten, *arguments):
    """Of the analytic model: SubNets by SubGraphs."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "table.json")
        served(kaiten, "--generate", "uniform:1", *arguments, "--write-table", path)
        with open(path, encoding="utf-8") as f:
            return json.load(f)


def schedulers_of(kaiten, supernet, bus, *arguments):
    """Of a stream of random queries, by name."""
    j = served(kaiten, "--generate", "uniform:10000", "--supernet", supernet, "--bus", bus, "--scheduler", "all", *arguments)
    return {s["scheduler"]: s for s in j["schedulers"]}


def percent(value, against):
    return f"{100 * (value / against - 1):+.1f} %"


def change(by, name, against="none"):
    """Of the mean latency."""
    return percent(by[name]["latency_ms"]["mean"], by[against]["latency_ms"]["mean"])


def energy_saved(by):
    return percent(by["saved"]["energy_millijoules"], by["none"]["energy_millijoules"])


def hits(by):
    return f"{100 * by['sushi']['hit_ratio']:.0f} %"


def decisions(kaiten, queries):
    rows, slow = [], False
    for supernet in (*FAMILIES, "compofa"):
        for scheduler in ("sushi", "per-query", "saved"):
            for columns, paper in COLUMNS.items() if (supernet, scheduler) == ("ofa-resnet50", "sushi") else ((GOAL_COLUMNS, "-"),):
                times = served(kaiten, "--generate", f"uniform:{queries}", "--supernet", supernet, "--scheduler", scheduler, "--columns",
                               columns)["decision_ns"]
                slow |= columns == GOAL_COLUMNS and times["p99"] > GOAL_NS
                rows.append([supernet, scheduler, str(columns), f"{times['mean']:.0f}", f"{times['p99']:.0f}", paper])
    print(report.markdown(["SuperNet", "scheduler", "columns", "mean ns", "p99 ns", "the paper, microseconds"], rows))
    return slow


def model(kaiten, build):
    """Cycles without PB of the members of both families."""
    generate = report.program(build, "kaiten-generate", "kaiten-generate")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        tables = [(supernet, table_of(kaiten, "--supernet", supernet)) for supernet in FAMILIES]
        for supernet, subnet, latencies in ((s, *pair) for s, t in tables for pair in zip(t["subnets"], t["latency_ms"])):
            file = os.path.join(folder, subnet["name"] + ".tflite")
            subprocess.run([generate, f"{supernet}/{subnet['name']}", "--output", file], check=True, stdout=subprocess.DEVNULL)
            plan = report.result(kaiten, "plan", file, "--config", "base", "--method", "optimal")
            cycles, compiled = latencies[0] * 1e5, plan["methods"][0]["cycles"]  # at 100 MHz
            rows.append([f"`{subnet['name']}`", f"{cycles:,.0f}", f"{compiled:,}", percent(cycles, compiled)])
    return report.markdown(["SubNet", "analytic model", "compiler's cycle model", "difference"], rows)


def streams(kaiten):
    """Of single streams of random queries: mean latency against that without PB, by scheduler."""
    names = ("static", "sushi", "saved", "unaware", "per-query", "oracle")
    rows = []
    for supernet in FAMILIES:
        for bus in BUSES:
            by = schedulers_of(kaiten, supernet, bus)
            rows.append([supernet, str(bus), f"{by['none']['latency_ms']['mean']:.2f}", *(change(by, n) for n in names), hits(by), energy_saved(by)])
    return report.markdown(["SuperNet", "bytes a cycle", "none, ms", *names, "hits, sushi", "energy, saved"], rows)


def roofs(kaiten, docs):
    """SubNets under the roofs, and what the pictures are made of."""
    rows = []
    for name, supernet, macs, bandwidth, pb, kernel, what, printed in ROOFS:
        j = report.result(kaiten, "roofline", supernet, "--macs", str(macs), "--bandwidth", str(bandwidth), "--pb", pb, "--kernel", str(kernel))
        for s in j["subnets"]:
            a, b = s["without_pb"], s["with_pb"]
            rows.append([what, f"`{s['name']}`", *(f"{side['bytes'] / 1e6:.2f}" for side in (a, b)),
                         *(f"{side['intensity']:.0f}{'' if side['intensity'] < j['ridge'] else ' c'}" for side in (a, b)),
                         *(f"{side['cycles'] / 1e5:.3f}" for side in (a, b)), f"{100 * s['latency_change']:+.1f} %", printed])
        if docs:
            record = {"title": f"{supernet} under the roof: {what}",
                      "about": f"Operations a second over operations a byte: {2 * macs / 10:g} GOP/s and {bandwidth / 10:g} GB/s at 100 MHz, PB of {pb}; "
                               "each SubNet without and with PB.",
                      "gops": 2 * macs / 10, "gb_per_second": bandwidth / 10,
                      "subnets": [[s["name"], s["without_pb"]["intensity"], s["with_pb"]["intensity"]] for s in j["subnets"]]}
            folder = os.path.join(report.ROOT, "docs", "data", "roofline")
            os.makedirs(folder, exist_ok=True)
            report.tools.write(os.path.join(folder, name + ".json"), json.dumps(record, indent=1) + "\n")
    return report.markdown(["machine", "SubNet", "MB", "MB, PB", "ops a byte", "ops a byte, PB", "ms", "ms, PB", "latency", "the paper"], rows)


def single_queries(table):
    """Change of a SubNet's latency by the SubGraph that suits it best, percent: least and most."""
    changes = [100 * (min(latencies) / latencies[0] - 1) for latencies in table["latency_ms"]]
    return f"{max(changes):.1f} to {min(changes):.1f} %"


def accuracy_at_latency(table):
    """Most points of accuracy that one SubGraph adds within a latency, over all latencies of the table."""
    def best(column, limit):
        within = [s["accuracy"] for s, latencies in zip(table["subnets"], table["latency_ms"]) if latencies[column] <= limit]
        return max(within, default=None)
    limits = sorted({latency for latencies in table["latency_ms"] for latency in latencies})
    gains = [best(c, limit) - best(0, limit) for c in range(1, len(table["subgraphs"])) for limit in limits if best(0, limit) is not None]
    return f"+{max(gains):.2f}"


def beside_the_paper(kaiten):
    """A row a result of the paper, a column a machine."""
    printed = {"ofa-resnet50": ("-5.7 to -7.9 %", "-21 %", "+0.98", "up to -78.7 %", "66 %"),
               "ofa-mobilenetv3": ("-6 to -23.6 %", "-25 %", "", "", "78 %")}
    what = ("single queries, latency by the best SubGraph", "random stream, mean latency, `saved` over `none`",
            "accuracy within a latency, points at most", "off-chip energy of the stream, `saved` over `none`", "hit ratio, `sushi`")
    rows = []
    for supernet in FAMILIES:
        columns = []
        for config, bus, _ in MACHINES:
            machine = ("--config", config)
            table = table_of(kaiten, "--supernet", supernet, "--bus", bus, *machine)
            by = schedulers_of(kaiten, supernet, bus, *machine)
            columns.append((single_queries(table), change(by, "saved"), accuracy_at_latency(table), energy_saved(by), hits(by)))
        rows += [[supernet, name, paper or "-", *values] for name, paper, *values in zip(what, printed[supernet], *columns)]
    return report.markdown(["SuperNet", "result", "the paper", *(name for _, _, name in MACHINES)], rows)


def sweeps(kaiten):
    """Mean latency on `base` over columns of the table, Q and the bytes of PB."""
    queries = (1, 2, 4, 8, 10, 16, 32)
    # What changes, its values as options, what is compared, and what the paper says of each family.
    kinds = (("columns", {n: ("--columns", n) for n in (10, 40, 80, 100, 500)}, ("sushi", "unaware"), ("4, 7, 8, 9, 9 %", "1 % each")),
             ("Q, constraints held for 1", {q: ("--q", q) for q in queries}, ("sushi", "none"), ("4 to 8 best", "10 best")),
             ("Q, constraints held for 50", {q: ("--q", q, "--hold", 50) for q in queries}, ("sushi", "none"), ("-", "-")),
             ("locality, constraints held for", {h: ("--hold", h) for h in (1, 10, 50, 200)}, ("saved", "oracle"), ("-", "-")),
             ("PB, KiB", {k: ("--pb", f"{k}KiB") for k in (256, 512, 1024, 1728)}, ("saved", "none"), ("more is better",) * 2))
    rows = []
    for supernet, *papers in zip(FAMILIES, *(paper for *_, paper in kinds)):
        for (what, values, (name, against), _), paper in zip(kinds, papers):
            changes = (f"{v}: {change(schedulers_of(kaiten, supernet, SWEEP_BUS, *options), name, against)}" for v, options in values.items())
            rows.append([supernet, what, f"`{name}` over `{against}`", ", ".join(changes), paper])
    return report.markdown(["SuperNet", "over", "mean latency", f"at {SWEEP_BUS} bytes a cycle", "the paper"], rows)


def storage(kaiten):
    """The systems of figure 16 by the compiler's table, whose programs without PB have all of WB for DB."""
    systems = (("none", "no PB"), ("unaware", "PB without state"), ("sushi", "SUSHI"), ("saved", "`saved`"))
    rows = []
    for supernet in FAMILIES:
        by = schedulers_of(kaiten, supernet, SWEEP_BUS, "--costs", "compiler", "--spot-check", 0, "--columns", 10)
        rows.append([supernet, *(f"{by[name]['latency_ms']['mean']:.2f}" + (f" ({change(by, name)})" if name != "none" else "")
                                 for name, _ in systems)])
    return report.markdown(["SuperNet", *(f"{what}, ms" for _, what in systems)], rows)


def main():
    parser = argparse.ArgumentParser(description="Measures kaiten serve.")
    parser.add_argument("--build", default="build")
    parser.add_argument("--queries", type=int, default=1000000)
    parser.add_argument("--docs", action="store_true")
    # By option: tables, the document they stand in, and what makes them.
    tables = {"model": (("--model", DOCS, lambda: model(kaiten, args.build)),), "streams": (("--streams", DOCS, lambda: streams(kaiten)),),
              "roofline": (("--roofline", ROOFS_DOCS, lambda: roofs(kaiten, args.docs)),),
              "paper": (("--paper: paper", DOCS, lambda: beside_the_paper(kaiten)), ("--paper: sweeps", DOCS, lambda: sweeps(kaiten))),
              "storage": (("--storage", DOCS, lambda: storage(kaiten)),)}
    parts = ("decisions", *tables)
    for part in parts:
        parser.add_argument("--" + part, action="store_true")
    args = parser.parse_args()
    chosen = [part for part in parts if getattr(args, part)] or parts
    kaiten = report.program(args.build, "kaiten", "kaiten")
    slow = "decisions" in chosen and decisions(kaiten, args.queries)
    for marker, docs, make in (entry for part in chosen for entry in tables.get(part, ())):
        table = make()
        print(table)
        if args.docs:
            report.write_between(docs, "bench/serve.py " + marker, table)
    return int(slow)


if __name__ == "__main__":
    sys.exit(main())
