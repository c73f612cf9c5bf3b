# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""`kaiten run --draw`: detectors and pose networks of others find what is drawn for them, in the right place.

KAITEN_SHARED names the folder with models/zoo (default: ../shared)."""
import json
import os
import struct
import sys
import unittest
import zlib

from tool_case import KAITEN, ROOT, ToolCase, run

ZOO = os.path.join(os.environ.get("KAITEN_SHARED") or os.path.join(ROOT, "..", "shared"), "models", "zoo")
WIDTH, HEIGHT = 400, 300
FACE, EYES = (200, 150, 80), ((170, 130, 12), (230, 130, 12))


def face():
    """A PPM: a face of a disc, two eyes and a mouth before colours that run."""
    def inside(x, y, disc):
        return (x - disc[0]) ** 2 + (y - disc[1]) ** 2 < disc[2] ** 2

    pixels = bytearray()
    for y in range(HEIGHT):
        for x in range(WIDTH):
            if any(inside(x, y, eye) for eye in EYES):
                pixels += bytes((30, 20, 20))
            elif abs(x - 200) < 35 and abs(y - 195) < 6:
                pixels += bytes((180, 40, 40))
            elif inside(x, y, FACE):
                pixels += bytes((230, 190, 170))
            else:
                pixels += bytes((x * 255 // WIDTH, y * 255 // HEIGHT, 0))
    return b"P6 %d %d 255\n" % (WIDTH, HEIGHT) + bytes(pixels)


def size_of_png(data):
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    assert zlib.crc32(data[12:29]) == struct.unpack(">I", data[29:33])[0]
    return struct.unpack(">II", data[16:24])


class Draw(ToolCase):
    def drawn(self, model, *options):
        """What is found in the face."""
        path = os.path.join(ZOO, model, "model.tflite")
        if not os.path.exists(path):
            self.skipTest("KAITEN_SHARED is absent")
        png = self.file("out.png")
        done = run(KAITEN, "run", path, "--input", self.file("face.ppm", face()), "--draw", png, "--json", "-", *options)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        report = json.loads(done.stdout)
        with open(png, "rb") as f:
            data = f.read()
        self.assertEqual(size_of_png(data), (WIDTH, HEIGHT))
        return report["findings"]

    def test_a_face_is_found_where_it_is(self):
        findings = self.drawn("openmv_blazeface_front_128", "--fit", "crop")
        box, = findings["boxes"]
        x, y, radius = FACE
        self.assertLess(abs((box["left"] + box["right"]) / 2 - x), radius / 4)
        self.assertLess(abs((box["top"] + box["bottom"]) / 2 - y), radius / 2)
        self.assertLess(abs(box["right"] - box["left"] - 2 * radius), radius / 2)
        for point, eye in zip(box["points"], EYES):  # the first two are eyes, from the left of the image
            self.assertLess(abs(point["x"] - eye[0]) + abs(point["y"] - eye[1]), 30)
        padded = self.drawn("openmv_blazeface_front_128", "--fit", "pad", "--threshold", "0.1")
        self.assertTrue(any(abs((b["left"] + b["right"]) / 2 - x) < radius / 2 for b in padded["boxes"]))

    def test_points_of_heat_maps(self):
        findings = self.drawn("openmv_movenet_singlepose_192", "--draw-as", "points", "--threshold", "-1")
        self.assertEqual(len(findings["points"]), 17)
        eye, best = findings["points"][1], EYES[1]  # the left eye, the surest of all in a face without a body
        self.assertLess(abs(eye["x"] - best[0]) + abs(eye["y"] - best[1]), 30)

    def test_landmarks(self):
        self.assertEqual(len(self.drawn("openmv_hand_landmarks_full_224")["points"]), 21)

    def test_bad_calls(self):
        image = self.file("face.ppm", face())
        png = self.file("x.png")
        self.assertIn("--draw needs an image", self.refused("run", "demo", "--config", "nano", "--draw", png))
        self.assertIn("need --draw", self.refused("run", "demo", "--config", "nano", "--threshold", "0.3"))
        self.assertIn("auto, mask, points", self.refused("run", "demo", "--config", "nano", "--input", image, "--draw", png, "--draw-as", "circle"))
        self.assertIn("W,H", self.refused("run", "demo", "--config", "nano", "--input", image, "--draw", png, "--anchors", "1,x"))
        self.assertIn("3 numbers", self.refused("run", "demo", "--config", "nano", "--input", image, "--draw", png, "--anchors", "1,2,3"))
        self.assertIn("shapes of the outputs do not tell", self.refused("run", "demo", "--config", "nano", "--input", image, "--draw", png))
        self.assertFalse(os.path.exists(png))


if __name__ == "__main__":
    sys.exit(unittest.main())
