#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the whole design of one configuration as one Verilog-2005 file, for tools that do not read SystemVerilog.

usage: dropin.py [--config C] [--family F] [--output FILE] [--quiet]    default: nano, build/dropin/kaiten_<config>.v
  --family  with products as multipliers of that family (scripts/synth.py) make them best; default: any, build/dropin/<family>/
yosys with slang reads the sources; processes become registers and multiplexers, memories stay memories, the hierarchy is
flattened. The ports are those of rtl/kaiten_top.sv."""
import argparse
import os
import sys

import lint
import synth
import tools


def read(parameters, *passes):
    """The yosys commands that read the whole design as one module; `passes` before memories are found. Registers behind memories stay registers: taking some bits of one
    into a memory leaves the others with inputs that nothing drives."""
    return [lint.read_slang(parameters), f"hierarchy -check -top {lint.TOP}", "proc", "opt_clean", *passes, "memory -nomap -nordff"]


# What Verilog has no operator for, or one that simulators differ in: a part-select that reaches outside its vector.
TO_VERILOG = ["techmap -map scripts/bwmux.v t:$bwmux", "techmap t:$shiftx r:B_SIGNED=1 %i", "opt_clean -purge"]


# One enable for a memory's word, not one for each of its bits: else vendors' tools see no memory that they have.
WHOLE_WORDS = "opt_reduce"


def script(parameters, output):
    return "; ".join([*read(parameters, WHOLE_WORDS), *TO_VERILOG, "check -assert", f"write_verilog -noattr {output}"])


def main():
    parser = argparse.ArgumentParser(description="The design as one Verilog-2005 file.")
    parser.add_argument("--config", default="nano")
    parser.add_argument("--family", choices=sorted(synth.TARGETS), default="")
    parser.add_argument("--output")
    parser.add_argument("--quiet", action="store_true", help="do not name the file written")
    args = parser.parse_args()
    configs = lint.configurations()
    if args.config not in configs:
        parser.error(f"configuration '{args.config}': there are {', '.join(configs)}")
    output = args.output or os.path.join(tools.ROOT, "build", "dropin", args.family, f"kaiten_{args.config}.v")
    parameters = configs[args.config] | (synth.TARGETS[args.family]["parameters"] if args.family else {})
    code = tools.yosys_verilog(lambda file: script(parameters, file), output)
    if code == 0 and not args.quiet:
        print(os.path.relpath(output))
    return code


if __name__ == "__main__":
    sys.exit(tools.guarded(main))
