# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""The structure of the tree: which folder of the software may include which."""
import glob
import os
import re
import subprocess
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")

# The floors of sw/ from the ground up. A folder includes its own headers and those of floors below; folders on one floor
# know nothing of each other. CONTRIBUTING.md says what each folder is for.
FLOORS = [
    ["base"],
    ["graph", "fft", "image", "firmware"],
    ["codec", "reference", "program", "export", "evaluate", "draw", "supernet", "volume"],
    ["import", "device", "plan", "serve", "compile/pack"],
    ["sim", "linux_driver", "metadata", "observe", "offload", "compile/lower", "generate"],
    ["compile/spans", "bridge", "oracle", "swap"],
    ["compile/emit"],
    ["compile"],
    ["target_plan", "board", "cluster", "explore"],
    ["report"],
    ["run"],
    ["volume_device"],
    ["cli"],
]
FLOOR_OF = {folder: i for i, floor in enumerate(FLOORS) for folder in floor}
# The installed header that includes the public ones.
FRONT = {"sw/kaiten.h"}
MOST_LINES = 600  # of a file that a person writes
# Parts of C++20 that Emscripten's library lacks, which the browser page (web/) is built with in the long check only.
NOT_IN_A_BROWSER = re.compile(r"std::(jthread|stop_token|format|ranges|views)\b")


def tracked(*patterns):
    out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", *patterns], cwd=ROOT, capture_output=True, text=True,
                         check=True).stdout
    return [path for path in out.split() if os.path.exists(os.path.join(ROOT, path))]


def sources_of_the_page():
    """Those that web/CMakeLists.txt names, and every header of the software that they include."""
    found, left = set(), []
    for path in re.findall(r"\$\{sw\}/([\w/*]+\.cpp)\b", read("web/CMakeLists.txt")):
        left += glob.glob(os.path.join(ROOT, "sw", path))
    while left:
        path = left.pop()
        if path in found or not os.path.exists(path):
            continue
        found.add(path)
        left += [os.path.join(ROOT, "sw", header) for header in re.findall(r'^#include "([^"]+)"', read(path), re.M)]
    return sorted(os.path.relpath(path, ROOT) for path in found)


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def room_of(path):
    """The longest folder of FLOOR_OF that holds a path relative to sw/, None where there is none."""
    folder = os.path.dirname(path)
    while folder and folder not in FLOOR_OF:
        folder = os.path.dirname(folder)
    return folder or None


def included(text):
    return re.findall(r'^#include "([^"]+)"', text, re.M)


def wrong_arrows(path, text):
    """What a source of sw/ includes although it may not."""
    own = room_of(path)
    wrong = []
    for name in included(text):
        if "/" not in name:
            continue  # generated or from a library
        if name.startswith(("tb/", "tests/", "bench/", "models/")):
            wrong.append(name)
            continue
        other = room_of(name)
        if other is not None and other != own and FLOOR_OF[other] >= FLOOR_OF[own]:
            wrong.append(name)
    return wrong


def waivers_without_reason(text):
    """Line numbers of waivers of Verilator's lint with no comment beside or above them."""
    lines = text.split("\n")
    return [i + 1 for i, line in enumerate(lines) if "verilator lint_off" in line and not re.search(r"\*/\s*// \w", line)
            and not (i > 0 and lines[i - 1].strip().startswith("//"))]


def without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)


def rtl_arrows(text, blocks):
    """The folders whose packages or modules a source of the RTL uses; `blocks`: the folder of each package and module."""
    code = without_comments(text)
    names = re.findall(r"\b(\w+)::", code) + re.findall(r"^ *(kt_\w+)\s*(?:#\s*\(|\w+\s*(?:\[[^\]]*\]\s*)?\()", code, re.M)
    return {blocks[name] for name in names if name in blocks}


def blocks_of(paths):
    """The folder of each package and module of the RTL, which are named like their files."""
    return {os.path.splitext(os.path.basename(path))[0]: os.path.dirname(path) for path in paths}


def defined_twice(texts):
    """{type: the files that define it, each in its own way}: one program that has both is wrong without a word."""
    files = {}
    for path, text in texts.items():
        spaces = []
        for line in text.splitlines():
            if match := re.match(r"(?:inline )?namespace ?([\w:]*) ?\{", line):
                spaces.append(match[1] or f"<{path}>")
            elif line.startswith("}  // namespace") and spaces:
                spaces.pop()
            elif match := re.match(r"(?:struct|class|enum class) (\w+)(?: final)?(?: : .*)? \{", line):
                files.setdefault("::".join([*spaces, match[1]]), set()).add(path)
    return {name: sorted(found) for name, found in files.items() if len(found) > 1}


class Structure(unittest.TestCase):
    def test_every_folder_of_the_software_has_a_floor(self):
        for path in tracked("sw/**/*.h", "sw/**/*.cpp", "sw/**/*.in"):
            if path not in FRONT:
                self.assertIsNotNone(room_of(path[3:]), f"{path}: its folder is not in FLOORS")

    def test_no_arrow_from_a_lower_to_a_higher_folder(self):
        for path in tracked("sw/**/*.h", "sw/**/*.cpp", "sw/**/*.in"):
            if path not in FRONT:
                self.assertEqual(wrong_arrows(path[3:], read(path)), [], path)

    def test_an_arrow_up_or_beside_is_found(self):
        self.assertEqual(wrong_arrows("graph/graph.cpp", '#include "cli/tool.h"\n'), ["cli/tool.h"])
        self.assertEqual(wrong_arrows("sim/a.h", '#include "observe/watcher.h"\n#include "base/error.h"\n'), ["observe/watcher.h"])
        self.assertEqual(wrong_arrows("compile/lower/maps.cpp", '#include "compile/emit/emit.h"\n'), ["compile/emit/emit.h"])
        self.assertEqual(wrong_arrows("run/session.cpp", '#include "tests/support/seed.h"\n'), ["tests/support/seed.h"])

    def test_every_header_that_is_included_exists(self):
        there = set(tracked("sw/**/*.h"))
        for path in tracked("sw/**/*.h", "sw/**/*.cpp"):
            for name in included(read(path)):
                if room_of(name) is not None and not name.endswith(".inc.h"):
                    self.assertIn("sw/" + name, there, path)

    def test_every_waiver_of_the_rtl_has_a_reason(self):
        for path in tracked("rtl/*.sv"):
            self.assertEqual(waivers_without_reason(read(path)), [], path)

    def test_a_waiver_without_reason_is_found(self):
        waiver = "/* verilator lint_off UNUSEDSIGNAL */"
        self.assertEqual(waivers_without_reason(f"{waiver}\nlogic a;\n// why\n{waiver}\nlogic b;\n{waiver}  // why\n"), [1])

    def test_the_common_rtl_imports_nothing_from_a_block(self):
        paths = tracked("rtl/*.sv")
        blocks = blocks_of(paths)
        common = [path for path in paths if path.startswith("rtl/common/")]
        self.assertGreater(len(common), 5)
        for path in common:
            self.assertLessEqual(rtl_arrows(read(path), blocks), {"rtl/common"}, path)

    def test_an_arrow_of_the_rtl_is_found(self):
        blocks = {"kt_a_pkg": "rtl/a", "kt_b": "rtl/b", "kt_c": "rtl/c", "kt_d": "rtl/common", "kt_e": "rtl/e"}
        text = "module kt_d import kt_a_pkg::*; (\n);\n  kt_b #(\n  ) u_b (\n  );\n  kt_c u_c (.clk_i(clk_i));\n  // kt_e u_e (\n"
        self.assertEqual(rtl_arrows(text, blocks), {"rtl/a", "rtl/b", "rtl/c"})
        # all blocks stand on others: the top uses most of them
        self.assertGreater(len(rtl_arrows(read("rtl/kaiten_top.sv"), blocks_of(tracked("rtl/*.sv")))), 5)

    def test_no_type_is_defined_twice(self):
        self.assertEqual(defined_twice({path: read(path) for path in tracked("sw/*.h", "sw/*.cpp", "tb/*.cpp")}), {})

    def test_a_second_definition_is_found(self):
        here = "namespace kaiten {\nnamespace {\nstruct Own {\n};\n}  // namespace\nstruct Part {\n};\n}  // namespace kaiten\n"
        there = "namespace kaiten {\nclass Part final {\n};\n}  // namespace kaiten\n"
        other = "namespace kaiten::plan {\nstruct Part {\n};\n}  // namespace kaiten::plan\n"
        self.assertEqual(defined_twice({"a.cpp": here, "b.h": there, "c.h": other, "d.cpp": here.replace("Part", "Else")}),
                         {"kaiten::Part": ["a.cpp", "b.h"]})

    def test_the_page_uses_what_browsers_have(self):
        sources = sources_of_the_page()
        self.assertIn("sw/run/session_state.h", sources)
        self.assertEqual([path for path in sources if NOT_IN_A_BROWSER.search(read(path))], [])
        self.assertTrue(NOT_IN_A_BROWSER.search("std::ranges::stable_sort(all)"))

    def test_headers_have_guards(self):
        for path in tracked("*.h"):
            self.assertNotRegex(read(path), r"(?m)^#pragma once", path)

    def test_no_file_is_too_long(self):
        for path in tracked("sw/**/*.h", "sw/**/*.cpp", "tb/*", "rtl/**/*.sv", "rtl/*.sv"):
            text = read(path)
            if "do not edit" not in text[:400].lower():
                self.assertLessEqual(text.count("\n"), MOST_LINES, path)


if __name__ == "__main__":
    unittest.main()
