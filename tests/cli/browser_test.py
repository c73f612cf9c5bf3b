# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""The pages in headless Chromium: three widths, light and dark, nothing on the console, nothing wider than the window.

KAITEN_SCREENSHOTS names a folder for the pictures; without it they are looked at and forgotten. Ends with 77 without Chromium."""
import os
import re
import shutil
import struct
import subprocess
import sys
import unittest
import zlib

from tool_case import KAITEN, ROOT, ToolCase, run, table

sys.path.insert(0, os.path.join(ROOT, "scripts"))
import tools

SKIPPED = 77
WIDTHS = (500, 800, 1400)  # headless Chromium has no narrower windows
THEMES = {"light": 1, "dark": 0}  # Chromium's preferredColorScheme
PAGES = {
    "report": ("report", "demo", "--config", "nano", "--clock", "100", "--compress", "on", "--output"),
    "plan": ("plan", table("resnet18"), "--capacity", "3MiB", "--html"),
    "plan-target": ("plan", "demo", "--config", "nano", "--html"),
    "compress": ("compress", "demo", "--html"),
    "offload": ("offload", table("alexnet"), "--html"),
    "swap": ("swap", "vgg16", "--topology", "titanxp", "--batch", "8", "--html"),
    "serve": ("serve", "--generate", "uniform:50", "--scheduler", "all", "--html"),
}


def corner(path):
    """Width, height and the first pixel of a PNG; no filter changes that pixel."""
    with open(path, "rb") as f:
        data = f.read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", path
    at, packed = 8, b""
    while at < len(data):
        size, = struct.unpack(">I", data[at:at + 4])
        if data[at + 4:at + 8] == b"IDAT":
            packed += data[at + 8:at + 8 + size]
        at += 12 + size
    width, height = struct.unpack(">II", data[16:24])
    return width, height, tuple(zlib.decompress(packed)[1:4])


class Browser(ToolCase):
    def chromium(self, *arguments):
        profile = self.file("profile")
        done = subprocess.run([CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--enable-logging=stderr",
                               "--v=0", f"--user-data-dir={profile}", *arguments], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        self.assertEqual(re.findall(r".*:CONSOLE.*", done.stderr), [])
        return done.stdout

    def look(self, name, page, width, theme):
        folder = os.environ.get("KAITEN_SCREENSHOTS") or self.folder
        os.makedirs(folder, exist_ok=True)
        picture = os.path.join(folder, f"{name}-{width}-{theme}.png")
        self.chromium(f"--blink-settings=preferredColorScheme={THEMES[theme]}", f"--window-size={width},1600", f"--screenshot={picture}",
                      "file://" + page)
        shown, _, pixel = corner(picture)
        self.assertEqual(shown, width)
        self.assertTrue(min(pixel) > 200 if theme == "light" else max(pixel) < 60, (name, theme, pixel))

    def test_pages(self):
        for name, call in PAGES.items():
            page = self.file(name + ".html")
            done = run(KAITEN, *call, page)
            self.assertEqual((done.returncode, done.stderr), (0, ""), name)
            for width in WIDTHS:
                for theme in THEMES:
                    self.look(name, page, width, theme)
            self.fits(name, page)

    def fits(self, name, page):
        """Tables and drawings scroll by themselves; the page does not. Its own script says so, in a copy."""
        with open(page, encoding="utf-8") as f:
            text = f.read()
        probe = "<script>document.title = 'wide ' + (document.documentElement.scrollWidth - window.innerWidth)</script></body>"
        copy = self.file("probe.html", text.replace("</body>", probe))
        told = re.search(r"<title>wide (-?\d+)</title>", self.chromium("--window-size=500,1600", "--dump-dom", "file://" + copy))
        self.assertIsNotNone(told, name)
        self.assertLessEqual(int(told[1]), 0, name)


if __name__ == "__main__":
    CHROMIUM = shutil.which("chromium") or tools.find_or_skip("chromium")
    if not CHROMIUM:
        sys.exit(SKIPPED)
    unittest.main()
