#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Makes a build's fast simulators faster by a profile of themselves (profile-guided optimisation).

usage: pgo.py [--build DIR] [--configs C,...] [-j N]
  --build    build folder whose simulators become faster (default: build)
  --configs  configurations to record (default: all that the folder builds); the others stay as they are
  -j         jobs of the compiler (default: cores)
Builds the simulators with counters in DIR/pgo, runs networks on each, and configures DIR to use what was counted. Takes about as
long as building them twice. Results are the same; where the RTL has changed since, the compiler leaves its profile aside. Back:
cmake -B DIR -DKAITEN_PGO=. Needs clang and its llvm-profdata (make setup ALL=1)."""
import argparse
import glob
import os
import re
import shutil
import subprocess
import sys

import tools

NETWORKS = ("demo", "mobilenet_v1")
# What the folder with counters takes over from the build folder.
KEPT = ("CMAKE_CXX_COMPILER", "KAITEN_VENV", "KAITEN_VERILATOR", "KAITEN_MARCH")


def cache_of(build):
    try:
        with open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8") as f:
            return dict(re.findall(r"^(\w+):\w+=(.*)$", f.read(), re.M))
    except FileNotFoundError:
        sys.exit(f"pgo: {build} is no build folder (run `make verilate`)")


def compiler_of(build):
    for path in glob.glob(os.path.join(build, "CMakeFiles", "*", "CMakeCXXCompiler.cmake")):
        with open(path, encoding="utf-8") as f:
            text = f.read()
        return [re.search(rf'set\({name} "(.*?)"\)', text)[1] for name in ("CMAKE_CXX_COMPILER", "CMAKE_CXX_COMPILER_ID")]
    sys.exit(f"pgo: {build} was not configured (run `make verilate`)")


def profdata_of(compiler):
    """llvm-profdata of the compiler's own version."""
    named = subprocess.run([compiler, "-print-prog-name=llvm-profdata"], capture_output=True, text=True, check=True).stdout.strip()
    found = shutil.which(named)
    if not found:
        sys.exit(f"pgo: llvm-profdata of {compiler} is missing (run `make setup ALL=1`)")
    return found


def main():
    parser = argparse.ArgumentParser(description="Makes the fast simulators of a build faster by a profile of themselves.")
    parser.add_argument("--build", default="build", help="build folder (default: build)")
    parser.add_argument("--configs", help="configurations to record, C,... (default: all that the folder builds)")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count(), help="jobs of the compiler (default: cores)")
    args = parser.parse_args()
    build = os.path.abspath(args.build)
    cache = cache_of(build)
    compiler, name = compiler_of(build)
    if name != "Clang":
        sys.exit(f"pgo: {build} was built by {name}: profiles of clang alone are known")
    profdata = profdata_of(compiler)
    built = cache["KAITEN_SIM_CONFIGS"].split(";")
    configs = args.configs.split(",") if args.configs else built
    for config in configs:
        if config not in built:
            sys.exit(f"pgo: no simulator of '{config}' in {args.build}; there are: {', '.join(built)}")
    folder = os.path.join(build, "pgo")
    raw = os.path.join(folder, "raw")
    shutil.rmtree(raw, ignore_errors=True)
    print(f"pgo: building {', '.join(configs)} with counters in {os.path.relpath(folder)}", flush=True)
    tools.must("pgo", "cmake", "-S", tools.ROOT, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DKAITEN_PGO=record",
               "-DKAITEN_SIM_DEBUG=", "-DKAITEN_SIM_CONFIGS=" + ";".join(configs), *(f"-D{key}={cache[key]}" for key in KEPT if cache.get(key)))
    tools.must("pgo", "cmake", "--build", folder, "-j", str(args.jobs), "--target", "kaiten", "kaiten-generate")
    for network in NETWORKS:
        source = network
        if network != "demo":
            source = os.path.join(folder, network + ".tflite")
            tools.must("pgo", os.path.join(folder, "kaiten-generate"), network, "--output", source)
        for config in configs:
            print(f"pgo: {network} on {config}", flush=True)
            tools.must("pgo", os.path.join(folder, "kaiten"), "run", source, "--config", config, "--no-check",
                       env={**tools.environment(), "LLVM_PROFILE_FILE": os.path.join(raw, f"{network}_{config}.profraw")})
    profile = os.path.join(build, "fast.profdata")
    tools.must("pgo", profdata, "merge", "-o", profile, *glob.glob(os.path.join(raw, "*.profraw")))
    print(f"pgo: building {args.build} with {os.path.relpath(profile)}", flush=True)
    tools.must("pgo", "cmake", "-B", build, f"-DKAITEN_PGO={profile}")
    tools.must("pgo", "cmake", "--build", build, "-j", str(args.jobs), "--target", "kaiten", "tb")
    print(f"pgo: {os.path.relpath(os.path.join(build, 'kaiten'))} simulates by what was counted")
    return 0


if __name__ == "__main__":
    sys.exit(tools.guarded(main))
