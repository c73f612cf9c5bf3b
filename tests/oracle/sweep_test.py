# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Runs sweep.py with the Python that has the interpreters: KAITEN_PYTHON, else that of the virtual environment."""
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PYTHON = os.environ.get("KAITEN_PYTHON") or os.path.join(os.environ.get("KAITEN_VENV") or os.path.join(ROOT, ".venv"), "bin", "python3")

if not os.access(PYTHON, os.X_OK):
    print(f"the interpreters are not installed: no {PYTHON}")
    sys.exit(77)
os.execv(PYTHON, [PYTHON, "-B", os.path.join(os.path.dirname(os.path.abspath(__file__)), "sweep.py"), *sys.argv[1:]])
