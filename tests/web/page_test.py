# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""The simulator in a browser page (`make wasm`) against build/kaiten: cycles, bytes, no console errors.

Ends with 77 without Emscripten or Chromium; with CI=true that is a failure."""
import functools
import http.server
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "scripts"))
from devtools import Chromium

BUILD = os.environ.get("KAITEN_BUILD", os.path.join(ROOT, "build"))
SITE = os.path.join(ROOT, "build-wasm", "site")
SKIPPED = 77


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=SITE))
        threading.Thread(target=cls.server.serve_forever, daemon=True).start()
        cls.browser = Chromium(shutil.which("chromium"), os.path.join(cls.folder.name, "profile"))

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.server.shutdown()
        cls.server.server_close()
        cls.folder.cleanup()

    def setUp(self):
        self.browser.console.clear()
        self.browser.call("Page.navigate", url=f"http://127.0.0.1:{self.server.server_port}/")
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

    def test_fits_a_phone(self):
        self.browser.call("Emulation.setDeviceMetricsOverride", width=360, height=740, deviceScaleFactor=1, mobile=True)
        self.browser.value("document.getElementById('demo').click()")
        self.browser.wait("!document.getElementById('go').disabled", 10)
        self.assertLessEqual(self.browser.value("document.documentElement.scrollWidth"), 360)
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
