# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""The simulator in a browser page (`make wasm`) against build/kaiten: cycles, bytes, no console errors.

Ends with 77 without Emscripten or Chromium; with CI=true that is a failure."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "scripts"))
import pages
import screenshots
from devtools import Chromium, served

BUILD = os.environ.get("KAITEN_BUILD", os.path.join(ROOT, "build"))
SKIPPED = 77
WORDS = 9  # of an address of SB and VB, of a row of WB and VWB


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        server = served(pages.SITE)
        cls.url = server.__enter__()
        cls.addClassCleanup(server.__exit__, None, None, None)
        cls.browser = Chromium(shutil.which("chromium"), os.path.join(cls.folder.name, "profile"))
        cls.addClassCleanup(cls.browser.close)

    def setUp(self):
        self.browser.console.clear()
        self.browser.call("Page.navigate", url=self.url)
        self.browser.wait("document.getElementById('demo')?.disabled === false", 30)

    def tearDown(self):
        self.assertEqual(self.browser.console, [])

    def native(self, model, *options):
        report, output = os.path.join(self.folder.name, "native.json"), os.path.join(self.folder.name, "native.raw")
        done = subprocess.run([os.path.join(BUILD, "kaiten"), "run", model, "--config", "nano", "--json", report, "--output", output, *options],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(report, encoding="utf-8") as f, open(output, "rb") as g:
            return json.load(f), g.read()

    def give(self, path):
        node = self.browser.call("Runtime.evaluate", expression="document.getElementById('file')")["result"]["objectId"]
        self.browser.call("DOM.setFileInputFiles", files=[path], objectId=node)

    def equal_to_native(self, model):
        report, output = self.native(model)
        found = self.browser.value("window.kaitenResult")
        self.assertEqual(found["report"]["cycles"], report["cycles"])
        self.assertEqual("".join(o["hex"] for o in found["outputs"]), output.hex())
        self.assertIs(found["report"]["exact"], True)
        self.assertEqual(found["report"]["layers"], report["layers"])
        self.assertGreater(sum(t["seen"] for t in found["tensors"]), 0)
        self.assertRegex(self.browser.value("document.getElementById('verdict').textContent"), "^PASS ")

    def test_demo_at_once(self):
        start = time.monotonic()
        self.browser.value("document.getElementById('demo').click()")
        self.browser.wait("!document.getElementById('go').disabled", 10)
        self.browser.value("document.getElementById('go').click()")
        self.browser.wait("!document.getElementById('outcome').hidden", 10)
        self.assertLess(time.monotonic() - start, 10)
        print(self.browser.value("document.getElementById('count').textContent"), f"in {time.monotonic() - start:.2f} s", file=sys.stderr)
        self.equal_to_native("demo")
        self.browser.value("document.getElementById('report').click()")
        self.browser.wait("!document.getElementById('save').hidden", 20)
        self.assertIn("<svg", self.browser.value("document.getElementById('page').srcdoc"))

    def test_step_pause_and_again(self):
        self.browser.value("document.getElementById('demo').click()")
        self.browser.wait("!document.getElementById('go').disabled", 10)
        self.browser.value("document.getElementById('cycles').value = 5000; document.getElementById('step').click()")
        self.browser.wait("document.getElementById('count').textContent === '5,000 cycles'", 10)
        self.assertEqual(self.browser.value("document.getElementById('queues').rows.length"), 4)
        self.assertTrue(self.browser.value("document.getElementById('outcome').hidden"))
        self.browser.value("document.getElementById('go').click(); document.getElementById('pause').click()")
        self.browser.wait("!document.getElementById('go').disabled", 10)
        self.browser.value("document.getElementById('go').click()")
        self.browser.wait("!document.getElementById('outcome').hidden", 10)
        self.equal_to_native("demo")

    def buffers(self):
        """[(name, KiB now, KiB in all, value of the bar, its end, what the bar says, most KiB seen)]"""
        rows = self.browser.value("""[...document.getElementById('buffers').rows].map((r) => {
          const bar = r.cells[1].firstChild;
          return [...r.cells].map((c) => c.textContent).concat(bar.value, bar.max, bar.getAttribute('aria-label'));
        })""")
        found = []
        for name, _, said, most, _, value, end, label in rows:
            now, size = said.split(" of ")
            found.append((name, float(now), float(size), value, end, label, float(most)))
        return found

    def test_buffers_fill_and_drain(self):
        with open(os.path.join(ROOT, "rtl", "configs.json"), encoding="utf-8") as f:
            nano = json.load(f)["nano"]
        row = WORDS * nano["Cp"]
        sizes = {"SB": nano["SbDepth"] * row, "VB": nano["VbDepth"] * row, "WB": nano["WbRows"] * row, "VWB": nano["VwbRows"] * row,
                 "OB": nano["ObPixels"] * nano["Kp"] * 4}
        self.browser.value("document.getElementById('demo').click()")
        self.browser.wait("!document.getElementById('go').disabled", 10)
        self.assertEqual(self.buffers(), [])
        most, seen = dict.fromkeys(sizes, 0), set()
        for step in range(1, 9):
            self.browser.value("document.getElementById('cycles').value = 8000; document.getElementById('step').click()")
            self.browser.wait(f"document.getElementById('count').textContent === '{8000 * step:,} cycles'", 10)
            found = self.buffers()
            self.assertEqual([b[0] for b in found], list(sizes))
            seen.add(tuple(b[3] for b in found))
            for name, now, size, value, end, label, largest in found:
                self.assertEqual((end, size), (sizes[name], round(sizes[name] / 1024, 1)))
                self.assertLessEqual(value, end)
                self.assertAlmostEqual(now, value / 1024, delta=0.051)
                self.assertEqual(label, f"{name}: {now:.1f} of {size:.1f} KiB")
                most[name] = max(most[name], now)
                self.assertEqual(largest, most[name])
        self.assertGreater(len(seen), 4)  # the bars move
        for name in ("SB", "VB", "WB"):
            self.assertGreater(most[name], sizes[name] / 1024 / 10, name)
        self.browser.value("document.getElementById('go').click()")
        self.browser.wait("!document.getElementById('outcome').hidden", 10)
        self.assertEqual([b[3] for b in self.buffers()], [0] * 5)
        self.equal_to_native("demo")

    def test_bad_file_then_demo(self):
        bad = os.path.join(self.folder.name, "bad.tflite")
        with open(bad, "wb") as f:
            f.write(b"no model at all")
        self.give(bad)
        self.browser.wait("!document.getElementById('error').hidden", 10)
        self.assertEqual(len(self.browser.value("document.getElementById('error').textContent").splitlines()), 1)
        self.give(os.path.join(ROOT, "models", "demo", "demo.tflite"))  # as a file: random input
        self.browser.wait("!document.getElementById('go').disabled && !document.getElementById('network').hidden", 10)
        self.assertTrue(self.browser.value("document.getElementById('error').hidden"))
        self.browser.value("document.getElementById('go').click()")
        self.browser.wait("!document.getElementById('outcome').hidden", 10)
        self.equal_to_native(os.path.join(ROOT, "models", "demo", "demo.tflite"))

    def test_can_be_read_by_everyone(self):
        self.browser.value("document.getElementById('demo').click()")
        self.browser.wait("!document.getElementById('go').disabled", 10)
        self.browser.value("document.getElementById('go').click()")
        self.browser.wait("!document.getElementById('outcome').hidden", 10)
        self.browser.call("Emulation.setDeviceMetricsOverride", width=1200, height=3000, deviceScaleFactor=1, mobile=False)
        with open(os.path.join(ROOT, "scripts", "accessible.js"), encoding="utf-8") as f:
            found = self.browser.value(f.read())
        self.browser.call("Emulation.clearDeviceMetricsOverride")
        self.assertEqual(found["faults"], [])
        self.assertGreater(found["texts"], 50)

    def test_fits_every_window(self):
        for width in (360, *(width for width, _ in screenshots.WINDOWS.values())):
            self.browser.show(self.url, width, 740, "dark")
            pages.run_simulator(self.browser)
            self.assertEqual(self.browser.value("document.getElementById('buffers').rows.length"), 5)
            self.assertLessEqual(self.browser.value("document.documentElement.scrollWidth"), width)
        self.browser.call("Emulation.clearDeviceMetricsOverride")


def missing():
    return [name for name in ("emcmake", "chromium") if not shutil.which(name)]


if __name__ == "__main__":
    if missing():
        print("missing:", " ".join(missing()))
        sys.exit(1 if os.environ.get("CI") == "true" else SKIPPED)
    if "--no-build" in sys.argv:
        sys.argv.remove("--no-build")
    else:
        subprocess.run([os.path.join(ROOT, "scripts", "wasm.sh")], check=True)
    unittest.main()
