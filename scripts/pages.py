# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""One page of each kind there is: what is looked at by eye (scripts/screenshots.py) and by tests/web/pages_test.py. Those that the
tool writes, those of the coverage, and the simulator in a browser (`make wasm`)."""
import os
import re
import subprocess
import types

import coverage
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
    "explore": (["explore", "demo", "--kp", "8,16,32", "--cp", "4,8", "--bus", "128,256", "--wb", "288", "--sb", "144", "--vb", "144", "--html"],
                "Accelerators that could be built: those that no other one beats.", False),
    "roofline": (["roofline", "ofa-mobilenetv3", "--html"], "SubNets under the roof of a machine, with and without weights on chip.", False),
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


def example_of_coverage(folder):
    """{name: path} of the two kinds of pages that scripts/coverage.py writes, of points made up."""
    file = "rtl/array/kt_line_buf.sv"
    points = [coverage.Point(kind, file, line, f"{kind}{line}:0->1") for line in range(30, 40) for kind in ("line", "toggle")]
    for point in points[::3]:
        point.count = 3
    points[1].waiver = types.SimpleNamespace(reason="cannot be")
    coverage.write_html(folder, {"kt_line_buf": points}, {f"case {i}": i % 3 for i in range(12)}, {"case 3": "cannot be"})
    return {"coverage": os.path.join(folder, "index.html"), "coverage_module": os.path.join(folder, "kt_line_buf.html")}


SITE = os.path.join(tools.ROOT, "build-wasm", "site")  # of `make wasm`
BROWSER_CYCLES = 20_000  # of the demo network in the picture


def simulator_content():
    """A hash of what the page of `make wasm` is made of; the simulator itself is left out."""
    texts = []
    for name in ("sw/report/page.html", "web/body.html", "web/page.js", "web/bridge.cpp"):
        with open(os.path.join(tools.ROOT, name), encoding="utf-8") as f:
            texts.append(f.read())
    return tools.digest(texts)[:16]


def run_simulator(browser):
    """Has the page of `make wasm`, which is open, simulate the first cycles of the demo network."""
    browser.wait("document.getElementById('demo')?.disabled === false", 30)
    browser.value("document.getElementById('demo').click()")
    browser.wait("!document.getElementById('go').disabled", 10)
    browser.value(f"document.getElementById('cycles').value = {BROWSER_CYCLES}; document.getElementById('step').click()")
    browser.wait(f"document.getElementById('count').textContent === '{BROWSER_CYCLES:,} cycles'", 20)
