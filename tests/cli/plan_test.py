# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""`kaiten plan` from outside: the keys of the interface, the checkpoints, files, errors of one line."""
import json
import os
import re
import subprocess
import unittest
import xml.dom.minidom

from tool_case import KAITEN, TABLES, CommandCase, run, table

METHODS = {"optimal", "per-layer", "greedy", "residual", "layer-fusion", "bound"}


class Plan(CommandCase):
    COMMAND = "plan"

    def test_json_has_the_keys_of_the_interface(self):
        j = self.report(table("resnet34"), "--capacity", "3MiB")
        self.assertEqual((j["network"], j["mode"], j["capacity_bytes"]), ("ResNet-34", "paper", 3 << 20))
        self.assertGreater(j["planning_ms"], 0)
        self.assertEqual({m["name"] for m in j["methods"]}, METHODS)
        for m in j["methods"]:
            self.assertEqual(m["traffic_bytes"], sum(s["traffic_bytes"] for s in m["spans"]) + m["penalty_bytes"])
            self.assertEqual([s["first"] for s in m["spans"]], [0] + [s["last"] + 1 for s in m["spans"][:-1]])
            self.assertEqual(m["spans"][-1]["boundary"], "output")
            for s in m["spans"]:
                self.assertEqual(s["along"], "rows")
                self.assertLessEqual({"first", "last", "weights_bytes", "rows_bytes", "traffic_bytes", "boundary"}, set(s))
        optimal = {m["closure"]: m["traffic_bytes"] for m in j["methods"] if m["name"] == "optimal"}
        self.assertEqual(optimal, {"paper": 1128960, "rolling": 928256})

    def test_options(self):
        j = self.report(table("vgg16"), "--capacity", 3 << 20, "--method", "optimal", "--closure", "paper")
        self.assertEqual([m["traffic_bytes"] for m in j["methods"]], [3186176])
        off = self.report(table("resnet34"), "--capacity", "3MiB", "--method", "optimal", "--residual-penalty", "off")["methods"][0]
        self.assertEqual(off["penalty_bytes"], 0)
        two = self.report(table("vgg16"), "--capacity", "6MiB", "--method", "per-layer", "--batch", 2)["methods"][0]
        one = self.report(table("vgg16"), "--capacity", "6MiB", "--method", "per-layer")["methods"][0]
        self.assertEqual(two["traffic_bytes"], 2 * one["traffic_bytes"])
        sweep = self.report(table("resnet18"), "--sweep", "256KiB:16MiB", "--method", "optimal")["sweep"]
        self.assertEqual((len(sweep), sweep[0]["capacity_bytes"], sweep[-1]["capacity_bytes"]), (64, 256 << 10, 16 << 20))
        traffic = [p["traffic_bytes"][0] for p in sweep if p["traffic_bytes"][0] is not None]
        self.assertEqual(traffic, sorted(traffic, reverse=True))
        self.assertIn("usage: kaiten plan", self.run_command("--help").stdout)
        self.assertIn("pipeline: 17 chips", self.run_command("demo", "--config", "nano", "--method", "per-layer", "--period", 10 ** 6).stdout)
        self.assertIn("pipeline: 12 chips", self.run_command(table("vgg16"), "--capacity", "3MiB", "--chips", 12).stdout)
        again = self.report(table("vgg16"), "--capacity", "3MiB")
        first = self.report(table("vgg16"), "--capacity", "3MiB")
        again.pop("planning_ms"), first.pop("planning_ms")
        self.assertEqual(again, first)

    def test_hardware_mode_predicts_the_bytes_of_a_run(self):
        j = self.report("demo", "--config", "nano")
        self.assertEqual((j["mode"], j["config"]), ("hardware", "nano"))
        self.assertEqual({m["name"] for m in j["methods"]}, METHODS - {"layer-fusion"})
        traffic = {m["name"]: m["traffic_bytes"] for m in j["methods"]}
        for m in j["methods"]:
            self.assertEqual(m["traffic_bytes"], sum(s["traffic_bytes"] for s in m["spans"]) + m["penalty_bytes"])
            self.assertEqual(m["traffic_bytes"], sum(m["bytes"].values()))
            self.assertGreaterEqual(m["traffic_bytes"], traffic["bound"])
            self.assertLessEqual(m["traffic_bytes"], traffic["per-layer"])
        best = j["methods"][0]
        layers = [layer for s in best["spans"] for layer in s["layers"]]
        self.assertEqual(sorted(layers), list(range(min(layers), max(layers) + 1)))
        done = run(KAITEN, "run", "demo", "--config", "nano", "--json", "-")
        counted = json.loads(done.stdout)["bytes"]
        self.assertEqual(sum(best["bus_bytes"].values()), sum(json.loads(done.stdout)["bus_bytes"].values()))
        self.assertEqual(best["cycles"], json.loads(done.stdout)["predicted_cycles"])
        kinds = best["bytes"]
        for kind in ("weights", "parameters", "commands"):
            self.assertEqual(counted["read"][kind], kinds[kind])
        self.assertEqual(counted["read"]["activations"] + counted["written"]["activations"],
                         kinds["input"] + kinds["output"] + kinds["spilled"] + kinds["residual"])
        two = self.report("demo", "--config", "nano", "--method", "optimal", "--batch", 2)["methods"][0]["bytes"]
        done = run(KAITEN, "run", "demo", "--config", "nano", "--batch", "2", "--json", "-")
        counted = json.loads(done.stdout)["bytes"]
        for kind in ("weights", "parameters", "commands"):
            self.assertEqual(counted["read"][kind], two[kind])
        self.assertEqual(two["weights"], kinds["weights"])
        self.assertEqual((two["input"], two["output"]), (2 * kinds["input"], 2 * kinds["output"]))
        small = self.report(table("resnet18"), "--config", "base", "--method", "optimal")["methods"][0]
        self.assertEqual(small["spans"][-1]["boundary"], "output")

    def test_compression_predicts_the_bytes_of_a_run(self):
        for compress in ("on", "auto"):
            planned = self.report("demo", "--config", "nano", "--compress", compress, "--seed", 3)
            self.assertEqual(planned["compress"], compress)
            methods = {m["name"]: m for m in planned["methods"]}
            for method, spill in (("optimal", []), ("per-layer", ["--spill"])):
                m = methods[method]
                done = run(KAITEN, "run", "demo", "--config", "nano", "--compress", compress, "--seed", "3", "--json", "-", *spill)
                j = json.loads(done.stdout)
                self.assertEqual((m["zvc"]["predicted"], j["zvc"]["predicted"]), ("exactly", "exactly"))
                self.assertEqual({k: m["zvc"][k] for k in ("raw_bytes", "packed_bytes")}, {k: j["zvc"][k] for k in ("raw_bytes", "packed_bytes")})
                self.assertEqual(sum(m["bus_bytes"].values()), sum(j["bus_bytes"].values()))
                self.assertEqual(m["bytes"]["weights"], j["bytes"]["read"]["weights"])
                kinds = ("input", "output", "spilled", "residual")
                self.assertEqual(sum(m["bytes"][k] for k in kinds), j["bytes"]["read"]["activations"] + j["bytes"]["written"]["activations"])
                self.assertEqual(j["predicted_bytes"], j["bytes"])
                self.assertEqual(j["predicted_bus_bytes"], j["bus_bytes"])
            self.assertLess(methods["per-layer"]["zvc"]["packed_bytes"], methods["per-layer"]["zvc"]["raw_bytes"])
        self.assertEqual(self.report("demo", "--config", "nano")["methods"][0]["zvc"]["raw_bytes"], 0)
        self.refused("demo", "--capacity", "1MiB", "--compress", "on")
        self.refused("demo", "--config", "nano", "--compress", "maybe")
        self.refused("demo", "--config", "nano", "--seed", 3)
        self.refused(table("resnet18"), "--config", "nano", "--compress", "auto")

    def test_layers_and_commands_add_up(self):
        m = self.report("demo", "--config", "nano", "--commands")["methods"][0]
        for kind in ("bytes", "bus_bytes"):
            for part in ("spans", "layers", "commands"):
                self.assertEqual({k: sum(x[kind][k] for x in m[part]) for k in m[kind]}, m[kind], (part, kind))
        self.assertEqual(sum(layer["cycles"] for layer in m["layers"]), m["cycles"])
        self.assertEqual(max(c["complete"] for c in m["commands"]), m["cycles"])
        self.assertEqual(sum(layer["commands"] for layer in m["layers"]), len(m["commands"]))
        self.assertEqual(m["bytes"]["commands"], 64 * len(m["commands"]))
        # A run says the same of most layers.
        run_layers = json.loads(run(KAITEN, "run", "demo", "--config", "nano", "--json", "-").stdout)["layers"]
        agreed = sum(layer["cycles"] for layer in m["layers"] if layer["limited_by"] == run_layers[layer["layer"]]["limited_by"])
        self.assertGreater(agreed, 0.9 * m["cycles"])
        text = self.run_command("demo", "--config", "nano", "--method", "optimal").stdout
        self.assertRegex(text, r"(?m)^layer +name +operator +commands +cycles .* bus bytes$")
        self.assertNotIn("load_weights", text)
        text = self.run_command("demo", "--config", "nano", "--method", "optimal", "--commands").stdout
        self.assertEqual(text.count("load_weights"), sum(c["op"] == "load_weights" for c in m["commands"]))
        self.refused("demo", "--capacity", "1MiB", "--commands")

    def test_a_clock_makes_time_of_cycles(self):
        page = self.file("plan.html")
        m = self.report("demo", "--config", "nano", "--method", "optimal", "--clock", "100", "--html", page)["methods"][0]
        self.assertAlmostEqual(m["milliseconds"] * 100_000, m["cycles"])
        with open(page) as f:
            self.assertIn("ms at 100 MHz", f.read())
        self.assertNotIn("milliseconds", self.report("demo", "--config", "nano", "--method", "optimal")["methods"][0])
        text = self.run_command("demo", "--config", "nano", "--clock", "100", "--chips", "6").stdout
        self.assertRegex(text, r"(?m)^method .* cycles +ms +array")
        self.assertRegex(text, r"(?m)^100 MHz: [0-9.e+]+ frames/s, latency [0-9.]+ ms$")
        self.refused("demo", "--config", "nano", "--clock", "0")
        self.assertIn("--clock needs --config", self.refused("demo", "--capacity", "1MiB", "--clock", "100"))

    def test_a_slow_memory_takes_the_cycles_of_a_run(self):
        for rate in ("4", "0.5"):
            m = self.report("demo", "--config", "nano", "--method", "optimal", "--bytes-per-cycle", rate)["methods"][0]
            ran = json.loads(run(KAITEN, "run", "demo", "--config", "nano", "--bytes-per-cycle", rate, "--json", "-").stdout)
            self.assertEqual(m["cycles"], ran["predicted_cycles"])
            self.assertLess(abs(m["cycles"] / ran["cycles"] - 1), 0.1)
        self.assertIn("--bytes-per-cycle needs --config", self.refused("demo", "--capacity", "1MiB", "--bytes-per-cycle", "4"))
        for rate in ("0", "-1", "1e7", "nan", "fast"):
            self.refused("demo", "--config", "nano", "--bytes-per-cycle", rate)

    def test_the_array_s_share_is_that_of_all_images(self):
        one, two = (json.loads(run(KAITEN, "run", "demo", "--config", "nano", "--batch", n, "--json", "-").stdout) for n in ("1", "2"))
        self.assertGreater(two["cycles"], 1.9 * one["cycles"])
        for batch, ran in (("1", one), ("2", two)):
            text = self.run_command("demo", "--config", "nano", "--method", "optimal", "--batch", batch, "--wide").stdout
            self.assertAlmostEqual(float(re.search(r"(?m)^optimal .* ([0-9.]+) %", text)[1]), 100 * ran["array_utilization"], delta=0.5)

    def test_spans_go_along_the_shorter_side(self):
        shape = {"kernel": [3, 3], "pad": [1, 1, 1, 1], "channels": 32, "op": "conv"}
        path = self.file("wide.json")
        with open(path, "w") as f:
            json.dump({"name": "wide", "input": {"height": 32, "width": 256, "channels": 32},
                       "layers": [{"name": f"l{i}", **shape} for i in range(6)]}, f)
        span = self.report(path, "--capacity", "1MiB", "--method", "optimal", "--closure", "paper")["methods"][0]["spans"][0]
        self.assertEqual((span["along"], [k["rows"] for k in span["kept"]]), ("columns", [13, 11, 9, 7, 5, 3]))
        self.assertEqual(span["rows_bytes"], 48 * 32 * 32)
        self.assertIn("(columns)", self.run_command(path, "--capacity", "1MiB").stdout)

    def test_page_is_self_contained(self):
        for mode, drawings in (("--capacity", 4), ("--config", 3)):
            page = self.file("plan.html")
            self.assertEqual(self.run_command("demo", mode, "3MiB" if mode == "--capacity" else "nano", "--html", page).returncode, 0)
            with open(page) as f:
                text = f.read()
            self.assertNotRegex(text, r"(?i)https?:|src=|<link|<script|url\(|\bnan\b|\binf\b")
            self.assertEqual(text.count("<svg"), drawings)
            for drawing in re.findall(r"<svg.*?</svg>", text, re.S):
                xml.dom.minidom.parseString(drawing)

    def test_every_table_and_the_demo(self):
        for name in sorted(os.listdir(TABLES)):
            if name.endswith(".json"):
                done = self.run_command(os.path.join(TABLES, name), "--capacity", "16MiB")
                self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.run_command("demo", "--capacity", "1MiB").returncode, 0)
        check = subprocess.run(["python3", "-B", os.path.join(TABLES, "make_tables.py"), "--check"], capture_output=True, text=True)
        self.assertEqual((check.returncode, check.stderr), (0, ""))

    def test_bad_input(self):
        self.refused()
        self.refused(table("vgg16"))
        self.refused(self.file("none.json"), "--capacity", "3MiB")
        self.assertIn(" bytes short", self.refused(table("vgg16"), "--capacity", "1MiB"))
        self.assertIn("conv4_2", self.refused(table("vgg16"), "--capacity", "2MiB"))
        for capacity in ("0", "-1", "3MB", "MiB", "1e30", "", "1.0000001", "99999999999GiB", "3MiB ", "nan"):
            self.refused(table("vgg16"), "--capacity", capacity)
        for paper in (("--capacity", "3MiB"), ("--sweep", "1MiB:2MiB"), ("--closure", "paper"), ("--batch", "0"),
                      ("--method", "layer-fusion")):
            self.refused("demo", "--config", "nano", *paper)
        self.refused("demo", "--config", "huge")
        self.refused(table("alexnet"), "--config", "nano")
        # a row is 6 x 250 words; an address holds nine words of four bytes
        wide = self.file("wide.json", '{"name": "wide", "input": {"height": 6, "width": 6, "channels": 1000}, "layers": '
                         '[{"name": "a", "op": "depthwise", "kernel": [5, 5]}]}')
        self.assertIn("'a' (depthwise): limit: 512 addresses of VB, found: 5 rows of 167 addresses, 11628 bytes short",
                      self.refused(wide, "--config", "nano"))
        for sweep in ("1MiB", "2MiB:1MiB", "1MiB:", "0:1MiB", "1KiB:2KiB"):
            self.refused(table("vgg16"), "--capacity", "3MiB", "--sweep", sweep)
        self.refused(table("vgg16"), "--capacity", "3MiB", "--method", "best")
        self.refused(table("vgg16"), "--capacity", "3MiB", "--closure", "all")
        self.refused(table("vgg16"), "--capacity", "3MiB", "--batch", "0")
        self.refused(table("vgg16"), "--capacity", "3MiB", "--batch", "100000")
        self.refused(table("vgg16"), "--capacity", "3MiB", "--chips", "2")
        bad = self.file("bad.json", '{"name": "x",\n "input": {"height": 0, "width": 1, "channels": 1}, "layers": []}')
        self.assertIn("bad.json:2:22: expected a height from 1", self.refused(bad, "--capacity", "3MiB"))
        self.assertIn("odd.csv:1:1: expected the header", self.refused(self.file("odd.csv", "a, b\n"), "--capacity", "3MiB"))


if __name__ == "__main__":
    unittest.main()
