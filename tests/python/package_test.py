# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Installs the build, makes a wheel around its libraries without build isolation, and runs python/tests and the doctests (or,
with --notebook, the notebook) against what the wheel holds. python/kaiten/_kaiten.pyi must be what the module tells of itself;
--stub writes it.

KAITEN_BUILD names the build folder (default: build), CMAKE the program, CXX the compiler, KAITEN_CCACHE a launcher or none."""
import glob
import os
import subprocess
import sys
import tempfile
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "scripts"))
import tools
BUILD = os.environ.get("KAITEN_BUILD") or os.path.join(ROOT, "build")
CMAKE = os.environ.get("CMAKE") or "cmake"
STUB = os.path.join(ROOT, "python", "kaiten", "_kaiten.pyi")
PYTHON = os.path.join(tools.VENV, "bin", "python3")
SKIPPED = 77


def run(*command, **environment):
    done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, env={**os.environ, **environment})
    if done.returncode:
        sys.exit(done.returncode)


def lacks(*modules):
    """The first module that the environment's Python cannot import, or None."""
    for module in modules:
        if subprocess.run([PYTHON, "-c", f"import {module}"], capture_output=True).returncode:
            tools.must_have(f"{module} for Python (run `make setup ALL=1`; looked in {tools.VENV})")
            return module
    return None


def make_wheel(folder):
    """A folder to import the package from."""
    prefix, wheels, site = (os.path.join(folder, name) for name in ("prefix", "wheels", "site"))
    run(CMAKE, "--install", BUILD, "--prefix", prefix)
    settings = {"cmake.source-dir": "python", "build-dir": os.path.join(folder, "build"),
                "cmake.define.CMAKE_PREFIX_PATH": prefix,
                "cmake.define.CMAKE_CXX_COMPILER_LAUNCHER": os.environ.get("KAITEN_CCACHE", "").replace("KAITEN_CCACHE-NOTFOUND", "")}
    run(PYTHON, "-m", "pip", "wheel", "-q", "--no-build-isolation", "--no-deps", "--no-index", "--disable-pip-version-check",
        "-w", wheels, *(f"-C{key}={value}" for key, value in settings.items()), ROOT)
    with zipfile.ZipFile(*glob.glob(os.path.join(wheels, "kaiten-*.whl"))) as wheel:
        wheel.extractall(site)
    return site


def module_stub(site, folder):
    """What nanobind makes of the module's signatures and docstrings."""
    path = os.path.join(folder, "_kaiten.pyi")
    run(PYTHON, "-B", "-m", "nanobind.stubgen", "-q", "-m", "kaiten._kaiten", "-o", path, PYTHONPATH=site)
    with open(path, encoding="utf-8") as f:
        return "\n".join(tools.spdx("#")) + "\n" + f.read()


def check_stub(site, folder):
    made = module_stub(site, folder)
    with open(STUB, encoding="utf-8") as f:
        if f.read() != made:
            sys.exit("python/kaiten/_kaiten.pyi is not what the module tells: run tests/python/package_test.py --stub")


def main():
    notebook = "--notebook" in sys.argv[1:]
    needed = ["scikit_build_core", "nanobind", "numpy", "pip"]
    needed += ["nbclient", "ipykernel", "matplotlib"] if notebook else ["pytest"]
    if missing := lacks(*needed):
        print(f"skipped: Python without {missing} (`make setup ALL=1`)")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        site = make_wheel(folder)
        if "--stub" in sys.argv[1:]:
            tools.write(STUB, module_stub(site, folder))
            return 0
        check_stub(site, folder)
        if notebook:
            run(PYTHON, "-B", os.path.join(ROOT, "python", "tests", "run_notebook.py"), PYTHONPATH=site)
        else:
            run(PYTHON, "-B", "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "--doctest-modules", "--rootdir", ROOT,
                "-o", "doctest_optionflags=ELLIPSIS IGNORE_EXCEPTION_DETAIL", "-c", os.devnull,
                "-p", "conftest", os.path.join(ROOT, "python", "tests"), os.path.join(site, "kaiten"),
                PYTHONPATH=site + os.pathsep + os.path.join(ROOT, "python", "tests"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
