# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""scripts/pgo.py: a simulator built by a profile of itself counts the same cycles and gives the same bytes; what is missing is named.

CXX names clang. Ends with 77 without it or its llvm-profdata. A build of nano, twice more: some minutes."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "scripts"))
import tools

CXX = os.environ.get("CXX") or "clang++"
SKIPPED = 77


def pgo(*arguments):
    return subprocess.run([sys.executable, os.path.join(ROOT, "scripts", "pgo.py"), *arguments], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, cwd=ROOT)


def run(build):
    output = os.path.join(build, "output.bin")
    done = subprocess.run([os.path.join(build, "kaiten"), "run", "demo", "--config", "nano", "--json", "-", "--output", output],
                          capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL)
    with open(output, "rb") as f:
        return json.loads(done.stdout)["cycles"], f.read()


class Profiled(unittest.TestCase):
    def test_the_same_machine(self):
        with tempfile.TemporaryDirectory() as build:
            for command in (["cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_CXX_COMPILER={CXX}",
                             "-DKAITEN_SIM_CONFIGS=nano", "-DKAITEN_SIM_DEBUG=", f"-DKAITEN_VENV={tools.VENV}"],
                            ["cmake", "--build", build, "--target", "kaiten"]):
                code, output = tools.run(command)
                self.assertEqual(code, 0, output[-2000:])
            plain = run(build)
            with open(os.path.join(build, "kaiten"), "rb") as f:
                before = f.read()
            done = pgo("--build", build, "--configs", "base")
            self.assertEqual((done.returncode, done.stderr), (1, f"pgo: no simulator of 'base' in {build}; there are: nano\n"))
            done = pgo("--build", build)
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8") as f:
                self.assertIn(f"KAITEN_PGO:STRING={os.path.join(build, 'fast.profdata')}\n", f.read())
            with open(os.path.join(build, "kaiten"), "rb") as f:
                self.assertNotEqual(f.read(), before)
            self.assertEqual(run(build), plain)

    def test_what_is_no_build_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            done = pgo("--build", folder)
            self.assertEqual((done.returncode, done.stderr), (1, f"pgo: {folder} is no build folder (run `make verilate`)\n"))


if __name__ == "__main__":
    named = shutil.which(CXX) and subprocess.run([CXX, "-print-prog-name=llvm-profdata"], capture_output=True, text=True).stdout.strip()
    if not named or not shutil.which(named):
        tools.must_have("clang and its llvm-profdata (run `make setup ALL=1`)")
        sys.exit(SKIPPED)
    unittest.main()
