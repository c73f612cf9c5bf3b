# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""`kaiten swap` from outside: keys, networks and machines by name and file, the paper's results within bounds, errors of one line."""
import json
import os
import unittest

from tool_case import ROOT, CommandCase, table

JOBS = os.path.join(ROOT, "examples", "two_jobs", "machine.json")


class Swap(CommandCase):
    COMMAND = "swap"

    def speed(self, machine, batch, policy, network="vgg16"):
        return self.report(network, "--topology", machine, "--batch", batch, "--policy", policy)["images_per_second"]

    def test_rows_without_swapping_are_calibrated(self):
        # Kim et al., tables I to III, "Non - Swap".
        for machine, network, batch, speed, most in (("titanxp", "vgg16", 80, 62.95, 80), ("titanxp", "inception_v3", 114, 62.67, 114),
                                                     ("p100x2", "vgg16", 120, 83.56, 129), ("p100x4", "vgg16", 110, 66.53, 119)):
            j = self.report(network, "--topology", machine, "--batch", "max", "--policy", "none")
            self.assertTrue(batch <= j["batch"] <= most, (machine, network, j["batch"]))
            self.assertAlmostEqual(self.speed(machine, batch, "none", network), speed, delta=0.01 * speed)
            self.assertIn("out of memory", self.refused(network, "--topology", machine, "--batch", most + 1, "--policy", "none"))

    def test_predictions_beside_the_papers(self):
        for machine, batch, vdnn, own in (("p100x2", 130, 56.66, 84.14), ("p100x4", 130, 53.09, 70.24)):
            conv, staggered = (self.speed(machine, batch, p) for p in ("vdnn-conv", "staggered"))
            self.assertAlmostEqual(staggered, own, delta=0.1 * own)
            self.assertAlmostEqual(conv, vdnn, delta=0.12 * vdnn)
            self.assertGreaterEqual(self.speed(machine, batch, "best"), staggered)
        j = self.report("vgg16", "--topology", "titanxp", "--batch", "max", "--policy", "staggered")
        self.assertAlmostEqual(j["batch"], 128, delta=0.1 * 128)

    def test_report_of_swapping(self):
        j = self.report("vgg16", "--topology", "p100x2", "--batch", 140, "--policy", "vdnn-conv")
        swapped = sum(t["bytes"] for t in j["triggers"] if t["device"] == "gpu0")
        self.assertEqual([d["out_bytes"] for d in j["devices"]], [swapped, swapped])
        self.assertAlmostEqual(j["images_per_second"] * j["step_seconds"], 140)
        self.assertGreater(j["link_share"]["switch0.up"], 1.9 * j["link_share"]["gpu0.up"])
        packed = self.report("vgg16", "--topology", "p100x2", "--batch", 140, "--policy", "vdnn-conv", "--densities", "known")
        self.assertLess(packed["step_seconds"], j["step_seconds"])
        self.assertLess(packed["pinned_bytes"], j["pinned_bytes"])
        ring = self.report("vgg16", "--topology", "p100x2", "--batch", 120, "--policy", "none", "--all-reduce")
        self.assertGreater(ring["images_per_second"], 83.56)

    def test_two_jobs_on_one_uplink(self):
        jobs = ("vgg16", "--topology", JOBS, "--independent", "--batch", 80)
        vdnn, best = (self.report(*jobs, "--policy", p) for p in ("vdnn-conv", "best"))
        self.assertGreater(best["images_per_second"], 1.15 * vdnn["images_per_second"])

    def test_files_and_pages(self):
        trace, page = self.file("trace.json"), self.file("page.html")
        done = self.run_command(table("vgg16"), "--topology", JOBS, "--batch", 8, "--density", 0.5, "--trace", trace, "--html", page)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("images/s a device", done.stdout)
        with open(trace) as f:
            events = json.load(f)["traceEvents"]
        self.assertEqual({e["args"]["name"] for e in events if e["name"] == "process_name"}, {"job A", "job B", "host"})
        self.assertEqual(sum(e["ph"] == "X" and e["tid"] == 0 and e["pid"] == 0 for e in events), 42)
        with open(page) as f:
            self.assertIn("<svg", f.read())

    def test_bad_input(self):
        good = ("vgg16", "--topology", "titanxp", "--batch", 8)
        for option, value in (("--policy", "swap"), ("--batch", 0), ("--batch", "many"), ("--batch", 5000), ("--growth", 0), ("--density", 2),
                              ("--element-bits", 4), ("--efficiency", 0), ("--reserved", -1), ("--map-overhead", "nan"), ("--sum-gbps", -1)):
            options = ("vgg16", "--topology", "titanxp") if option == "--batch" else good
            self.assertIn(option, self.refused(*options, option, value))
        self.assertIn("--network", self.refused())
        self.assertIn("--topology", self.refused("vgg16"))
        self.assertIn("--batch", self.refused("vgg16", "--topology", "titanxp"))
        self.refused("vgg17", "--topology", "titanxp", "--batch", 8)
        self.refused("vgg16", "--topology", "p100x3", "--batch", 8)
        self.assertIn("1:13", self.refused("vgg16", "--topology", self.file("m.json", '{"host": 3, "x": 1}'), "--batch", 8))
        self.assertIn("no densities", self.refused("resnet50", "--topology", "titanxp", "--batch", 8, "--densities", "known"))
        self.refused(*good, "--density", 0.5, "--densities", "known")
        self.assertIn("does not fit", self.refused("vgg16", "--topology", "titanxp", "--batch", "max", "--growth", 2000))
        self.refused(*good, "--trace", os.path.join(self.folder, "no", "trace.json"))


if __name__ == "__main__":
    unittest.main()
