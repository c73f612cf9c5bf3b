# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""The mutation run: which task a block stands for, which sources a mutant may touch, what --check calls worse than recorded."""
import argparse
import contextlib
import io
import os
import sys
import tempfile
import time
import unittest
import unittest.mock
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../scripts"))
import formal
import mutate

JOB = """#inject bug a.sv: x + 1 ==> x + 2
#long deep
[tasks]
cover
bug broken
deep
prove
[files]
fv_a.sv
../rtl/a.sv
../rtl/proven.sv
"""


class Tasks(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        root = self.folder.name
        saved = formal.FORMAL, formal.OUT
        self.addCleanup(lambda: (setattr(formal, "FORMAL", saved[0]), setattr(formal, "OUT", saved[1])))
        formal.FORMAL, formal.OUT = os.path.join(root, "formal"), os.path.join(root, "out")
        for name, text in {"formal/block.sby": JOB, "formal/fv_a.sv": "", "rtl/a.sv": "assign y = x + 1;\n",
                           "formal/proven.sby": JOB, "rtl/proven.sv": ""}.items():
            os.makedirs(os.path.dirname(os.path.join(root, name)), exist_ok=True)
            with open(os.path.join(root, name), "w") as f:
                f.write(text)

    def test_a_block_stands_for_its_first_proof(self):
        self.assertEqual(mutate.chosen_task("block").task, "prove")

    def test_a_task_may_be_named_long_or_not(self):
        self.assertEqual(mutate.chosen_task("block:deep").task, "deep")

    def test_a_task_that_must_fail_judges_nothing(self):
        with self.assertRaises(mutate.MutationError):
            mutate.chosen_task("block:bug")

    def test_harness_and_proven_modules_are_not_touched(self):
        self.assertEqual(mutate.sources_of_block(mutate.chosen_task("block")), ["a.sv"])

    def test_two_modules_of_a_proof_may_be_looked_at_at_a_time(self):
        out = os.path.join(self.folder.name, "mutate")
        inside, most = [], []

        def configuration(task):
            inside.append(task)
            most.append(len(inside))
            time.sleep(0.05)
            inside.pop()
            return {"options": "", "script": "prep -top fv_a", "engines": ""}

        def listed(self, _name, _lines):
            mutate.tools.write(os.path.join(self.folder, "list.txt"), "")
        with unittest.mock.patch.object(mutate, "OUT", out), unittest.mock.patch.object(mutate, "configuration", configuration), \
                unittest.mock.patch.object(mutate.Mutants, "yosys", listed), ThreadPoolExecutor(2) as pool:
            names = [m.name for m in pool.map(lambda want: mutate.Mutants(want, 3, 1), ["block:deep@a", "block:deep@proven"])]
        self.assertEqual((names, max(most)), (["block:deep@a", "block:deep@proven"], 1))

    def test_a_module_may_be_named_proven_or_not(self):
        task = mutate.chosen_task("block:deep@proven")
        self.assertEqual(task.task, "deep")
        self.assertEqual(mutate.sources_of_block(task, "proven"), ["proven.sv"])
        with self.assertRaises(mutate.MutationError):
            mutate.sources_of_block(task, "other")


class Fake:
    """Thirty mutants, some of which survive."""

    survivors = set()
    made = "0123"

    def __init__(self, *_):
        self.mutations = [""] * 30
        self.places = [f"inv a.sv:{n}" for n in range(30)]

    def digest(self):
        return self.made

    def source(self, number):
        return f"line {number}"

    def judge(self, numbers, *_):
        self.judged = list(numbers)
        return {n: "survives" if n in Fake.survivors else "killed" for n in numbers}


class Check(unittest.TestCase):
    RECORD = {"count": 30, "seed": 1, "depth": None, "mutants": "0123", "of": 30, "killed": 28, "survivors": {"0": "", "3": ""}, "seconds": 1.0}

    def setUp(self):
        self.addCleanup(setattr, mutate, "Mutants", mutate.Mutants)
        mutate.Mutants = Fake
        Fake.survivors, Fake.made = {0, 3}, "0123"

    def test_recorded_survivors_may_survive(self):
        good, told = mutate.check("a:prove", self.RECORD, 10)
        self.assertTrue(good)
        self.assertIn("10 of 10 killed again", told)

    def test_one_that_was_killed_may_not(self):
        Fake.survivors = {1}
        good, told = mutate.check("a:prove", self.RECORD, 10)
        self.assertFalse(good)
        self.assertIn("survives: inv a.sv:1: line 1", told)

    def test_slow_ones_are_sampled_less(self):
        _, told = mutate.check("a:prove", {**self.RECORD, "seconds": 100.0}, 10)
        self.assertIn("3 of 3", told)

    def test_other_mutants_are_held_to_the_rate(self):
        Fake.made = "4567"
        good, told = mutate.check("a:prove", self.RECORD, 10)
        self.assertTrue(good)
        self.assertIn("measure again", told)
        Fake.survivors = set(range(15))
        self.assertFalse(mutate.check("a:prove", self.RECORD, 10)[0])

    def test_what_passed_and_has_not_changed_is_not_judged_again(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        record = os.path.join(folder.name, "record.json")
        stamp = unittest.mock.Mock(key="as it was")
        task = unittest.mock.Mock(stamp=lambda: stamp)
        judged = []

        def judge(proof, *_):
            judged.append(proof)
            return proof != "b:prove", "3 of 3 killed again"

        with unittest.mock.patch.multiple(mutate, OUT=folder.name, RECORD=record, chosen_task=lambda _: task, check=judge), \
                contextlib.redirect_stdout(io.StringIO()):
            mutate.tools.write_records(record, {"a:prove": self.RECORD, "b:prove": self.RECORD})
            args = argparse.Namespace(j=1, limit=10)
            for _ in range(2):
                self.assertEqual(mutate.check_all([], args), 1)
            self.assertEqual(judged, ["a:prove", "b:prove", "b:prove"])
            stamp.key = "changed"
            mutate.check_all(["a:prove"], args)
            mutate.tools.write_records(record, {"a:prove": {**self.RECORD, "seed": 2}})
            mutate.check_all(["a:prove"], args)
        self.assertEqual(judged[3:], ["a:prove", "a:prove"])


if __name__ == "__main__":
    unittest.main()
