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


if __name__ == "__main__":
    for record in (qlinear_pairs, qlinear_functions):
        record()
    OUT.write_text(json.dumps(cases, indent=0) + "\n")
    print(len(cases), "cases,", OUT.stat().st_size, "bytes")
