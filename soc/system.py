#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Writes a simulated system on chip: VexRiscv, memory, serial line, timer and Kaiten on LiteX's bus. scripts/soc.py calls it with the
Python that has LiteX, first for the headers that the firmware needs, then with the firmware for everything.

usage: system.py NAME OUTPUT [--firmware FILE]
OUTPUT gets software/ (headers, with `sdram` the BIOS) and gateware/ (Verilog, memory contents, sources.txt: what else is to be
compiled besides rtl/)."""
import argparse
import os

from litex.build.generic_platform import GenericPlatform, Pins, Subsignal
from litex.build.io import CRG
from litex.build.sim.common import sim_special_overrides
from litex.soc.integration.builder import Builder
from litex.soc.integration.common import get_mem_data
from litex.soc.integration.soc_core import SoCCore
from litedram.modules import MT48LC16M16
from litedram.phy.model import SDRAMPHYModel

from kaiten_litex import add_kaiten

MAIN_RAM_BYTES = 1 << 20
SDRAM_HZ = 100_000_000  # whose timing the model keeps, in cycles of the system's clock

# How Kaiten and the processor reach main memory.
SYSTEMS = {
    "bridge": dict(port="bridge"),
    "wide": dict(port="bridge", bus_data_width=128),
    "sdram": dict(port="litedram", sdram=True),
}

# What the monitors look at: the channels of Kaiten's two ports, as outputs of the design.
AXI = {"ar": ("id", "addr", "len", "size", "burst"), "r": ("id", "data", "resp", "last"), "aw": ("id", "addr", "len", "size", "burst"),
       "w": ("data", "strb", "last"), "b": ("id", "resp")}
AXI_LITE = {"aw": ("addr",), "w": ("data", "strb"), "b": ("resp",), "ar": ("addr",), "r": ("data", "resp")}


def watched(interface, channels):
    """{name: signal} of all signals of an interface's channels."""
    return {f"{channel}_{name}": getattr(getattr(interface, channel), name)
            for channel, payload in channels.items() for name in ("valid", "ready", *payload)}


class Platform(GenericPlatform):
    """Clock, reset, the serial line as a stream of bytes. build() writes Verilog and the memories' contents."""

    def __init__(self):
        stream = lambda side: [Subsignal(f"{side}_{name}", Pins(bits)) for name, bits in (("valid", 1), ("ready", 1), ("data", 8))]
        super().__init__("simulation", [("clk", 0, Pins(1)), ("rst", 0, Pins(1)), ("serial", 0, *stream("source"), *stream("sink"))],
                         name="kaiten_soc")

    def watch(self, soc, name, signals):
        self.add_extension([(name, 0, *(Subsignal(key, Pins(len(signal))) for key, signal in signals.items()))])
        pads = self.request(name)
        soc.comb += [getattr(pads, key).eq(signal) for key, signal in signals.items()]

    def build(self, soc, build_dir, build_name, **_):
        fragment = soc.get_fragment()
        self.finalize(fragment)
        output = self.get_verilog(fragment, name=build_name, special_overrides=dict(sim_special_overrides))
        # Without the header's date, and only where it differs: what is built of it stays up to date.
        verilog = "".join(line for line in output.main_source.splitlines(True) if not line.startswith("//"))
        files = {f"{build_name}.v": verilog, **output.data_files,
                 "sources.txt": "".join(f"{source[0]}\n" for source in self.sources)}
        for name, text in files.items():
            path = os.path.join(build_dir, name)
            if not os.path.exists(path) or open(path).read() != text:
                with open(path, "w") as f:
                    f.write(text)
        return output.ns


def boot(address):
    """lui t0, address; jr t0: the ROM of systems whose main memory holds the firmware from the start."""
    return [0x2B7 | address & 0xFFFFF000, 0x00028067]


class System(SoCCore):
    def __init__(self, port, contents, bus_data_width=32, sdram=False):
        platform = Platform()
        self.crg = CRG(platform.request("clk"), platform.request("rst"))
        rom = dict(integrated_rom_size=0x20000)
        ram = {}
        if not sdram:
            code = boot(0x40000000)
            words = [sum(word << 32 * i for i, word in enumerate(code[at:at + bus_data_width // 32]))
                     for at in range(0, len(code), bus_data_width // 32)]
            rom = dict(integrated_rom_size=0x1000, integrated_rom_init=words)
            ram = dict(integrated_main_ram_size=MAIN_RAM_BYTES, integrated_main_ram_init=contents)
        super().__init__(platform, clk_freq=1_000_000, cpu_type="vexriscv", bus_data_width=bus_data_width, uart_name="sim",
                         timer_uptime=True, ident="Kaiten", ident_version=False, **rom, **ram)
        if sdram:
            module = MT48LC16M16(SDRAM_HZ, "1:1")
            self.sdrphy = SDRAMPHYModel(module, data_width=32, clk_freq=SDRAM_HZ, init=contents)
            self.add_sdram("sdram", phy=self.sdrphy, module=module, l2_cache_size=8192)
            # The BIOS tests memory by writing to it: not over the firmware.
            self.add_constant("SDRAM_TEST_DISABLE")
            self.add_constant("ROM_BOOT_ADDRESS", self.mem_map["main_ram"])
            self.add_config("BIOS_NO_CRC")
        kaiten = add_kaiten(self, config="nano", port=port, sources=[])
        platform.watch(self, "axi", watched(kaiten.memory, AXI))
        platform.watch(self, "lite", watched(kaiten.registers, AXI_LITE))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", choices=SYSTEMS)
    parser.add_argument("output")
    parser.add_argument("--firmware", help="what stands in main memory at its start")
    args = parser.parse_args()
    options = SYSTEMS[args.name]
    width = 32 if options.get("sdram") else options.get("bus_data_width", 32)
    contents = get_mem_data(args.firmware, data_width=width, endianness="little") if args.firmware else []
    system = System(contents=contents, **options)
    Builder(system, output_dir=args.output, compile_software=bool(options.get("sdram")), compile_gateware=False).build()


if __name__ == "__main__":
    main()
