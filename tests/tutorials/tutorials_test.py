# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the pages of docs/tutorials as a reader does: each in a shell of its own, in a folder that looks like a built clone.

usage: tutorials_test.py PAGE...
Blocks `sh` and `python` run in their order and must succeed. A block `text` behind one shows lines of its output: they must stand
there in this order, other lines may stand between, "..." in a line stands for anything, and spaces count once. A block `sh setup` is not run: it is
what made the build that the test belongs to. KAITEN_BUILD names that (default: build)."""
import os
import re
import signal
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "scripts"))
import tools
BUILD = os.path.abspath(os.environ.get("KAITEN_BUILD") or os.path.join(ROOT, "build"))
PYTHON = os.path.join(tools.VENV, "bin", "python3")
FENCE = re.compile(r"^```([a-z]+)( setup)?\n(.*?)^```$", re.M | re.S)
SKIPPED = 77


def blocks_of(page):
    """[(language, text, lines expected of its output)]"""
    with open(os.path.join(ROOT, "docs", "tutorials", page + ".md"), encoding="utf-8") as f:
        found = FENCE.findall(f.read())
    blocks = []
    for language, setup, text in found:
        if setup:
            continue
        if language in ("sh", "python"):
            blocks.append((language, text, []))
        elif language == "text" and blocks:
            blocks[-1][2].extend(text.splitlines())
    return blocks


def script_of(blocks):
    """One shell for all blocks, so that variables and folders last; a line with a mark before each."""
    parts = ["set -euo pipefail"]
    for i, (language, text, _) in enumerate(blocks):
        parts.append(f"echo; echo '=== block {i}'")
        parts.append(text if language == "sh" else f"python3 - <<'END OF PYTHON'\n{text}END OF PYTHON\n")
    return "\n".join(parts)


def missing_line(expected, output):
    """The first expected line that does not stand behind the ones before it, or None."""
    lines, at = [" ".join(line.split()) for line in output.splitlines()], 0
    for line in expected:
        if line.strip() in ("", "..."):
            continue
        pattern = re.compile(".*".join(re.escape(" ".join(part.split())) for part in line.split("...")))
        while at < len(lines) and not pattern.fullmatch(lines[at]):
            at += 1
        if at == len(lines):
            return line
        at += 1
    return None


def make_clone(folder):
    """What a reader's clone holds, by links, so that what a page writes stays in the folder."""
    os.mkdir(folder)
    for name in os.listdir(ROOT):
        if not name.startswith("build"):
            os.symlink(os.path.join(ROOT, name), os.path.join(folder, name))
    os.symlink(BUILD, os.path.join(folder, "build"))


def run(page):
    """What went wrong on a page, or None."""
    blocks = blocks_of(page)
    if not blocks:
        return "no commands"
    with tempfile.TemporaryDirectory() as folder:
        clone = os.path.join(folder, "kaiten")
        make_clone(clone)
        env = tools.environment()
        env.update(COLUMNS="200", KAITEN_VENV=tools.VENV, PYTHONDONTWRITEBYTECODE="1")
        shell = subprocess.Popen(["bash"], cwd=clone, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, text=True, start_new_session=True)
        try:
            said, _ = shell.communicate(script_of(blocks), timeout=1500)
        except subprocess.TimeoutExpired:
            os.killpg(shell.pid, signal.SIGKILL)
            said, _ = shell.communicate()
            return f"took longer than 1500 s; it said:\n{said[-2000:]}"
    outputs = re.split(r"^=== block \d+\n", said, flags=re.M)[1:]
    if shell.returncode != 0:
        return f"command block {len(outputs)} ended with exit code {shell.returncode}:\n{outputs[-1][-3000:]}"
    for (_, text, expected), output in zip(blocks, outputs):
        line = missing_line(expected, output)
        if line is not None:
            return f"after\n{text}\nthere is no line\n{line}\nin its place; the output is\n{output}"
    return None


def main():
    needed = subprocess.run([PYTHON, "-c", "import onnx, onnxruntime, numpy"], capture_output=True)
    if needed.returncode:
        tools.must_have(f"onnx, onnxruntime and numpy for Python (run `make setup ALL=1`; looked in {tools.VENV})")
        print("skipped: Python without onnx, onnxruntime or numpy (`make setup ALL=1`)")
        return SKIPPED
    failed = 0
    for page in sys.argv[1:]:
        wrong = run(page)
        print(f"{'FAIL' if wrong else 'ok  '} {page}" + (f": {wrong}" if wrong else ""), flush=True)
        failed += bool(wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
