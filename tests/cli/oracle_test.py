# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""`kaiten run --oracle litert|onnxruntime`: results against the interpreters themselves, and what is said without them.

KAITEN_PYTHON names a Python with the packages; default: that of the virtual environment."""
import base64
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import time

from tool_case import KAITEN, ROOT, ToolCase, run, unittest

SHARED = os.path.join(os.environ.get("KAITEN_SHARED") or os.path.join(ROOT, "..", "shared"), "models")
PYTHON = os.environ.get("KAITEN_PYTHON") or os.path.join(os.environ.get("KAITEN_VENV") or os.path.join(ROOT, ".venv"), "bin", "python3")
NANO = ("--config", "nano")


def installed(*modules):
    try:
        return subprocess.run([PYTHON, "-c", "import " + ", ".join(modules)], capture_output=True, timeout=60).returncode == 0
    except OSError:
        return False


def with_environment(environment, *arguments):
    return subprocess.run([KAITEN, *arguments], capture_output=True, text=True, timeout=120, env={**os.environ, **environment})


class Without(ToolCase):
    def test_what_is_missing_is_named(self):
        empty = self.file("python", f"#!/bin/sh\nexec {sys.executable} -I -S \"$@\"\n")  # knows the standard library only
        os.chmod(empty, 0o700)
        done = with_environment({"KAITEN_PYTHON": empty}, "run", "demo", *NANO, "--oracle", "litert")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertRegex(done.stderr, r"^kaiten: --oracle litert is not installed: No module named '\w+' in '.*'; .*make setup ALL=1.*\n$")
        done = with_environment({"KAITEN_PYTHON": self.file("none")}, "run", "demo", *NANO, "--oracle", "litert")
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (2, 1))
        self.assertIn("KAITEN_PYTHON", done.stderr)

    def test_bad_calls(self):
        self.assertIn("direct, fft, litert or onnxruntime", self.refused("run", "demo", *NANO, "--oracle", "tflite"))
        self.assertIn("litert does", self.refused("run", "demo", *NANO, "--oracle", "onnxruntime"))
        self.assertIn("--no-check", self.refused("run", "demo", *NANO, "--oracle", "litert", "--no-check"))

    def test_a_golden(self):
        out = self.file("out")
        run(KAITEN, "run", "demo", *NANO, "--output", out)
        report = json.loads(run(KAITEN, "run", "demo", *NANO, "--golden", out, "--json", "-").stdout)
        with open(out, "rb") as f:
            data = f.read()
        self.assertEqual((report["exact"], report["compared_with"]["golden"]), (True, len(data)))
        other = self.file("other", bytes([data[0] ^ 1]) + data[1:])
        done = run(KAITEN, "run", "demo", *NANO, "--golden", other)
        self.assertEqual(done.returncode, 1)
        self.assertIn("not what the golden holds: layer '", done.stdout.splitlines()[-1])
        self.assertIn(f"has {len(data) - 1} bytes, the model's outputs have {len(data)}",
                      self.refused("run", "demo", *NANO, "--golden", self.file("short", data[1:])))
        self.refused("run", "demo", *NANO, "--golden", self.file("absent"))
        self.refused("run", "demo", *NANO, "--golden", out, "--no-check")

    def test_an_interrupt_ends_the_interpreter_and_leaves_nothing(self):
        slow = self.file("python", "#!/bin/sh\necho $$ >\"$(dirname \"$0\")/id\"\nexec sleep 60\n")
        os.chmod(slow, 0o700)
        temporary = self.file("tmp")
        os.mkdir(temporary)
        process = subprocess.Popen([KAITEN, "run", "demo", *NANO, "--oracle", "litert"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env={**os.environ, "KAITEN_PYTHON": slow, "TMPDIR": temporary})
        deadline = time.time() + 60
        while not (os.path.exists(self.file("id")) and os.path.getsize(self.file("id"))) and time.time() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.assertEqual((process.returncode, os.listdir(temporary)), (130, []))
        with open(self.file("id")) as f, self.assertRaises(ProcessLookupError):
            os.kill(int(f.read()), 0)

    def test_the_host_is_named_where_nothing_confirms_it(self):
        report = json.loads(run(KAITEN, "run", "demo", *NANO, "--json", "-").stdout)
        self.assertGreater(report["compared_with"]["reference"], 100000)
        self.assertEqual(report["compared_with"]["interpreter"], 0)
        elements = sum(u["elements"] for u in report["unconfirmed"])
        host = [layer["name"] for layer in report["layers"] if layer["limited_by"] == "" and layer["op"] != "reshape"]
        self.assertEqual([u["layer"] for u in report["unconfirmed"]], host)
        said = run(KAITEN, "run", "demo", *NANO).stdout
        self.assertEqual("confirmed by nothing independent" in said, elements > 0)
        unchecked = json.loads(run(KAITEN, "run", "demo", *NANO, "--no-check", "--json", "-").stdout)
        self.assertGreater(len(unchecked["unconfirmed"]), len(host))


# FILE OPERATOR SHAPE LINEAR [OPSET]: a product with constant weights, or an average over the whole map, between quantised tensors.
ONNX = """
import json, sys
import numpy as np, onnx
from onnx import TensorProto, helper, numpy_helper

file, op, shape, linear, opset = sys.argv[1], sys.argv[2], json.loads(sys.argv[3]), int(sys.argv[4]), int((sys.argv + ["13"])[5])
constants = {"s": np.float32(0.05), "z": np.int8(-3), "t": np.float32(0.03 if op == "AveragePool" else 0.06), "y": np.int8(5),
             "w": np.random.default_rng(1).integers(-127, 128, (shape[-1], 24)).astype(np.int8), "ws": np.float32(0.00317), "wz": np.int8(0)}
nodes = [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"])]
if linear:
    nodes.append(helper.make_node("QLinearMatMul", ["q", "s", "z", "w", "ws", "wz", "t", "y"], ["r"]))
else:
    nodes.append(helper.make_node("DequantizeLinear", ["q", "s", "z"], ["d"]))
    if op == "MatMul":
        nodes += [helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["v"]), helper.make_node(op, ["d", "v"], ["m"])]
    else:
        nodes.append(helper.make_node(op, ["d"], ["m"], kernel_shape=shape[2:]))
    nodes.append(helper.make_node("QuantizeLinear", ["m", "t", "y"], ["r"]))
nodes.append(helper.make_node("DequantizeLinear", ["r", "t", "y"], ["out"]))
made = [*shape[:-1], 24] if op == "MatMul" else [*shape[:2], 1, 1]
graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
                          [helper.make_tensor_value_info("out", TensorProto.FLOAT, made)],
                          [numpy_helper.from_array(np.asarray(v), k) for k, v in constants.items()])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
model.ir_version = 8
onnx.save(model, file)
"""
INSTALLED = installed("numpy", "ai_edge_litert", "onnx", "onnxruntime")


@unittest.skipUnless(INSTALLED, "the interpreters are not installed")
class Oracle(ToolCase):
    def confirmed(self, model, oracle, *more):
        done = run(KAITEN, "run", model, *NANO, "--oracle", oracle, *more, "--json", "-")
        self.assertEqual((done.returncode, done.stderr), (0, ""), model)
        report = json.loads(done.stdout)
        self.assertEqual((report["exact"], report["unconfirmed"]), (True, []), model)
        self.assertEqual(report["compared_with"]["interpreter_different"], 0)
        return report["compared_with"]

    def test_every_tensor_of_the_demo(self):
        one = self.confirmed("demo", "litert")
        self.assertEqual((one["interpreter_name"], one["interpreter_version"]), ("LiteRT", "2.3.0"))
        self.assertGreaterEqual(one["interpreter"], one["reference"])
        self.assertEqual(self.confirmed("demo", "litert", "--batch", "2")["interpreter"], 2 * one["interpreter"])
        self.assertIn("equal LiteRT 2.3.0", run(KAITEN, "run", "demo", *NANO, "--oracle", "litert").stdout.splitlines()[-1])

    def test_networks_of_later_years(self):
        for network in ("efficientnet_lite0", "mobilenet_v4_s", "vit_tiny"):
            model = self.file(network + ".tflite")
            self.assertEqual(run(os.path.join(os.path.dirname(KAITEN), "kaiten-generate"), network, "--size", "64", "--output", model).returncode, 0)
            self.confirmed(model, "litert")

    def onnx_model(self, name, *arguments):
        model = self.file(name + ".onnx")
        done = subprocess.run([PYTHON, "-c", ONNX, model, *map(str, arguments)], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return model

    def test_rows_times_constant_weights_are_the_arrays(self):
        for name, shape, linear in (("matrix", [4, 96], 0), ("rows", [1, 17, 96], 0), ("batch", [3, 7, 40], 0), ("linear", [5, 33], 1),
                                    ("linear_rows", [1, 17, 96], 1)):
            model = self.onnx_model(name, "MatMul", json.dumps(shape), linear)
            self.confirmed(model, "onnxruntime")
            report = json.loads(run(KAITEN, "run", model, *NANO, "--json", "-").stdout)
            layer = next(x for x in report["layers"] if x["op"] == "fc")
            self.assertEqual(layer["macs"], 24 * math.prod(shape), name)
            self.assertNotEqual(layer["limited_by"], "", name)  # the host's has nothing here

    def test_averages_of_whole_maps(self):
        for opset in (13, 19):
            for side in ((2, 2), (6, 5), (7, 7)):
                self.confirmed(self.onnx_model("average", "AveragePool", json.dumps([1, 64, *side]), 0, opset), "onnxruntime")

    def test_another_rounding_is_a_difference(self):
        model = os.path.join(SHARED, "tflite", "mlperf-tiny", "ad01_int8.tflite")
        if not os.path.exists(model):
            self.skipTest("KAITEN_SHARED is absent")
        done = run(KAITEN, "run", model, *NANO, "--oracle", "litert", "--rounding", "tflm")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout.splitlines()[-1], r"^FAIL ad01_int8 on nano: not what LiteRT 2.3.0 gives: layer '.*' \(fc\), ")
        done = run(KAITEN, "compare", model, *NANO, "--oracle", "litert", "--rounding", "tflm")
        self.assertEqual(done.returncode, 1)
        self.assertIn("(LiteRT 2.3.0)", done.stdout)

    def test_networks(self):
        if not os.path.isdir(SHARED):
            self.skipTest("KAITEN_SHARED is absent")
        for name in ("pretrainedResnet_quant", "kws_ref_model", "vww_96_int8", "ad01_int8"):
            self.confirmed(os.path.join(SHARED, "tflite", "mlperf-tiny", name + ".tflite"), "litert")
        for kind in ("qdq", "qoperator"):
            self.confirmed(os.path.join(SHARED, "onnx", "derived", f"resnet8_cifar10_{kind}_s8_perchannel.onnx"), "onnxruntime")

    def test_a_model_that_the_interpreter_refuses(self):
        with open(os.path.join(ROOT, "tests", "sw", "reference", "operator_vectors.json")) as f:
            elu = next(case for case in json.load(f) if case["name"].startswith("ELU "))  # the reference kernels have none
        model = self.file("elu.tflite", base64.b64decode(elu["model"]))
        with tempfile.TemporaryDirectory() as temporary:
            done = with_environment({"TMPDIR": temporary}, "run", model, "--config", "nano", "--oracle", "litert")
            self.assertEqual(os.listdir(temporary), [])
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (2, 1))
        self.assertIn("ELU", done.stderr)


if __name__ == "__main__":
    if sys.argv[1:] == ["Oracle"] and not INSTALLED:
        print("the interpreters are not installed")
        sys.exit(77)
    unittest.main()
