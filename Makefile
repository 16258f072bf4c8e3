# On a Debian machine with Rust, `make run` and `make test` install the other tools that they need. On other systems they
# name the missing tools.

CARGO ?= cargo
LOCKED := --locked

# Clippy compiles the crates of the workspace in place of rustc, so that one build is both linted and tested. Warnings
# are errors.
LINTED := RUSTC_WORKSPACE_WRAPPER=clippy-driver CLIPPY_ARGS=-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__

.PHONY: run build tested test verify conformance bench walls fuzz corpus fmt lint unit web api readme e2e advisories clean

run: build
	@./scripts/run

build:
	@./scripts/setup build
	@./scripts/web
	@$(CARGO) build $(LOCKED) --release -p holdpoint-cli

# One build, which contains the page, serves the linter and all tests.
tested:
	@./scripts/setup test
	@./scripts/web
	$(LINTED) $(CARGO) build $(LOCKED) --workspace --all-features --all-targets

# Number of checks that run at the same time after the build. They wait as often as they compute. Each check prints its
# output when it ends; a failed check is named at the end and does not stop the others.
SIDE_BY_SIDE ?= 2
CHECKS := unit web lint readme api e2e

test: tested
	@$(MAKE) --no-print-directory --jobs=$(SIDE_BY_SIDE) --keep-going --output-sync=target $(CHECKS)

lint: tested
	$(CARGO) fmt --all --check

unit: tested
	$(LINTED) ./scripts/with-postgres ./scripts/unit-tests

# Checks that take too long for `make test`: the simulations with thousands of seeds, servers that are killed many times, the differential
# runs (generated commands that bash and dash run too, and policies that are judged in two ways), the README and a constant load against a
# release build, and the attacks of `make walls`. CASES is also the number of cases of each generated history in `make conformance`.
SEEDS ?= 5000
KILLS ?= 100
CASES ?= 20000

verify: build tested
	@./scripts/setup nextest
	HOLDPOINT_SIM_SEEDS=$(SEEDS) HOLDPOINT_KILL_ROUNDS=$(KILLS) $(LINTED) $(CARGO) nextest run --profile long $(LOCKED) --workspace --all-features \
	  -E 'test(simulation::crashes) | (package(holdpoint-cli) & test(/^kill::/))'
	PROPTEST_CASES=$(CASES) $(LINTED) $(CARGO) nextest run --profile long $(LOCKED) --workspace --all-features \
	  -E '(package(holdpoint-tool-facts) & test(/^(alike|bash)::/)) | (package(holdpoint-policy) & test(/^properties::/))'
	HOLDPOINT_BIN=./target/release/holdpoint ./scripts/readme-test
	HOLDPOINT_BIN=./target/release/holdpoint ./scripts/soak
	./scripts/walls $(WALLS)

# Long runs of the conformance tests of both stores and of the dialects. The suites are repeated, because their
# concurrent cases differ from run to run. PROPTEST_CASES raises the number of generated cases of each test.
ROUNDS ?= 20

conformance: tested
	@./scripts/setup nextest
	$(LINTED) ./scripts/with-postgres $(CARGO) nextest run --profile long $(LOCKED) --workspace --all-features --stress-count $(ROUNDS) \
	  -E 'test(conformance::) | package(holdpoint-dialects)'
	PROPTEST_CASES=$(CASES) $(LINTED) $(CARGO) nextest run --profile long $(LOCKED) --workspace --all-features \
	  -E 'package(holdpoint-domain) | package(holdpoint-forms) | package(holdpoint-policy) | test(machine::)'
	API_SECONDS=$${API_SECONDS:-600} ./scripts/api-fuzz

api: tested
	./scripts/api-fuzz

readme: tested
	./scripts/readme-test

# Tests the embedded page in a real browser.
e2e: tested
	@./scripts/setup e2e
	@./scripts/web e2e

bench:
	@./scripts/setup test
	@$(CARGO) build $(LOCKED) --release -p holdpoint-cli -p holdpoint-bench
	./target/release/holdpoint-bench $(BENCH)

# One tenant attacks the server in every way that docs/limits.md limits while another tenant works. It takes minutes and
# both cores, so it is not part of `make test`.
walls: build
	./scripts/walls $(WALLS)

web: tested
	@./scripts/web test

# Needs a nightly compiler and cargo-fuzz. The corpus is unpacked and grows under crates/policy/fuzz/corpus; `make corpus` removes the inputs that
# the parsers read in the same way as another input, and packs the rest for `make test`.
FUZZ_SECONDS ?= 600
FUZZ_TARGETS ?= shell path url sql policy

fuzz:
	@[ -d crates/policy/fuzz/corpus ] || tar -C crates/policy/fuzz -xzf crates/policy/fuzz/corpus.tar.gz
	@cd crates/policy && for target in $(FUZZ_TARGETS); do \
	  $(CARGO) +nightly fuzz run $$target -- -max_total_time=$(FUZZ_SECONDS) -rss_limit_mb=2048 -timeout=10 -max_len=4096 || exit 1; done

corpus:
	$(CARGO) run $(LOCKED) -p holdpoint-policy --example minimise_corpus
	tar -C crates/policy/fuzz --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -cf - corpus | gzip -9n > crates/policy/fuzz/corpus.tar.gz

# Needs the network and cargo-deny or cargo-audit, and reports what it could not check. It is not part of `make test`,
# which checks licences, sources, bans and duplicate versions without the network.
advisories:
	@./scripts/advisories

fmt:
	$(CARGO) fmt --all

clean:
	$(CARGO) clean
