#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Writes sw/offload/densities.json: how dense the activations of the cDMA paper's six networks are, layer by layer.

usage: models/tables/make_densities.py [--check]     --check: compare only, exit code 1 where the file differs

Rhu et al. (Compressing DMA Engine) print the densities of single layers only as bars (figures 4 and 6). The values here are this project's own and
meet what the paper's text says in numbers and words: AlexNet is sparse by 49.4 % over all its maps and its first layer dense by 0.50 (IV-A); the six
networks are sparse by 62 % on average (IV-B); ZVC makes them 2.6 times smaller on average, a layer at most 13.8 times (VII-A); pooling makes maps
denser, later layers are sparser, fully connected ones most of all (IV-A). Within a network the density behind a ReLU falls geometrically
with depth from 0.50 to no less than the sparsest layer's, pooling adds 35 %, and the rate is the one that gives the network its mean."""
import json
import os
import sys

import make_tables

PATH = os.path.join(make_tables.FOLDER, "..", "..", "sw", "offload", "densities.json")
FIRST = 0.50          # behind the first ReLU
POOLED = 1.35         # a pooled map's density over that of its input
AVERAGED = 0.90       # behind global average pooling
CONNECTED = 0.12      # fully connected layers
SPARSEST = 0.0412     # 32 / (32 d + 1) = 13.8: no layer is sparser
# Mean density, batch (table II). Means other than AlexNet's: spread so that mean and mean ratio are the paper's.
NETWORKS = {"alexnet": (0.506, 256), "overfeat": (0.48, 256), "nin": (0.45, 128), "vgg16": (0.28, 128),
            "squeezenet": (0.28, 512), "googlenet": (0.275, 256)}


def maps(table):
    """(name, op, elements, inputs) of each layer's output."""
    side, channels, out, previous = table.side, 3, [], "input"
    shapes = {"input": (side, channels)}
    for layer in table.layers:
        sources = layer.get("from", previous)
        sources = sources if isinstance(sources, list) else [sources]
        side, channels = shapes[sources[0]]
        op = layer["op"]
        if op in ("conv", "pool"):
            side = (side + layer["pad"][0] + layer["pad"][1] - layer["kernel"][0]) // layer["stride"][0] + 1
        elif op == "concat":
            channels = sum(shapes[s][1] for s in sources)
        elif op in ("global_pool", "fc"):
            side = 1
        channels = layer.get("channels", channels)
        previous = layer["name"]
        shapes[previous] = (side, channels)
        out.append((previous, op, side * side * channels, sources))
    return out


def densities(rows, rate):
    convs = [name for name, op, _, _ in rows if op == "conv"]
    sizes = {name: elements for name, _, elements, _ in rows}
    found = {}
    for name, op, _, sources in rows:
        if op == "conv":
            found[name] = max(SPARSEST, FIRST * rate ** (convs.index(name) / (len(convs) - 1)))
        elif op == "fc":
            found[name] = CONNECTED
        elif op == "concat":
            found[name] = sum(found[s] * sizes[s] for s in sources) / sum(sizes[s] for s in sources)
        else:
            found[name] = AVERAGED if op == "global_pool" else min(0.95, POOLED * found[sources[0]])
    return found


def mean(rows, found):
    """Over what is offloaded: not the last layer's output, and of a concatenation the whole only."""
    parts = {s for _, op, _, sources in rows if op == "concat" for s in sources}
    sent = [(name, elements) for name, _, elements, _ in rows[:-1] if name not in parts]
    return sum(found[name] * elements for name, elements in sent) / sum(elements for _, elements in sent)


def text():
    out = {"source": "own values that meet the text of Rhu et al., Compressing DMA Engine (models/tables/make_densities.py says how)",
           "networks": {}}
    for network, (target, batch) in NETWORKS.items():
        table = make_tables.TABLES[network]
        rows = maps(table)
        low, high = 1e-4, 4.0
        for _ in range(60):
            middle = (low * high) ** 0.5
            low, high = (low, middle) if mean(rows, densities(rows, middle)) > target else (middle, high)
        found = densities(rows, low)
        if abs(mean(rows, found) - target) > 0.001:
            sys.exit(f"{network}: a mean density of {target} is out of reach")
        out["networks"][table.name] = {"batch": batch, "layers": {name: round(d, 4) for name, d in found.items()}}
    lines = [f'  {json.dumps(name)}: {json.dumps(values)}' for name, values in out["networks"].items()]
    return '{"source": ' + json.dumps(out["source"]) + ',\n "networks": {\n' + ",\n".join(lines) + "}}\n"


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__.split("\n\n")[1])
    if sys.argv[1:]:
        with open(PATH) as f:
            if f.read() != text():
                sys.exit("differs from make_densities.py: sw/offload/densities.json")
    else:
        with open(PATH, "w") as f:
            f.write(text())


if __name__ == "__main__":
    main()
