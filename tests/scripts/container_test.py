# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Containerfile does what a fresh machine does: it installs no package itself that scripts/setup.sh installs, builds with `make
deb` and runs what that wrote, on the distribution where all tests run."""
import os
import re
import subprocess
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as f:
        return f.read()


def stages(text):
    """A list of (instruction, words) a stage."""
    lines = [line for line in text.replace("\\\n", " ").splitlines() if line.strip() and not line.startswith("#")]
    found = []
    for instruction, _, words in (line.partition(" ") for line in lines):
        if instruction == "FROM":
            found.append([])
        found[-1].append((instruction, words))
    return found


def installed(stage):
    """What apt-get installs in a stage."""
    commands = [c for name, words in stage if name == "RUN" for c in words.split("&&")]
    return [word for c in commands if re.match(r"\s*apt-get install ", c) for word in c.split()[2:] if not word.startswith("-")]


class Container(unittest.TestCase):
    def setUp(self):
        self.build, self.run = stages(read("Containerfile"))

    def test_both_stages_are_the_distribution_of_the_tests(self):
        tested = re.search(r"container: (\S+)", read(".github/workflows/check.yml"))[1]
        self.assertEqual(self.build[0], ("FROM", f"{tested} AS build"))
        self.assertEqual(self.run[0], ("FROM", f"{tested}-slim"))

    def test_setup_installs_what_building_needs(self):
        words = re.search(r"^build_packages=\((.*?)^\)", read("scripts/setup.sh"), re.M | re.S)[1]
        of_setup = {name for word in words.replace("'", " ").split() for name in word.split("|")}
        self.assertIn("libpng-dev", of_setup)
        self.assertEqual(set(installed(self.build)) & of_setup, {"git"})
        tests = re.search(r"apt-get install -y --no-install-recommends (.*)", read(".github/workflows/check.yml"))[1]
        self.assertEqual(set(installed(self.build)), set(tests.split()))

    def test_make_deb_sets_up_builds_and_packs(self):
        self.assertIn(("RUN", "make deb"), self.build)
        told = subprocess.run(["make", "-n", "deb"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        self.assertLess(told.index("scripts/setup.sh"), told.index("cmake --build"))
        self.assertLess(told.index("cmake --build"), told.index("cpack"))

    def test_the_run_stage_holds_the_package_alone(self):
        written = re.search(r"ls (build/kaiten_\S+)", read("Makefile"))[1]
        self.assertIn(("COPY", f"--from=build /kaiten/{written} /tmp/"), self.run)
        self.assertEqual(installed(self.run), ["/tmp/" + os.path.basename(written)])
        self.assertEqual(self.run[-1], ("ENTRYPOINT", '["kaiten"]'))


if __name__ == "__main__":
    unittest.main()
