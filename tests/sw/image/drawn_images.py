# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Image files of every kind, drawn at random, and the pixels that Pillow sees in them: for pillow_test.py, and written here
as image_vectors.json, which decode_test.cpp reads.

usage: drawn_images.py > image_vectors.json"""
import importlib.metadata
import io
import json
import os
import random
import struct
import sys
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../scripts"))
import tools  # noqa: E402

tools.import_or_skip("PIL")
from PIL import Image, ImageOps  # noqa: E402

MODES = {"L": 1, "RGB": 3, "RGBA": 4, "LA": 2, "CMYK": 4}


def picture(rng, mode, width, height):
    """A smooth map with noise, so that neither compression nor resizing has it easy."""
    channels = MODES[mode]
    phase = [rng.randrange(256) for _ in range(channels)]
    values = bytearray()
    for y in range(height):
        for x in range(width):
            for c in range(channels):
                values.append((phase[c] + 7 * x * (c + 1) + 5 * y + rng.randrange(40)) % 256)
    return Image.frombytes(mode, (width, height), bytes(values))


def saved(image, kind, **options):
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def png_of(rows, width, height, depth, colour, interlace=False):
    """A PNG that Pillow cannot write: `rows` are the bytes of its unfiltered rows (of its passes)."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlace)) +
            chunk(b"IDAT", zlib.compress(b"".join(b"\0" + row for row in rows))) + chunk(b"IEND", b""))


def interlaced(image):
    """Adam7: seven passes."""
    passes = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
    rows = []
    for left, top, right, down in passes:
        for y in range(top, image.height, down):
            row = b"".join(bytes(image.getpixel((x, y))) for x in range(left, image.width, right))
            if row:
                rows.append(row)
    return png_of(rows, *image.size, 8, 2, interlace=True)


def bmp_of(image, bits, masks=None, top_down=False):
    """A BMP of 16 or 32 bits a pixel, or from the top down."""
    width, height = image.size
    rows = []
    for y in range(height):
        row = bytearray()
        for x in range(width):
            r, g, b = image.getpixel((x, y))
            if bits == 16:
                row += struct.pack("<H", r >> 3 << 11 | g >> 2 << 5 | b >> 3 if masks else r >> 3 << 10 | g >> 3 << 5 | b >> 3)
            elif bits == 32:
                row += bytes((b, g, r, 77))
            else:
                row += bytes((b, g, r))
        rows.append(bytes(row) + bytes(-len(row) % 4))
    data = b"".join(rows if top_down else reversed(rows))
    fields = struct.pack("<III", *masks) if masks else b""
    start = 54 + len(fields)
    return (b"BM" + struct.pack("<IHHI", start + len(data), 0, 0, start) +
            struct.pack("<IiiHHIIiiII", 40, width, -height if top_down else height, 1, bits, 3 if masks else 0, len(data), 0, 0,
                        0, 0) + fields + data)


def files(rng):
    """(name, bytes, pixels as Pillow has them or None where it has others for a reason, then the pixels themselves)."""
    def draw(mode):
        return picture(rng, mode, rng.randrange(5, 25), rng.randrange(5, 25))
    for mode in ("L", "RGB", "RGBA", "LA"):
        yield f"{mode}.png", saved(draw(mode), "PNG"), None
    grey, rgb = draw("L"), draw("RGB")
    yield "bilevel.png", saved(grey.convert("1"), "PNG"), None
    yield "palette.png", saved(rgb.convert("P", palette=Image.Palette.ADAPTIVE, colors=11), "PNG"), None
    yield "palette_alpha.png", saved(rgb.quantize(9), "PNG", transparency=3), None
    yield "grey_key.png", saved(grey, "PNG", transparency=70), None
    wide = [bytes(rng.randrange(256) for _ in range(2 * 3 * 9)) for _ in range(7)]
    yield "rgb16.png", png_of(wide, 9, 7, 16, 2), None
    wide = [bytes(rng.randrange(256) for _ in range(2 * 9)) for _ in range(7)]
    # Pillow keeps 16 grey bits and limits them to 8 when it converts; here they lose the lower eight, as colours do.
    yield "grey16.png", png_of(wide, 9, 7, 16, 0), Image.frombytes("L", (9, 7), b"".join(row[::2] for row in wide))
    yield "interlaced.png", interlaced(draw("RGB")), None
    for name, options in (("444", {"subsampling": 0}), ("422", {"subsampling": 1}), ("420", {"subsampling": 2}),
                          ("progressive", {"progressive": True}), ("restarts", {"restart_marker_rows": 1})):
        yield f"{name}.jpg", saved(draw("RGB"), "JPEG", quality=85, **options), None
    yield "grey.jpg", saved(draw("L"), "JPEG"), None
    yield "cmyk.jpg", saved(draw("CMYK"), "JPEG", quality=90), None
    for orientation in range(1, 9):
        exif = Image.Exif()
        exif[0x0112] = orientation
        yield f"exif{orientation}.jpg", saved(draw("RGB"), "JPEG", quality=90, subsampling=0, exif=exif), None
    yield "rgb.bmp", saved(draw("RGB"), "BMP"), None
    yield "grey.bmp", saved(draw("L"), "BMP"), None
    yield "bilevel.bmp", saved(grey.convert("1"), "BMP"), None
    yield "palette.bmp", saved(rgb.convert("P", palette=Image.Palette.ADAPTIVE, colors=11), "BMP"), None
    yield "555.bmp", bmp_of(draw("RGB"), 16), None
    yield "565.bmp", bmp_of(draw("RGB"), 16, masks=(0xf800, 0x7e0, 0x1f)), None
    yield "32.bmp", bmp_of(draw("RGB"), 32), None
    yield "top_down.bmp", bmp_of(draw("RGB"), 24, top_down=True), None
    yield "rgb.ppm", saved(draw("RGB"), "PPM"), None
    yield "grey.pgm", saved(draw("L"), "PPM"), None


def seen(data, pixels=None):
    """The pixels that Pillow sees in a file."""
    if pixels is None:
        pixels = ImageOps.exif_transpose(Image.open(io.BytesIO(data)))
    return pixels.convert("L" if pixels.mode in ("1", "L", "LA") else "RGB")


def fitted(image, width, height, fit):
    """crop, stretch or pad with Pillow; the boxes are those of placement()."""
    w, h = image.size

    def shrink(box_width, box_height, to_width, to_height):
        if box_width * to_height > box_height * to_width:
            return max(1, (2 * box_height * to_width + to_height) // (2 * to_height)), box_height
        return box_width, max(1, (2 * box_width * to_height + to_width) // (2 * to_width))
    if fit == "crop":
        cut = shrink(w, h, width, height)
        left, top = (w - cut[0]) // 2, (h - cut[1]) // 2
        image = image.crop((left, top, left + cut[0], top + cut[1]))
    if fit != "pad":
        return image.resize((width, height), Image.Resampling.BILINEAR)
    inner = shrink(width, height, w, h)
    out = Image.new(image.mode, (width, height))
    out.paste(image.resize(inner, Image.Resampling.BILINEAR), ((width - inner[0]) // 2, (height - inner[1]) // 2))
    return out


def main():
    rng = random.Random(1)
    made = []
    for name, data, pixels in files(rng):
        image = seen(data, pixels)
        width, height = rng.randrange(1, 30), rng.randrange(1, 30)
        case = {"name": name, "file": data.hex(), "height": image.height, "width": image.width, "pixels": image.tobytes().hex(),
                "to": [width, height]}
        for fit in ("crop", "stretch", "pad"):
            case[fit] = fitted(image, width, height, fit).tobytes().hex()
        made.append(case)
    print(json.dumps({"made_by": f"drawn_images.py, Pillow {importlib.metadata.version('pillow')}", "images": made}, indent=0))


if __name__ == "__main__":
    sys.exit(main())
