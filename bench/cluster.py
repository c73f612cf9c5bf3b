#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Networks on several simulated accelerators: period and latency beside the model's, and what links cost the simulation.

usage: bench/cluster.py [--build DIR] [--only TABLE] [--docs]
The first table, and the last, batches whose maps spill to the host, are the same on every machine. The second compares seconds of the same chips and images with links of 500 cycles of latency,
which bound the windows that chips simulate alone, and of 100,000 cycles, where they hardly meet; both runs alternate, the least of three
counts. --docs writes all into docs/software/cluster.md."""
import json
import sys
import tempfile

import report

DOCS = "docs/software/cluster.md"
CASES = (  # network, chips, configuration, images, options
    ("resnet18", 4, "small", 16, ("--mode", "stap")),
    ("resnet18", 4, "small", 16, ("--mode", "stap", "--optimise", "time")),
    ("resnet18", 4, "small", 16, ("--mode", "data")),
    ("resnet50", 8, "base", 12, ("--mode", "stap")),
    ("vgg19", 8, "base", 6, ("--mode", "stap")),
)
SPILLS = (  # network, configuration, images of a chip, limit, bytes a cycle of the uplink that four chips share
    ("demo", "nano", 8, "200KiB", 1),
    ("resnet18", "small", 4, "5MiB", 4),
)
POLICIES = (("vdnn-all", "off"), ("staggered", "off"), ("best", "off"), ("vdnn-all", "on"), ("staggered", "on"), ("best", "on"))
RUNS = 3
NEAR, FAR = 500, 100_000  # cycles of latency


def machine(chips, config, latency, uplink=None):
    """As kaiten cluster has it without a topology, but for the latency and the uplink in bytes a cycle."""
    bus = {"nano": 16, "small": 32, "base": 64}[config]
    gbps = lambda bytes_per_cycle: bytes_per_cycle * 0.1  # at 100 MHz
    return {"host": {"memory_gbps": gbps(2 * bus), "pinned_bytes": 1}, "switches": [{"name": "s", "uplink_gbps": gbps(uplink or bus / 4)}],
            "devices": [{"name": f"chip{i}", "switch": "s", "link_gbps": gbps(bus / 4), "memory_bytes": 2**32, "config": config}
                        for i in range(chips)], "latency_cycles": latency, "clock_mhz": 100}


def on(kaiten, description, model, *options):
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as f:
        json.dump(description, f)
        f.flush()
        return report.result(kaiten, "cluster", model, "--topology", f.name, *options)


def planned(args, kaiten):
    rows = []
    for network, chips, config, images, options in CASES:
        model = report.model(network, network, args.build)
        run = ("--chips", str(chips), "--config", config, *options)
        j = report.result(kaiten, "cluster", model, "--images", str(images), *run)
        maps = report.result(kaiten, "cluster", model, "--images", str(chips + 2), "--boundaries", "maps", "--no-check", *run)
        off = lambda name, j=j: f"{100 * (j['modelled_' + name] / j[name] - 1):+.2f} %"
        stages = "data" if j["mode"] == "data" else f"{len({c['stage'] for c in j['chips']})} stages"
        rows.append([network, f"{chips} `{config}`", f"`{' '.join(options)}`", stages, f"{j['period_cycles']:,.0f}", off("period_cycles"),
                     f"{j['latency_cycles']:,.0f}", off("latency_cycles"), f"{maps['latency_cycles']:,.0f}", f"{j['reloaded_bytes']:,.0f}", "yes" if j["exact"] else "no"])
    return rows


def speed(args, kaiten):
    rows = []
    for config, network, images in (("nano", "demo", 200), ("small", "resnet18", 8)):
        model = report.model(network, network, args.build)
        for threads in (1, 2):
            least = {}
            for _ in range(RUNS):
                for latency in (NEAR, FAR):
                    j = on(kaiten, machine(4, config, latency), model, "--images", str(images), "--mode", "stap", "--no-check", "--threads",
                           str(threads))
                    least[latency] = min(least.get(latency, 1e9), j["seconds"])
            rows.append([network, f"4 `{config}`", str(threads), f"{least[NEAR]:.2f}", f"{least[FAR]:.2f}", f"{100 * least[FAR] / least[NEAR]:.0f} %"])
    return rows


def spilled(args, kaiten):
    rows = []
    for network, config, batch, limit, uplink in SPILLS:
        model = report.model(network, network, args.build)
        for policy, compress in POLICIES:
            j = on(kaiten, machine(4, config, NEAR, uplink), model, "--batch", str(batch), "--spill-limit", limit, "--policy", policy,
                   "--spill-compress", compress)
            total = lambda key, j=j: sum(c[key] for c in j["chips"])
            rows.append([network, f"4 `{config}`", f"{j['held_bytes']:,}", limit, policy, compress, f"{total('out_bytes'):,}", f"{j['cycles']:,}",
                         f"{100 * (j['modelled_cycles'] / j['cycles'] - 1):+.1f} %", f"{total('stall_cycles'):,}", "yes" if j["exact"] else "no"])
    return rows


TABLES = {"networks": (["network", "chips", "options", "cut into", "period", "model", "latency", "model", "with whole maps", "weights again, bytes", "exact"], planned),
          "speed": (["network", "chips", "threads", f"seconds, latency {NEAR}", f"latency {FAR:,}", "speed kept"], speed),
          "spill": (["network", "chips", "bytes that wait", "limit", "policy", "ZVC", "bytes out", "cycles", "model", "stalled, all chips", "exact"], spilled)}


if __name__ == "__main__":
    sys.exit(report.main(__file__, __doc__, DOCS, TABLES))
