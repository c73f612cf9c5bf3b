#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Images a second at 50 MHz of the configurations that boards have, by the cycles of the RTL and the bandwidth of the memory.

usage: bench/boards.py [--build DIR] [--docs]
--docs writes the table into docs/hardware/boards.md."""
import os
import sys

import report

sys.path.insert(0, os.path.join(report.ROOT, "fpga", "boards"))
from known import BOARDS

DOCS = "docs/hardware/boards.md"
CLOCK = 50e6
MEMORIES = (2, 16)  # bytes a cycle: what the port "bridge" reached on a bus of 32 bits (docs/software/soc.md), and Kaiten's bus
TINY = "models/tflite/mlperf-tiny/"
NETWORKS = {"demo": "demo", "ResNet-8": TINY + "pretrainedResnet_quant.tflite", "DS-CNN keyword spotting": TINY + "kws_ref_model.tflite",
            "MobileNetV1 0.25-96 person detection": TINY + "vww_96_int8.tflite",
            "MobileNetV2 224": "models/tflite/coral/tf2_mobilenet_v2_1.0_224_ptq.tflite", "ResNet-50 224, random weights": "resnet50"}


def rate(cycles):
    value = CLOCK / cycles
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def measure(args, kaiten):
    rows = []
    for name, source in NETWORKS.items():
        model = report.model(source, name, args.build)
        if model is None:
            continue
        for config in sorted({b.config for b in BOARDS.values()}):
            cycles = [report.result(kaiten, "run", model, "--config", config, "--bytes-per-cycle", str(memory), "--no-check")["cycles"]
                      for memory in MEMORIES]
            rows.append([name, f"`{config}`", *(cell for c in cycles for cell in (f"{c:,}", rate(c)))])
    return rows


TABLES = {"rates": (["network", "configuration", *(cell for b in MEMORIES for cell in (f"cycles, {b} bytes a cycle", "images/s"))], measure)}

if __name__ == "__main__":
    report.main(__file__, __doc__, DOCS, TABLES)
