# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Models as strangers bring them, from file to answer: each runs and gives what LiteRT's reference kernels give, bit for
bit, or is refused in one line. docs/models.md lists them with their results, and the files of models/tflite and
models/onnx; `zoo_test.py --write [zoo] [files]` makes its tables anew.

KAITEN_SHARED names the folder with models/zoo (default: ../shared); LONG=1 takes the large ones too."""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile

from oracle_test import INSTALLED
from tool_case import KAITEN, ROOT

SHARED = os.path.join(os.environ.get("KAITEN_SHARED") or os.path.join(ROOT, "..", "shared"), "models")
ZOO = os.path.join(SHARED, "zoo")
PAGE = os.path.join(ROOT, "docs", "models.md")
SKIPPED = 77
# What these need is not there, with what the line must say.
REFUSED = {
    "coral_automl_traffic": "recurrent layers",
}
# No golden: LiteRT refuses their version of an operator. Every tensor is compared with LiteRT, which runs an older one.
OLDER = {
    "mlperf_edsr_f32b5_int8": "DEPTH_TO_SPACE as of version 1",
    "st_od_ssd_mobilenetv1_COCO_ssd_mobilenet_v1_0.25_192": "TILE as of version 2",
}
# More than a million cycles.
LARGE = {"coral_deeplabv3_mnv2_pascal", "mlperf_deeplab_ade20k_uint8", "mlperf_edsr_f32b5_int8"}


def models():
    return sorted(name for name in os.listdir(ZOO) if os.path.isdir(os.path.join(ZOO, name)))


def files():
    """The models of the folders tflite and onnx."""
    return sorted(os.path.relpath(os.path.join(at, name), SHARED) for kind in ("tflite", "onnx")
                  for at, _, names in os.walk(os.path.join(SHARED, kind)) for name in names if name.endswith("." + kind))


def bytes_of(path):
    """A golden: raw, or the one array of a NumPy archive."""
    if not path.endswith(".npz"):
        with open(path, "rb") as f:
            return f.read()
    with zipfile.ZipFile(path) as archive:
        data = archive.read(archive.namelist()[0])
    header = int.from_bytes(data[8:10], "little")
    return data[10 + header:]


def run_model(name, folder):
    """(exit code, what it says, report, outputs) of a run with the model's stored inputs."""
    at = os.path.join(ZOO, name)
    with open(os.path.join(at, "golden.json")) as f:
        golden = json.load(f)
    inputs = b"".join(bytes_of(os.path.join(at, i["file"])) for i in golden["inputs"])
    out, report = os.path.join(folder, "out"), os.path.join(folder, "report.json")
    oracle = ["--oracle", "litert"] if name in OLDER and INSTALLED else []
    limit = 1800 if name in LARGE else 280  # of what hangs: the largest takes two minutes of processor time
    done = subprocess.run([KAITEN, "run", os.path.join(at, "model.tflite"), *(["--input", "-"] if inputs else []), "--output", out,
                           "--json", report, *oracle], input=inputs, capture_output=True, timeout=limit)
    if done.returncode != 0:
        return done.returncode, done.stderr.decode(), None, None, golden
    with open(report) as f, open(out, "rb") as o:
        return 0, done.stdout.decode(), json.load(f), o.read(), golden


class Zoo(unittest.TestCase):
    def check(self, name):
        with tempfile.TemporaryDirectory() as folder:
            code, said, report, outputs, golden = run_model(name, folder)
        if name in REFUSED:
            self.assertEqual((code, len(said.splitlines())), (2, 1), said)
            self.assertIn(REFUSED[name], said)
            return
        self.assertEqual(code, 0, said)
        self.check_plan(name, report)
        self.assertTrue(report["exact"])
        if name in OLDER:
            if INSTALLED:
                self.assertRegex(said.splitlines()[-1], rf"^PASS .* equal LiteRT [\d.]+, {OLDER[name]}$")
            return
        self.assertEqual(golden["state"], "golden")
        expected = b"".join(bytes_of(os.path.join(ZOO, name, o["file"])) for o in golden["outputs"])
        self.assertEqual(len(outputs), len(expected))
        differing = sum(a != b for a, b in zip(outputs, expected))
        self.assertEqual(differing, 0, f"{differing} of {len(expected)} bytes")

    def check_plan(self, name, report):
        """What is planned is what ran: programs, commands and bytes."""
        done = subprocess.run([KAITEN, "plan", os.path.join(ZOO, name, "model.tflite"), "--config", "base", "--method", "optimal",
                               "--json", "-"], capture_output=True, timeout=280)
        self.assertEqual(done.returncode, 0, done.stderr)
        plan = json.loads(done.stdout)
        self.assertEqual(len(plan["sections"]), report["sections"])
        ran = sum(report["bytes"]["read"].values()) + sum(report["bytes"]["written"].values())
        self.assertEqual(plan["methods"][0]["traffic_bytes"], ran)

    def test_models(self):
        for name in models():
            if name in LARGE and os.environ.get("LONG") != "1":
                continue
            with self.subTest(name):
                self.check(name)

    def test_inspect_agrees_with_run(self):
        for name in models():
            with self.subTest(name):
                done = subprocess.run([KAITEN, "inspect", os.path.join(ZOO, name, "model.tflite")], capture_output=True, timeout=120)
                self.assertEqual(done.returncode, 2 if name in REFUSED else 0, done.stderr)

    def test_page_lists_them(self):
        with open(PAGE) as f:
            page = f.read()
        for name in [*models(), *files()]:
            self.assertIn(f"`{name}`", page)


def refusal(said):
    reason = said.strip().removeprefix("kaiten: ").replace("|", "/").split(" (quantise it first")[0]
    return f"refused: {reason if len(reason) < 160 else reason[:157] + '...'}"


def row_of_file(name):
    """A run with random input, every tensor compared with the interpreter."""
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        interpreter = "onnxruntime" if name.endswith(".onnx") else "litert"
        done = subprocess.run([KAITEN, "run", os.path.join(SHARED, name), "--oracle", interpreter, "--json", report],
                              capture_output=True, text=True, timeout=280)
        if done.returncode == 2:
            return f"| `{name}` | {refusal(done.stderr)} | | | |"
        with open(report) as f:
            run = json.load(f)
    compared = re.search(r"([\d,]+) elements of \d+ tensors with (\S+)", done.stdout)
    differing = re.search(r"([\d,]+) differ", done.stdout)
    others = f"{differing[1]} of {compared[1]} elements are not {compared[2]}'s" if differing else f"equal to {compared[2]}, {compared[1]} elements"
    return f"| `{name}` | {others} | {run['sections']} | {run['macs']:,} | {run['cycles']:,} |"


def table_of_files():
    lines = ["| file | every tensor | programs | MACs | cycles on `base` |", "|---|---|---|---|---|", *map(row_of_file, files())]
    return "\n".join(lines) + "\n"


def table_of_zoo():
    lines = ["| model | result | programs | MACs | on the accelerator | cycles on `base` |", "|---|---|---|---|---|---|"]
    for name in models():
        with tempfile.TemporaryDirectory() as folder:
            code, said, report, _, _ = run_model(name, folder)
        if code != 0:
            lines.append(f"| `{name}` | {refusal(said)} | | | | |")
            continue
        device = sum(layer["macs"] for layer in report["layers"] if layer["cycles"] > 0)
        share = f"{100 * device / report['macs']:.1f} %" if report["macs"] else "-"
        result = f"equal to LiteRT, {OLDER[name]}" if name in OLDER else "equal to LiteRT"
        lines.append(f"| `{name}` | {result} | {report['sections']} | {report['macs']:,} | {share} | {report['cycles']:,} |")
    return "\n".join(lines) + "\n"


TABLES = {"zoo": table_of_zoo, "files": table_of_files}


def write_tables(names):
    """Those tables of docs/models.md, from runs of every model."""
    sys.path.insert(0, os.path.join(ROOT, "scripts"))
    import tools
    for name in names or TABLES:
        tools.write_between(os.path.join("docs", "models.md"), name, TABLES[name]())
    return 0


if __name__ == "__main__":
    if not os.path.isdir(ZOO):
        print(f"zoo_test: no models in {ZOO}")
        sys.exit(1 if os.environ.get("CI") == "true" and os.path.isdir(os.path.dirname(ZOO)) else SKIPPED)
    if sys.argv[1:2] == ["--write"]:
        sys.exit(write_tables(sys.argv[2:]))
    unittest.main()
