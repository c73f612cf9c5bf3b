#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""The waves of the timing diagrams, docs/data/waves/*.json: WaveJSON whose values are those of a run of the RTL. Each file says
which run, from which cycle on and which nets; this script samples them from the FST of `kaiten run --wave`.

usage: waves.py [--check] [--kaiten build/kaiten]
  --check  write nothing; exit code 1 if a file holds other values than the run

Of a signal: `net`, its name in the FST; `bit` of it; `name`, what the picture calls it. Wider nets are written as numbers."""
import argparse
import glob
import json
import os
import subprocess
import sys
import tempfile

import tools
from fst import Fst

FOLDER = os.path.join(tools.ROOT, "docs", "data", "waves")


def states(values, first, cycles, bit):
    """Bits of a net in each cycle, as text."""
    found, at, now = [], 0, "x"
    for cycle in range(first, first + cycles):
        while at < len(values) and values[at][0] <= 2 * cycle:  # two units of time a cycle, the clock rises at the first
            now, at = values[at][1], at + 1
        found.append(now if bit is None else now[-1 - bit])
    return found


def wave_of(found):
    """(wave, data) of WaveJSON."""
    wave, data, before = "", [], None
    for now in found:
        if now == before:
            wave += "."
        elif len(now) == 1:
            wave += now
        else:
            wave += "="
            data.append(str(int(now, 2)))
        before = now
    return wave, data


def sampled(wave, kaiten):
    """The same with the values of the run."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "w.fst")
        window = ["--wave-from", str(wave["from"] - 1), "--wave-to", str(wave["from"] + wave["cycles"] + 1)]
        subprocess.run([kaiten, "run", *wave["run"], "--no-check", "--wave", path, *window], check=True, stdout=subprocess.DEVNULL)
        waves = Fst(path)
    out = dict(wave, signal=[])
    for signal in wave["signal"]:
        if isinstance(signal, dict) and "net" in signal:
            values = waves.values("TOP.kaiten_top." + signal["net"])
            signal = {k: v for k, v in signal.items() if k not in ("wave", "data")}
            signal["wave"], data = wave_of(states(values, wave["from"], wave["cycles"], signal.get("bit")))
            if data:
                signal["data"] = data
        out["signal"].append(signal)
    return out


def text(wave):
    lines = [f" {json.dumps(key)}: {json.dumps(value)}" for key, value in wave.items() if key != "signal"]
    signals = ",\n".join("  " + json.dumps(s) for s in wave["signal"])
    return "{\n" + ",\n".join(lines) + f',\n "signal": [\n{signals}\n ]\n}}\n'


def main():
    parser = argparse.ArgumentParser(description="The waves of the timing diagrams.")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--kaiten", default=os.path.join(tools.ROOT, "build", "kaiten"))
    args = parser.parse_args()
    files = {}
    for path in sorted(glob.glob(os.path.join(FOLDER, "*.json"))):
        with open(path) as f:
            files[os.path.relpath(path, tools.ROOT)] = text(sampled(json.load(f), args.kaiten))
    return tools.write_generated(files, args.check)


if __name__ == "__main__":
    sys.exit(tools.guarded(main))
