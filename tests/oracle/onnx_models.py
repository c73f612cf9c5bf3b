# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Random quantised ONNX models, QDQ and QOperator. Recipes as in tflite_models.py, with `style`: "qdq" or "qoperator"; maps are NCHW.
The input is quantised: its first user is DequantizeLinear or a QLinear operator."""
import math
import platform

import numpy as np
import onnx
import onnx_moves
from onnx import TensorProto, helper, numpy_helper
from onnx_moves import moved

from tflite_models import RANGE, Value, draw_shape, further_inputs, input_of, inputs_of, layer_behind, out_size, simpler, spreads_over  # noqa: F401 (simpler and input_of are part of this module)
from tflite_moves import need, scale_for

OPSET = onnx_moves.OPSET


def adds_exactly():
    """Whether onnxruntime's QOperator kernels add products of uint8 by int8 exactly here: on x86-64 without VNNI two of them at a time
    saturate in 16 bits."""
    if platform.machine() != "x86_64":
        return True
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        return "vnni" in f.read()


EXACT = adds_exactly()
ELEMENT = {"int8": TensorProto.INT8, "uint8": TensorProto.UINT8, "float32": TensorProto.FLOAT, "int64": TensorProto.INT64}


class Builder:
    def __init__(self, recipe):
        self.kind, self.qdq = recipe["type"], recipe["style"] == "qdq"
        self.nodes, self.constants, self.names = [], [], 0

    def name(self, prefix):
        self.names += 1
        return f"{prefix}{self.names}"

    def constant(self, data):
        name = self.name("c")
        self.constants.append(numpy_helper.from_array(np.array(data, order="C"), name))
        return name

    def node(self, op, inputs, outputs=1, domain="", **attributes):
        outs = [self.name("t") for _ in range(outputs)]
        self.nodes.append(helper.make_node(op, inputs, outs, name=self.name("n"), domain=domain, **attributes))
        return outs if outputs > 1 else outs[0]

    def parameters(self, scale, zero, kind=None):
        scale, zero = np.asarray(scale, np.float32), np.asarray(zero, np.dtype(kind or self.kind))
        need(bool(np.all((scale > 1e-20) & (scale < 1e20))))
        return [self.constant(scale), self.constant(zero)]

    def real(self, x):
        """The float32 name of a quantised value."""
        return self.node("DequantizeLinear", [x.index, *self.parameters(x.scale, x.zero)])

    def quantised(self, name, shape, scale, zero):
        return Value(self.node("QuantizeLinear", [name, *self.parameters(scale, zero)]), shape, self.kind, scale, zero)


def weights_of(b, layer, random, shape, fan_in, channels, x, axis=0):
    """(weight name, scale and zero point names, scales, bias, typical result)."""
    kind = layer["weights"]
    need(EXACT or b.qdq or b.kind != "uint8" or kind != "int8")
    per_channel = layer["per_channel"] and kind == "int8"
    scales = (np.float32(2.0) ** random.uniform(-9, -5, channels if per_channel else 1)).astype(np.float32)
    zero = int(random.integers(60, 196)) if kind == "uint8" and layer["weight_zero"] else 128 if kind == "uint8" else 0
    low = 0 if kind == "uint8" else -127
    data = random.integers(low, low + 255, shape).astype(kind)
    if not per_channel:
        scales = scales[0]
    parameters = b.parameters(scales, np.full_like(scales, zero), kind)
    limit = int(74 * 74 * math.sqrt(fan_in))
    bias = random.integers(-limit, limit + 1, channels).astype(np.int32) if layer["bias"] else None
    typical = x.scale * float(np.mean(scales)) * 74 * 74 * math.sqrt(fan_in)
    return b.constant(data), parameters, np.asarray(scales) * np.float32(x.scale), bias, typical, per_channel


def clipped(b, layer, name):
    if layer["activation"] == "relu":
        return b.node("Relu", [name])
    if layer["activation"] == "relu6":
        return b.node("Clip", [name, b.constant(np.float32(0)), b.constant(np.float32(6))])
    return name


def conv(b, layer, xs, random):
    x = xs[0]
    need(len(x.shape) == 4)
    n, c, h, w = x.shape
    k, s, d = layer["kernel"], layer["stride"], layer["dilation"]
    groups = c if layer["op"] == "Depthwise" else layer["groups"]
    channels = c * layer["multiplier"] if layer["op"] == "Depthwise" else layer["channels"]
    need(c % groups == 0 and channels % groups == 0)
    if layer["same"]:
        pads, attributes = None, {"auto_pad": "SAME_UPPER"}
        shape = [n, channels, out_size(h, k[0], s[0], d[0], True), out_size(w, k[1], s[1], d[1], True)]
        need(d == [1, 1])
    else:
        (t, bottom), (left, r) = layer["around"]
        t, bottom, left, r = (min(v, (z - 1) * q) for v, z, q in ((t, k[0], d[0]), (bottom, k[0], d[0]), (left, k[1], d[1]), (r, k[1], d[1])))
        pads = [t, left, bottom, r]
        attributes = {"pads": pads}
        shape = [n, channels, out_size(h + t + bottom, k[0], s[0], d[0], False), out_size(w + left + r, k[1], s[1], d[1], False)]
    attributes |= {"kernel_shape": k, "strides": s, "dilations": d, "group": groups}
    fan_in = k[0] * k[1] * c // groups
    weight, parameters, steps, bias, typical, per_channel = weights_of(b, layer, random, [channels, c // groups, *k], fan_in, channels, x)
    scale = scale_for(layer, typical)
    if not b.qdq:
        inputs = [x.index, *b.parameters(x.scale, x.zero), weight, *parameters, *b.parameters(scale, layer["zero"])]
        if bias is not None:
            inputs.append(b.constant(bias))
        return Value(b.node("QLinearConv", inputs, **attributes), shape, b.kind, scale, layer["zero"])
    real_weight = b.node("DequantizeLinear", [weight, *parameters], **({"axis": 0} if per_channel else {}))
    inputs = [b.real(x), real_weight]
    if bias is not None:
        zero = b.constant(np.zeros(steps.shape, np.int32))
        inputs.append(b.node("DequantizeLinear", [b.constant(bias), b.constant(steps.astype(np.float32)), zero], **({"axis": 0} if per_channel else {})))
    return b.quantised(clipped(b, layer, b.node("Conv", inputs, **attributes)), shape, scale, layer["zero"])


def dense(b, layer, xs, random):
    x = xs[0]
    need((len(x.shape) == 2 or (len(x.shape) == 3 and layer["op"] == "MatMul")) and x.shape[-1] <= 600)
    c, channels = x.shape[-1], layer["channels"]
    transposed = layer["op"] == "Gemm" and layer["swap"]
    layer = {**layer, "per_channel": layer["per_channel"] and b.qdq and layer["op"] == "Gemm" and transposed}
    shape = [channels, c] if transposed else [c, channels]
    weight, parameters, steps, bias, typical, per_channel = weights_of(b, layer, random, shape, c, channels, x)
    scale = scale_for(layer, typical)
    if not b.qdq:
        if layer["op"] == "MatMul":
            made = b.node("QLinearMatMul", [x.index, *b.parameters(x.scale, x.zero), weight, *parameters, *b.parameters(scale, layer["zero"])])
        else:
            inputs = [x.index, *b.parameters(x.scale, x.zero), weight, *parameters, b.constant(bias) if bias is not None else "",
                      *b.parameters(scale, layer["zero"])]
            made = b.node("QGemm", inputs, domain="com.microsoft", transB=int(transposed))
        return Value(made, [*x.shape[:-1], channels], b.kind, scale, layer["zero"])
    inputs = [b.real(x), b.node("DequantizeLinear", [weight, *parameters], **({"axis": 0} if per_channel else {}))]
    if layer["op"] == "Gemm" and bias is not None:
        inputs.append(b.node("DequantizeLinear", [b.constant(bias), b.constant(steps.astype(np.float32)), b.constant(np.zeros(steps.shape, np.int32))],
                             **({"axis": 0} if per_channel else {})))
    made = b.node(layer["op"], inputs, **({"transB": 1} if transposed else {}))
    return b.quantised(clipped(b, layer, made), [*x.shape[:-1], channels], scale, layer["zero"])


def pool(b, layer, xs, random):
    x = xs[0]
    need(len(x.shape) == 4)
    n, c, h, w = x.shape
    k, s = layer["kernel"], layer["stride"]
    (t, bottom), (left, r) = layer["around"] if min(k) > 1 else ((0, 0), (0, 0))
    pads = [min(t, k[0] - 1), min(left, k[1] - 1), min(bottom, k[0] - 1), min(r, k[1] - 1)]
    d = layer["dilation"] if layer["op"] == "MaxPool" else [1, 1]
    if layer["swap"] and layer["keep"]:  # over the whole map
        k, pads, d = [h, w], [0, 0, 0, 0], [1, 1]
    shape = [n, c, out_size(h + pads[0] + pads[2], k[0], s[0], d[0], False), out_size(w + pads[1] + pads[3], k[1], s[1], d[1], False)]
    attributes = {"kernel_shape": k, "strides": s, "pads": pads}
    if layer["op"] == "MaxPool":
        attributes["dilations"] = d
    if layer["op"] == "AveragePool":
        attributes["count_include_pad"] = int(layer["keep"])
    rescaled = layer["rescale"] and layer["op"] == "AveragePool"
    scale, zero = (x.scale * 2 ** (layer["spread"] / 2), layer["zero"]) if rescaled else (x.scale, x.zero)
    if not b.qdq and layer["op"] == "AveragePool":
        made = b.node("QLinearAveragePool", [x.index, *b.parameters(x.scale, x.zero), *b.parameters(scale, zero)], domain="com.microsoft", **attributes)
        return Value(made, shape, b.kind, scale, zero)
    if not b.qdq:
        return Value(b.node("MaxPool", [x.index], **attributes), shape, b.kind, scale, zero)
    return b.quantised(b.node(layer["op"], [b.real(x)], **attributes), shape, scale, zero)


def global_pool(b, layer, xs, random):
    x = xs[0]
    need(len(x.shape) == 4)
    shape = [*x.shape[:2], 1, 1]
    scale, zero = (x.scale * 2 ** (layer["spread"] / 2), layer["zero"]) if layer["rescale"] else (x.scale, x.zero)
    if not b.qdq:
        made = b.node("QLinearGlobalAveragePool", [x.index, *b.parameters(x.scale, x.zero), *b.parameters(scale, zero)], domain="com.microsoft")
        return Value(made, shape, b.kind, scale, zero)
    name = b.node("ReduceMean", [b.real(x)], axes=[2, 3]) if layer["swap"] else b.node("GlobalAveragePool", [b.real(x)])
    return b.quantised(name, shape, scale, zero)


def pair(b, layer, xs, random):
    x, op = xs[0], layer["op"]
    need(b.qdq or op != "Sub")
    constant = layer["other"] == "constant" or len(xs) < 2 or not spreads_over(xs[1].shape, x.shape)
    if constant:
        shape = {"all": x.shape, "channels": [1, x.shape[1], *[1] * (len(x.shape) - 2)], "one": []}[layer["of"]]
        low, high = RANGE[b.kind]
        data = random.integers(low, high + 1, shape).astype(b.kind)
        z = Value(b.constant(data), shape, b.kind, x.scale * 2.0 ** random.uniform(-2, 2), int(random.integers(low, high + 1)))
    else:
        z = xs[1]
    typical = x.scale * z.scale * 74 * 74 if op == "Mul" else 74 * math.hypot(x.scale, z.scale)
    scale = scale_for(layer, typical)
    order = [z, x] if layer["swap"] else [x, z]
    if not b.qdq:
        made = b.node("QLinear" + op, [i for v in order for i in (v.index, *b.parameters(v.scale, v.zero))] + b.parameters(scale, layer["zero"]),
                      domain="com.microsoft")
        return Value(made, x.shape, b.kind, scale, layer["zero"])
    return b.quantised(clipped(b, layer, b.node(op, [b.real(v) for v in order])), x.shape, scale, layer["zero"])


def concat(b, layer, xs, random):
    axis = layer["axis"] % len(xs[0].shape)

    def rest(v):
        return v.shape[:axis] + v.shape[axis + 1:]
    inputs = [v for v in xs if len(v.shape) == len(xs[0].shape) and rest(v) == rest(xs[0])]
    inputs = inputs if len(inputs) > 1 else inputs * 2
    shape = list(xs[0].shape)
    shape[axis] = sum(v.shape[axis] for v in inputs)
    scale, zero = max(v.scale for v in inputs), layer["zero"] if layer["rescale"] else xs[0].zero
    if not b.qdq:
        made = b.node("QLinearConcat", b.parameters(scale, zero) + [i for v in inputs for i in (v.index, *b.parameters(v.scale, v.zero))],
                      domain="com.microsoft", axis=axis)
        return Value(made, shape, b.kind, scale, zero)
    return b.quantised(b.node("Concat", [b.real(v) for v in inputs], axis=axis), shape, scale, zero)


UNIT = {"Sigmoid": (1 / 256, 0), "HardSigmoid": (1 / 256, 0), "Tanh": (1 / 128, 128)}


def single(b, layer, xs, random):
    x, op = xs[0], layer["op"]
    if op in UNIT:
        scale, zero = UNIT[op]
        zero -= 128 if b.kind == "int8" else 0
    else:
        scale, zero = scale_for(layer, 74 * x.scale), layer["zero"]
    attributes = {"LeakyRelu": {"alpha": layer["alpha"]}, "HardSigmoid": {"alpha": 1 / 6, "beta": 0.5}}.get(op, {})
    if not b.qdq:
        need(op in ("LeakyRelu", "Sigmoid"))
        made = b.node("QLinear" + op, [x.index, *b.parameters(x.scale, x.zero), *b.parameters(scale, zero)], domain="com.microsoft", **attributes)
        return Value(made, x.shape, b.kind, scale, zero)
    inputs = [b.real(x)]
    if op == "Clip":
        inputs += [b.constant(np.float32(-40 * x.scale)), b.constant(np.float32(30 * x.scale))]
    return b.quantised(b.node(op, inputs, **attributes), x.shape, scale, zero)


def softmax(b, layer, xs, random):
    """At the end only, and in float32: its bits after quantising are nobody's."""
    x = xs[0]
    need(b.qdq)
    return Value(b.node("Softmax", [b.real(x)], axis=-1), x.shape, "float32", 1, 0)


def global_max(b, layer, xs, random):
    x = xs[0]
    need(b.qdq and len(x.shape) == 4)
    return b.quantised(b.node("GlobalMaxPool", [b.real(x)]), [*x.shape[:2], 1, 1], x.scale, x.zero)


def arg_max(b, layer, xs, random):
    x = xs[0]
    axis = layer["axis"] % len(x.shape)
    need(axis > 0)
    made = b.node("ArgMax", [b.real(x) if b.qdq else x.index], axis=axis, keepdims=int(layer["keep"]), select_last_index=int(layer["swap"]))
    return Value(made, [1 if i == axis else n for i, n in enumerate(x.shape) if i != axis or layer["keep"]], "int64", 1, 0)


def split(b, layer, xs, random):
    x = xs[0]
    axis, parts = layer["axis"] % len(x.shape), layer["parts"]
    need(axis > 0 and x.shape[axis] % parts == 0)
    shape = list(x.shape)
    shape[axis] //= parts
    names = b.node("Split", [b.real(x) if b.qdq else x.index], parts, axis=axis)
    name = names[layer["which"] % parts]
    return b.quantised(name, shape, x.scale, x.zero) if b.qdq else Value(name, shape, b.kind, x.scale, x.zero)


def reshape(b, layer, xs, random):
    x = xs[0]
    n = int(np.prod(x.shape))
    if layer["to"] == "flat" or len(x.shape) != 4:
        return moved(b, x, "Flatten", [], [1, n], axis=1) if len(x.shape) == 4 else moved(b, x, "Identity", [], x.shape)
    shape = {"rows": [1, x.shape[1], x.shape[2] * x.shape[3]], "swap": [1, x.shape[1], x.shape[3], x.shape[2]],
             "fold": [1, x.shape[1] * x.shape[2], x.shape[3], 1]}[layer["to"]]
    return moved(b, x, "Reshape", [b.constant(np.array(shape, np.int64))], shape)


def transpose(b, layer, xs, random):
    x = xs[0]
    need(len(x.shape) == 4)
    return moved(b, x, "Transpose", [], [x.shape[i] for i in layer["order"]], perm=layer["order"])


def pad(b, layer, xs, random):
    x = xs[0]
    need(len(x.shape) == 4)
    (t, bottom), (left, r) = layer["around"]
    shape = [x.shape[0], x.shape[1], x.shape[2] + t + bottom, x.shape[3] + left + r]
    pads = b.constant(np.array([0, 0, t, left, 0, 0, bottom, r], np.int64))
    if b.qdq:
        return moved(b, x, "Pad", [pads], shape)
    return moved(b, x, "Pad", [pads, b.constant(np.array(x.zero, b.kind))], shape)


def cut(b, layer, xs, random):
    x = xs[0]
    axes = list(range(1, len(x.shape)))
    begin = [int(low * (x.shape[a] - 1)) for a, (low, _) in zip(axes, layer["box"])]
    end = [f + max(1, round(high * (x.shape[a] - f))) for a, f, (_, high) in zip(axes, begin, layer["box"])]
    axes, begin, end = axes[:3], begin[:3], end[:3]
    shape = [x.shape[0], *(e - f for f, e in zip(begin, end)), *x.shape[4:]]
    return moved(b, x, "Slice", [b.constant(np.array(v, np.int64)) for v in (begin, end, axes)], shape)


def resize(b, layer, xs, random):
    x = xs[0]
    need(len(x.shape) == 4)
    factors = layer["factors"]
    shape = [*x.shape[:2], math.floor(x.shape[2] * factors[0]), math.floor(x.shape[3] * factors[1])]
    need(min(shape) > 0)
    linear = layer["keep"]
    mode = {"none": "asymmetric", "align": "align_corners", "half": "half_pixel"}[layer["corners"]]
    need(b.qdq or not linear)
    nearest = "floor" if mode == "asymmetric" else "ceil" if layer["swap"] else "round_prefer_floor"
    attributes = {"mode": "linear" if linear else "nearest", "coordinate_transformation_mode": mode, "nearest_mode": nearest}
    return moved(b, x, "Resize", ["", b.constant(np.array([1, 1, *factors], np.float32))], shape, **attributes)


MAKERS = {"Conv": conv, "Depthwise": conv, "Gemm": dense, "MatMul": dense, "AveragePool": pool, "MaxPool": pool, "GlobalAveragePool": global_pool,
          "Add": pair, "Sub": pair, "Mul": pair, "Concat": concat, "LeakyRelu": single, "Sigmoid": single, "Tanh": single, "HardSigmoid": single,
          "HardSwish": single, "Relu": single, "Clip": single, "Softmax": softmax, "GlobalMaxPool": global_max, "ArgMax": arg_max, "Split": split, "Reshape": reshape, "Transpose": transpose, "Pad": pad,
          "Slice": cut, "Resize": resize, **onnx_moves.MAKERS}


def build(recipe):
    """The model's file."""
    b = Builder(recipe)
    ends = recipe.get("float_ends")
    values, inputs = [], []
    for i, x in enumerate(inputs_of(recipe)):
        inputs.append(helper.make_tensor_value_info(f"x{i or ''}", ELEMENT["float32" if ends else recipe["type"]], x["shape"]))
        values.append(b.quantised(inputs[i].name, x["shape"], x["scale"], x["zero"]) if ends else
                      Value(inputs[i].name, x["shape"], recipe["type"], x["scale"], x["zero"]))
    for layer in recipe["layers"]:
        xs = [v for v in (values[i] for i in layer["from"]) if v.kind in RANGE]
        need(xs and values[layer["from"][0]].kind in RANGE)
        y = MAKERS[layer["op"]](b, layer, xs, np.random.default_rng(layer["seed"]))
        if int(np.prod(y.shape)) > 40000 or min(y.shape) < 1:
            raise ValueError("too large, or empty")
        values.append(y)
    used = {name for node in b.nodes for name in node.input}
    outputs = []
    for v in values[len(inputs):]:
        if v.index not in used:
            real = ends and v.kind in RANGE
            outputs.append(helper.make_tensor_value_info(b.real(v) if real else v.index, ELEMENT["float32" if real else v.kind], v.shape))
    graph = helper.make_graph(b.nodes, "drawn", inputs, outputs, b.constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid("com.microsoft", 1)], ir_version=8)
    return model.SerializeToString()


def draw(random):
    """A recipe of one operator, or of two to six."""
    while True:
        kind = "uint8" if random.random() < 0.5 else "int8"
        low, high = RANGE[kind]
        style = "qdq" if random.random() < 0.6 else "qoperator"
        flat = random.random() < 0.1
        c = int(random.choice([1, 2, 3, 4, 8, 9, 12, 16, 17, 33, 70]))
        h, w = draw_shape(random, c)
        recipe = {"type": kind, "style": style, "float_ends": bool(random.random() < 0.3), "shape": [1, int(random.integers(1, 200))] if flat else [1, c, h, w],
                  "scale": float(2.0 ** random.uniform(-8, -2)), "zero": int(random.choice([low, 0 if kind == "int8" else 128, random.integers(low, high + 1)])),
                  "layers": []}
        recipe["more"] = further_inputs(random, recipe)
        wanted = 1 if random.random() < 0.5 else int(random.integers(2, 7))
        for _ in range(60):
            if len(recipe["layers"]) == wanted:
                break
            op = str(random.choice(list(MAKERS)))
            layer = layer_behind(random, recipe, op)
            layer["weights"] = str(random.choice(["int8", kind]))
            layer["order"] = [0, *(1 + random.permutation(3)).tolist()]
            trial = {**recipe, "layers": [*recipe["layers"], layer]}
            try:
                build(trial)
            except ValueError:
                continue
            recipe = trial
        if recipe["layers"]:
            return recipe
