#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Man pages and completion for bash, zsh and fish, from the options that the built tool itself tells (--help=json).

usage: shell_pages.py KAITEN FOLDER: man1/kaiten*.1, bash/kaiten, zsh/_kaiten, fish/kaiten.fish below the folder"""
import json
import os
import subprocess
import sys


def told(kaiten, *arguments):
    return json.loads(subprocess.run([kaiten, *arguments, "--help=json"], capture_output=True, text=True, check=True).stdout)


def commands_of(kaiten):
    """Every command with what it takes: name, arguments, text, usage, options."""
    return [{**command, **told(kaiten, command["name"])} for command in told(kaiten)]


def choices(value):
    """The words of "auto|on|off", possibly with a default behind it; nothing where any word may stand."""
    word = value.split(" ")[0]
    return word.split("|") if "|" in word and word.lower() == word and "[" not in word else []


def takes_file(value):
    return value.split(" ")[0].startswith(("FILE", "DIRECTORY", "FOLDER"))


def roff(text):
    """Text for a man page: nothing in it is a request or an escape."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join("\\&" + line if line.startswith((".", "'")) else line for line in text.splitlines())


def man_page(name, brief, usage, options, version):
    lines = [f'.TH "{name.upper()}" 1 "" "{roff(version)}" "Kaiten"', ".SH NAME", f"{roff(name)} \\- {roff(brief)}", ".SH SYNOPSIS"]
    synopsis, _, description = usage.partition("\n")
    lines += [".nf", roff(synopsis.removeprefix("usage: ")), ".fi", ".SH DESCRIPTION", roff(description.strip() or brief)]
    if options:
        lines.append(".SH OPTIONS")
    for option in options:
        letter = f"\\-{option['letter']}, " if option["letter"] else ""
        value = f" \\fI{roff(option['value'])}\\fR" if option["value"] else ""
        lines += [".TP", f"\\fB{letter}{roff('--' + option['name'])}\\fR{value}", roff(option["text"])]
    lines += [".SH EXIT STATUS", "0 done (and exact), 1 the result differs from the reference, 2 bad input, 3 the hardware reported an error",
              "or a limit inside the tool was hit, 130 interrupted."]
    return "\n".join(lines) + "\n"


def main_page(commands, version):
    page = man_page("kaiten", "INT8 CNN accelerator: its compiler, its simulator and what they tell",
                    "usage: kaiten COMMAND [OPTIONS]\nkaiten COMMAND --help lists the options of a command.", [], version)
    listed = [".SH COMMANDS"]
    for command in commands:
        listed += [".TP", f"\\fB{roff(command['name'])}\\fR {roff(command['arguments'])}", roff(command["text"])]
    also = ", ".join(f"\\fBkaiten\\-{command['name']}\\fR(1)" for command in commands)
    return page.replace(".SH EXIT STATUS", "\n".join(listed) + "\n.SH EXIT STATUS") + f".SH SEE ALSO\n{also}\n"


def bash(commands):
    names = " ".join(command["name"] for command in commands)
    words, values = [], []
    for command in commands:
        options = " ".join("--" + option["name"] for option in command["options"])
        words.append(f'    {command["name"]}) options="{options}" ;;')
        for option in command["options"]:
            if choices(option["value"]):
                values.append(f'    {command["name"]}:--{option["name"]}) words="{" ".join(choices(option["value"]))}" ;;')
    return f"""# Completion of kaiten for bash, made by scripts/shell_pages.py.
_kaiten() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} command=${{COMP_WORDS[1]}} options="" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W "{names} --help --version" -- "$current")
    return
  fi
  case "$command:$before" in
{chr(10).join(values)}
  esac
  case "$command" in
{chr(10).join(words)}
  esac
  if [ -n "$words" ]; then
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  elif [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  fi
}}
complete -o filenames -F _kaiten kaiten
"""


def zsh(commands):
    def quoted(text):
        for letter in "\\[]:":
            text = text.replace(letter, "\\" + letter)
        return text.replace("'", "'\\''")
    lines = ["#compdef kaiten", "# Made by scripts/shell_pages.py.", "_kaiten() {", "  if (( CURRENT == 2 )); then", "    local -a commands", "    commands=("]
    lines += [f"      '{quoted(command['name'])}:{quoted(command['text'])}'" for command in commands]
    lines += ["    )", "    _describe command commands", "    return", "  fi", "  case ${words[2]} in"]
    for command in commands:
        lines.append(f"    {command['name']}) _arguments \\")
        for option in command["options"]:
            value = option["value"]
            action = f":value:({' '.join(choices(value))})" if choices(value) else ":file:_files" if takes_file(value) else ":value:" if value else ""
            lines.append(f"      '--{option['name']}[{quoted(option['text'])}]{action}' \\")
        lines.append("      '*:file:_files' ;;")
    return "\n".join(lines + ["  esac", "}", '_kaiten "$@"']) + "\n"


def fish(commands):
    def quoted(text):
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
    lines = ["# Completion of kaiten for fish, made by scripts/shell_pages.py."]
    for command in commands:
        lines.append(f"complete -c kaiten -n __fish_use_subcommand -a {command['name']} -d {quoted(command['text'])}")
        for option in command["options"]:
            value = f" -x -a {quoted(' '.join(choices(option['value'])))}" if choices(option["value"]) else " -r" if option["value"] else ""
            lines.append(f"complete -c kaiten -n '__fish_seen_subcommand_from {command['name']}' -l {option['name']}{value} -d {quoted(option['text'])}")
    return "\n".join(lines) + "\n"


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def main(kaiten, folder):
    commands = commands_of(kaiten)
    version = "kaiten " + json.loads(subprocess.run([kaiten, "--version", "--json"], capture_output=True, text=True, check=True).stdout)["version"]
    write(os.path.join(folder, "man1", "kaiten.1"), main_page(commands, version))
    for command in commands:
        name = "kaiten-" + command["name"]
        write(os.path.join(folder, "man1", name + ".1"), man_page(name, command["text"], command["usage"], command["options"], version))
    write(os.path.join(folder, "bash", "kaiten"), bash(commands))
    write(os.path.join(folder, "zsh", "_kaiten"), zsh(commands))
    write(os.path.join(folder, "fish", "kaiten.fish"), fish(commands))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
