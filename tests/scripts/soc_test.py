# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""scripts/soc.py without LiteX: the firmware's networks, the judgement of a run, the package's metadata, pins that agree."""
import glob
import os
import re
import sys
import tempfile
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
sys.path.insert(0, os.path.join(ROOT, "scripts"))
import soc

RUN = """demo 0 by interrupt: 102,736 cycles
demo 0 by interrupt: 102736 cycles, 103001 of the processor
demo 0 by polling: 102904 cycles, 103200 of the processor
{extra}145 checks, {failed} failed, {verdict}
simulated: 23918892 cycles, 679 kHz; ports: 12278 read bursts, 75 write bursts, 0 rules broken
"""


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return f.read()


class Judgement(unittest.TestCase):
    def judge(self, code=0, failed=0, verdict="PASS", networks=("demo",), extra=""):
        return soc.judge(code, RUN.format(failed=failed, verdict=verdict, extra=extra), networks)

    def test_pass_with_every_network_is_a_success(self):
        self.assertIsNone(self.judge())

    def test_anything_else_is_none(self):
        self.assertIn("code 3", self.judge(code=3))
        self.assertIn("too long", self.judge(code=None))
        self.assertIn("PASS", self.judge(failed=2, verdict="FAIL"))
        self.assertIn("PASS", self.judge(failed=2))
        self.assertIn("resnet8", self.judge(networks=("demo", "resnet8")))
        self.assertIn("resnet8", self.judge(networks=("demo", "resnet8"), extra="resnet8 0 by polling: 9 cycles, 9 of the processor\n"))

    def test_cycles_are_read_from_the_sound_runs(self):
        runs = soc.measured(RUN.format(failed=0, verdict="PASS", extra="demo 0 by polling: the accelerator did not end in time\n"))
        self.assertEqual(runs, {("demo", 0, "interrupt"): (102736, 103001), ("demo", 0, "polling"): (102904, 103200)})


class Networks(unittest.TestCase):
    def test_expected_outputs_are_those_of_the_golden_file(self):
        for (pixels, logits), image in zip(soc.demo_cases(), soc.DEMO_IMAGES):
            line = next(line.split("\t") for line in read("models/demo/golden.tsv").splitlines() if line.startswith(f"{image}\t"))
            self.assertEqual(logits, [int(word) for word in line[3:]])
            with open(os.path.join(ROOT, "models/demo/digits.u8"), "rb") as f:
                raw = f.read()[image * soc.PIXELS:(image + 1) * soc.PIXELS]
            self.assertEqual([p - 256 if p > 127 else p for p in pixels], [p - 128 for p in raw])

    def test_sources_hold_images_inputs_and_outputs(self):
        with tempfile.NamedTemporaryFile() as image:
            image.write(b"12345")
            image.flush()
            code, images = soc.networks_source([("a", image.name, [(bytes([0, 255, 128]), [-7]), (bytes([1, 2, 3]), [8])])], image.name)
        self.assertIn("a_inputs[] = {0, -1, -128, 1, 2, 3};", code)
        self.assertIn("a_expected[] = {-7, 8};", code)
        self.assertIn(".image_bytes = 5, .input_bytes = 3, .output_bytes = 1, .cases = 2", code)
        self.assertIn("network_count = 1;", code)
        self.assertEqual(images.count(".incbin"), 2)
        self.assertEqual(images.count(image.name), 2)


class Package(unittest.TestCase):
    def test_its_version_is_the_projects(self):
        version = re.search(r"^project\(kaiten VERSION (\S+)", read("CMakeLists.txt"), re.M)[1]
        self.assertIn(f'\nversion = "{version}"\n', read("fpga/litex/pyproject.toml"))

    def test_its_requirements_and_those_of_checking_agree(self):
        """One environment holds them all."""
        pinned = {}
        for path in glob.glob(os.path.join(ROOT, "scripts", "requirements-*.txt")):
            with open(path) as f:
                for name, version in re.findall(r"^([\w.-]+)==([^ ;\\]+)", f.read(), re.M):
                    pinned.setdefault(name, {}).setdefault(os.path.basename(path), set()).add(version)
        for name, by_list in pinned.items():
            if "requirements-soc.txt" in by_list:
                for path, versions in by_list.items():
                    self.assertLessEqual(by_list["requirements-soc.txt"], versions, f"{name} in {path}")

    def test_what_is_missing_is_told_with_the_way_to_get_it(self):
        lacking = soc.missing()
        self.assertTrue(lacking == "" or "scripts/setup.sh --soc" in lacking)


if __name__ == "__main__":
    unittest.main()
