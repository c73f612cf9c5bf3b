# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""The documentation site is built without a broken link, is complete, and asks no other host for anything."""
import glob
import html.parser
import json
import os
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
sys.path.insert(0, os.path.join(ROOT, "scripts"))
import docs_site
KAITEN = os.path.join(os.environ.get("KAITEN_BUILD") or os.path.join(ROOT, "build"), "kaiten")


class Fetched(html.parser.HTMLParser):
    """What a browser fetches to show a page."""

    def __init__(self):
        super().__init__()
        self.addresses = []

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        if tag in ("script", "img", "iframe"):
            self.addresses.append(values.get("src") or "")
        if tag == "link" and values.get("rel") in ("stylesheet", "icon", "preload", "modulepreload"):
            self.addresses.append(values.get("href") or "")


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.browser = os.path.join(cls.folder.name, "wasm")
        os.makedirs(cls.browser)
        with open(os.path.join(cls.browser, "index.html"), "w") as f:
            f.write("the simulator")
        with unittest.mock.patch.dict(os.environ, KAITEN_BROWSER_PAGE=cls.browser):
            done = docs_site.build(os.path.join(cls.folder.name, "site"))
        if done is None:
            raise unittest.SkipTest("mkdocs-material is not installed (`make setup ALL=1`)")
        cls.code, cls.said = done

    def read(self, page):
        with open(os.path.join(self.folder.name, "site", page), encoding="utf-8") as f:
            return f.read()

    def test_no_complaint(self):
        self.assertEqual((self.code, self.said), (0, ""))

    def test_start_page_leads_to_the_simulator_in_the_browser(self):
        self.assertIn('href="try/index.html"', self.read("index.html"))
        self.assertEqual(self.read("try/index.html"), "the simulator")

    def test_start_page_has_a_picture(self):
        self.assertIn('src="pictures/top.svg"', self.read("index.html"))

    def test_every_document_is_there(self):
        for path in glob.glob(os.path.join(ROOT, "docs", "**", "*.md"), recursive=True):
            page = os.path.relpath(path, os.path.join(ROOT, "docs"))[:-3].replace("README", "index")
            if page == "index":
                page = "documents"
            self.assertTrue(os.path.exists(os.path.join(self.folder.name, "site", page + ".html")), page)

    def test_every_command_is_there(self):
        page = self.read("reference/commands.html")
        told = json.loads(subprocess.run([KAITEN, "--help=json"], capture_output=True, text=True, check=True).stdout)
        self.assertGreater(len(told), 10)
        for command in told:
            self.assertIn(f'<h2 id="{command["name"]}">', page)
        self.assertIn("--bytes-per-cycle", page)

    def test_every_python_name_is_there(self):
        page = self.read("reference/python.html")
        for name in ("Model", "InputError", "modelrun", "inferencesessionrun"):
            self.assertRegex(page.lower(), rf'<h[34] id="{name.lower()}">')
        self.assertIn("<code>bool | None</code>", page)

    def test_every_public_class_is_there(self):
        if not docs_site.tools.find_or_skip("doxygen"):
            self.skipTest("doxygen is not installed")
        for name in ("Session", "Graph", "InputError"):
            self.assertIn(f">{name}</a>", self.read("cpp/annotated.html").replace("\n", " "))

    def test_nothing_comes_from_elsewhere(self):
        pages = glob.glob(os.path.join(self.folder.name, "site", "**", "*.html"), recursive=True)
        self.assertGreater(len(pages), 60)
        for page in pages:
            fetched = Fetched()
            with open(page, encoding="utf-8") as f:
                fetched.feed(f.read())
            for address in fetched.addresses:
                self.assertFalse(address.startswith(("http:", "https:", "//")), f"{page}: {address}")


if __name__ == "__main__":
    unittest.main()
