# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""kaiten roofline: its numbers follow from each other, and more PB or bandwidth is never worse."""
import unittest

from tool_case import CommandCase


class Roofline(CommandCase):
    COMMAND = "roofline"

    def test_numbers(self):
        report = self.report("ofa-mobilenetv3", "--macs", "1000", "--bandwidth", "50")
        self.assertEqual(report["ridge"], 40)
        self.assertEqual([s["name"] for s in report["subnets"]], ["MA", "MB", "MC", "MD", "ME", "MF", "MG"])
        for subnet in report["subnets"]:
            for side in (subnet["without_pb"], subnet["with_pb"]):
                self.assertAlmostEqual(side["intensity"], 2 * subnet["macs"] / side["bytes"])
                self.assertAlmostEqual(side["operations_per_cycle"], min(2000, 50 * side["intensity"]))
            change = subnet["with_pb"]["cycles"] / subnet["without_pb"]["cycles"] - 1
            self.assertAlmostEqual(subnet["latency_change"], change)
        self.assertIn("40.0 operations a byte", self.run_command("ofa-mobilenetv3", "--macs", "1000", "--bandwidth", "50").stdout)

    def test_more_pb_reads_less(self):
        bytes_of = [[s["with_pb"]["bytes"] for s in self.report("--pb", pb)["subnets"]] for pb in ("1", "500KiB", "2MiB")]
        for small, medium, large in zip(*bytes_of):
            self.assertTrue(small > medium > large)

    def test_refusals(self):
        self.refused("ofa-resnet18")
        self.assertIn("--macs", self.refused("--macs", "0"))
        self.assertIn("--bandwidth", self.refused("--bandwidth", "nan"))
        self.assertIn("--pb", self.refused("--pb", "x"))
        self.assertIn("7 x 7", self.refused("ofa-mobilenetv3", "--kernel", "7"))
        self.assertIn("--kernel", self.refused("--kernel", "-1"))
        self.assertIn("--clock", self.refused("--clock", "0"))


if __name__ == "__main__":
    unittest.main()
