#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""A system on chip that boots: VexRiscv, memory and Kaiten (nano) on LiteX's bus, simulated, with the firmware of soc/firmware, which
runs networks with the driver of sw/firmware and compares their outputs (docs/software/soc.md).

usage: soc.py [--build DIR] [-j N] [--update] [NAME ...]     NAME: bridge (default), wide, sdram; all: these three
       soc.py [--build DIR] [-j N] --check                   all of them, both Verilators, what the monitors must find
DIR (default: build) has the tool. Systems go under build/soc, simulators into build-soc. --update writes the measured cycles into
the document. Exit code 1 where a firmware has not printed PASS; what lacks a tool is skipped with --check, by name.
Writes build/soc/junit.xml."""
import argparse
import csv
import filecmp
import glob
import json
import os
import re
import shlex
import shutil
import sys
import time

import tools

OUT = os.path.join(tools.ROOT, "build", "soc")
NETWORKS = os.path.join(OUT, "networks")
PACKAGE = os.path.join(OUT, "package")
FIRMWARE = os.path.join(tools.ROOT, "soc", "firmware")
DRIVER = os.path.join(tools.ROOT, "sw", "firmware")
PYTHON = os.path.join(tools.VENV, "bin", "python3")
DOCUMENT = "docs/software/soc.md"
SYSTEMS = {"bridge": "bus of 32 bits, memory block", "wide": "bus of 128 bits, memory block",
           "sdram": "LiteDRAM, SDRAM of 32 bits; boots through the BIOS"}
PIXELS = 32 * 32  # of an image of the demo network
DEMO_IMAGES = [0, 2, 3]
RESNET8 = "tflite/mlperf-tiny/pretrainedResnet_quant.tflite"
RESNET8_IMAGES = ["quant_airplane.dat", "quant_cat.dat"]
CYCLES = 60_000_000  # more than any of these systems needs
SECONDS = 1200


class Failure(Exception):
    """What went wrong, and what the program said."""

    def __init__(self, message, log=""):
        super().__init__(message)
        self.log = log


def call(name, command, limit=SECONDS, **options):
    """The output of a command that must end well."""
    code, log = tools.run(command, limit=limit, **options)
    if code != 0:
        raise Failure(f"{name} {'took too long' if code is None else f'ended with code {code}'}", log)
    return log


def missing():
    """What this machine lacks, with the way to get it; empty where nothing is missing."""
    lacking = []
    if not os.path.exists(PYTHON) or tools.run([PYTHON, "-c", "import litex, litedram, hatchling"])[0] != 0:
        lacking.append("LiteX")
    if not tools.find("riscv64-unknown-elf-gcc"):
        lacking.append("riscv64-unknown-elf-gcc")
    return f"{' and '.join(lacking)} (run `scripts/setup.sh --soc`)" if lacking else ""


# --- networks --------------------------------------------------------------------------------------------------------

def demo_cases():
    """Inputs and LiteRT's logits for some images of the demo network."""
    folder = os.path.join(tools.ROOT, "models", "demo")
    with open(os.path.join(folder, "digits.u8"), "rb") as f:
        pixels = f.read()
    with open(os.path.join(folder, "golden.tsv"), newline="") as f:
        golden = {int(row["image"]): [int(row[f"logit{i}"]) for i in range(10)] for row in csv.DictReader(f, delimiter="\t")}
    # The model takes uint8; the device's values are these less 128.
    return [(bytes(p ^ 0x80 for p in pixels[i * PIXELS:(i + 1) * PIXELS]), golden[i]) for i in DEMO_IMAGES]


def resnet8_cases(shared):
    """Inputs, and the logits that TensorFlow Lite Micro gives; the softmax behind them is the host's."""
    folder = os.path.join(shared, "models", "vectors", "resnet8")
    with open(os.path.join(folder, "expected.json")) as f:
        known = {case["file"]: case["logits_int8"] for case in json.load(f)["cases"]}
    cases = []
    for name in RESNET8_IMAGES:
        with open(os.path.join(folder, name), "rb") as f:
            cases.append((f.read(), known[name]))
    return cases


def c_array(values):
    return ", ".join(str(v - 256 if v > 127 else v) for v in values)


def networks_source(networks, foreign):
    """networks.c and images.S for [(name, path of the image, cases)] and an image that must be refused."""
    code = ['#include "networks.h"', ""]
    images = ['  .section .images, "aw"']
    entries = []
    for name, image, cases in [*networks, ("foreign", foreign, [])]:
        images += ["  .balign 4", f"  .global {name}_image", f"{name}_image:", f'  .incbin "{image}"', f"  .global {name}_image_end",
                   f"{name}_image_end:"]
        code.append(f"extern uint8_t {name}_image[], {name}_image_end[];")
        size = f".image_bytes = {os.path.getsize(image)}"
        if not cases:
            code.append(f'const struct network {name} = {{.name = "{name}", .image = {name}_image, {size}}};')
            continue
        inputs, outputs = ([value for case in cases for value in case[i]] for i in (0, 1))
        code.append(f"static const int8_t {name}_inputs[] = {{{c_array(inputs)}}};")
        code.append(f"static const int8_t {name}_expected[] = {{{c_array(outputs)}}};")
        entries.append(f'    {{.name = "{name}", .image = {name}_image, {size}, .input_bytes = {len(cases[0][0])}, .output_bytes = '
                       f"{len(cases[0][1])}, .cases = {len(cases)}, .inputs = {name}_inputs, .expected = {name}_expected}},")
    code += ["const struct network networks[] = {", *entries, "};", f"const uint32_t network_count = {len(entries)};", ""]
    return "\n".join(code), "\n".join([*images, ""])


def write_networks(kaiten, config="nano", folder=NETWORKS, demo_alone=False):
    """Compiles the networks and writes them for the firmware. Names of those that are there, why others are not."""
    os.makedirs(folder, exist_ok=True)

    def image(model, config, name):
        path = os.path.join(folder, f"{name}.kimg")
        call(f"kaiten compile {model}", [kaiten, "compile", model, "--config", config, "--image", path])
        return path

    networks = [("demo", image("demo", config, "demo"), demo_cases())]
    absent = ""
    model = os.path.join(tools.SHARED, "models", RESNET8)
    if demo_alone:
        absent = "the demo network alone was asked for"
    elif os.path.exists(model):
        networks.append(("resnet8", image(model, config, "resnet8"), resnet8_cases(tools.SHARED)))
    else:
        absent = f"{RESNET8} of KAITEN_SHARED is absent"
    code, images = networks_source(networks, image("demo", "unit", "foreign"))
    for name, text in (("networks.c", code), ("images.S", images)):
        tools.write(os.path.join(folder, name), text)
    return [name for name, _, _ in networks], absent


# --- system ----------------------------------------------------------------------------------------------------------

def install_package():
    """The LiteX core as pip installs it, with the RTL inside."""
    shutil.rmtree(PACKAGE, ignore_errors=True)
    call("pip install fpga/litex", [PYTHON, "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--no-build-isolation",
                                    "--disable-pip-version-check", "--target", PACKAGE, os.path.join(tools.ROOT, "fpga", "litex")])
    rtl, packed = (os.path.join(*parts, "rtl") for parts in ((tools.ROOT,), (PACKAGE, "kaiten_litex")))
    with open(os.path.join(rtl, "kaiten.f")) as f:
        files = [line.strip() for line in f if line.strip() and not line.startswith("//")]
    same, differ, lost = filecmp.cmpfiles(rtl, packed, [*files, "kaiten.f", "configs.json"], shallow=False)
    if differ or lost:
        raise Failure(f"the package's RTL is not that of the checkout: {', '.join(differ + lost)}")
    return len(same)


def environment():
    env = tools.environment()
    env["PYTHONPATH"] = PACKAGE
    env["PYTHONDONTWRITEBYTECODE"] = "1"
    return env


def system(name, *arguments):
    call(f"soc/system.py {name}", [PYTHON, os.path.join(tools.ROOT, "soc", "system.py"), name, os.path.join(OUT, name), *arguments],
         env=environment(), cwd=OUT)


def variables(folder):
    """What LiteX says of the processor and its tools."""
    with open(os.path.join(folder, "software", "include", "generated", "variables.mak")) as f:
        return dict(line.rstrip("\n").split("=", 1) for line in f if "=" in line)


def build_firmware(folder, networks=NETWORKS):
    """Path of the binary that stands in main memory of the system whose headers are in `folder`."""
    known = variables(folder)
    include = os.path.join(folder, "software", "include")
    soc = known["SOC_DIRECTORY"]
    sources = [os.path.join(FIRMWARE, "start.S"),  # first: the program begins there
               *(os.path.join(FIRMWARE, f) for f in sorted(os.listdir(FIRMWARE)) if f.endswith(".c")),
               os.path.join(DRIVER, "kaiten.c"), os.path.join(DRIVER, "kaiten_image.c"),
               os.path.join(networks, "networks.c"), os.path.join(networks, "images.S")]
    elf, binary = (os.path.join(folder, f"firmware.{kind}") for kind in ("elf", "bin"))
    call("the firmware's compiler", [f"{known['TRIPLE']}-gcc", "-std=gnu11", "-O2", "-g", *shlex.split(known["CPUFLAGS"]), "-ffreestanding",
          "-fno-tree-loop-distribute-patterns", "-Wall", "-Wextra", "-Werror", "-nostdlib", "-static", "-Wl,--build-id=none",
          "-Wl,--no-warn-rwx-segments", f"-I{FIRMWARE}", f"-I{DRIVER}",
          *("-isystem" + path for path in (include, known["CPU_DIRECTORY"], os.path.join(soc, "software", "include"),
                                           os.path.join(soc, "software"))),
          f"-L{include}", "-T", os.path.join(FIRMWARE, "link.ld"), "-o", elf, *sources, "-lgcc"])
    call("objcopy", [f"{known['TRIPLE']}-objcopy", "-O", "binary", elf, binary])
    return binary


def build_simulators(names, jobs, verilator=None):
    """Simulators of systems that are written, made with the pinned Verilator, or with another in a folder of its own; that folder."""
    build = os.path.join(tools.ROOT, "build-soc-other" if verilator else "build-soc")
    call("cmake", ["cmake", "-G", "Ninja", "-S", tools.ROOT, "-B", build, "-DCMAKE_BUILD_TYPE=Release", f"-DKAITEN_VENV={tools.VENV}",
                   f"-DKAITEN_VERILATOR={verilator or os.environ.get('KAITEN_VERILATOR', '')}", "-DKAITEN_SIM_CONFIGS=nano",
                   "-DKAITEN_SIM_DEBUG=", f"-DKAITEN_SOC={';'.join(os.path.join(OUT, name) for name in names)}"])
    call("building the simulators", ["cmake", "--build", build, "-j", str(jobs), "--target", *(f"soc_{name}" for name in names)],
         limit=3600)
    return build


def simulate(build, name, *arguments):
    """Exit code and output of a system's run."""
    return tools.run([os.path.join(build, f"soc_{name}"), str(CYCLES), *arguments], limit=SECONDS,
                     cwd=os.path.join(OUT, name, "gateware"))


def measured(log):
    """{(network, image, how): (Kaiten's cycles, the processor's)} of the sound runs, the last of each."""
    return {(m[1], int(m[2]), m[3]): (int(m[4]), int(m[5]))
            for m in re.finditer(r"^(\w+) (\d+) by (\w+): (\d+) cycles, (\d+) of the processor$", log, re.M)}


def judge(code, log, networks):
    """None, or why the run was no success: PASS must have been printed, and a run of every network."""
    if code != 0:
        return "took too long" if code is None else f"ended with code {code}"
    if not re.search(r"^\d+ checks, 0 failed, PASS$", log, re.M):
        return "did not print PASS"
    runs = measured(log)
    silent = [name for name in networks for how in ("interrupt", "polling") if (name, 0, how) not in runs]
    return f"did not run {', '.join(sorted(set(silent)))}" if silent else None


def table(logs):
    """Cycles by system, of the first image of each network; and what the compiler expects of an ideal memory."""
    modelled = dict(re.findall(r"^(\w+): .*, (\d+) cycles modelled$", next(iter(logs.values())), re.M))
    rows = [["ideal memory, modelled", *(f"{int(modelled[name]):,}" if name in modelled else "-" for name in ("demo", "resnet8")
                                         for _ in range(2)), "-"]]
    for name, log in logs.items():
        runs = measured(log)
        total = re.search(r"^simulated: (\d+) cycles", log, re.M)
        cells = [f"{runs[network, 0, how][0]:,}" if (network, 0, how) in runs else "-"
                 for network in ("demo", "resnet8") for how in ("interrupt", "polling")]
        rows.append([f"`{name}`: {SYSTEMS[name]}", *cells, f"{int(total[1]):,}"])
    return tools.markdown(["system", "demo by interrupt", "by polling", "ResNet-8 by interrupt", "by polling", "cycles of the whole run"],
                          rows)


# --- what is run -----------------------------------------------------------------------------------------------------

class Run:
    def __init__(self, args, results):
        self.args = args
        self.results = results
        self.networks = []
        self.logs = {}

    def step(self, name, work):
        """Counts what work() does; what it says, None where it failed."""
        start = time.time()
        try:
            said = work()
        except Failure as failure:
            self.results.failed(name, time.time() - start, str(failure), failure.log)
            return None
        self.results.passed(name, time.time() - start, said or "")
        return said or "done"

    def prepare(self):
        kaiten = os.path.join(self.args.build, "kaiten")

        def images():
            if not os.path.exists(kaiten):
                raise Failure(f"{kaiten} is missing (run `make verilate`)")
            self.networks, absent = write_networks(kaiten)
            if absent:
                self.results.skip("resnet8", absent)
            return ", ".join(self.networks)

        return (self.step("package", lambda: f"{install_package()} files of RTL inside") is not None and
                self.step("program images", images) is not None)

    def package_tests(self):
        for test in sorted(glob.glob(os.path.join(tools.ROOT, "tests", "litex", "*_test.py"))):
            name = os.path.relpath(test, tools.ROOT)
            self.step(name, lambda: re.search(r"^Ran .*$", call(name, [PYTHON, "-B", test]), re.M)[0])

    def write(self, name):
        def work():
            system(name)
            binary = build_firmware(os.path.join(OUT, name))
            system(name, "--firmware", binary)
            return f"firmware of {os.path.getsize(binary):,} bytes"

        return self.step(f"{name}: system and firmware", work) is not None

    def boot(self, build, name, label=""):
        def work():
            code, log = simulate(build, name)
            print("".join(f"     {line}\n" for line in log.splitlines()), end="", flush=True)
            wrong = judge(code, log, self.networks)
            if wrong:
                raise Failure(wrong)
            if not label:
                self.logs[name] = log
            elif measured(log) != measured(self.logs.get(name, log)):
                raise Failure("other cycles than with the pinned Verilator")
            return re.search(r"^\d+ checks, .*$", log, re.M)[0]

        self.step(f"{name}: boots{label}", work)

    def find(self, build, name, fault):
        """A run in which a monitor must find a wrong signal."""
        def work():
            code, log = simulate(build, name, fault)
            found = re.search(r"^simulated: .*, (\d+) rules broken$", log, re.M)
            if code != 1 or not found or found[1] == "0" or "was never shown" in log:
                raise Failure(f"not found, exit code {code}", log)
            return re.search(r"^AXI protocol error .*$", log, re.M)[0]

        self.step(f"{name}: the monitors find {fault}", work)

    def systems(self, names):
        if not self.prepare():
            return
        if self.args.check:
            self.package_tests()
        written = [name for name in names if self.write(name)]
        build = None

        def simulators():
            nonlocal build
            build = build_simulators(written, self.args.j)
            return ""

        if not written or self.step("simulators", simulators) is None:
            return
        for name in written:
            self.boot(build, name)
        if self.args.check and "bridge" in written:
            for fault in call("soc_bridge", [os.path.join(build, "soc_bridge"), "--faults"]).split():
                self.find(build, "bridge", fault)
            self.other("bridge")

    def other(self, name):
        """The same with the distribution's Verilator."""
        verilator = shutil.which("verilator")
        if not verilator or os.environ.get("KAITEN_VERILATOR"):
            self.results.skip(f"{name}: other Verilator", "none in PATH" if not verilator else "KAITEN_VERILATOR is set")
            return
        build = None

        def simulators():
            nonlocal build
            build = build_simulators([name], self.args.j, verilator)
            return ""

        if self.step(f"{name}: simulator by the distribution's Verilator", simulators) is not None:
            self.boot(build, name, " by the distribution's Verilator")


def main():
    parser = argparse.ArgumentParser(description="A simulated system on chip with Kaiten.")
    parser.add_argument("names", nargs="*", metavar="NAME", default=["bridge"], help=", ".join([*SYSTEMS, "all"]))
    parser.add_argument("--build", default=os.path.join(tools.ROOT, "build"), help="folder with the tool")
    parser.add_argument("--check", action="store_true", help="everything, as the long check does")
    parser.add_argument("--update", action="store_true", help=f"write the cycles into {DOCUMENT}")
    parser.add_argument("-j", type=int, default=os.cpu_count())
    args = parser.parse_args()
    args.build = os.path.abspath(args.build)
    names = list(SYSTEMS) if args.check or "all" in args.names else args.names
    if unknown := [name for name in names if name not in SYSTEMS]:
        parser.error(f"no system {', '.join(unknown)}; there are {', '.join(SYSTEMS)}")
    os.makedirs(OUT, exist_ok=True)
    results = tools.Results("soc", 50)
    if lacking := missing():
        tools.must_have(lacking)
        if not args.check:
            sys.exit(f"missing: {lacking}")
        results.skip("system on chip", f"not installed: {lacking}")
        return results.finish(os.path.join(OUT, "junit.xml"))
    run = Run(args, results)
    run.systems(names)
    if run.logs:
        text = table(run.logs)
        print(text, end="")
        if args.update:
            tools.write_between(DOCUMENT, "cycles", text)
    return results.finish(os.path.join(OUT, "junit.xml"))


if __name__ == "__main__":
    sys.exit(tools.guarded(main))
