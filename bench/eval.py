#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""How many images a second the RTL takes, every tensor compared: random images through ResNet-8 by `kaiten eval --rtl`.

usage: bench/eval.py [--build DIR] [--docs] [--images N] [--config C]
--docs writes the table into docs/software/evaluate.md. Needs ../shared."""
import os
import random
import struct
import tempfile

import report
from npz import npy, npz

DOCS = "docs/software/evaluate.md"
RESNET8 = "models/tflite/mlperf-tiny/pretrainedResnet_quant.tflite"
SIDE, CLASSES = 32, 10


def write_images(path, count):
    draw = random.Random(1)
    labels = struct.pack(f"<{count}q", *(draw.randrange(CLASSES) for _ in range(count)))
    with open(path, "wb") as f:
        f.write(npz(images=npy("|u1", (count, SIDE, SIDE, 3), draw.randbytes(count * SIDE * SIDE * 3)), labels=npy("<i8", (count,), labels)))


def measure(args, kaiten):
    model = report.model(RESNET8, "ResNet-8", args.build)
    if model is None:
        return []
    config = args.config or "base"
    with tempfile.TemporaryDirectory() as folder:
        images = os.path.join(folder, "images.npz")
        write_images(images, int(args.images or 10000))
        result = report.result(kaiten, "eval", model, images, "--rtl", "--config", config)
    count, seconds = result["images"], result["seconds"]
    return [["ResNet-8", f"`{config}`", f"{count:,}", f"{seconds:.0f}", f"{count / seconds:.0f}", str(os.cpu_count())]]


TABLES = {"images": (["network", "configuration", "images", "seconds", "images/s", "cores"], measure)}

if __name__ == "__main__":
    report.main(__file__, __doc__, DOCS, TABLES, images="how many (default: 10000)", config="configuration (default: base)")
