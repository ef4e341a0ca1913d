# `make run` runs a scenario, `make test` proves each part of the program. Each installs what it needs first.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# What is imported is compiled then: all packages would take as long as installing them.
PIP := $(BIN)/pip install --quiet --disable-pip-version-check --require-hashes --no-compile
# Node.js and npm come with the Python packages.
NPM := PATH="$(abspath $(BIN)):$$PATH" npm
NPM_CI := $(NPM) ci --loglevel=error --no-audit --no-fund
# Programs that have jobs of their own don't share those of make.
ALONE := env -u MAKEFLAGS -u MFLAGS
SCENARIO ?= bbr-vs-cubic
# Hundreds of commands run in tests: each would compile the program anew.
unexport PYTHONDONTWRITEBYTECODE

RUST_SOURCES := $(shell find crates -name '*.rs' -o -name Cargo.toml) $(shell find bpf -name '*.[ch]') Cargo.toml Cargo.lock
QUIC_SOURCES := $(shell find quic -name '*.rs' -o -name 'Cargo.*')
WEB_SOURCES := $(shell find web -path "*/node_modules" -prune -o -type f ! -name '*.wasm' -print)

# The kernel of tests in virtual time; built once, in minutes, and kept below the user's cache directory.
KERNEL ?= 6.12

.PHONY: run build ui kernel quic test-quic test test-rust test-python test-page test-together test-alone test-system test-web test-all test-thorough test-exhaustive test-wheel \
	fuzz fuzz-guided sanitize lint wasm what-if generate lock format bench truth pictures wheel quic-wheel sdist image test-image clean

# The page of reports is made while the core compiles.
run:
	@$(MAKE) --no-print-directory --jobs=2 build
	$(BIN)/dumbbell run $(SCENARIO)

build: $(VENV)/.core $(VENV)/.report

# The web application, served to this machine's browser.
ui: build $(VENV)/.page
	$(BIN)/dumbbell ui

# What runs in virtual time need: a kernel, and what it loads.
kernel: build $(VENV)/.guests $(VENV)/.kernel-tools
	$(ALONE) $(BIN)/dumbbell kernel build $(KERNEL)

# The program of QUIC flows, with the stacks of others and BoringSSL: minutes of CPU. `make run` and `make test` do without.
quic: $(VENV)/bin/dumbbell-quic

test-quic: quic
	$(ALONE) cargo test --release --locked --manifest-path quic/Cargo.toml --target-dir target/quic

# Each part of the program once, on real parts. Second chances of one call of make count as those of one run.
export TEST_RUN := $(or $(TEST_RUN),$(shell date -u +%FT%TZ))
test:
	$(MAKE) --jobs=2 --output-sync=target kernel test-rust test-python test-page
	$(MAKE) test-together test-alone
	$(BIN)/python -m tools.second_chances

# The rest, which takes longer: what root does as others do, studies in virtual time, every fault, hours of fuzz.
test-all: test-thorough test-exhaustive fuzz-guided
	$(BIN)/python -m tools.second_chances

test-thorough: kernel test-quic $(VENV)/.develop $(VENV)/.page $(VENV)/.web-checks $(VENV)/.test-tools $(VENV)/.firefox
	$(BIN)/pytest --numprocesses auto -m thorough tests/unit
	$(BIN)/python -m tools.second_chances --numprocesses 3 --dist loadgroup -m "thorough and not real_time and not exhaustive and not alone" $(PARTS)
	$(BIN)/python -m tools.second_chances --numprocesses 3 --dist loadgroup -m "thorough and real_time and not exhaustive and not alone" \
		$$(grep -rlw real_time --include="test_*.py" $(PARTS))
	$(BIN)/python -m tools.second_chances -m "thorough and not exhaustive and alone" $$(grep -rlw alone --include="test_*.py" tests/system)

# Each call of a command that fails, kills at a hundred moments, thousands of damaged runs.
test-exhaustive: kernel quic $(VENV)/.develop $(VENV)/.page $(VENV)/.test-tools
	$(BIN)/python -m tools.second_chances --numprocesses 3 --dist loadgroup -m "exhaustive" tests/system

# Cases of property tests come from a fixed seed, so that the same code gives the same result again; `make fuzz` draws others.
# Programs that measure this machine's kernel are compiled here, beside other work: tests that run alone wait for no compiler.
test-rust: $(VENV)/.test-tools
	PROPTEST_RNG_SEED=1 RUSTC_WRAPPER=$(abspath tools/rustc-tests) $(ALONE) cargo test --release --locked --workspace
	TEST_OPT_LEVEL=1 RUSTC_WRAPPER=$(abspath tools/rustc-tests) $(ALONE) cargo test --release --locked --workspace --no-run \
		--test oracle --test twins --test live --test loopback

test-python: build $(VENV)/.develop $(VENV)/.guests $(VENV)/.page $(VENV)/.web-checks $(VENV)/.test-tools
	$(BIN)/pytest --numprocesses auto -m "not thorough" tests/unit

test-page: $(VENV)/.web-checks
	cd web && $(NPM) run --silent check

# While browsers and routers wait, kernels in virtual time compute: four processes keep two cores busy.
# Each process imports all files that it is given: those of few tests are searched for.
PARTS ?= tests/system tests/e2e
test-together: kernel $(VENV)/.develop $(VENV)/.page $(VENV)/.test-tools
	$(BIN)/python -m tools.second_chances --numprocesses 4 --dist loadgroup -m "not real_time and not alone and not thorough" $(PARTS)
	$(BIN)/python -m tools.second_chances --numprocesses 3 --dist loadgroup -m "real_time and not alone and not thorough" $$(grep -rlw real_time --include="test_*.py" $(PARTS))

test-alone: kernel $(VENV)/.develop $(VENV)/.page $(VENV)/.test-tools
	$(BIN)/python -m tools.second_chances -m "alone and not thorough" $$(grep -rlw alone --include="test_*.py" tests/system)

test-system:
	$(MAKE) test-together test-alone PARTS=tests/system

# In Chromium; in Firefox with `make test-web TEST_BROWSER=firefox`.
test-web: test-page $(if $(filter firefox,$(TEST_BROWSER)),$(VENV)/.firefox)
	$(MAKE) test-together PARTS=tests/e2e

# The wheel on bare systems, its page in Chromium; as root, in some minutes. Not a part of `make test`.
test-wheel: wheel quic-wheel sdist kernel $(VENV)/.develop $(VENV)/.test-tools
	tools/install wheel
	$(BIN)/pytest tests/wheel

# The machine image, booted without KVM. Not a part of `make test-all`: it takes root, a system's packages and ten minutes of two cores.
test-image: image $(VENV)/.develop
	$(BIN)/pytest tests/image

# Inputs that coverage chooses, FUZZ_S seconds of CPU for each kind of file (tests/fuzz). With FUZZ="--inputs --seed 1", the same each time.
FUZZ_S ?= 600
FUZZ ?= --seconds $(FUZZ_S)
fuzz-guided: build $(VENV)/.develop $(VENV)/.test-tools
	$(PIP) --only-binary :all: --requirement requirements/fuzz.txt || echo "going on without atheris"
	$(BIN)/python -m tests.fuzz $(FUZZ)

# Also property tests on cases that no run has seen. What is found belongs into a test of its own.
fuzz: fuzz-guided
	cargo test --release --locked --workspace
	$(BIN)/pytest --hypothesis-profile fuzz --numprocesses auto $$(grep -rl hypothesis tests/unit)

# Crates with unsafe code under AddressSanitizer, whose runtime comes with the compilers of rustup, stable ones too. Left out are
# qemu-turns, which another program preloads before the sanitizer's runtime; bbr-host, whose C is built without it, and whose flows
# take very long with it; and sim-wasm, whose unsafe code runs in browsers only.
SANITIZED := agent bpf emu guest-init guest-links lab probe ready-init realtime records routers supervisor traffic
sanitize: export RUSTC_BOOTSTRAP := 1
sanitize: export RUSTFLAGS := -Zsanitizer=address
# Code that is not optimized at all takes a hundred times as long with it; checks of overflow and debug assertions stay.
sanitize: export CARGO_PROFILE_DEV_OPT_LEVEL := 1
sanitize: SANITIZE := cargo test --locked --no-fail-fast --target-dir target/sanitize --target $$(rustc -vV | sed -n 's/^host: //p')
sanitize: $(VENV)/.test-tools
	PROPTEST_RNG_SEED=1 $(SANITIZE) --lib --bins $(SANITIZED:%=--package %)
	PROPTEST_RNG_SEED=1 $(SANITIZE) --tests --package emu --package probe --package records

# Needs rustfmt and clippy, which Debian 12 packages only for its old compiler: not a part of `make test`.
lint: build $(VENV)/.develop
	cargo fmt --all --check
	cargo fmt --check --manifest-path quic/Cargo.toml
	cargo clippy --release --locked --workspace --all-targets -- -D warnings
	cargo clippy --release --locked --workspace --test oracle --test twins --test live --test loopback -- -D warnings
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest --quiet tests/unit/test_architecture.py
	$(BIN)/python -m tools.prose

# The simulator for a browser. `make build` goes on without it, and the page says what is missing.
wasm: $(VENV)/.build-tools
	tools/wasm

# "What if" as one file that needs no server: dist/what-if.html.
what-if: build wasm $(VENV)/.web-packages
	$(BIN)/python -m tools.whatif dist/what-if.html

# The checked-in files that follow from Rust's declarations; a unit test says which of them is stale.
generate: build $(VENV)/.develop
	$(BIN)/python -m tools.generate

format: $(VENV)/.develop
	cargo fmt --all
	cargo fmt --manifest-path quic/Cargo.toml
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

# An hour, on an idle machine; the results belong in docs/results.
bench: build kernel $(VENV)/.develop $(VENV)/.page $(VENV)/.test-tools
	$(BIN)/python -m benches.build
	$(BIN)/python -m benches.emulation.fidelity
	$(BIN)/python -m validation.conformance
	$(BIN)/python -m benches.emulation.links
	$(BIN)/python -m benches.emulation.unshaped
	$(BIN)/python -m benches.emulation.paths
	$(BIN)/python -m benches.emulation.cost
	$(BIN)/python -m benches.emulation.live
	$(BIN)/python -m benches.emulation.several
	$(BIN)/python -m benches.emulation.acks
	$(BIN)/python -m benches.emulation.shapers
	$(BIN)/python -m benches.virtual
	$(BIN)/python -m benches.lab.updown
	$(BIN)/python -m benches.lab.scale
	$(BIN)/python -m benches.lab.living
	$(BIN)/python -m benches.lab.routing --routers 3 50 100
	$(BIN)/python -m benches.lab.hops
	$(BIN)/python -m benches.frame
	$(BIN)/python -m benches.bbr.phases
	$(BIN)/python -m benches.bbr.loss
	$(BIN)/python -m benches.bbr.buffers
	$(BIN)/python -m benches.bbr.fairness
	$(BIN)/python -m benches.bbr.cost
	$(BIN)/python -m benches.pcap
	$(BIN)/python -m benches.capture_page
	$(BIN)/python -m benches.capture_scale
	$(BIN)/python -m benches.captures
	$(BIN)/python -m benches.simulator.ns3
	$(BIN)/python -m benches.simulator.profile
	$(BIN)/python -m benches.simulator.scale
	$(BIN)/python -m benches.simulator.tables
	$(BIN)/python -m benches.simulator.report
	$(BIN)/python -m benches.simulator.study
	$(BIN)/python -m benches.simulator.programs
	$(BIN)/python -m benches.gym
	$(BIN)/python -m benches.cluster
	$(BIN)/python -m benches.web
	$(BIN)/python -m benches.web.whatif
	cargo bench -p link -p sim

# Every night: a random tenth of what docs/results/trust.md rests on, another one each day. Minutes, however busy the machine is.
truth: kernel $(VENV)/.develop
	$(BIN)/python -m validation.truth

# Minutes, on an idle machine: docs/images/links, docs/images/ui.
pictures: build $(VENV)/.develop $(VENV)/.page $(VENV)/.test-tools
	$(BIN)/python docs/draw/links.py
	$(BIN)/python docs/draw/ui.py
	$(BIN)/python docs/draw/agreement.py

# What a release consists of: tools/RELEASE.md.
wheel: build $(VENV)/.page
	rm -f dist/dumbbell-*.whl
	$(BIN)/python tools/backend.py wheel dist

# The program of QUIC flows, with the sources from which users build it with stacks of their own.
quic-wheel: quic
	rm -f dist/dumbbell_quic-*.whl
	$(ALONE) $(BIN)/python tools/backend.py quic-wheel dist

sdist: build $(VENV)/.page
	rm -f dist/*.tar.gz
	$(BIN)/python tools/backend.py sdist dist

# A machine with all of it, for QEMU and VirtualBox; as root on Debian.
image: wheel
	tools/install image
	tools/image/build dist/dumbbell-*.whl dist/dumbbell.qcow2

clean:
	rm -rf dist $(VENV) target web/node_modules web/simulator.wasm python/dumbbell/report/assets python/dumbbell/server/page python/dumbbell/_core*.so python/dumbbell/kernels/*.so

# The requirements with their hashes, after a change of versions in pyproject.toml or here.
lock:
	$(PYTHON) -m venv target/lock
	target/lock/bin/pip install --quiet uv==0.13.9
	PATH="target/lock/bin:$$PATH" tools/lock

# What the targets stand on. A stamp file stands for each, so that a second `make run` starts at once.

$(VENV)/.build-tools: tools/install
	tools/install build
	$(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/.test-tools: tools/install | $(VENV)/.build-tools
	tools/install test
	touch $@

$(VENV)/.firefox: tools/install | $(VENV)/.build-tools
	tools/install firefox
	touch $@

$(VENV)/.kernel-tools: tools/install | $(VENV)/.build-tools
	tools/install kernel
	touch $@

$(VENV)/.python: requirements/run.txt | $(VENV)/.build-tools
	$(PIP) --requirement requirements/run.txt
	touch $@

# What tests, checks and generators need beside it.
$(VENV)/.develop: requirements/run.txt requirements/develop.txt | $(VENV)/.python
	$(PIP) --requirement requirements/run.txt --requirement requirements/develop.txt
	touch $@

$(VENV)/.core: $(RUST_SOURCES) pyproject.toml | $(VENV)/.python
	@echo "building the core (minutes the first time)"
	VIRTUAL_ENV=$(abspath $(VENV)) $(ALONE) $(BIN)/maturin develop --release --locked --quiet >/dev/null
	@$(BIN)/python -c 'from dumbbell.doctor import installation; installation.warn()'
	touch $@

$(VENV)/.guests: $(RUST_SOURCES) tools/backend.py | $(VENV)/.python
	$(ALONE) $(BIN)/python tools/backend.py guest
	touch $@

$(VENV)/.quic-tools: tools/install | $(VENV)/.build-tools
	tools/install quic
	touch $@

$(VENV)/bin/dumbbell-quic: $(QUIC_SOURCES) $(RUST_SOURCES) | $(VENV)/.quic-tools
	$(ALONE) cargo build --release --locked --manifest-path quic/Cargo.toml --target-dir target/quic
	install -m 755 target/quic/release/dumbbell-quic $@

$(VENV)/.wasm: $(RUST_SOURCES) tools/wasm | $(VENV)/.build-tools
	$(ALONE) tools/wasm || echo "going on without the simulator for browsers"
	touch $@

# Packages that the pages are made of and the program that bundles them; for checks also the compiler of TypeScript.
$(VENV)/.web-packages: web/package-lock.json | $(VENV)/.python
	cd web && $(NPM_CI) --omit=dev
	touch $@

# npm empties the folder first, from which pages are built.
$(VENV)/.web-checks: web/package-lock.json | $(VENV)/.report $(VENV)/.page
	cd web && $(NPM_CI)
	touch $@

$(VENV)/.report: $(WEB_SOURCES) | $(VENV)/.web-packages
	cd web && $(NPM) run --silent build report
	touch $@

$(VENV)/.page: $(WEB_SOURCES) $(VENV)/.wasm | $(VENV)/.web-packages
	cd web && $(NPM) run --silent build page
	touch $@
