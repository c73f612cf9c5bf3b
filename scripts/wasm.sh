#!/usr/bin/env bash
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0

# The simulator of nano as WebAssembly with its page, in build-wasm/site: any file server shows it.
# usage: scripts/wasm.sh [JOBS]   (after `make configure`; needs Debian's emscripten)
set -euo pipefail
cd "$(dirname "$0")/.."
jobs=${1:-$(nproc)}
command -v emcmake >/dev/null || { echo 'wasm: Emscripten is missing: apt-get install --no-install-recommends emscripten' >&2; exit 2; }
cmake --build build -j "$jobs" --target kaiten_tflite_header "$PWD/build/sw.d/sim/model_kaiten_nano.vl/Vkaiten_nano__all.cc" >/dev/null
verilated=$(sed -n 's/^KAITEN_VERILATED_INCLUDE:INTERNAL=//p' build/CMakeCache.txt)
[[ -f build-wasm/build.ninja ]] ||
  emcmake cmake -G Ninja -S web -B build-wasm -DCMAKE_BUILD_TYPE=Release -DKAITEN_VERILATED="$verilated" >/dev/null
cmake --build build-wasm -j "$jobs"
site=build-wasm/site
mkdir -p "$site"
python3 - "$site/index.html" <<'PYTHON'
import sys
page = open("sw/report/page.html", encoding="utf-8").read()
body = open("web/body.html", encoding="utf-8").read()
for name, text in (("title", "Kaiten in the browser"), ("body", body), ("footer", "Kaiten, an open INT8 CNN accelerator")):
    page = page.replace("{{" + name + "}}", text)
page = page.replace("</head>", '<link rel="icon" href="data:,">\n</head>')  # else browsers ask for one
open(sys.argv[1], "w", encoding="utf-8").write(page)
PYTHON
cp web/page.js web/worker.js models/demo/demo.tflite models/demo/digits.u8 build-wasm/kaiten.js build-wasm/kaiten.wasm "$site"
echo "wasm: $site, $(stat -c %s "$site/kaiten.wasm") bytes of WebAssembly; python3 -m http.server -d $site shows it"
