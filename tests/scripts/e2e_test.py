# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""The end-to-end proofs' reading of formal/e2e.json, and that its bugs are where they say."""
import json
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../scripts"))
import e2e


class Jobs(unittest.TestCase):
    def setUp(self):
        saved = e2e.JOB
        self.addCleanup(lambda: setattr(e2e, "JOB", saved))

    def read(self, tasks, bugs):
        with tempfile.NamedTemporaryFile("w", suffix=".json", delete=False) as f:
            json.dump({"parameters": {}, "shared": {}, "tasks": tasks, "bugs": bugs}, f)
        self.addCleanup(os.remove, f.name)
        e2e.JOB = f.name
        return e2e.read_tasks()[1]

    def test_defaults(self):
        tasks = self.read({"a": {"networks": "conv"}}, {"b": {"networks": "conv", "file": "f", "old": "x", "new": "y", "long": True}})
        self.assertEqual((tasks["a"]["expect"], tasks["a"]["stalls"], tasks["a"]["long"]), ("PASS", "0", False))
        self.assertEqual((tasks["b"]["expect"], tasks["b"]["long"]), ("FAIL", True))

    def test_what_is_not_known_is_refused(self):
        for tasks, bugs in (({"a": {}}, {}), ({"a": {"networks": "conv", "file": "f"}}, {}), ({"a": {"networks": "conv"}}, {"a": {"networks": "conv"}})):
            with self.assertRaises(e2e.JobError):
                self.read(tasks, bugs)

    def test_a_bug_is_one_replacement(self):
        with self.assertRaises(e2e.JobError):
            e2e.broken({"file": "rtl/kaiten_top.sv", "old": "logic", "new": ""})

    def test_every_bug_has_its_place(self):
        tasks = e2e.read_tasks()[1]
        bugs = [t for t in tasks.values() if "file" in t]
        self.assertGreater(len({t["file"] for t in bugs}), 50)
        for task in bugs:
            self.assertIn(task["new"], e2e.broken(task))
        self.assertTrue(any(not t["long"] for t in bugs))


if __name__ == "__main__":
    unittest.main()
