# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""kaiten explore: its Pareto set against the whole search and the configurations it must agree with, shared by threads and ranks."""
import json
import os
import signal
import subprocess
import time
import unittest

from tool_case import KAITEN, ROOT, CommandCase, run, table

SMALL = ("demo", "--kp", "4,8", "--cp", "4", "--bus", "128,256", "--wb", "18,72", "--sb", "36", "--vb", "18", "--ob", "128", "--zsb", "1024")
# What differs between two runs of the same search.
HOW = ("options",)


def found(report):
    return {key: value for key, value in report.items() if key not in HOW}


class Explore(CommandCase):
    COMMAND = "explore"

    def test_cycles_are_those_of_estimate(self):
        """`unit` as a candidate takes the cycles that estimate says."""
        with open(os.path.join(ROOT, "rtl", "configs.json")) as f:
            unit = json.load(f)["unit"]
        kib = unit["Cp"] * 9 / 1024
        report = self.report("demo", "--kp", unit["Kp"], "--cp", unit["Cp"], "--bus", unit["AxiW"], "--wb", int(unit["WbRows"] * kib), "--sb",
                             int(unit["SbDepth"] * kib), "--vb", int(unit["VbDepth"] * kib), "--ob", unit["ObPixels"], "--zsb",
                             unit["ZsbArray"], "--clock", "100")
        estimate = json.loads(run(KAITEN, "estimate", "demo", "--json", "-").stdout)
        cycles = next(row["cycles"] for row in estimate["configs"] if row["config"] == "unit")
        self.assertEqual(len(report["front"]), 1)
        best = report["front"][0]
        differing = {key for key, value in best["parameters"].items() if unit[key] != value}
        self.assertEqual(differing, {"VwbRows"})
        self.assertEqual(best["network_cycles"], [cycles])
        self.assertAlmostEqual(best["milliseconds"] * 100_000, cycles)
        self.assertEqual(report["networks"], [{"name": "demo", "macs": estimate["macs"], "pb_group": 0}])

    def test_nothing_that_is_left_out_was_in_the_set(self):
        pruned = self.report(*SMALL)
        whole = self.report(*SMALL, "--whole")
        self.assertEqual(pruned["front"], whole["front"])
        self.assertEqual(whole["pruned"], 0)
        self.assertEqual(whole["compiled"], whole["candidates"])
        self.assertEqual(pruned["candidates"], pruned["compiled"] + pruned["pruned"] + pruned["over_budget"])

        def beats(a, b):
            pairs = [(a["cycles"], b["cycles"]), *((a["area"][k], b["area"][k]) for k in a["area"])]
            return all(x <= y for x, y in pairs) and any(x < y for x, y in pairs)
        self.assertGreater(len(whole["front"]), 1)
        self.assertFalse(any(beats(a, b) for a in whole["front"] for b in whole["front"]))

    def test_threads_and_ranks_find_the_same(self):
        one = self.report(*SMALL, "--threads", "1")
        self.assertEqual(found(self.report(*SMALL, "--threads", "3")), found(one))
        path = self.file("ranks.json")
        process = self.mpirun(3, *SMALL, "--ranks", "--threads", "1", "--json", path)
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, err)
        self.assertEqual(out.count("Pareto set"), 1)
        with open(path) as f:
            self.assertEqual(found(json.load(f)), found(one))

    def test_budget(self):
        free = self.report(*SMALL)
        most = min(entry["area"]["dsp"] for entry in free["front"])
        tight = self.report(*SMALL, "--dsp", most)
        self.assertTrue(tight["front"])
        self.assertTrue(all(entry["area"]["dsp"] <= most for entry in tight["front"]))
        self.assertGreater(tight["over_budget"], 0)
        nothing = self.run_command(*SMALL, "--lut", "10")
        self.assertEqual(nothing.returncode, 0)
        self.assertIn("0 in the Pareto set", nothing.stdout)

    def test_slow_memory_and_pb(self):
        """A memory of 2 bytes a cycle, and weights that need not cross it."""
        one = (*SMALL[:1], "--kp", "8", "--cp", "4", "--bus", "128", "--wb", "72", "--sb", "36", "--vb", "18", "--ob", "128", "--zsb", "1024")
        fast, slow, kept = (self.report(*one, *more)["front"][0]["cycles"]
                            for more in ((), ("--bandwidth", "2"), ("--bandwidth", "2", "--pb", "50")))
        self.assertGreater(slow, fast)
        self.assertLess(kept, slow)

    def test_pb_is_of_use_to_every_network(self):
        """Whichever comes first; SubNets of one SuperNet share it."""
        one = ("--kp", "8", "--cp", "8", "--bus", "256", "--wb", "288", "--sb", "72", "--vb", "72", "--image", "32", "--bandwidth", "2")
        names = ("demo", "ofa-resnet50/RA", "ofa-resnet50/RB")
        without = self.report(*names, *one)["front"][0]["network_cycles"]
        report = self.report(*names, *one, "--pb", "50")
        self.assertEqual([n["pb_group"] for n in report["networks"]], [0, 1, 1])
        kept = report["front"][0]["network_cycles"]
        self.assertTrue(all(a < b for a, b in zip(kept, without)), (kept, without))
        turned = self.report(*reversed(names), *one, "--pb", "50")["front"][0]["network_cycles"]
        self.assertEqual(turned, kept[::-1])

    def test_options_of_the_rtl(self):
        """Large windows and tables behind the array cost area and make a network faster that has both."""
        one = ("ofa-mobilenetv3/MA", "--kp", "16", "--cp", "8", "--bus", "256", "--wb", "1152", "--sb", "288", "--vb", "288", "--image", "64")
        report = self.report(*one, "--large-windows", "0,1", "--conv-table", "0,1")
        self.assertEqual(report["candidates"], 4)
        by = {(e["parameters"]["LargeWindows"], e["parameters"]["ConvTable"]): e for e in report["front"]}
        self.assertLess(by[1, 1]["cycles"], by[0, 0]["cycles"])
        self.assertGreater(by[1, 1]["area"]["lut"], by[0, 0]["area"]["lut"])
        self.assertEqual(self.report(*one)["front"][0]["area"], by[1, 1]["area"])
        text = self.run_command(*one, "--large-windows", "0,1", "--wide").stdout
        self.assertIn("large windows", text)
        self.assertNotIn("conv table", text)
        self.refused(*one, "--conv-table", "2")

    def test_networks(self):
        """A table and the demo together: cycles add up."""
        tiny = {"name": "tiny", "input": {"height": 8, "width": 8, "channels": 3},
                "layers": [{"name": "a", "op": "conv", "kernel": [3, 3], "stride": [1, 1], "pad": [1, 1, 1, 1], "channels": 8, "groups": 1}]}
        path = self.file("tiny.json", json.dumps(tiny))
        both = self.report(path, *SMALL)
        self.assertEqual([n["name"] for n in both["networks"]], ["tiny", "demo"])
        self.assertTrue(all(entry["cycles"] == sum(entry["network_cycles"]) for entry in both["front"]))

    def test_area_model(self):
        """The report's residuals are those of fpga/area.json, of each family; micro lacks options that candidates have."""
        with open(os.path.join(ROOT, "fpga", "area.json")) as f:
            entries = [entry for entry in json.load(f)["mapped"] if entry["name"] != "micro"]
        areas = {}
        for family in ("xc7", "xcup", "cyclonev", "ecp5"):
            report = self.report(*SMALL, "--family", family)
            self.assertEqual(report["family"], family)
            model = report["area_model"]
            mapped = {entry["name"]: entry["families"][family][""] for entry in entries if family in entry["families"]}
            self.assertEqual({e["name"]: e["mapped"]["lut"] for e in model["leave_one_out"]}, {n: b["lut"] for n, b in mapped.items()})
            for resource in ("lut", "dsp", "ram"):
                worst = max(abs(e["predicted"][resource] / mapped[e["name"]][resource] - 1) for e in model["leave_one_out"])
                self.assertAlmostEqual(model["worst_error"][resource], worst)
            areas[family] = report["front"][0]["area"]
        self.assertEqual(len({tuple(a.values()) for a in areas.values()}), 4)

    def test_ultra_rams(self):
        one = ("demo", "--kp", "8", "--cp", "8", "--bus", "256", "--wb", "2304", "--sb", "576", "--vb", "72")
        there = self.report(*one, "--family", "xcup")["front"][0]["area"]
        self.assertGreater(there["uram"], 0)
        none = self.report(*one)["front"][0]["area"]
        self.assertEqual(none["uram"], 0)
        self.assertGreater(none["ram"], there["ram"])
        # Too few of them: some memories are RAM blocks, as far as there are enough.
        few = self.report(*one, "--family", "xcup", "--uram", there["uram"] - 1)["front"][0]["area"]
        self.assertLess(few["uram"], there["uram"])
        self.assertGreater(few["ram"], there["ram"])
        self.assertFalse(self.report(*one, "--family", "xcup", "--uram", there["uram"] - 1, "--ram", there["ram"])["front"])
        self.assertTrue(self.report(*one, "--family", "xcup", "--uram", there["uram"], "--ram", there["ram"])["front"])

    def test_interrupt(self):
        path = self.file("part.json")
        process = subprocess.Popen([KAITEN, "explore", "demo", "--wb", ",".join(map(str, range(72, 2592, 36))), "--whole", "--json", path],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(1)
        error = self.end_by_signal(process, signal.SIGINT, 20)
        self.assertIn("interrupted", error)
        with open(path) as f:
            self.assertFalse(json.load(f)["complete"])

    def test_refusals(self):
        self.assertIn("network", self.refused())
        self.assertIn("--kp", self.refused("demo", "--kp", "8,x"))
        self.assertIn("--kp", self.refused("demo", "--kp", "8,,16"))
        self.assertIn("--bus", self.refused("demo", "--bus", "64"))
        self.assertIn("--dsp", self.refused("demo", "--dsp", "0"))
        self.assertIn("--bandwidth", self.refused("demo", "--bandwidth", "nan"))
        self.assertIn("family", self.refused("demo", "--family", "virtex2"))
        self.assertIn("xcup", self.refused("demo", "--uram", "96"))
        self.assertIn("--threads", self.refused("demo", "--threads", "0"))
        self.assertIn("--image", self.refused("mobilenet_v1", "--image", "7"))
        self.assertIn("combinations", self.refused("demo", "--cp", "6"))
        self.assertIn("combinations", self.refused("demo", *(word for axis in ("--wb", "--sb") for word in (axis, ",".join(map(str, range(1, 600)))))))
        self.refused("no_such_model.tflite")
        self.refused("demo,", "--kp", "8")
        self.refused(table("alexnet"), "--json", table("alexnet"))
        with open(table("alexnet")) as f:
            mine = self.file("mine.json", f.read())
        self.assertIn("is the file of --networks, too", self.refused("demo", mine, "--json", mine))


if __name__ == "__main__":
    unittest.main()
