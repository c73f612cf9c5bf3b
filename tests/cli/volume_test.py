# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""`kaiten volume` from outside: volumes in, results out, interrupted runs, mistakes of one line."""
import json
import os
import struct
import unittest

from tool_case import CommandCase

NETWORK = "INPUTS:1, LAYERS:3\nCONV 2,2,2 2\nPOOL 2,2,2\nCONV 2,1,1 3\n"  # sees 5 x 3 x 3
WEIGHTS = 2 * 8 + 2 + 3 * 2 * 2 + 3
# Rates of no machine: the search needs some, and tests no seconds of calibration.
RATES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "volume_rates.json")  # of no machine
RATES_INT8 = RATES.replace(".json", "_int8.json")


def slid(voxels, size, weights):
    """The network at every position, by its definition."""
    def voxel(z, y, x):
        return voxels[(z * size[1] + y) * size[2] + x]

    first, bias, second, last = weights[:16], weights[16:18], weights[18:30], weights[30:]
    out = []
    for o in range(3):
        for z in range(size[0] - 4):
            for y in range(size[1] - 2):
                for x in range(size[2] - 2):
                    total = last[o]
                    for m in range(2):
                        for d in range(2):
                            most = max(max(0, bias[m] + sum(first[m * 8 + t] * voxel(
                                z + 2 * d + p // 4 + t // 4, y + p // 2 % 2 + t // 2 % 2, x + p % 2 + t % 2) for t in range(8)))
                                for p in range(8))
                            total += second[(o * 2 + m) * 2 + d] * most
                    out.append(max(0, total))
    return out


class Volume(CommandCase):
    COMMAND = "volume"

    def setUp(self):
        super().setUp()
        self.network = self.file("net.znni", NETWORK)
        self.common = (self.network, "--threads", 1, "--calibration", RATES)

    def floats(self, path):
        with open(path, "rb") as f:
            data = f.read()
        return list(struct.unpack(f"<{len(data) // 4}f", data))

    def test_every_plan_gives_the_same(self):
        volume = self.file("v.raw", bytes(i * 37 % 256 for i in range(20 ** 3)))
        results, plans = [], set()
        for n in (1, 5, 10):
            output = self.file(f"{n}.raw")
            j = self.report(*self.common, "--input", volume, "--size", "20,20,20", "--plan", n, "--output", output)
            self.assertEqual(j["plan"], n)
            plans.add((j["plans"][n - 1]["layers"], j["plans"][n - 1]["batch"]))
            results.append(self.floats(output))
        self.assertEqual(len(plans), 3)
        for other in results[1:]:
            for a, b in zip(results[0], other, strict=True):
                self.assertAlmostEqual(a, b, delta=1e-4 * max(1, abs(a)))

    def test_results_are_the_network_at_every_position(self):
        size = (7, 6, 5)
        voxels = [(i * 37) % 256 for i in range(7 * 6 * 5)]
        weights = [((i * 29) % 17 - 7) / 16 for i in range(WEIGHTS)]
        volume = self.file("v.raw", bytes(voxels))
        args = (*self.common, "--input", volume, "--size", "7,6,5", "--weights",
                self.file("w.f32", struct.pack(f"<{WEIGHTS}f", *weights)), "--output", self.file("out.raw"))
        report = self.report(*args)
        wanted, found = slid(voxels, size, weights), self.floats(self.file("out.raw"))
        self.assertEqual(len(found), len(wanted))
        self.assertGreater(sum(w > 1 for w in wanted), 20)
        for w, f in zip(wanted, found):
            self.assertAlmostEqual(w, f, delta=1e-3)
        self.assertEqual(report["field_of_view"], [5, 3, 3])
        self.assertEqual(report["voxels"], 3 * 4 * 3)
        self.assertEqual(report["blocks"]["done"], report["blocks"]["all"])
        self.assertLessEqual(report["plans"][0]["bytes"], report["memory_bytes"])

    def test_a_run_goes_on_after_its_end(self):
        size = ("--size", "20,20,20", "--memory", "60KiB")
        whole, parts = self.file("whole.npy"), self.file("parts.npy")
        self.assertGreater(self.report(*self.common, *size, "--output", whole)["blocks"]["all"], 4)
        begun = self.report(*self.common, *size, "--output", parts, "--blocks", 2)
        self.assertGreaterEqual(begun["blocks"]["done"], 2)
        self.assertFalse(os.path.exists(parts))
        self.assertIn("--resume", self.refused(*self.common, *size, "--output", parts, "--resume", "--seed", 2))
        self.report(*self.common, *size, "--output", parts, "--resume")
        with open(whole, "rb") as a, open(parts, "rb") as b:
            data = a.read()
            self.assertEqual(data, b.read())
        self.assertEqual(data[:6], b"\x93NUMPY")
        self.assertFalse(os.path.exists(parts + ".part") or os.path.exists(parts + ".part.state"))

    def test_halos_are_kept_where_it_is_asked_for(self):
        size = ("--size", "20,17,18")
        for options, numbers in (((*self.common, *size, "--memory", "60KiB"), "float"),
                                 ((self.network, "--threads", 1, "--calibration", RATES_INT8, *size, "--int8"), "int8")):
            results = {}
            for halos in ("computed", "kept"):
                output = self.file(f"{numbers}-{halos}.raw")
                j = self.report(*options, "--halos", halos, "--output", output)
                self.assertEqual({p["halos"] for p in j["plans"]}, {halos})
                self.assertEqual(j["blocks"]["all"] % j["plans"][0]["column_blocks"], 0)
                self.assertEqual(min(p["halo_bytes"] for p in j["plans"]) > 0, halos == "kept")
                self.assertEqual((j["voxels"], j["blocks"]["done"]), (16 * 15 * 16, j["blocks"]["all"]))
                with open(output, "rb") as f:
                    results[halos] = f.read()
            if numbers == "int8":
                self.assertEqual(results["kept"], results["computed"])
            for a, b in zip(*(self.floats(self.file(f"float-{h}.raw")) for h in ("computed", "kept")), strict=True):
                self.assertAlmostEqual(a, b, delta=1e-4 * max(1, abs(a)))
        # A run ends with a column and goes on with the next.
        parts = self.file("parts.raw")
        options = (*options, "--memory", "12KiB")
        begun = self.report(*options, "--halos", "kept", "--output", parts, "--blocks", 1)
        self.assertGreater(begun["blocks"]["done"], 1)
        self.assertLess(begun["blocks"]["done"], begun["blocks"]["all"])
        self.report(*options, "--output", parts, "--resume")
        with open(parts, "rb") as f:
            self.assertEqual(f.read(), results["kept"])
        self.assertEqual(self.report(*options, "--halos", "kept", "--blocks", 1)["blocks"]["done"], 1)  # without results anywhere
        self.assertIn("--halos", self.refused(*options, "--halos", "some"))
        self.assertIn("--halos", self.refused(*options, "--halos", "kept", "--rtl", "--config", "nano"))

    def test_int8_is_near_and_the_same_by_every_plan(self):
        size = ("--size", "16,15,14")
        self.report(*self.common, *size, "--output", self.file("float.raw"))
        wanted, results = self.floats(self.file("float.raw")), set()
        int8 = (self.network, "--threads", 1, "--calibration", RATES_INT8, *size, "--int8")
        for plan in (1, 4):
            output = self.file(f"{plan}.npy")
            j = self.report(*int8, "--plan", plan, "--output", output)
            with open(output, "rb") as f:
                results.add(f.read())
        data = results.pop()
        self.assertFalse(results)
        self.assertIn(b"'|i1'", data[:128])
        stored = struct.unpack(f"{len(wanted)}b", data[-len(wanted):])
        scale, zero = j["int8"]["result"]["scale"], j["int8"]["result"]["zero_point"]
        self.assertGreater(len(set(stored)), 50)
        # Scales come of some positions: values beyond their largest are cut.
        largest = scale * (127 - zero)
        errors = sum((scale * (s - zero) - min(w, largest)) ** 2 for s, w in zip(stored, wanted, strict=True))
        self.assertLess(errors, 0.003 * sum(w * w for w in wanted))
        self.assertIn("has rates of float32", self.refused(*self.common, *size, "--int8"))
        self.assertIn("has rates of int8", self.refused(*int8[:-1]))

    def test_the_accelerator_gives_what_the_processor_gives(self):
        size = ("--size", "9,7,8")
        int8 = self.report(self.network, "--threads", 1, "--calibration", RATES_INT8, *size, "--int8", "--output", self.file("cpu.raw"))
        rtl = (self.network, *size, "--rtl", "--config", "nano", "--clock", 100)
        found = self.report(*rtl, "--output", self.file("rtl.raw"))
        with open(self.file("cpu.raw"), "rb") as a, open(self.file("rtl.raw"), "rb") as b:
            data = a.read()
            self.assertEqual(data, b.read())
        self.assertEqual(len(data), 3 * 5 * 5 * 6)
        self.assertGreater(len(set(data)), 20)
        self.assertEqual(found["int8"], int8["int8"])
        device = found["device"]
        self.assertEqual(device["programs"], 2)
        self.assertGreater(device["checked"], len(data))
        self.assertAlmostEqual(device["voxels_per_second"] * device["cycles"], found["voxels"] * 1e8, delta=1)
        self.assertGreaterEqual(len(found["device_plans"]), 2)
        self.assertEqual({p["layers"] for p in found["device_plans"]}, {"array MPF array", "array pool array"})
        self.assertIn("--block-side", self.refused(*rtl, "--block-side", 0))
        self.assertIn("--clock", self.refused(*rtl, "--clock", -1))
        self.assertIn("nope", self.refused(self.network, *size, "--rtl", "--config", "nope"))

    def test_sublayers_fit_the_accelerators_memory(self):
        size = ("--size", "9,7,8")
        rtl = (self.network, *size, "--rtl", "--config", "nano", "--clock", 100)
        whole = self.report(*rtl, "--output", self.file("whole.raw"))
        limit = whole["device"]["memory_bytes"] // 3
        some = self.report(*rtl, "--device-memory", limit, "--brick-side", 4, "--link", 10, "--output", self.file("some.raw"))
        with open(self.file("whole.raw"), "rb") as a, open(self.file("some.raw"), "rb") as b:
            self.assertEqual(a.read(), b.read())
        self.assertLessEqual(some["device"]["memory_bytes"], limit)
        for plan in some["device_plans"]:
            self.assertLessEqual(plan["device_memory_bytes"], limit)
        runs = [sum(s["runs"] for s in j["device_plans"][0]["stages"]) for j in (whole, some)]
        self.assertGreater(runs[1], runs[0])
        self.assertEqual([s["layers"] for s in some["device_plans"][0]["stages"]], [[1, 2], [3, 3]])
        self.assertIn("--device-memory: layers 1 to 2 take", self.run_command(*rtl, "--device-memory", 500).stderr)
        self.assertEqual(self.run_command(*rtl, "--device-memory", 500).returncode, 2)
        self.assertIn("--device-memory: expected bytes", self.refused(*rtl, "--device-memory", "much"))
        self.assertIn("--brick-side", self.refused(*rtl, "--brick-side", 0))
        self.assertIn("--link", self.refused(*rtl, "--link", -1))
        self.assertIn("--clock", self.refused(self.network, *size, "--rtl", "--config", "nano", "--link", 5))

    def test_every_split_gives_what_the_processor_gives(self):
        int8 = (self.network, "--threads", 1, "--calibration", RATES_INT8, "--size", "9,7,8")
        self.report(*int8, "--int8", "--output", self.file("cpu.raw"))
        with open(self.file("cpu.raw"), "rb") as f:
            wanted = f.read()
        split = (*int8, "--split", "--config", "nano", "--clock", 100)
        for theta in range(4):
            j = self.report(*split, "--theta", theta, "--output", self.file(f"{theta}.raw"))
            with open(self.file(f"{theta}.raw"), "rb") as f:
                self.assertEqual(f.read(), wanted)
            s = j["split"]
            self.assertEqual(s["theta"], theta)
            self.assertEqual({p["theta"] for p in s["plans"]}, {0, 1, 2, 3})
            self.assertEqual(j["device"]["cycles"] > 0, theta < 3)
            best = s["plans"][0]["predicted_voxels_per_second"]
            self.assertAlmostEqual(s["gain_over_better"] * max(s["processor_alone_voxels_per_second"],
                                                               s["accelerator_alone_voxels_per_second"]), best, delta=1e-3 * best)
        # Goes on with the same sublayers, and without a search.
        parts = (*split, "--theta", 2, "--device-memory", "3KiB", "--block-side", 2, "--output", self.file("parts.raw"))
        begun = self.report(*parts, "--blocks", 1)
        self.assertLess(begun["blocks"]["done"], begun["blocks"]["all"])
        rest = self.report(*parts, "--resume")
        self.assertEqual(rest["blocks"]["done"], begun["blocks"]["all"])
        self.assertLessEqual(rest["device"]["memory_bytes"], 3 * 1024)
        with open(self.file("parts.raw"), "rb") as f:
            self.assertEqual(f.read(), wanted)
        self.assertIn("--clock", self.refused(*int8, "--split"))
        self.assertIn("--theta", self.refused(*int8, "--theta", 1))
        self.assertIn("of 3 layers", self.run_command(*split, "--theta", 4).stderr)

    def test_mistakes_are_one_line(self):
        self.assertIn("net2:2", self.refused(self.file("net2", "INPUTS:1, LAYERS:1\nCONV 3,3 8\n"), "--size", "9,9,9"))
        self.assertIn("5x3x3", self.refused(*self.common, "--size", "4,9,9"))
        self.assertIn("--memory", self.refused(*self.common, "--size", "9,9,9", "--memory", 100))
        self.assertIn("--size", self.refused(*self.common))
        self.assertIn("1 to 10", self.refused(*self.common, "--size", "9,9,9", "--plan", 0))
        self.assertIn("--best", self.refused(*self.common, "--size", "9,9,9", "--plan", 11))
        self.assertIn("plans listed", self.refused(*self.common, "--size", "9,9,9", "--best", 1000, "--plan", 1000))
        self.assertIn("--size", self.refused(*self.common, "--size", "9,9"))
        self.assertIn("take 729", self.refused(*self.common, "--size", "9,9,9", "--input", self.file("short", bytes(700))))
        nan = struct.pack("<f", float("nan"))
        found = self.run_command(*self.common, "--size", "9,9,9", "--type", "f32", "--input", self.file(
            "nan", bytes(4 * (81 + 18 + 3)) + nan + bytes(4 * (729 - 103))))  # met in the run, below the plans
        self.assertEqual((found.returncode, len(found.stderr.splitlines())), (2, 1))
        self.assertIn("voxel 1,2,3", found.stderr)
        self.assertIn("take", self.refused(*self.common, "--size", "9,9,9", "--weights", self.file("w", bytes(8))))
        self.assertIn("--resume", self.refused(*self.common, "--size", "9,9,9", "--resume"))
        self.refused(*self.common, "--size", "9,9,9", "--output", self.file("none/there"))


if __name__ == "__main__":
    unittest.main()
