# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""`kaiten quantize` from outside: a small float model made here becomes int8, does what its report says by onnxruntime's own
account, and runs on the accelerator as it does there.

KAITEN_PYTHON names a Python with onnx and onnxruntime; default: that of the virtual environment."""
import json
import os
import subprocess
import sys

from tool_case import KAITEN, ROOT, ToolCase, run, unittest

sys.path.insert(0, os.path.join(ROOT, "scripts"))
import tools
PYTHON = os.environ.get("KAITEN_PYTHON") or os.path.join(tools.VENV, "bin", "python3")
SCALE = "0.00392156862745098"
SKIPPED = 77

# Convolutions with and without batch normalisation, a residual addition, pooling, a classifier; random weights.
FLOAT = r'''
import sys
import numpy, onnx
from onnx import helper, numpy_helper
random, constants, nodes = numpy.random.default_rng(1), {}, []
def constant(name, value):
    constants[name] = numpy_helper.from_array(numpy.asarray(value, "float32"), name)
    return name
def conv(x, y, c, o, stride=1):
    w, b = constant(y + "_w", random.normal(0, (2 / (9 * c)) ** 0.5, (o, c, 3, 3))), constant(y + "_b", random.normal(0, 0.1, o))
    nodes.append(helper.make_node("Conv", [x, w, b], [y], strides=[stride, stride], pads=[1, 1, 1, 1]))
def node(op, x, y, **attributes):
    nodes.append(helper.make_node(op, x, [y], **attributes))
conv("image", "c1", 1, 8, 2); node("Relu", ["c1"], "r1"); conv("r1", "c2", 8, 8)
norm = [constant("n" + k, random.uniform(0.5, 1.5, 8)) for k in "gbmv"]
node("BatchNormalization", ["c2", *norm], "n2"); node("Add", ["n2", "r1"], "s"); node("Relu", ["s"], "r2")
conv("r2", "c3", 8, 16, 2); node("Relu", ["c3"], "r3"); node("GlobalAveragePool", ["r3"], "p"); node("Flatten", ["p"], "f")
node("Gemm", ["f", constant("fw", random.normal(0, 0.5, (16, 10))), constant("fb", random.normal(0, 0.1, 10))], "logits")
value = lambda name, shape: helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)
graph = helper.make_graph(nodes, "small", [value("image", ["N", 1, 32, 32])], [value("logits", ["N", 10])], list(constants.values()))
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), sys.argv[1])
'''

# Best answers of both models for the images with odd numbers, the error of the outputs, scales of each weight tensor.
MEASURE = r'''
import json, sys
import numpy, onnx, onnxruntime
pixels = numpy.fromfile(sys.argv[3], "uint8").reshape(-1, 1, 1, 32, 32)[1::2].astype("float32") * numpy.float32(1 / 255)
options = onnxruntime.SessionOptions(); options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
wanted, got = ([session.run(None, {"image": image})[0] for image in pixels] for session in
               (onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"]) for path in sys.argv[1:3]))
wanted, got = numpy.concatenate(wanted).astype("float64"), numpy.concatenate(got)
model = onnx.load(sys.argv[2]); tensors = {t.name: t for t in model.graph.initializer}
scales = [len(onnx.numpy_helper.to_array(tensors[n.input[1]]).reshape(-1)) for n in model.graph.node
          if n.op_type == "DequantizeLinear" and n.input[0] in tensors and len(tensors[n.input[0]].dims) == 4]
print(json.dumps({"agreement": float((wanted.argmax(1) == got.argmax(1)).mean()),
                  "error": float(((wanted - got) ** 2).sum() ** 0.5 / (wanted ** 2).sum() ** 0.5), "scales": scales}))
'''


def installed():
    return subprocess.run([PYTHON, "-c", "import onnx, onnxruntime, numpy"], capture_output=True).returncode == 0


class Quantize(ToolCase):
    def python(self, program, *arguments):
        done = subprocess.run([PYTHON, "-c", program, *arguments], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def setUp(self):
        super().setUp()
        with open(os.path.join(ROOT, "models", "demo", "digits.u8"), "rb") as f:
            self.pixels = f.read()[:40 * 1024]
        self.raw = self.file("pixels", self.pixels)
        os.mkdir(self.file("images"))
        for i in range(40):
            self.file(f"images/{i:02}.pgm", b"P5 32 32 255\n" + self.pixels[1024 * i:1024 * (i + 1)])
        self.float_model, self.int8 = self.file("float.onnx"), self.file("int8.onnx")
        self.python(FLOAT, self.float_model)

    def follows_its_schema(self, report):
        if fastjsonschema := tools.import_or_skip("fastjsonschema"):
            def read(name):
                with open(os.path.join(ROOT, "docs", "formats", "schemas", name)) as f:
                    return json.load(f)
            fastjsonschema.compile(read("quantize.schema.json"), handlers={"": read})(report)
            known = {*read("quantize.schema.json")["properties"], *read("head.schema.json")["properties"]}
            self.assertEqual(set(report) - known, set())

    def test_the_result_is_as_good_as_reported_and_runs(self):
        arguments = ("quantize", self.float_model, "--calibrate", self.file("images"), "--output", self.int8, "--scale", SCALE)
        done = run(KAITEN, *arguments, "--json", "-")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        report = json.loads(done.stdout)
        self.assertEqual((report["images"], report["calibrated"], report["measured"], report["held_out"], report["refusals"]),
                         (40, 20, 20, True, []))
        self.follows_its_schema(report)
        by_method = {c["method"]: c for c in report["candidates"]}
        self.assertEqual(set(by_method), {"minmax", "percentile", "mse"})
        best = min(report["candidates"], key=lambda c: (-c["agreement"], c["error"]))
        self.assertEqual(report["method"], best["method"])
        measured = json.loads(self.python(MEASURE, self.float_model, self.int8, self.raw))
        self.assertAlmostEqual(report["agreement"], measured["agreement"])
        self.assertAlmostEqual({l["name"]: l["error"] for l in report["layers"]}["logits"], measured["error"], places=4)
        self.assertLess(measured["error"], 0.05)
        self.assertEqual(measured["scales"], [8, 8, 16])  # weights per channel
        ran = run(KAITEN, "run", self.int8, "--input", self.file("images/03.pgm"), "--scale", SCALE, "--config", "nano",
                  "--oracle", "onnxruntime", "--json", "-")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        ran = json.loads(ran.stdout)
        self.assertEqual((ran["exact"], ran["compared_with"]["interpreter"] > 0), (True, True))
        self.assertIn("PASS", run(KAITEN, "run", self.int8, "--config", "nano").stdout.splitlines()[-1])

    def test_one_method_and_text(self):
        done = run(KAITEN, "quantize", self.float_model, "--calibrate", self.file("images"), "--output", self.int8, "--scale", SCALE,
                   "--method", "mse", "--limit", 1)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("taken: mse", done.stdout)
        self.assertNotIn("minmax", done.stdout)
        self.assertIn("already", self.refused("quantize", self.int8, "--calibrate", self.file("images"), "--output", self.file("again")))
        self.assertFalse(os.path.exists(self.file("again")))

    def test_bad_input(self):
        good = ("quantize", self.float_model, "--calibrate", self.file("images"), "--output", self.int8)
        self.refused("quantize", self.float_model)
        self.refused(*good[:-2])
        self.refused(*good, "--method", "best")
        self.refused("quantize", self.file("text.onnx", "hello"), *good[2:])
        self.refused("quantize", self.float_model, "--calibrate", self.file("none"), "--output", self.int8)
        self.refused(*good[:-1], self.float_model)
        self.refused(*good, "--mean", "1,2,3")
        self.assertFalse(os.path.exists(self.int8))


class Without(ToolCase):
    def test_what_is_missing_is_named(self):
        empty = self.file("python", f"#!/bin/sh\nexec {sys.executable} -I -S \"$@\"\n")  # knows the standard library only
        os.chmod(empty, 0o700)
        os.mkdir(self.file("images"))
        self.file("images/a.pgm", b"P5 1 1 255\n\0")
        done = subprocess.run([KAITEN, "quantize", self.file("a.onnx", "x"), "--calibrate", self.file("images"), "--output", self.file("b")],
                              capture_output=True, text=True, env={**os.environ, "KAITEN_PYTHON": empty})
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertRegex(done.stderr, r"^kaiten: quantize needs onnxruntime's quantiser: No module named '\w+' in '.*'; .*make setup ALL=1.*\n$")


if __name__ == "__main__":
    if "Quantize" in sys.argv[1:] and not installed():
        tools.must_have(f"onnxruntime for Python (run `make setup ALL=1`; looked in {PYTHON})")
        print("skipped: Python without onnx and onnxruntime (`make setup ALL=1`)")
        sys.exit(SKIPPED)
    unittest.main()
