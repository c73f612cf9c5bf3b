# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Kaiten as a LiteX module: registers behind AXI4-Lite, memory behind AXI4, one level interrupt."""
import json
from pathlib import Path

from migen import ClockSignal, Instance, ResetSignal, Signal

from litex.gen import LiteXModule
from litex.soc.integration.soc import SoCRegion
from litex.soc.interconnect import axi, wishbone
from litex.soc.interconnect.csr_eventmanager import EventManager, EventSourceLevel

from .bus import AXI2WishboneBursts, AXIWindow

REGISTER_BYTES = 0x400
ADDRESS_BITS = 40  # of the memory port
READ_IDS = 2       # commands, data

# How the memory port reaches main memory.
PORTS = {
    "bridge": "the system's Wishbone bus, a burst at a time (AXI2WishboneBursts); any main memory",
    "litedram": "a port of LiteDRAM's crossbar as wide as Kaiten, past the bus and its L2 cache",
}


def rtl():
    """The folder of the RTL: the wheel's, or that of the checkout."""
    package = Path(__file__).resolve().parent
    for folder in (package / "rtl", package.parents[2] / "rtl"):
        if (folder / "kaiten.f").is_file():
            return folder
    raise FileNotFoundError(f"no rtl/ in {package} nor beside its checkout")


def rtl_sources():
    """Paths of the SystemVerilog sources in the order that tools want."""
    folder = rtl()
    lines = (folder / "kaiten.f").read_text().splitlines()
    return [str(folder / line) for line in lines if line and not line.startswith("//")]


def configurations():
    """{name: {parameter of kaiten_top: value}}"""
    return json.loads((rtl() / "configs.json").read_text())


class Kaiten(LiteXModule):
    """The core. `registers`: AXI4-Lite slave of 32 bits; `memory`: AXI4 master as wide as the configuration's beats; `ev`: the
    interrupt. `sources`: paths of other sources of kaiten_top than the RTL, one file of `make dropin` for instance, which has the
    parameters built in; none where the platform gets them elsewhere. `multiplier`: bits of the FPGA's multipliers, 25 on 7-series,
    27 on UltraScale+; None: one product each."""

    def __init__(self, platform, config="nano", sources=None, multiplier=None):
        known = configurations()
        if config not in known:
            raise ValueError(f"configuration '{config}': there are {', '.join(known)}")
        parameters = known[config]
        self.config = config
        self.registers = r = axi.AXILiteInterface(data_width=32, address_width=32)
        self.memory = m = axi.AXIInterface(data_width=parameters["AxiW"], address_width=ADDRESS_BITS, id_width=1)
        self.ev = EventManager()
        self.ev.done = EventSourceLevel(description="Kaiten's interrupt: a level, taken away in its irq_status.")
        self.ev.finalize()

        ports = {"i_clk_i": ClockSignal("sys"), "i_rst_ni": ~ResetSignal("sys"), "o_irq_o": self.ev.done.trigger}
        # Directions as Kaiten sees them: slave of the first, master of the second.
        for channel, mine, others in (("aw", "io", ("addr",)), ("w", "io", ("data", "strb")), ("b", "oi", ("resp",)),
                                      ("ar", "io", ("addr",)), ("r", "oi", ("data", "resp"))):
            self.connect(ports, "csr", channel, getattr(r, channel), mine, others)
        for channel, mine, others in (("aw", "oi", ("id", "addr", "len", "size", "burst")), ("w", "oi", ("data", "strb", "last")),
                                      ("b", "io", ("resp",)), ("ar", "oi", ("id", "addr", "len", "size", "burst")),
                                      ("r", "io", ("id", "data", "resp", "last"))):
            self.connect(ports, "axi", channel, getattr(m, channel), mine, others)
        # Register addresses are offsets, whatever the bus puts above.
        for channel in ("aw", "ar"):
            ports[f"i_csr_{channel}_addr_i"] = getattr(r, channel).addr[:REGISTER_BYTES.bit_length() - 1]
        # Memory that may be buffered.
        self.comb += [m.ar.cache.eq(0b0011), m.aw.cache.eq(0b0011)]
        if sources is None:
            ports.update({f"p_{name}": value for name, value in parameters.items()})
            if multiplier is not None:
                ports["p_MultiplierW"] = multiplier
        self.specials += Instance("kaiten_top", **ports)
        for source in rtl_sources() if sources is None else sources:
            platform.add_source(source)

    @staticmethod
    def connect(ports, prefix, channel, stream, directions, payload):
        """Adds one channel: the letter of VALID and payload, the letter of READY."""
        forth, back = directions
        ports[f"{forth}_{prefix}_{channel}_valid_{forth}"] = stream.valid
        ports[f"{back}_{prefix}_{channel}_ready_{back}"] = stream.ready
        for name in payload:
            ports[f"{forth}_{prefix}_{channel}_{name}_{forth}"] = getattr(stream, name)


def add_kaiten(soc, config="nano", port="bridge", name="kaiten", origin=None, window=None, sources=None, multiplier=None):
    """Puts Kaiten into a system on chip and returns it: registers as region `name` (KAITEN_BASE of generated/mem.h), interrupt
    KAITEN_INTERRUPT.
      port    one of PORTS
      origin  of the registers, in the CPU's uncached region; None: wherever the bus has room
      window  (origin, bytes) of what Kaiten may reach, the rest is answered with DECERR; None: the region main_ram
    The rest is Kaiten's."""
    if port not in PORTS:
        raise ValueError(f"port '{port}': there are {', '.join(PORTS)}")
    kaiten = Kaiten(soc.platform, config, sources, multiplier)
    soc.add_module(name=name, module=kaiten)
    registers = kaiten.registers
    if soc.bus.standard == "wishbone":
        # LiteX's AXI-Lite converter to wider buses hangs where a write is not in the lowest word: let Wishbone's do it.
        registers = wishbone.Interface(data_width=32, address_width=32, addressing="word")
        soc.submodules += axi.Wishbone2AXILite(registers, kaiten.registers)
    soc.bus.add_slave(name, registers, SoCRegion(origin=origin, size=REGISTER_BYTES, cached=False))
    if soc.irq.enabled:
        soc.irq.add(name, use_loc_if_exists=True)

    if window is None:
        ram = soc.bus.regions["main_ram"]
        window = (ram.origin, ram.size)
    width = kaiten.memory.data_width
    memory = axi.AXIInterface(data_width=width, address_width=32, id_width=1)
    soc.submodules += AXIWindow(kaiten.memory, memory, *window)
    if port == "bridge":
        words = wishbone.Interface(data_width=width, address_width=32, addressing="word")
        soc.submodules += AXI2WishboneBursts(memory, words)
        soc.bus.add_master(name, words)
    else:
        from litedram.frontend.axi import LiteDRAMAXI2Native, LiteDRAMAXIPort

        dram = LiteDRAMAXIPort(data_width=width, address_width=32, id_width=1)
        soc.comb += memory.connect(dram)
        # LiteDRAM counts from 0, the bus from the region's origin.
        soc.submodules += LiteDRAMAXI2Native(dram, soc.sdram.crossbar.get_port(data_width=width),
                                             base_address=soc.bus.regions["main_ram"].origin)
    return kaiten
