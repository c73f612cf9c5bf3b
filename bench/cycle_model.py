#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Compares the compiler's model of the machine with the RTL: cycles of networks, layers and commands on `base`.

usage: bench/cycle_model.py [--build DIR] [--networks REGEX] [--narrow] [--docs]
A network is run once, `kaiten run NETWORK --config base --no-check --json - --trace T`: the report has counted and predicted cycles of the run
and of each layer, T start and completion of each command, modelled and real. An error is modelled / RTL - 1. --narrow compares cycles of runs with memories of
fewer bytes a cycle instead. --docs writes the tables into docs/performance.md. Exit code 1 when a network is further away than 1 % with a memory
as fast as the bus."""
import argparse
import json
import os
import re
import sys
import tempfile

import report
from report import markdown, tools

CONFIG = "base"
LIMIT = 0.01  # of a network
NETWORKS = {  # name -> what report.model() finds
    "demo": "demo",
    "ResNet-8": "models/tflite/mlperf-tiny/pretrainedResnet_quant.tflite",
    "ResNet-8, ONNX QOperator": "models/onnx/derived/resnet8_cifar10_qoperator_s8_perchannel.onnx",
    "DS-CNN keyword spotting": "models/tflite/mlperf-tiny/kws_ref_model.tflite",
    "ad01 auto-encoder": "models/tflite/mlperf-tiny/ad01_int8.tflite",
    "MobileNetV1 0.25-96 person detection": "models/tflite/mlperf-tiny/vww_96_int8.tflite",
    "MobileNetV1 0.25-96, ONNX QDQ": "models/onnx/derived/vww_mobilenetv1_025_96_qdq_s8_perchannel.onnx",
    "TinyMaix CIFAR-10": "models/tflite/tinymaix/cifar10_q.tflite",
    "TinyMaix MNIST": "models/tflite/tinymaix/mnist_valid_q.tflite",
    "TinyMaix MNIST ResNet": "models/tflite/tinymaix/mnist_resnet_q.tflite",
    "MobileNetV1 0.25-128, uint8": "models/tflite/coral/mobilenet_v1_0.25_128_quant.tflite",
    "MobileNetV1 0.75-192, uint8": "models/tflite/coral/mobilenet_v1_0.75_192_quant.tflite",
    "MobileNetV1 224": "mobilenet_v1",
    "MobileNetV2 0.35-160": "models/tflite/cfu-playground/model_mobilenetv2_160_035.tflite",
    "MobileNetV2 224": "models/tflite/coral/tf2_mobilenet_v2_1.0_224_ptq.tflite",
    "MobileNetV2 224, uint8": "models/tflite/coral/mobilenet_v2_1.0_224_quant.tflite",
    "MobileNet-EdgeTPU 0.75-224": "models/tflite/coral-edgetpu/mobilenet_edgetpu_0.75_224_post_training_quant.tflite",
    "EfficientNet-Lite0": "efficientnet_lite0",
    "`ofa-mobilenetv3/MA`": "ofa-mobilenetv3/MA",
    "`ofa-mobilenetv3/MG`": "ofa-mobilenetv3/MG",
    "ShuffleNet": "shufflenet",
    "SqueezeNet 1.1": "squeezenet",
    "GoogLeNet": "googlenet",
    "ResNet-18": "resnet18",
    "ResNet-34": "resnet34",
    "ResNet-50": "resnet50",
    "ResNet-101": "resnet101",
    "ResNet-152": "resnet152",
    "VGG-19": "vgg19",
}
NARROW = (8, 16, 32)  # bytes a cycle
EDGES = (-0.2, -0.1, -0.05, -0.02, -0.01, 0.01, 0.02, 0.05, 0.1, 0.2)
ENGINES = ("CONV", "VECTOR", "LOAD", "STORE")
ENGINE_OF = {"conv": "CONV", "window": "VECTOR", "add": "VECTOR", "load_rows": "LOAD", "load_weights": "LOAD", "load_params": "LOAD",
             "store": "STORE"}


def measure_narrow(kaiten, model):
    """Modelled and real cycles of the run with each memory."""
    runs = [report.result(kaiten, "run", model, "--config", CONFIG, "--no-check", "--bytes-per-cycle", str(rate)) for rate in NARROW]
    return [(run["predicted_cycles"], run["cycles"]) for run in runs]


def measure(kaiten, model):
    """Modelled and real cycles: of the run, of layers, of commands by engine."""
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "trace.json")
        run = report.result(kaiten, "run", model, "--config", CONFIG, "--no-check", "--trace", trace)
        with open(trace) as f:
            events = json.load(f)["traceEvents"]
    commands = {engine: [] for engine in ENGINES}
    for e in events:
        a = e.get("args", {})
        if "modelled_completed" in a:
            commands[ENGINE_OF[a["op"]]].append((a["modelled_completed"] - a["modelled_started"], e["ts"] + e["dur"] - a["started"]))
    layers = [(layer["predicted_cycles"], layer["cycles"]) for layer in run["layers"] if layer["cycles"]]
    return (run["predicted_cycles"], run["cycles"]), layers, commands


def error(pair):
    return pair[0] / pair[1] - 1


def share_within(pairs, limit, weight=lambda pair: 1):
    """Of pairs, counted by weight; a text."""
    return f"{100 * sum(weight(p) for p in pairs if abs(error(p)) <= limit) / max(1, sum(map(weight, pairs))):.0f} %"


def bin_of(value):
    return sum(value > edge for edge in EDGES)


def bin_names():
    def percent(edge):
        return f"{100 * abs(edge):.0f}"

    middle = len(EDGES) // 2
    below = [f"more than {percent(EDGES[0])} % below"] + [f"{percent(b)} to {percent(a)} % below" for a, b in zip(EDGES, EDGES[1:middle])]
    above = [f"{percent(a)} to {percent(b)} % above" for a, b in zip(EDGES[middle:], EDGES[middle + 1:])] + [f"more than {percent(EDGES[-1])} % above"]
    return below + [f"within {percent(EDGES[middle])} %"] + above


def histogram(results):
    networks = [r[0] for r in results.values()]
    layers = [pair for r in results.values() for pair in r[1]]
    columns = [[pair for r in results.values() for pair in r[2][engine]] for engine in ENGINES] + [layers, networks]
    counts = [[0] * (len(EDGES) + 1) for _ in columns]
    for column, pairs in zip(counts, columns):
        for pair in pairs:
            column[bin_of(error(pair))] += 1
    cycles = [0] * (len(EDGES) + 1)
    for pair in layers:
        cycles[bin_of(error(pair))] += pair[1]
    rows = [[name] + [f"{column[i]:,}" for column in counts] + [f"{100 * cycles[i] / sum(cycles):.1f} %"] for i, name in enumerate(bin_names())]
    rows.append(["all"] + [f"{len(pairs):,}" for pairs in columns] + ["100 %"])
    return markdown(["the model is", *(f"{engine} commands" for engine in ENGINES), "layers", "networks", "cycles of such layers"], rows)


def text(pair):
    return f"{100 * abs(error(pair)):.1f} % {'below' if pair[0] < pair[1] else 'above'}"


def narrow_table(results):
    rows = [[name] + [f"{pair[1]:,}, {text(pair)}" for pair in runs] for name, runs in results.items()]
    return markdown([f"network on `{CONFIG}`", *(f"{rate} bytes a cycle: RTL, model" for rate in NARROW)], rows)


def table(results):
    rows = []
    for name, (run, layers, commands) in results.items():
        engines = commands["CONV"] + commands["VECTOR"]
        rows.append([name, f"{run[0]:,}", f"{run[1]:,}", text(run),
                     share_within(layers, LIMIT, lambda pair: pair[1]), share_within(engines, LIMIT)])
    return markdown([f"network on `{CONFIG}`", "modelled", "RTL", "model is", f"cycles in layers within {100 * LIMIT:.0f} %",
                     f"commands of CONV and VECTOR within {100 * LIMIT:.0f} %"], rows)


def main():
    parser = argparse.ArgumentParser(description="Compares the compiler's model of the machine with the RTL.")
    parser.add_argument("--build", default="build", help="build folder (default: build)")
    parser.add_argument("--networks", default="", help="only networks whose name matches this expression")
    parser.add_argument("--narrow", action="store_true", help=f"memories of {', '.join(map(str, NARROW))} bytes a cycle")
    parser.add_argument("--docs", action="store_true", help="write the tables into docs/performance.md")
    args = parser.parse_args()
    kaiten = report.program(args.build, "kaiten")
    results = {}
    for name, source in NETWORKS.items():
        if not re.search(args.networks, name):
            continue
        model = report.model(source, name, args.build)
        if model:
            results[name] = (measure_narrow if args.narrow else measure)(kaiten, model)
            runs = results[name] if args.narrow else results[name][:1]
            print(f"bench: {name}: {', '.join(f'{100 * error(run):+.2f} %' for run in runs)}", file=sys.stderr, flush=True)
    if not results:
        sys.exit("bench: no network to measure")
    if args.docs and len(results) < len(NETWORKS):
        sys.exit("bench: docs/performance.md needs every network")
    tables = {"narrow": narrow_table(results)} if args.narrow else {"networks": table(results), "histogram": histogram(results)}
    print("\n".join(tables.values()), end="")
    if args.docs:
        for name, lines in tables.items():
            report.write_between("docs/performance.md", f"cycle model: {name}", lines)
    if args.narrow:
        return 0
    far = [name for name, (run, _, _) in results.items() if abs(error(run)) > LIMIT]
    if far:
        print("further than 1 % from the RTL: " + ", ".join(far), file=sys.stderr)
    return int(bool(far))


if __name__ == "__main__":
    sys.exit(tools.guarded(main))
