# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""The 2,000 held-out images that models/demo/README.md counts, drawn by the demo's own recipe without TensorFlow.

usage: drawn_digits.py FILE.npz"""
import os
import runpy
import sys
import types

import numpy

RECIPE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "models", "demo", "train_demo.py")


def main():
    absent = types.ModuleType("tensorflow")  # the drawing needs nothing of it
    keras = types.ModuleType("tensorflow.keras")
    keras.layers = None
    sys.modules.update({"tensorflow": absent, "tensorflow.keras": keras})
    recipe = runpy.run_path(RECIPE)
    images, labels = recipe["dataset"](recipe["TEST"], seed=2)
    numpy.savez(sys.argv[1], images=images.astype("uint8"), labels=labels)


if __name__ == "__main__":
    main()
