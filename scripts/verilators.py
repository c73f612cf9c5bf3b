#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Two Verilators, one machine: builds the tool with the distribution's Verilator too, and runs networks on both. Outputs, cycles and
every counter must be the same.

usage: verilators.py [--build DIR] [--config C ...] [-j N]    default: nano; DIR (default: build) has the pinned Verilator's
The other Verilator is KAITEN_VERILATOR or the one in PATH; its build is build-verilators. Networks of ../shared are run when
it is there. Writes build/verilators/junit.xml."""
import argparse
import json
import os
import re
import shutil
import sys
import tempfile
import time

import tools

OTHER = os.path.join(tools.ROOT, "build-verilators")
OUT = os.path.join(tools.ROOT, "build", "verilators")
NETWORKS = ["mlperf-tiny/pretrainedResnet_quant.tflite", "mlperf-tiny/kws_ref_model.tflite"]
# Every channel of the bus stalls at random, and not at all.
STALLS = ["0", "20"]


def verilator_of(build):
    """What the build's tool says that it was made with; empty where there is none."""
    if not os.path.exists(os.path.join(build, "kaiten")):
        return ""
    code, log = tools.run([os.path.join(build, "kaiten"), "--version"])
    found = re.search(r"Verilator ([\d.]+)", log)
    return found.group(1) if code == 0 and found else ""


def build_other(verilator, configs, jobs):
    """None, or what went wrong."""
    for command in (["cmake", "-G", "Ninja", "-S", tools.ROOT, "-B", OTHER, "-DCMAKE_BUILD_TYPE=Release",
                     f"-DKAITEN_VERILATOR={verilator}", f"-DKAITEN_SIM_CONFIGS={';'.join(configs)}", "-DKAITEN_SIM_DEBUG="],
                    ["cmake", "--build", OTHER, "-j", str(jobs), "--target", "kaiten"]):
        code, log = tools.run(command, cwd=tools.ROOT)
        if code != 0:
            return log
    return None


def run_on(build, config, model, stall):
    """What the tool reports but for the time it took, and the outputs' hash."""
    with tempfile.TemporaryDirectory() as folder:
        output = os.path.join(folder, "output")
        code, log = tools.run([os.path.join(build, "kaiten"), "run", model, "--config", config, "--stall", stall, "--json", "-",
                               "--output", output])
        if code != 0:
            raise RuntimeError(f"{build}: {log}")
        report = json.loads(log[log.index("{"):])
        for other in ("seconds", "khz", "options", "program"):  # differ between any two runs
            del report[other]
        report["outputs hash"] = tools.digest_of(output)
        return report


def compare(results, build, config, model):
    for stall in STALLS:
        name = f"{config} {os.path.basename(model)}, {stall} % stalls"
        start = time.time()
        try:
            ours, others = (run_on(b, config, model, stall) for b in (build, OTHER))
        except (RuntimeError, ValueError) as error:
            results.failed(name, time.time() - start, "did not run", str(error))
            continue
        different = [f"{key}: {ours.get(key)} and {others.get(key)}" for key in sorted(ours.keys() | others.keys())
                     if ours.get(key) != others.get(key)]
        if different:
            results.failed(name, time.time() - start, "differs", "\n".join(different))
        else:
            results.passed(name, time.time() - start, f"{ours['cycles']} cycles, outputs {ours['outputs hash'][:12]}")


def main():
    parser = argparse.ArgumentParser(description="The same runs with two Verilators.")
    parser.add_argument("--build", default=os.path.join(tools.ROOT, "build"))
    parser.add_argument("--config", action="append")
    parser.add_argument("-j", type=int, default=os.cpu_count())
    args = parser.parse_args()
    configs = args.config or ["nano"]
    results = tools.Results("verilators", 60)
    os.makedirs(OUT, exist_ok=True)
    junit = os.path.join(OUT, "junit.xml")
    verilator = os.environ.get("KAITEN_VERILATOR") or shutil.which("verilator")
    if not verilator:
        results.skip("other Verilator", "none in PATH")
        return results.finish(junit)
    start = time.time()
    wrong = build_other(verilator, configs, args.j)
    first, second = verilator_of(args.build), verilator_of(OTHER)
    if wrong or not first or not second:
        results.failed("build", time.time() - start, "failed", wrong or f"no tool in {args.build if not first else OTHER}")
        return results.finish(junit)
    if first == second:
        results.skip("other Verilator", f"both are {first}")
        return results.finish(junit)
    results.passed(f"built with {second}, beside {first}", time.time() - start)
    models = ["demo"]
    for network in NETWORKS:
        path = os.path.join(tools.SHARED, "models", "tflite", network)
        if os.path.exists(path):
            models.append(path)
        else:
            results.skip(os.path.basename(network), "../shared is not there")
    for config in configs:
        for model in models:
            compare(results, args.build, config, model)
    return results.finish(junit)


if __name__ == "__main__":
    sys.exit(tools.guarded(main))
