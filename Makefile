# Everything that the README and the contributing guide name. Works on a machine that has only Python 3.11+, make and a
# package index, from any folder (make -C). Results go to stdout, the noise of installing to stderr.

SHELL := /bin/bash
ROOT := $(abspath $(dir $(lastword $(MAKEFILE_LIST))))
VENV := $(ROOT)/.venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PYTHON ?= $(shell for python in python3.11 python3.12 python3.13 python3.14 python3 python; do \
	"$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$python" && break; done)

.PHONY: demo digest test check fmt lint types prove test-openhands bench lock clean
.SILENT:

demo: $(STAMP) ## a digest from sample feeds: no key, no account, no network
	$(BIN)/news-digest demo

digest: $(STAMP) ## today's digest from live feeds
	$(BIN)/news-digest run

test: $(STAMP) ## the tests that need nothing beyond this checkout
	cd $(ROOT) && $(BIN)/python -m pytest -q -n 2 -m "not openhands and not prove" $(ARGS)

lint: $(STAMP)
	cd $(ROOT) && $(BIN)/ruff format --check -q . && $(BIN)/ruff check -q .

types: $(STAMP)
	cd $(ROOT) && $(BIN)/mypy

check: lint types ## format, lint, types, tests, coverage of the core
	cd $(ROOT) && $(BIN)/python -m pytest -q -n 2 -m "not openhands and not prove" --cov --cov-report= $(ARGS)
	cd $(ROOT) && $(BIN)/python tests/core_coverage.py

fmt: $(STAMP) ## format and fix
	cd $(ROOT) && $(BIN)/ruff format -q . && $(BIN)/ruff check -q --fix .

prove: $(STAMP) ## the long proof: hours of interleavings, kills and fuzzing
	cd $(ROOT) && HYPOTHESIS_PROFILE=prove $(BIN)/python -m pytest -q -m "prove or not openhands" tests/machine tests/prove $(ARGS)

test-openhands: $(STAMP) ## against the real OpenHands services on loopback
	cd $(ROOT) && $(BIN)/python -m pytest -q -m openhands $(ARGS)

bench: $(STAMP) ## the benchmarks that need nothing beyond this checkout
	cd $(ROOT) && for script in benchmarks/*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

lock: ## write requirements.lock anew from pyproject.toml
	cd $(ROOT) && $(BIN)/python -m pip install -q "uv>=0.5" && $(BIN)/uv pip compile -q --universal --python-version 3.11 \
		--generate-hashes --no-emit-index-url --no-emit-find-links --no-header --all-extras --group dev \
		pyproject.toml -o requirements.lock

clean:
	rm -rf $(VENV)

$(STAMP): $(ROOT)/pyproject.toml $(ROOT)/requirements.lock
	if [ -z "$(PYTHON)" ]; then echo "news-digest needs Python 3.11 or newer; none was found" >&2; exit 2; fi
	{ "$(PYTHON)" -m venv $(VENV) && \
	  $(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r $(ROOT)/requirements.lock && \
	  $(BIN)/python -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e $(ROOT); } >&2
	touch $@
