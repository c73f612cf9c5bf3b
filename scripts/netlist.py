#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Maps a module, or a whole configuration, to an FPGA family and writes what came out as plain Verilog, the family's cells
replaced by their simulation models: for simulating a mapped netlist beside its RTL.

usage: netlist.py --target xc7|cyclonev|ecp5 --top MODULE [-G NAME=VALUE ...] --output FILE SOURCE ...
       netlist.py --target xc7|cyclonev|ecp5 --config C --output FILE
The flow is that of scripts/synth.py, which does not map a configuration again that was mapped here. Fails when a product was not mapped to a multiplier of the family, or a cell has no
model. Models: yosys's own, and fpga/sim/ where yosys has none, or one that is wrong."""
import argparse
import os
import sys
import time

import dropin
import lint
import synth
import tools

# What reads the models of the family's cells.
MODELS = {
    "xc7": ["+/xilinx/cells_sim.v", "fpga/sim/xc7_ram.v"],
    "cyclonev": [*(f"+/intel_alm/common/{part}_sim.v" for part in ("alm", "dff", "dsp", "mem", "misc")), "fpga/sim/cyclonev_ram.v"],
    "ecp5": ["+/lattice/cells_sim_ecp5.v", "fpga/sim/MULT18X18D.v", "fpga/sim/ecp5_ram.v"],
}


def script(target, top, mapped, output):
    return "\n".join([
        *mapped,
        "select -assert-none t:$mul t:$macc t:$_*_",
        *[f"read_verilog -overwrite {models}" for models in MODELS[target]],
        f"hierarchy -check -top {top}", "proc; flatten; opt_clean -purge", "memory -nomap", "opt -fast", *dropin.TO_VERILOG,
        f"write_verilog -noattr {output}", ""])


def main():
    parser = argparse.ArgumentParser(description="A mapped netlist as plain Verilog.")
    parser.add_argument("--target", choices=sorted(MODELS), required=True)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--top")
    what.add_argument("--config", choices=sorted(lint.configurations()))
    parser.add_argument("-G", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--output", required=True)
    parser.add_argument("sources", nargs="*")
    args = parser.parse_args()
    top = args.top or lint.TOP
    if args.config:
        kept = synth.Mapped(args.config, args.target)
        mapped = [synth.script(args.target, lint.configurations()[args.config], synth.stat_of(args.config, args.target))]
    else:
        flow = synth.TARGETS[args.target]
        mapped = [" ".join(["read_slang -j 1 --keep-hierarchy", f"--top {top}", *[f"-G {p}" for p in args.G],
                            *[os.path.relpath(s, tools.ROOT) for s in args.sources]]), flow["flow"].format(top=top), flow["map"]]
    start = time.time()
    code = tools.yosys_verilog(lambda file: script(args.target, top, mapped, file), args.output)
    if code == 0 and args.config:
        kept.record(synth.counted(args.config, args.target), time.time() - start)
    return code


if __name__ == "__main__":
    sys.exit(tools.guarded(main))
