# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Is a mutant of a block another circuit at all? Both stand beside each other in the harness of a proof, with the same inputs and
the same contents at power-up, and every output of a block that the harness looks at is compared, in each cycle outside of reset
and, where the job says `#observe OUTPUT while WIRE`, while the wire is 1.

Equivalent: a set of equalities holds in the first cycle, a step that begins with all of them keeps all of them, and they leave no
output to differ. The set is what remains of these: wires and memories of both are equal, else their bits; bits are never 1. The
original's claims are taken as true where they are proven. Different: a run of the harness, found by searching, in which an output
differs. Else undecided: neither was found within the limits."""
import json
import os
import re
import select
import subprocess

import tools

MOST = 6000  # claims at once
STEPS = 16  # of the search for a difference
# How two machines of one harness become one, as SMT-LIB. An undefined value is 0 in both.
EACH = "setattr -set keep 1 w:*\nasync2sync\nchformal -cover -live -fair -remove\n{claims}\nsetundef -undriven -zero\n"
BOTH = """design -reset
design -copy-from gold -as gold gold
design -copy-from gate -as gate gate
read_verilog twin.v
hierarchy -top twin
flatten
opt_clean
memory_nordff
formalff -setundef -clk2ff -ff2anyinit -hierarchy
setundef -undriven -zero
opt_clean
rename -witness
formalff -assume
dffunmap
"""


class Undecided(Exception):
    """The solver's time is over."""


class Solver:
    """yices, asked one question after the other; `seconds` of processor time, so that a busy machine decides the same."""

    def __init__(self, seconds):
        self.proc = subprocess.Popen([tools.find_or_skip("yices-smt2"), "--incremental"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                     stderr=subprocess.STDOUT, text=True, bufsize=0, env=tools.environment())
        self.seconds = seconds

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.proc.kill()
        self.proc.stdin.close()
        self.proc.stdout.close()
        self.proc.wait()

    def used(self):
        """Seconds of processor time."""
        with open(f"/proc/{self.proc.pid}/stat", encoding="ascii") as f:
            fields = f.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def tell(self, text):
        if self.used() > self.seconds:
            raise Undecided
        self.proc.stdin.write(text + "\n")

    def ask(self, text):
        """Its answer: a word, or an expression that ends where its brackets do."""
        self.tell(text)
        answer = ""
        while not answer.strip() or answer.count("(") > answer.count(")"):
            while not select.select([self.proc.stdout], [], [], 1)[0]:
                if self.used() > self.seconds:
                    raise Undecided
            answer += os.read(self.proc.stdout.fileno(), 1 << 16).decode()
            if answer.lstrip().startswith("(error") or self.proc.poll() is not None:
                raise RuntimeError(f"yices: {answer.strip()[:300]}")
        return answer.strip()

    def broken(self, claims, rest=lambda claim: []):
        """None where all claims hold, else those that a model breaks, and of what `rest` says to try instead of each what this model breaks."""
        self.tell(f"(push 1)\n(assert (not (and true {' '.join(str(c) for c in claims)})))")
        broken = None
        if self.ask("(check-sat)") == "sat":
            broken, keep, ask = [], [], list(claims)
            while ask:
                values = re.findall(r"\b(true|false)\)", self.ask(f"(get-value ({' '.join(str(c) for c in ask)}))"))
                if len(values) != len(ask):
                    raise RuntimeError("yices: other values than those asked for")
                false = [c for c, value in zip(ask, values) if value == "false"]
                broken += false
                keep += [c for c, value in zip(ask, values) if value == "true"]
                ask = [other for c in false for other in rest(c)]
            broken = broken, keep
        self.tell("(pop 1)")
        return broken


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


class Claim:
    """Bits of a wire are `equal` in both machines, or the `word` of a memory at the address `low`; or bits are `zero` in the original.
    With `guard`, a bit of the original, only while that is 1."""

    def __init__(self, twin, kind, name, low=0, bits=1, guard=None):
        self.twin, self.kind, self.name, self.low, self.bits, self.guard = twin, kind, name, low, bits, guard

    def part(self, machine, state):
        value = self.twin.value(machine, self.name, state)
        if self.bits == self.twin.bits[self.name]:
            return value
        return f"((_ extract {self.low + self.bits - 1} {self.low}) {value})"

    def at(self, state):
        if self.guard:
            return f"(=> {self.guard.part('gold', state)} {Claim(self.twin, self.kind, self.name, self.low, self.bits).at(state)})"
        if self.kind == "word":
            return f"(= {self.twin.word('gold', self.name, self.low, state)} {self.twin.word('gate', self.name, self.low, state)})"
        mine = self.part("gold", state)
        if self.kind == "equal":
            return f"(= {mine} {self.part('gate', state)})"
        return f"(not {mine})" if self.twin.bits[self.name] == 1 else f"(= {mine} #b{'0' * self.bits})"

    def __str__(self):
        return self.at("s1")

    def halves(self):
        """What to try instead."""
        if self.kind == "word" or self.bits == 1:
            return []
        half = self.bits // 2
        return [Claim(self.twin, self.kind, self.name, self.low, half, self.guard),
                Claim(self.twin, self.kind, self.name, self.low + half, self.bits - half, self.guard)]


class Twin:
    """Two machines in SMT-LIB: `text`, what yosys wrote of the module `twin`. `observed`: {output: the wire while which it counts}."""

    def __init__(self, text, observed):
        self.text, self.observed = text, observed
        wires = dict(re.findall(r"^; yosys-smt2-wire (\S+) (\d+)$", text, re.M))
        both = [name[5:] for name in wires if name.startswith("gold.") and "gate." + name[5:] in wires]
        self.bits = {name: int(wires["gold." + name]) for name in both}
        self.registers = set(re.findall(r"^; yosys-smt2-register (\S+) ", text, re.M))
        memories = {name: (int(address), int(bits)) for name, address, bits in
                    re.findall(r"^; yosys-smt2-memory (\S+) (\d+) (\d+) ", text, re.M)}
        # {name: (bits of an address, bits of a word)}
        self.memories = {name[5:]: size for name, size in memories.items() if name.startswith("gold.") and "gate." + name[5:] in memories}
        # what a block gives away: not what is inside of it, nor what the harness computes
        self.outputs = [name for name in both if re.fullmatch(r"([\w\[\]]+\.)+\w+_o(\[\d+\])*", name) and ".u_" not in name]
        if unknown := set(observed.items()) - {(o, w) for o, w in observed.items() if o in self.outputs and w in both}:
            raise RuntimeError(f"#observe: no {' while '.join(unknown.pop())}")

    @staticmethod
    def value(machine, name, state):
        return f"(|twin_n {machine}.{name}| {state})"

    def equal(self, name, state):
        return f"(= {self.value('gold', name, state)} {self.value('gate', name, state)})"

    def word(self, machine, name, address, state):
        return f"(select (|twin_m {machine}.{name}| {state}) #b{address:0{self.memories[name][0]}b})"

    def words(self):
        """A claim for each word of each memory."""
        return [Claim(self, "word", name, address) for name, (bits, _) in self.memories.items() for address in range(1 << min(bits, 8))]

    def candidates(self):
        """What may hold always."""
        found = [Claim(self, "equal", name, 0, bits) for name, bits in self.bits.items()]
        found += self.words()
        found += [Claim(self, "zero", name, 0, bits) for name, bits in self.bits.items()]
        return found

    def register(self, name):
        return f"gold.{name}" in self.registers

    def begin(self, solver, states):
        solver.tell("(set-option :produce-models true)\n(set-logic QF_AUFBV)")
        solver.tell("\n".join(line for line in self.text.splitlines() if not line.startswith(";")))
        for i in range(states):
            self.state(solver, i)

    def state(self, solver, i):
        """One cycle more; the harness's assumptions hold in it."""
        solver.tell(f"(declare-fun s{i} () |twin_s|)\n(assert (|twin_h| s{i}))\n(assert (|twin_u| s{i}))")
        if i:
            solver.tell(f"(assert (|twin_t| s{i - 1} s{i}))")

    def power_up(self, solver):
        solver.tell("(assert (|twin_i| s0))\n(assert (|twin_is| s0))")
        for name in self.bits:
            if self.register(name):
                solver.tell(f"(assert {self.equal(name, 's0')})")
        for claim in self.words():
            solver.tell(f"(assert {claim.at('s0')})")

    def same(self, state):
        """Of each output, that it does not differ where it counts: outside of reset, and where it is observed."""
        def claim(name):
            wires = [wire for wire in ("rst_ni", self.observed.get(name)) if wire in self.bits]
            unless = [f"(not {self.value('gold', wire, state)})" for wire in wires]
            return f"(or {' '.join(unless)} {self.equal(name, state)})"

        return [claim(name) for name in self.outputs]

    def equivalent(self, seconds):
        """True, or False where the equalities that remain are too few."""
        for more in (self.candidates, self.guarded):
            self.held = self.hold(more(), seconds)
            with Solver(seconds) as solver:
                self.begin(solver, 1)
                for claim in self.held:
                    solver.tell(f"(assert {claim.at('s0')})")
                if solver.broken(self.same("s0")) is None:
                    return True
        return False

    def hold(self, found, seconds):
        """Of these claims the largest set that is true at the beginning and that a step keeps."""
        with Solver(seconds) as solver:
            self.begin(solver, 2)
            self.power_up(solver)
            # The first cycle is in reset, so what is compared begins with the second.
            found = self.largest(solver, found, begin=True)
        with Solver(seconds) as solver:
            self.begin(solver, 2)
            return self.largest(solver, found, begin=False)

    def guarded(self):
        """What held, and equalities that did not, each while some bit of control is 1."""
        held = {(c.kind, c.name, c.low, c.bits) for c in self.held}
        guards = [Claim(self, "zero", name) for name, bits in self.bits.items() if bits == 1 and not name.endswith(("clk_i", "rst_ni"))]
        found = list(self.held)
        for name, bits in self.bits.items():
            if bits > 1 and ("equal", name, 0, bits) not in held and (name in self.outputs or self.register(name)):
                found += [Claim(self, "equal", name, 0, bits, guard) for guard in guards]
        return found[:MOST]

    @staticmethod
    def largest(solver, found, begin):
        """Of the claims those that hold in s1; unless at the beginning, if all that are left hold in s0."""
        while found:
            solver.tell("(push 1)")
            if not begin:
                for claim in found:
                    solver.tell(f"(assert {claim.at('s0')})")
            answer = solver.broken(found, Claim.halves)
            solver.tell("(pop 1)")
            if answer is None:
                break
            found = answer[1]
        return found

    def difference(self, seconds):
        """("in_data_o", 3): the output that differs, and in which cycle after power-up; None where none was found in STEPS."""
        with Solver(seconds) as solver:
            self.begin(solver, 1)
            self.power_up(solver)
            for i in range(STEPS):
                if i:
                    self.state(solver, i)
                claims = self.same(f"s{i}")
                if answer := solver.broken(claims):
                    return self.outputs[claims.index(answer[0][0])], i
        return None


def decide(text, observed, seconds):
    """What is known of the two machines in `text`: "equivalent", "OUTPUT differs in cycle N" or "undecided"."""
    twin = Twin(text, observed)
    if not twin.outputs:
        raise RuntimeError("no outputs to compare")
    try:
        if twin.equivalent(seconds):
            return "equivalent"
    except Undecided:
        pass
    try:
        if found := twin.difference(seconds):
            return f"`{found[0]}` differs in cycle {found[1]}"
    except Undecided:
        pass
    return "undecided"
