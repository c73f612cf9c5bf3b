#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Writes what rtl/configs.json says about the configurations: docs/hardware/configurations.md, and the table of README.
Resources are those that scripts/synth.py recorded in fpga/README.md.

usage: gen_configs.py [--check]
  --check  write nothing; exit code 1 if a committed file differs"""
import argparse
import os
import sys

import lint
import tools

PAGE = "docs/hardware/configurations.md"
# What each configuration is for; a configuration without a line here is an error.
PURPOSE = {
    "micro": "FPGAs of hobby boards: no sum row, no rule `float`, no codec",
    "nano": "the smallest with everything: FPGA budgets, coverage, signals, debugging",
    "unit": "tests of an array with KP / CP = 2",
    "small": "a middle size, half of `base` in multipliers and bus",
    "base": "the default: most networks of 224 x 224 pixels run without spilling",
    "large": "16 channels a word; its simulator is not built by default",
    "zcu104": "multipliers and buffers of the SUSHI paper's ZCU104; simulator not built by default",
    "u50": "those of its Alveo U50; simulator not built by default",
    "de2_150": "64 lanes and memories of the Occam paper's FPGA board; simulator not built by default",
}
ABOUT = {
    "Kp": "KP: output channels, rows of the array", "Cp": "CP: input channels, columns of the array, bytes of a word",
    "StageRows": "rows of the array that work in the same cycle; KP / StageRows stages follow each other",
    "AxiW": "bits of a bus beat", "WbRows": "rows of WB, 9 * CP bytes each", "VwbRows": "rows of VWB, 9 * CP bytes each",
    "SbDepth": "words of each of the nine banks of SB, CP bytes each", "VbDepth": "the same of VB",
    "ObPixels": "pixels whose partial sums OB holds, KP int32 each", "ZsbArray": "words of the array's ZSB, 9 bytes each",
    "ZsbVector": "words of the vector engine's ZSB, 9 bytes each",
    "SumRow": "1: weights of the array may have a zero point", "AddPair": "1: the vector engine adds two operands in a cycle",
    "TwoPixels": "1: the array works on two pixels at once where one fills at most four words of a window",
    "LargeWindows": "1: the vector engine streams windows up to 9 x 9",
    "Resident": "1: passes of a kernel tile may stay in PB, the others follow in DB",
    "Float": "1: results may be requantised by rule `float` (ONNX models)",
    "Average": "1: windows of kind average, rule `average`",
    "ConvTable": "1: results of the array may go through tables; those of both engines are read at all lanes at once",
    "Table": "1: results of the vector engine may go through tables",
    "Zvc": "beats of the longest compressed row segment, 0: no codec",
}


def memories(c):
    """{memory: bytes}"""
    word = c["Cp"]
    return {"WB": c["WbRows"] * 9 * word, "VWB": c["VwbRows"] * 9 * word, "SB": 9 * c["SbDepth"] * word,
            "VB": 9 * c["VbDepth"] * word, "OB": c["ObPixels"] * c["Kp"] * 4, "ZSB array": c["ZsbArray"] * 9,
            "ZSB vector": c["ZsbVector"] * 9}


def widths(c):
    """{memory: (bytes read, bytes written) in a cycle}, at most"""
    row, stage, sums = 9 * c["Cp"], c["StageRows"], 4 * c["Kp"]
    return {"WB": (stage * row, row), "VWB": (row, row), "SB": (row, row), "VB": (row, row),
            "OB": ((2 if c["TwoPixels"] else 1) * sums, sums), "ZSB array": (9 * stage, 9), "ZSB vector": (9, 9),
            "bus": (c["AxiW"] // 8, c["AxiW"] // 8)}


def kib(n):
    return f"{n / 1024:,.4g}" if n < 1024 * 1024 else f"{n / 1024:,.0f}"


def macs(c):
    return c["Kp"] * c["Cp"] * 9, 27 * c["Cp"]


def resources(config):
    """LUT / FF / DSP / RAM of the whole design by family, as fpga/README.md has them."""
    whole = next(row for row in tools.read_table("fpga/README.md", f"resources of {config}") if row["block"] == "whole design")
    return {family: amounts for family, amounts in whole.items() if family != "block"}


def short(configs):
    rows = []
    for name, c in configs.items():
        array, vector = macs(c)
        rows.append([f"`{name}`", f"{c['Kp']} x {c['Cp']}", f"{array:,}", f"{vector:,}", kib(sum(memories(c).values())), str(c["AxiW"]),
                     PURPOSE[name]])
    return tools.markdown(["configuration", "KP x CP", "array MACs a cycle", "vector MACs a cycle", "memories, KiB", "bus, bits", "for"],
                          rows)


def page(configs):
    names = list(configs)
    parameters = tools.markdown(["parameter", *(f"`{n}`" for n in names), ""],
                                [[f"`{p}`", *(f"{configs[n][p]:,}" for n in names), ABOUT[p]] for p in configs[names[0]]])
    sizes = {n: memories(c) for n, c in configs.items()}
    of = {"WB": "weights of the array", "VWB": "weights of the vector engine", "SB": "maps that the array reads",
          "VB": "maps that the vector engine reads", "OB": "partial sums", "ZSB array": "requantisation parameters of the array",
          "ZSB vector": "requantisation parameters of the vector engine"}
    rows = [[m, *(kib(sizes[n][m]) for n in names), of[m]] for m in sizes[names[0]]]
    rows.append(["all", *(kib(sum(sizes[n].values())) for n in names), ""])
    ports = {n: widths(c) for n, c in configs.items()}
    width = tools.markdown(["memory", *(f"`{n}`" for n in names)],
                           [[m, *("{:,} / {:,}".format(*ports[n][m]) for n in names)] for m in ports[names[0]]])
    mapped = {n: resources(n) for n in ("micro", "nano")}
    area = tools.markdown(["family", *(f"`{n}`: LUT / FF / DSP / RAM" for n in mapped)],
                          [[family, *(used[family] for used in mapped.values())] for family in mapped["nano"]])
    return f"""# Configurations

Generated by `scripts/gen_configs.py` from `rtl/configs.json`; `make check` compares the two. The parameters are
those of `kaiten_top`; simulators, compiler and tests take them from that file, a driver reads them from the
[registers](../formats/registers.md).

{short(configs)}
A MAC is a multiplier: the array does KP * CP * 9 products a cycle, the vector engine 27 * CP.

## Memories, KiB

{tools.markdown(["memory", *(f"`{n}`" for n in names), "holds"], rows)}
## Widths, bytes a cycle

Read / written at most, where all ports work: WB gives the rows of a stage and takes one, SB and VB have nine banks of a
word, OB has a sum for each row of the array and reads those of a second pixel where there are `TwoPixels`.

{width}
## The paper's boards

`zcu104` (1,296 multipliers) and `u50` (4,608) have those of the two accelerators of Behnam et al. (SUSHI, MLSys 2023)
and, as far as this RTL expresses them, the buffers of its tables 2 and 3: SB of 576 KiB, OB of 327, 8 of the array's
parameters, WB of 2,880 for PB (1,728) and both halves of DB (1,152). `zcu104` has less of WB: addresses have 16 bits,
and 1,296 multipliers are 36 x 4 engines of nine, with rows of 36 bytes (CP must be a power of two; the paper does not
say its KP and CP).

The paper has no engine for depthwise layers; VB is as large as SB, VWB has the rows of `base`. Line buffers are
registers here. The paper's roofline reads 192 bytes a cycle, a bus has 64 at most. Both run the demo network and a
SubNet of OFA-ResNet50 exactly (build with `-DKAITEN_SIM_CONFIGS="zcu104;u50"`, then `kaiten run demo --config
zcu104`); their simulators are not built by default.

## Parameters

{parameters}
Beside these `kaiten_top` has `MultiplierW`, the bits of the FPGA's multipliers: with 25 (7-series) or 27 (UltraScale+)
one makes two products of the array ([ADR 27](../adr/0027-two-products-in-one-multiplier.md)). Results, cycles and
registers are the same with any.

## Resources of `micro` and `nano`

yosys, mapped for area (`make synth`; [fpga/README.md](../../fpga/README.md) has every block, and what the figures can
and cannot say, and `base` and `zcu104`). `python3 scripts/synth.py --config small` maps another one.

{area}"""


def main():
    parser = argparse.ArgumentParser(description="The tables of configurations.")
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    configs = lint.configurations()
    if set(configs) != set(PURPOSE):
        sys.exit("gen_configs: PURPOSE and rtl/configs.json name different configurations")
    with open(os.path.join(tools.ROOT, "README.md")) as f:
        readme = f.read()
    files = {PAGE: page(configs), "README.md": tools.between(readme, "configurations", short(configs))}
    return tools.write_generated(files, args.check)


if __name__ == "__main__":
    sys.exit(tools.guarded(main))
