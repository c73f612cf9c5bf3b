"""What the benches share: the program they measure, Markdown tables, and the places in the documents that hold them."""
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "scripts"))
import tools


def program(build, name, target=None):
    """Full path of a built program. Ends the bench where it is missing; `target` builds it, else `make verilate` does."""
    path = os.path.join(ROOT, build, name)
    if not os.path.exists(path):
        how = f"cmake --build {build} --target {target}" if target else "run `make verilate`"
        sys.exit(f"bench: {os.path.relpath(path)} is missing ({how})")
    return path


def markdown(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)] + ["| " + " | ".join(r) + " |" for r in rows]
    return "\n".join(lines) + "\n"


def write_between(path, name, text):
    """Puts text into a file of the repository, between its two markers of that name."""
    full = os.path.join(ROOT, path)
    with open(full) as f:
        old = f.read()
    tools.write(full, tools.between(old, name, text))
