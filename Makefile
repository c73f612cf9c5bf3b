# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0

# The front door. Every target does only what is still to be done; `make help` lists them.
# Settings: PRESET=default|gcc|portable|sanitize|thread|coverage, JOBS=n, KAITEN_VENV=, KAITEN_VERILATOR=, KAITEN_SHARED= (README).
SHELL := /bin/bash
.DEFAULT_GOAL := help
.NOTPARALLEL:

PRESET ?= default
JOBS   ?= $(shell nproc)
BUILD  := $(if $(filter default,$(PRESET)),build,build-$(PRESET))
export KAITEN_VENV KAITEN_VERILATOR KAITEN_SHARED

.PHONY: help setup setup-all configure build demo check check-long verilate pgo lint formal e2e mutate mutants synth route dropin soc board fuzz coverage bench docs screenshots wheel deb wasm generate clean distclean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' Makefile
	@echo '  settings: PRESET=default|gcc|portable|sanitize|thread|coverage  JOBS=n  KAITEN_VENV=dir  KAITEN_VERILATOR=program  KAITEN_SHARED=dir'

setup: ## install what building needs (ALL=1: and checking; CHECK=1: only list what is missing)
	@scripts/setup.sh $(if $(filter-out 0,$(ALL))$(filter sanitize,$(PRESET)),--all) $(if $(filter-out 0,$(CHECK)),--check)

setup-all:
	@scripts/setup.sh --all

# Again only when the choices or what is installed differ from last time's; Ninja itself notices changed CMake files.
configure: setup
	@choice="$(PRESET) $(KAITEN_VENV) $(KAITEN_VERILATOR) $$(ls "$${KAITEN_VENV:-.venv}"/.kaiten-{build,check} 2>/dev/null | xargs)"; \
	if [[ ! -f $(BUILD)/build.ninja || "$$(cat $(BUILD)/.choice 2>/dev/null)" != "$$choice" ]]; then \
	  mkdir -p $(BUILD) && \
	  { cmake --preset $(PRESET) -DKAITEN_VENV='$(KAITEN_VENV)' -DKAITEN_VERILATOR='$(KAITEN_VERILATOR)' >$(BUILD)/configure.log 2>&1 || \
	    { sed -n '/^CMake Error/,$$p' $(BUILD)/configure.log | head -n 12; echo 'configuring failed: $(BUILD)/configure.log'; exit 1; }; } && \
	  grep '^-- Verilator' $(BUILD)/configure.log && echo "$$choice" >$(BUILD)/.choice; \
	fi

build: configure ## build everything: simulator, tool, tests
	@cmake --build $(BUILD) -j $(JOBS) $(if $(TARGETS),--target $(TARGETS))

verilate: configure ## build the simulator (build/tb), the tool (build/kaiten) and the generator of example networks (build/kaiten-generate)
	@cmake --build $(BUILD) -j $(JOBS) --target verilate kaiten-generate

pgo: verilate setup-all ## faster simulators by a profile of themselves; builds them twice more (PGO_ARGS: see scripts/pgo.py)
	@python3 scripts/pgo.py --build $(BUILD) -j $(JOBS) $(PGO_ARGS)

demo: verilate ## compile, run and check the demo network on the RTL
	@$(BUILD)/tb

check: ## all tests, lint, proofs, generated files; last line: N passed, N failed
	@scripts/setup.sh --all || { echo '0 passed, 1 failed'; exit 1; }; \
	exec python3 scripts/check.py --preset $(PRESET) -j $(JOBS)

check-long: ## the same with the long tests and proofs
	@scripts/setup.sh --long || { echo '0 passed, 1 failed'; exit 1; }; \
	exec python3 scripts/check.py --preset $(PRESET) -j $(JOBS) --long

lint: setup-all ## Verilator -Wall, Verible, elaboration in yosys; clang-format, clang-tidy, shellcheck, doxygen, licences
	@$(MAKE) --no-print-directory build TARGETS=generated_headers
	@python3 scripts/lint.py
	@python3 scripts/lint_software.py --preset $(PRESET) -j $(JOBS)

formal: setup-all ## all proofs (scripts/formal.py runs single ones)
	@python3 scripts/formal.py

e2e: setup-all ## small programs on a small chip proven from reset to the last write (docs/verification/data_path.md)
	@$(MAKE) --no-print-directory build TARGETS=e2e
	@python3 scripts/e2e.py

mutate: setup-all ## a sample of the recorded mutants of every proof: killed ones must be killed again (docs/verification/proof_mutants.md)
	@python3 scripts/mutate.py --check -j $(JOBS)

mutants: setup-all ## a few mutants of every module: system tests must find them (docs/verification/system_mutants.md)
	@python3 scripts/mutants.py --check -j $(JOBS)

synth: setup-all ## FPGA resources of every block against fpga/budget.json (TARGET=xc7|xcup|cyclonev|ecp5: one family)
	@python3 scripts/synth.py $(if $(TARGET),--target $(TARGET))

route: setup-all ## place and route micro on a Lattice LFE5U-85F (ROUTE_ARGS: see scripts/route.py; half an hour a seed; installs nextpnr)
	@scripts/setup.sh --long
	@python3 scripts/route.py $(ROUTE_ARGS)

dropin: setup-all ## the design as one Verilog-2005 file (CONFIG=micro|nano|unit|small|base|large)
	@python3 scripts/dropin.py $(if $(CONFIG),--config $(CONFIG))

soc: verilate ## a simulated system on chip that runs networks with bare-metal firmware (SOC=bridge|wide|sdram|all; installs LiteX, a RISC-V gcc)
	@scripts/setup.sh --soc
	@python3 scripts/soc.py --build $(BUILD) -j $(JOBS) $(or $(SOC),bridge)

board: ## the FPGA project of a board with processor and memory (BOARD=arty-a7-100, ...; docs/hardware/boards.md; installs LiteX)
	@scripts/setup.sh --long
	@python3 scripts/boards.py $(or $(BOARD),--list)

fuzz: setup-all ## the fuzz targets (FUZZ_ARGS: see scripts/fuzz.py)
	@$(MAKE) --no-print-directory build PRESET=sanitize TARGETS=fuzz_targets
	@python3 scripts/fuzz.py $(FUZZ_ARGS)

coverage: ## lines, toggles and cases that the tests reach on nano, as a page (COVERAGE_ARGS: see scripts/coverage.py)
	@$(MAKE) --no-print-directory build PRESET=coverage TARGETS="$$(python3 scripts/coverage.py --list)"
	@python3 scripts/coverage.py $(COVERAGE_ARGS)

bench: verilate ## every measured table (PARTS="volume eval": some, `bench/all.py --list` says which; BENCH_ARGS: see bench/run.py)
	@cmake --build $(BUILD) -j $(JOBS) --target kaiten-generate kaiten-bench-fft kaiten-bench-second-stage
	@python3 bench/all.py --build $(BUILD) --run-args="$(BENCH_ARGS)" $(PARTS)

docs: verilate setup-all ## the documentation site in build/site, with the reference of what is built
	@python3 scripts/docs_site.py

screenshots: verilate setup-all ## pictures of all pages for docs/software/pages.md; at three widths, light and dark, in build/screenshots
	@python3 scripts/screenshots.py --build $(BUILD)

wheel: setup ## the Python package as a wheel in build/wheel (x86-64: for every computer with AVX2)
	@"$${KAITEN_VENV:-.venv}/bin/python3" -m pip wheel -q --no-deps --disable-pip-version-check -w $(BUILD)/wheel \
	  $(if $(filter x86_64,$(shell uname -m)),-C cmake.define.KAITEN_MARCH=x86-64-v3) .
	@ls $(BUILD)/wheel/*.whl

DEB_PRESET := $(if $(filter x86_64,$(shell uname -m)),portable,default)
deb: ## the tool as a Debian package, build/kaiten_VERSION_ARCH.deb (x86-64: for every computer with AVX2; installs file, dpkg-dev)
	@$(MAKE) --no-print-directory build PRESET=$(DEB_PRESET) TARGETS=kaiten
	@for p in file dpkg-shlibdeps; do command -v $$p >/dev/null || { echo 'deb: installing file and dpkg-dev'; $$([[ $$EUID == 0 ]] || echo sudo) apt-get -qq install -y --no-install-recommends file dpkg-dev >/dev/null; }; done
	@mkdir -p build && cpack --config build$(if $(filter portable,$(DEB_PRESET)),-portable)/CPackConfig.cmake -B build/deb >build/deb.log || { tail -n 12 build/deb.log; exit 1; }
	@mv build/deb/kaiten_*.deb build/ && rm -rf build/deb && ls build/kaiten_*.deb

wasm: configure ## the simulator of nano in a browser page, build-wasm/site (installs Debian's emscripten)
	@command -v emcmake >/dev/null || { echo 'wasm: installing emscripten'; $$([[ $$EUID == 0 ]] || echo sudo) apt-get -qq install -y --no-install-recommends emscripten >/dev/null; }
	@scripts/wasm.sh $(JOBS)

generate: setup-all ## write the generated files anew
	@for g in scripts/gen_*.py; do PATH="$${KAITEN_VENV:-$(CURDIR)/.venv}/bin:$$PATH" python3 $$g || exit 1; done

clean: ## remove what was built (the tools stay)
	@rm -rf build build-gcc build-portable build-sanitize build-thread build-coverage build-wasm build-soc build-soc-other

distclean: clean ## remove the local virtual environment too
	@rm -rf .venv .venv.lock
