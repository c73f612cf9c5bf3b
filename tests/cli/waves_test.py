# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""The timing diagrams of the documents: their waves are those of the RTL, and the reader of FST finds what it should."""
import glob
import json
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../scripts"))
import fst
import waves
from tool_case import KAITEN


class Waves(unittest.TestCase):
    def test_waves_are_those_of_the_rtl(self):
        files = glob.glob(os.path.join(waves.FOLDER, "*.json"))
        self.assertGreater(len(files), 2)
        for path in files:
            with open(path) as f:
                text = f.read()
            self.assertEqual(waves.text(waves.sampled(json.loads(text), KAITEN)), text, f"{path}: run scripts/waves.py")

    def test_states_and_words(self):
        values = [(2, "00"), (4, "01"), (8, "11"), (9, "10")]
        self.assertEqual(waves.states(values, 1, 5, None), ["00", "01", "01", "11", "10"])
        self.assertEqual(waves.states(values, 1, 5, 0), ["0", "1", "1", "1", "0"])
        self.assertEqual(waves.wave_of(["0", "0", "1"]), ("0.1", []))
        self.assertEqual(waves.wave_of(["00", "11", "11", "01"]), ("==.=", ["0", "3", "1"]))

    def test_lz4(self):
        self.assertEqual(fst.lz4(bytes([0x30]) + b"abc", 3), b"abc")
        self.assertEqual(fst.lz4(bytes([0x12]) + b"a" + bytes([1, 0, 0x10]) + b"b", 8), b"aaaaaaab")
        with self.assertRaises(ValueError):
            fst.lz4(bytes([0x30]) + b"abc", 4)


if __name__ == "__main__":
    unittest.main()
