#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Pictures of the pages that the tool writes (pages.py), as headless Chromium shows them: phone and desktop, light and dark, in
build/screenshots. Those of DOCUMENTED go to docs/pictures/pages and docs/software/pages.md; docs/data/pages.json records of which
pages they are, by a hash of what the page says, for pixels differ between browsers.

usage: screenshots.py [--build DIR] [--check]
  --check   write nothing; exit code 1 if a page is no longer what its picture shows"""
import argparse
import hashlib
import io
import os
import sys
import tempfile

import pages
import tools
from devtools import Chromium

WINDOWS = {"phone": (390, 844), "desktop": (1200, 900)}
SCHEMES = ("light", "dark")
# (window, scheme) of the pictures that are committed.
DOCUMENTED = {name: [("desktop", "light")] for name in pages.PAGES}
DOCUMENTED["report"] = [(window, scheme) for window in WINDOWS for scheme in SCHEMES]
OUT = os.path.join(tools.ROOT, "build", "screenshots")
PICTURES = os.path.join("docs", "pictures", "pages")
RECORD = os.path.join("docs", "data", "pages.json")
MOST_BYTES = 1_500_000
COLOURS = 64


def path_in_root(*parts):
    return os.path.join(tools.ROOT, *parts)


def file_name(name, window, scheme):
    return f"{name}-{window}-{scheme}.png"


def documented():
    """File names of the pictures that are committed, by page."""
    return {name: [file_name(name, *view) for view in views] for name, views in DOCUMENTED.items()}


def digest_of(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()[:16]


def write_pages(kaiten, folder):
    """{name: path} of the pages, written anew."""
    return {name: pages.make(kaiten, name, folder) for name in pages.PAGES}


def small(png, image):
    """The PNG in few colours: a page has no more."""
    out = io.BytesIO()
    image.open(io.BytesIO(png)).convert("RGB").quantize(COLOURS, dither=image.Dither.NONE).save(out, "PNG", optimize=True)
    return out.getvalue()


def take(written, folder, image):
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryDirectory() as profile:
        browser = Chromium(tools.find("chromium"), profile)
        try:
            for name, path in written.items():
                for window, (width, height) in WINDOWS.items():
                    for scheme in SCHEMES:
                        browser.show("file://" + path, width, height, scheme)
                        with open(os.path.join(folder, file_name(name, window, scheme)), "wb") as f:
                            f.write(small(browser.picture(), image))
        finally:
            browser.close()


def record(written):
    """What docs/data/pages.json is to say of these pages and of the committed pictures."""
    return {name: {"page": pages.content(name, path), "pictures": {p: digest_of(path_in_root(PICTURES, p)) for p in documented()[name]}}
            for name, path in written.items()}


def stale(written):
    """A line for each page that its pictures do not show."""
    old = tools.read_records(path_in_root(RECORD))
    lines = []
    for name, path in written.items():
        known = old.get(name, {})
        missing = [p for p in documented()[name] if not os.path.exists(path_in_root(PICTURES, p))]
        if missing:
            lines.append(f"{name}: {PICTURES}/{missing[0]} is missing")
        elif known != record({name: path})[name]:
            lines.append(f"{name}: the page is not what {PICTURES}/{documented()[name][0]} shows")
    return lines + [f"{name}: no such page any more" for name in old if name not in written]


def document():
    """The part of docs/software/pages.md that this script writes."""
    parts = []
    for name, (_, text, _) in pages.PAGES.items():
        parts.append(f"## {name.replace('_', ' ')}\n{text}\n\n```\n{pages.command_line(name)}\n```\n")
        for picture, (window, scheme) in zip(documented()[name], DOCUMENTED[name]):
            parts.append(f"![The page {name.replace('_', ' ')}, {window}, {scheme}](../pictures/pages/{picture})\n")
    return "\n" + "\n".join(parts) + "\n"


def commit_pictures(written):
    """Copies the documented pictures and writes what stands about them."""
    folder = path_in_root(PICTURES)
    os.makedirs(folder, exist_ok=True)
    wanted = {p for of_page in documented().values() for p in of_page}
    for name in os.listdir(folder):
        if name not in wanted:
            os.remove(os.path.join(folder, name))
    for name in sorted(wanted):
        with open(os.path.join(OUT, name), "rb") as source, open(os.path.join(folder, name), "wb") as target:
            target.write(source.read())
    size = sum(os.path.getsize(os.path.join(folder, name)) for name in wanted)
    if size > MOST_BYTES:
        sys.exit(f"{PICTURES}: {size} bytes, at most {MOST_BYTES}")
    tools.write_records(path_in_root(RECORD), record(written))
    tools.write_between("docs/software/pages.md", "pages", document())
    print(f"{PICTURES}: {len(wanted)} pictures, {size} bytes; all {len(written) * 4} are in {os.path.relpath(OUT, tools.ROOT)}")


def main():
    parser = argparse.ArgumentParser(description="Pictures of the tool's pages.")
    parser.add_argument("--build", default=path_in_root("build"))
    parser.add_argument("--check", action="store_true", help="write nothing, say which pictures are old")
    args = parser.parse_args()
    image = tools.import_or_skip("PIL.Image")
    if not args.check and (not image or not tools.find("chromium")):
        sys.exit("missing: chromium or Pillow (run `make setup ALL=1`)")
    with tempfile.TemporaryDirectory() as folder:
        written = write_pages(os.path.join(os.path.abspath(args.build), "kaiten"), folder)
        if args.check:
            lines = stale(written)
            print("".join(line + " (run `make screenshots`)\n" for line in lines), end="", file=sys.stderr)
            return int(bool(lines))
        take(written, OUT, image)
        commit_pictures(written)
    return 0


if __name__ == "__main__":
    sys.exit(tools.guarded(main))
