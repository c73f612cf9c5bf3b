# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Pixels and classes by the model's own metadata: the demo network and a small ONNX model with metadata written by LiteRT's schema,
flatbuffers, zipfile and onnx; images by the tool against tensors computed here.

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
SIDE = 32
SCALE, ZERO = 1 / 255, -128  # of the demo's input
NAMES = [f"the digit {n}" for n in range(10)]

# The demo with metadata: mean and std, labels in an appended archive.
TFLITE = r'''
import io, json, sys, zipfile
import flatbuffers
from ai_edge_litert import schema_py_generated as schema
wanted = json.loads(sys.argv[3])
b = flatbuffers.Builder(0)
def table(*fields):
    """Fields by their numbers: ("ref", offset) or ("byte", value), None for those left out."""
    b.StartObject(len(fields))
    for i, field in enumerate(fields):
        if field and field[0] == "ref": b.PrependUOffsetTRelativeSlot(i, field[1], 0)
        if field and field[0] == "byte": b.PrependUint8Slot(i, field[1], 0)
    return "ref", b.EndObject()
def references(*items):
    b.StartVector(4, len(items), 4)
    for _, at in reversed(items): b.PrependUOffsetTRelative(at)
    return "ref", b.EndVector()
def floats(values):
    b.StartVector(4, len(values), 4)
    for v in reversed(values): b.PrependFloat32(v)
    return "ref", b.EndVector()
text = lambda s: ("ref", b.CreateString(s))
units = references(table(("byte", 1), table(floats(wanted["mean"]), floats(wanted["std"]))))
image = table(None, None, None, None, units)
files = references(table(text("digits.txt"), None, ("byte", 2)))
scores = table(None, None, None, None, None, None, files)
graph = table(None, None, references(image), references(scores))
b.Finish(table(None, None, None, references(graph))[1], file_identifier=b"M001")
metadata = bytes(b.Output())
if wanted.get("damaged"): metadata = metadata[:len(metadata) // 2]
with open(sys.argv[1], "rb") as f: model = schema.ModelT.InitFromObj(schema.Model.GetRootAs(f.read(), 0))
buffer, entry = schema.BufferT(), schema.MetadataT()
buffer.data, entry.name, entry.buffer = list(metadata), "TFLITE_METADATA", len(model.buffers)
model.buffers.append(buffer)
model.metadata = (model.metadata or []) + [entry]
b = flatbuffers.Builder(0)
b.Finish(model.Pack(b), file_identifier=b"TFL3")
whole = io.BytesIO(bytes(b.Output()))
archive = whole if wanted["absolute"] else io.BytesIO()
with zipfile.ZipFile(archive, "a", zipfile.ZIP_DEFLATED if wanted["deflated"] else zipfile.ZIP_STORED) as z:
    z.writestr("digits.txt", "\n".join(wanted["labels"]) + "\n")
with open(sys.argv[2], "wb") as f: f.write(whole.getvalue() + (b"" if wanted["absolute"] else archive.getvalue()))
'''

# A colour image of 8 x 8 pixels, int8, through one convolution; with properties.
ONNX = r'''
import json, sys
import numpy, onnx
from onnx import helper, numpy_helper
constant = lambda name, x: numpy_helper.from_array(numpy.asarray(x), name)
w = numpy.random.default_rng(1).integers(-99, 99, (10, 3, 8, 8)).astype("int8")
node = helper.make_node("QLinearConv", ["image", "s", "z", "w", "sw", "zw", "so", "zo"], ["scores"])
value = lambda name, shape: helper.make_tensor_value_info(name, onnx.TensorProto.INT8, shape)
graph = helper.make_graph([node], "net", [value("image", [1, 3, 8, 8])], [value("scores", [1, 10, 1, 1])],
                          [constant("w", w), constant("s", numpy.float32(.02)), constant("sw", numpy.float32(.01)),
                           constant("so", numpy.float32(.3)), *(constant(n, numpy.int8(0)) for n in ("z", "zw", "zo"))])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
helper.set_model_props(model, json.loads(sys.argv[2]))
onnx.save(model, sys.argv[1])
'''


def stored(pixels, mean, std, scale, zero):
    """(pixel - mean) / std, quantised, as bytes."""
    values = [min(127, max(-128, round((p - mean) / std / scale) + zero)) for p in pixels]
    return bytes(v & 255 for v in values)


class Metadata(ToolCase):
    @classmethod
    def setUpClass(cls):
        for module in ("ai_edge_litert", "onnx", "flatbuffers"):
            if subprocess.run([PYTHON, "-c", f"import {module}"], capture_output=True).returncode:
                tools.must_have(f"{module} for Python (run `make setup ALL=1`; looked in {tools.VENV})")
                raise unittest.SkipTest(f"{module} for Python is not installed")

    def made(self, recipe, *arguments):
        done = subprocess.run([PYTHON, "-c", recipe, *arguments], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)

    def tflite(self, mean=(30.0,), std=(81.0,), labels=NAMES, absolute=True, deflated=False, damaged=False):
        path = self.file("model.tflite")
        self.made(TFLITE, DEMO, path, json.dumps({"mean": mean, "std": std, "labels": labels, "absolute": absolute, "deflated": deflated,
                                                  "damaged": damaged}))
        return path

    def onnx(self, **properties):
        path = self.file("model.onnx")
        self.made(ONNX, path, json.dumps(properties))
        return path

    def digit(self, i=7):
        with open(os.path.join(ROOT, "models", "demo", "digits.u8"), "rb") as f:
            pixels = f.read()[SIDE * SIDE * i:SIDE * SIDE * (i + 1)]
        return pixels, self.file("digit.pgm", b"P5 32 32 255\n" + pixels)

    def outputs(self, model, given, *options):
        """What the tool says, and the bytes of the outputs."""
        done = run(KAITEN, "run", model, *NANO, "--input", given, "--output", self.file("out.bin"), *options)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        with open(self.file("out.bin"), "rb") as f:
            return done.stdout, f.read()

    def assert_same(self, model, image, raw, *options):
        """The image gives what the tensor of these bytes gives."""
        text, got = self.outputs(model, image, *options)
        self.assertEqual(got, self.outputs(model, self.file("raw.bin", raw))[1])
        return text

    def test_normalisation_of_tensorflow_lite(self):
        pixels, image = self.digit()
        plain = self.outputs(DEMO, image)[1]
        model = self.tflite()
        told = stored(pixels, 30, 81, SCALE, ZERO)
        text = self.assert_same(model, image, told)
        self.assertIn("values (pixel - 30) * 0.0123457, as the model's metadata says", text)
        self.assertNotEqual(self.outputs(model, image)[1], plain)
        # Options come first, and without metadata it is as in a file that has none.
        text = self.assert_same(model, image, stored(pixels, 10, 1 / 0.00517, SCALE, ZERO), "--mean", 10, "--scale", 0.00517)
        self.assertIn("values (pixel - 10) * 0.00517\n", text)
        text, got = self.outputs(model, image, "--no-metadata")
        self.assertEqual(got, plain)
        self.assertNotIn("metadata", text)
        self.assertNotIn("labels", text)

    def test_labels_of_tensorflow_lite(self):
        _, image = self.digit()
        for absolute in (True, False):
            for deflated in (True, False):
                text, _ = self.outputs(self.tflite(absolute=absolute, deflated=deflated), image)
                self.assertIn("labels: 10 names, 'digits.txt' of the model's metadata", text)
                self.assertRegex(text, r"the digit \d")
        text, _ = self.outputs(self.tflite(labels=NAMES[:7]), image)
        self.assertIn("labels left out: 'digits.txt' of the model's metadata has 7 names, the model 10 classes", text)
        given = self.file("own.txt", "".join(f"own {n}\n" for n in range(10)))
        text, _ = self.outputs(self.tflite(), image, "--labels", given)
        self.assertRegex(text, r"own \d")
        self.assertNotIn("the digit", text)
        # Random values are no image.
        self.assertNotIn("digit", run(KAITEN, "run", self.tflite(), *NANO).stdout)

    def test_what_is_damaged_is_left_out(self):
        _, image = self.digit()
        plain = self.outputs(DEMO, image)[1]
        text, got = self.outputs(self.tflite(damaged=True), image)
        self.assertEqual(got, plain)
        self.assertIn("metadata: TFLITE_METADATA left out: truncated or corrupt", text)
        text, got = self.outputs(self.tflite(std=(0.0,)), image)
        self.assertEqual(got, plain)
        self.assertIn("metadata: normalisation left out:", text)
        with open(self.tflite(), "rb") as f:
            whole = f.read()
        text, _ = self.outputs(self.file("cut.tflite", whole[:-10]), image)
        self.assertIn("metadata: labels 'digits.txt' left out: ", text)
        # Three means for one channel: the file's mistake, in one line.
        line = self.refused("run", self.tflite(mean=(1.0, 2.0, 3.0)), *NANO, "--input", image)
        self.assertIn("the model's metadata has a mean or std of 3 channels", line)

    def test_eval(self):
        for i in range(4):
            pixels, _ = self.digit(i)
            os.makedirs(self.file(f"set/the digit {i}"), exist_ok=True)
            self.file(f"set/the digit {i}/{i}.pgm", b"P5 32 32 255\n" + pixels)
        model = self.tflite()
        rows = {}
        for options in ((), ("--no-metadata",), ("--mean", "30", "--scale", str(1 / 81))):
            done = run(KAITEN, "eval", model, self.file("set"), "--json", self.file("e.json"), "--csv", self.file("e.csv"), *options)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            with open(self.file("e.json")) as f:
                report = json.load(f)
            with open(self.file("e.csv")) as f:
                rows[options[:1]] = [line.split(",")[2:7] for line in f][1:]
            self.assertIn("input: " + report["input"], done.stdout)
            self.assertEqual(report["input"].endswith("as the model's metadata says"), not options)
            by_name = "lines of the folders' names" in done.stdout
            self.assertEqual((by_name, len(report["notes"])), (options != ("--no-metadata",), 0 if options == ("--no-metadata",) else 1))
        self.assertEqual(rows[()], rows[("--mean",)])
        self.assertEqual(len(rows[()]), 4)

    def test_properties_of_onnx(self):
        pixels = [(11 * i * i + 7 * i) % 256 for i in range(3 * 64)]
        image = self.file("image.ppm", b"P6 8 8 255\n" + bytes(pixels))
        mean, std = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
        planes = [pixels[c::3] for c in range(3)]
        model = self.onnx(**{"Image.NominalPixelRange": "Normalized_0_1", "mean": str(list(mean)), "std": str(list(std)),
                             "names": str(dict(enumerate(NAMES)))})
        raw = b"".join(stored(planes[c], 255 * mean[c], 255 * std[c], .02, 0) for c in range(3))
        text = self.assert_same(model, image, raw)
        self.assertIn("as the model's metadata says", text)
        self.assertIn("labels: 10 names, 'names' of the model's metadata", text)
        # Blue first, mean and std in the order of the channels.
        model = self.onnx(**{"Image.BitmapPixelFormat": "Bgr8", "mean": "104,117,123", "std": "57"})
        raw = b"".join(stored(planes[2 - c], (104, 117, 123)[c], 57, .02, 0) for c in range(3))
        self.assertIn("channels blue, green, red", self.assert_same(model, image, raw))
        raw = b"".join(stored(planes[c], (123, 117, 104)[c], 57, .02, 0) for c in range(3))
        self.assertNotIn("blue", self.assert_same(model, image, raw, "--channels", "rgb"))
        self.refused("run", model, *NANO, "--input", image, "--channels", "gbr")
        text, _ = self.outputs(self.onnx(mean="a", names="[7]"), image)
        self.assertIn("metadata: mean and std left out", text)
        self.assertIn("metadata: 'names' left out: no quoted name at character 2", text)


if __name__ == "__main__":
    unittest.main()
