# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""The pictures of the documents: their names are those of the RTL, and the top level shows every block of kaiten_top."""
import glob
import os
import re
import sys
import unittest
import xml.etree.ElementTree as tree

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
sys.path.insert(0, os.path.join(ROOT, "scripts"))
import drawing
import gen_pictures

SVG = "{http://www.w3.org/2000/svg}"


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def rtl():
    return {path: read(path) for path in glob.glob(os.path.join(ROOT, "rtl/**/*.sv"), recursive=True)}


def texts(svg, kind=None):
    return [t.text or "" for t in tree.fromstring(svg).iter(SVG + "text") if kind is None or kind in t.get("class", "").split()]


def pictures():
    return {path: read(path) for path in glob.glob(os.path.join(ROOT, "docs/pictures/*.svg"))}


def unknown_names(svg, sources):
    """Names of the RTL in a picture that no source has: the last part of a path, without its index."""
    words = set()
    for text in sources:
        words.update(re.findall(r"\w+", text))
    names = [re.sub(r"\[.*", "", n.split(".")[-1]) for t in texts(svg, "name") for n in t.split()]
    return [n for n in names if n not in words]


def blocks(top):
    """Modules that a source instantiates."""
    return set(re.findall(r"^\s*(kt_\w+)\s+(?:#\s*\(|u_\w+\s*\()", re.sub(r"//.*", "", top), re.M))


class Pictures(unittest.TestCase):
    def test_names_are_those_of_the_rtl(self):
        sources = rtl().values()
        self.assertTrue(pictures())
        for path, svg in pictures().items():
            self.assertEqual(unknown_names(svg, sources), [], path)

    def test_a_name_that_is_not_in_the_rtl_is_found(self):
        picture = drawing.Drawing(10, 10, "", "")
        picture.box(0, 0, 1, 1, "a", ["kt_there", "kt_nowhere"])
        self.assertEqual(unknown_names(picture.svg(), ["module kt_there;"]), ["kt_nowhere"])

    def test_every_block_of_the_top_is_shown(self):
        inside = blocks(read("rtl/kaiten_top.sv"))
        self.assertGreater(len(inside), 8)
        self.assertEqual(inside - set(texts(read("docs/pictures/top.svg"), "name")), set())

    def test_blocks_are_found(self):
        self.assertEqual(blocks("  kt_a #(\n  kt_b u_b (\n  // kt_c u_c (\n  kt_pkg::x y;\n"), {"kt_a", "kt_b"})

    def test_modules_stand_in_the_module_that_holds_them(self):
        sources = {os.path.splitext(os.path.basename(path))[0]: text for path, text in rtl().items()}

        def inside(module):
            found = blocks(sources[module])
            return found.union(*(inside(m) for m in found))

        for picture, module in (("conv", "kt_conv"), ("vector", "kt_vector")):
            shown = {n for n in texts(read(f"docs/pictures/{picture}.svg"), "name") if n.startswith("kt_")}
            self.assertEqual(shown - inside(module) - {"kt_stream_buf", "kt_result_writer"}, set(), picture)

    def test_folders_of_the_software_exist(self):
        shown = [f for t in texts(read("docs/pictures/program.svg")) for f in re.findall(r"\bsw/\w+", t)]
        self.assertGreater(len(shown), 5)
        for folder in shown + [f"sw/compile/{t.split(', ')[-1]}" for t in texts(read("docs/pictures/program.svg")) if t.endswith("/")]:
            self.assertTrue(os.path.isdir(os.path.join(ROOT, folder)), folder)

    def test_committed_pictures_are_what_the_sources_draw(self):
        for name, draw in gen_pictures.PICTURES.items():
            self.assertEqual(read(f"docs/pictures/{name}.svg"), draw().svg(), name)

    def test_pictures_follow_the_readers_scheme(self):
        for path, svg in pictures().items():
            self.assertIn("prefers-color-scheme:dark", svg, path)
            root = tree.fromstring(svg)
            self.assertTrue(root.find(SVG + "title").text and root.find(SVG + "desc").text, path)

    def test_waves_hold_every_cycle(self):
        wave = {"signal": [{"name": "clk", "wave": "p.."}, {"name": "a", "wave": "01."}, {"name": "b", "wave": "x==", "data": ["1", "2"]}]}
        svg = drawing.waves("t", "d", wave).svg()
        self.assertEqual([t for t in texts(svg) if t in ("1", "2")].count("2"), 2)  # the number of a cycle and the word of b


if __name__ == "__main__":
    unittest.main()
