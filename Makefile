# `make run` and `make test` set up what they need on a Debian machine with Rust; elsewhere they say what is missing.

CARGO ?= cargo
LOCKED := --locked

.PHONY: run build test bench fmt lint unit readme clean

run: build
	@./target/release/holdpoint serve

build:
	@./scripts/setup build
	@$(CARGO) build $(LOCKED) --release -p holdpoint-cli

test:
	@./scripts/setup test
	@$(MAKE) --no-print-directory lint unit readme

lint:
	$(CARGO) fmt --all --check
	$(CARGO) clippy $(LOCKED) --workspace --all-targets --all-features -- -D warnings

unit:
	./scripts/with-postgres ./scripts/unit-tests

readme: build
	./scripts/readme-test

bench:
	@./scripts/setup test
	@$(CARGO) build $(LOCKED) --release -p holdpoint-cli -p holdpoint-bench
	./target/release/holdpoint-bench $(BENCH)

fmt:
	$(CARGO) fmt --all

clean:
	$(CARGO) clean
