# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Networks as today's converters and quantisers write them (tests/converted), from file to answer: every tensor equals the reference
executor's and the interpreter's.

KAITEN_PYTHON names a Python with the interpreters; default: that of the virtual environment."""
import glob
import json
import os
import sys

from oracle_test import INSTALLED, PYTHON
from tool_case import KAITEN, ROOT, ToolCase, run, unittest

FOLDER = os.path.join(ROOT, "tests", "converted")
INTERPRETERS = {".tflite": ("litert", "LiteRT"), ".onnx": ("onnxruntime", "onnxruntime")}
# Operators of versions that LiteRT 2.3.0 does not know run as older ones.
OLDER = {"pixel_shuffle": "DEPTH_TO_SPACE as of version 1", "upsampling": "TILE as of version 2"}


def models(ending):
    return sorted(glob.glob(os.path.join(FOLDER, "*" + ending)))


class Converted(ToolCase):
    def check(self, model):
        name, ending = os.path.splitext(os.path.basename(model))
        oracle, interpreter = INTERPRETERS[ending]
        done = run(KAITEN, "run", model, "--oracle", oracle, "--json", self.file("report.json"))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        with open(self.file("report.json")) as f:
            report = json.load(f)
        self.assertTrue(report["exact"])
        last = done.stdout.splitlines()[-1]
        self.assertRegex(last, rf"^PASS {name} on base: all [\d,]+ elements .* equal {interpreter} [\d.]+")
        self.assertEqual(last.endswith(OLDER.get(name, "")), True, last)
        self.assertEqual(run(KAITEN, "inspect", model).returncode, 0)

    def test_tflite(self):
        self.assertGreater(len(models(".tflite")), 8)
        for model in models(".tflite"):
            with self.subTest(os.path.basename(model)):
                self.check(model)

    def test_onnx(self):
        self.assertGreater(len(models(".onnx")), 8)
        for model in models(".onnx"):
            with self.subTest(os.path.basename(model)):
                self.check(model)


if __name__ == "__main__":
    if not INSTALLED:
        if os.environ.get("CI") == "true":
            sys.exit(f"{PYTHON} lacks ai_edge_litert, onnxruntime or onnx")
        print(f"skipped: {PYTHON} lacks ai_edge_litert, onnxruntime or onnx")
        sys.exit(77)
    unittest.main()
