# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""scripts/multipliers.py: a multiplier whose operands were moved up computes the products of the numbers, where somebody reads a copy
of the product's sign nothing moves, and every place is given once."""
import json
import os
import random
import sys
import tempfile
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
sys.path.insert(0, os.path.join(ROOT, "scripts"))
import multipliers  # noqa: E402

ARRAY = [f"u_kaiten.u_conv.u_array.gen_stage[0].gen_row[{row}].u_row.gen_chain[{chain}].gen_tap[{tap}].product_MULT18X18D_P9"
         for row in range(2) for chain in range(2) for tap in range(9)]


def multiplier(width_a, width_b, first=100):
    """A multiplier of two signed numbers as yosys maps it, and the wires of operands and product."""
    a, b = list(range(first, first + width_a)), list(range(first + 20, first + 20 + width_b))
    product = list(range(first + 40, first + 76))
    connections = {f"{pin}{i}": [bits[min(i, len(bits) - 1)]] for pin, bits in (("A", a), ("B", b)) for i in range(18)}
    connections |= {f"P{i}": [product[i]] for i in range(36)} | {"SIGNEDA": ["1"], "SIGNEDB": ["1"]}
    directions = {pin: "output" if pin[0] == "P" else "input" for pin in connections}
    return {"type": "MULT18X18D", "attributes": {}, "connections": connections, "port_directions": directions}, a, b, product


def reader(bits):
    return {"type": "LUT4", "attributes": {}, "connections": {"A": bits}, "port_directions": {"A": "input"}}


def signed(bits):
    return sum(bit << i for i, bit in enumerate(bits)) - (bits[-1] << len(bits))


def computed(cell, wires):
    """{wire of the product: its value}, by the definition of the cell: 18 x 18 bits, both signed."""
    def operand(pin):
        bits = (cell["connections"][f"{pin}{i}"][0] for i in range(18))
        return signed([int(bit) if isinstance(bit, str) else wires[bit] for bit in bits])
    product = operand("A") * operand("B")
    return {cell["connections"][f"P{i}"][0]: product >> i & 1 for i in range(36) if cell["connections"][f"P{i}"]}


class Align(unittest.TestCase):
    def test_products_stay_what_they_are(self):
        draw = random.Random(1)
        for width_a, width_b in ((8, 8), (8, 9), (9, 8), (1, 18), (18, 18), (17, 3)):
            cell, a, b, product = multiplier(width_a, width_b)
            read = product[:width_a + width_b]
            saved = multipliers.align({"m": cell, "reader": reader(read)})
            self.assertEqual(saved, 36 - width_a - width_b)
            for _ in range(200):
                values = [draw.choice((-(1 << w - 1), (1 << w - 1) - 1, 0, draw.randrange(-(1 << w - 1), 1 << w - 1)))
                          for w in (width_a, width_b)]
                wires = {bit: value >> i & 1 for bits, value in zip((a, b), values) for i, bit in enumerate(bits)}
                found = computed(cell, wires)
                self.assertEqual([found[bit] for bit in read], [values[0] * values[1] >> i & 1 for i in range(len(read))], values)

    def test_nothing_moves_where_a_copy_of_the_sign_is_read(self):
        cell, _, _, product = multiplier(8, 8)
        before = json.dumps(cell)
        self.assertEqual(multipliers.align({"m": cell, "reader": reader([product[16]])}), 0)
        self.assertEqual(json.dumps(cell), before)

    def test_nothing_moves_that_is_not_signed(self):
        cell = multiplier(8, 8)[0]
        cell["connections"]["SIGNEDA"] = ["0"]
        self.assertEqual(multipliers.align({"m": cell}), 0)


class Place(unittest.TestCase):
    def test_every_place_is_given_once(self):
        plan = [site for _, blocks in multipliers.PLAN for site in multipliers.sites(blocks)]
        self.assertEqual(len(plan), len(set(plan)))

    def test_rows_of_a_stage_stand_side_by_side_tap_by_tap(self):
        cells = {name: multiplier(8, 8)[0] for name in reversed(ARRAY)}
        self.assertEqual(multipliers.place(cells), 36)
        places = multipliers.sites(multipliers.PLAN[0][1])
        at = {name: places.index(cell["attributes"]["BEL"]) for name, cell in cells.items()}
        self.assertEqual(sorted(at.values()), list(range(36)))
        for name in ARRAY:
            self.assertEqual(at[name.replace("gen_row[0]", "gen_row[1]")] - at[name.replace("gen_row[1]", "gen_row[0]")], 1, name)
        self.assertEqual(at[ARRAY[1]] - at[ARRAY[0]], 2)

    def test_one_without_a_name_belongs_to_the_register_behind_it(self):
        cell, _, _, product = multiplier(8, 8)
        other, *_ = multiplier(8, 8, first=300)
        adder = {"type": "CCU2C", "attributes": {}, "connections": {"A0": [product[3]], "S0": [900]},
                 "port_directions": {"A0": "input", "S0": "output"}}
        register = {"type": "TRELLIS_FF", "attributes": {}, "connections": {"DI": [900], "Q": [901]},
                    "port_directions": {"DI": "input", "Q": "output"}}
        cells = {"kaiten_top._00149__MULT18X18D_P9": cell, "kaiten_top._7_": adder, "other": other,
                 "kaiten_top.u_vector.u_operand.q_q_TRELLIS_FF_Q": register}
        self.assertEqual(multipliers.place(cells), 1)
        blocks = next(blocks for pattern, blocks in multipliers.PLAN if "operand" in pattern)
        self.assertEqual(cell["attributes"]["BEL"], multipliers.sites(blocks)[0])
        self.assertNotIn("BEL", other["attributes"])

    def test_more_multipliers_than_places_are_refused(self):
        cells = {f"u_conv.u_array.gen_tap[{i}].product": multiplier(8, 8)[0] for i in range(37)}
        with self.assertRaisesRegex(ValueError, "37, places 36"):
            multipliers.place(cells)

    def test_a_netlist_is_read_and_written(self):
        with tempfile.TemporaryDirectory() as folder:
            given, made = os.path.join(folder, "in.json"), os.path.join(folder, "out.json")
            cells = {name: multiplier(8, 8)[0] for name in ARRAY}
            with open(given, "w", encoding="utf-8") as f:
                json.dump({"modules": {"black_box": {"cells": {}}, "top": {"cells": cells}}}, f)
            self.assertEqual(multipliers.prepare(given, made), (36, 36 * 20))
            with open(made, encoding="utf-8") as f:
                top = json.load(f)["modules"]["top"]
            self.assertIn("BEL", top["cells"][ARRAY[0]]["attributes"])
            self.assertEqual(top["settings"], multipliers.ROUTER)


if __name__ == "__main__":
    unittest.main()
