# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""The documents: every link leads somewhere, every document, file and module that is mentioned exists."""
import json
import os
import re
import subprocess
import sys
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
sys.path.insert(0, os.path.join(ROOT, "scripts"))
import tools
# What a mention of a file of the repository looks like in a document.
FOLDERS = "rtl|sw|tb|formal|fpga|models|scripts|tests|bench|examples|cmake|include|docs"
MENTION = re.compile(rf"`((?:{FOLDERS})/[\w./-]*\.(?:sv|h|cpp|py|json|sby|rdl|txt|md|f|core|vlt|in))`")
SOURCES = ("*.sv", "*.h", "*.cpp", "*.in", "*.py", "*.sh", "*.json", "*.rdl", "*.sby", "*.cmake", "*.txt", "Makefile", "*.vlt")
# History names files that are gone.
HISTORY = {"CHANGELOG.md"}


def tracked(*patterns):
    out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", *patterns], cwd=ROOT, capture_output=True, text=True,
                         check=True).stdout
    return [path for path in out.split("\n") if path and os.path.exists(os.path.join(ROOT, path))]


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def without_code(text):
    return re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)


def anchors(text):
    """The anchors that GitHub gives the headings of a page."""
    found = set()
    for heading in re.findall(r"^#+ (.*)$", without_code(text), re.M):
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        anchor = re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
        number, unique = 0, anchor
        while unique in found:
            number += 1
            unique = f"{anchor}-{number}"
        found.add(unique)
    return found


def broken_links(path, text, exists, page):
    """Relative links of a page that lead nowhere; `exists` judges a path, `page` reads one."""
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", without_code(text)):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        file = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
        if not exists(file) or (anchor and file.endswith(".md") and anchor not in anchors(page(file))):
            broken.append(target)
    return broken


# Abbreviations that are names: operators, networks, programs, roman numerals, parts of licences.
NAMES = set("""ADD CONCATENATION COPYRIGHT DEQUANTIZE FILE II III KAIT L0 LFS LICENSE MAXIMUM MEAN MINIMUM MNIST MODEL MUL NAME OLD PAD PIL QUANTIZE README
PACK PRELU RESHAPE SHAPE SOFTMAX SPAN SPLIT STEP SUB TASK TILE TRANSPOSE US XNNPACK""".split())
COLUMNS, WORDS = 120, 120


def abbreviations(text):
    text = re.sub(r"`[^`\n]*`", "", without_code(text))
    return set(re.findall(r"(?<![\w/.-])[A-Z][A-Z0-9]+(?![\w-])", re.sub(r"\]\([^)]*\)", "", text)))


def prose(text):
    """(line number, lines) of every paragraph and list item outside of tables, headings and code."""
    found, lines, start, code = [], [], 0, False
    for number, line in enumerate(text.split("\n"), 1):
        fence = line.startswith("```")
        code ^= fence
        outside = fence or code or not line.strip() or line.startswith(("|", "#", "<", "!["))
        if lines and (outside or re.match(r"\s*(?:[-*]|\d+\.) ", line)):
            found.append((start, lines))
            lines = []
        if not outside:
            if not lines:
                start = number
            lines.append(line)
    return found + ([(start, lines)] if lines else [])


def hard_to_read(text):
    """Line numbers of prose with long lines, and of long paragraphs."""
    return [start for start, lines in prose(text)
            if any(len(line) > COLUMNS for line in lines) or sum(len(line.split()) for line in lines) > WORDS]


class Documents(unittest.TestCase):
    def test_every_link_leads_somewhere(self):
        for path in tracked("*.md"):
            there = lambda file: os.path.exists(os.path.join(ROOT, file))
            self.assertEqual(broken_links(path, read(path), there, read), [], path)

    def test_a_broken_link_is_found(self):
        pages = {"docs/a.md": "# A\n## The `b` of c\n", "README.md": ""}
        links = "[x](docs/a.md#the-b-of-c) [x](docs/b.md) [x](docs/a.md#the-c) [x](#none) [x](https://example.org)\n```\n[x](y)\n```\n"
        self.assertEqual(broken_links("README.md", links, pages.__contains__, pages.__getitem__),
                         ["docs/b.md", "docs/a.md#the-c", "#none"])

    def test_documents_that_sources_mention_exist(self):
        for path in tracked(*SOURCES):
            if path.startswith("tests/scripts/"):
                continue  # pages of their own making
            for page in re.findall(r"\bdocs/[\w/.-]*\w\.(?:md|json)\b", read(path)):
                self.assertTrue(os.path.exists(os.path.join(ROOT, page)), f"{path} mentions {page}")

    def test_documents_have_the_places_that_scripts_write_to(self):
        places = []
        for path in tracked("bench/*.py", "scripts/*.py"):
            text = read(path)
            own = re.search(r'^DOCS = "([^"]+)"', text, re.M)
            for page, marker in re.findall(r'write_between\((DOCS|"[^"]+"), "([^"]+)"', text):
                places.append((own[1] if page == "DOCS" else page.strip('"'), marker, path))
        self.assertGreater(len(places), 8)
        for page, marker, path in places:
            for end in ("begin", "end"):
                self.assertEqual(read(page).count(f"<!-- {marker}: {end} -->"), 1, f"{path} writes {marker} into {page}")

    def test_files_that_documents_mention_exist(self):
        for path in tracked("*.md"):
            if path in HISTORY:
                continue
            for file in MENTION.findall(read(path)):
                self.assertTrue(os.path.exists(os.path.join(ROOT, file)), f"{path} mentions {file}")

    def test_modules_that_documents_mention_exist(self):
        known = set()
        for path in tracked("rtl/*.sv", "formal/*", "tests/rtl/*", "fpga/*"):
            known.add(os.path.splitext(os.path.basename(path))[0])
            if path.endswith((".sv", ".sby")):
                known.update(re.findall(r"\bkt_\w+", read(path)))
        for path in tracked("*.md"):
            if path in HISTORY:
                continue
            for name in re.findall(r"\bkt_[a-z]\w+", read(path)):
                self.assertTrue(name in known, f"{path} mentions {name}")

    def test_public_headers_are_listed(self):
        told = re.findall(r"`([\w/]+\.h)`", "\n".join(re.findall(r"^\| (`.*?) \|", read("docs/software/library.md"), re.M)))
        self.assertEqual(sorted(told), sorted(tools.public_headers()))

    def test_every_schema_is_linked_from_the_page_of_outputs(self):
        page = read("docs/software/outputs.md")
        schemas = tracked("docs/formats/schemas/*.json")
        self.assertGreater(len(schemas), 10)
        for path in schemas:
            self.assertIn(f"](../formats/schemas/{os.path.basename(path)})", page, path)

    def test_every_report_of_a_command_is_named_on_the_page_of_outputs(self):
        commands = set(re.findall(r"`(\w+)`", re.search(r"^\| `command` \| (.*) \|$", read("docs/software/outputs.md"), re.M)[1]))
        reports = {name for path in tracked("docs/formats/schemas/*.json")
                   for name in re.findall(r"kaiten (\w+)", json.loads(read(path))["title"]) if "Report" in json.loads(read(path))["title"]}
        self.assertEqual(reports - commands, set())

    def test_every_abbreviation_is_in_the_glossary(self):
        glossary = set(re.findall(r"[A-Z][A-Z0-9]+", read("docs/glossary.md")))
        for path in tracked("README.md", "CONTRIBUTING.md", "docs/*.md", "formal/*.md", "fpga/*.md"):
            for name in sorted(abbreviations(read(path)) - NAMES):
                self.assertTrue(name in glossary, f"{path} uses {name}, which docs/glossary.md does not explain")

    def test_names_of_the_glossary_exist(self):
        memories = re.search(r"^## Memories\n(.*?)^## ", read("docs/glossary.md"), re.M | re.S)[1]
        registers = read("docs/formats/registers.md")
        software = "".join(read(path) for path in tracked("sw/*.h"))
        rows = [line.strip("|").split("|") for line in memories.splitlines() if line.startswith("|")][2:]
        self.assertGreater(len(rows), 8)
        for row in rows:
            for name in re.findall(r"`(\w+)`", row[3]):
                self.assertIn(f"`{name}`", registers, f"register or counter of {row[0]}")
            for name in re.findall(r"`([\w:]+)(?:\(\))?`", row[4]):
                self.assertRegex(software, rf"\b{name.split('::')[-1]}\b", f"C++ name of {row[0]}")

    def test_decisions_are_listed(self):
        index = read("docs/adr/README.md")
        for path in tracked("docs/adr/0*.md"):
            self.assertIn(f"({os.path.basename(path)})", index, path)
            for section in ("Context", "Decision", "Reason"):
                self.assertIn(f"\n## {section}\n", read(path), path)

    def test_abbreviations_are_found(self):
        self.assertEqual(abbreviations("The DPE of `XYZ` and [SB](AB.md), ZVC-like, CONV_2D, A.\n```\nQQ\n```\n"), {"DPE", "SB"})

    def test_instances_that_documents_mention_exist(self):
        known = set()
        for path in tracked("rtl/*.sv"):
            known.update(re.findall(r"\b(?:u|g|gen)_\w+", read(path)))
        for path in tracked("docs/*.md", "README.md"):
            for name in re.findall(r"`((?:u|g|gen)_\w+)`", read(path)):
                self.assertTrue(name in known, f"{path} mentions {name}")

    def test_stops_of_the_walks_exist(self):
        stops = re.findall(r"^\| \d+ \| `([^`]+)` \| `([^`]+)` \|", read("docs/compiler/walks.md"), re.M)
        self.assertGreater(len(stops), 30)
        for file, name in stops:
            self.assertRegex(read(file), rf"\b{name.split('::')[-1]}\b", f"{file} does not name {name}")

    def test_prose_can_be_read(self):
        for path in tracked("*.md"):
            self.assertFalse(hard_to_read(read(path)), f"{path}: lines or paragraphs that are too long")

    def test_long_lines_and_paragraphs_are_found(self):
        self.assertEqual(hard_to_read("a b\n\n" + "x" * 121 + "\n\n| " + "x" * 121 + " |\n\n" + "word\n" * 121 + "\n- a\n- b\n"), [3, 7])


if __name__ == "__main__":
    unittest.main()
