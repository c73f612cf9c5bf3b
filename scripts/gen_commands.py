#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Makes the SystemVerilog package, the C++ headers and the document of the command format from rtl/control/commands.json.

usage: gen_commands.py [--check]     --check: write nothing, exit 1 when a generated file differs

A field is [name, bits, kind, meaning]; its kind is one of KINDS or the name of an enumeration. A fifth entry names another
field of the command: where that one is not 0, this one must not be 0 either.
A command that `extends` another has no queue: it stands before that one and belongs to it.
An enumeration becomes names of SystemVerilog (`sv`: their prefix) with a mask of all values, and an enum class: of HEADER, or
where `cpp` gives another header and the prefix of its enumerators.
"""
import json
import re
import sys
import textwrap
from pathlib import Path

import tools

ROOT = Path(__file__).resolve().parent.parent
SOURCE = "rtl/control/commands.json"
HEADER = "sw/program/command_fields.h"
COMMAND_BITS = 512
KINDS = {"u": "kUnsigned", "s": "kSigned", "w": "kWord", "c": "kCount"}


def snake(name):
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def camel(name):
    return "".join(part[0].upper() + part[1:] for part in name.split("_"))


class Enumeration:
    """Values of a field: (number, name, meaning), numbered from 0 without gaps."""

    def __init__(self, name, about, values, prefix, header=HEADER, cpp_prefix="k"):
        self.name, self.about, self.values, self.prefix = name, about, values, prefix
        self.header, self.cpp_prefix = header, cpp_prefix
        if [number for number, *_ in values] != list(range(len(values))):
            sys.exit(f"{name}: values are numbered from 0 without gaps")

    def bits(self):
        return max(1, (len(self.values) - 1).bit_length())

    def make_sv(self, bits):
        width = max(len(camel(name)) for _, name, _ in self.values)
        lines = [f"    {self.prefix}{camel(name):<{width}} = {bits}'d{number},  // {about}" for number, name, about in self.values]
        lines[-1] = lines[-1].replace(",  //", "   //", 1)
        return [f"  // {self.about}", f"  typedef enum logic [{bits - 1}:0] {{", *lines, f"  }} {self.name}_e;", ""]

    def make_cpp(self):
        lines = [f"  {self.cpp_prefix}{camel(name)} = {number},  // {about}" for number, name, about in self.values]
        names = ", ".join(f'"{name}"' for _, name, _ in self.values)
        kind = camel(self.name)
        return [f"// {self.about}", f"enum class {kind} : std::uint8_t {{", *lines, "};", "",
                f"constexpr std::string_view name_of({kind} value) {{",
                f"  constexpr std::string_view kNames[] = {{{names}}};",
                "  return std::size_t(value) < std::size(kNames) ? kNames[std::size_t(value)] : \"unknown\";", "}", ""]

    def make_md(self):
        return [f"### {self.name}", "", self.about[0].upper() + self.about[1:] + ".", "", "| value | name | meaning |", "|---|---|---|",
                *[f"| {number} | {name} | {about} |" for number, name, about in self.values], ""]


def enumerations():
    """{name: Enumeration} of the fields of commands."""
    spec = json.loads((ROOT / SOURCE).read_text())
    return {e["name"]: Enumeration(e["name"], e["about"], e["values"], e["sv"], *e.get("cpp", [])) for e in spec["enums"]}


def load():
    enums = enumerations()
    spec = json.loads((ROOT / SOURCE).read_text())
    header_bits = sum(f[1] for f in spec["header"])
    for command in spec["commands"]:
        fields = []
        for f in command["fields"]:
            fields += spec["groups"][f[1:]] if isinstance(f, str) else [f]
        command["fields"] = fields
        for name, bits, kind, *_ in fields:
            if kind not in KINDS and (kind not in enums or enums[kind].bits() > bits):
                sys.exit(f"{SOURCE}: {command['name']}.{name}: no kind {kind} of {bits} bits")
        used = header_bits + sum(f[1] for f in fields)
        if used > COMMAND_BITS:
            sys.exit(f"{SOURCE}: {command['name']} needs {used} bits, limit {COMMAND_BITS}")
    spec["enums"] = enums
    return spec, header_bits


def sv_type(bits, kind):
    if kind == "w":
        return "cmd_word_t"
    sign = "signed " if kind == "s" else ""
    return f"logic {sign}[{bits - 1}:0]" if bits > 1 else "logic"


def struct(name, fields, spare):
    lines = ["  typedef struct packed {"]
    if spare:
        lines.append(f"    logic [{spare - 1}:0] spare;  // must be 0")
    lines += [f"    {sv_type(bits, kind)} {field};" for field, bits, kind, *_ in reversed(fields)]
    return lines + [f"  }} {name};", ""]


def placed(fields, bit):
    """Fields with their first bits: (name, bits, kind, meaning, where it must not be 0, first bit)."""
    for name, bits, kind, doc, *where in fields:
        yield name, bits, kind, doc, where[0] if where else None, bit
        bit += bits


def body_checks(spec, body_bits):
    """The functions that tell whether a command's body is one: what they look at stands at these bits of it."""
    spare, zero = [], []
    for c in spec["commands"]:
        fields = list(placed(c["fields"], 0))
        at = {name: f"body[{bit + bits - 1}:{bit}]" for name, bits, _, _, _, bit in fields}
        tests = []
        for name, _, kind, _, where, _ in fields:
            if where:
                tests.append(f"({at[name]} == '0 && {at[where]} != '0)")
            elif kind == "c":
                tests.append(f"{at[name]} == '0")
        used = sum(f[1] for f in c["fields"])
        if used < body_bits:
            spare.append(f"      Op{c['name']}: return body[{body_bits - 1}:{used}] != '0;")
        if tests:
            zero += textwrap.wrap(f"Op{c['name']}: return {' || '.join(tests)};", 120, initial_indent=" " * 6,
                                  subsequent_indent=" " * 10)

    def function(name, about, cases):
        return [f"  // {about}", f"  function automatic logic {name}(logic [3:0] op, logic [BodyBits-1:0] body);", "    case (op)",
                *cases, "      default: return 1'b0;", "    endcase", "  endfunction", ""]

    return ["  /* verilator lint_off UNUSEDSIGNAL */  // the other bits of a body", *function("spare_used", "A spare bit is set", spare),
            *function("count_is_zero", "A field that must not be 0 is 0", zero)[:-1], "  /* verilator lint_on UNUSEDSIGNAL */", ""]


def make_sv(spec, header_bits):
    body_bits = COMMAND_BITS - header_bits
    out = [*tools.spdx("//"), "", f"// Generated by scripts/gen_commands.py from {SOURCE}: do not edit. Explained in docs/formats/commands.md.",
           "// A packed struct lists its highest bits first, so the fields stand in reverse order.",
           "package kt_cmd_pkg;", "",
           "  // A position counted in words of CP channels: word = 9 * div + mod.",
           "  typedef struct packed {", "    logic [7:0] div;", "    logic [3:0] mod;", "  } cmd_word_t;", ""]
    for command in spec["commands"]:
        out.append(f"  localparam logic [3:0] Op{command['name']} = 4'd{command['op']};")
    out += ["", f"  localparam int unsigned BodyBits = {body_bits};", ""]
    for enum in spec["enums"].values():
        out += enum.make_sv(enum.bits())
    out.append("  // One bit for each value that exists: what capability registers say")
    out += [f"  localparam logic [7:0] {camel(name)}Mask = 8'h{(1 << len(enum.values)) - 1:02x};"
            for name, enum in spec["enums"].items()] + [""]
    out += struct("header_t", spec["header"], 0)
    for command in spec["commands"]:
        out.append(f"  // {command['about']}")
        out += struct(snake(command["name"]) + "_t", command["fields"], body_bits - sum(f[1] for f in command["fields"]))
    return "\n".join(out + body_checks(spec, body_bits)) + "\nendpackage\n"


def guard_of(header):
    return re.sub(r"\W", "_", header.replace("sw/", "kaiten/")).upper()


def cpp_head(guard):
    return [*tools.spdx("//"), "", f"// Generated by scripts/gen_commands.py from {SOURCE}: do not edit. Explained in docs/formats/commands.md.",
            f"#ifndef {guard}", f"#define {guard}", "", "#include <cstddef>", "#include <cstdint>", "#include <iterator>", "#include <string_view>", "",
            "namespace kaiten {", ""]


def make_cpp(spec, header_bits):
    out = [*cpp_head(guard_of(HEADER)),
           "// Kind of a field: unsigned, count (unsigned, not 0), signed, or a position in words (stored as word / 9 and word % 9).",
           "enum class FieldKind { kUnsigned, kCount, kSigned, kWord };", "",
           "enum class Queue { kLoad, kConv, kVector, kStore };", "",
           "enum class Opcode : std::uint8_t {"]
    out += [f"  k{c['name']} = {c['op']}," for c in spec["commands"]]
    out += ["};", "", f"inline constexpr int kCommandBytes = {COMMAND_BITS // 8};",
            f"inline constexpr int kHeaderBits = {header_bits};", ""]
    for enum in spec["enums"].values():
        out += enum.make_cpp() if enum.header == HEADER else []

    def fields(name, items, first_bit, extra):
        lines = [f"struct {name} {{"] + extra
        lines += [f"  std::int64_t {f} = 0;  // {doc}" + ("" if kind in KINDS else f": a {camel(kind)}") for f, _, kind, doc, *_ in items]
        lines += ["", "  // Calls visit(name, value, first bit, bits, kind) for every field in order.",
                  "  template <class Self, class Visit>", "  static void fields(Self& self, Visit&& visit) {"]
        for f, bits, kind, _, _, bit in placed(items, first_bit):
            lines.append(f'    visit("{f}", self.{f}, {bit}, {bits}, FieldKind::{KINDS.get(kind, "kUnsigned")});')
        return lines + ["  }", "};", ""]

    out += fields("CommandHeader", spec["header"], 0, [])
    for c in spec["commands"]:
        extra = [f"  static constexpr Opcode kOpcode = Opcode::k{c['name']};",
                 *([] if "extends" in c else [f"  static constexpr Queue kQueue = Queue::k{c['queue'].capitalize()};"]),
                 f'  static constexpr const char* kName = "{snake(c["name"])}";']
        out.append(f"// {c['about']}")
        out += fields(c["name"] + "Command", c["fields"], header_bits, extra)
    out += ["// Calls visit with a default command of every kind that a queue takes.", "template <class Visit>",
            "void for_each_command_kind(Visit&& visit) {"]
    out += [f"  visit({c['name']}Command{{}});" for c in spec["commands"] if "extends" not in c]
    out += ["}", "", "}  // namespace kaiten", "", f"#endif  // {guard_of(HEADER)}"]
    return "\n".join(out) + "\n"


def make_enum_header(header):
    def make(spec, _):
        out = cpp_head(guard_of(header))
        for enum in spec["enums"].values():
            out += enum.make_cpp() if enum.header == header else []
        return "\n".join(out + ["}  // namespace kaiten", "", f"#endif  // {guard_of(header)}"]) + "\n"
    return make


def make_md(spec, header_bits):
    out = ["# Command format", "",
           f"Generated by `scripts/gen_commands.py` from `{SOURCE}`; `make check` compares the two.", "",
           spec["about"].split(". ", 2)[2], "",
           "Kinds: u unsigned, c count (unsigned, not 0), s signed (two's complement), w position in words of CP channels, "
           "stored as word / 9 (upper bits) and word % 9 (lower four bits).", ""]

    def table(items, bit):
        lines = ["| bits | field | kind | meaning |", "|---|---|---|---|"]
        for f, bits, kind, doc, where, at in placed(items, bit):
            limit = f"; not 0 where `{where}` is not" if where else ""
            if kind not in KINDS:
                kind, limit = "u", f": [`{kind}`](#{kind})"
            lines.append(f"| {at + bits - 1}:{at} | `{f}` | {kind} | {doc}{limit} |")
        return lines + [""]

    out += ["## Header of every command", ""] + table(spec["header"], 0)
    for c in spec["commands"]:
        place = f"before {snake(c['extends'])}" if "extends" in c else f"{c['queue'].upper()} queue"
        out += [f"## {c['op']} {snake(c['name'])} ({place})", "",
                c["about"][0].upper() + c["about"][1:] + ".", ""] + table(c["fields"], header_bits)
    out += ["## Values", ""]
    for enum in spec["enums"].values():
        out += enum.make_md()
    return tools.wrapped("\n".join(out).rstrip() + "\n")


def main():
    spec, header_bits = load()
    files = {"rtl/common/kt_cmd_pkg.sv": make_sv, HEADER: make_cpp, "docs/formats/commands.md": make_md}
    files |= {enum.header: make_enum_header(enum.header) for enum in spec["enums"].values() if enum.header != HEADER}
    return tools.write_generated({name: make(spec, header_bits) for name, make in files.items()}, "--check" in sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
