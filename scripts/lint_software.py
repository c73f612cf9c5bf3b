#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Lints what is not RTL: a licence for every file (REUSE), shellcheck on every shell script, clang-format on every C++ source that is
not generated, clang-tidy with .clang-tidy on tb/ and sw/, doxygen with docs/Doxyfile on the headers of sw/public_headers.txt: what
their comments leave out or say wrong is a finding.

usage: lint_software.py [--preset P] [--force] [--record] [-j N] [FILE ...]      with files: clang-tidy on these only
clang-tidy compiles as the preset's build does (it must be configured, its generated headers made: `make lint` does both). A
source is looked at again only when it, a header of the project behind it, its flags or .clang-tidy have changed since it was clean:
on this machine, or when --record wrote scripts/tidy_clean.json. --force looks at all of them, as the long check does.
Writes build/lint/software.xml."""
import argparse
import json
import os
import re
import shlex
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import lint
import tools

OUT = os.path.join(tools.ROOT, "build", "lint", "tidy")
DOXYGEN_OUT = os.path.join(tools.ROOT, "build", "lint", "doxygen")
# {source: the beginning of its stamp's key when it was clean}. What is missing or old there is looked at, no more.
RECORD = os.path.join(tools.ROOT, "scripts", "tidy_clean.json")
KEY_LETTERS = 16
# Other versions of clang-tidy know other checks: what is clean for one is not for the next.
TIDY_VERSION = "14."


def sources():
    """Files of the project, relative to the root: not what was built or installed."""
    found = []
    for folder, folders, files in os.walk(tools.ROOT):
        if folder == tools.ROOT:
            folders[:] = [f for f in folders if not f.startswith("build") and f not in (".git", ".venv", "out")]
        found += [os.path.relpath(os.path.join(folder, f), tools.ROOT) for f in files]
    return sorted(found)


def is_shell(path):
    with open(os.path.join(tools.ROOT, path), errors="replace") as f:
        return re.match(r"#!.*\b(ba)?sh\b", f.readline()) is not None


def clang_tidy():
    """The program, or None where only another version is installed."""
    for name in ("clang-tidy-14", "clang-tidy"):
        path = tools.find(name)
        if path and f"version {TIDY_VERSION}" in tools.run([path, "--version"])[1]:
            return path
    return None


class Headers:
    """What a source includes of the project itself, directly or not."""

    def __init__(self):
        self.direct = {}

    def of(self, path):
        found, left = set(), [path]
        while left:
            for header in self.included(left.pop()) - found:
                found.add(header)
                left.append(header)
        return sorted(found)

    def included(self, path):
        if path not in self.direct:
            with open(os.path.join(tools.ROOT, path), errors="replace") as f:
                names = re.findall(r'^\s*#\s*include\s+"([^"]+)"', f.read(), re.M)
            places = [os.path.join(folder, name) for name in names for folder in (os.path.dirname(path), "sw", "tb", "")]
            self.direct[path] = {p for p in places if os.path.isfile(os.path.join(tools.ROOT, p))}
        return self.direct[path]


def compilations(build):
    """{source relative to the root: its compile command} of sw/ and tb/, in OUT for clang-tidy, too: without precompiled headers, all of
    which it would look at for each source."""
    try:
        with open(os.path.join(build, "compile_commands.json")) as f:
            entries = json.load(f)
    except OSError:
        sys.exit(f"missing: {os.path.relpath(build, tools.ROOT)}/compile_commands.json (run `make configure`)")
    for entry in entries:
        entry["command"] = re.sub(r" -include-pch \S+", "", entry["command"])
    os.makedirs(OUT, exist_ok=True)
    with open(os.path.join(OUT, "compile_commands.json"), "w") as f:
        json.dump(entries, f)
    commands = {os.path.relpath(e["file"], tools.ROOT): e["command"] for e in entries}
    return {path: command for path, command in sorted(commands.items()) if path.startswith(("tb/", "sw/"))}


def tidy(program, build, args, results):
    commands = compilations(build)
    wanted = [os.path.relpath(os.path.abspath(f), tools.ROOT) for f in args.files]
    for path in wanted:
        if path not in commands:
            sys.exit(f"{path} is not compiled by this build, or not in tb/ or sw/")
    headers = Headers()
    checks = tools.digest_files([".clang-tidy"])
    recorded, clean = read_record(), {}

    def one(path):
        flags = [a for a in shlex.split(commands[path]) if a.startswith(("-D", "-std", "-f", "-W", "-O"))]
        stamp = tools.Stamp(os.path.join(OUT, re.sub(r"\W+", "_", path)),
                            [program, checks, tools.digest_files([path, *headers.of(path)]), *flags])
        key = stamp.key[:KEY_LETTERS]
        if not args.force and (stamp.holds() or recorded.get(path) == key):
            clean[path] = key
            return path, stamp.seconds, ""
        start = time.time()
        code, log = tools.run([program, "-p", OUT, "--quiet", "--warnings-as-errors=*",
                               "--extra-arg=-Wno-unknown-warning-option", path], limit=600, cwd=tools.ROOT)
        seconds = time.time() - start
        if code == 0:
            stamp.record(seconds)
            clean[path] = key
            return path, seconds, ""
        said = "\n".join(line for line in log.splitlines() if re.search(r": (error|warning): ", line))
        return path, seconds, said.replace(tools.ROOT + "/", "") or log[-2000:] or "time limit"

    folders = {}
    with ThreadPoolExecutor(max(1, args.j)) as pool:
        for path, seconds, said in pool.map(one, wanted or commands):
            time_of, told = folders.setdefault(os.path.dirname(path), ([], []))
            time_of.append(seconds)
            told += said.splitlines()
    for folder, (seconds, told) in folders.items():
        if told:
            results.failed(f"clang-tidy {folder}", sum(seconds), f"{len(set(told))} findings", "\n".join(sorted(set(told))))
        else:
            results.passed(f"clang-tidy {folder}", sum(seconds), f"{sum(seconds):6.1f} s, {len(seconds)} files")
    if args.record:
        kept = {path: key for path, key in {**recorded, **clean}.items() if path in commands}
        tools.write(RECORD, json.dumps(dict(sorted(kept.items())), indent=1) + "\n")


def read_record():
    try:
        with open(RECORD, encoding="utf-8") as f:
            return json.load(f)
    except FileNotFoundError:
        return {}


def doxyfile():
    """docs/Doxyfile for the public headers, written where doxygen's output goes. XML, because without an output fewer comments are read."""
    os.makedirs(DOXYGEN_OUT, exist_ok=True)
    path = os.path.join(DOXYGEN_OUT, "Doxyfile")
    headers = " ".join(f"sw/{header}" for header in tools.public_headers())
    with open(path, "w") as f:
        f.write(f"@INCLUDE = docs/Doxyfile\nINPUT = {headers}\nOUTPUT_DIRECTORY = \"{DOXYGEN_OUT}\"\n"
                "GENERATE_XML = YES\nWARN_AS_ERROR = FAIL_ON_WARNINGS\n")
    return path


def simple(results, name, program, command):
    """A tool that takes all files at once."""
    if not program:
        results.skip(name, "tool not installed")
        return
    start = time.time()
    code, log = tools.run([program, *command], limit=300, cwd=tools.ROOT)
    if code == 0:
        results.passed(name, time.time() - start)
    else:
        told = [line for line in log.splitlines() if re.search(r": (error|warning|note): |: error", line)] or log.splitlines()
        results.failed(name, time.time() - start, f"exit code {code}", "\n".join(told))


def main():
    parser = argparse.ArgumentParser(description="shellcheck, clang-format, doxygen, clang-tidy.")
    parser.add_argument("--preset", default="default")
    parser.add_argument("--force", action="store_true", help="look at unchanged sources too")
    parser.add_argument("--record", action="store_true", help="write what is clean into scripts/tidy_clean.json")
    parser.add_argument("-j", type=int, default=os.cpu_count(), metavar="N")
    parser.add_argument("files", nargs="*", metavar="FILE")
    args = parser.parse_args()
    build = os.path.join(tools.ROOT, "build" if args.preset == "default" else f"build-{args.preset}")
    results = tools.Results("lint_software")
    if not args.files:
        files = sources()
        cpp = [f for f in files if f.endswith((".cpp", ".h")) and not lint.generated(f)]
        simple(results, "reuse", tools.find_or_skip("reuse"), ["--root", tools.ROOT, "lint", "--lines"])
        simple(results, "shellcheck", tools.find_or_skip("shellcheck"), ["-f", "gcc", *filter(is_shell, files)])
        simple(results, "clang-format", tools.find_or_skip("clang-format"), ["--dry-run", "-Werror", *cpp])
        simple(results, "doxygen", tools.find_or_skip("doxygen"), [doxyfile()])
    program = clang_tidy()
    if program:
        tidy(program, build, args, results)
    else:
        tools.must_have(f"clang-tidy {TIDY_VERSION}x (run `make setup ALL=1`)")
        results.skip("clang-tidy", f"no version {TIDY_VERSION}x installed")
    return results.finish(os.path.join(tools.ROOT, "build", "lint", "software.xml"))


if __name__ == "__main__":
    sys.exit(tools.guarded(main))
