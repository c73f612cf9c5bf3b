# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""What the benches share: the command line of those whose tables stand in one document, the programs and networks they measure, and what scripts/ has for tables in documents."""
import argparse
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "scripts"))
import tools
from tools import SHARED, markdown, write_between


def program(build, name, target=None):
    """Full path of a built program. Ends the bench where it is missing; `target` builds it, else `make verilate` does."""
    path = os.path.join(ROOT, build, name)
    if not os.path.exists(path):
        how = f"cmake --build {build} --target {target}" if target else "run `make verilate`"
        sys.exit(f"bench: {os.path.relpath(path)} is missing ({how})")
    return path


def model(source, name, build):
    """Path of a network: 'demo', a file of the shared folder, or what kaiten-generate makes in `build`/bench. None, and a line that
    calls it `name`, where the file is absent."""
    if source == "demo":
        return source
    if source.startswith("models/"):
        path = os.path.join(SHARED, source)
        if os.path.exists(path):
            return path
        print(f"bench: {name} left out, {os.path.normpath(path)} is absent (docs/third_party_models.md)", file=sys.stderr)
        return None
    path = os.path.join(ROOT, build, "bench", source + ".tflite")
    if not os.path.exists(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        done = subprocess.run([os.path.join(ROOT, build, "kaiten-generate"), source, "--output", path], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"bench: {done.stderr.strip()}")
    return path


def main(script, doc, docs, tables, **more):
    """The command line of a bench: --build, --only TABLE, --docs, and `more` options by name, each with its help. `tables`: by name,
    their heads and what measures their rows, called with the parsed arguments and kaiten's path. --docs writes them into `docs`,
    between the markers "bench/SCRIPT: NAME"."""
    script = os.path.basename(script)
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("--build", default="build", help="build folder (default: build)")
    parser.add_argument("--only", choices=tuple(tables), help="one of the tables")
    parser.add_argument("--docs", action="store_true", help=f"write the tables into {docs}")
    for name, text in more.items():
        parser.add_argument("--" + name, help=text)
    args = parser.parse_args()
    kaiten = program(args.build, "kaiten")
    for name, (head, measure) in tables.items():
        if args.only in (None, name):
            text = markdown(head, measure(args, kaiten))
            print(text, flush=True)
            if args.docs:
                write_between(docs, f"bench/{script}: {name}", text)
    return 0


def progress(text):
    """A line beside the tables, for who waits minutes for the next."""
    print("bench: " + text, file=sys.stderr, flush=True)


def trace(kaiten, *arguments):
    """The events of the timeline that a command of kaiten writes."""
    done = subprocess.run([kaiten, *arguments, "--trace", "-"], capture_output=True, text=True, stdin=subprocess.DEVNULL, cwd=ROOT)
    if done.returncode:
        sys.exit(f"bench: {' '.join(arguments)}: " + done.stderr.strip())
    return json.loads(done.stdout)["traceEvents"]


def result(kaiten, *arguments):
    """What a command of kaiten reports as JSON. Ends the bench where it fails."""
    done = subprocess.run([kaiten, *arguments, "--json", "-"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        sys.exit(f"bench: {' '.join(arguments)}: " + (done.stderr.strip().splitlines() or [str(done.returncode)])[-1])
    return json.loads(done.stdout)
