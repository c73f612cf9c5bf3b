# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""`kaiten eval` from outside: the demo's images from folders and .npz files against its golden answers, interrupted and gone
on with, and what is refused."""
import json
import os
import re
import signal
import struct
import subprocess
import sys
import time
import unittest
import zipfile

from tool_case import KAITEN, ROOT, CommandCase, run

sys.path.insert(0, os.path.join(ROOT, "scripts"))
import tools
from npz import npy, npz

DEMO = os.path.join(ROOT, "models", "demo")
SIDE = 32
KEYS = {"model", "config", "images", "labelled", "top1", "top5", "agreement", "exact", "seconds", "images_per_second", "jobs",
        "resumed", "confusion", "frames_per_second", "mean_cycles", "milliseconds", "wrong", "interpreter", "interpreter_agreement",
        "input", "notes"}
HEAD = {"schema_version", "command", "program", "seed", "options"}


def golden():
    """(label, logits) of the demo's images."""
    with open(os.path.join(DEMO, "golden.tsv")) as f:
        rows = [line.split("\t") for line in f][-100:]
    return [(int(row[1]), [int(v) for v in row[3:]]) for row in rows]


def pixels():
    with open(os.path.join(DEMO, "digits.u8"), "rb") as f:
        data = f.read()
    return [data[SIDE * SIDE * i:SIDE * SIDE * (i + 1)] for i in range(100)]


def best(logits):
    return sorted(range(len(logits)), key=lambda i: (-logits[i], i))[:5]


class Eval(CommandCase):
    COMMAND = "eval"

    def arrays(self, count=100, compression=zipfile.ZIP_STORED):
        labels = b"".join(struct.pack("<q", label) for label, _ in golden()[:count])
        return self.file("digits.npz", npz(compression, images=npy("|u1", (count, SIDE, SIDE), b"".join(pixels()[:count])),
                                           labels=npy("<i8", (count,), labels)))

    def rows(self, path):
        with open(path) as f:
            lines = f.read().splitlines()
        self.assertEqual(lines[0], "image,label,best1,best2,best3,best4,best5,exact,cycles")
        return [line.split(",") for line in lines[1:]]

    def test_answers_are_the_golden_ones(self):
        right = sum(best(logits)[0] == label for label, logits in golden())
        among = sum(label in best(logits) for label, logits in golden())
        for compression in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            csv = self.file("rows.csv")
            report = self.report("demo", self.arrays(compression=compression), "--csv", csv, "--jobs", 2)
            self.assertEqual(set(report) - HEAD, KEYS)
            self.assertEqual((report["images"], report["labelled"], report["exact"], report["agreement"]), (100, 100, None, None))
            self.assertAlmostEqual(report["top1"], right / 100)
            self.assertAlmostEqual(report["top5"], among / 100)
            self.assertEqual(len(report["wrong"]), 100 - right)
            for i, (row, (label, logits)) in enumerate(zip(self.rows(csv), golden(), strict=True)):
                self.assertEqual(row, [str(i), str(label), *map(str, best(logits)), "", ""])
            self.assertEqual(os.listdir(self.folder).count("rows.csv.part"), 0)

    def test_ranks_share_the_images(self):
        images = self.arrays(7)
        alone, shared = self.file("alone.csv"), self.file("shared.csv")
        one = self.report("demo", images, "--rtl", "--config", "nano", "--csv", alone)
        process = self.mpirun(3, "demo", images, "--rtl", "--config", "nano", "--ranks", "--csv", shared, "--json", self.file("j.json"))
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, err)
        self.assertEqual(out.count("PASS"), 1)
        self.assertEqual(self.rows(shared), self.rows(alone))
        with open(self.file("j.json")) as f:
            report = json.load(f)
        self.assertEqual((report["jobs"], report["images"], report["top1"], report["exact"]), (3, 7, one["top1"], True))

    def test_folders_are_classes(self):
        for i, (label, _) in enumerate(golden()[:12]):
            os.makedirs(self.file(f"set/{label}"), exist_ok=True)
            self.file(f"set/{label}/{i:02}, a.pgm", b"P5 32 32 255\n" + pixels()[i])
        csv = self.file("rows.csv")
        report = self.report("demo", self.file("set"), "--csv", csv)
        self.assertEqual((report["images"], report["labelled"]), (12, 12))
        self.assertEqual(report["top1"], sum(best(logits)[0] == label for label, logits in golden()[:12]) / 12)
        with open(csv) as f:
            self.assertIn('.pgm",', f.read())
        # Names of classes instead of their numbers.
        for label in {label for label, _ in golden()[:12]}:
            os.rename(self.file(f"set/{label}"), self.file(f"set/digit {label}"))
        names = self.file("names.txt", "".join(f"digit {i}\n" for i in range(10)))
        self.assertEqual(self.report("demo", self.file("set"), "--labels", names)["top1"], report["top1"])
        self.refused("demo", self.file("set"), "--labels", self.file("few.txt", "digit 3\n"))

    def python_with(self, *modules):
        """The environment's Python, or the test is skipped by name."""
        python = os.path.join(tools.VENV, "bin", "python3")
        if not os.path.exists(python) or subprocess.run([python, "-c", "import " + ", ".join(modules)], capture_output=True).returncode:
            tools.must_have(f"{', '.join(modules)} for Python (run `make setup ALL=1`; looked in {tools.VENV})")
            self.skipTest(f"Python without {', '.join(modules)} (`make setup ALL=1`)")
        return python

    def test_2000_images_of_the_recipe(self):
        images = self.file("drawn.npz")
        subprocess.run([self.python_with("numpy"), "-B", os.path.join(ROOT, "tests", "cli", "drawn_digits.py"), images], check=True)
        html = self.file("page.html")
        report = self.report("demo", images, "--html", html)
        # What TensorFlow Lite counted when the network was trained: models/demo/README.md.
        with open(os.path.join(DEMO, "README.md")) as f:
            wanted = re.search(r"2,000 held-out images: [\d.]+ % in float, ([\d.]+) % in int8", f.read()).group(1)
        self.assertEqual((report["images"], report["labelled"], f"{100 * report['top1']:.2f}"), (2000, 2000, wanted))
        with open(html) as f:
            page = f.read()
        cells = [[int(n) for n in re.findall(r"<td class=\"n[^\"]*\">(\d+)</td>", row)] for row in page.split("<tr>") if 'scope="row"' in row]
        self.assertEqual([len(row) for row in cells], [10] * 10)
        self.assertEqual(sum(map(sum, cells)), 2000)
        self.assertEqual(sum(map(sum, cells)) - sum(cells[i][i] for i in range(10)), len(report["wrong"]))
        self.assertEqual({(c["label"], c["best"]): c["images"] for c in report["confusion"]},
                         {(i, k): cells[i][k] for i in range(10) for k in range(10) if cells[i][k]})
        for wrong in report["wrong"]:
            self.assertGreater(cells[wrong["label"]][wrong["best"]], 0)
        self.assertEqual(len(re.findall('src="data:image/bmp;base64,[A-Za-z0-9+/]+=*"', page)), len(report["wrong"]))

    def test_classes_from_a_csv(self):
        os.makedirs(self.file("set/a"))
        for i in range(5):
            self.file(f"set/a/{i}, x.pgm", b"P5 32 32 255\n" + pixels()[i])
        names = self.file("names.txt", "".join(f"digit {i}\n" for i in range(10)))
        lines = [f'"a/{i}, x.pgm",{golden()[i][0]}\n' if i % 2 else f"a/{i}, x.pgm,digit {golden()[i][0]}\r\n" for i in range(4)]
        truth = self.file("truth.csv", "image,class\n" + "".join(lines))
        report = self.report("demo", self.file("set"), "--labels", names, "--truth", truth)
        self.assertEqual((report["images"], report["labelled"]), (5, 4))
        self.assertEqual(report["top1"], sum(best(logits)[0] == label for label, logits in golden()[:4]) / 4)
        for line in ("a/9.pgm,3\n", "a/0, x.pgm,x\n", "nothing\n"):
            self.assertIn("line 2", self.refused("demo", self.file("set"), "--truth", self.file("bad.csv", "a/0, x.pgm,1\n" + line)))
        self.refused("demo", self.arrays(2), "--truth", truth)
        self.refused("demo", self.file("set"), "--truth", self.file("absent.csv"))

    def test_agreement_with_the_interpreter(self):
        self.python_with("ai_edge_litert", "numpy")
        report = self.report("demo", self.arrays(20), "--oracle", "litert")
        self.assertEqual(report["interpreter_agreement"], 1)
        self.assertRegex(report["interpreter"], r"^LiteRT \d")
        self.refused("demo", self.arrays(20), "--oracle", "onnxruntime")
        self.refused("demo", self.arrays(20), "--oracle", "tflm")

    def test_the_accelerator_gives_the_same(self):
        for jobs in (1, 3):
            csv = self.file("rows.csv")
            report = self.report("demo", self.arrays(7), "--rtl", "--config", "nano", "--jobs", jobs, "--csv", csv)
            self.assertEqual((report["exact"], report["agreement"], report["config"]), (True, 1, "nano"))
            for row, (label, logits) in zip(self.rows(csv), golden(), strict=False):
                self.assertEqual((row[1:8]), [str(label), *map(str, best(logits)), "yes"])
                self.assertGreater(int(row[8]), 10000)
        timed = self.report("demo", self.arrays(7), "--rtl", "--config", "nano", "--clock", "50")
        cycles = sum(int(row[8]) for row in self.rows(csv)) / 7
        self.assertAlmostEqual(timed["mean_cycles"], cycles)
        self.assertAlmostEqual(timed["milliseconds"] * 50_000, cycles)
        self.assertAlmostEqual(timed["frames_per_second"] * cycles, 50e6)
        self.assertIsNone(report["milliseconds"])
        self.assertIn("--clock needs --rtl", self.refused("demo", self.arrays(2), "--clock", "50"))
        done = self.run_command("demo", self.arrays(2), "--rtl", "--config", "nano")
        self.assertRegex(done.stdout.splitlines()[-1], r"^PASS demo on nano: every tensor of 2 images")

    def test_an_interrupted_run_goes_on(self):
        csv = self.file("rows.csv")
        arguments = [KAITEN, "eval", "demo", self.arrays(60), "--rtl", "--config", "nano", "--jobs", "2", "--csv", csv]
        process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        part = csv + ".part"
        for _ in range(600):
            if os.path.exists(part):
                with open(part) as f:
                    if len(f.readlines()) > 4:
                        break
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assertFalse(os.path.exists(csv))
        with open(part, "a") as f:
            f.write("59,1,2")  # a line that the end of the program cut off
        with open(part) as f:
            known = len(f.read().splitlines()) - 2
        self.assertTrue(4 <= known < 60, known)
        self.assertIn(".part", self.refused(*arguments[2:], "--rounding", "tflm"))
        report = self.report(*arguments[2:])
        self.assertEqual((report["images"], report["resumed"], report["exact"]), (60, known, True))
        self.assertFalse(os.path.exists(part))
        self.assertEqual([row[2:7] for row in self.rows(csv)], [[*map(str, best(logits))] for _, logits in golden()[:60]])

    def test_bad_input(self):
        one = npy("|u1", (1, SIDE, SIDE), bytes(SIDE * SIDE))
        self.refused("demo")
        self.refused("demo", self.file("none"))
        os.makedirs(self.file("empty"))
        self.assertIn("no images", self.refused("demo", self.file("empty")))
        self.refused("demo", self.file("text.npz", "hello"))
        self.refused("demo", self.file("nothing.npz", npz()))
        self.refused("demo", self.file("cut.npz", npz(images=one[:-1])))
        self.assertIn("Fortran", self.refused("demo", self.file("order.npz", npz(images=one.replace(b"False", b"True ")))))
        self.refused("demo", self.file("objects.npz", npz(images=one.replace(b"|u1", b"|O8"))))
        self.refused("demo", self.file("huge.npz", npz(images=npy("|u1", (1 << 40, 1 << 40), b""))))
        self.refused("demo", self.file("floats.npz", npz(images=npy("<f4", (1, SIDE, SIDE), bytes(4 * SIDE * SIDE)))))
        self.refused("demo", self.file("label.npz", npz(images=one, labels=npy("<i8", (1,), struct.pack("<q", -1)))))
        self.refused("demo", self.arrays(1), "--jobs", "-1")
        os.makedirs(self.file("broken"))
        self.file("broken/a.png", b"\x89PNG\r\n\x1a\n" + bytes(40))
        self.assertIn("a.png", self.refused("demo", self.file("broken")))


if __name__ == "__main__":
    unittest.main()
