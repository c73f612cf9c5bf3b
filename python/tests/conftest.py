# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""The demo network and its golden answers, which LiteRT's reference kernels gave (models/demo/README.md)."""
import pathlib

import numpy
import pytest

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "models" / "demo"
DEMO = FOLDER / "demo.tflite"


@pytest.fixture
def demo():
    return DEMO


@pytest.fixture
def images():
    pixels = numpy.fromfile(FOLDER / "digits.u8", "uint8").reshape(100, 32, 32, 1)
    return (pixels.astype("int16") - 128).astype("int8")


@pytest.fixture
def golden():
    rows = (FOLDER / "golden.tsv").read_text().splitlines()[-100:]
    return numpy.array([[int(v) for v in row.split("\t")[3:]] for row in rows], "int8")


@pytest.fixture(autouse=True)
def names_of_doctests(doctest_namespace):
    doctest_namespace["DEMO"] = DEMO
