# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""The reference of the Python package holds every public name, and refuses what is not told."""
import ast
import os
import re
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "scripts"))
import python_reference


def section(source):
    return "\n\n".join(python_reference.module_section("m", "Text.", source))


class PythonReference(unittest.TestCase):
    def test_every_exported_name_has_a_section(self):
        with open(os.path.join(ROOT, "python", "kaiten", "__init__.py"), encoding="utf-8") as f:
            exported = next(ast.literal_eval(n.value) for n in ast.parse(f.read()).body
                            if isinstance(n, ast.Assign) and n.targets[0].id == "__all__")
        page = python_reference.page()
        self.assertGreater(len(exported), 8)
        for name in exported:
            self.assertRegex(page, rf"(?m)^### {name}(\(\))?$")
        for name in ("Model.run", "Model.compile", "Session.run", "InferenceSession.run", "Interpreter.set_tensor"):
            self.assertRegex(page, rf"(?m)^#### {re.escape(name)}\(\)$")
        self.assertRegex(page, r"\| `bytes_per_cycle` \|")
        self.assertRegex(page, r"\| `exact` \| `bool \\\| None` \|")

    def test_a_function_and_its_arguments(self):
        said = section('def f(a: int, *, b=2) -> str:\n    """Does it.\n\n    a: one | two\n    b: three\n    """\n')
        self.assertEqual(said, "## m\n\nText.\n\n### f()\n\n```python\nf(a: int, *, b=2) -> str\n```\n\nDoes it.\n\n"
                         "| argument | what |\n|---|---|\n| `a` | one \\| two |\n| `b` | three |")

    def test_private_names_are_left_out(self):
        self.assertEqual(section("def _f(): ...\nclass _C: ...\n"), "## m\n\nText.")

    def test_what_is_not_told_is_refused(self):
        for source, said in (("def f(): ...\n", "m.f has no docstring"),
                             ("class C: ...\n", "m.C has no docstring"),
                             ('def f(a):\n    """Text."""\n', "m.f does not tell of its argument a"),
                             ('def f():\n    """Text.\n\n    a: one"""\n', "m.f tells of a, which it does not take"),
                             ('class C:\n    """Text."""\n    def f(self): ...\n', "m.C.f has no docstring"),
                             ('class C:\n    """Text."""\n    @property\n    def p(self) -> int: ...\n', "m.C.p has no docstring"),
                             ('class C:\n    """Text."""\n    def __init__(self, a): ...\n', "m.C does not tell of its argument a")):
            with self.assertRaisesRegex(python_reference.Untold, f"^{re.escape(said)}$"):
                section(source)


if __name__ == "__main__":
    unittest.main()
