# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""kaiten report --annotate: the model again, read by LiteRT's schema and by onnx; interpreters compute the same; what an earlier run
wrote is replaced.

KAITEN_PYTHON names a Python with the packages; default: that of the virtual environment."""
import json
import os
import subprocess
import sys
import unittest

from tool_case import KAITEN, ROOT, ToolCase, run

sys.path.insert(0, os.path.join(ROOT, "scripts"))
import tools
PYTHON = os.environ.get("KAITEN_PYTHON") or os.path.join(tools.VENV, "bin", "python3")
NANO = ("--config", "nano")
DEMO = os.path.join(ROOT, "models", "demo", "demo.tflite")

# Entries of metadata, tensors and operators of a file.
TFLITE = r'''
import json, sys
from ai_edge_litert import schema_py_generated as schema
with open(sys.argv[1], "rb") as f: model = schema.Model.GetRootAsModel(f.read(), 0)
graph = model.Subgraphs(0)
print(json.dumps({
    "entries": [[model.Metadata(i).Name().decode(), bytes(model.Buffers(model.Metadata(i).Buffer()).DataAsNumpy()).decode("latin1")]
                for i in range(model.MetadataLength())],
    "tensors": [graph.Tensors(i).Name().decode() for i in range(graph.TensorsLength())],
    "weights": [len(model.Buffers(graph.Tensors(i).Buffer()).DataAsNumpy()) if model.Buffers(graph.Tensors(i).Buffer()).DataLength() else 0
                for i in range(graph.TensorsLength())],
    "version": model.Version(), "description": (model.Description() or b"").decode()}))
'''

# A quantised convolution with a Relu, and what the file says of each node; with two names the second one is written.
ONNX = r'''
import json, sys
import numpy, onnx
from onnx import helper, numpy_helper
value = lambda name, shape: helper.make_tensor_value_info(name, onnx.TensorProto.INT8, shape)
constant = lambda name, x: numpy_helper.from_array(numpy.asarray(x), name)
if sys.argv[1] == "make":
    w = numpy.random.default_rng(1).integers(-99, 99, (8, 3, 3, 3)).astype("int8")
    nodes = [helper.make_node("DequantizeLinear", ["image", "s", "z"], ["real"]),
             helper.make_node("DequantizeLinear", ["w", "sw", "z"], ["kernels"]),
             helper.make_node("Conv", ["real", "kernels"], ["sums"]), helper.make_node("Relu", ["sums"], ["positive"]),
             helper.make_node("QuantizeLinear", ["positive", "so", "z"], ["map"]),
             helper.make_node("DequantizeLinear", ["map", "so", "z"], ["answer"])]
    graph = helper.make_graph(nodes, "net", [value("image", [1, 3, 8, 8])], [helper.make_tensor_value_info("answer", 1, [1, 8, 6, 6])],
                              [constant("w", w), *(constant(n, numpy.float32(x)) for n, x in (("s", .021), ("sw", .0107), ("so", .0913))),
                               constant("z", numpy.int8(0))], doc_string="kept")
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9, producer_name="a test")
    helper.set_model_props(model, {"own": "kept"})
    onnx.save(model, sys.argv[2])
else:
    model = onnx.load(sys.argv[2])
    onnx.checker.check_model(model)
    print(json.dumps({"nodes": [[n.op_type, {p.key: p.value for p in n.metadata_props}] for n in model.graph.node],
                      "rest": [model.producer_name, model.graph.doc_string, {p.key: p.value for p in model.metadata_props}]}))
'''


def installed():
    there = subprocess.run([PYTHON, "-c", "import onnx, onnxruntime, numpy, ai_edge_litert"], capture_output=True).returncode == 0
    if not there:
        tools.must_have("onnx, onnxruntime, ai-edge-litert and numpy for Python (run `make setup ALL=1`)")
    return there


@unittest.skipUnless(installed(), "onnx, onnxruntime or ai-edge-litert is not installed (`make setup ALL=1`)")
class Annotate(ToolCase):
    def python(self, program, *arguments):
        done = subprocess.run([PYTHON, "-c", program, *arguments], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def annotate(self, model, to, *more):
        done = run(KAITEN, "report", model, *NANO, "--annotate", to, *more)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return to

    def test_tflite(self):
        before = json.loads(self.python(TFLITE, DEMO))
        report = self.file("report.json")
        file = self.annotate(DEMO, self.file("a.tflite"), "--json", report)
        after = json.loads(self.python(TFLITE, file))
        with open(report) as f:
            layers = json.load(f)["layers"]
        for key in ("tensors", "weights", "version", "description"):
            self.assertEqual(after[key], before[key], key)
        own = len(before["entries"])
        self.assertGreater(own, 0)
        self.assertEqual(after["entries"][:own], before["entries"])
        self.assertEqual([name for name, _ in after["entries"][own:]], ["kaiten: " + layer["name"] for layer in layers])
        for (_, text), layer in zip(after["entries"][own:], layers):
            self.assertTrue(text.isascii() and text.isprintable() and len(text) < 256, text)  # what Netron shows
            self.assertIn(f"cycles {layer['cycles']} of ", text)
        self.assertIn("equal LiteRT", run(KAITEN, "run", file, *NANO, "--oracle", "litert").stdout.splitlines()[-1])
        again = json.loads(self.python(TFLITE, self.annotate(file, self.file("b.tflite"), "--latency", "900")))
        self.assertEqual([name for name, _ in again["entries"]], [name for name, _ in after["entries"]])
        self.assertNotEqual(again["entries"], after["entries"])

    def test_onnx(self):
        model = self.file("model.onnx")
        self.python(ONNX, "make", model)
        file = self.annotate(model, self.file("a.onnx"))
        after = json.loads(self.python(ONNX, "read", file))
        self.assertEqual(after["rest"], ["a test", "kept", {"own": "kept"}])
        nodes = after["nodes"]
        self.assertEqual(nodes[2][1], nodes[4][1])
        for kind, properties in nodes[2:5]:  # Conv, Relu, QuantizeLinear: one layer
            self.assertEqual((properties["kaiten.layer"], properties["kaiten.engine"], properties["kaiten.configuration"]),
                             ("map", "array", "nano"), kind)
            self.assertRegex(properties["kaiten.cycles"], r"^[1-9]\d* of [1-9]\d*$")
        self.assertEqual([properties for _, properties in nodes[:2]], [{}, {}])
        self.assertEqual(nodes[5][1]["kaiten.engine"], "host")
        self.assertIn("equal onnxruntime", run(KAITEN, "run", file, *NANO, "--oracle", "onnxruntime").stdout.splitlines()[-1])
        again = json.loads(self.python(ONNX, "read", self.annotate(file, self.file("b.onnx"))))
        self.assertEqual(again, after)

    def test_the_model_is_not_overwritten(self):
        model = self.file("model.onnx")
        self.python(ONNX, "make", model)
        with open(model, "rb") as f:
            before = f.read()
        self.refused("report", model, "--annotate", model)
        with open(model, "rb") as f:
            self.assertEqual(f.read(), before)

    def test_a_model_stays_in_its_format(self):
        for model, wrong in ((DEMO, "y.onnx"), ("demo", "y.onnx"), (self.file("x.onnx", b""), "y.tflite")):
            line = self.refused("report", model, *NANO, "--annotate", self.file(wrong))
            self.assertRegex(line, "--annotate: limit: the model's own format, .*, found: ")
            self.assertFalse(os.path.exists(self.file(wrong)))


if __name__ == "__main__":
    unittest.main()
