#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Writes operator_vectors.json: TensorFlow Lite models of one operator each, inputs, and what LiteRT's reference
kernels make of them. Needs ai-edge-litert 2.3.0, flatbuffers and numpy; the tests need the JSON alone."""

import base64
import json
import math
import pathlib

import flatbuffers
import network_models
import numpy as np
from ai_edge_litert import schema_py_generated as tfl
from ai_edge_litert.interpreter import Interpreter, OpResolverType

OUT = pathlib.Path(__file__).with_name("operator_vectors.json")
TYPES = {np.int8: tfl.TensorType.INT8, np.uint8: tfl.TensorType.UINT8, np.float32: tfl.TensorType.FLOAT32,
         np.int32: tfl.TensorType.INT32}
VERSIONS = {"PRELU": 1, "DEPTH_TO_SPACE": 1, "LOG": 1, "SQRT": 1, "ABS": 1, "ELU": 1, "EXP": 1, "NEG": 1, "GELU": 1, "RSQRT": 1,
            "RELU_N1_TO_1": 1, "SQUARED_DIFFERENCE": 1, "BATCH_MATMUL": 1, "PADV2": 1, "PACK": 1, "UNPACK": 1, "EXPAND_DIMS": 1,
            "MIRROR_PAD": 1, "REVERSE_V2": 1, "TRANSPOSE_CONV": 4, "SPACE_TO_BATCH_ND": 1, "BATCH_TO_SPACE_ND": 1}  # of operators that LiteRT does not have as version 2
rng = np.random.default_rng(18)


class Tensor:
    """Of a model: an activation, or a constant with `data`."""

    def __init__(self, shape, scale=None, zero_point=0, data=None, dtype=np.int8):
        self.shape, self.data = list(shape), data
        self.dtype = np.dtype(data.dtype).type if data is not None else dtype
        self.scale = scale if scale is None or isinstance(scale, list) else [scale]
        self.zero_point = zero_point


def numbers(*values, shape=None):
    return Tensor([len(values)] if shape is None else shape, data=np.array(values, np.int32))


def model_of(operator, inputs, output, options=None):
    """The file's bytes. `options`: name of the table without "Options", and its fields."""
    model, graph, node, code = tfl.ModelT(), tfl.SubGraphT(), tfl.OperatorT(), tfl.OperatorCodeT()
    model.version = 3
    model.buffers = [tfl.BufferT()]
    graph.tensors = []
    for i, tensor in enumerate([*inputs, output]):
        t = tfl.TensorT()
        t.name, t.shape, t.type, t.buffer = f"t{i}", tensor.shape, TYPES[tensor.dtype], 0
        if tensor.scale is not None:
            t.quantization = tfl.QuantizationParametersT()
            t.quantization.scale = tensor.scale
            t.quantization.zeroPoint = [tensor.zero_point] * len(tensor.scale)
        if tensor.data is not None:
            t.buffer = len(model.buffers)
            buffer = tfl.BufferT()
            buffer.data = np.frombuffer(tensor.data.tobytes(), np.uint8)
            model.buffers.append(buffer)
        graph.tensors.append(t)
    code.builtinCode = getattr(tfl.BuiltinOperator, operator)
    code.deprecatedBuiltinCode = min(code.builtinCode, 127)
    code.version = VERSIONS.get(operator, 2)
    node.opcodeIndex, node.inputs, node.outputs = 0, list(range(len(inputs))), [len(inputs)]
    if options is not None:
        name, fields = options
        node.builtinOptionsType = getattr(tfl.BuiltinOptions, name + "Options")
        node.builtinOptions = getattr(tfl, name + "OptionsT")()
        for field, value in fields.items():
            setattr(node.builtinOptions, field, value)
    graph.operators = [node]
    graph.inputs = [i for i, t in enumerate(inputs) if t.data is None]
    graph.outputs = node.outputs
    model.operatorCodes, model.subgraphs = [code], [graph]
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def values(tensor):
    """Random stored values, ends of the range among them."""
    if tensor.dtype is np.float32:
        return rng.normal(0, 3, tensor.shape).astype(np.float32)
    info = np.iinfo(tensor.dtype)
    v = rng.integers(info.min, info.max + 1, tensor.shape).astype(tensor.dtype)
    ends = rng.integers(0, 12, tensor.shape)
    return np.where(ends == 0, info.min, np.where(ends == 1, info.max, v)).astype(tensor.dtype)


def text(array):
    return base64.b64encode(array if isinstance(array, bytes) else array.tobytes()).decode()


cases = []


def case(name, operator, inputs, output, options=None, given=None, resolver=OpResolverType.BUILTIN_REF):
    file = model_of(operator, inputs, output, options)
    interpreter = Interpreter(model_content=file, experimental_op_resolver_type=resolver)
    interpreter.allocate_tensors()
    fed = given if given is not None else [values(t) for t in inputs if t.data is None]
    for detail, v in zip(interpreter.get_input_details(), fed):
        interpreter.set_tensor(detail["index"], v)
    interpreter.invoke()
    result = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
    assert list(result.shape) == output.shape, (name, result.shape, output.shape)
    cases.append({"name": name, "model": text(file), "inputs": [text(v) for v in fed], "output": text(result)})


def network(name, file):
    """A case of a whole network with one input."""
    interpreter = Interpreter(model_content=file, experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
    interpreter.allocate_tensors()
    detail = interpreter.get_input_details()[0]
    fed = rng.integers(-128, 128, detail["shape"]).astype(np.int8)
    interpreter.set_tensor(detail["index"], fed)
    interpreter.invoke()
    result = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
    assert len(np.unique(result)) > 3, name
    cases.append({"name": "network " + name, "model": text(file), "inputs": [text(fed)], "output": text(result)})


def both_types(make):
    """Calls make(prefix, dtype, offset): offset is what zero points of the type stand above those of int8."""
    make("int8 ", np.int8, 0)
    make("uint8 ", np.uint8, 128)


def pairs(prefix, dtype, off):
    for kind in ("MINIMUM", "MAXIMUM"):
        for a, b in (([1, 3, 5, 7], [1, 3, 5, 7]), ([1, 3, 5, 7], [7]), ([1, 3, 1, 7], [1, 1, 5, 1]), ([1, 6], [6])):
            out = [max(x, y) for x, y in zip(a, [1] * (len(a) - len(b)) + b)]
            case(f"{prefix}{kind} {a} {b}", kind, [Tensor(t, 0.05, 3 + off, dtype=dtype) for t in (a, b)],
                 Tensor(out, 0.05, 3 + off, dtype=dtype), ("MaximumMinimum", {}))
    constant = Tensor([1, 1, 1, 7], 0.05, off)
    constant.dtype = dtype
    constant.data = values(constant)
    case(f"{prefix}MINIMUM constant", "MINIMUM", [Tensor([1, 2, 3, 7], 0.05, off, dtype=dtype), constant],
         Tensor([1, 2, 3, 7], 0.05, off, dtype=dtype), ("MaximumMinimum", {}))


def prelus(prefix, dtype, off):
    scales = ((0.05, 3, 0.01, 0, 0.04, -5), (0.02, -128, 0.0078125, 5, 0.03, -128), (0.1, 127, 0.02, -7, 0.013, 11),
              (0.3, 0, 0.004, 0, 0.3, 0), (0.004, 9, 0.03, 127, 0.9, 0))
    for s_in, z_in, s_slope, z_slope, s_out, z_out in scales:
        for shape in ([1, 1, 11], [3, 1, 11]) if s_in == 0.05 else ([1, 1, 11],):
            slope = Tensor(shape, s_slope, z_slope + off, dtype=dtype)
            slope.data = values(slope)
            case(f"{prefix}PRELU {s_in}/{z_in} {s_slope}/{z_slope} {s_out}/{z_out} {shape}", "PRELU",
                 [Tensor([1, 3, 7, 11], s_in, z_in + off, dtype=dtype), slope],
                 Tensor([1, 3, 7, 11], s_out, z_out + off, dtype=dtype))


def reductions(prefix, dtype, off):
    shape = [1, 5, 3, 7]
    for axes, keep in (([1], True), ([2], False), ([3], True), ([1, 3], False), ([-1, -3], True), ([0, 1, 2, 3], True),
                       ([1, 2], True)):
        dims = {a % 4 for a in axes}
        out = [1 if d in dims else s for d, s in enumerate(shape) if keep or d not in dims]
        for kind, s_out, z_out in (("MEAN", 0.03, 17), ("REDUCE_MAX", 0.05, -9)):
            case(f"{prefix}{kind} {axes}", kind,
                 [Tensor(shape, 0.05, -9 + off, dtype=dtype), numbers(*axes)],
                 Tensor(out, s_out, z_out + off, dtype=dtype), ("Reducer", {"keepDims": keep}))
    case(f"{prefix}MEAN of a row", "MEAN", [Tensor([1, 33], 0.05, off, dtype=dtype), numbers(1)],
         Tensor([1], 0.01, 3 + off, dtype=dtype), ("Reducer", {"keepDims": False}))


def orders():
    for shape, order in (([1, 9], [1, 0]), ([1, 4, 5], [0, 2, 1]), ([1, 4, 5], [2, 0, 1]), ([1, 3, 4, 5], [0, 3, 1, 2]),
                         ([1, 3, 4, 5], [0, 2, 3, 1]), ([1, 3, 4, 5], [0, 2, 1, 3]), ([1, 3, 4, 5], [0, 3, 2, 1])):
        out = [shape[d] for d in order]
        if len(out) > 1 and out[0] != 1:
            continue  # a batch, which the importer refuses
        case(f"TRANSPOSE {shape} {order}", "TRANSPOSE",
             [Tensor(shape, 0.05, 7), numbers(*order)], Tensor(out, 0.05, 7),
             ("Transpose", {}))
    for block, shape in ((2, [1, 3, 5, 12]), (3, [1, 2, 3, 18])):
        case(f"DEPTH_TO_SPACE {block}", "DEPTH_TO_SPACE", [Tensor(shape, 0.05, 7)],
             Tensor([1, shape[1] * block, shape[2] * block, shape[3] // block**2], 0.05, 7),
             ("DepthToSpace", {"blockSize": block}))
    for block, shape in ((2, [1, 4, 6, 5]), (3, [1, 6, 3, 4])):
        case(f"SPACE_TO_DEPTH {block}", "SPACE_TO_DEPTH", [Tensor(shape, 0.05, 7)],
             Tensor([1, shape[1] // block, shape[2] // block, shape[3] * block**2], 0.05, 7),
             ("SpaceToDepth", {"blockSize": block}))
    for shape, times in (([1, 2, 3, 5], [1, 3, 2, 2]), ([1, 7], [1, 4]), ([1, 3, 4], [1, 1, 3])):
        case(f"TILE {times}", "TILE", [Tensor(shape, 0.05, 7), numbers(*times)],
             Tensor([a * b for a, b in zip(shape, times)], 0.05, 7), ("Tile", {}))


def resizes(prefix, dtype, off):
    sizes = (((5, 7), (9, 11)), ((7, 5), (3, 4)), ((3, 3), (13, 6)), ((1, 4), (5, 1)))
    for kind, name, some in (("RESIZE_BILINEAR", "ResizeBilinear", sizes),
                             ("RESIZE_NEAREST_NEIGHBOR", "ResizeNearestNeighbor", sizes[:2])):
        for (h, w), (to_h, to_w) in some:
            for corners, half in ((False, False), (True, False), (False, True)):
                case(f"{prefix}{kind} {h}x{w} to {to_h}x{to_w} {'corners ' * corners}{'half' * half}", kind,
                     [Tensor([1, h, w, 3], 0.05, off, dtype=dtype), numbers(to_h, to_w)],
                     Tensor([1, to_h, to_w, 3], 0.05, off, dtype=dtype),
                     (name, {"alignCorners": corners, "halfPixelCenters": half}))


def float_ends(prefix, dtype, off):
    every = np.arange(256, dtype=np.uint8).view(np.uint8)
    every = every if dtype is np.uint8 else (every.astype(np.int16) - 128).astype(np.int8)
    for scale, zero in ((0.05, 3), (0.0123, -128)):
        case(f"{prefix}DEQUANTIZE {scale}", "DEQUANTIZE", [Tensor([1, 256], scale, zero + off, dtype=dtype)],
             Tensor([1, 256], dtype=np.float32), ("Dequantize", {}), [every.reshape(1, 256)])
    halves = np.arange(-40.5, 41, 1.0, dtype=np.float32)
    near = np.nextafter(halves, np.float32(0))
    far = np.array([1e6, -1e6, 127.5, -128.5, 255.5, 256.0, 0.0, -0.0, 1e-40], np.float32)
    for scale, zero in ((0.5, 0), (0.25, -7), (0.0123, 100)):
        v = np.concatenate([halves * np.float32(scale), near * np.float32(scale), far])
        case(f"{prefix}QUANTIZE {scale}", "QUANTIZE", [Tensor([1, len(v)], dtype=np.float32)],
             Tensor([1, len(v)], scale, zero + off, dtype=dtype), ("Quantize", {}), [v.reshape(1, -1)])


def between_the_rules(factor, count):
    """Accumulators that one rounding and two roundings bring to different integers."""
    fraction, exponent = math.frexp(factor)
    m = round(fraction * 2**31)
    found = []
    for acc in range(1, int(120 / factor)):
        high = (acc * m + 2**30) >> 31
        twice = (high + (1 << (-exponent - 1))) >> -exponent
        once = (acc * m + (1 << (30 - exponent))) >> (31 - exponent)
        if twice != once:
            found += [acc, -acc]
    return rng.permutation(found)[:count]


def layers(prefix, dtype, off):
    s_out = float(np.float32(0.0007))
    apart = between_the_rules(2**-18 / s_out, 24).astype(np.int32)
    zeros = Tensor([len(apart), 2], 2**-10, 121 if dtype is np.uint8 else 0, dtype=dtype)
    zeros.data = np.full(zeros.shape, zeros.zero_point, dtype)
    case(f"{prefix}FULLY_CONNECTED between the rules", "FULLY_CONNECTED",
         [Tensor([1, 2], 2**-8, off, dtype=dtype), zeros, Tensor([len(apart)], 2**-18, 0, data=apart)],
         Tensor([1, len(apart)], s_out, off, dtype=dtype), ("FullyConnected", {}))
    uint8 = dtype is np.uint8
    for depth, channels, s_out, act in ((16, 40, 0.11, 0), (40, 30, 0.31, 1), (33, 20, 0.021, 3)):
        weights = Tensor([channels, depth], 0.007, 121 if uint8 else 0, dtype=dtype)
        weights.data = values(weights)
        if not uint8:
            weights.data = np.maximum(weights.data, -127).astype(np.int8)
        bias = Tensor([channels], [0.02 * 0.007], 0, data=rng.integers(-9000, 9000, channels).astype(np.int32))
        case(f"{prefix}FULLY_CONNECTED {depth} {channels}", "FULLY_CONNECTED",
             [Tensor([1, depth], 0.02, 5 + off, dtype=dtype), weights, bias],
             Tensor([1, channels], s_out, -3 + off, dtype=dtype),
             ("FullyConnected", {"fusedActivationFunction": act}))
    kernel = Tensor([9, 3, 3, 4], 0.007, 131 if uint8 else 0, dtype=dtype)
    kernel.data = values(kernel)
    if not uint8:
        kernel.data = np.maximum(kernel.data, -127).astype(np.int8)
    bias = Tensor([9], [0.02 * 0.007], 0, data=rng.integers(-9000, 9000, 9).astype(np.int32))
    case(f"{prefix}CONV_2D", "CONV_2D", [Tensor([1, 6, 7, 4], 0.02, 5 + off, dtype=dtype), kernel, bias],
         Tensor([1, 6, 7, 9], 0.13, -3 + off, dtype=dtype),
         ("Conv2D", {"strideH": 1, "strideW": 1, "dilationHFactor": 1, "dilationWFactor": 1}))


def softmaxes(prefix, dtype, off):
    for scale, beta, depth in ((0.0625, 1.0, 3), (0.1, 1.0, 10), (0.01, 1.0, 100), (0.37, 2.0, 5), (17.0, 1.0, 7)):
        case(f"{prefix}SOFTMAX {scale} {beta} {depth}", "SOFTMAX",
             [Tensor([1, 8, 9, depth] if depth < 50 else [1, depth], scale, 3 + off, dtype=dtype)],
             Tensor([1, 8, 9, depth] if depth < 50 else [1, depth], 1 / 256, -128 + off, dtype=dtype),
             ("Softmax", {"beta": beta}))


def every_value(dtype):
    return np.arange(256).astype(np.uint8).reshape(1, 256) if dtype is np.uint8 else np.arange(-128, 128).astype(np.int8).reshape(1, 256)


def functions():
    scales = ((0.05, 3, 0.04, -5), (0.02, -128, 0.1, -128), (0.1, 127, 0.013, 11), (0.004, 0, 0.004, 0), (0.3, -128, 0.01, -128))
    for kind, options, dtypes in (("EXP", "Exp", [np.int8]), ("LOG", None, [np.int8]), ("SQRT", None, [np.int8]),
                                  ("RSQRT", None, [np.int8]), ("ABS", "Abs", [np.int8]), ("NEG", "Neg", [np.int8]),
                                  ("GELU", "Gelu", [np.int8, np.uint8]), ("RELU_N1_TO_1", None, [np.int8, np.uint8]),
                                  ("RELU", None, [np.int8, np.uint8]), ("RELU6", None, [np.int8, np.uint8])):
        for dtype in dtypes:
            off = 128 if dtype is np.uint8 else 0
            for s_in, z_in, s_out, z_out in scales:
                fed = every_value(dtype)
                if kind in ("LOG", "SQRT", "RSQRT"):  # elsewhere LiteRT reports an error
                    fed = np.maximum(fed, z_in + (1 if kind == "LOG" else 0)) if z_in < 127 else None
                if fed is None:
                    continue
                for approximate in (False, True) if kind == "GELU" else (None,):
                    fields = {} if approximate is None else {"approximate": approximate}
                    case(f"{dtype.__name__} {kind} {s_in}/{z_in} {s_out}/{z_out} {fields}", kind,
                         [Tensor([1, 256], s_in, z_in + off, dtype=dtype)], Tensor([1, 256], s_out, z_out + off, dtype=dtype),
                         (options, fields) if options else None, [fed.astype(dtype)])


def products():
    for s_a, z_a, s_b, z_b, s_out, z_out in ((0.05, 3, 0.04, -5, 0.2, -128), (0.02, -128, 0.3, 9, 1.1, -128), (0.1, 0, 0.1, 0, 0.04, 5)):
        for a, b in (([1, 3, 5, 7], [1, 3, 5, 7]), ([1, 6, 9], [1, 6, 1]), ([1, 3, 1, 7], [1, 1, 5, 1])):
            out = [max(x, y) for x, y in zip(a, b)]
            case(f"SQUARED_DIFFERENCE {s_a} {a} {b}", "SQUARED_DIFFERENCE", [Tensor(a, s_a, z_a), Tensor(b, s_b, z_b)],
                 Tensor(out, s_out, z_out), ("SquaredDifference", {}))
    for a, b, x, y in (([1, 3, 4, 9], [1, 3, 9, 6], False, False), ([1, 3, 4, 9], [1, 3, 6, 9], False, True),
                       ([1, 2, 9, 4], [1, 2, 9, 6], True, False), ([3, 4, 9], [1, 9, 6], False, False), ([1, 5, 1, 40], [1, 1, 40, 8], False, False)):
        m, n = a[-1 if x else -2], b[-2 if y else -1]
        batch = [max(p, q) for p, q in zip([1] * (len(b) - len(a)) + a[:-2], [1] * (len(a) - len(b)) + b[:-2])]
        for s_out, z_out in ((0.3, 3), (0.05, -20)):
            case(f"BATCH_MATMUL {a} {b} {x} {y} {s_out}", "BATCH_MATMUL", [Tensor([1, *a] if len(a) == 3 else a, 0.05, 7), Tensor(b, 0.04, -9)],
                 Tensor(([1] if len(a) == 3 else []) + batch + [m, n], s_out, z_out), ("BatchMatMul", {"adjX": x, "adjY": y}))


def sums(prefix, dtype, off):
    shape = [1, 5, 3, 7]
    for axes, keep in (([1], True), ([2], False), ([1, 2], False), ([-1], True)):
        dims = {a % 4 for a in axes}
        out = [1 if d in dims else s for d, s in enumerate(shape) if keep or d not in dims]
        if dtype is np.uint8:  # the kernel reads int8 as unsigned
            case(f"{prefix}SUM {axes}", "SUM", [Tensor(shape, 0.05, -9 + off, dtype=dtype), numbers(*axes)],
                 Tensor(out, 0.9, 17 + off, dtype=dtype), ("Reducer", {"keepDims": keep}))
        case(f"{prefix}REDUCE_MIN {axes}", "REDUCE_MIN", [Tensor(shape, 0.05, -9 + off, dtype=dtype), numbers(*axes)],
             Tensor(out, 0.05, -9 + off, dtype=dtype), ("Reducer", {"keepDims": keep}))
    for kind in ("ADD", "SUB", "MUL"):
        for a, b in (([1, 4, 1, 6], [1, 1, 5, 6]), ([1, 2, 3, 4, 5], [5]), ([1, 2, 3, 1, 5], [1, 1, 3, 4, 5])):
            out = [max(x, y) for x, y in zip(a, [1] * (len(a) - len(b)) + b)]
            case(f"{prefix}{kind} {a} {b}", kind, [Tensor(a, 0.05, 3 + off, dtype=dtype), Tensor(b, 0.03, -7 + off, dtype=dtype)],
                 Tensor(out, 0.06, 5 + off, dtype=dtype), (kind.capitalize(), {}))
    for rows, keep in (([1, 7, 16], True), ([1, 7, 16], False), ([1, 3, 5, 16], True)):
        weights = Tensor([10, 16], 0.007, off, dtype=dtype)
        weights.data = np.maximum(values(weights), 1 if dtype is np.uint8 else -127)
        bias = Tensor([10], [0.02 * 0.007], 0, data=rng.integers(-9000, 9000, 10).astype(np.int32))
        out = [*rows[:-1], 10] if keep else [math.prod(rows[:-1]), 10]
        case(f"{prefix}FULLY_CONNECTED {rows} {keep}", "FULLY_CONNECTED", [Tensor(rows, 0.02, 5 + off, dtype=dtype), weights, bias],
             Tensor(out, 0.11, -3 + off, dtype=dtype), ("FullyConnected", {"keepNumDims": keep}))


def norms():
    for z_in, depth in ((0, 3), (5, 10), (-128, 64), (100, 200)):
        case(f"L2_NORMALIZATION {z_in} {depth}", "L2_NORMALIZATION", [Tensor([1, 4, depth], 0.05, z_in)], Tensor([1, 4, depth], 1 / 128, 0),
             ("L2Norm", {}))


def more_moves(prefix, dtype, off):
    def t(*shape):
        return Tensor(list(shape), 0.05, 7 + off, dtype=dtype)
    for axis, positions, shape in ((2, [3, 0, 0], [3]), (1, [1], []), (-1, [5, 4, 3, 2], [2, 2])):
        at = axis % 4
        full = [1, 4, 5, 6]
        case(f"{prefix}GATHER {axis} {positions}", "GATHER", [t(*full), numbers(*positions, shape=shape)],
             t(*full[:at], *shape, *full[at + 1:]), ("Gather", {"axis": axis}))
    pads = numbers(0, 0, 1, 1, 0, 2, 1, 0, shape=[4, 2])
    for mode in (0, 1):
        case(f"{prefix}MIRROR_PAD {mode}", "MIRROR_PAD", [t(1, 4, 5, 6), pads], t(1, 6, 7, 7), ("MirrorPad", {"mode": mode}))
    for value in (7 + off, -100 + off):
        fill = Tensor([1], 0.05, 7 + off, data=np.array([value], dtype))
        case(f"{prefix}PADV2 {value}", "PADV2", [t(1, 4, 5, 6), pads, fill], t(1, 6, 7, 7), ("PadV2", {}))
    case(f"{prefix}PACK", "PACK", [t(1, 5, 6), t(1, 5, 6), t(1, 5, 6)], t(1, 5, 3, 6), ("Pack", {"valuesCount": 3, "axis": 2}))
    case(f"{prefix}UNPACK", "UNPACK", [t(1, 1, 5, 6)], t(1, 5, 6), ("Unpack", {"num": 1, "axis": 1}))
    case(f"{prefix}EXPAND_DIMS", "EXPAND_DIMS", [t(1, 4, 5, 6), numbers(2)], t(1, 4, 1, 5, 6), ("ExpandDims", {}))
    case(f"{prefix}BROADCAST_TO", "BROADCAST_TO", [t(1, 1, 5, 6), numbers(1, 4, 5, 6)], t(1, 4, 5, 6), ("BroadcastTo", {}))
    case(f"{prefix}REVERSE_V2", "REVERSE_V2", [t(1, 4, 5, 6), numbers(2)], t(1, 4, 5, 6), ("ReverseV2", {}))
    for begin, end, strides, masks, out in (
            ([0, 0, 0, 0], [1, 4, 5, 6], [1, 2, 2, 1], {}, [1, 2, 3, 6]),
            ([0, 3, 4, 0], [1, 0, 1, 6], [1, -1, -2, 1], {}, [1, 3, 2, 6]),
            ([0, -1, 0, 2], [1, 0, 0, 3], [1, 1, 1, 1], {"shrinkAxisMask": 10, "endMask": 4}, [1, 5]),
            ([0, 9, 0, 0], [0, 0, 0, 0], [1, -1, 1, 3], {"beginMask": 2, "endMask": 15}, [1, 4, 5, 2])):
        case(f"{prefix}STRIDED_SLICE {begin} {end} {strides} {masks}", "STRIDED_SLICE",
             [t(1, 4, 5, 6), numbers(*begin), numbers(*end), numbers(*strides)], t(*out), ("StridedSlice", masks))
    case(f"{prefix}TILE of rank 5", "TILE", [t(1, 2, 3, 2, 2), numbers(1, 1, 2, 1, 3)], t(1, 2, 6, 2, 6), ("Tile", {}))
    case(f"{prefix}TRANSPOSE of rank 5", "TRANSPOSE", [t(1, 2, 3, 4, 5), numbers(0, 3, 1, 4, 2)], t(1, 4, 2, 5, 3), ("Transpose", {}))


def transposed_convolutions(prefix, dtype, off):
    for same, (kh, kw), (sh, sw), (h, w), fused in ((True, (3, 3), (2, 2), (5, 4), 0), (True, (4, 4), (2, 2), (5, 4), 1), (False, (2, 2), (2, 2), (3, 5), 3),
                                                    (False, (3, 5), (2, 3), (4, 3), 0), (True, (1, 3), (2, 1), (3, 4), 0), (True, (8, 8), (4, 4), (3, 2), 0)):
        out = [1, h * sh if same else (h - 1) * sh + kh, w * sw if same else (w - 1) * sw + kw, 5]
        scale = [0.01] if off else [0.01, 0.02, 0.005, 0.011, 0.007]
        kernel = Tensor([5, kh, kw, 3], scale, 7 + off if off else 0, dtype=dtype)
        kernel.data = values(kernel)
        bias = Tensor([5], [0.05 * s for s in scale], 0, data=rng.integers(-20000, 20000, 5).astype(np.int32))
        case(f"{prefix}TRANSPOSE_CONV {kh}x{kw} by {sh}x{sw} {'same' * same} {fused}", "TRANSPOSE_CONV",
             [numbers(*out), kernel, Tensor([1, h, w, 3], 0.05, -9 + off, dtype=dtype), bias], Tensor(out, 0.9, 11 + off, dtype=dtype),
             ("TransposeConv", {"padding": 0 if same else 1, "strideH": sh, "strideW": sw, "fusedActivationFunction": fused}))


def batches(prefix, dtype, off):
    def t(*shape):
        return Tensor(list(shape), 0.05, 7 + off, dtype=dtype)
    case(f"{prefix}SPACE_TO_BATCH_ND", "SPACE_TO_BATCH_ND", [t(1, 4, 5, 3), numbers(2, 3), numbers(1, 1, 0, 4, shape=[2, 2])], t(6, 3, 3, 3),
         ("SpaceToBatchND", {}))
    case(f"{prefix}LOG_SOFTMAX", "LOG_SOFTMAX", [Tensor([1, 4, 9, 21], 0.11, -9 + off, dtype=dtype)],
         Tensor([1, 4, 9, 21], 1 / 16, 127 + off, dtype=dtype), ("LogSoftmax", {}))
    case(f"{prefix}L2_NORMALIZATION of lines", "L2_NORMALIZATION", [t(1, 12, 10, 17)], Tensor([1, 12, 10, 17], 1 / 128, off, dtype=dtype), ("L2Norm", {}))
    positions = Tensor([1, 4, 5], dtype=np.int32)
    case(f"{prefix}ARG_MIN", "ARG_MIN", [t(1, 4, 5, 6), numbers(3)], positions, ("ArgMin", {"outputType": TYPES[np.int32]}))


def more_functions():
    for scale, zero, out, out_zero in ((0.05, -20, 0.03, 5), (0.01, -128, 0.02, -7), (0.02, 127, 0.004, 100)):
        x, y = Tensor([1, 256], scale, zero), Tensor([1, 256], out, out_zero)
        every = [np.arange(-128, 128).astype(np.int8).reshape(1, 256)]
        # LiteRT's reference kernels have no ELU; the others look it up in a table.
        case(f"ELU {scale} {zero}", "ELU", [x], y, given=every, resolver=OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES)
        case(f"LOG {scale} {zero} of negative values too", "LOG", [x], y, given=every)


if __name__ == "__main__":
    for group in (pairs, prelus, reductions, resizes, float_ends, layers, softmaxes):
        both_types(group)
    orders()
    functions()
    products()
    norms()
    both_types(sums)
    both_types(more_moves)
    network("vision transformer", network_models.vision_transformer())
    both_types(transposed_convolutions)
    both_types(batches)
    more_functions()
    OUT.write_text("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")
    print(f"{len(cases)} cases, {OUT.stat().st_size} bytes")
