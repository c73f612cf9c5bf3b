# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""`make bench` runs every bench, and one that fails does not keep the others from running."""
import os
import subprocess
import sys
import tempfile
import unittest

BENCH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../bench")
sys.path.insert(0, BENCH)
# profile is a check of its own (docs/performance.md), compare_builds takes two builds; the others are no benches.
NOT_PARTS = {"all.py", "compare_builds.py", "profile.py", "report.py"}


def run(*arguments):
    return subprocess.run([sys.executable, "-B", os.path.join(BENCH, "all.py"), *arguments], capture_output=True, text=True)


class Bench(unittest.TestCase):
    def test_every_bench_is_a_part(self):
        parts = __import__("all").PARTS
        self.assertEqual({script for script, _, _ in parts.values()}, {f for f in os.listdir(BENCH) if f.endswith(".py")} - NOT_PARTS)

    def test_every_table_of_volumes_is_a_part(self):
        parts = __import__("all").PARTS
        self.assertEqual({options[-1] for script, options, _ in parts.values() if script == "volume.py"}, set(__import__("volume").TABLES))

    def test_a_part_that_fails_does_not_stop_the_others(self):
        with tempfile.TemporaryDirectory() as empty:
            done = run("--build", empty, "boards", "eval")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout.splitlines()[-1], "bench: 0 parts done, 2 failed: boards, eval")
        self.assertIn("is missing", done.stderr)

    def test_a_name_stands_for_the_parts_that_begin_with_it(self):
        with tempfile.TemporaryDirectory() as empty:
            done = run("--build", empty, "codec")
        self.assertEqual(done.stdout.splitlines()[-1], "bench: 0 parts done, 3 failed: codec, codec-layouts, codec-second-stage")

    def test_a_part_that_is_none_is_refused(self):
        done = run("volumes")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no part is called volumes", done.stderr)


if __name__ == "__main__":
    unittest.main()
