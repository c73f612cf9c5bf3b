#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the tables of docs/verification/overview.md: for every module of the RTL the tests that simulate it, the proofs that read it,
the kill rates of its mutants by proofs (docs/verification/proof_mutants.md, docs/hardware/zvc_codec.md) and by system tests (docs/data/system_mutants.json), and its
coverage (docs/data/coverage.json); what the soak has done (docs/data/soak.json) and what the last long check found, step by step
(docs/data/long_check.json); and for every unit of the software the tests that include it.

usage: gen_verification.py [--check] [--summary build/check/summary.json]
  --check    write nothing; exit code 1 if the committed table differs
  --summary  first record the steps of it that ran something with --long; the others stay as they were"""
import argparse
import glob
import json
import os
import re
import sys

import check
import tools

DOCS = "docs/verification/overview.md"
LONG_CHECK = os.path.join(tools.ROOT, "docs/data/long_check.json")
# Read by every job, or inside everything: they would only fill the table.
EVERYWHERE = {"kt_fifo", "kt_skid", "kt_ram_1r1w", "kt_clk_gate"}


def read(path):
    with open(os.path.join(tools.ROOT, path)) as f:
        return f.read()


def found(*patterns):
    return sorted(os.path.relpath(f, tools.ROOT) for p in patterns for f in glob.glob(os.path.join(tools.ROOT, p), recursive=True))


def stem(path):
    return os.path.splitext(os.path.basename(path))[0]


def modules():
    """{module: its block}"""
    return {stem(f): os.path.basename(os.path.dirname(f)) for f in found("rtl/*/*.sv", "rtl/*.sv") if not f.endswith("_pkg.sv")}


def instances(names):
    """{module of rtl/ or of a test: modules of rtl/ inside it, at any depth}"""
    direct = {}
    for path in found("rtl/**/*.sv", "tests/rtl/**/*.sv"):
        text = re.sub(r"//.*", "", read(path))
        direct[stem(path)] = {m for m in re.findall(r"^\s*(\w+)\s+(?:#\s*\(|u_\w+\s*\()", text, re.M) if m in names and m != stem(path)}

    def inside(module, seen):
        for m in direct.get(module, ()):
            if m not in seen:
                seen.add(m)
                inside(m, seen)
        return seen

    return {module: inside(module, set()) for module in direct}


def tests(names, inside):
    """{module: block tests around it alone, then those around something that contains it}"""
    own, within = {}, {}
    for path in found("tests/rtl/**/CMakeLists.txt"):
        for top, sources in re.findall(r"kaiten_rtl_test\([^)]*?TOP (\w+)[^)]*?SOURCES\s+(\w+)\.cpp", read(path), re.S):
            if top in names:
                own.setdefault(top, set()).add(sources)
            for module in inside.get(top, ()):
                # A wrapper in tests/ of the module itself is its own test, too.
                own_test = top not in names and sources.removesuffix("_test") == module
                (own if own_test else within).setdefault(module, set()).add(sources)
    return own, within


def proofs():
    """{module: proofs of that name, then other proofs that read it and do not say `#beside`}"""
    own, other = {}, {}
    for path in found("formal/*.sby"):
        text = read(path)
        beside = " ".join(re.findall(r"^#beside (.*)$", text, re.M)).split()
        for module in re.findall(r"rtl/\w+/(\w+)\.sv", text.split("[files]")[-1]):
            if module in beside:
                continue
            (own if stem(path) == module else other).setdefault(module, set()).add(stem(path))
    return own, other


def table_rows(path):
    try:
        text = read(path)
    except OSError:
        return []
    return [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]


def kills():
    """{proof, or the module behind its @: (38, 40)}, from tables whose first cell is a proof and one of whose others says how many
    mutants were killed; of those that are other circuits at all, where the cell behind it counts the equivalent ones."""
    rates = {}
    for path in ("docs/verification/proof_mutants.md", "docs/hardware/zvc_codec.md"):
        for row in table_rows(path):
            name = re.match(r"`?(\w+)(?::\w+)?(?:@(\w+))?`?$", row[0])
            for cell, behind in zip(row, row[1:]):
                if name and (killed := re.match(r"(\d+) of (\d+)", cell)):
                    of = name[2] or name[1]
                    old = rates.get(of, (0, 0))
                    equivalent = int(behind) if behind.isdigit() else 0
                    rates[of] = (old[0] + int(killed[1]), old[1] + int(killed[2]) - equivalent)
                    break
    return rates


def killed_by_programs():
    """{module: "8 of 10"}, as scripts/mutants.py recorded them"""
    records = tools.read_records(os.path.join(tools.ROOT, "docs/data/system_mutants.json"))
    return {module: f"{r['killed']} of {r['of']}" for module, r in records.items()}


def coverage():
    """{module: "lines %, toggles %"}, as scripts/coverage.py measured them"""
    told = json.loads(read("docs/data/coverage.json"))["modules"]
    return {module: ", ".join(f"{rates[kind]['percent']:.1f}" for kind in ("line", "toggle")) for module, rates in told.items()}


def listed(own, other, module):
    first = ", ".join(f"`{t}`" for t in sorted(own.get(module, ())))
    rest = sorted(other.get(module, ())) if module not in EVERYWHERE else []
    inner = "in " + ", ".join(f"`{t}`" for t in rest) if rest else ""
    return "; ".join(filter(None, [first, inner])) or "-"


def table():
    names = modules()
    own_tests, within = tests(names, instances(names))
    own_proofs, other_proofs = proofs()
    killed = kills()
    by_programs = killed_by_programs()
    covered = coverage()
    rows = []
    for module, block in sorted(names.items(), key=lambda item: (item[1] == "rtl", item[1], item[0])):
        rate = killed.get(module)
        rows.append(["top" if block == "rtl" else block, f"`{module}`", listed(own_tests, within, module),
                     listed(own_proofs, other_proofs, module), f"{rate[0]} of {rate[1]}" if rate else "-",
                     by_programs.get(module, "-"), covered.get(module, "-")])
    return tools.markdown(["block", "module", "block test", "proof", "killed by proof", "killed by programs", "coverage %"], rows)


def units():
    """{unit of sw/, "graph/quantize": the headers that it includes}, and those that have a header of their own"""
    found_units, with_header = {}, set()
    for path in found("sw/**/*.h", "sw/**/*.cpp", "sw/**/*.in"):
        name = re.sub(r"\.(h|cpp|h\.in|cpp\.in|in)$", "", os.path.relpath(path, os.path.join(tools.ROOT, "sw")))
        name = name if os.path.sep in name else f"./{name}"
        if os.path.basename(name) == "precompiled":
            continue  # others' headers
        if path.endswith(".h"):
            with_header.add(name)
        found_units.setdefault(name, set()).update(re.findall(r'^#include "([^"]+)\.h"', read(path), re.M))
    return {name: headers - {name} for name, headers in found_units.items()}, with_header


def included_by_tests(names):
    """{unit: tests that include its header, themselves or by a header of tests/}"""
    def headers(path, seen):
        for name in re.findall(r'^#include "([^"]+)\.h"', read(path), re.M):
            for base in ("", os.path.dirname(path) + "/"):
                inner = f"{base}{name}.h"
                if inner.startswith("tests/") and inner not in seen and os.path.exists(os.path.join(tools.ROOT, inner)):
                    seen.add(inner)
                    yield from headers(inner, seen)
            yield name

    tests_of = {}
    for path in found("tests/sw/**/*_test.cpp", "tests/models/*_test.cpp", "tests/system/*_test.cpp", "tests/fuzz/fuzz_*.cpp"):
        for name in set(headers(path, set())) & names:
            tests_of.setdefault(name, set()).add(stem(path))
    for path in found("tests/cli/*_test.py"):
        for command in set(re.findall(r'(?:run\(KAITEN, |refused\(|COMMAND = )"([a-z]+)"', read(path))):
            if f"cli/{command}" in names:
                tests_of.setdefault(f"cli/{command}", set()).add(stem(path) + ".py")
    return tests_of


def climb(names, users, tests_of):
    """(the nearest units that include one of these and that tests include, all units passed on the way)"""
    seen, ring = set(names), set(names)
    while ring:
        ring = set().union(*(users.get(u, set()) for u in ring)) - seen
        seen |= ring
        if any(u in tests_of for u in ring):
            return sorted(u for u in ring if u in tests_of), seen
    return [], seen


def through(name, all_units, with_header, users, tests_of):
    """The nearest units with tests whose part this one is."""
    def declared(u):  # headers of the same folder: a source without one of its own implements what they declare
        return {h for h in all_units[u] if h.split("/")[0] == name.split("/")[0]}

    near = {name} if name in with_header else declared(name)
    tested, seen = climb(near, users, tests_of)
    if near & set(tests_of) or tested:
        return sorted(near & set(tests_of)) or tested
    sources = set().union(*(declared(u) for u in seen | {name} if u in all_units)) & set(tests_of)
    front = "/".join(2 * [name.split("/")[0]])  # the header that declares what a folder is for
    return [front] if front in sources else sorted(sources)


def software_table():
    all_units, with_header = units()
    tests_of = included_by_tests(set(all_units))
    users = {}
    for name, headers in all_units.items():
        for header in headers:
            users.setdefault(header, set()).add(name)
    rows = []
    for name in sorted(all_units):
        folder, unit = os.path.split(name)
        own = {t for t in tests_of.get(name, ()) if t in (f"{unit}_test", f"{unit}_test.py", f"fuzz_{unit}")}
        others = sorted(tests_of.get(name, set()) - own)
        listing = ", ".join(f"`{t}`" for t in sorted(own))
        if others:
            more = ", ".join(f"`{t}`" for t in others[:3]) + (f" and {len(others) - 3} more" if len(others) > 3 else "")
            listing += ("; in " if listing else "in ") + more
        if not listing:
            tested = through(name, all_units, with_header, users, tests_of)
            listing = "through " + ", ".join(f"`{u}`" for u in tested[:3]) if tested else "-"
        rows.append([folder, f"`{unit}`", listing])
    return tools.markdown(["folder", "unit", "tests"], rows)


def soak_table():
    done = json.loads(read("docs/data/soak.json"))
    kinds = ("networks", "runs", "errors", "resets", "beats_read", "beats_written", "cycles")
    rows = [[f"`{name}`", *(f"{c[kind]:,}" for kind in kinds)] for name, c in done["configs"].items()]
    rows.append(["all", *(f"{sum(c[kind] for c in done['configs'].values()):,}" for kind in kinds)])
    return tools.markdown(["configuration", "networks", "whole runs", "bus errors", "soft resets", "beats read", "beats written", "cycles"], rows)


def record(path):
    """Takes the steps of a summary.json that ran with --long into docs/data/long_check.json."""
    with open(path) as f:
        steps = [s for s in json.load(f)["steps"] if s.get("long") and s["passed"] + s["failed"]]
    records = tools.read_records(LONG_CHECK)
    for step in steps:
        kept = {key: step[key] for key in ("passed", "failed", "seconds", "commit", "again") if key in step}
        records[step["step"]] = {**kept, "skipped": len(step["skipped"])}
    tools.write_records(LONG_CHECK, records)


def commits(step):
    """What a step looked at: one commit, and those on which tests that had failed ran again."""
    return "; ".join([step["commit"], *(f"{again['tests']} again on {again['commit']}" for again in step.get("again", []))])


def long_check_table():
    records = tools.read_records(LONG_CHECK)
    steps = [(name, records[name]) for name in check.STEPS if name in records]
    counts = ("passed", "failed", "skipped", "seconds")
    rows = [[name, *(f"{step[count]:.0f}" for count in counts), commits(step)] for name, step in steps]
    rows.append(["all", *(f"{sum(step[count] for _, step in steps):.0f}" for count in counts), ""])
    return tools.markdown(["step", *counts, "commit"], rows)


def main():
    parser = argparse.ArgumentParser(description="The tables of docs/verification/overview.md.")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--check", action="store_true")
    what.add_argument("--summary", metavar="FILE")
    args = parser.parse_args()
    if args.summary:
        record(args.summary)
    old = read(DOCS)
    new = tools.between(tools.between(old, "table", table()), "software", software_table())
    new = tools.between(new, "soak", soak_table())
    new = tools.between(new, "check-long", long_check_table())
    return tools.write_generated({DOCS: new}, args.check)


if __name__ == "__main__":
    sys.exit(tools.guarded(main))
