# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Further operators of the random TensorFlow Lite models (tflite_models.py): makers of the same form, each from a builder, a layer,
its operand and random numbers to a tensor. Tensors of two to six dimensions, and functions that are computed in float32."""
import math

import numpy as np


def need(condition):
    if not condition:
        raise ValueError("does not apply")


def scale_for(layer, typical):
    """Of values that are about this large."""
    return max(typical * 2 ** layer["spread"] / 64, 1e-12)


def gather(b, o, layer, x, random):
    axis = layer["axis"] % len(x.shape)
    need(axis > 0 or x.shape[0] > 1)
    positions = random.integers(0, x.shape[axis], int(random.integers(1, 6)))
    y = b.value([*x.shape[:axis], len(positions), *x.shape[axis + 1:]], x.scale, x.zero)
    b.emit("GATHER", [x, b.integers(positions)], [y], o("Gather", axis=axis), 2)
    return y


def mirror_pad(b, o, layer, x, random):
    need(len(x.shape) == 4)
    mode = int(layer["keep"])
    around = [[0, 0], *[[min(a, n - 1 + mode) for a in pads] for pads, n in zip(layer["around"], x.shape[1:])], [0, 0]]
    y = b.value([n + a + z for n, (a, z) in zip(x.shape, around)], x.scale, x.zero)
    b.emit("MIRROR_PAD", [x, b.integers(around)], [y], o("MirrorPad", mode=mode), 2)
    return y


def padv2(b, o, layer, x, random):
    need(len(x.shape) == 4)
    around = np.array([[0, 0], *layer["around"], [0, 0]])
    fill = b.add_tensor(f"k{len(b.graph.tensors)}", [1], b.kind, [x.scale], [x.zero], 0, np.array([layer["zero"]]).astype(b.kind))
    y = b.value([n + a + z for n, (a, z) in zip(x.shape, around.tolist())], x.scale, x.zero)
    b.emit("PADV2", [x, b.integers(around), fill], [y], o("PadV2"), 2)
    return y


def pack(b, o, layer, x, random):
    need(len(x.shape) == 3)
    axis = layer["axis"] % 4
    y = b.value([*x.shape[:axis], 2, *x.shape[axis:]], x.scale, x.zero)
    b.emit("PACK", [x, x], [y], o("Pack", axis=axis, valuesCount=2), 2)
    return y


def unpack(b, o, layer, x, random):
    axis = layer["axis"] % len(x.shape)
    need(x.shape[axis] <= 20)
    ys = [b.value([*x.shape[:axis], *x.shape[axis + 1:]], x.scale, x.zero) for _ in range(x.shape[axis])]
    b.emit("UNPACK", [x], ys, o("Unpack", axis=axis, num=len(ys)), 2)
    return ys[layer["which"] % len(ys)], ys


def split_v(b, o, layer, x, random):
    axis = layer["axis"] % len(x.shape)
    need(x.shape[axis] > 1)
    first = int(random.integers(1, x.shape[axis]))
    sizes = [first, x.shape[axis] - first]
    ys = [b.value([*x.shape[:axis], n, *x.shape[axis + 1:]], x.scale, x.zero) for n in sizes]
    b.emit("SPLIT_V", [x, b.integers([first, -1] if layer["keep"] else sizes), b.integers(axis)], ys, o("SplitV", numSplits=2), 2)
    return ys[layer["which"] % 2], ys


def squared_difference(b, o, layer, x, random):
    other = b.add_tensor(f"k{len(b.graph.tensors)}", x.shape[-1:], b.kind, [x.scale], [x.zero], 0,
                         random.integers(0, 100, x.shape[-1:]).astype(b.kind))
    need(b.kind == "int8")
    y = b.value(x.shape, x.scale * x.scale * 2.0 ** (6 + layer["spread"]), layer["zero"])
    b.emit("SQUARED_DIFFERENCE", [x, other], [y], o("SquaredDifference"), 2)
    return y


def l2_norm(b, o, layer, x, random):
    y = b.value(x.shape, 1 / 128, 0 if b.kind == "int8" else 128)
    b.emit("L2_NORMALIZATION", [x], [y], o("L2Norm"), 2)
    return y


def broadcast_to(b, o, layer, x, random):
    need(len(x.shape) == 4)
    shape = [n if n > 1 else int(random.integers(1, 4)) for n in x.shape[1:]]
    y = b.value([1, *shape], x.scale, x.zero)
    b.emit("BROADCAST_TO", [x, b.integers([1, *shape])], [y], o("BroadcastTo"), 2)
    return y


def reverse(b, o, layer, x, random):
    y = b.value(x.shape, x.scale, x.zero)
    b.emit("REVERSE_V2", [x, b.integers([layer["axis"] % len(x.shape)])], [y], o("ReverseV2"), 2)
    return y


def to_batches(b, o, layer, x, random):
    """SPACE_TO_BATCH_ND; BATCH_TO_SPACE_ND, perhaps with other crops."""
    need(len(x.shape) == 4)
    n, h, w, c = x.shape
    bh, bw = layer["block"], layer["which"] % 3 + 1
    pads = [[a, z + -(size + a + z) % block] for size, block, (a, z) in zip((h, w), (bh, bw), layer["around"])]
    hp, wp = (size + sum(p) for size, p in zip((h, w), pads))
    y = b.value([bh * bw * n, hp // bh, wp // bw, c], x.scale, x.zero)
    b.emit("SPACE_TO_BATCH_ND", [x, b.integers([bh, bw]), b.integers(pads)], [y], o("SpaceToBatchND"), 2)
    crops = [[min(1, p[0]), min(1, p[1])] for p in pads]
    z = b.value([n, hp - sum(crops[0]), wp - sum(crops[1]), c], x.scale, x.zero)
    b.emit("BATCH_TO_SPACE_ND", [y, b.integers([bh, bw]), b.integers(crops)], [z], o("BatchToSpaceND"), 2)
    return z


def product(b, o, layer, x, random):
    """BATCH_MATMUL of a tensor and itself, one of the two turned by the operator."""
    need(b.kind == "int8" and len(x.shape) > 1 and x.shape[-1] <= 128 and x.shape[-2] <= 128)
    over = x.shape[-2] if layer["swap"] else x.shape[-1]
    side = x.shape[-1] if layer["swap"] else x.shape[-2]
    y = b.value([*x.shape[:-2], side, side], scale_for(layer, (74 * x.scale) ** 2 * math.sqrt(over)), layer["zero"])
    b.emit("BATCH_MATMUL", [x, x], [y], o("BatchMatMul", adjX=layer["swap"], adjY=not layer["swap"]), 2)
    return y


# Functions in float32 of which LiteRT has reference kernels: of a value, of a value and a number.
OF_ONE = ("ABS", "COS", "EXP", "FLOOR", "LOG", "NEG", "RSQRT", "SIN", "SQRT", "SQUARE")
OF_TWO = ("ADD", "DIV", "MAXIMUM", "MINIMUM", "MUL", "POW", "SQUARED_DIFFERENCE", "SUB")
NAMES = {"ADD": "Add", "DIV": "Div", "MUL": "Mul", "SUB": "Sub", "MAXIMUM": "MaximumMinimum", "MINIMUM": "MaximumMinimum",
         "SQUARED_DIFFERENCE": "SquaredDifference", "POW": "Pow", "ABS": "Abs", "COS": "Cos", "EXP": "Exp", "NEG": "Neg", "SQUARE": "Square"}


def chain(b, o, layer, x, random):
    """A function of single values as converters leave it: DEQUANTIZE, one to four operators in float32, QUANTIZE. Within bounds: what
    QUANTIZE makes of more than 2^31 steps is undefined in LiteRT."""
    value = b.value(x.shape, 0, 0, "float32")
    b.emit("DEQUANTIZE", [x], [value], o("Dequantize"), 2)
    ops = [(str(random.choice(OF_ONE + OF_TWO)), random.uniform(0.2, 3)) for _ in range(1 + layer["which"])]
    for op, constant in (*ops, ("MINIMUM", 1000), ("MAXIMUM", -1000)):
        inputs = [value]
        if op in OF_TWO:
            number = b.add_tensor(f"n{len(b.graph.tensors)}", [], "float32", data=np.float32(constant))
            kind = random.random() if abs(constant) < 1000 else 1  # a bound second: NaN ends there
            inputs = [number, value] if kind < 0.3 else [value, value] if kind < 0.4 else [value, number]
        value = b.value(x.shape, 0, 0, "float32")
        b.emit(op, inputs, [value], o(NAMES[op]) if op in NAMES else None)
    y = b.value(x.shape, scale_for(layer, 74 * max(x.scale, 1 / 74)), layer["zero"])
    b.emit("QUANTIZE", [value], [y], o("Quantize"), 1)
    return y


def deeper_shape(layer, shape):
    """One dimension cut in two, or two made one: two to six dimensions."""
    rank = len(shape)
    need(rank > 1)
    axis = 1 + layer["which"] % (rank - 1)
    if layer["keep"] and rank > 2:
        axis = max(axis, 2)
        return [*shape[:axis - 1], shape[axis - 1] * shape[axis], *shape[axis + 1:]]
    need(rank < 6 and shape[axis] % layer["parts"] == 0)
    return [*shape[:axis], layer["parts"], shape[axis] // layer["parts"], *shape[axis + 1:]]


def turned_order(layer, rank, random):
    """An order of dimensions; dimension 0 moves, too, now and then."""
    need(rank > 1)
    return [int(i) for i in random.permutation(rank)] if layer["swap"] else [0, *(1 + int(i) for i in random.permutation(rank - 1))]


def single_dimension(layer, shape):
    """(whether a dimension of one goes, which goes or comes, the shape then)"""
    rank = len(shape)
    ones = [i for i in range(1, rank) if shape[i] == 1]
    if ones and rank > 2:
        axis = ones[layer["which"] % len(ones)]
        return True, axis, [*shape[:axis], *shape[axis + 1:]]
    need(rank < 6)
    axis = 1 + layer["which"] % rank
    return False, axis, [*shape[:axis], 1, *shape[axis:]]


def deeper(b, o, layer, x, random):
    shape = deeper_shape(layer, x.shape)
    y = b.value(shape, x.scale, x.zero)
    b.emit("RESHAPE", [x, b.integers(shape)], [y], o("Reshape", newShape=shape))
    return y


def turned(b, o, layer, x, random):
    """TRANSPOSE of any rank"""
    need(len(x.shape) < 7)
    order = turned_order(layer, len(x.shape), random)
    y = b.value([x.shape[i] for i in order], x.scale, x.zero)
    b.emit("TRANSPOSE", [x, b.integers(order)], [y], o("Transpose"), 2)
    return y


def single_dimensions(b, o, layer, x, random):
    """SQUEEZE, EXPAND_DIMS"""
    goes, axis, shape = single_dimension(layer, x.shape)
    y = b.value(shape, x.scale, x.zero)
    if goes:
        b.emit("SQUEEZE", [x], [y], o("Squeeze", squeezeDims=[axis]), 2)
    else:
        b.emit("EXPAND_DIMS", [x, b.integers(axis)], [y], o("ExpandDims"), 1)
    return y


MAKERS = {"GATHER": gather, "MIRROR_PAD": mirror_pad, "PADV2": padv2, "PACK": pack, "UNPACK": unpack, "SPLIT_V": split_v,
          "SQUARED_DIFFERENCE": squared_difference, "L2_NORMALIZATION": l2_norm, "BROADCAST_TO": broadcast_to, "REVERSE_V2": reverse,
          "BATCH_TO_SPACE_ND": to_batches, "BATCH_MATMUL": product, "CHAIN": chain, "DEEPER": deeper, "TURNED": turned,
          "EXPAND_DIMS": single_dimensions}
