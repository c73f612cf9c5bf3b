#!/usr/bin/env python3
"""Lints what is not RTL: shellcheck on every shell script, clang-format on every C++ source that is not generated.

usage: lint_software.py
Writes build/lint/software.xml."""
import os
import re
import sys
import time

import lint
import tools


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
    files = sources()
    cpp = [f for f in files if f.endswith((".cpp", ".h")) and not lint.generated(f)]
    results = tools.Results("lint_software")
    simple(results, "shellcheck", tools.find("shellcheck"), ["-f", "gcc", *filter(is_shell, files)])
    simple(results, "clang-format", tools.find_or_skip("clang-format"), ["--dry-run", "-Werror", *cpp])
    junit = os.path.join(tools.ROOT, "build", "lint", "software.xml")
    os.makedirs(os.path.dirname(junit), exist_ok=True)
    return results.finish(junit)


if __name__ == "__main__":
    sys.exit(tools.guarded(main))
