#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""What the tests reach of the RTL of nano: lines and toggled bits of every module, and the functional cover table of
tests/system/cover.h.

usage: coverage.py [--build DIR] [-j N] [--long] [--reuse] [--docs]
  --long   2,000,000 cycles of random networks, not 200,000
  --reuse  judge the counts of the last run
  --docs   write docs/data/coverage.json and the table of docs/verification/coverage.md
Points are those of the whole machine as nano; block tests of nano's modules count where they reach the same ones. Modules of
control (all but those named in tests/system/coverage.vlt) must reach every line and 95 % of their toggles, less what
tests/system/coverage_waivers.txt takes out by name, each with its reason; a waiver that hides nothing is an error, as is a
case of the cover table that is neither met nor waived. Writes <build>/coverage/: index.html, a page for each module,
junit.xml."""
import argparse
import functools
import glob
import html
import json
import os
import re
import shutil
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import tools

LIMITS = {"line": 100.0, "toggle": 95.0}
WAIVERS = "tests/system/coverage_waivers.txt"
# Programs and which of their cases run, the slowest first. Beside nano itself: blocks of its size, or so wide that they have
# the same points.
PROGRAMS = {
    "conv_path_4x4_test": "*", "dma_path_8x4_test": "-*Bandwidth*", "errors_test": "*/nano", "extremes_test": "*",
    "compressed_maps_test": "*Corrupt*/nano:*BusErrors*/nano:*RandomNetworks/nano:*Gaps*/nano:*LongSurfaces/nano", "soak_test": "*/nano",
    "windows_test": "*", "soft_reset_test": "*/fast", "kt_vector_cp4_test": "-*Pace*", "layers_test": "*RuleFloat/nano",
    "kt_axi_rd_arb_test": "*", "kt_axi_rd_128_test": "*", "kt_axi_wr_128_test": "*", "kt_load_4x4_test": "*",
    "kt_store_4x4_test": "*", "kt_control_128_test": "*", "kt_registers_test": "*", "kt_cmd_fetch_128_test": "*",
    "kt_scoreboard_8_test": "*", "kt_axi_gate_test": "*", "kt_stream_buf_test": "*", "kt_result_writer_test": "*",
    "kt_fifo_8_test": "*", "kt_skid_test": "*"}


class Point:
    """Something to be reached: a line or a branch of it, a bit that changes one way."""

    def __init__(self, kind, file, line, what):
        self.module = os.path.basename(file)[:-3]
        self.kind, self.file, self.line = kind, file, line
        # the name of a bit, and which way it changes; or what of a line, and its text, which stays where lines move
        self.name, self.way = what.rsplit(":", 1) if kind == "toggle" else (f"{what}: {source(file)[line - 1].strip()}", "")
        self.count = 0
        self.waiver = None

    def __str__(self):
        return f"{self.file}:{self.line}: {self.kind} {self.name} {self.way}".rstrip()


@functools.cache
def source(file):
    with open(os.path.join(tools.ROOT, file)) as f:
        return f.read().splitlines()


def read_file(path):
    """{(kind, file, line, column, what): count} of one program."""
    counts = {}
    with open(path, errors="replace") as f:
        for text in f:
            if not text.startswith("C '"):
                continue
            end = text.rindex("'")
            fields = dict(part.split("\x02", 1) for part in text[3:end].split("\x01") if "\x02" in part)
            file = fields["f"]
            if os.path.isabs(file):
                file = os.path.relpath(file, tools.ROOT)
            kind = "toggle" if fields["page"].startswith("v_toggle") else "line"
            # Instances of a module count together.
            key = kind, file, int(fields["l"]), fields.get("n"), fields["o"]
            counts[key] = counts.get(key, 0) + int(text[end + 1:])
    return counts


def read_counts(folder):
    """The points of the whole machine, with the counts of all programs."""
    programs = [read_file(path) for path in sorted(glob.glob(os.path.join(folder, "*.dat")))]
    points = {key: Point(*key[:3], key[4]) for counts in programs if any(key[1] == "rtl/kaiten_top.sv" for key in counts)
              for key in counts if key[1].startswith("rtl/")}
    for counts in programs:
        for key, count in counts.items():
            if key in points:
                points[key].count += count
    return sorted(points.values(), key=lambda p: (p.module, p.line, p.name, p.way))


def expression(pattern):
    """* stands for anything, ? for one character, [a-b] for each of the indices."""
    def indices(match):
        return r"\[(?:" + "|".join(str(i) for i in range(int(match[1]), int(match[2]) + 1)) + r")\]"

    return re.sub(r"\\\[(\d+)\\-(\d+)\\\]", indices, re.escape(pattern).replace(r"\*", ".*").replace(r"\?", "."))


class Waiver:
    def __init__(self, number, text):
        parts = [part.strip() for part in text.split(" ; ")]
        if len(parts) != 4 or not all(parts):
            raise ValueError(f"{WAIVERS}:{number}: wants `modules ; line, toggle or case ; pattern ; reason`")
        self.modules = parts[0].split()
        self.kind, self.pattern, self.reason = parts[1:]
        self.expression = re.compile(expression(self.pattern))
        self.number, self.hides = number, 0

    def matches(self, module, kind, name):
        return kind == self.kind and module in self.modules and self.expression.fullmatch(name)


def read_waivers(path):
    with open(path) as f:
        return [Waiver(i + 1, line.strip()) for i, line in enumerate(f) if line.strip() and not line.startswith("#")]


def waive(waivers, module, kind, name):
    for w in waivers:
        if w.matches(module, kind, name):
            w.hides += 1
            return w
    return None


def read_cases(folder):
    """{case of the functional table: how often it was met}"""
    cases = {}
    for path in glob.glob(os.path.join(folder, "cover_*.txt")):
        with open(path) as f:
            for line in f:
                count, name = line.rstrip("\n").split("\t", 1)
                cases[name] = cases.get(name, 0) + int(count)
    return cases


def run_tests(build, folder, args):
    """[(name, seconds, log of a failure)]"""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    env = {**tools.environment(), "KAITEN_COVER": folder, "KAITEN_SOAK_CYCLES": "2000000" if args.long else "200000"}

    def one(name):
        start = time.time()
        code, log = tools.run([os.path.join(build, "test-bin", name), f"--gtest_filter={PROGRAMS[name]}"],
                              limit=3600, cwd=tools.ROOT, env=env)
        return name, time.time() - start, "" if code == 0 else log or "time limit"

    with ThreadPoolExecutor(args.j) as pool:
        return list(pool.map(one, PROGRAMS))


def percent(points):
    """(percentage reached of what is not waived, waived)"""
    waived = sum(p.waiver is not None for p in points)
    counted = len(points) - waived
    return (100.0 * sum(p.count > 0 for p in points) / counted if counted else 100.0), waived


# The shell of all pages; its other user is sw/report/page.cpp.
SHELL = os.path.join(tools.ROOT, "sw", "report", "page.html")


def page(title, body):
    """The page as HTML; the body is HTML, too."""
    with open(SHELL) as f:
        shell = f.read()
    filled = {"title": html.escape(title), "body": body, "footer": "Line, toggle and functional coverage; colours: reached, missed, waived."}
    return re.sub(r"\{\{(\w+)\}\}", lambda m: filled[m[1]], shell)


def table_of(rows):
    return f'<div class="scroll"><table>{rows}</table></div>'


def write_html(folder, modules, cases, waived_cases):
    rows = ""
    for name, points in modules.items():
        cells = ""
        for kind in ("line", "toggle"):
            of_kind = [p for p in points if p.kind == kind]
            rate, waived = percent(of_kind)
            cells += f'<td class="n{" miss" if rate < LIMITS[kind] else ""}">{rate:.1f}</td><td class="n">{len(of_kind)}</td><td class="n">{waived}</td>'
        rows += f'<tr><td><a href="{name}.html">{name}</a></td>{cells}</tr>\n'
    numbers = "".join(f'<th class="n">{heading}</th>' for heading in ("lines %", "of", "waived", "toggles %", "of", "waived"))
    table = table_of(f"<tr><th>module</th>{numbers}</tr>\n{rows}")
    met = "".join(f'<tr class="{"hit" if count else "waived" if name in waived_cases else "miss"}"><td>{html.escape(name)}</td>'
                  f'<td class="n">{count:,}</td><td>{html.escape(waived_cases.get(name, ""))}</td></tr>\n'
                  for name, count in sorted(cases.items()))
    cover = table_of(f'<tr><th>case</th><th class="n">met</th><th>waived because</th></tr>{met}')
    tools.write(os.path.join(folder, "index.html"), page("Coverage of nano", f"{table}<h2>Functional cover</h2>{cover}"))
    for name, points in modules.items():
        tools.write(os.path.join(folder, f"{name}.html"), page(name, module_page(points)))


def module_page(points):
    by_line = {}
    for p in points:
        by_line.setdefault(p.line, []).append(p)
    rows = ""
    for number, text in enumerate(source(points[0].file), 1):
        here = by_line.get(number, [])
        missing = [p for p in here if p.count == 0 and not p.waiver]
        waived = [p for p in here if p.count == 0 and p.waiver]
        look = "miss" if missing else "waived" if waived else "hit" if here else ""
        said = ", ".join(dict.fromkeys(p.name for p in missing)) or ", ".join(dict.fromkeys(p.waiver.reason for p in waived))
        most = max((p.count for p in here if p.kind == "line"), default=None)
        rows += (f'<tr class="{look}"><td class="n">{number}</td><td class="n">{"" if most is None else f"{most:,}"}</td>'
                 f"<td><pre>{html.escape(text.rstrip())}</pre></td><td>{html.escape(said[:300])}</td></tr>\n")
    return table_of(f'<tr><th class="n">line</th><th class="n">reached</th><th></th><th>not reached</th></tr>{rows}')


def judge(points, cases, waivers, results):
    """Waives, and says of each module of control and of the cases whether enough is reached. What the documents tell of it."""
    modules, waived_cases = {}, {}
    for p in points:
        modules.setdefault(p.module, []).append(p)
        if p.count == 0:
            p.waiver = waive(waivers, p.module, p.kind, p.name)
    for name, count in cases.items():
        if count == 0 and (waiver := waive(waivers, "cover", "case", name)):
            waived_cases[name] = waiver.reason
    said = {}
    for name, of_module in modules.items():
        rates = {kind: percent([p for p in of_module if p.kind == kind]) for kind in LIMITS}
        said[name] = {kind: {"percent": round(rate, 1), "waived": waived} for kind, (rate, waived) in rates.items()}
        text = ", ".join(f"{kind}s {rate:.1f} %" for kind, (rate, _) in rates.items())
        if all(rates[kind][0] >= limit for kind, limit in LIMITS.items()):
            results.passed(name, 0.0, text)
        else:
            missing = [str(p) for p in of_module if p.count == 0 and not p.waiver]
            results.failed(name, 0.0, text, "\n".join(missing[:40]))
    missing = sorted(name for name, count in cases.items() if count == 0 and name not in waived_cases)
    met = f"{len(cases) - len(missing) - len(waived_cases)} of {len(cases)} cases met, {len(waived_cases)} waived"
    if missing or not cases or not points:
        results.failed("functional cover", 0.0, met, "\n".join(missing))
    else:
        results.passed("functional cover", 0.0, met)
    unused = [f"{WAIVERS}:{w.number}: hides nothing: {' '.join(w.modules)} {w.kind} {w.pattern}" for w in waivers if not w.hides]
    if unused:
        results.failed("waivers", 0.0, f"{len(unused)} hide nothing", "\n".join(unused))
    else:
        results.passed("waivers", 0.0, f"{len(waivers)}")
    return modules, waived_cases, {"modules": said, "cover": met}


def table(said):
    rows = [[f"`{name}`", *(cell for kind in LIMITS for cell in (f"{rates[kind]['percent']:.1f}", str(rates[kind]["waived"])))]
            for name, rates in said["modules"].items()]
    return tools.markdown(["module", "lines %", "waived", "toggles %", "waived"], rows) + f"\nFunctional cover: {said['cover']}.\n"


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Line, toggle and functional coverage of nano.")
    parser.add_argument("--build", default=os.path.join(tools.ROOT, "build-coverage"))
    parser.add_argument("-j", type=int, default=os.cpu_count())
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--reuse", action="store_true")
    parser.add_argument("--docs", action="store_true")
    parser.add_argument("--list", action="store_true", help="only print the programs that must be built")
    parser.add_argument("--waivers", default=os.path.join(tools.ROOT, WAIVERS))
    args = parser.parse_args(arguments)
    if args.list:
        print(*PROGRAMS)
        return 0
    build = os.path.abspath(args.build)
    folder, report = os.path.join(build, "counts"), os.path.join(build, "coverage")
    os.makedirs(report, exist_ok=True)
    results = tools.Results("coverage")
    if not args.reuse:
        for name, seconds, log in run_tests(build, folder, args):
            if log:
                results.failed(name, seconds, "the test failed", log)
            else:
                results.passed(name, seconds)
    cases = read_cases(folder)
    modules, waived_cases, said = judge(read_counts(folder), cases, read_waivers(args.waivers), results)
    write_html(report, modules, cases, waived_cases)
    if args.docs:
        tools.write(os.path.join(tools.ROOT, "docs", "data", "coverage.json"), json.dumps(said, indent=1) + "\n")
        tools.write_between("docs/verification/coverage.md", "coverage", table(said))
    print(f"report: {os.path.relpath(report, tools.ROOT)}/index.html")
    return results.finish(os.path.join(report, "junit.xml"))


if __name__ == "__main__":
    sys.exit(tools.guarded(main))
