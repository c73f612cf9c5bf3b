# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""What MkDocs does besides for the site (mkdocs.yml; `make docs`), so that docs/ reads alike in the repository and on the site:

- README.md is the start page, docs/README.md the list of documents;
- files outside docs/ that pages link to are pages under repository/: documents as they are, sources as listings;
- what `make wasm` made, if it did, is in try/, and the start page leads there;
- reference/commands.md is what the built tool says of its options (KAITEN_BUILD, default build), reference/python.md what
  the package's docstrings say (python_reference.py), reference/cpp.md leads to what Doxygen makes of the public headers."""
import json
import os
import posixpath
import re
import shutil
import subprocess
import sys

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, InclusionLevel

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import python_reference
import tools

KAITEN = os.path.join(os.environ.get("KAITEN_BUILD") or os.path.join(tools.ROOT, "build"), "kaiten")
# What `make wasm` made.
BROWSER = os.environ.get("KAITEN_BROWSER_PAGE") or os.path.join(tools.ROOT, "build-wasm", "site")
LINK = re.compile(r"(?<=\]\()([^)\s]+)(?=\))")
LANGUAGES = {".cpp": "cpp", ".h": "cpp", ".c": "c", ".py": "python", ".sv": "systemverilog", ".json": "json", ".sh": "sh"}

_sources = {}  # of a generated page: the file it stands for, from the root of the repository
_pages = {}  # the other way round


def page_of(path):
    """The page of a file of the repository, both from their roots."""
    if path in _pages:
        return _pages[path]
    return path.removeprefix("docs/") if path.startswith("docs/") else None


def without_code(text):
    """The text with its blocks of code blanked, as long as before."""
    return re.sub(r"^```.*?^```|`[^`\n]*`", lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.M | re.S)


def targets(text, source):
    """(start, end, path from the root, #anchor) of each link of a document to a file of the repository."""
    for match in LINK.finditer(without_code(text)):
        path, hash_mark, anchor = match[1].partition("#")
        if path and not re.match(r"[a-z]+:", path):
            yield *match.span(), posixpath.normpath(posixpath.join(posixpath.dirname(source), path)), hash_mark + anchor


def bare_bars(text):
    """GitHub wants bars in code escaped within tables, Python-Markdown does not."""
    return re.sub(r"^\|.*", lambda row: re.sub(r"`[^`]*`", lambda code: code[0].replace("\\|", "|"), row[0]), text, flags=re.M)


def read(path):
    with open(os.path.join(tools.ROOT, path), encoding="utf-8") as f:
        return f.read()


def content_of(path):
    if path.endswith(".md"):
        return read(path)
    fence = "```"
    return f"---\nsearch: {{exclude: true}}\n---\n\n# {path}\n\n{fence}{LANGUAGES.get(os.path.splitext(path)[1], 'text')}\n{read(path)}{fence}\n"


def add(files, config, uri, content, source=None, inclusion=InclusionLevel.INCLUDED):
    files.append(File.generated(config, uri, content=content, inclusion=inclusion))
    if source:
        _sources[uri], _pages[source] = source, uri


def table_of_options(options):
    lines = ["| option | value | what it does |", "|---|---|---|"]
    for option in options:
        letter = f", `-{option['letter']}`" if option["letter"] else ""
        value = f"`{option['value']}`" if option["value"] else ""
        text = option["text"].replace("|", "\\|")
        lines.append(f"| `--{option['name']}`{letter} | {value} | {text} |")
    return "\n".join(lines)


def commands_page():
    """What `kaiten --help=json` and the same of each command say."""
    if not os.path.exists(KAITEN):
        tools.must_have("the built tool, for the reference of its commands (run `make verilate`)")
        return "# Commands\n\nThis site was built without the tool (`make verilate`); `kaiten COMMAND --help` tells the same.\n"

    def told(*arguments):
        return json.loads(subprocess.run([KAITEN, *arguments, "--help=json"], capture_output=True, text=True, check=True).stdout)

    parts = ["# Commands", "From `kaiten COMMAND --help` of this version. Exit codes: 0 done (and exact), 1 the result differs, 2 bad input, "
             "3 an error of the hardware or a limit of the tool, 128 + N ended by signal N."]
    for command in told():
        more = told(command["name"])
        synopsis, _, description = more["usage"].partition("\n")
        parts += [f"## {command['name']}", f"```text\n{synopsis.removeprefix('usage: ')}\n```", description.strip() or command["text"]]
        if more["options"]:
            parts.append(table_of_options(more["options"]))
    return "\n\n".join(parts) + "\n"


def python_page():
    try:
        return bare_bars(python_reference.page())
    except python_reference.Untold as e:
        raise PluginError(str(e)) from e


def cpp_page():
    return ("# C++\n\n[Which header for what](../software/library.md) lists the public headers. "
            + ('<a href="../cpp/index.html">What Doxygen makes of them</a> has every class and function.\n' if tools.find("doxygen")
               else "This site was built without Doxygen, which would list every class and function.\n"))


def on_config(config):
    decisions = next(section["Decisions"] for section in config.nav if "Decisions" in section)
    known = sorted(name for name in os.listdir(os.path.join(tools.ROOT, "docs", "adr")) if re.match(r"\d", name))
    decisions += [f"adr/{name}" for name in known if f"adr/{name}" not in decisions]
    return config


def on_files(files, config):
    _sources.clear()
    _pages.clear()
    for file in [f for f in files if f.src_uri == "README.md"]:
        files.remove(file)
    add(files, config, "index.md", read("README.md"), "README.md")
    add(files, config, "documents.md", read("docs/README.md"), "docs/README.md")
    add(files, config, "reference/commands.md", commands_page())
    add(files, config, "reference/python.md", python_page())
    add(files, config, "reference/cpp.md", cpp_page())
    waiting = [_sources.get(f.src_uri, "docs/" + f.src_uri) for f in files if f.src_uri.endswith(".md") and not f.src_uri.startswith("reference/")]
    while waiting:
        source = waiting.pop()
        for *_, path, _ in targets(read(source), source):
            if path.startswith("docs/") or path in _pages or not os.path.isfile(os.path.join(tools.ROOT, path)):
                continue
            uri = "repository/" + (path if path.endswith(".md") else path + ".md")
            add(files, config, uri, content_of(path), path, InclusionLevel.NOT_IN_NAV)
            if path.endswith(".md"):
                waiting.append(path)
    return files


def try_it(markdown):
    """The start page leads to the simulator in the browser, where `make wasm` has made it."""
    if not os.path.exists(os.path.join(BROWSER, "index.html")):
        return markdown
    heading, _, rest = markdown.partition("\n## Try it\n")
    return f'{heading}\n## Try it\n\n<a href="try/index.html">In this browser</a>, at once: the RTL as WebAssembly. Or:\n{rest}'


def on_page_markdown(markdown, page, config, files):
    source = _sources.get(page.file.src_uri, "docs/" + page.file.src_uri)
    if not source.endswith(".md") or page.file.src_uri.startswith("reference/"):
        return markdown
    out, done = [], 0
    for start, end, path, anchor in targets(markdown, source):
        target = page_of(path)
        if target is None:
            raise PluginError(f"{source}: links to {path}, which is no file")
        out += [markdown[done:start], posixpath.relpath(target, posixpath.dirname(page.file.src_uri) or "."), anchor]
        done = end
    whole = bare_bars("".join(out) + markdown[done:])
    return try_it(whole) if source == "README.md" else whole


def on_post_build(config):
    if os.path.exists(os.path.join(BROWSER, "index.html")):
        shutil.copytree(BROWSER, os.path.join(config.site_dir, "try"), dirs_exist_ok=True)
    doxygen = tools.find("doxygen")
    if not doxygen:
        tools.must_have("doxygen, for the C++ reference")
        return
    with open(os.path.join(tools.ROOT, "sw", "public_headers.txt"), encoding="utf-8") as f:
        headers = " ".join("sw/" + line.strip() for line in f if line.strip() and not line.startswith("#"))
    settings = (f"@INCLUDE = docs/Doxyfile\nINPUT = {headers}\nGENERATE_HTML = YES\nHTML_OUTPUT = {config.site_dir}/cpp\n"
                "WARNINGS = NO\nSEARCHENGINE = NO\nHTML_TIMESTAMP = NO\n")
    done = subprocess.run([doxygen, "-"], input=settings, cwd=tools.ROOT, capture_output=True, text=True)
    if done.returncode:
        raise PluginError(f"doxygen: {done.stderr.strip().splitlines()[-1]}")
