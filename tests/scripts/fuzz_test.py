# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Fuzzing of the long check: what a target has done, and when it is to do it again."""
import argparse
import os
import sys
import tempfile
import unittest
import unittest.mock

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../scripts"))
import fuzz

# Stands for a program of libFuzzer: counts its runs, and ends as the file beside it says.
PROGRAM = """#!/bin/sh
echo run >>"$0.runs"
echo "stat::number_of_executed_units: 1000"
exit $(cat "$0.code")
"""


class Long(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = folder.name
        self.binary = os.path.join(self.build, "fuzz", "fuzz_disasm")
        os.makedirs(os.path.dirname(self.binary))
        self.seeds = [("a", b"input")]
        patch = unittest.mock.patch.multiple(fuzz, seeds=lambda *_: self.seeds, STAMPS=os.path.join(self.build, "stamps"))
        patch.start()
        self.addCleanup(patch.stop)
        self.write("", PROGRAM)
        self.write(".code", "0")

    def write(self, end, text):
        with open(self.binary + end, "w") as f:
            f.write(text)
        os.chmod(self.binary + end, 0o755)

    def run_it(self, long=True):
        _, _, failure, _, message = fuzz.run(self.binary, self.build, argparse.Namespace(long=long, seconds=1))
        with open(self.binary + ".runs") as f:
            return failure, message.split(",")[-1].strip(), len(f.readlines())

    def test_what_has_done_its_million_is_not_run_again(self):
        self.assertEqual(self.run_it(), (None, "000 executions", 1))
        self.assertEqual(self.run_it(), (None, "unchanged", 1))
        self.assertEqual(self.run_it(long=False)[2], 2)

    def test_another_program_or_input_is(self):
        self.run_it()
        self.write("", PROGRAM + "# rebuilt\n")
        self.assertEqual(self.run_it()[2], 2)
        self.seeds = [("a", b"another")]
        self.assertEqual(self.run_it()[2], 3)

    def test_a_failure_is_found_again(self):
        self.write(".code", "77")
        for count in (1, 2):
            failure, _, runs = self.run_it()
            self.assertEqual((failure, runs), ("exit code 77", count))


if __name__ == "__main__":
    unittest.main()
