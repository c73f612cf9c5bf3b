#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Writes onnx_vectors.json: small ONNX models, inputs, and what onnxruntime makes of them without graph optimisation.
Needs onnxruntime 1.32.0, onnx and numpy; the tests need the JSON alone."""

import base64
import json
import pathlib

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

OUT = pathlib.Path(__file__).with_name("onnx_vectors.json")
MICROSOFT = "com.microsoft"
TYPES = {np.dtype(np.int8): TensorProto.INT8, np.dtype(np.uint8): TensorProto.UINT8,
         np.dtype(np.float32): TensorProto.FLOAT, np.dtype(np.int64): TensorProto.INT64}
rng = np.random.default_rng(18)
cases = []


def text(data):
    return base64.b64encode(data if isinstance(data, bytes) else data.tobytes()).decode()


class Model:
    """Nodes, constants and inputs; `given` are the inputs' values."""

    def __init__(self, opset=17):
        self.opset, self.nodes, self.constants, self.inputs, self.given = opset, [], {}, [], []
        self.count = 0

    def name(self):
        self.count += 1
        return f"v{self.count}"

    def input(self, values, shape=None):
        """`shape`: as the model states it; otherwise that of the values."""
        name = self.name()
        self.inputs.append(helper.make_tensor_value_info(name, TYPES[values.dtype], shape or values.shape))
        self.given.append(values)
        return name

    def constant(self, values, dtype=None):
        name = self.name()
        self.constants[name] = np.array(values, dtype)
        return name

    def node(self, operator, inputs, domain="", outputs=1, **attributes):
        names = [self.name() for _ in range(outputs)]
        self.nodes.append(helper.make_node(operator, inputs, names, domain=domain, **attributes))
        return names[0] if outputs == 1 else names

    def record(self, name, outputs):
        outputs = [outputs] if isinstance(outputs, str) else outputs
        graph = helper.make_graph(self.nodes, "g", self.inputs,
                                  [helper.make_empty_tensor_value_info(o) for o in outputs],
                                  [numpy_helper.from_array(v, k) for k, v in self.constants.items()])
        model = helper.make_model(graph, ir_version=8, producer_name="kaiten", opset_imports=[
            helper.make_opsetid("", self.opset), helper.make_opsetid(MICROSOFT, 1)])
        file = model.SerializeToString()
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
        results = session.run(None, dict(zip([i.name for i in self.inputs], self.given)))
        # A vector stands for its output type and shape too.
        for o, r in zip(graph.output, results):
            o.CopyFrom(helper.make_tensor_value_info(o.name, TYPES[r.dtype], r.shape))
        cases.append({"name": name, "model": text(model.SerializeToString()), "inputs": [text(v) for v in self.given],
                      "outputs": [text(r) for r in results]})


class Scale:
    """Scale and zero point of a quantised tensor, `dtype` int8 or uint8."""

    def __init__(self, dtype, scale=None, zero_point=None):
        info = np.iinfo(dtype)
        self.dtype, self.low, self.high = dtype, info.min, info.max
        self.scale = np.float32(scale if scale is not None else np.exp(rng.uniform(np.log(0.01), np.log(0.2))))
        self.zero_point = int(zero_point if zero_point is not None else rng.integers(info.min, info.max + 1))

    def of(self, model):
        return [model.constant(self.scale, np.float32), model.constant(self.zero_point, self.dtype)]

    def values(self, shape):
        """Random stored values, ends of the range among them."""
        v = rng.integers(self.low, self.high + 1, shape)
        ends = rng.integers(0, 12, shape)
        return np.where(ends == 0, self.low, np.where(ends == 1, self.high, v)).astype(self.dtype)


BOTH = (np.int8, np.uint8)


def tie_pairs(a, b, out, real, count):
    """The pairs of stored values whose results are nearest to a tie: where roundings show. Some random ones too."""
    x, y = np.meshgrid(np.arange(a.low, a.high + 1), np.arange(b.low, b.high + 1), indexing="ij")
    exact = real((x - a.zero_point) * np.float64(a.scale), (y - b.zero_point) * np.float64(b.scale)) / np.float64(
        out.scale)
    seen = (exact + out.zero_point > out.low) & (exact + out.zero_point < out.high)
    distance = np.where(seen, np.abs(exact - np.floor(exact) - 0.5), 1)
    order = np.argsort(distance, axis=None)[:count]
    order = np.concatenate([order, rng.integers(0, order.size, count // 4)])
    return x.ravel()[order].astype(a.dtype), y.ravel()[order].astype(b.dtype)


def qlinear_pairs():
    for dtype in BOTH:
        for operator, real in (("QLinearAdd", np.add), ("QLinearMul", np.multiply)):
            for trial in range(8):
                a, b = Scale(dtype), Scale(dtype)
                if trial % 4 == 3:
                    b.scale = a.scale
                size = float(real(a.scale, b.scale)) * (1 if operator == "QLinearAdd" else rng.uniform(20, 200))
                out = Scale(dtype, a.scale * 2 if trial == 7 else size * rng.uniform(0.3, 1.5))
                x, y = tie_pairs(a, b, out, real, 1200)
                m = Model()
                m.record(f"{operator} {np.dtype(dtype)} {trial}", m.node(
                    operator, [m.input(x.reshape(1, 4, 15, -1)), *a.of(m), m.input(y.reshape(1, 4, 15, -1)), *b.of(m),
                               *out.of(m)], MICROSOFT))
            for first, second in (([1, 4, 6, 7], [1, 4, 1, 1]), ([1, 4, 1, 1], [1, 4, 6, 7]), ([1, 4, 6, 7], [1]),
                                  ([1, 1, 6, 7], [1, 4, 6, 7]), ([1, 4, 1, 1], [1, 4, 1, 1]), ([7], [1, 4, 6, 7]),
                                  ([1, 4, 6, 7], [4, 6, 1]), ([1, 40], [1, 1])):
                for constant in (False, True):
                    a, b = Scale(dtype), Scale(dtype)
                    out = Scale(dtype, (a.scale + b.scale) * 0.6 if operator == "QLinearAdd"
                                else a.scale * b.scale * 90)
                    m = Model()
                    left = m.input(a.values(first))
                    right = m.constant(b.values(second)) if constant else m.input(b.values(second))
                    m.record(f"{operator} {np.dtype(dtype)} {first} {second} {'constant' if constant else ''}", m.node(
                        operator, [left, *a.of(m), right, *b.of(m), *out.of(m)], MICROSOFT))


def qlinear_functions():
    for dtype in BOTH:
        for operator, attributes in (("QLinearLeakyRelu", {"alpha": 0.13}), ("QLinearSigmoid", {})):
            a = Scale(dtype)
            out = Scale(dtype, 1 / 256, np.iinfo(dtype).min) if operator == "QLinearSigmoid" else Scale(dtype)
            m = Model()
            x = np.arange(a.low, a.high + 1).astype(dtype).reshape(1, 4, 8, 8)
            m.record(f"{operator} {np.dtype(dtype)}", m.node(operator, [m.input(x), *a.of(m), *out.of(m)], MICROSOFT,
                                                          **attributes))
        a, b, out = Scale(dtype), Scale(dtype), Scale(dtype)
        m = Model()
        m.record(f"QLinearConcat {np.dtype(dtype)}", m.node(
            "QLinearConcat", [*out.of(m), m.input(a.values([1, 5, 4, 6])), *a.of(m), m.input(b.values([1, 9, 4, 6])),
                              *b.of(m)], MICROSOFT, axis=1))
        a, out = Scale(dtype), Scale(dtype)
        m = Model()
        m.record(f"QLinearGlobalAveragePool {np.dtype(dtype)}", m.node(
            "QLinearGlobalAveragePool", [m.input(a.values([1, 20, 7, 6])), *a.of(m), *out.of(m)], MICROSOFT))


def dequantise(m, stored, scale):
    return m.node("DequantizeLinear", [stored, *scale.of(m)])


def quantise(m, value, scale):
    return m.node("QuantizeLinear", [value, *scale.of(m)])


def between(name, shapes, make, out=None, opset=17, same=False):
    """`make`, of float values, between DequantizeLinear and QuantizeLinear, for both types. `same`: one scale throughout."""
    for dtype in BOTH:
        m = Model(opset)
        scales = [Scale(dtype) for _ in shapes]
        to = scales[0] if same else Scale(dtype, *(out or ()))
        made = make(m, *[dequantise(m, m.input(s.values(shape)), s) for s, shape in zip(scales, shapes)])
        m.record(f"{name} {np.dtype(dtype)}", quantise(m, made, to))


def on_stored(name, shape, make, opset=17):
    """`make` on quantised values as they are stored."""
    for dtype in BOTH:
        m = Model(opset)
        scale = Scale(dtype)
        m.record(f"{name} on stored values, {np.dtype(dtype)}", dequantise(m, make(m, m.input(scale.values(shape))), scale))


def functions():
    shape = [1, 4, 8, 8]
    for name, attributes in (("Relu", {}), ("LeakyRelu", {"alpha": 0.2}), ("Elu", {"alpha": 0.7}), ("HardSigmoid", {}),
                             ("HardSwish", {}), ("Sigmoid", {}), ("Tanh", {}), ("Erf", {}), ("Softplus", {}), ("Abs", {}),
                             ("Neg", {}), ("Floor", {}), ("Ceil", {}), ("Round", {}), ("Sign", {}), ("Exp", {})):
        between(name, [shape], lambda m, x: m.node(name, [x], **attributes), (0.03, 5))
    between("Gelu", [shape], lambda m, x: m.node("Gelu", [x]), (0.03, 5), opset=20)
    between("SiLU", [shape], lambda m, x: m.node("Mul", [x, m.node("Sigmoid", [x])]), (0.03, 5))
    between("HardSwish in steps", [shape], lambda m, x: m.node("Mul", [x, m.node("HardSigmoid", [x], alpha=1 / 6, beta=0.5)]),
            (0.03, 5))

    def gelu(m, x):
        erf = m.node("Erf", [m.node("Div", [x, m.constant(1.41421354, np.float32)])])
        half = m.node("Mul", [x, m.node("Add", [erf, m.constant(1, np.float32)])])
        return m.node("Mul", [half, m.constant(0.5, np.float32)])
    between("GELU in steps", [shape], gelu, (0.03, 5))
    between("Clip", [shape], lambda m, x: m.node("Clip", [x, m.constant(-0.5, np.float32), m.constant(2, np.float32)]),
            (0.03, 5))
    between("Relu6 of a sum", [shape, shape], lambda m, x, y: m.node("Clip", [
        m.node("Add", [x, y]), m.constant(0, np.float32), m.constant(6, np.float32)]), (0.03, 5))


def pairs():
    shape = [1, 4, 5, 6]
    for name in ("Add", "Sub", "Mul", "Div", "Min", "Max"):
        for second in ([1, 4, 5, 6], [1, 4, 1, 1], [6], [4, 5, 1]):
            between(f"{name} {second}", [shape, second], lambda m, x, y: m.node(name, [x, y]), (0.11, 3))
    between("Max of three", [shape] * 3, lambda m, x, y, z: m.node("Max", [x, y, z]))
    between("Sum of three", [shape] * 3, lambda m, x, y, z: m.node("Sum", [x, y, z]))
    slope = rng.normal(0, 1, [4, 1, 1]).astype(np.float32)
    between("PRelu", [shape], lambda m, x: m.node("PRelu", [x, m.constant(slope)]))

    def normalised(m, x):
        return m.node("BatchNormalization", [x, *[m.constant(rng.uniform(0.5, 2, 4).astype(np.float32)) for _ in range(4)]])
    between("BatchNormalization", [shape], normalised)


def moves():
    shape = [1, 8, 6, 4]
    operators = [("Transpose", {"perm": p}, ()) for p in ([0, 2, 3, 1], [0, 3, 1, 2], [0, 1, 3, 2], [0, 2, 1, 3])]
    operators += [("DepthToSpace", {"blocksize": 2, "mode": mode}, ()) for mode in ("DCR", "CRD")]
    operators += [("SpaceToDepth", {"blocksize": 2}, ()), ("Tile", {}, ([1, 2, 1, 3],)), ("Expand", {}, ([2, 1, 8, 6, 4],)),
                  ("Slice", {}, ([1, 3], [7, -9], [1, 2], [2, -1])), ("Slice", {}, ([1], [5], [1])),
                  ("Gather", {"axis": 1}, ([6, 4, 2],)), ("Gather", {"axis": 2}, (3,)), ("Flatten", {}, ()),
                  ("Reshape", {}, ([1, 4, 12, 4],)), ("Reshape", {}, ([1, 48, -1],)), ("Reshape", {}, ([1, 8, 6, 4, 1],)),
                  ("Pad", {}, ([0, 0, 1, 2, 0, 0, 3, 0],)), ("Unsqueeze", {}, ([0],))]
    for name, attributes, constants in operators:
        def make(m, x):
            return m.node(name, [x, *[m.constant(c, np.int64) for c in constants]], **attributes)
        title = f"{name} {attributes or ''} {constants or ''}"
        between(title, [shape], make, same=True)
        between(title + " rescaled", [shape], make)
        if name != "Pad":
            on_stored(title, shape, make)
    between("Pad with 1", [shape], lambda m, x: m.node("Pad", [x, m.constant([0, 1, 0, 0, 0, 0, 2, 1], np.int64),
                                                              m.constant(1, np.float32)]))

    def split(m, x):
        a, b = m.node("Split", [x, m.constant([3, 5], np.int64)], outputs=2, axis=1)
        return m.node("Concat", [b, a], axis=1)
    between("Split and Concat", [shape], split, same=True)
    on_stored("Split and Concat", shape, split)
    for axis in (1, 2, 3):
        between(f"Concat {axis}", [shape, shape], lambda m, x, y: m.node("Concat", [x, y], axis=axis))

    def pixel_shuffle(m, x):
        five = m.node("Reshape", [x, m.constant([1, 2, 2, 2, 6, 4], np.int64)])
        turned = m.node("Transpose", [five], perm=[0, 1, 4, 2, 5, 3])
        return m.node("Reshape", [turned, m.constant([1, 2, 12, 8], np.int64)])
    between("Pixel shuffle in steps", [shape], pixel_shuffle, same=True)
    on_stored("Pixel shuffle in steps", shape, pixel_shuffle)


def reductions():
    shape = [1, 8, 5, 7]
    for axes in ([2, 3], [1], [3], [1, 2, 3]):
        for name in ("ReduceMean", "ReduceMax", "ReduceMin"):
            for keep in (0, 1):
                if name == "ReduceMean" or keep:
                    between(f"{name} {axes} {keep}", [shape], lambda m, x: m.node(name, [x], axes=axes, keepdims=keep))
    between("GlobalMaxPool", [shape], lambda m, x: m.node("GlobalMaxPool", [x]))
    between("Mean and Reshape", [shape], lambda m, x: m.node("Reshape", [
        m.node("ReduceMean", [x], axes=[2, 3], keepdims=0), m.constant([1, 8], np.int64)]))
    for axis in (1, -1):
        between(f"Softmax {axis}", [[1, 10, 6]], lambda m, x: m.node("Softmax", [x], axis=axis), (1 / 256, 0))
        between(f"LogSoftmax {axis}", [[1, 10, 6]], lambda m, x: m.node("LogSoftmax", [x], axis=axis))


def shape_arithmetic():
    """A shape computed by integer operators, which a converter leaves behind."""
    def number(m, *values):
        return m.constant(list(values), np.int64)

    def reshaped(m, x):
        side = m.node("Shape", [x], start=2, end=-1)
        shape = m.node("Shape", [x])
        product = m.node("Div", [m.node("Mul", [side, number(m, 8)]), number(m, 2)])
        kept = m.node("Slice", [shape, number(m, -1), number(m, 9)])
        whole = m.node("Concat", [number(m, 1), m.node("Sub", [product, number(m, 10)]), m.node("Add", [kept, number(m, 0)]),
                                  number(m, -1)], axis=0)
        return m.node("Reshape", [x, whole])
    between("Shape arithmetic", [[1, 8, 5, 6]], reshaped, same=True)


def transposed_convolutions():
    for kernel, group, attributes in (([6, 4, 2, 2], 1, {"strides": [2, 2]}), ([6, 4, 3, 3], 1, {"pads": [1, 0, 1, 2]}),
                                      ([6, 2, 4, 3], 2, {"strides": [2, 3], "pads": [1, 1, 1, 1], "output_padding": [1, 0]}),
                                      ([6, 5, 3, 2], 1, {"strides": [1, 2], "dilations": [2, 2]})):
        for bias in (False, True):
            def make(m, x):
                w = dequantise(m, m.constant(rng.integers(-127, 128, kernel), np.int8), Scale(np.int8, 0.01, 0))
                b = [m.constant(rng.normal(0, 1, kernel[1] * group), np.float32)] if bias else []
                return m.node("ConvTranspose", [x, w, *b], group=group, **attributes)
            between(f"ConvTranspose {kernel} {attributes} {'bias' if bias else ''}", [[1, 6, 5, 4]], make, (0.3, 4))


def of_the_model_zoo():
    """What older networks have: local response normalisation, softmax of stored values, softmax before opset 13."""
    for size in (3, 5):
        between(f"LRN {size}", [[1, 12, 5, 6]], lambda m, x: m.node("LRN", [x], alpha=0.02, beta=0.75, bias=1.0, size=size), (0.05, 4))
    between("Softmax of opset 12", [[1, 10, 1, 1]], lambda m, x: m.node("Softmax", [x], axis=1), (1 / 256, 0), opset=12)
    for dtype in BOTH:
        low = np.iinfo(dtype).min
        for shape, axis, out in (([1, 100], 1, Scale(dtype, 1 / 256, low)), ([1, 21, 4, 5], 1, Scale(dtype, 1 / 255, low)), ([1, 7, 40], -1, Scale(dtype, 0.01, low + 9))):
            a = Scale(dtype)
            m = Model()
            m.record(f"QLinearSoftmax {np.dtype(dtype)} {shape}", m.node("QLinearSoftmax", [m.input(a.values(shape)), *a.of(m), *out.of(m)], MICROSOFT,
                                                                        axis=axis, opset=13))


def resizes():
    for mode, positions in (("linear", ("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel", "half_pixel_symmetric")),
                            ("nearest", ("half_pixel", "asymmetric", "align_corners", "half_pixel_symmetric"))):
        for position in positions:
            for rounding in ("floor", "ceil", "round_prefer_floor", "round_prefer_ceil") if mode == "nearest" else ("floor",):
                for factors in ([1, 1, 1.7, 2.3], [1, 1, 0.6, 0.45]):
                    between(f"Resize {mode} {position} {rounding} {factors}", [[1, 3, 6, 5]], lambda m, x: m.node(
                        "Resize", [x, "", m.constant(factors, np.float32)], mode=mode, nearest_mode=rounding,
                        coordinate_transformation_mode=position), opset=19)
        between(f"Resize {mode} to sizes", [[1, 3, 6, 5]], lambda m, x: m.node(
            "Resize", [x, "", "", m.constant([9, 11], np.int64)], mode=mode, axes=[2, 3]), opset=18)
        between(f"Resize {mode} of opset 10", [[1, 3, 6, 5]], lambda m, x: m.node(
            "Resize", [x, m.constant([1, 1, 1.5, 0.7], np.float32)], mode=mode), opset=10)
    on_stored("Resize nearest", [1, 3, 6, 5], lambda m, x: m.node("Resize", [x, "", m.constant([1, 1, 1.7, 2.3], np.float32)]), opset=13)


def means_of_maps():
    """Of one scale on both sides and an even number of cells: every second channel has a tie."""
    for shape in ([1, 40, 4, 6], [1, 41, 3, 6], [1, 12, 14, 14], [1, 7, 1, 2]):
        between(f"GlobalAveragePool {shape}", [shape], lambda m, x: m.node("GlobalAveragePool", [x]), same=True)
        between(f"ReduceMean {shape}", [shape], lambda m, x: m.node("ReduceMean", [x], axes=[2, 3]), same=True)
        between(f"ReduceMean of rows {shape}", [shape], lambda m, x: m.node("ReduceMean", [x], axes=[-1]), same=True)


def dilated_pools():
    for kernel, attributes in (([3, 2], {"dilations": [2, 2]}), ([2, 3], {"dilations": [3, 1], "strides": [2, 1], "pads": [1, 0, 1, 2]}),
                               ([1, 4], {"dilations": [2, 1]})):
        between(f"MaxPool {kernel} {attributes}", [[1, 5, 9, 8]], lambda m, x: m.node("MaxPool", [x], kernel_shape=kernel, **attributes), same=True)
        between(f"AveragePool {kernel} {attributes}", [[1, 5, 9, 8]],
                lambda m, x: m.node("AveragePool", [x], kernel_shape=kernel, **attributes), opset=19)


def left_by_exporters():
    """What exporters leave to whoever reads their graphs."""
    def weights(m, shape, **attributes):
        of = Scale(np.int8, 0.01, 0).of(m)
        stored = m.node("QuantizeLinear", [m.constant(rng.normal(0, 0.4, shape), np.float32), *of])
        return m.node("DequantizeLinear", [stored, *of], **attributes)

    def weights_of_channels(m, shape, axis):
        of = [m.constant(rng.uniform(0.005, 0.02, shape[axis]), np.float32), m.constant(np.zeros(shape[axis]), np.int8)]
        stored = m.node("QuantizeLinear", [m.constant(rng.normal(0, 0.4, shape), np.float32), *of], axis=axis)
        return m.node("DequantizeLinear", [stored, *of], axis=axis)

    def normalised(m, x):
        factors = rng.uniform(-2, 2, 6)
        of = [m.constant(v, np.float32) for v in (factors, rng.normal(0, 1, 6), rng.normal(0, 1, 6), rng.uniform(0.5, 2, 6))]
        return m.node("BatchNormalization", [m.node("Conv", [x, weights(m, [6, 4, 3, 3]), m.constant(rng.normal(0, 1, 6), np.float32)]), *of])

    def clipped(m, x):
        low, high = m.node("Constant", [], value_float=-1.5), m.node("Constant", [], value_float=2.5)
        return m.node("Clip", [x, low, high])
    shape = [1, 4, 6, 5]
    between("Conv of weights to be quantised", [shape], lambda m, x: m.node("Conv", [x, weights(m, [6, 4, 3, 3])]), (0.3, 4))
    between("Conv of weights to be quantised by channel", [shape], lambda m, x: m.node("Conv", [x, weights_of_channels(m, [6, 4, 3, 3], 0)]), (0.3, 4))
    between("Gemm of weights to be quantised by channel", [[3, 20]], lambda m, x: m.node("Gemm", [x, weights_of_channels(m, [20, 7], 1)]), (0.3, 4))
    between("Conv and Add", [shape], lambda m, x: m.node("Relu", [m.node("Add", [
        m.node("Conv", [x, weights(m, [6, 4, 3, 3])]), m.constant(rng.normal(0, 1, [6, 1, 1]), np.float32)])]), (0.3, 4))
    between("Conv and BatchNormalization", [shape], normalised, (0.6, 4))
    for bias in ([], [1], [7], [1, 7], [7, 1], [7, 7]):
        between(f"Gemm and bias {bias}", [[7, 20]], lambda m, x: m.node("Gemm", [x, weights(m, [20, 7]), m.constant(rng.normal(0, 1, bias), np.float32)]), (0.3, 4))
        between(f"MatMul and bias {bias}", [[1, 7, 20]], lambda m, x: m.node("Add", [
            m.node("MatMul", [x, weights(m, [20, 7])]), m.constant(rng.normal(0, 1, bias), np.float32)]), (0.3, 4))
    def convolved(move, shape, weighted=(6, 4, 3, 3)):
        between(f"{move} and Conv", [shape], lambda m, x: m.node("Conv", [moved[move](m, x), weights(m, list(weighted))]), (0.3, 4))
    moved = {"Transpose": lambda m, x: m.node("Transpose", [x], perm=[0, 3, 1, 2]),
             "Pad": lambda m, x: m.node("Pad", [x, m.constant([0, 0, 0, 0, 0, 0, 1, 1], np.int64)]),
             "MaxPool": lambda m, x: m.node("MaxPool", [x], kernel_shape=[2, 2]),
             "Reshape and Slice": lambda m, x: m.node("Slice", [m.node("Reshape", [x, m.constant([1, 8, 6, 5], np.int64)]), *[
                 m.constant([v], np.int64) for v in (1, 7, 1)]])}
    convolved("Transpose", [1, 6, 5, 4])
    convolved("Pad", shape)
    convolved("MaxPool", shape)
    convolved("Reshape and Slice", [1, 4, 6, 10], (6, 6, 3, 3))
    for mode in ("reflect", "edge", "wrap"):
        between(f"Pad {mode}", [shape], lambda m, x: m.node("Pad", [x, m.constant([0, 0, 2, 1, 0, 0, 1, 3], np.int64)], mode=mode), opset=19, same=True)
        on_stored(f"Pad {mode}", shape, lambda m, x: m.node("Pad", [x, m.constant([0, 0, 2, 1, 0, 0, 1, 3], np.int64)], mode=mode), opset=19)
    between("Clip by constants of their own", [shape], clipped, (0.03, 5))
    for axis, positions in ((1, [3, 0, 0, 2]), (2, [5, 1, 2]), (3, [-1, 0])):
        between(f"Gather {axis} {positions}", [shape], lambda m, x: m.node("Gather", [x, m.constant(positions, np.int64)], axis=axis), same=True)
        on_stored(f"Gather {axis} {positions}", shape, lambda m, x: m.node("Gather", [x, m.constant(positions, np.int64)], axis=axis))
    for attributes in ({"auto_pad": "SAME_UPPER"}, {"auto_pad": "SAME_LOWER"}, {"auto_pad": "VALID"}, {"output_shape": [12, 10]}, {"output_shape": [11, 9]}):
        between(f"ConvTranspose {attributes}", [shape], lambda m, x: m.node("ConvTranspose", [
            x, dequantise(m, m.constant(rng.integers(-127, 128, [4, 6, 3, 2]), np.int8), Scale(np.int8, 0.01, 0))], strides=[2, 2], **attributes), (0.3, 4))
    for name, attributes, opset in (("Mish", {}, 18), ("Selu", {}, 17), ("Celu", {"alpha": 0.7}, 17), ("Softsign", {}, 17), ("ThresholdedRelu", {"alpha": 0.4}, 17),
                                    ("Gelu", {"approximate": "tanh"}, 20), ("Swish", {}, 24), ("Swish", {"alpha": 1.5}, 24)):
        between(f"{name} {attributes}", [[1, 4, 8, 8]], lambda m, x: m.node(name, [x], **attributes), (0.03, 5), opset=opset)


def averages_of_whole_maps():
    for strides in ([1, 1], [1, 2], [3, 2], [3, 3]):
        between(f"AveragePool of a whole map, strides {strides}", [[1, 40, 2, 14]],
                lambda m, x: m.node("AveragePool", [x], kernel_shape=[2, 14], strides=strides), same=True)


def over_lines():
    """Windows over tensors of three dimensions."""
    shape = [1, 6, 20]

    def conv(m, x, kernel, **attributes):
        weights = dequantise(m, m.constant(rng.integers(-127, 128, kernel), np.int8), Scale(np.int8, 0.01, 0))
        return m.node("Conv", [x, weights, m.constant(rng.normal(0, 1, kernel[0]), np.float32)], **attributes)
    for kernel, attributes in (([8, 6, 3], {"pads": [1, 1]}), ([8, 6, 5], {"strides": [2], "pads": [4, 0]}),
                               ([6, 1, 3], {"group": 6, "dilations": [2]}), ([6, 2, 3], {"group": 3}), ([8, 6, 4], {"auto_pad": "SAME_UPPER"})):
        between(f"Conv of lines {kernel} {attributes}", [shape], lambda m, x: m.node("Relu", [conv(m, x, kernel, **attributes)]), (0.3, 4))
    between("MaxPool of lines", [shape], lambda m, x: m.node("MaxPool", [x], kernel_shape=[3], strides=[2]), same=True)
    between("AveragePool of lines", [shape], lambda m, x: m.node("AveragePool", [x], kernel_shape=[4], pads=[1, 1]))
    between("GlobalAveragePool of lines", [shape], lambda m, x: m.node("GlobalAveragePool", [x]))
    between("GlobalMaxPool of lines", [shape], lambda m, x: m.node("GlobalMaxPool", [x]), same=True)
    on_stored("MaxPool of lines", shape, lambda m, x: m.node("MaxPool", [x], kernel_shape=[2], strides=[2]))
    for dtype in BOTH:
        a, b, w, c, out = Scale(dtype), Scale(dtype, 0.3), Scale(dtype, 0.01, np.iinfo(dtype).min + 128), Scale(dtype, 0.3), Scale(dtype)
        m = Model()
        made = m.input(a.values(shape))
        for source, to, kernel, pads in ((a, b, [8, 6, 3], [1, 1]), (b, c, [5, 8, 4], [0, 2])):
            made = m.node("QLinearConv", [made, *source.of(m), m.constant(w.values(kernel)), *w.of(m), *to.of(m),
                                          m.constant(rng.integers(-500, 500, kernel[0]), np.int32)], pads=pads)
        made = m.node("MaxPool", [made], kernel_shape=[2], strides=[2])
        m.record(f"QLinearConv of lines {np.dtype(dtype)}", m.node("QLinearGlobalAveragePool", [made, *c.of(m), *out.of(m)], MICROSOFT))


def of_transformers():
    """Normalisation, and what else stands in networks between quantised values that PyTorch's exporter and onnxruntime's quantiser leave."""
    def numbers(m, count):
        return [m.constant(rng.normal(1, 0.4, count), np.float32), m.constant(rng.normal(0, 0.4, count), np.float32)]
    for axis, cells in ((-1, 24), (1, [17, 24])):
        between(f"LayerNormalization {axis}", [[1, 17, 24]], lambda m, x: m.node("LayerNormalization", [x, *numbers(m, cells)], axis=axis), (0.03, 5))
    between("LayerNormalization without offsets", [[1, 17, 24]], lambda m, x: m.node("LayerNormalization", [x, numbers(m, 24)[0]], epsilon=1e-6), (0.03, 5))
    for shape in ([1, 6, 7, 5], [1, 6, 30]):
        between(f"InstanceNormalization {shape}", [shape], lambda m, x: m.node("InstanceNormalization", [x, *numbers(m, 6)]), (0.03, 5))

    def dequantised_numbers(m, x):
        scales = [Scale(np.uint8, 0.01, 30), Scale(np.uint8, 0.01, 120), Scale(np.uint8, 0.01, 110), Scale(np.uint8, 0.02, 0)]
        return m.node("BatchNormalization", [x, *[dequantise(m, m.constant(s.values([6])), s) for s in scales]])
    between("BatchNormalization of dequantised numbers", [[1, 6, 5, 4]], dequantised_numbers, (0.1, 5))
    for mode in ("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"):
        for factors in ([1, 1, 2, 2], [1, 1, 1.7, 0.6]):
            on_stored(f"Resize linear {mode} {factors}", [1, 3, 6, 5], lambda m, x: m.node(
                "Resize", [x, "", m.constant(factors, np.float32)], mode="linear", coordinate_transformation_mode=mode), opset=13)
    for dtype in BOTH:
        a, b, out = Scale(dtype), Scale(dtype), Scale(dtype)
        m = Model()
        m.record(f"QLinearConcat with a constant {np.dtype(dtype)}", m.node(
            "QLinearConcat", [*out.of(m), m.constant(a.values([1, 1, 24])), *a.of(m), m.input(b.values([1, 16, 24])), *b.of(m)], MICROSOFT, axis=1))
        m = Model()
        picked = m.node("Gather", [m.node("SpaceToDepth", [m.input(rng.normal(0, 2, [1, 3, 6, 8]).astype(np.float32))], blocksize=2),
                                   m.constant([0, 3, 6, 9, 1, 4, 11, 2], np.int64)], axis=1)
        m.record(f"Gather of a list in float32, {np.dtype(dtype)}", quantise(m, picked, Scale(dtype)))

    five = [3, 1, 2, 4, 5]

    def cut(m, x, begin, end, axis):
        return m.node("Slice", [x, *[m.constant([v], np.int64) for v in (begin, end, axis)]])
    for axis, begin, end in ((0, 1, 2), (2, 1, 2), (4, 1, 4)):
        between(f"Slice of rank 5, {axis}", [five], lambda m, x: cut(m, x, begin, end, axis), same=True)
        on_stored(f"Slice of rank 5, {axis}", five, lambda m, x: cut(m, x, begin, end, axis))
    between("Split of rank 5", [five], lambda m, x: m.node("Split", [x, m.constant([1, 2], np.int64)], outputs=2, axis=0)[1], same=True)
    between("Pad of rank 5", [five], lambda m, x: m.node("Pad", [x, m.constant([1, 0, 0, 2, 1, 0, 0, 1, 0, 1], np.int64)]), same=True)

    between("MatMul of rank 4", [[1, 5, 6, 20]], lambda m, x: m.node("MatMul", [
        x, dequantise(m, m.constant(rng.integers(-127, 128, [20, 7]), np.int8), Scale(np.int8, 0.01, 0))]), (0.3, 4))
    for dtype in BOTH:
        a, w, out = Scale(dtype), Scale(dtype, 0.01, np.iinfo(dtype).min + 128), Scale(dtype, 0.3)
        m = Model()
        m.record(f"QLinearMatMul of rank 4 {np.dtype(dtype)}", m.node(
            "QLinearMatMul", [m.input(a.values([1, 5, 6, 20])), *a.of(m), m.constant(w.values([20, 7])), *w.of(m), *out.of(m)]))


def of_attention():
    """Of stored values: products of two activations, softmax along any dimension; shares beside a half, where tables of whole
    numbers round otherwise."""
    for dtype in BOTH:
        low = np.iinfo(dtype).min
        for shape, axis in (([1, 3, 7, 9], -1), ([1, 3, 7, 9], 2), ([1, 4, 6], 1), ([1, 2, 3, 4, 5], 3)):
            a, out = Scale(dtype), Scale(dtype, 1 / 256, low)
            m = Model()
            m.record(f"QLinearSoftmax {np.dtype(dtype)} {shape} along {axis}", m.node(
                "QLinearSoftmax", [m.input(a.values(shape)), *a.of(m), *out.of(m)], MICROSOFT, axis=axis, opset=13))
        for scale in (1 / 256, 1 / 128):
            a, out = Scale(dtype, scale, low), Scale(dtype, 1 / 256, low)
            pairs = np.stack(np.meshgrid(np.arange(0, 16), np.arange(0, 16)), -1).reshape(1, 256, 2)
            m = Model()
            m.record(f"QLinearSoftmax {np.dtype(dtype)} of pairs {scale}", m.node(
                "QLinearSoftmax", [m.input((pairs + low).astype(dtype)), *a.of(m), *out.of(m)], MICROSOFT, axis=-1, opset=13))
        for left, right in (([1, 3, 6, 8], [1, 3, 8, 5]), ([3, 6, 8], [3, 8, 5]), ([1, 6, 8], [1, 8, 6]), ([1, 3, 6, 8], [8, 5]), ([6, 8], [8, 5])):
            a, b, out = Scale(dtype), Scale(dtype), Scale(dtype, 0.05)
            m = Model()
            m.record(f"QLinearMatMul {np.dtype(dtype)} {left} by {right}", m.node(
                "QLinearMatMul", [m.input(a.values(left)), *a.of(m), m.input(b.values(right)), *b.of(m), *out.of(m)]))
    for left, right in (([1, 3, 6, 8], [1, 1, 8, 5]), ([1, 2, 3, 6, 8], [3, 8, 5])):
        a, b, out = Scale(np.int8), Scale(np.int8), Scale(np.int8, 0.05)
        m = Model()
        m.record(f"QLinearMatMul {left} by {right}", m.node(
            "QLinearMatMul", [m.input(a.values(left)), *a.of(m), m.input(b.values(right)), *b.of(m), *out.of(m)]))


if __name__ == "__main__":
    for record in (qlinear_pairs, qlinear_functions, functions, pairs, moves, reductions,
                   shape_arithmetic, transposed_convolutions, of_the_model_zoo, resizes, means_of_maps,
                   dilated_pools, left_by_exporters, averages_of_whole_maps, over_lines, of_transformers, of_attention):
        record()
    OUT.write_text(json.dumps(cases, indent=0) + "\n")
    print(len(cases), "cases,", OUT.stat().st_size, "bytes")
