# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""docs/verification/data_path.md against formal/ and rtl/: every proof stands on the page, every claim it names exists, and every
module has a proof or a reason there."""
import os
import re
import sys
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
sys.path.insert(0, os.path.join(ROOT, "scripts"))
from gen_verification import found, modules, proofs, read, stem

PAGE = "docs/verification/data_path.md"


def claims_of(text):
    """(proof, claim) wherever the text has `proof`: a_claim, m_claim."""
    return [(name, claim) for name, claims in re.findall(r"`(\w+)`: ([am]_\w+(?:, [am]_\w+)*)", text) for claim in claims.split(", ")]


def properties(harness):
    return set(re.findall(r"`FV_(?:ASSERT|ASSUME|HOLDS)\((\w+)", harness))


def without_reason(text, names, proven):
    """Modules that no proof reads and that the last section does not name."""
    reasons = text.split("## Tested only")[-1]
    own, other = proven
    return sorted(m for m in names if m not in own and m not in other and f"`{m}`" not in reasons)


class Proofs(unittest.TestCase):
    def test_every_proof_stands_on_the_page(self):
        page = read(PAGE)
        jobs = {stem(path) for path in found("formal/*.sby")}
        self.assertGreater(len(jobs), 40)
        self.assertEqual(sorted(j for j in jobs if f"`{j}`" not in page), [])

    def test_claims_exist(self):
        claims = claims_of(read(PAGE))
        self.assertGreater(len(claims), 20)
        harnesses = {name: properties(read(f"formal/fv_{name}.sv")) for name, _ in claims}
        self.assertEqual([f"{name}: {claim}" for name, claim in claims if claim not in harnesses[name]], [])

    def test_every_module_has_a_proof_or_a_reason(self):
        self.assertEqual(without_reason(read(PAGE), modules(), proofs()), [])

    def test_what_lacks_both_is_found(self):
        page = "| `kt_b` | proof |\n## Tested only\n| `kt_c` | wires |\n"
        self.assertEqual(without_reason(page, ["kt_a", "kt_b", "kt_c"], ({"kt_b": {"kt_b"}}, {})), ["kt_a"])
        self.assertEqual(claims_of("`kt_x`: a_one, m_two; `kt_y`: b"), [("kt_x", "a_one"), ("kt_x", "m_two")])


if __name__ == "__main__":
    unittest.main()
