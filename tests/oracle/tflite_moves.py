# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Further operators of the random TensorFlow Lite models (tflite_models.py): makers of the same form, each from a builder, a layer,
its operands and random numbers to a tensor."""
import numpy as np


def need(condition):
    if not condition:
        raise ValueError("does not apply")


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


MAKERS = {"GATHER": gather, "MIRROR_PAD": mirror_pad, "PADV2": padv2, "PACK": pack, "UNPACK": unpack, "SPLIT_V": split_v,
          "SQUARED_DIFFERENCE": squared_difference, "L2_NORMALIZATION": l2_norm, "BROADCAST_TO": broadcast_to, "REVERSE_V2": reverse,
          "BATCH_TO_SPACE_ND": to_batches}
