# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""The boards that fpga/boards/project.py knows. Sizes of the parts: their vendors' tables."""
from dataclasses import dataclass, field


@dataclass
class Board:
    name: str         # as people say
    target: str       # module of litex_boards.targets
    config: str       # of Kaiten, the largest that leaves room for the processor
    family: str       # of scripts/synth.py
    lut: int          # of the part: LUTs (6 inputs; ECP5: 4), DSP blocks, RAM blocks, as scripts/synth.py counts them
    dsp: int
    ram: int
    tool: str         # that builds the project
    script: str       # what it is given
    clock: float = 50e6
    options: dict = field(default_factory=dict)
    demo_alone: bool = False  # the memory holds one network beside the firmware


BOARDS = {
    # Two LUTs of six inputs an ALM.
    "de10-nano": Board("Terasic DE10-Nano (with MiSTer's SDRAM)", "terasic_de10nano", "micro", "cyclonev", 83820, 112, 553, "Quartus Prime",
                       "terasic_de10nano.qsf", options={"with_mister_sdram": True}),
    "arty-a7-100": Board("Digilent Arty A7-100T", "digilent_arty", "micro", "xc7", 63400, 240, 135, "Vivado", "digilent_arty.tcl",
                         options={"variant": "a7-100"}),
    # nextpnr-xilinx has no DDR3: memory of 256 KiB on the chip. The sources are what openXC7's tools are given, not the script.
    "arty-a7-100-open": Board("Digilent Arty A7-100T (memory on the chip)", "digilent_arty", "micro", "xc7", 63400, 240, 135, "openXC7",
                              "digilent_arty.tcl", clock=25e6, options={"variant": "a7-100", "integrated_main_ram_size": 0x40000},
                              demo_alone=True),
    "nexys-video": Board("Digilent Nexys Video", "digilent_nexys_video", "nano", "xc7", 134600, 740, 365, "Vivado",
                         "digilent_nexys_video.tcl"),
    "zcu104": Board("ZCU104 (DDR4 of the logic side)", "xilinx_zcu104", "nano", "xc7", 230400, 1728, 312, "Vivado",
                    "xilinx_zcu104.tcl"),
    # 156 multipliers; what the mapping has more is made of LUTs (project.py). The clock: below what scripts/route.py reaches.
    "ulx3s-85f": Board("Radiona ULX3S-85F", "radiona_ulx3s", "micro", "ecp5", 83640, 156, 208, "yosys and nextpnr",
                       "radiona_ulx3s.ys", clock=20e6, options={"device": "LFE5U-85F"}),
}
