#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Pictures of all pages (pages.py), as headless Chromium shows them, whole, at the widths of phone, tablet and desktop, light and
dark, in build/screenshots; that of the simulator in a browser where `make wasm` has built it. Those of DOCUMENTED go to
docs/pictures/pages and docs/software/pages.md; docs/data/pages.json records of which pages they are, by a hash of what the page
says, for pixels differ between browsers.

usage: screenshots.py [--build DIR] [--check]
  --check   write nothing; exit code 1 if a page is no longer what its picture shows"""
import argparse
import io
import os
import sys
import tempfile

import pages
import tools
from devtools import Chromium, served

WINDOWS = {"phone": (390, 844), "tablet": (820, 1180), "desktop": (1280, 900)}
SCHEMES = ("light", "dark")
TALLEST = 12_000  # pixels of a picture
SIMULATOR = "browser"  # its picture stays what it is where `make wasm` has not built it
# (window, scheme, whether all of the page) of the pictures that are committed.
DOCUMENTED = {name: [("desktop", "light", False)] for name in [*pages.PAGES, SIMULATOR]}
DOCUMENTED["report"] = [("desktop", "light", True), ("phone", "dark", False)]
DOCUMENTED[SIMULATOR] = [("desktop", "light", True)]
OUT = os.path.join(tools.ROOT, "build", "screenshots")
PICTURES = os.path.join("docs", "pictures", "pages")
RECORD = os.path.join("docs", "data", "pages.json")
MOST_BYTES = 1_500_000
COLOURS = 256


def path_in_root(*parts):
    return os.path.join(tools.ROOT, *parts)


def file_name(name, window, scheme):
    return f"{name}-{window}-{scheme}.png"


def documented():
    """File names of the pictures that are committed, by page; of the simulator where it was ever taken."""
    names = {name: [file_name(name, window, scheme) for window, scheme, _ in views] for name, views in DOCUMENTED.items()}
    if not os.path.exists(path_in_root(PICTURES, names[SIMULATOR][0])):
        del names[SIMULATOR]
    return names


def picture_digest(name):
    return tools.digest_of(path_in_root(PICTURES, name))[:16]


def write_pages(kaiten, folder):
    """{name: path} of the pages, written anew."""
    return {name: pages.make(kaiten, name, folder) for name in pages.PAGES}


def small(picture, image):
    """A picture as a PNG of few colours: a page has no more."""
    out = io.BytesIO()
    picture.quantize(COLOURS, dither=image.Dither.NONE).save(out, "PNG", optimize=True)
    return out.getvalue()


def take_page(browser, name, url, folder, image, prepare):
    for window, (width, height) in WINDOWS.items():
        for scheme in SCHEMES:
            browser.show(url, width, height, scheme)
            prepare(browser)
            browser.grow(TALLEST)
            with open(os.path.join(folder, file_name(name, window, scheme)), "wb") as f:
                f.write(small(image.open(io.BytesIO(browser.picture())).convert("RGB"), image))


def take(written, folder, image):
    """Pictures of the pages, and of the simulator in a browser where it is built; the names of what there are pictures of."""
    os.makedirs(folder, exist_ok=True)
    taken = list(written)
    with tempfile.TemporaryDirectory() as profile:
        browser = Chromium(tools.find("chromium"), profile)
        try:
            for name, path in written.items():
                take_page(browser, name, "file://" + path, folder, image, lambda _: None)
            if os.path.exists(pages.SITE):
                with served(pages.SITE) as url:
                    take_page(browser, SIMULATOR, url, folder, image, pages.run_simulator)
                taken.append(SIMULATOR)
        finally:
            browser.close()
    return taken


def content(name, written):
    return pages.simulator_content() if name == SIMULATOR else pages.content(name, written[name])


def record(written):
    """What docs/data/pages.json is to say of these pages and of the committed pictures."""
    return {name: {"page": content(name, written), "pictures": {p: picture_digest(p) for p in documented()[name]}}
            for name in documented()}


def stale(written):
    """A line for each page that its pictures do not show."""
    old = tools.read_records(path_in_root(RECORD))
    lines = []
    for name in documented():
        missing = [p for p in documented()[name] if not os.path.exists(path_in_root(PICTURES, p))]
        if missing:
            lines.append(f"{name}: {PICTURES}/{missing[0]} is missing")
            continue
        pictures = {p: picture_digest(p) for p in documented()[name]}
        if old.get(name) != {"page": content(name, written), "pictures": pictures}:
            lines.append(f"{name}: the page is not what {PICTURES}/{documented()[name][0]} shows")
    return lines + [f"{name}: no such page any more" for name in old if name not in documented()]


def document():
    """The part of docs/software/pages.md that this script writes."""
    said = {name: (text, pages.command_line(name)) for name, (_, text, _) in pages.PAGES.items()}
    said[SIMULATOR] = ("[The RTL in a browser](browser.md), in the middle of the demo network.", "make wasm")
    parts = []
    for name in documented():
        text, command = said[name]
        title = name.replace("_", " ")
        parts.append(f"## {title}\n{text}\n\n```\n{command}\n```\n")
        for picture, (window, scheme, _) in zip(documented()[name], DOCUMENTED[name]):
            parts.append(f"![The page {title}, {window}, {scheme}](../pictures/pages/{picture})\n")
    return "\n" + "\n".join(parts) + "\n"


def commit_pictures(written, taken, image):
    """Writes the documented pictures of what was taken, cut to the window's height where not all of the page is wanted, and what
    stands about them."""
    folder = path_in_root(PICTURES)
    os.makedirs(folder, exist_ok=True)
    for page in taken:
        for window, scheme, whole in DOCUMENTED.get(page, []):
            name = file_name(page, window, scheme)
            picture = image.open(os.path.join(OUT, name)).convert("RGB")
            if not whole:
                picture = picture.crop((0, 0, picture.width, min(picture.height, WINDOWS[window][1])))
            with open(os.path.join(folder, name), "wb") as f:
                f.write(small(picture, image))
    wanted = {p for of_page in documented().values() for p in of_page}
    for name in os.listdir(folder):
        if name not in wanted:
            os.remove(os.path.join(folder, name))
    size = sum(os.path.getsize(os.path.join(folder, name)) for name in wanted)
    if size > MOST_BYTES:
        sys.exit(f"{PICTURES}: {size} bytes, at most {MOST_BYTES}")
    records = record(written)
    if SIMULATOR not in taken:
        print(f"{SIMULATOR}: not taken, for it is not built (`make wasm`)")
        records.update({SIMULATOR: old for name, old in tools.read_records(path_in_root(RECORD)).items() if name == SIMULATOR})
    tools.write_records(path_in_root(RECORD), records)
    tools.write_between("docs/software/pages.md", "pages", document())
    views = len(WINDOWS) * len(SCHEMES)
    print(f"{PICTURES}: {len(wanted)} pictures, {size} bytes; all {len(taken) * views} are in {os.path.relpath(OUT, tools.ROOT)}")


def main():
    parser = argparse.ArgumentParser(description="Pictures of all pages.")
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
        taken = take({**written, **pages.example_of_coverage(folder)}, OUT, image)
        commit_pictures(written, taken, image)
    return 0


if __name__ == "__main__":
    sys.exit(tools.guarded(main))
