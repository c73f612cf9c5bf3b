#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the .onnx files of this folder: small PyTorch networks with random weights, exported and quantised by onnxruntime.

usage: make_onnx.py [NAME ...]
Needs torch 2.15.0, onnx, onnxscript and onnxruntime 1.32.0, which Kaiten itself does not; the tests need the files alone. Each
network is here for what exporter and quantiser make of it, in the comment before it."""
import pathlib
import sys
import tempfile

import numpy as np
import torch
import torch.nn.functional as F
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process
from torch import nn

HERE = pathlib.Path(__file__).parent
rng = np.random.default_rng(18)


def conv(i, o, kernel=3, stride=1, activation=nn.ReLU):
    return nn.Sequential(nn.Conv2d(i, o, kernel, stride, kernel // 2, bias=False), nn.BatchNorm2d(o), activation())


class Network(nn.Module):
    SHAPE = [1, 3, 32, 32]


# Windows over lines.
class Conv1d(Network):
    SHAPE = [1, 20, 40]

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv1d(20, 24, 9, padding=4), nn.BatchNorm1d(24), nn.ReLU(), nn.MaxPool1d(2), nn.Conv1d(24, 24, 3, padding=2, dilation=2, groups=24),
            nn.Conv1d(24, 24, 1), nn.ReLU(), nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(24, 12))

    def forward(self, x):
        return self.layers(x)


# Normalisation of channels in NHWC, a fully connected layer on maps.
class ConvNeXt(Network):
    def __init__(self):
        super().__init__()
        self.stem, self.deep, self.norm = nn.Conv2d(3, 16, 4, 4), nn.Conv2d(16, 16, 7, 1, 3, groups=16), nn.LayerNorm(16)
        self.wide, self.back, self.head = nn.Linear(16, 48), nn.Linear(48, 16), nn.Linear(16, 5)

    def forward(self, x):
        x = self.stem(x)
        y = self.back(F.gelu(self.wide(self.norm(self.deep(x).permute(0, 2, 3, 1))))).permute(0, 3, 1, 2)
        return self.head((x + y).mean([-2, -1]))


# A class token, one projection for queries, keys and values, softmax inside.
class Transformer(Network):
    def __init__(self):
        super().__init__()
        self.patches, self.token, self.places = nn.Conv2d(3, 16, 8, 8), nn.Parameter(torch.randn(1, 1, 16)), nn.Parameter(torch.randn(1, 17, 16))
        self.norm, self.qkv, self.out, self.norm2 = nn.LayerNorm(16), nn.Linear(16, 48), nn.Linear(16, 16), nn.LayerNorm(16)
        self.wide, self.back, self.head = nn.Linear(16, 32), nn.Linear(32, 16), nn.Linear(16, 6)

    def forward(self, x):
        x = torch.cat([self.token, self.patches(x).flatten(2).transpose(1, 2)], 1) + self.places
        q, k, v = self.qkv(self.norm(x)).reshape(1, 17, 3, 2, 8).permute(2, 0, 3, 1, 4).unbind(0)
        weights = (q @ k.transpose(-2, -1) * 8 ** -0.5).softmax(-1)
        x = x + self.out((weights @ v).transpose(1, 2).reshape(1, 17, 16))
        return self.head((x + self.back(F.gelu(self.wide(self.norm2(x)))))[:, 0])


# Slices that the quantiser's optimiser turns into blocks and a list of channels.
class Focus(Network):
    def __init__(self):
        super().__init__()
        self.conv, self.head = conv(12, 16), nn.Linear(16, 10)

    def forward(self, x):
        x = torch.cat([x[..., ::2, ::2], x[..., 1::2, ::2], x[..., ::2, 1::2], x[..., 1::2, 1::2]], 1)
        return self.head(self.conv(x).mean([2, 3]))


# Bilinear resizing within the network and of its result, a pooled branch.
class Segmentation(Network):
    def __init__(self):
        super().__init__()
        self.body, self.pooled = nn.Sequential(conv(3, 12, 3, 2), conv(12, 16, 3, 2)), nn.Conv2d(16, 8, 1)
        self.join, self.out = conv(24, 12, 1), nn.Conv2d(12, 4, 1)

    def forward(self, x):
        b = self.body(x)
        p = F.interpolate(F.relu(self.pooled(F.adaptive_avg_pool2d(b, 1))), size=b.shape[2:], mode="bilinear", align_corners=False)
        y = F.interpolate(self.out(self.join(torch.cat([b, p], 1))), size=(32, 32), mode="bilinear", align_corners=False)
        return y.argmax(1)


# Attention along rows and columns: means over one of them, transposed, split.
class Coordinates(Network):
    def __init__(self):
        super().__init__()
        self.stem, self.mid, self.rows, self.columns = conv(3, 16, 3, 2), nn.Conv2d(16, 8, 1), nn.Conv2d(8, 16, 1), nn.Conv2d(8, 16, 1)

    def forward(self, x):
        x = self.stem(x)
        h, w = x.mean(3, keepdim=True), x.mean(2, keepdim=True).permute(0, 1, 3, 2)
        h, w = torch.split(F.hardswish(self.mid(torch.cat([h, w], 2))), [16, 16], 2)
        return x * torch.sigmoid(self.rows(h)) * torch.sigmoid(self.columns(w.permute(0, 1, 3, 2)))


# Batch normalisation that follows no convolution.
class Dense(Network):
    def __init__(self):
        super().__init__()
        self.stem, self.norm, self.conv = nn.Conv2d(3, 12, 3, 2, 1), nn.BatchNorm2d(12), nn.Conv2d(12, 8, 3, 1, 1)
        self.norm2, self.head = nn.BatchNorm2d(20), nn.Linear(20, 5)

    def forward(self, x):
        x = self.stem(x)
        x = torch.cat([x, self.conv(F.relu(self.norm(x)))], 1)
        return self.head(F.avg_pool2d(F.relu(self.norm2(x)), 16).flatten(1))


QDQ = {"quant_format": QuantFormat.QDQ}
QOPERATOR = {"quant_format": QuantFormat.QOperator}
CHANNELS = {"activation_type": QuantType.QInt8, "weight_type": QuantType.QInt8, "per_channel": True}
NETWORKS = {"conv1d_qdq": (Conv1d, QDQ), "conv1d_qoperator": (Conv1d, QOPERATOR | CHANNELS), "convnext_qdq": (ConvNeXt, QDQ),
            "coordinates_qoperator": (Coordinates, QOPERATOR), "dense_qdq": (Dense, QDQ), "focus_qdq": (Focus, QDQ | CHANNELS),
            "segmentation_qdq": (Segmentation, QDQ), "segmentation_qoperator": (Segmentation, QOPERATOR | CHANNELS),
            "transformer_qdq": (Transformer, QDQ)}


class Images(CalibrationDataReader):
    def __init__(self, shape):
        self.left = [{"x": rng.normal(0.1, 0.7, shape).astype(np.float32)} for _ in range(4)]

    def get_next(self):
        return self.left.pop() if self.left else None


def randomise(model):
    """Batch normalisation as after training, not the identity."""
    for layer in model.modules():
        if isinstance(layer, (nn.BatchNorm1d, nn.BatchNorm2d)):
            layer.weight.data.uniform_(0.7, 1.3)
            layer.bias.data.normal_(0, 0.2)
            layer.running_mean.normal_(0, 0.2)
            layer.running_var.uniform_(0.5, 1.5)


def write(name):
    kind, settings = NETWORKS[name]
    torch.manual_seed(18)
    model = kind()
    randomise(model)
    with tempfile.TemporaryDirectory() as folder:
        exported, prepared = f"{folder}/exported.onnx", f"{folder}/prepared.onnx"
        torch.onnx.export(model.eval(), (torch.randn(kind.SHAPE),), exported, dynamo=False, opset_version=17, input_names=["x"])
        quant_pre_process(exported, prepared, skip_symbolic_shape=True)
        quantize_static(prepared, HERE / f"{name}.onnx", Images(kind.SHAPE), **settings)


if __name__ == "__main__":
    for wanted in sys.argv[1:] or NETWORKS:
        write(wanted)
