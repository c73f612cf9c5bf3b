#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Maps one module to an FPGA family and writes what came out as plain Verilog, the family's cells replaced by their simulation
models: for simulating a mapped netlist beside its RTL.

usage: netlist.py --target xc7|cyclonev|ecp5 --top MODULE [-G NAME=VALUE ...] --output FILE SOURCE ...
The flow is that of scripts/synth.py. Fails when a product was not mapped to a multiplier of the family, or a cell has no
model. Models: yosys's own, and fpga/sim/ where yosys has none."""
import argparse
import os
import sys

import synth
import tools

# What reads the models of the family's cells.
MODELS = {
    "xc7": "+/xilinx/cells_sim.v",
    "cyclonev": " ".join(f"+/intel_alm/common/{part}_sim.v" for part in ("alm", "dff", "dsp", "misc")),
    "ecp5": "+/lattice/cells_sim_ecp5.v fpga/sim/MULT18X18D.v",
}


def script(target, top, parameters, sources, output):
    flow = synth.TARGETS[target]
    return "\n".join([
        " ".join(["read_slang -j 1", f"--top {top}", *[f"-G {p}" for p in parameters], *sources]),
        flow["flow"].format(top=top), flow["map"],
        "select -assert-none t:$mul t:$macc t:$_*_",
        f"read_verilog -overwrite {MODELS[target]}",
        f"hierarchy -check -top {top}", "proc; flatten; opt_clean -purge; simplemap t:$bwmux",
        f"write_verilog -noattr {output}", ""])


def main():
    parser = argparse.ArgumentParser(description="A mapped netlist as plain Verilog.")
    parser.add_argument("--target", choices=sorted(MODELS), required=True)
    parser.add_argument("--top", required=True)
    parser.add_argument("-G", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--output", required=True)
    parser.add_argument("sources", nargs="+")
    args = parser.parse_args()
    sources = [os.path.relpath(s, tools.ROOT) for s in args.sources]
    return tools.yosys_verilog(lambda file: script(args.target, args.top, args.G, sources, file), args.output)


if __name__ == "__main__":
    sys.exit(tools.guarded(main))
