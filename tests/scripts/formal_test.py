# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""The proof runner's reading of jobs: directives, injected bugs, the house form."""
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../scripts"))
import formal

JOB = """#inject bug a.sv: x + 1 ==> x + 2
#limit prove 7
#long deep
[tasks]
prove
bug broken
deep
cover
[options]
prove: mode prove
[files]
a.sv
[engines]
smtbmc yices
"""


class Jobs(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        saved = formal.FORMAL, formal.OUT
        self.addCleanup(lambda: (setattr(formal, "FORMAL", saved[0]), setattr(formal, "OUT", saved[1])))
        formal.FORMAL = self.folder.name
        formal.OUT = os.path.join(self.folder.name, "out")
        self.put("a.sv", "assign y = x + 1;\n")

    def put(self, name, text):
        with open(os.path.join(self.folder.name, name), "w") as f:
            f.write(text)

    def read(self, text, want=()):
        self.put("block.sby", text)
        return {t.task: t for t in formal.read_jobs(set(want))}

    def test_directives(self):
        tasks = self.read(JOB)
        self.assertEqual(list(tasks), ["prove", "bug", "deep", "cover"])
        self.assertEqual([t.expect for t in tasks.values()], ["PASS", "FAIL", "PASS", "PASS"])
        self.assertEqual((tasks["prove"].limit, tasks["bug"].limit), (7, 300))
        self.assertEqual([t.long for t in tasks.values()], [False, False, True, False])

    def test_an_injection_changes_a_copy_of_one_task(self):
        tasks = self.read(JOB)
        for task in tasks.values():
            task.write()
        with open(os.path.join(formal.OUT, "block_bug.src/a.sv")) as f:
            self.assertEqual(f.read(), "assign y = x + 2;\n")
        with open(os.path.join(formal.OUT, "block_prove.src/a.sv")) as f:
            self.assertEqual(f.read(), "assign y = x + 1;\n")
        with open(os.path.join(formal.OUT, "block_bug.sby")) as f:
            job = f.read()
        self.assertTrue(job.endswith("block_bug.src/a.sv\n"))
        self.assertIn("smtbmc yices", job)  # the section after [files] survives

    def test_stamp_follows_every_input(self):
        before = {name: t.stamp().key for name, t in self.read(JOB).items()}
        self.assertEqual({name: t.stamp().key for name, t in self.read(JOB).items()}, before)
        self.assertEqual(len(set(before.values())), 4)
        self.put("a.sv", "assign y = x + 1; // same\n")
        after = {name: t.stamp().key for name, t in self.read(JOB).items()}
        self.assertTrue(all(after[name] != before[name] for name in before))

    def refused(self, text, message):
        with self.assertRaises(formal.JobError) as caught:
            self.read(text)
        self.assertIn(message, str(caught.exception))

    def test_refusals(self):
        self.refused(JOB.replace("x + 1 ==>", "x - 1 ==>"), "occurs 0 times")
        self.put("a.sv", "assign y = x + 1 + x + 1;\n")
        self.refused(JOB, "occurs 2 times")
        self.refused(JOB.replace("a.sv: x", "b.sv: x"), "not under [files]")
        self.refused(JOB.replace(" ==> ", " -> "), "#inject wants")
        self.put("a.sv", "assign y = x + 1;\n")
        self.refused(JOB.replace("#limit prove", "#limits prove"), "unknown directive #limits")
        self.refused(JOB.replace("\na.sv", "\nc.sv"), "no file c.sv")
        self.refused(JOB.replace("\ncover", "\nlast"), "no cover task")
        self.refused(JOB.split("\n", 1)[1], "no injected bug")

    def test_choice(self):
        self.assertEqual(list(self.read(JOB, ["block:bug"])), ["bug"])
        self.assertEqual(len(self.read(JOB, ["block"])), 4)
        self.assertEqual(self.read(JOB, ["other"]), {})


if __name__ == "__main__":
    unittest.main()
