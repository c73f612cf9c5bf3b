# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""`pip install .` as the documents say it, from a clone of what is committed, into an empty environment; then ten lines of Python.

Building takes its pinned tools from the package index: without one the test is skipped, by name. Exit code 77: skipped."""
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SKIPPED = 77

# What README and docs/software/python.md show, and that the answer is LiteRT's (models/demo/golden.tsv).
LINES = r'''
import kaiten, numpy

model = kaiten.load("models/demo/demo.tflite")
pixels = numpy.fromfile("models/demo/digits.u8", numpy.uint8).reshape(100, 32, 32, 1)
image = (pixels[:1].astype(int) - 128).astype(numpy.int8)
run = model.run(image, config="nano")
print(run.exact, run.cycles)
with open("models/demo/golden.tsv") as golden:
    wanted = [int(v) for v in golden.read().splitlines()[1].split("\t")[3:]]
assert run.exact and run.outputs[0].reshape(-1).tolist() == wanted, run.outputs[0]
'''


def main():
    with tempfile.TemporaryDirectory() as folder:
        clone, venv = os.path.join(folder, "kaiten"), os.path.join(folder, "venv")
        subprocess.run(["git", "clone", "-q", ROOT, clone], check=True)
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        python = os.path.join(venv, "bin", "python3")
        probe = subprocess.run([python, "-m", "pip", "download", "-q", "--no-deps", "--disable-pip-version-check",
                                "-d", os.path.join(folder, "probe"), "nanobind==3.1.0"], capture_output=True)
        if probe.returncode:
            print("skipped: no package index can be reached")
            return SKIPPED
        install = subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check",
                                  "-Ccmake.define.KAITEN_SIM_CONFIGS=nano", "."], cwd=clone, stdin=subprocess.DEVNULL)
        if install.returncode:
            return 1
        return subprocess.run([python, "-c", LINES], cwd=clone).returncode


if __name__ == "__main__":
    sys.exit(main())
