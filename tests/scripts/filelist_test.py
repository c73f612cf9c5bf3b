# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""The file lists by which other projects take the design in: complete, in order, and what they describe elaborates."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "scripts"))
import gen_filelist
import lint
import tools


def read(name):
    with open(os.path.join(ROOT, name)) as f:
        return f.read()


def verilator():
    program, extra = tools.pinned_verilator()
    return (program, extra) if program else (tools.find("verilator"), {})


class Lists(unittest.TestCase):
    def test_every_source_once_and_after_those_it_uses(self):
        files = gen_filelist.sources()
        packages, modules = lint.rtl_files()
        self.assertEqual(sorted(files), sorted(packages + modules))
        place = {lint.module_of(path): i for i, path in enumerate(files)}
        for i, path in enumerate(files):
            text = lint.source(path)
            for name in re.findall(r"\b(\w+)::", text) + re.findall(r"^\s+(kt_\w+)\s+(?:#\(|u_)", text, re.M):
                if name in place and name != lint.module_of(path):
                    self.assertLess(place[name], i, f"{path} uses {name}")

    def test_bender_lists_what_the_file_list_does(self):
        listed = [f"rtl/{line}" for line in read("rtl/kaiten.f").splitlines() if line.endswith(".sv")]
        self.assertEqual(re.findall(r"^  - (\S+)$", read("Bender.yml"), re.M), listed)

    def test_the_file_list_elaborates(self):
        program, extra = verilator()
        command = [program, "--lint-only", "-Wall", "--top-module", lint.TOP, os.path.join(ROOT, "rtl/lint.vlt"), "-F",
                   os.path.join(ROOT, "rtl/kaiten.f")]
        code, said = tools.run(command, limit=100, env={**tools.environment(), **extra})
        self.assertEqual(code, 0, said)

    def test_fusesoc_sets_up_a_target_that_lints(self):
        fusesoc = tools.find_or_skip("fusesoc")
        if not fusesoc:
            self.skipTest("fusesoc not installed")
        program, extra = verilator()
        with tempfile.TemporaryDirectory() as folder:
            core = os.path.join(folder, "core")
            shutil.copytree(os.path.join(ROOT, "rtl"), os.path.join(core, "rtl"))
            shutil.copy(os.path.join(ROOT, "kaiten.core"), core)
            wrapper = os.path.join(folder, "bin", "verilator")
            os.mkdir(os.path.dirname(wrapper))
            root = "".join(f"{name}={value} " for name, value in extra.items())
            tools.write(wrapper, f'#!/bin/sh\necho "$@" >>{folder}/calls\n{root}exec {program} "$@"\n')
            os.chmod(wrapper, 0o755)
            env = {**tools.environment(), "HOME": folder, "XDG_CONFIG_HOME": folder, "XDG_CACHE_HOME": folder}
            env["PATH"] = os.path.dirname(wrapper) + os.pathsep + env["PATH"]
            done = subprocess.run([fusesoc, "--cores-root", core, "run", "--target", "lint", "--work-root",
                                   os.path.join(folder, "work"), "kaiten"], cwd=folder, env=env, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
            self.assertEqual(done.returncode, 0, done.stdout[-3000:])
            self.assertNotIn("%Warning", done.stdout)
            with open(os.path.join(folder, "calls")) as f:
                self.assertIn("-f kaiten", f.read())


if __name__ == "__main__":
    unittest.main()
