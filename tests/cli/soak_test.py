#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""kaiten-soak: parts that go on behind each other and ranks that share one do the same episodes; what is wrong with its file."""
import json
import os
import shutil
import unittest

from tool_case import BUILD, ToolCase, run

SOAK = os.path.join(BUILD, "kaiten-soak")


class Soak(ToolCase):
    def setUp(self):
        super().setUp()
        self.state = self.file("state.json")

    def part(self, *options):
        """One round: there are enough beats after it."""
        result = run(SOAK, "--configs", "nano", "--beats", "1", "--state", self.state, *options, limit=250)
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(self.state, encoding="utf-8") as f:
            return json.load(f)

    def test_parts_and_ranks_do_the_same(self):
        if shutil.which("mpirun") is None:
            self.skipTest("mpirun is not installed")
        first = self.part()["configs"]["nano"]
        self.assertEqual(first["episodes"], 12)
        self.assertGreater(first["errors"], 0)
        result = run(SOAK, "--configs", "nano", "--beats", str(first["beats_read"] + first["beats_written"] + 1), "--state", self.state,
                     limit=250)
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(self.state, encoding="utf-8") as f:
            both = json.load(f)["configs"]
        os.remove(self.state)
        self.assertEqual(self.part("--ranks", "2")["configs"], both)

    def test_another_seed(self):
        with open(self.state, "w", encoding="utf-8") as f:
            json.dump({"seed": 7, "seconds": 1, "configs": {}}, f)
        result = run(SOAK, "--configs", "nano", "--state", self.state)
        self.assertEqual((result.returncode, result.stderr), (2, f"kaiten-soak: '{self.state}' is of seed 7\n"))


if __name__ == "__main__":
    unittest.main()
