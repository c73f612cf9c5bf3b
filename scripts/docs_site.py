#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""The documentation site: MkDocs over docs/, README.md and what pages link to (mkdocs.yml, scripts/site_hooks.py). A link that leads
nowhere is an error.

usage: docs_site.py [--output DIR]    default: build/site"""
import argparse
import os
import sys

import tools


def build(output):
    """(exit code, what MkDocs said), or None without MkDocs."""
    if not tools.import_or_skip("mkdocs") or not tools.import_or_skip("material"):
        return None
    env = {**tools.environment(), "NO_MKDOCS_2_WARNING": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    return tools.run([os.path.join(tools.VENV, "bin", "python3"), "-m", "mkdocs", "build", "-q", "-f", os.path.join(tools.ROOT, "mkdocs.yml"),
                      "-d", os.path.abspath(output)], cwd=tools.ROOT, env=env)


def main():
    parser = argparse.ArgumentParser(description="The documentation site.")
    parser.add_argument("--output", default=os.path.join(tools.ROOT, "build", "site"))
    args = parser.parse_args()
    done = build(args.output)
    if done is None:
        sys.exit("missing: mkdocs-material for Python (run `make setup ALL=1`)")
    code, said = done
    print(said, end="")
    if code == 0:
        print(f"{os.path.relpath(os.path.join(args.output, 'index.html'))}: open it in a browser")
    return 1 if code else 0


if __name__ == "__main__":
    sys.exit(main())
