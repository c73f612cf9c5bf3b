#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Says what costs what when the machine is simulated: instructions per simulated cycle, by RTL module.

usage: bench/profile.py [--model MODEL] [--config base] [--lines N]
       bench/profile.py --check | --write
Builds a simulator of one configuration with source marks (build/profile), runs the model once under callgrind, counting the
driver's advance() only, and sums the instructions by the RTL file whose mark stands nearest before them in Verilator's output:
good to a few percent. Counts do not depend on the machine's load. Needs valgrind (make setup ALL=1). --check runs the models of
docs/data/simulation_budget.json, which must not take more instructions a cycle than there, TOLERANCE apart, and writes
build/profile/junit.xml; --write puts in what they take now."""
import argparse
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "scripts"))
import tools

MARK = re.compile(r"/\*(?:\S*/)?(rtl/[\w/]+\.sv):(\d+)")
BUDGET = os.path.join(ROOT, "docs", "data", "simulation_budget.json")
TOLERANCE = 1.02  # compilers of the same version differ by less
COUNT = re.compile(r"\s*([\d,]+) \(\s*[\d.]+%\)\s(.*)")


def build(folder, config):
    setup = ["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DKAITEN_PROFILE=ON",
             "-DCMAKE_CXX_COMPILER=clang++" if shutil.which("clang++") else "-DKAITEN_PROFILE=ON", "-DKAITEN_MARCH=x86-64-v3",
             f"-DKAITEN_SIM_CONFIGS={config}", "-DKAITEN_SIM_DEBUG=", f"-DKAITEN_VENV={tools.VENV}"]
    for command in (setup, ["cmake", "--build", folder, "--target", "kaiten"]):
        tools.must("profile", *command)


def attribute(annotated):
    """Instructions by (file, line) of the nearest mark before, and those of the test bench."""
    lines, bench, mark, inside = collections.Counter(), 0, None, False
    for text in annotated.splitlines():
        if "Auto-annotated source" in text:
            inside, mark = True, None
            continue
        if not inside:
            continue
        found = MARK.search(text)
        if found:
            mark = (found[1].split("/")[-1], int(found[2]))
        counted = COUNT.match(text)
        if counted and "=>" not in counted[2] and "events annotated" not in counted[2]:
            n = int(counted[1].replace(",", ""))
            if mark:
                lines[mark] += n
            else:
                bench += n
    return lines, bench


def execute(folder, config, model):
    """(simulated cycles, instructions in the driver's advance()); callgrind.out in the folder has the profile."""
    run = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={os.path.join(folder, 'callgrind.out')}",
                          "--collect-atstart=no", "--toggle-collect=kaiten::Driver::advance*", os.path.join(folder, "kaiten"),
                          "run", model, "--config", config, "--no-check", "--json", "-"], capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"profile: {run.stderr.strip().splitlines()[-1]}")
    collected = re.search(r"Collected : (\d+)", run.stderr)
    if not int(collected[1]):
        sys.exit("profile: callgrind saw no Driver::advance(); is it still what runs the device?")
    return json.loads(run.stdout)["cycles"], int(collected[1])


def check(folder, write):
    with open(BUDGET, encoding="utf-8") as f:
        budget = json.load(f)
    results = tools.Results("simulation", 50)
    for entry in budget:
        model = entry["model"] if entry["model"] == "demo" else os.path.join(tools.SHARED, entry["model"])
        name = f"{os.path.basename(entry['model'])} on {entry['config']}"
        if model != "demo" and not os.path.exists(model):
            results.skip(name, "KAITEN_SHARED is absent")
            continue
        start = time.time()
        build(folder, entry["config"])
        cycles, instructions = execute(folder, entry["config"], model)
        each = round(instructions / cycles)
        if write:
            entry["instructions_per_cycle"] = each
        limit = entry["instructions_per_cycle"]
        told = f"{each:,} instructions a cycle (budget {limit:,})"
        (results.passed if each <= limit * TOLERANCE else results.failed)(name, time.time() - start, told)
    if write:
        tools.write(BUDGET, json.dumps(budget, indent=1) + "\n")
    return results.finish(os.path.join(folder, "junit.xml"))


def main():
    parser = argparse.ArgumentParser(description="Instructions per simulated cycle, by RTL module.")
    parser.add_argument("--model", default="demo")
    parser.add_argument("--config", default="base")
    parser.add_argument("--lines", type=int, default=0, help="also print the N most expensive lines")
    parser.add_argument("--check", action="store_true", help="the committed budget against what is measured")
    parser.add_argument("--write", action="store_true", help="put what is measured into the budget")
    args = parser.parse_args()
    for program in ("valgrind", "callgrind_annotate"):
        if not shutil.which(program):
            sys.exit(f"profile: {program} is missing (apt-get install valgrind)")
    folder = os.path.join(ROOT, "build", "profile")
    if args.check or args.write:
        return check(folder, args.write)
    build(folder, args.config)
    out = os.path.join(folder, "callgrind.out")
    cycles, _ = execute(folder, args.config, args.model)
    sources = [os.path.join(d, f) for d, _, files in os.walk(folder) for f in files if f.endswith(".cpp") and ".vl" in d]
    annotated = subprocess.run(["callgrind_annotate", "--auto=yes", "--threshold=100", out, *sources],
                               capture_output=True, text=True).stdout
    total = int(re.search(r"^([\d,]+) \(100\.0%\)\s+PROGRAM TOTALS", annotated, re.M)[1].replace(",", ""))
    lines, bench = attribute(annotated)
    files = collections.Counter()
    for (name, _), n in lines.items():
        files[name] += n
    files["(test bench, runtime)"] = total - sum(files.values())
    print(f"{args.model} on {args.config}: {cycles:,} cycles, {total / cycles:,.0f} instructions a cycle\n")
    print("| module | instructions a cycle | share |\n|---|---|---|")
    for name, n in files.most_common():
        if n >= total / 200:
            print(f"| {name} | {n / cycles:,.0f} | {100 * n / total:.1f} % |")
    for (name, line), n in lines.most_common(args.lines):
        print(f"{n / cycles:8,.0f} {name}:{line}")
    return 0


if __name__ == "__main__":
    sys.exit(tools.guarded(main))
