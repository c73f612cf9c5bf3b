# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Mutants of the machine: where one is, what is recorded of them."""
import contextlib
import io
import os
import sys
import tempfile
import unittest
import unittest.mock

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../scripts"))
import mutants

# As yosys lists one: of a cell made of two places, the second in the module asked for.
COMMAND = (r"mutate -mode cnot1 -module kaiten_top -cell $and$42 -port \Y -portbit 3 -ctrlbit 1 "
           "-src rtl/common/kt_pkg.sv:29.1-29.9 -src rtl/control/kt_watchdog.sv:49.25-49.30")


class Places(unittest.TestCase):
    def test_is_where_the_module_has_it(self):
        mutant = mutants.Mutant("kt_watchdog", 7, COMMAND)
        self.assertEqual(mutant.place, "cnot1 kt_watchdog.sv:49.25-49.30 Y[3]")
        with open(os.path.join(mutants.tools.ROOT, "rtl/control/kt_watchdog.sv")) as f:
            self.assertEqual(mutant.source(), f.read().splitlines()[48].strip())

    def test_the_top_has_a_place_too_and_a_wire_its_name(self):
        mutant = mutants.Mutant("kaiten_top", 1, "mutate -mode inv -module kaiten_top -cell c -port Q -portbit 1 "
                                                 "-wire u_conv.head -wirebit 9 -src rtl/kaiten_top.sv:7.3-7.9")
        self.assertEqual(mutant.place, "inv kaiten_top.sv:7.3-7.9 head[9]")


class Judging(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.ran = []
        os.makedirs(os.path.join(self.folder.name, "test-bin"))
        for name, value in {"OUT": self.folder.name, "VERDICTS": os.path.join(self.folder.name, "new", "verdicts.json"),
                            "PROGRAMS": [("one_test", "*"), ("two_test", "*")], "run_program": self.run_program}.items():
            patch = unittest.mock.patch.object(mutants, name, value)
            patch.start()
            self.addCleanup(patch.stop)
        self.build("")

    def build(self, text):
        for name, _ in mutants.PROGRAMS:
            with open(os.path.join(self.folder.name, "test-bin", name), "w") as f:
                f.write(name + text)

    def run_program(self, program, number, _limit):
        """Mutant 1 is found by the second program, the others by none; the third is never judged to the end."""
        if number == 3:
            raise KeyboardInterrupt
        self.ran.append((number, program[0]))
        return (number, program[0]) != (1, "two_test"), 0.1

    def judge(self, *numbers):
        self.ran.clear()
        judged = [mutants.Mutant("kt_watchdog", n, COMMAND) for n in numbers]
        with contextlib.redirect_stdout(io.StringIO()):
            mutants.judge(judged, [1.0, 1.0], 1)
        return [m.found_by for m in judged]

    def test_goes_on_where_it_was(self):
        with self.assertRaises(KeyboardInterrupt):
            self.judge(1, 3, 2)
        self.assertEqual(self.judge(1, 2), ["two_test", None])
        self.assertNotIn(1, [number for number, _ in self.ran])
        self.assertEqual(self.judge(1, 2), ["two_test", None])
        self.assertEqual(self.ran, [])

    def test_begins_again_with_another_machine(self):
        self.judge(1, 2)
        self.build("changed")
        self.assertEqual(self.judge(1, 2), ["two_test", None])
        self.assertEqual(len(self.ran), 4)


class Rates(unittest.TestCase):
    def test_survivors_are_named(self):
        found, missed = mutants.Mutant("kt_watchdog", 1, COMMAND), mutants.Mutant("kt_watchdog", 2, COMMAND)
        found.found_by = "soak_test"
        self.assertEqual(mutants.outcome([found, missed]), {"killed": 1, "of": 2, "survivors": [missed.place]})

    def test_modules_with_more_mutants_weigh_more(self):
        self.assertEqual(mutants.rate([{"killed": 1, "of": 1}, {"killed": 0, "of": 3}]), 25.0)


if __name__ == "__main__":
    unittest.main()
