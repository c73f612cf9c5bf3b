# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""`kaiten offload` from outside: keys, the shape of the paper's results, files, errors of one line."""
import json
import os
import subprocess
import unittest

from tool_case import TABLES, CommandCase, table

NETWORKS = ("alexnet", "overfeat", "nin", "vgg16", "squeezenet", "googlenet")
POLICIES = ["vdnn", "cdma", "cdma-aware", "oracle"]


class Offload(CommandCase):
    COMMAND = "offload"

    def test_shape_of_the_papers_results(self):
        reports = [self.report(table(n)) for n in NETWORKS]
        for j in reports:
            self.assertEqual([p["name"] for p in j["policies"]], POLICIES)
            speed = {p["name"]: p["performance"] for p in j["policies"]}
            self.assertLess(speed["vdnn"], speed["cdma-aware"])
            self.assertLessEqual(speed["cdma-aware"], speed["cdma"])
            self.assertLess(speed["cdma"], 1)
            self.assertEqual(speed["oracle"], 1)
            self.assertEqual(sum(layer["raw_bytes"] for layer in j["layers"]), j["raw_bytes"])
            for p in j["policies"]:
                self.assertAlmostEqual(sum(layer["stall_ms"][p["name"]] for layer in j["layers"]), p["stall_ms"], 6)

        def mean(values):
            return sum(values) / len(values)

        # Sections I, IV and VII: 49.4 % zeros in AlexNet, 62 % on average; 2.6, at most 13.8; vDNN at 49 % of the oracle's speed, a step
        # 53 % faster with cDMA, of which the bandwidth-aware policy keeps 94 %.
        self.assertAlmostEqual(reports[0]["density"], 0.506, 3)
        self.assertAlmostEqual(mean([j["density"] for j in reports]), 0.38, 2)
        self.assertAlmostEqual(mean([j["ratio"] for j in reports]), 2.6, 1)
        self.assertAlmostEqual(max(j["best_ratio"] for j in reports), 13.8, 1)
        self.assertAlmostEqual(mean([j["policies"][0]["performance"] for j in reports]), 0.49, delta=0.07)
        self.assertAlmostEqual(mean([j["policies"][1]["speedup"] for j in reports]), 1.53, delta=0.02)
        aware = mean([j["policies"][2]["performance"] / j["policies"][1]["performance"] for j in reports])
        self.assertAlmostEqual(aware, 0.94, delta=0.02)

    def test_link_and_device(self):
        slow, fast = self.report(table("vgg16"), "--link", 4), self.report(table("vgg16"), "--link", 1000)
        self.assertGreater(slow["policies"][0]["step_ms"], fast["policies"][0]["step_ms"])
        self.assertAlmostEqual(fast["policies"][0]["performance"], 1, 1)
        half = self.report(table("vgg16"), "--batch", 64)
        self.assertEqual(2 * half["raw_bytes"], slow["raw_bytes"])
        self.assertGreater(self.report(table("vgg16"), "--device", "titan-x")["policies"][3]["step_ms"],
                           half["policies"][3]["step_ms"])

    def test_densities(self):
        j = self.report(table("resnet50"), "--density", 0.25, "--element-bits", 8)
        self.assertAlmostEqual(j["ratio"], 8 / 3)
        layers = {layer["name"]: 1 for layer in j["layers"]}
        path = self.file("d.json", json.dumps({"batch": 3, "layers": layers}))
        j = self.report(table("resnet50"), "--densities", path)
        self.assertEqual((j["ratio"], j["batch"]), (1, 3))
        layers.pop("conv1")
        self.assertIn("'conv1'", self.refused(table("resnet50"), "--densities", self.file("d.json", json.dumps({"layers": layers}))))
        layers.update({"conv1": 1, "x": 1})
        self.assertIn("'x'", self.refused(table("resnet50"), "--densities", self.file("d.json", json.dumps({"layers": layers}))))
        self.assertIn("no densities are known", self.refused(table("resnet50")))

    def test_densities_are_the_scripts(self):
        check = subprocess.run(["python3", "-B", os.path.join(TABLES, "make_densities.py"), "--check"], capture_output=True, text=True)
        self.assertEqual((check.returncode, check.stderr), (0, ""))

    def test_a_model_is_measured(self):
        j = self.report("demo")
        self.assertEqual((j["element_bits"], j["batch"]), (8, 1))
        self.assertTrue(0.3 < j["density"] < 0.9)
        self.assertIn("image 1 of the demo", j["densities"])
        self.assertNotEqual(j["density"], self.report("demo", "--seed", 2)["density"])

    def test_text_and_page(self):
        done = self.run_command(table("vgg16"), "--html", self.file("page.html"), "--json", self.file("report.json"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for word in ("conv4_3", "cdma-aware", "of the oracle's speed", "batch 128", "titan-xp"):
            self.assertIn(word, done.stdout)
        with open(self.file("page.html")) as f:
            self.assertIn("<svg", f.read())

    def test_bad_input(self):
        for option, value in (("--device", "v100"), ("--link", 0), ("--tflops", -1), ("--efficiency", "nan"), ("--batch", 0),
                              ("--element-bits", 12), ("--density", 1.5), ("--memory", "x"), ("--aware-read", 0)):
            self.assertIn(option, self.refused(table("vgg16"), option, value))
        self.refused()
        self.refused(self.file("none.json"))
        self.refused(self.file("bad.json", "{"))
        self.refused(table("vgg16"), "--densities", self.file("bad.json"))
        self.refused(table("vgg16"), "--densities", self.file("bad.json"), "--density", 0.5)
        self.refused(table("vgg16"), "--input", self.file("bad.json"))
        self.refused(table("vgg16"), "--html", os.path.join(self.folder, "no", "page.html"))


if __name__ == "__main__":
    unittest.main()
