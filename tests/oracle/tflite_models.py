# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Random quantised TensorFlow Lite models. A recipe is plain data: {"type", "shape", "scale", "zero", "layers"}; a layer is {"op",
"from", "seed", ...} and gives one tensor; `from` counts tensors, 0 is the input. draw() makes recipes, build() the file of one. A
recipe that makes no sense, as shrinking leaves some, is a ValueError."""
import math

import flatbuffers
import numpy as np
import tflite_moves
from ai_edge_litert import schema_py_generated as schema
from tflite_moves import need, scale_for

RANGE = {"int8": (-128, 127), "uint8": (0, 255)}
TYPES = {"int8": schema.TensorType.INT8, "uint8": schema.TensorType.UINT8, "int32": schema.TensorType.INT32,
         "int64": schema.TensorType.INT64, "float32": schema.TensorType.FLOAT32}
ACTIVATIONS = {"none": 0, "relu": 1, "relu_n1_to_1": 2, "relu6": 3}


class Value:
    """A tensor of the model that is being built."""

    def __init__(self, index, shape, kind, scale, zero):
        self.index, self.shape, self.kind, self.scale, self.zero = index, list(shape), kind, scale, zero


class Builder:
    def __init__(self, recipe):
        self.kind = recipe["type"]
        self.recipe = recipe
        self.model = schema.ModelT()
        self.model.version = 3
        self.model.buffers = [schema.BufferT()]
        self.model.operatorCodes = []
        self.graph = schema.SubGraphT()
        self.graph.tensors, self.graph.operators, self.graph.inputs, self.graph.outputs = [], [], [], []
        self.model.subgraphs = [self.graph]

    def add_tensor(self, name, shape, kind, scales=None, zeros=None, axis=0, data=None):
        if any(n < 1 for n in shape):
            raise ValueError(f"shape {shape}")
        t = schema.TensorT()
        t.name, t.shape, t.type, t.buffer = name, list(map(int, shape)), TYPES[kind], 0
        if scales is not None:
            t.quantization = schema.QuantizationParametersT()
            t.quantization.scale = [float(np.float32(s)) for s in scales]
            t.quantization.zeroPoint = [int(z) for z in zeros]
            t.quantization.quantizedDimension = axis
        if data is not None:
            b = schema.BufferT()
            b.data = np.frombuffer(np.ascontiguousarray(data).tobytes(), np.uint8)
            t.buffer = len(self.model.buffers)
            self.model.buffers.append(b)
        self.graph.tensors.append(t)
        return len(self.graph.tensors) - 1

    def value(self, shape, scale, zero, kind=None):
        kind = kind or self.kind
        quantised = kind in RANGE
        if quantised and not (1e-30 < scale < 1e30):
            raise ValueError("scale")
        index = self.add_tensor(f"t{len(self.graph.tensors)}", shape, kind, [scale] if quantised else None, [zero] if quantised else None)
        return Value(index, shape, kind, scale, zero)

    def integers(self, numbers):
        numbers = np.asarray(numbers, np.int32)
        return self.add_tensor(f"c{len(self.graph.tensors)}", numbers.shape, "int32", data=numbers)

    def emit(self, op, inputs, outputs, options=None, version=1):
        code = getattr(schema.BuiltinOperator, op)
        o = schema.OperatorT()
        o.opcodeIndex = next((i for i, c in enumerate(self.model.operatorCodes) if (c.builtinCode, c.version) == (code, version)), -1)
        if o.opcodeIndex < 0:
            c = schema.OperatorCodeT()
            c.builtinCode, c.deprecatedBuiltinCode, c.version = code, min(code, 127), version
            o.opcodeIndex = len(self.model.operatorCodes)
            self.model.operatorCodes.append(c)
        o.inputs, o.outputs = [i if isinstance(i, int) else i.index for i in inputs], [v.index for v in outputs]
        if options is not None:
            name = type(options).__name__[:-1]
            o.builtinOptionsType, o.builtinOptions = getattr(schema.BuiltinOptions, name), options
        self.graph.operators.append(o)

    def finish(self):
        builder = flatbuffers.Builder(1024)
        builder.Finish(self.model.Pack(builder), b"TFL3")
        return bytes(builder.Output())


def options(name, **fields):
    o = getattr(schema, name + "OptionsT")()
    for key, value in fields.items():
        if not hasattr(o, key):
            raise AttributeError(f"{name}: {key}")
        setattr(o, key, value)
    return o


def out_size(n, k, stride, dilation, same):
    extent = (k - 1) * dilation + 1
    n = -(-n // stride) if same else (n - extent) // stride + 1
    if n < 1:
        raise ValueError("window")
    return n


def need_map(x):
    need(len(x.shape) == 4 and x.kind in RANGE)


def weights_of(b, layer, random, shape, fan_in, axis, channels, x):
    """(weights, bias, sum of scales): of the model's type, one scale or one a channel."""
    per_channel = layer["per_channel"] and b.kind == "int8"
    scales = (np.float32(2.0) ** random.uniform(-9, -5, channels if per_channel else 1)).astype(np.float32)
    if b.kind == "uint8":
        zero = int(random.integers(60, 196)) if layer["weight_zero"] else 128
        data = random.integers(0, 256, shape).astype(np.uint8)
    else:
        zero, data = 0, random.integers(-127, 128, shape).astype(np.int8)
    w = b.add_tensor(f"w{len(b.graph.tensors)}", shape, b.kind, scales, [zero] * len(scales), axis if per_channel else 0, data)
    inputs = [w]
    if layer["bias"]:
        steps = scales * np.float32(x.scale)
        limit = int(74 * 74 * math.sqrt(fan_in))
        bias = random.integers(-limit, limit + 1, channels).astype(np.int32)
        inputs.append(b.add_tensor(f"b{w}", [channels], "int32", steps, [0] * len(scales), 0, bias))
    typical = x.scale * float(np.mean(scales)) * 74 * 74 * math.sqrt(fan_in)
    return inputs, typical


def result_of(b, layer, shape, typical):
    """A tensor whose range is about what the operator gives."""
    return b.value(shape, scale_for(layer, typical), layer["zero"])


def conv(b, layer, xs, random):
    x = xs[0]
    need_map(x)
    kh, kw = layer["kernel"]
    sh, sw = layer["stride"]
    dh, dw = layer["dilation"]
    n, h, w, c = x.shape
    groups = layer["groups"]
    need(c % groups == 0 and layer["channels"] % groups == 0 and (groups == 1 or b.kind == "int8"))
    same = layer["same"]
    shape = [n, out_size(h, kh, sh, dh, same), out_size(w, kw, sw, dw, same), layer["channels"]]
    inputs, typical = weights_of(b, layer, random, [layer["channels"], kh, kw, c // groups], kh * kw * c // groups, 0, layer["channels"], x)
    y = result_of(b, layer, shape, typical)
    b.emit("CONV_2D", [x, *inputs], [y], options("Conv2D", padding=0 if same else 1, strideH=sh, strideW=sw, dilationHFactor=dh,
                                                 dilationWFactor=dw, fusedActivationFunction=ACTIVATIONS[layer["activation"]]), 3)
    return y


def depthwise(b, layer, xs, random):
    x = xs[0]
    need_map(x)
    kh, kw = layer["kernel"]
    sh, sw = layer["stride"]
    dh, dw = layer["dilation"]
    n, h, w, c = x.shape
    need(sh == sw)
    same, m = layer["same"], layer["multiplier"]
    shape = [n, out_size(h, kh, sh, dh, same), out_size(w, kw, sw, dw, same), c * m]
    inputs, typical = weights_of(b, layer, random, [1, kh, kw, c * m], kh * kw, 3, c * m, x)
    y = result_of(b, layer, shape, typical)
    b.emit("DEPTHWISE_CONV_2D", [x, *inputs], [y],
           options("DepthwiseConv2D", padding=0 if same else 1, strideH=sh, strideW=sw, depthMultiplier=m, dilationHFactor=dh,
                   dilationWFactor=dw, fusedActivationFunction=ACTIVATIONS[layer["activation"]]), 3)
    return y


def transpose_conv(b, layer, xs, random):
    x = xs[0]
    need_map(x)
    kh, kw = layer["kernel"]
    sh, sw = layer["stride"]
    n, h, w, c = x.shape
    same = layer["same"]
    shape = [n, h * sh if same else (h - 1) * sh + max(kh, sh), w * sw if same else (w - 1) * sw + max(kw, sw), layer["channels"]]
    inputs, typical = weights_of(b, layer, random, [layer["channels"], kh, kw, c], kh * kw * c / (sh * sw), 0, layer["channels"], x)
    y = result_of(b, layer, shape, typical)
    b.emit("TRANSPOSE_CONV", [b.integers(shape), inputs[0], x, *inputs[1:]], [y],
           options("TransposeConv", padding=0 if same else 1, strideH=sh, strideW=sw, fusedActivationFunction=ACTIVATIONS[layer["activation"]]), 4)
    return y


def near_ties(b, layer, random, shape, fan_in, x):
    """(weights, bias, result) of a fully connected layer whose sums are biases beside the ties of rounding: of the sums nearest to each
    tie, those whose products with the factor come nearest to it."""
    channels = shape[-1]
    zero = 0 if b.kind == "int8" else 128
    y = b.value(shape, x.scale * float(random.uniform(0.3, 3)), zero)
    one = b.kind == "uint8" or not layer["per_channel"]
    step = float(np.float32(x.scale)) / float(np.float32(y.scale))
    scales = (np.float32(2.0) ** random.uniform(-14, -10, 1 if one else channels) / step).astype(np.float32)
    factors = np.broadcast_to(step * scales.astype(float), channels)[:, None]
    ties = np.arange(-120, 120) + 0.5
    sums = np.rint(ties / factors)
    order = np.argsort(np.abs(sums * factors - ties), axis=1)
    which = np.arange(channels) % 8 if one else 0  # one scale: every channel another tie
    bias = sums[np.arange(channels), order[np.arange(channels), which]].astype(np.int32)
    data = np.full([channels, fan_in], zero, b.kind)
    w = b.add_tensor(f"w{len(b.graph.tensors)}", [channels, fan_in], b.kind, scales, [zero] * len(scales), 0, data)
    steps = scales * np.float32(x.scale)
    return [w, b.add_tensor(f"b{w}", [channels], "int32", steps, [0] * len(scales), 0, bias)], y


def fully_connected(b, layer, xs, random):
    x = xs[0]
    need(x.kind in RANGE)
    keep = layer["keep"] and len(x.shape) > 1
    c = x.shape[-1] if keep else int(np.prod(x.shape))
    need(c <= 600)
    shape = [*x.shape[:-1], layer["channels"]] if keep else [1, layer["channels"]]
    if layer.get("near_ties"):
        inputs, y = near_ties(b, layer, random, shape, c, x)
    else:
        inputs, typical = weights_of(b, layer, random, [layer["channels"], c], c, 0, layer["channels"], x)
        y = result_of(b, layer, shape, typical)
    b.emit("FULLY_CONNECTED", [x, *inputs], [y],
           options("FullyConnected", keepNumDims=keep, fusedActivationFunction=ACTIVATIONS[layer["activation"]]), 4)
    return y


def pool(b, layer, xs, random):
    x = xs[0]
    need_map(x)
    kh, kw = layer["kernel"]
    sh, sw = layer["stride"]
    n, h, w, c = x.shape
    same = layer["same"]
    y = b.value([n, out_size(h, kh, sh, 1, same), out_size(w, kw, sw, 1, same), c], x.scale, x.zero)
    b.emit(layer["op"], [x], [y], options("Pool2D", padding=0 if same else 1, strideH=sh, strideW=sw, filterHeight=kh, filterWidth=kw,
                                          fusedActivationFunction=ACTIVATIONS[layer["activation"]]), 2)
    return y


def spreads_over(shape, whole):
    """Whether a tensor of the first shape is an operand of a pair whose result has the second."""
    return len(shape) == len(whole) and all(n in (1, m) for n, m in zip(shape, whole))


def operand_of(b, layer, xs, random):
    """The second operand of a pair: another tensor of the shape or of ones in it, itself, or a constant of some shape."""
    x = xs[0]
    if layer["other"] == "constant":
        shape = {"all": x.shape, "channels": x.shape[-1:], "one": [1]}[layer["of"]]
        scale, zero = x.scale * 2.0 ** random.uniform(-2, 2), int(random.integers(RANGE[b.kind][0], RANGE[b.kind][1] + 1))
        data = random.integers(RANGE[b.kind][0], RANGE[b.kind][1] + 1, shape).astype(b.kind)
        return Value(b.add_tensor(f"k{len(b.graph.tensors)}", shape, b.kind, [scale], [zero], 0, data), shape, b.kind, scale, zero)
    return xs[1] if len(xs) > 1 and xs[1].kind == x.kind and spreads_over(xs[1].shape, x.shape) else x


def pair(b, layer, xs, random):
    x, op = xs[0], layer["op"]
    need(x.kind in RANGE)
    z = operand_of(b, layer, xs, random)
    typical = x.scale * z.scale * 74 * 74 if op == "MUL" else 74 * math.hypot(x.scale, z.scale)
    y = result_of(b, layer, x.shape, typical)
    inputs = [z, x] if layer["swap"] else [x, z]
    b.emit(op, inputs, [y], options(op.capitalize(), fusedActivationFunction=ACTIVATIONS[layer["activation"]]), 2)
    return y


def extreme(b, layer, xs, random):
    x = xs[0]
    need(x.kind in RANGE)
    z = xs[1] if len(xs) > 1 and (xs[1].shape, xs[1].scale, xs[1].zero) == (x.shape, x.scale, x.zero) else None
    if z is None:
        data = random.integers(RANGE[b.kind][0], RANGE[b.kind][1] + 1, [1]).astype(b.kind)
        z = b.add_tensor(f"k{len(b.graph.tensors)}", [1], b.kind, [x.scale], [x.zero], 0, data)
    y = b.value(x.shape, x.scale, x.zero)
    b.emit(layer["op"], [x, z], [y], options("MaximumMinimum"), 2)
    return y


def concat(b, layer, xs, random):
    need(xs[0].kind in RANGE and xs[0].shape)
    axis = layer["axis"] % len(xs[0].shape)

    def fits(v):
        return (v.kind == xs[0].kind and len(v.shape) == len(xs[0].shape) and v.shape[:axis] + v.shape[axis + 1:] ==
                xs[0].shape[:axis] + xs[0].shape[axis + 1:] and (b.kind == "uint8" or (v.scale, v.zero) == (xs[0].scale, xs[0].zero)))
    inputs = [v for v in xs if fits(v)]
    inputs = inputs if len(inputs) > 1 else inputs * 2
    shape = list(xs[0].shape)
    shape[axis] = sum(v.shape[axis] for v in inputs)
    y = b.value(shape, xs[0].scale, xs[0].zero)
    b.emit("CONCATENATION", inputs, [y], options("Concatenation", axis=layer["axis"] if layer["axis"] < 0 else axis), 2)
    return y


def axes_of(layer, x):
    axes = sorted({a % len(x.shape) for a in layer["axes"]} - ({0} if x.shape[0] == 1 and len(x.shape) == 4 else set()))
    need(axes)
    return axes


def reduce(b, layer, xs, random):
    x = xs[0]
    need(x.kind in RANGE and len(x.shape) > 1)
    axes = axes_of(layer, x)
    keep = layer["keep"]
    shape = [1 if i in axes else n for i, n in enumerate(x.shape) if keep or i not in axes]
    mean = layer["op"] == "MEAN"
    y = b.value(shape, x.scale * 2 ** layer["spread"], layer["zero"]) if mean and layer["rescale"] else b.value(shape, x.scale, x.zero)
    b.emit(layer["op"], [x, b.integers(axes)], [y], options("Reducer", keepDims=keep), 2)
    return y


def pad(b, layer, xs, random):
    x = xs[0]
    need_map(x)
    around = np.array([[0, 0], *layer["around"], layer["channels"]])
    y = b.value([n + a + z for n, (a, z) in zip(x.shape, around.tolist())], x.scale, x.zero)
    b.emit("PAD", [x, b.integers(around)], [y], options("Pad"), 2)
    return y


def cut(b, layer, xs, random):
    """SLICE, STRIDED_SLICE"""
    x = xs[0]
    rank = len(x.shape)
    need(x.kind in RANGE and 1 < rank < 6)
    begin, end, steps = [], [], []
    for n, (low, high), step in zip(x.shape, (layer["box"] * 2)[:rank], [*layer["steps"][:3], 1, 1][:rank]):
        first = int(low * (n - 1))
        begin.append(first)
        end.append(first + max(1, round(high * (n - first))))
        steps.append(step)
    if layer["op"] == "SLICE":
        y = b.value([e - a for a, e in zip(begin, end)], x.scale, x.zero)
        b.emit("SLICE", [x, b.integers(begin), b.integers([e - a for a, e in zip(begin, end)])], [y], options("Slice"), 2)
        return y
    y = b.value([-(-(e - a) // s) for a, e, s in zip(begin, end, steps)], x.scale, x.zero)
    b.emit("STRIDED_SLICE", [x, b.integers(begin), b.integers(end), b.integers(steps)], [y], options("StridedSlice"), 2)
    return y


def split(b, layer, xs, random):
    x = xs[0]
    need(x.kind in RANGE and x.shape)
    axis, parts = layer["axis"] % len(x.shape), layer["parts"]
    need(x.shape[axis] % parts == 0)
    shape = list(x.shape)
    shape[axis] //= parts
    ys = [b.value(shape, x.scale, x.zero) for _ in range(parts)]
    b.emit("SPLIT", [b.integers(axis), x], ys, options("Split", numSplits=parts), 2)
    return ys[layer["which"] % parts], ys


def reshape(b, layer, xs, random):
    x = xs[0]
    need(x.kind in RANGE)
    count = int(np.prod(x.shape))
    n, h, w, c = [1, 1, 1, *x.shape][-4:]
    shape = {"flat": [1, count], "rows": [1, h * w, c], "swap": [1, w, h, c], "fold": [1, h, w * c, 1]}[layer["to"]]
    need(n == 1)
    y = b.value(shape, x.scale, x.zero)
    o = options("Reshape", newShape=shape)
    b.emit("RESHAPE", [x, b.integers(shape)], [y], o)
    return y


def transpose(b, layer, xs, random):
    x = xs[0]
    need(x.kind in RANGE and len(x.shape) == len(layer["order"]))
    y = b.value([x.shape[i] for i in layer["order"]], x.scale, x.zero)
    b.emit("TRANSPOSE", [x, b.integers(layer["order"])], [y], options("Transpose"), 2)
    return y


def blocks(b, layer, xs, random):
    x = xs[0]
    need_map(x)
    n, h, w, c = x.shape
    s = layer["block"]
    if layer["op"] == "DEPTH_TO_SPACE":
        need(c % (s * s) == 0)
        y = b.value([n, h * s, w * s, c // (s * s)], x.scale, x.zero)
        b.emit("DEPTH_TO_SPACE", [x], [y], options("DepthToSpace", blockSize=s))
    else:
        need(h % s == 0 and w % s == 0)
        y = b.value([n, h // s, w // s, c * s * s], x.scale, x.zero)
        b.emit("SPACE_TO_DEPTH", [x], [y], options("SpaceToDepth", blockSize=s), 2)
    return y


def resize(b, layer, xs, random):
    x = xs[0]
    need_map(x)
    n, h, w, c = x.shape
    to = [max(1, round(h * layer["factors"][0])), max(1, round(w * layer["factors"][1]))]
    y = b.value([n, *to, c], x.scale, x.zero)
    name = "ResizeBilinear" if layer["op"] == "RESIZE_BILINEAR" else "ResizeNearestNeighbor"
    b.emit(layer["op"], [x, b.integers(to)], [y],
           options(name, alignCorners=layer["corners"] == "align", halfPixelCenters=layer["corners"] == "half"), 3)
    return y


def tile(b, layer, xs, random):
    x = xs[0]
    need_map(x)
    y = b.value([n * m for n, m in zip(x.shape, layer["times"])], x.scale, x.zero)
    b.emit("TILE", [x, b.integers(layer["times"])], [y], options("Tile"), 2)
    return y


FIXED = {"LOGISTIC": (1 / 256, -128), "TANH": (1 / 128, 0), "SOFTMAX": (1 / 256, -128), "LOG_SOFTMAX": (16 / 256, 127)}


def single(b, layer, xs, random):
    x, op = xs[0], layer["op"]
    need(x.kind in RANGE)
    if op in FIXED:
        scale, zero = FIXED[op]
        zero += 128 if b.kind == "uint8" else 0
        # what these give depends on real values: about -8 to 8
        y = b.value(x.shape, scale, zero)
    elif op in ("RELU", "RELU6", "LEAKY_RELU", "HARD_SWISH", "PRELU", "ELU", "RELU_N1_TO_1", "GELU", "ABS") and layer["rescale"]:
        y = result_of(b, layer, x.shape, 74 * x.scale)
    elif op == "QUANTIZE":
        y = result_of(b, layer, x.shape, 74 * x.scale)
    else:
        y = b.value(x.shape, x.scale, x.zero)
    inputs = [x]
    made = {"SOFTMAX": lambda: options("Softmax", beta=1.0), "LEAKY_RELU": lambda: options("LeakyRelu", alpha=layer["alpha"]),
            "LOG_SOFTMAX": lambda: options("LogSoftmax"), "QUANTIZE": lambda: options("Quantize"), "GELU": lambda: options("Gelu", approximate=layer["keep"]),
            "HARD_SWISH": lambda: options("HardSwish")}.get(op, lambda: None)()
    if op == "PRELU":
        shape = [1] * (len(x.shape) - 2) + x.shape[-1:] if len(x.shape) > 1 else x.shape
        data = random.integers(RANGE[b.kind][0], RANGE[b.kind][1] + 1, shape).astype(b.kind)
        inputs.append(b.add_tensor(f"k{len(b.graph.tensors)}", shape, b.kind, [2.0 ** random.uniform(-9, -6)],
                                   [int(random.integers(-20, 20)) + (128 if b.kind == "uint8" else 0)], 0, data))
    # LiteRT has no uint8 kernel of these, and refuses values that have no root or logarithm.
    need(b.kind == "int8" or op not in ("ABS", "EXP", "NEG"))
    need(op not in ("LOG", "SQRT", "RSQRT") or x.zero == RANGE[b.kind][0])
    b.emit(op, inputs, [y], made, 1 if op in ("PRELU", "HARD_SWISH", "ELU", "NEG", "RELU_N1_TO_1") else 2)
    return y


def arg_max(b, layer, xs, random):
    x = xs[0]
    need(x.kind in RANGE and len(x.shape) > 1)
    y = b.value(x.shape[:-1], 0, 0, layer["result"])
    name = "ArgMax" if layer["op"] == "ARG_MAX" else "ArgMin"
    b.emit(layer["op"], [x, b.integers(len(x.shape) - 1)], [y], options(name, outputType=TYPES[layer["result"]]), 2)
    return y


def moved(b, layer, xs, random):
    need(xs[0].kind in RANGE and xs[0].shape)
    return tflite_moves.MAKERS[layer["op"]](b, options, layer, xs[0], random)


def dilated(b, layer, xs, random):
    """A dilated convolution as older converters write it: cells d apart become the images of a batch."""
    x = xs[0]
    need_map(x)
    n, h, w, c = x.shape
    d, (kh, kw) = layer["dilation"][0], layer["kernel"]
    need(d > 1)
    deep = layer["multiplier"] if layer["groups"] > 1 else 0
    pads = []
    for size, k in ((h, kh), (w, kw)):
        total = (k - 1) * d if layer["same"] else 0
        pads.append([total // 2, total - total // 2 + -(size + total) % d])
    crops = [[0, -(size + (k - 1) * d * layer["same"]) % d] for size, k in ((h, kh), (w, kw))]
    side = [(size + sum(p)) // d for size, p in zip((h, w), pads)]
    y = b.value([d * d, *side, c], x.scale, x.zero)
    b.emit("SPACE_TO_BATCH_ND", [x, b.integers([d, d]), b.integers(pads)], [y], options("SpaceToBatchND"), 2)
    channels = c * deep if deep else layer["channels"]
    made = [out_size(s, k, 1, 1, False) for s, k in zip(side, (kh, kw))]
    kernel = [1, kh, kw, channels] if deep else [channels, kh, kw, c]
    inputs, typical = weights_of(b, layer, random, kernel, kh * kw * (1 if deep else c), 3 if deep else 0, channels, x)
    z = result_of(b, layer, [d * d, *made, channels], typical)
    fused = ACTIVATIONS[layer["activation"]]
    if deep:
        b.emit("DEPTHWISE_CONV_2D", [y, *inputs], [z], options("DepthwiseConv2D", padding=1, strideH=1, strideW=1, dilationHFactor=1, dilationWFactor=1,
                                                              depthMultiplier=deep, fusedActivationFunction=fused), 3)
    else:
        b.emit("CONV_2D", [y, *inputs], [z], options("Conv2D", padding=1, strideH=1, strideW=1, dilationHFactor=1, dilationWFactor=1,
                                                    fusedActivationFunction=fused), 3)
    r = b.value([1, *(m * d - sum(crop) for m, crop in zip(made, crops)), channels], z.scale, z.zero)
    b.emit("BATCH_TO_SPACE_ND", [z, b.integers([d, d]), b.integers(crops)], [r], options("BatchToSpaceND"), 2)
    return r


def dequantize(b, layer, xs, random):
    x = xs[0]
    need(x.kind in RANGE)
    y = b.value(x.shape, 0, 0, "float32")
    b.emit("DEQUANTIZE", [x], [y], options("Dequantize"), 2)
    return y


MAKERS = {"CONV_2D": conv, "DEPTHWISE_CONV_2D": depthwise, "TRANSPOSE_CONV": transpose_conv, "FULLY_CONNECTED": fully_connected,
          "AVERAGE_POOL_2D": pool, "MAX_POOL_2D": pool, "ADD": pair, "SUB": pair, "MUL": pair, "MINIMUM": extreme, "MAXIMUM": extreme,
          "CONCATENATION": concat, "MEAN": reduce, "REDUCE_MAX": reduce, "PAD": pad, "SLICE": cut, "STRIDED_SLICE": cut, "SPLIT": split,
          "RESHAPE": reshape, "TRANSPOSE": transpose, "DEPTH_TO_SPACE": blocks, "SPACE_TO_DEPTH": blocks, "RESIZE_BILINEAR": resize,
          "RESIZE_NEAREST_NEIGHBOR": resize, "TILE": tile, "LOGISTIC": single, "TANH": single, "SOFTMAX": single, "LOG_SOFTMAX": single,
          "RELU": single, "RELU6": single, "LEAKY_RELU": single, "HARD_SWISH": single, "PRELU": single, "QUANTIZE": single,
          "ARG_MAX": arg_max, "ARG_MIN": arg_max, "DEQUANTIZE": dequantize, "EXP": single, "LOG": single,
          "SQRT": single, "RSQRT": single, "ABS": single, "NEG": single, "GELU": single, "RELU_N1_TO_1": single, "REDUCE_MIN": reduce,
          "SUM": reduce, "DILATED": dilated, **{op: moved for op in tflite_moves.MAKERS}}


STEP = {"float32": 0, "int8": -128, "uint8": 128}  # to the zero point of a type from the other's


def end_kind(recipe):
    """The type of inputs and outputs where it is not that of the model: float32, or the other one of eight bits."""
    if recipe.get("float_ends"):
        return "float32"
    return {"int8": "uint8", "uint8": "int8"}[recipe["type"]] if recipe.get("other_ends") else None


def inputs_of(recipe):
    """Shape, scale and zero point of each input, the first one's in the recipe itself."""
    return [recipe, *recipe.get("more", [])]


def build(recipe):
    """The model's file."""
    b = Builder(recipe)
    ends = end_kind(recipe)
    values, inputs = [], []
    for x in inputs_of(recipe):
        if ends:
            inputs.append(b.value(x["shape"], x["scale"], x["zero"] + STEP[ends], ends))
        values.append(b.value(x["shape"], x["scale"], x["zero"]))
        if ends:
            b.emit("QUANTIZE", [inputs[-1]], [values[-1]], options("Quantize"), 1)
    used, made = set(), []
    for layer in recipe["layers"]:
        xs = [values[i] for i in layer["from"]]
        before = len(b.graph.operators)
        y = MAKERS[layer["op"]](b, layer, xs, np.random.default_rng(layer["seed"]))
        y, all_of_them = y if isinstance(y, tuple) else (y, [y])
        if int(np.prod(y.shape)) > 40000:
            raise ValueError("too large")
        values.append(y)
        made += all_of_them
        used |= {i for o in b.graph.operators[before:] for i in o.inputs}
    b.graph.inputs = [x.index for x in inputs or values[:len(inputs_of(recipe))]]
    outputs = [v for v in made if v.index not in used]
    if ends:
        for i, v in enumerate(outputs):
            if v.kind in RANGE:
                outputs[i] = b.value(v.shape, v.scale, v.zero + STEP[ends], ends)
                op = "DEQUANTIZE" if ends == "float32" else "QUANTIZE"
                b.emit(op, [v], [outputs[i]], options(op.capitalize()), 2)
    b.graph.outputs = [v.index for v in outputs]
    return b.finish()


def input_of(recipe, x, values):
    """What input `x` (inputs_of) is given for stored values: those, the same of the other type, or real ones around them."""
    ends = end_kind(recipe)
    if ends != "float32":
        return (values.astype(np.int16) + STEP[ends]).astype(ends) if ends else values
    noise = np.random.default_rng(recipe["layers"][0]["seed"]).uniform(-0.5, 0.5, values.shape)
    return ((values.astype(np.float64) - x["zero"] + noise) * x["scale"]).astype(np.float32)


def draw_shape(random, channels):
    """Rows, columns: small, now and then wide or high."""
    h, w = int(random.integers(1, 15)), int(random.integers(1, 15))
    if random.random() < 0.08 and channels <= 9:
        return (int(random.integers(1, 4)), int(random.integers(100, 400)))
    if random.random() < 0.04 and channels <= 9:
        return (int(random.integers(100, 300)), int(random.integers(1, 4)))
    return h, w


def draw_layer(random, kind, op, tensors):
    """A layer with every field that any operator wants: shrinking and building stay simple."""
    def pick(*choices):
        return choices[int(random.integers(len(choices)))]

    low, high = RANGE[kind]
    sides = [int(random.choice([1, 2, 3, 3, 3, 4, 5, 7])) for _ in range(2)]
    stride = int(random.choice([1, 1, 2, 3]))
    dilation = int(random.choice([1, 1, 1, 2, 3]))
    order = [0, *(1 + random.permutation(3)).tolist()]
    return {"op": op, "from": [tensors - 1, *([int(random.integers(tensors))] if tensors > 1 else [])], "seed": int(random.integers(1 << 30)),
            "spread": float(random.uniform(-1.5, 2.5) if random.random() < 0.9 else random.uniform(-12, 12)), "zero": int(pick(low, high, 0 if kind == "int8" else 128, random.integers(low, high + 1))),
            "activation": pick("none", "none", "relu", "relu6", "relu_n1_to_1"), "kernel": [sides[0], pick(*sides, sides[0])],
            "stride": pick([stride, stride], [stride, stride], [stride, pick(1, 2)]), "dilation": pick([dilation, dilation], [1, dilation]),
            "same": bool(pick(0, 1)), "channels": [0, 0] if op == "PAD" and random.random() < 0.7 else [1, 2] if op == "PAD" else
            int(random.choice([1, 2, 3, 4, 8, 9, 16, 20, 40])), "groups": int(random.choice([1, 1, 1, 1, 2, 4])),
            "multiplier": int(random.choice([1, 1, 1, 2, 3])), "per_channel": bool(random.random() < 0.7), "bias": bool(random.random() < 0.9),
            "weight_zero": bool(pick(0, 1)), "keep": bool(pick(0, 1)), "other": pick("tensor", "constant"), "of": pick("all", "channels", "one"),
            "swap": bool(random.random() < 0.3), "axis": int(pick(1, 2, 3, 3, -1)),
            "axes": [[1, 2], [1, 2], [1], [2], [3], [1, 2, 3], [-1]][int(random.integers(7))], "rescale": bool(pick(0, 1)),
            "around": random.integers(0, 4, (2, 2)).tolist(), "box": random.random((4, 2)).round(3).tolist(), "steps": [1, int(pick(1, 1, 2)), int(pick(1, 1, 2)), 1],
            "parts": int(pick(2, 3, 4)), "which": int(random.integers(4)), "to": pick("flat", "rows", "swap", "fold"),
            "order": order, "block": int(pick(2, 2, 3)), "factors": [float(pick(2, 2, 0.5, 1.5, 1, 2.7)), float(pick(2, 2, 0.5, 1.5, 1, 2.7))],
            "corners": pick("none", "align", "half"), "times": [1, int(pick(1, 2)), int(pick(1, 2)), int(pick(1, 2, 3))],
            "alpha": float(random.choice([0.1, 0.2, 0.3, 0.01])), "result": pick("int32", "int64"),
            "near_ties": bool(random.random() < 0.2)}


def further_inputs(random, recipe):
    """None mostly, else one or two: of the first one's shape, or with ones in it."""
    low, high = RANGE[recipe["type"]]
    return [{"shape": [1, *(n if random.random() < 0.7 else 1 for n in recipe["shape"][1:])] if random.random() < 0.5 else recipe["shape"],
             "scale": float(2.0 ** random.uniform(-8, -2)), "zero": int(random.integers(low, high + 1))}
            for _ in range(int(random.choice([0, 0, 0, 0, 0, 1, 1, 2])))]


def layer_behind(random, recipe, op):
    """A further layer of the recipe, of any of its tensors; the first layer is of the first input."""
    inputs, layers = len(inputs_of(recipe)), len(recipe["layers"])
    layer = draw_layer(random, recipe["type"], op, inputs + layers)
    return layer if layers else {**layer, "from": [0, *layer["from"][1:]]}


def draw(random):
    """A recipe of one operator, or of two to six; a fifth of them of other ranks than four."""
    while True:
        rank = int(random.choice([2, 3, 5, 6])) if random.random() < 0.2 else 4
        kind = "uint8" if random.random() < 0.25 else "int8"
        low, high = RANGE[kind]
        channels = int(random.choice([1, 2, 3, 4, 8, 9, 12, 16, 17, 33, 70]))
        recipe = {"type": kind, "float_ends": bool(random.random() < 0.15), "other_ends": bool(random.random() < 0.1),
                  "shape": [1, *draw_shape(random, channels), channels] if rank == 4 else [1, *random.integers(1, 8, rank - 2).tolist(), channels],
                  "scale": float(2.0 ** random.uniform(-8, -2)), "zero": int(random.choice([low, 0, random.integers(low, high + 1)])), "layers": []}
        recipe["more"] = further_inputs(random, recipe)
        wanted = 1 if random.random() < 0.5 else int(random.integers(2, 7))
        for _ in range(60):
            if len(recipe["layers"]) == wanted:
                break
            layer = layer_behind(random, recipe, str(random.choice(list(MAKERS))))
            trial = {**recipe, "layers": [*recipe["layers"], layer]}
            try:
                build(trial)
            except ValueError:
                continue
            recipe = trial
        if recipe["layers"]:
            return recipe


def simpler(recipe):
    """Recipes that are a step simpler, the largest steps first."""
    layers, more = recipe["layers"], recipe.get("more", [])

    def less(tensor, layers):
        """The layers where the tensor is gone: the one before is read instead."""
        return [{**layer, "from": [t - (t >= tensor) for t in layer["from"]]} for layer in layers]
    for i in range(len(layers)):
        rest = layers[:i] + less(len(more) + 1 + i, layers[i + 1:])
        if rest:
            yield {**recipe, "layers": rest}
    for i in range(len(more)):
        yield {**recipe, "more": more[:i] + more[i + 1:], "layers": less(i + 1, layers)}
    if end_kind(recipe):
        yield {**recipe, "float_ends": False, "other_ends": False}
    shape = recipe["shape"]
    for smaller in (lambda n: n - n // 2, lambda n: n - 1):
        for i in range(1, len(shape)):
            size = smaller(shape[i])
            if 0 < size < shape[i]:
                def cut(of, i=i, size=size):
                    return [*of[:i], min(size, of[i]), *of[i + 1:]]
                yield {**recipe, "shape": cut(shape), "more": [{**x, "shape": cut(x["shape"])} for x in more]}
    plain = {"activation": "none", "stride": [1, 1], "dilation": [1, 1], "same": False, "groups": 1, "multiplier": 1, "per_channel": False,
             "bias": False, "kernel": [1, 1], "rescale": False, "swap": False, "keep": True, "channels": 1, "weight_zero": False}
    for i, layer in enumerate(layers):
        for key, value in plain.items():
            if layer[key] != value and not (key == "channels" and layer["op"] == "PAD"):
                yield {**recipe, "layers": layers[:i] + [{**layer, key: value}] + layers[i + 1:]}
