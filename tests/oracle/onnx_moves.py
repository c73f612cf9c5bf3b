# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Further operators of the random ONNX models (onnx_models.py): makers of the same form, each from a builder, a layer, its operands and
random numbers to a tensor. Tensors of two to six dimensions, lines, and functions that are computed in float32 (QDQ graphs alone)."""
import math

import numpy as np
from tflite_models import RANGE, Value, out_size
from tflite_moves import deeper_shape, need, scale_for, single_dimension, turned_order

FUNCTIONS = {"Abs": {}, "Neg": {}, "Exp": {}, "Erf": {}, "Elu": {"alpha": 0.7}, "Selu": {}, "Celu": {"alpha": 1.3}, "Softplus": {}, "Softsign": {},
             "ThresholdedRelu": {"alpha": 0.2}, "Ceil": {}, "Floor": {}, "Round": {}, "Sign": {}}


def integers(b, numbers):
    return b.constant(np.array(numbers, np.int64))


def real_constant(b, random, shape, low=-2, high=2):
    """The float32 name of a quantised constant."""
    lowest, highest = RANGE[b.kind]
    data = random.integers(lowest, highest + 1, shape).astype(b.kind)
    return b.node("DequantizeLinear", [b.constant(data), *b.parameters(2.0 ** random.uniform(low, high) / 128, random.integers(lowest, highest + 1))])


def moved(b, x, op, inputs, shape, **attributes):
    """What moves values only: in QDQ graphs between a pair, else on stored values."""
    if not b.qdq:
        return Value(b.node(op, [x.index, *inputs], **attributes), shape, b.kind, x.scale, x.zero)
    return b.quantised(b.node(op, [b.real(x), *inputs], **attributes), shape, x.scale, x.zero)


def result(b, layer, name, shape, typical):
    return b.quantised(name, shape, scale_for(layer, typical), layer["zero"])


def function(b, layer, xs, random):
    x, op = xs[0], layer["op"]
    need(b.qdq)
    return result(b, layer, b.node(op, [b.real(x)], **FUNCTIONS[op]), x.shape, 1 if op in ("Erf", "Softsign", "Sign") else 74 * x.scale)


def chain(b, layer, xs, random):
    """A function of single values written as a chain of float32 operators with numbers between one pair."""
    x = xs[0]
    need(b.qdq)
    name = b.real(x)
    for _ in range(1 + layer["which"]):
        op = str(random.choice(["Add", "Mul", "Sub", "Div", "Sigmoid", "Tanh", "Relu", "Abs", "Max", "Min"]))
        number = b.constant(np.float32(random.uniform(0.2, 3)))
        name = b.node(op, [name, number] if op in ("Add", "Mul", "Sub", "Div", "Max", "Min") else [name])
    return result(b, layer, name, x.shape, 74 * max(x.scale, 1 / 74))


def normalised(b, layer, xs, random):
    """LayerNormalization over the last axis, InstanceNormalization and BatchNormalization over channels."""
    x, op = xs[0], layer["op"]
    need(b.qdq and len(x.shape) > 2 and x.shape[-1] > 1 and int(np.prod(x.shape[2:])) > 1)
    channels = x.shape[-1] if op == "LayerNormalization" else x.shape[1]
    inputs = [b.real(x), *(b.constant(random.uniform(0.5, 2, channels).astype(np.float32)) for _ in range(2))]
    # Where all values are alike, what is left of them is the interpreter's rounding, divided by the root of epsilon: not small here.
    attributes = {"epsilon": (30 * x.scale) ** 2, **({"axis": -1} if op == "LayerNormalization" else {})}
    if op == "BatchNormalization":
        inputs += [b.constant(random.uniform(-1, 1, channels).astype(np.float32)), b.constant(random.uniform(0.5, 2, channels).astype(np.float32))]
    return result(b, layer, b.node(op, inputs, **attributes), x.shape, 74 * x.scale if op == "BatchNormalization" else 1)


def line(b, layer, xs, random):
    """Conv1d over [1, channels, cells]."""
    x = xs[0]
    need(len(x.shape) == 3)
    _, c, n = x.shape
    k, s, d, groups, channels = layer["kernel"][0], layer["stride"][0], layer["dilation"][0], layer["groups"], layer["channels"]
    need(c % groups == 0 and channels % groups == 0)
    before, behind = (min(v, (k - 1) * d) for v in layer["around"][0])
    shape = [1, channels, out_size(n + before + behind, k, s, d, False)]
    scale = np.float32(2.0 ** random.uniform(-9, -5))
    zero = np.int8(0)
    data = random.integers(-127, 128, [channels, c // groups, k]).astype(np.int8)
    attributes = {"kernel_shape": [k], "strides": [s], "dilations": [d], "group": groups, "pads": [before, behind]}
    fan_in = k * c // groups
    limit = int(74 * 74 * math.sqrt(fan_in))
    bias = random.integers(-limit, limit + 1, channels).astype(np.int32)
    typical = x.scale * float(scale) * 74 * 74 * math.sqrt(fan_in)
    weights, step = [b.constant(data), *b.parameters(scale, zero, "int8")], scale * np.float32(x.scale)
    if not b.qdq:
        need(b.kind == "int8")
        to, offset = scale_for(layer, typical), layer["zero"]
        made = b.node("QLinearConv", [x.index, *b.parameters(x.scale, x.zero), *weights, *b.parameters(to, offset), b.constant(bias)], **attributes)
        return Value(made, shape, b.kind, to, offset)
    inputs = [b.real(x), b.node("DequantizeLinear", weights)]
    if layer["bias"]:
        inputs.append(b.node("DequantizeLinear", [b.constant(bias), b.constant(step), b.constant(np.int32(0))]))
    return result(b, layer, b.node("Conv", inputs, **attributes), shape, typical)


def line_pool(b, layer, xs, random):
    x = xs[0]
    need(b.qdq and len(x.shape) == 3)
    k, s = layer["kernel"][0], layer["stride"][0]
    shape = [*x.shape[:2], out_size(x.shape[2], k, s, 1, False)]
    op = "MaxPool" if layer["op"] == "MaxPool1" else "AveragePool"
    return b.quantised(b.node(op, [b.real(x)], kernel_shape=[k], strides=[s]), shape, x.scale, x.zero)


def transposed_conv(b, layer, xs, random):
    x = xs[0]
    need(b.qdq and len(x.shape) == 4)
    _, c, h, w = x.shape
    k, s, channels = layer["kernel"], layer["stride"], layer["channels"]
    shape = [1, channels, (h - 1) * s[0] + k[0], (w - 1) * s[1] + k[1]]
    need(min(k) > 0 and shape[2] <= 64 and shape[3] <= 64)
    scale = np.float32(2.0 ** random.uniform(-9, -5))
    data = random.integers(-127, 128, [c, channels, *k]).astype(np.int8)
    weight = b.node("DequantizeLinear", [b.constant(data), *b.parameters(scale, np.int8(0), "int8")])
    typical = x.scale * float(scale) * 74 * 74 * math.sqrt(k[0] * k[1] * c / (s[0] * s[1]))
    return result(b, layer, b.node("ConvTranspose", [b.real(x), weight], kernel_shape=k, strides=s), shape, typical)


def product(b, layer, xs, random):
    """MatMul of two activations: a tensor and itself, turned."""
    x = xs[0]
    need(len(x.shape) > 2 and x.shape[-1] <= 128 and x.shape[-2] <= 128)
    perm = [*range(len(x.shape) - 2), len(x.shape) - 1, len(x.shape) - 2]
    turned = moved(b, x, "Transpose", [], [x.shape[i] for i in perm], perm=perm)
    shape, typical = [*x.shape[:-1], x.shape[-2]], (74 * x.scale) ** 2 * math.sqrt(x.shape[-1])
    if b.qdq:
        return result(b, layer, b.node("MatMul", [b.real(x), b.real(turned)]), shape, typical)
    pair = [i for v in (x, turned) for i in (v.index, *b.parameters(v.scale, v.zero))]
    scale = scale_for(layer, typical)
    return Value(b.node("QLinearMatMul", [*pair, *b.parameters(scale, layer["zero"])]), shape, b.kind, scale, layer["zero"])


def quotient(b, layer, xs, random):
    """Div, Max, Min, Pow beside another tensor of the shape or a constant."""
    x, op = xs[0], layer["op"]
    need(b.qdq)
    if op == "Pow":
        return result(b, layer, b.node("Pow", [b.real(x), b.constant(np.float32(2))]), x.shape, (74 * x.scale) ** 2)
    if op == "Div":
        return result(b, layer, b.node("Div", [b.real(x), b.constant(np.float32(random.uniform(0.3, 9)))]), x.shape, 74 * x.scale)
    same = len(xs) > 1 and xs[1].shape == x.shape and layer["other"] == "tensor"
    other = b.real(xs[1]) if same else real_constant(b, random, x.shape if layer["of"] == "all" else [])
    return result(b, layer, b.node(op, [b.real(x), other]), x.shape, 74 * x.scale)


def reduced(b, layer, xs, random):
    x, op = xs[0], layer["op"]
    need(b.qdq and len(x.shape) > 1)
    axes = sorted({a % len(x.shape) for a in layer["axes"]} - {0})
    keep = layer["keep"]
    need(axes and (keep or len(axes) < len(x.shape) - 1))
    shape = [1 if i in axes else n for i, n in enumerate(x.shape) if keep or i not in axes]
    if op == "ReduceSum":
        name = b.node(op, [b.real(x), integers(b, axes)], keepdims=int(keep))
    else:
        name = b.node(op, [b.real(x)], axes=axes, keepdims=int(keep))
    count = math.prod(x.shape[i] for i in axes)
    return result(b, layer, name, shape, 74 * x.scale * (math.sqrt(count) if op == "ReduceSum" else 1))


def deeper(b, layer, xs, random):
    shape = deeper_shape(layer, xs[0].shape)
    return moved(b, xs[0], "Reshape", [integers(b, shape)], shape)


def turned(b, layer, xs, random):
    """Transpose of any rank"""
    x = xs[0]
    perm = turned_order(layer, len(x.shape), random)
    return moved(b, x, "Transpose", [], [x.shape[i] for i in perm], perm=perm)


def gathered(b, layer, xs, random):
    """Gather of one position, which drops the dimension, or of several."""
    x = xs[0]
    rank = len(x.shape)
    axis = 1 + layer["which"] % max(rank - 1, 1)
    need(rank > 1)
    if layer["keep"] and rank > 2:
        return moved(b, x, "Gather", [integers(b, int(random.integers(x.shape[axis])))], [*x.shape[:axis], *x.shape[axis + 1:]], axis=axis)
    positions = random.integers(-x.shape[axis], x.shape[axis], int(random.integers(1, 6)))
    return moved(b, x, "Gather", [integers(b, positions)], [*x.shape[:axis], len(positions), *x.shape[axis + 1:]], axis=axis)


def single_dimensions(b, layer, xs, random):
    """Squeeze, Unsqueeze"""
    goes, axis, shape = single_dimension(layer, xs[0].shape)
    return moved(b, xs[0], "Squeeze" if goes else "Unsqueeze", [integers(b, [axis])], shape)


def blocks(b, layer, xs, random):
    x, s = xs[0], layer["block"]
    need(len(x.shape) == 4)
    n, c, h, w = x.shape
    if layer["op"] == "DepthToSpace":
        need(c % (s * s) == 0)
        return moved(b, x, "DepthToSpace", [], [n, c // (s * s), h * s, w * s], blocksize=s, mode="CRD" if layer["keep"] else "DCR")
    need(h % s == 0 and w % s == 0)
    return moved(b, x, "SpaceToDepth", [], [n, c * s * s, h // s, w // s], blocksize=s)


def repeated(b, layer, xs, random):
    x = xs[0]
    times = [1, *(int(n) for n in random.integers(1, 3, len(x.shape) - 1))]
    if layer["op"] == "Tile":
        return moved(b, x, "Tile", [integers(b, times)], [n * m for n, m in zip(x.shape, times)])
    shape = [x.shape[0], *(n if n > 1 else m for n, m in zip(x.shape[1:], times[1:]))]
    return moved(b, x, "Expand", [integers(b, shape)], shape)


def mirrored(b, layer, xs, random):
    x = xs[0]
    need(len(x.shape) == 4 and (b.qdq or b.kind == "int8"))
    (t, bottom), (left, r) = [[min(a, n - 1) for a in pads] for pads, n in zip(layer["around"], x.shape[2:])]
    mode = "reflect" if layer["keep"] else "edge"
    return moved(b, x, "Pad", [integers(b, [0, 0, t, left, 0, 0, bottom, r])], [*x.shape[:2], x.shape[2] + t + bottom, x.shape[3] + left + r], mode=mode)


def prelu(b, layer, xs, random):
    x = xs[0]
    need(b.qdq and len(x.shape) > 1)
    slope = real_constant(b, random, [x.shape[1], *[1] * (len(x.shape) - 2)], -4, 0)
    return result(b, layer, b.node("PRelu", [b.real(x), slope]), x.shape, 74 * x.scale)


def softmax_inside(b, layer, xs, random):
    x = xs[0]
    low, _ = RANGE[b.kind]
    need(len(x.shape) > 1)
    if b.qdq:
        return b.quantised(b.node("Softmax", [b.real(x)], axis=-1), x.shape, 1 / 256, low)
    axis = layer["axis"] % len(x.shape)
    made = b.node("QLinearSoftmax", [x.index, *b.parameters(x.scale, x.zero), *b.parameters(1 / 256, low)], domain="com.microsoft", axis=axis, opset=OPSET)
    return Value(made, x.shape, b.kind, 1 / 256, low)


OPSET = 17
MAKERS = {**{op: function for op in FUNCTIONS}, "Chain": chain, "LayerNormalization": normalised, "InstanceNormalization": normalised,
          "BatchNormalization": normalised, "Conv1": line, "MaxPool1": line_pool, "AveragePool1": line_pool, "ConvTranspose": transposed_conv,
          "Product": product, "Div": quotient, "Pow": quotient, "Max": quotient, "Min": quotient, "ReduceMean": reduced, "ReduceMax": reduced,
          "ReduceMin": reduced, "ReduceSum": reduced, "Deeper": deeper, "Turned": turned, "Gather": gathered, "Unsqueeze": single_dimensions,
          "DepthToSpace": blocks, "SpaceToDepth": blocks, "Tile": repeated, "Expand": repeated, "Mirrored": mirrored, "PRelu": prelu,
          "SoftmaxInside": softmax_inside}
