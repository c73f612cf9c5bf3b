# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Reading Verilator's counts, waiving by name, and that what is not reached fails."""
import contextlib
import io
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../scripts"))
import coverage
import tools


def entry(kind, file, line, what, count, place="top.a"):
    fields = [("f", file), ("l", str(line)), ("n", "3"), ("page", f"v_{kind}/x"), ("o", what), ("h", place)]
    return "C '" + "".join(f"\x01{k}\x02{v}" for k, v in fields) + f"' {count}\n"


TOP = entry("line", "rtl/kaiten_top.sv", 1, "block", 1)


class Counts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        saved = tools.ROOT
        self.addCleanup(setattr, tools, "ROOT", saved)
        self.addCleanup(coverage.source.cache_clear)
        tools.ROOT = self.root = folder.name
        coverage.source.cache_clear()
        self.write("rtl/kaiten_top.sv", "module kaiten_top;\n")
        self.write("rtl/a/kt_x.sv", "".join(f"line_{n};\n" for n in range(1, 30)))
        os.makedirs(os.path.join(self.root, "counts"))

    def write(self, name, text):
        path = os.path.join(self.root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as f:
            f.write(text)

    def judged(self, waivers=""):
        """Exit code and what is printed."""
        self.write("waivers.txt", waivers)
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            code = coverage.main(["--build", self.root, "--reuse", "--waivers", os.path.join(self.root, "waivers.txt")])
        return code, out.getvalue()

    def test_programs_and_instances_add_up(self):
        self.write("counts/1.dat", "# SystemC::Coverage-3\n" + TOP + entry("line", "rtl/a/kt_x.sv", 7, "if", 2) +
                   entry("branch", "rtl/a/kt_x.sv", 7, "if", 1, "top.b") + entry("toggle", "rtl/a/kt_x.sv", 9, "v[0]:0->1", 0))
        # A block test: what it has beyond the points of the whole machine does not count.
        self.write("counts/2.dat", entry("line", "rtl/a/kt_x.sv", 7, "if", 5) + entry("line", "tb/bench.sv", 1, "block", 1) +
                   entry("toggle", "rtl/a/kt_x.sv", 9, "v[8]:0->1", 1))
        points = [p for p in coverage.read_counts(os.path.join(self.root, "counts")) if p.module == "kt_x"]
        self.assertEqual([(p.kind, p.name, p.way, p.count) for p in points],
                         [("line", "if: line_7;", "", 8), ("toggle", "v[0]", "0->1", 0)])

    def test_waivers(self):
        waiver = coverage.Waiver(1, "kt_x kt_y ; toggle ; v[*].w[9-11] ; zero on nano")
        self.assertTrue(waiver.matches("kt_y", "toggle", "v[3].w[10]"))
        for other in (("kt_y", "toggle", "v[3].w[12]"), ("kt_y", "line", "v[3].w[10]"), ("kt_x2", "toggle", "v[3].w[10]"),
                      ("kt_y", "toggle", "v[3].w[10][1]")):
            self.assertFalse(waiver.matches(*other), other)
        for wrong in ("kt_x ; toggle ; v", "kt_x ; toggle ; v ;"):
            with self.assertRaises(ValueError):
                coverage.Waiver(2, wrong)

    def reached(self, lines=20, toggles=20):
        """Counts of twenty lines and twenty toggles of one module, so many of which were reached."""
        self.write("counts/1.dat", TOP + "".join(
            entry("line", "rtl/a/kt_x.sv", n + 1, "block", int(n < lines)) +
            entry("toggle", "rtl/a/kt_x.sv", 25, f"v[{n}]:0->1", int(n < toggles)) for n in range(20)))
        self.write("counts/cover_1.txt", "2\tconv | a\n")

    def test_everything_reached(self):
        self.reached()
        self.assertEqual(self.judged()[0], 0)

    def test_a_line_not_reached_fails(self):
        self.reached(lines=19)
        code, out = self.judged()
        self.assertEqual(code, 1)
        self.assertIn("FAIL kt_x", out)
        self.assertIn("rtl/a/kt_x.sv:20: line block: line_20;", out)
        self.assertEqual(self.judged("kt_x ; line ; block: line_20; ; unreachable\n")[0], 0)

    def test_toggles(self):
        self.reached(toggles=19)
        self.assertEqual(self.judged()[0], 0)  # 95 %
        self.reached(toggles=18)
        self.assertEqual(self.judged()[0], 1)
        self.assertEqual(self.judged("kt_x ; toggle ; v[18-19] ; zero\n")[0], 0)

    def test_a_waiver_that_hides_nothing_fails(self):
        self.reached()
        self.assertEqual(self.judged("kt_x ; toggle ; v[3] ; zero\n")[0], 1)

    def test_a_case_not_met_fails(self):
        self.reached()
        self.write("counts/cover_2.txt", "1\tconv | a\n0\tconv | b\n")
        code, out = self.judged()
        self.assertEqual(code, 1)
        self.assertIn("conv | b", out)
        self.assertEqual(self.judged("cover ; case ; conv | b ; cannot be\n")[0], 0)

    def test_no_counts_fail(self):
        self.assertEqual(self.judged()[0], 1)


if __name__ == "__main__":
    unittest.main()
