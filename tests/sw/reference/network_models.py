# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Small networks of random weights as TensorFlow Lite files, for make_operator_vectors.py. Every layer is computed in
float32 beside, for one random input, so that its quantisation suits what it holds."""

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as tfl

TYPES = {np.dtype(np.int8): tfl.TensorType.INT8, np.dtype(np.int32): tfl.TensorType.INT32}


class Network:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.model, self.graph = tfl.ModelT(), tfl.SubGraphT()
        self.model.version, self.model.buffers, self.model.operatorCodes = 3, [tfl.BufferT()], []
        self.graph.tensors, self.graph.operators = [], []
        self.real, self.codes = {}, {}

    def tensor(self, shape, scale=None, zero_point=0, data=None, axis=0, dtype=np.int8):
        t = tfl.TensorT()
        t.name, t.shape, t.buffer = f"t{len(self.graph.tensors)}", list(shape), 0
        t.type = TYPES[data.dtype if data is not None else np.dtype(dtype)]
        if scale is not None:
            t.quantization = tfl.QuantizationParametersT()
            t.quantization.scale = np.atleast_1d(scale).astype(np.float32).tolist()
            t.quantization.zeroPoint = [zero_point] * len(t.quantization.scale)
            t.quantization.quantizedDimension = axis
        if data is not None:
            t.buffer = len(self.model.buffers)
            buffer = tfl.BufferT()
            buffer.data = np.frombuffer(data.tobytes(), np.uint8)
            self.model.buffers.append(buffer)
        self.graph.tensors.append(t)
        return len(self.graph.tensors) - 1

    def scale_of(self, t):
        return self.graph.tensors[t].quantization.scale[0]

    def held(self, real, like=None, fixed=None):
        """A new activation for these real values."""
        if like is not None:
            q = self.graph.tensors[like].quantization
            scale, zero = q.scale[0], q.zeroPoint[0]
        elif fixed is not None:
            scale, zero = fixed
        else:
            low, high = min(float(real.min()), 0.0), max(float(real.max()), 0.0)
            scale = max(high - low, 1e-6) / 255
            zero = int(np.clip(round(-128 - low / scale), -128, 127))
        t = self.tensor(real.shape, scale, zero)
        self.real[t] = real
        return t

    def numbers(self, *values):
        return self.tensor([len(values)], data=np.array(values, np.int32))

    def constant(self, real, like=None):
        low, high = min(float(real.min()), 0.0), max(float(real.max()), 0.0)
        scale = max(high - low, 1e-6) / 255
        zero = int(np.clip(round(-128 - low / scale), -128, 127))
        if like is not None:
            q = self.graph.tensors[like].quantization
            scale, zero = q.scale[0], q.zeroPoint[0]
        stored = np.clip(np.round(real / scale) + zero, -128, 127).astype(np.int8)
        t = self.tensor(real.shape, scale, zero, stored)
        self.real[t] = (stored.astype(np.float32) - zero) * scale
        return t

    def node(self, operator, inputs, output, options=None, version=1):
        key = (operator, version)
        if key not in self.codes:
            code = tfl.OperatorCodeT()
            code.builtinCode = getattr(tfl.BuiltinOperator, operator)
            code.deprecatedBuiltinCode, code.version = min(code.builtinCode, 127), version
            self.codes[key] = len(self.model.operatorCodes)
            self.model.operatorCodes.append(code)
        n = tfl.OperatorT()
        n.opcodeIndex, n.inputs, n.outputs = self.codes[key], inputs, [output]
        if options is not None:
            n.builtinOptionsType = getattr(tfl.BuiltinOptions, options[0] + "Options")
            n.builtinOptions = getattr(tfl, options[0] + "OptionsT")()
            for field, value in options[1].items():
                setattr(n.builtinOptions, field, value)
        self.graph.operators.append(n)
        return output

    def input(self, shape):
        t = self.held(self.rng.normal(0, 1, shape).astype(np.float32))
        self.graph.inputs = [t]
        return t

    def weights(self, shape, fan_in):
        real = self.rng.normal(0, fan_in ** -0.5, shape)
        scale = np.maximum(np.abs(real).reshape(shape[0], -1).max(1), 1e-6) / 127
        stored = np.round(real / scale.reshape(-1, *[1] * (len(shape) - 1))).astype(np.int8)
        return self.tensor(shape, scale, 0, stored), stored * scale.reshape(-1, *[1] * (len(shape) - 1)), scale

    def bias(self, x, scale, channels):
        real = self.rng.normal(0, 0.1, channels)
        s = self.scale_of(x) * scale
        stored = np.round(real / s).astype(np.int32)
        return self.tensor([channels], s, 0, stored), stored * s

    def patches(self, x, size, channels):
        """A convolution whose windows do not overlap."""
        _, h, w, c = self.real[x].shape
        kernel, real, scale = self.weights([channels, size, size, c], size * size * c)
        bias, b = self.bias(x, scale, channels)
        tiles = self.real[x].reshape(1, h // size, size, w // size, size, c).transpose(0, 1, 3, 2, 4, 5)
        y = tiles.reshape(1, h // size, w // size, -1) @ real.reshape(channels, -1).T + b
        return self.node("CONV_2D", [x, kernel, bias], self.held(y),
                         ("Conv2D", {"strideH": size, "strideW": size, "padding": 1, "dilationHFactor": 1, "dilationWFactor": 1}), 3)

    def dense(self, x, channels):
        depth = self.real[x].shape[-1]
        kernel, real, scale = self.weights([channels, depth], depth)
        one = scale.max()  # fully connected layers with one scale
        q = self.graph.tensors[kernel].quantization
        stored = np.round(real / one).astype(np.int8)
        q.scale, q.zeroPoint = [float(one)], [0]
        self.model.buffers[self.graph.tensors[kernel].buffer].data = np.frombuffer(stored.tobytes(), np.uint8)
        bias, b = self.bias(x, np.array([one]), channels)
        return self.node("FULLY_CONNECTED", [x, kernel, bias], self.held(self.real[x] @ (stored * one).T + b),
                         ("FullyConnected", {"keepNumDims": True}), 5)

    def pair(self, operator, a, b, options, f, version=1):
        return self.node(operator, [a, b], self.held(f(self.real[a], self.real[b])), (options, {}), version)

    def add(self, a, b):
        return self.pair("ADD", a, b, "Add", np.add, 2)

    def mul(self, a, b):
        return self.pair("MUL", a, b, "Mul", np.multiply, 2)

    def mean(self, x):
        return self.node("MEAN", [x, self.numbers(2)], self.held(self.real[x].mean(2, keepdims=True)), ("Reducer", {"keepDims": True}), 2)

    def reshape(self, x, *shape):
        return self.node("RESHAPE", [x, self.numbers(*shape)], self.held(self.real[x].reshape(shape), x), ("Reshape", {"newShape": list(shape)}))

    def transpose(self, x, *order):
        return self.node("TRANSPOSE", [x, self.numbers(*order)], self.held(self.real[x].transpose(order), x), ("Transpose", {}), 2)

    def matmul(self, a, b, transposed):
        other = self.real[b].swapaxes(-1, -2) if transposed else self.real[b]
        return self.node("BATCH_MATMUL", [a, b], self.held(self.real[a] @ other), ("BatchMatMul", {"adjX": False, "adjY": transposed}), 2)

    def softmax(self, x):
        e = np.exp(self.real[x] - self.real[x].max(-1, keepdims=True))
        return self.node("SOFTMAX", [x], self.held(e / e.sum(-1, keepdims=True), fixed=(1 / 256, -128)), ("Softmax", {"beta": 1.0}), 2)

    def gelu(self, x):
        v = self.real[x]
        y = 0.5 * v * (1 + np.tanh(0.7978845608 * (v + 0.044715 * v**3)))
        return self.node("GELU", [x], self.held(y), ("Gelu", {"approximate": True}), 2)

    def layer_norm(self, x):
        mean = self.mean(x)
        variance = self.mean(self.pair("SQUARED_DIFFERENCE", x, mean, "SquaredDifference", lambda a, b: (a - b) ** 2))
        safe = self.add(variance, self.constant(np.full([1, 1, 1], 0.02, np.float32)))
        # 1 / sqrt needs a zero point at the lower end.
        q = self.graph.tensors[safe].quantization
        q.zeroPoint = [-128]
        root = self.node("RSQRT", [safe], self.held(1 / np.sqrt(self.real[safe])), None, 2)
        channels = self.real[x].shape[-1]
        scaled = self.mul(self.pair("SUB", x, mean, "Sub", np.subtract, 2), root)
        gamma = self.constant(self.rng.normal(1, 0.1, [channels]).astype(np.float32))
        beta = self.constant(self.rng.normal(0, 0.1, [channels]).astype(np.float32))
        return self.add(self.mul(scaled, gamma), beta)

    def file(self, output):
        self.graph.outputs = [output]
        self.model.subgraphs = [self.graph]
        builder = flatbuffers.Builder(1024)
        builder.Finish(self.model.Pack(builder), b"TFL3")
        return bytes(builder.Output())


def vision_transformer():
    """Patches, a class token, positions, two blocks of attention and of two dense layers, a classifier."""
    n, channels, heads, size = Network(7), 24, 2, 4
    x = n.reshape(n.patches(n.input([1, 16, 16, 3]), size, channels), 1, 16, channels)
    token = n.constant(n.rng.normal(0, 1, [1, 1, channels]).astype(np.float32), x)
    x = n.node("CONCATENATION", [token, x], n.held(np.concatenate([n.real[token], n.real[x]], 1), x), ("Concatenation", {"axis": 1}), 2)
    x = n.add(x, n.constant(n.rng.normal(0, 0.5, [1, 17, channels]).astype(np.float32)))
    for _ in range(2):
        y = n.layer_norm(x)
        q, k, v = (n.transpose(n.reshape(n.dense(y, channels), 1, 17, heads, channels // heads), 0, 2, 1, 3) for _ in range(3))
        scores = n.mul(n.matmul(q, k, True), n.constant(np.full([1], (channels / heads) ** -0.5, np.float32)))
        y = n.transpose(n.matmul(n.softmax(scores), v, False), 0, 2, 1, 3)
        x = n.add(x, n.dense(n.reshape(y, 1, 17, channels), channels))
        x = n.add(x, n.dense(n.gelu(n.dense(n.layer_norm(x), 2 * channels)), channels))
    x = n.layer_norm(x)
    first = [n.numbers(0, 0, 0), n.numbers(1, 1, channels), n.numbers(1, 1, 1)]
    x = n.node("STRIDED_SLICE", [x, *first], n.held(n.real[x][:, 0, :], x), ("StridedSlice", {"shrinkAxisMask": 2, "endMask": 5}), 2)
    return n.file(n.softmax(n.dense(x, 10)))
