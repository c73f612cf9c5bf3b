# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""`kaiten compress` from outside: the keys of the interface, ratios known beforehand, the page, errors of one line."""
import json
import math
import os
import random
import unittest
import xml.dom.minidom

from tool_case import KAITEN, CommandCase, run

CODECS = ["zvc", "rle", "zlib", "lz4", "zstd"]
LAYOUTS = ["nchw", "nhwc", "chwn"]
KEYS = {"codec", "layout", "raw_bytes", "packed_bytes", "ratio", "density", "zvc_limit", "entropy_ratio", "compress_gbps",
        "expand_gbps", "memcpy_gbps"}
HEAD = {"schema_version", "command", "program", "seed", "options"}  # of the first entry


class Compress(CommandCase):
    COMMAND = "compress"

    def test_a_file_has_the_keys_of_the_interface(self):
        rng = random.Random(1)
        data = bytes(rng.randrange(256) if rng.random() < 0.4 else 7 for _ in range(2 * 8 * 12 * 10))
        entries = self.report(self.file("map.bin", data), "--shape", "2,8,12,10", "--zero-point", 7)
        self.assertEqual([(e["codec"], e["layout"]) for e in entries], [(c, lay) for c in CODECS for lay in LAYOUTS])
        density = sum(b != 7 for b in data) / len(data)
        entropy = -sum(n / len(data) * math.log2(n / len(data)) for n in map(data.count, set(data)))
        for e in entries:
            self.assertEqual(set(e), KEYS | (HEAD if e is entries[0] else set()))
            self.assertEqual(e["raw_bytes"], len(data))
            self.assertAlmostEqual(e["ratio"], e["raw_bytes"] / e["packed_bytes"])
            self.assertAlmostEqual(e["density"], density)
            self.assertAlmostEqual(e["zvc_limit"], 8 / (8 * density + 1))
            self.assertAlmostEqual(e["entropy_ratio"], 8 / entropy)
            self.assertGreater(e["compress_gbps"], 0)
            self.assertGreater(e["expand_gbps"], 0)
        # One window: masks, elements and its size of two bytes, in every layout.
        zvc = {e["packed_bytes"] for e in entries if e["codec"] == "zvc"}
        self.assertEqual(zvc, {2 + len(data) // 8 + sum(b != 7 for b in data)})

    def test_words_of_the_paper(self):
        # 60 % zeros of 32 bits: 2.5 without the masks, at most 32 / (32 * 0.4 + 1) with them.
        rng = random.Random(2)
        words = [rng.randrange(1, 1 << 32) if i % 5 < 2 else 0 for i in range(40960)]
        data = b"".join(w.to_bytes(4, "little") for w in words)
        (e,) = self.report(self.file("map.bin", data), "--bits", 32, "--codec", "zvc")
        self.assertAlmostEqual(e["zvc_limit"], 32 / 13.8)
        self.assertGreater(e["ratio"], 0.99 * e["zvc_limit"])
        self.assertLess(e["ratio"], e["zvc_limit"])
        (scalar,) = self.report(self.file("map.bin"), "--bits", 32, "--codec", "zvc_scalar")
        self.assertEqual((scalar["codec"], scalar["packed_bytes"]), ("zvc_scalar", e["packed_bytes"]))
        (e,) = self.report(self.file("map.bin"), "--bits", 16, "--codec", "rle", "--window", 65536)
        self.assertEqual((e["codec"], e["layout"]), ("rle", "nchw"))

    def test_layouts(self):
        # Two images, one of zeros: runs are long in NCHW, and a byte in CHWN.
        data = bytes(256) + bytes(range(1, 129)) * 2
        path = self.file("map.bin", data)
        ratio = {e["layout"]: e["ratio"] for e in self.report(path, "--shape", "2,4,8,8", "--codec", "rle")}
        self.assertEqual(ratio["nchw"], ratio["nhwc"])
        self.assertGreater(ratio["nchw"], 1.9)
        self.assertLess(ratio["chwn"], 1)
        # Taken to be in the order it is compressed in, or brought there.
        (e,) = self.report(path, "--shape", "2,4,8,8", "--codec", "rle", "--layout", "chwn")
        self.assertEqual((e["layout"], e["ratio"]), ("chwn", ratio["nchw"]))
        (e,) = self.report(path, "--shape", "2,4,8,8", "--codec", "rle", "--layout", "chwn", "--from", "nchw")
        self.assertEqual(e["ratio"], ratio["chwn"])

    def test_constant_file(self):
        for e in self.report(self.file("zeros.bin", bytes(100000))):
            self.assertEqual((e["density"], e["entropy_ratio"], e["zvc_limit"]), (0, None, 8))
            self.assertGreater(e["ratio"], 7.9)
        self.assertEqual(self.run_command(self.file("zeros.bin")).returncode, 0)

    def test_the_demo_layer_by_layer(self):
        entries = self.report("demo", "--codec", "zvc", "--batch", 3)
        for e in entries:
            self.assertEqual(set(e), KEYS | {"of", "layer"} | (HEAD if e is entries[0] else set()))
        for of in ("activations", "weights"):
            for layout in LAYOUTS:
                mine = [e for e in entries if (e["of"], e["layout"]) == (of, layout)]
                total, layers = mine[0], mine[1:]
                self.assertIsNone(total["layer"])
                self.assertNotIn(None, [e["layer"] for e in layers])
                for key in ("raw_bytes", "packed_bytes"):
                    self.assertEqual(total[key], sum(e[key] for e in layers))
        one = self.report("demo", "--codec", "zvc", "--layout", "nhwc")
        self.assertEqual(3 * one[0]["raw_bytes"], entries[0]["raw_bytes"])
        self.assertEqual(one[0]["packed_bytes"],
                         self.report("demo", "--codec", "zvc", "--layout", "nhwc", "--seed", 1)[0]["packed_bytes"])

    def test_text_and_page(self):
        page = self.file("page.html")
        done = self.run_command("demo", "--html", page, "--json", self.file("report.json"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for word in ("of the ZVC limit", "weights: density", "nchw nhwc chwn", "image 1 of the demo"):
            self.assertIn(word, done.stdout)
        with open(page) as f:
            text = f.read()
        self.assertTrue(text.startswith("<!DOCTYPE html>"))
        for part in text.split("<svg")[1:]:
            xml.dom.minidom.parseString("<svg" + part.split("</svg>")[0] + "</svg>")
        self.assertNotIn("http", text)
        self.assertEqual(sorted(os.listdir(self.folder)), ["page.html", "report.json"])

    def test_help(self):
        for command in ("compress", "offload"):
            done = run(KAITEN, command, "--help")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("usage: kaiten " + command, done.stdout)

    def test_bad_input(self):
        path = self.file("map.bin", bytes(100))
        self.assertIn("has 100 bytes, --shape 1,4,5,6 of 8 bits needs 120", self.refused(path, "--shape", "1,4,5,6"))
        self.assertIn("needs 200", self.refused(path, "--shape", "1,4,5,5", "--bits", 16))
        self.assertIn("needs", self.refused(path, "--shape", "4294967296,4294967296,4294967296,4294967296"))
        self.assertIn("a multiple of 4", self.refused(self.file("odd.bin", bytes(99)), "--bits", 32))
        self.assertIn("is empty", self.refused(self.file("empty.bin", b"")))
        for shape in ("1,2,3", "1,2,3,x", "0,1,1,1", "1,1,1,1,1", "-1,1,1,1", ",,,"):
            self.assertIn("--shape", self.refused(path, "--shape", shape))
        for option, value in (("--bits", 12), ("--layout", "hwcn"), ("--from", "all"), ("--codec", "gzip"), ("--window", 0),
                              ("--window", 65537), ("--zero-point", 256), ("--zero-point", -129), ("--seconds", -1)):
            self.assertIn(option, self.refused(path, option, value))
        self.assertIn("elements of 4", self.refused(path, "--bits", 32, "--window", 62))
        self.assertIn("is for models", self.refused(path, "--input", path))
        self.assertIn("is for models", self.refused(path, "--batch", 2))
        self.assertIn("is for raw files", self.refused("demo", "--bits", 16))
        self.assertIn("is for raw files", self.refused("demo", "--shape", "1,1,1,1"))
        self.assertIn("--batch", self.refused("demo", "--batch", 0))
        self.assertIn("--batch", self.refused("demo", "--batch", 2, "--input", path))
        self.refused()
        self.refused("demo", "--speed", 3)
        self.refused(self.file("none.bin"))
        self.refused(self.file("none.tflite"))
        self.refused(self.file("bad.tflite", b"TFL3" * 20))
        self.refused("demo", "--input", path)
        self.refused("demo", "--html", os.path.join(self.folder, "no", "page.html"))


if __name__ == "__main__":
    unittest.main()
