# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""kaiten estimate and kaiten explain: their numbers against those of plan, run and report."""
import json
import os
import unittest

from tool_case import BUILD, KAITEN, CommandCase, run

GENERATE = os.path.join(BUILD, "kaiten-generate")
NANO = ("--config", "nano")


def told(*arguments):
    return json.loads(run(KAITEN, *arguments, "--json", "-").stdout)


class Estimate(CommandCase):
    COMMAND = "estimate"

    def test_all_configurations(self):
        report = self.report("demo", "--clock", "100")
        self.assertEqual([row["config"] for row in report["configs"]], ["base", "de2_150", "large", "micro", "nano", "small", "u50", "unit", "zcu104"])
        for row in report["configs"]:
            plan = told("plan", "demo", "--config", row["config"], "--method", "optimal")["methods"][0]
            self.assertEqual(row["cycles"], plan["cycles"])
            self.assertEqual(row["bytes"]["read"] + row["bytes"]["written"], plan["traffic_bytes"])
            self.assertAlmostEqual(row["milliseconds"] * 100_000, row["cycles"])
            footprint = row["footprint"]
            self.assertEqual(footprint["total"], sum(footprint[k] for k in ("weights", "commands", "inputs", "outputs", "activations")))
        ran = told("run", "demo", *NANO)
        nano = next(row for row in report["configs"] if row["config"] == "nano")
        self.assertEqual(nano["bytes"]["read"], sum(ran["bytes"]["read"].values()))
        self.assertEqual(nano["footprint"]["commands"], ran["bytes"]["read"]["commands"])

    def test_operators_that_move_to_the_host(self):
        # On micro layers of more channels than its words count do, which cuts the network into programs.
        generated = os.path.join(self.folder, "resnet50.tflite")
        run(GENERATE, "resnet50", "--size", "64", "--output", generated)
        report = self.report(generated)
        for row in report["configs"]:
            if row["config"] not in ("micro", "nano", "base"):
                continue
            plan = told("plan", generated, "--config", row["config"], "--method", "optimal")
            self.assertEqual(len(plan["sections"]) > 1, row["config"] == "micro")
            sections = plan["methods"][0]
            self.assertEqual(row["cycles"], sections["cycles"], row["config"])
            self.assertEqual(row["bytes"]["read"] + row["bytes"]["written"], sections["traffic_bytes"])

    def test_refusals(self):
        self.assertIn("model", self.refused())
        self.refused("demo", "--batch", "0")
        self.refused("demo", "--clock", "0")


class Explain(CommandCase):
    COMMAND = "explain"

    def test_a_layer(self):
        report = told("report", "demo", *NANO)
        for index in (0, 3, 13):
            layer = report["layers"][index]
            one = self.report("demo", str(index), *NANO)
            self.assertEqual(one["layer"], layer)
            self.assertIn(index, one["span"]["layers"])
            self.assertEqual([c["network_cycles"] for c in one["what_if"]], [c["cycles"] for c in report["what_if"]])
            self.assertEqual(one["modelled_cycles"], layer["predicted_cycles"])
            text = self.run_command("demo", layer["name"], *NANO).stdout
            self.assertIn(layer["name"], text)
            self.assertIn(f"{layer['cycles']:,} cycles", text)
            self.assertIn(f"limited by {layer['limited_by']}", text)

    def test_names(self):
        self.assertEqual(self.report("demo", "add_2_1/Add", *NANO)["index"], 13)
        self.assertEqual(self.report("demo", "add_2_1/Ad", *NANO)["index"], 13)
        self.assertIn("layers have 're_lu_1' in their names", self.refused("demo", "re_lu_1", *NANO))
        self.assertIn("10 layers end with 'Relu'", self.refused("demo", "Relu", *NANO))
        self.assertIn("0 to 16", self.refused("demo", "17", *NANO))
        self.assertIn("no layer 'nix'", self.refused("demo", "nix", *NANO))
        self.assertIn("layer", self.refused("demo", *NANO))


if __name__ == "__main__":
    unittest.main()
