# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Executes the notebook; its last cell must leave a picture."""
import pathlib

import nbclient
import nbformat

NOTEBOOK = pathlib.Path(__file__).resolve().parents[1] / "notebooks" / "cycles.ipynb"


def main():
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(NOTEBOOK.parent)}}).execute()
    last = notebook.cells[-1].outputs
    assert any("image/png" in output.get("data", {}) for output in last), last
    print(f"{len(notebook.cells)} cells, a picture of {max(len(o['data']['image/png']) for o in last if 'data' in o)} characters")


if __name__ == "__main__":
    main()
