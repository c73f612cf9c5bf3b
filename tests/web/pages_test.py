# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""The pages that the tool writes in headless Chromium: no wider than phone, tablet or desktop, nothing on the console, readable by
everyone (scripts/accessible.js); pictures of all of them, and those in docs/ current.

KAITEN_BUILD names the build folder (default: build). Ends with 77 without Chromium or NumPy."""
import os
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "scripts"))
import pages
import screenshots
import tools
from devtools import Chromium

KAITEN = os.path.join(os.environ.get("KAITEN_BUILD") or os.path.join(ROOT, "build"), "kaiten")
SKIPPED = 77
WIDTHS = (360, *(width for width, _ in screenshots.WINDOWS.values()))
MOST_BYTES = 500_000  # of a page
# A page with one fault of each kind, and what is to be said of it.
FAULTY = """<html><head><title> </title></head><body style="background:#fff">
<h2>Heading</h2><table><tr><th>a</th></tr></table><table><tr><td>b</td></tr></table><h4>Deep</h4><h2></h2>
<svg width="40" height="40"><rect width="40" height="40" fill="#3b6fb6"/><text x="5" y="25" fill="#000080">svg</text></svg>
<svg aria-label="named" width="9" height="9"></svg><img src="data:,"><p id="x" style="color:#999">grey</p><p id="x">fine</p>
<div style="background:#000"><p style="color:#333">dark</p></div><p style="opacity:.4">faint</p><button></button></body></html>"""
SAID = ["html has no lang", "the page has no title", "the page has no viewport", "id x twice", "svg 1 has neither title nor aria-label",
        'svg "named" has not the role img', "img data:, has no alt", 'table "b" has neither caption nor heading', 'table "b" has no th',
        "the page has not one h1", 'heading "Heading": h2 behind h0', 'heading "Deep": h4 behind h2', "h2 is empty", "button has no name",
        'text "svg" has contrast 3.15', 'text "grey" has contrast 2.85', 'text "dark" has contrast 1.66', 'text "faint" has contrast 2.85']


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        cls.written = screenshots.write_pages(KAITEN, cls.folder)
        with open(os.path.join(ROOT, "scripts", "accessible.js"), encoding="utf-8") as f:
            cls.check = f.read()
        cls.browser = Chromium(tools.find("chromium"), os.path.join(cls.folder, "profile"))
        cls.addClassCleanup(cls.browser.close)

    def faults(self, path, scheme):
        """(faults, number of texts) of a page, all of it in the window."""
        self.browser.show("file://" + path, 1200, 900, scheme)
        width, height = self.browser.value("[document.documentElement.scrollWidth, document.documentElement.scrollHeight]")
        self.browser.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        found = self.browser.value(self.check)
        return found["faults"], found["texts"]

    def readable(self, path):
        for scheme in screenshots.SCHEMES:
            faults, texts = self.faults(path, scheme)
            self.assertEqual(faults, [], f"{path}, {scheme}")
            self.assertGreater(texts, 20)
            dark = self.browser.value("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
            self.assertEqual(dark, scheme == "dark")

    def test_every_page_fits_every_window(self):
        """Tables and drawings scroll by themselves; the page does not."""
        self.browser.console.clear()
        for path in self.written.values():
            for width in WIDTHS:
                self.browser.show("file://" + path, width, 900, "light")
                self.assertEqual(self.browser.value("innerWidth"), width)
                self.assertLessEqual(self.browser.value("document.documentElement.scrollWidth"), width, path)
        self.assertEqual(self.browser.console, [])

    def test_no_page_is_large(self):
        for path in self.written.values():
            self.assertLessEqual(os.path.getsize(path), MOST_BYTES, path)

    def test_every_page_can_be_read_by_everyone(self):
        for path in self.written.values():
            self.readable(path)

    def test_pages_of_the_coverage_can_be_read_by_everyone(self):
        for path in pages.example_of_coverage(self.folder).values():
            self.readable(path)

    def test_there_is_a_picture_of_every_page(self):
        """Whole, at every width, light and dark; in build/screenshots, to be looked at."""
        image = tools.import_or_skip("PIL.Image")
        if not image:
            self.skipTest("Pillow is missing")
        written = {**self.written, **pages.example_of_coverage(self.folder)}
        taken = screenshots.take(written, screenshots.OUT, image)
        self.assertEqual(set(taken) - {screenshots.SIMULATOR}, set(written))
        for name in taken:
            for window, (width, _) in screenshots.WINDOWS.items():
                grounds = []
                for scheme in screenshots.SCHEMES:
                    with image.open(os.path.join(screenshots.OUT, screenshots.file_name(name, window, scheme))) as picture:
                        self.assertEqual(picture.width, width, picture.filename)
                        self.assertLess(picture.height, screenshots.TALLEST, picture.filename)
                        colours = picture.convert("RGB").getcolors(1 << 24)
                        self.assertGreater(len(colours), 10, picture.filename)
                        grounds.append(sum(max(colours)[1]))
                self.assertGreater(grounds[0], grounds[1])  # what most of it is

    def test_every_fault_is_found(self):
        path = os.path.join(self.folder, "faulty.html")
        with open(path, "w", encoding="utf-8") as f:
            f.write(FAULTY)
        self.assertEqual(self.faults(path, "light")[0], SAID)

    def test_pictures_are_current(self):
        self.assertEqual(screenshots.stale(self.written), [])
        with open(os.path.join(ROOT, "docs", "software", "pages.md"), encoding="utf-8") as f:
            text = f.read()
        self.assertEqual(tools.between(text, "pages", screenshots.document()), text)
        folder = os.path.join(ROOT, screenshots.PICTURES)
        self.assertEqual(sorted(os.listdir(folder)), sorted(p for of_page in screenshots.documented().values() for p in of_page))
        self.assertLessEqual(sum(os.path.getsize(os.path.join(folder, p)) for p in os.listdir(folder)), screenshots.MOST_BYTES)

    def test_an_old_picture_is_found(self):
        path = os.path.join(self.folder, "other.html")
        with open(self.written["report"], encoding="utf-8") as f, open(path, "w", encoding="utf-8") as g:
            g.write(f.read().replace("77,833", "77,834"))
        self.assertEqual([line.split(":")[0] for line in screenshots.stale({**self.written, "report": path})], ["report"])


if __name__ == "__main__":
    if not tools.find_or_skip("chromium") or not tools.import_or_skip("numpy"):
        print("skipped: Chromium or NumPy is missing (`make setup ALL=1`)")
        sys.exit(SKIPPED)
    unittest.main()
