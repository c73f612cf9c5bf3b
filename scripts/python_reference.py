# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""The reference of the Python package, from python/kaiten without importing it: every public class, property, method, argument and
exception. A docstring says what its object is for, then has a line `name: text` an argument (of a class: of its constructor).
What is not told is an Untold error. Standard library only."""
import ast
import os
import re

import tools

# The page's sections: module, file, text.
MODULES = (("kaiten", "_kaiten.pyi", "Models and their runs."),
           ("kaiten.onnxruntime", "onnxruntime.py", "In place of the package onnxruntime."),
           ("kaiten.litert", "litert.py", "In place of LiteRT."))


class Untold(Exception):
    """Something public without words."""


def is_public(name):
    return not name.startswith("_")


def is_property(function):
    return any(isinstance(d, ast.Name) and d.id == "property" for d in function.decorator_list)


def arguments_of(function):
    """Names, without self and those that take whatever is left over."""
    a = function.args
    names = [x.arg for x in (*a.posonlyargs, *a.args, *a.kwonlyargs)]
    return [name for name in names if name not in ("self", "cls")]


def told(node, path):
    """(text, {argument: text}) of a docstring."""
    text = ast.get_docstring(node)
    if not text:
        raise Untold(f"{path} has no docstring")
    prose, arguments = [], {}
    for line in text.splitlines():
        match = re.match(r"(\w+): (.+)", line)
        if match:
            arguments[match[1]] = match[2]
        else:
            prose.append(line)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(prose)).strip(), arguments


def table(head, rows):
    escaped = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    return tools.markdown(head, escaped).rstrip("\n")


def argument_table(path, wanted, arguments, takes_more):
    missing = [name for name in wanted if name not in arguments]
    if missing:
        raise Untold(f"{path} does not tell of its argument {missing[0]}")
    unknown = [name for name in arguments if name not in wanted]
    if unknown and not takes_more:
        raise Untold(f"{path} tells of {unknown[0]}, which it does not take")
    rows = [[f"`{name}`" if name != "_" else "others", text] for name, text in arguments.items()]
    return [table(["argument", "what"], rows)] if rows else []


def signature(name, function):
    shown = ast.parse(ast.unparse(function)).body[0]
    for group in (shown.args.posonlyargs, shown.args.args):
        group[:] = [a for a in group if a.arg not in ("self", "cls")]
    result = f" -> {ast.unparse(shown.returns)}" if shown.returns else ""
    return f"```python\n{name}({ast.unparse(shown.args)}){result}\n```"


def function_section(level, name, function, path):
    text, arguments = told(function, path)
    more = function.args.kwarg is not None
    return [f"{'#' * level} {name}()", signature(name, function), text, *argument_table(path, arguments_of(function), arguments, more)]


def class_section(node, path):
    text, arguments = told(node, path)
    functions = [f for f in node.body if isinstance(f, ast.FunctionDef)]
    fields = [f for f in node.body if isinstance(f, ast.AnnAssign)]
    constructor = next((f for f in functions if f.name == "__init__"), None)
    parts = [f"### {node.name}"]
    if constructor:
        parts.append(signature(node.name, constructor).replace(" -> None", ""))
    base = ", ".join(f"`{ast.unparse(b)}`" for b in node.bases)
    parts.append((f"A {base}. " if base else "") + text)
    if constructor:
        parts += argument_table(path, arguments_of(constructor), arguments, constructor.args.kwarg is not None)
    elif fields or arguments:
        parts += argument_table(path, [f.target.id for f in fields], arguments, False)
    properties = [f for f in functions if is_property(f) and is_public(f.name)]
    if properties:
        rows = [[f"`{f.name}`", f"`{ast.unparse(f.returns)}`", told(f, f"{path}.{f.name}")[0]] for f in properties]
        parts.append(table(["property", "type", "what"], rows))
    for f in functions:
        if is_public(f.name) and not is_property(f):
            parts += function_section(4, f"{node.name}.{f.name}", f, f"{path}.{f.name}")
    return parts


def module_section(module, text, source):
    parts = [f"## {module}", text]
    for node in ast.parse(source).body:
        if isinstance(node, ast.ClassDef) and is_public(node.name):
            parts += class_section(node, f"{module}.{node.name}")
        elif isinstance(node, ast.FunctionDef) and is_public(node.name):
            parts += function_section(3, node.name, node, f"{module}.{node.name}")
    return parts


def page():
    parts = ["# Python", "Every public name of the package. [How it is used](../software/python.md) comes first."]
    for module, file, text in MODULES:
        with open(os.path.join(tools.ROOT, "python", "kaiten", file), encoding="utf-8") as f:
            parts += module_section(module, text, f.read())
    return "\n\n".join(parts) + "\n"
