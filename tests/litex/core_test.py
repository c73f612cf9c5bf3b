# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""fpga/litex: the instance of kaiten_top has its ports and parameters, whatever the configuration. Needs LiteX: scripts/soc.py runs it."""
import json
import os
import re
import sys
import unittest

from migen import Instance

from litex.soc.integration import builder  # noqa: F401: LiteX imports in a circle otherwise

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
sys.path.insert(0, os.path.join(ROOT, "fpga/litex"))
import kaiten_litex


class Platform:
    """Remembers its sources."""

    def __init__(self):
        self.sources = []

    def add_source(self, path):
        self.sources.append(path)


def instance(config="nano", sources=None, multiplier=None):
    """The core's instance, {direction and name: width} of its ports, its platform."""
    platform = Platform()
    core = kaiten_litex.Kaiten(platform, config, sources, multiplier)
    found = next(special for special in core._fragment.specials if isinstance(special, Instance))
    ports = {f"{kind.__name__.lower()} {port.name}": port.expr for kind in (Instance.Input, Instance.Output)
             for port in found.items if isinstance(port, kind)}
    return core, found, ports, platform


def declared(parameters):
    """The same of rtl/kaiten_top.sv."""
    with open(os.path.join(ROOT, "rtl/kaiten_top.sv")) as f:
        text = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)
    widths = {"AddrW-1": 40, "AxiW-1": parameters["AxiW"], "AxiW/8-1": parameters["AxiW"] // 8}
    return {f"{kind} {name}": widths.get(high, int(high) + 1 if high.isdigit() else 0) if high else 1
            for kind, high, name in re.findall(r"^\s*(input|output)\s+logic\s+(?:\[([^:\]]+):0\]\s*)?(\w+)", text, re.M)}


class Core(unittest.TestCase):
    def test_ports_are_those_of_the_top_module(self):
        for config, parameters in kaiten_litex.configurations().items():
            _, _, ports, _ = instance(config)
            wanted = declared(parameters)
            self.assertGreater(len(wanted), 40)
            self.assertEqual(sorted(ports), sorted(wanted))
            for name, expression in ports.items():
                if hasattr(expression, "__len__"):
                    self.assertEqual(len(expression), wanted[name], f"{config}: {name}")

    def test_parameters_are_those_of_the_configuration(self):
        _, found, _, _ = instance("unit")
        parameters = {item.name: item.value for item in found.items if isinstance(item, Instance.Parameter)}
        with open(os.path.join(ROOT, "rtl/configs.json")) as f:
            configuration = json.load(f)["unit"]
        self.assertEqual(parameters, configuration)
        _, found, _, _ = instance("unit", multiplier=25)
        parameters = {item.name: item.value for item in found.items if isinstance(item, Instance.Parameter)}
        self.assertEqual(parameters, configuration | {"MultiplierW": 25})

    def test_sources_are_those_of_the_file_list(self):
        _, _, _, platform = instance()
        self.assertGreater(len(platform.sources), 60)
        self.assertTrue(platform.sources[-1].endswith("kaiten_top.sv"))
        self.assertTrue(all(map(os.path.exists, platform.sources)))
        self.assertEqual(instance(sources=["one.v"])[3].sources, ["one.v"])

    def test_what_does_not_exist_is_refused(self):
        self.assertRaisesRegex(ValueError, "nano", kaiten_litex.Kaiten, Platform(), "tiny")
        self.assertRaisesRegex(ValueError, "bridge", kaiten_litex.add_kaiten, None, port="pigeon")


if __name__ == "__main__":
    unittest.main()
