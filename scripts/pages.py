# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""One page of each kind that the tool writes: what is looked at by eye (scripts/screenshots.py) and by tests/web/pages_test.py."""
import os
import re
import subprocess

import tools

# Name: command line without the page's name, what it shows, whether it holds measured times.
PAGES = {
    "report": (["report", "demo", "--config", "nano", "--clock", "100", "--compress", "on", "--output"],
               "A run: spans, cycles by cause, what would help, roofline, queues, bytes, memory.", False),
    "plan": (["plan", "models/tables/resnet18.json", "--capacity", "3MiB", "--html"], "Plans for bytes on chip: traffic of each method, layer by layer.", False),
    "plan_target": (["plan", "demo", "--config", "nano", "--html"], "The plan for a configuration, as the compiler takes it.", False),
    "compress": (["compress", "demo", "--html"], "How much smaller maps and weights become, by codec, and how fast.", True),
    "offload": (["offload", "models/tables/alexnet.json", "--html"], "Training with maps that leave the device: time a step.", False),
    "swap": (["swap", "vgg16", "--topology", "titanxp", "--batch", "8", "--html"], "Several devices that share links: who waits for whom.", False),
    "serve": (["serve", "--generate", "uniform:50", "--scheduler", "all", "--html"], "Queries served by SubNets, scheduler by scheduler.", True),
    "eval": (["eval", "demo", "{digits}", "--html"], "Accuracy: the confusion matrix and the images that went wrong.", True),
}


def digits(path):
    """The 2,000 held-out images of the demo with their labels, as a .npz file."""
    recipe = os.path.join(tools.ROOT, "tests", "cli", "drawn_digits.py")
    subprocess.run([os.path.join(tools.VENV, "bin", "python3"), "-B", recipe, path], check=True)
    return path


def make(kaiten, name, folder):
    """Has the tool write a page; its path."""
    call = PAGES[name][0]
    if "{digits}" in call:
        call = [digits(os.path.join(folder, "digits.npz")) if word == "{digits}" else word for word in call]
    path = os.path.join(folder, name + ".html")
    done = subprocess.run([kaiten, *call, path], capture_output=True, text=True, stdin=subprocess.DEVNULL, cwd=tools.ROOT)
    if done.returncode or done.stderr:
        raise RuntimeError(f"kaiten {' '.join(call)} ended with {done.returncode}: {done.stderr.strip()}")
    return path


def command_line(name):
    call = ["FILE.npz" if word == "{digits}" else word for word in PAGES[name][0]]
    return " ".join(["kaiten", *call, "FILE.html"])


def content(name, path):
    """A hash of what the page says; of one with measured times, but for its numbers."""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    return tools.digest([re.sub(r"-?\d[\d.,]*", "0", text) if PAGES[name][2] else text])[:16]
