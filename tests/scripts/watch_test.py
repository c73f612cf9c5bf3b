# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""The simulator reads kt_pkg::watch_t from the model bit by bit: its fields lie where sw/sim/watch_fields.h says."""
import os
import re
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def width_of(kind, package):
    """Bits of `logic`, `logic [H:0]` or a type of the package that is one."""
    bits = re.fullmatch(r"logic(?: *\[(\d+):0\])?", kind)
    if bits:
        return int(bits[1] or 0) + 1
    return width_of(re.search(rf"typedef (logic[^;{{]*?) *{kind};", package)[1], package)


def fields_of(package, name):
    """(low, bits) of the fields of a packed struct, by name."""
    body = re.search(rf"typedef struct packed \{{([^}}]*)\}} {name};", package)[1]
    fields, low = {}, 0
    for kind, field in reversed(re.findall(r"^ *(\w+(?: *\[\d+:0\])?) +(\w+);", body, re.M)):
        bits = width_of(kind, package)
        fields[field] = (low, bits)
        low += bits
    return fields


class Watch(unittest.TestCase):
    def test_the_simulator_knows_where_the_fields_lie(self):
        known = re.findall(r"Field k(\w+)\{(\d+), (\d+)\};", read("sw/sim/watch_fields.h"))
        self.assertEqual({name.lower(): (int(low), int(bits)) for name, low, bits in known},
                         fields_of(read("rtl/common/kt_pkg.sv"), "watch_t"))

    def test_fields_are_counted_from_the_last(self):
        package = ("typedef logic [6:0] number_t;\ntypedef struct packed {\n  logic a;  // first\n  number_t b;\n"
                   "  logic [1:0] c;\n} some_t;\n")
        self.assertEqual(fields_of(package, "some_t"), {"a": (9, 1), "b": (2, 7), "c": (0, 2)})


if __name__ == "__main__":
    unittest.main()
