#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Images of every kind, drawn at random, are decoded and resized to the values that the pinned Pillow gives.

usage: pillow_test.py [ROUNDS]   (default 20); KAITEN_SEED sets the seed."""
import os
import random
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../../scripts"))
import tools  # noqa: E402

if not tools.import_or_skip("PIL"):
    print("skipped: Pillow is not installed")
    sys.exit(77)
import drawn_images  # noqa: E402

PIXELS = os.path.join(os.environ.get("KAITEN_BUILD") or os.path.join(tools.ROOT, "build"), "test-bin", "image_pixels")


def images_of(out):
    """(height, width, channels, values), one after the other."""
    while out:
        head, _, out = out.partition(b"\n")
        height, width, channels = map(int, head.split())
        size = height * width * channels
        yield height, width, channels, out[:size]
        out = out[size:]


def one_round(rng, folder):
    """What differs."""
    wanted, names, wrong = [], [], []
    for name, data, pixels in drawn_images.files(rng):
        path = os.path.join(folder, name)
        with open(path, "wb") as f:
            f.write(data)
        names.append(path)
        wanted.append(drawn_images.seen(data, pixels))
    width, height = rng.randrange(1, 60), rng.randrange(1, 60)
    for fit in ("as it is", "crop", "stretch", "pad"):
        size = (0, 0) if fit == "as it is" else (width, height)
        out = subprocess.run([PIXELS, *map(str, size), fit, *names], check=True, stdout=subprocess.PIPE).stdout
        for name, image, found in zip(names, wanted, images_of(out), strict=True):
            expected = image if fit == "as it is" else drawn_images.fitted(image, width, height, fit)
            shape = (expected.height, expected.width, len(expected.getbands()))
            # BMP has no grey images: Pillow makes one of a palette of greys.
            grey = image.mode == "L" and found[2] == 3
            if grey:
                expected, shape = expected.convert("RGB"), (*shape[:2], 3)
            if (*shape, expected.tobytes()) != found:
                wrong.append(f"{os.path.basename(name)} of {image.size}, {fit} {size}: {shape} {found[:3]}")
    return len(names), wrong


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    seed = int(os.environ.get("KAITEN_SEED") or 1)
    print(f"seed {seed}")
    rng = random.Random(seed)
    compared, wrong = 0, []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(rounds):
            count, found = one_round(rng, folder)
            compared, wrong = compared + 4 * count, wrong + found
    print("\n".join(wrong[:20]))
    print(f"{compared} images compared, {len(wrong)} differ")
    return 1 if wrong or not compared else 0


if __name__ == "__main__":
    sys.exit(main())
