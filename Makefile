# Everything that the README and the contributing guide name. Works on a machine that has only Python 3.11+, make and a
# package index, and from any folder with `make -C`. Results go to stdout, the noise of installing to stderr.

BIN := .venv/bin
STAMP := .venv/.installed
PYTHON ?= $(shell for python in python3.11 python3.12 python3.13 python3.14 python3 python; do \
	"$$python" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && \
	command -v "$$python" && break; done)
PIP := $(BIN)/python -m pip --quiet --quiet --disable-pip-version-check
# Compiled tests are kept, whatever the environment says: compiling them anew takes longer than running many of them.
PYTEST := PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -q -n 2
QUICK := -m "not openhands and not prove and not slow and not browser"
ALL := -m "not openhands and not prove"

.PHONY: help demo digest test check fmt docs lint types coverage prove test-openhands bench lock clean
.SILENT:

help: ## what there is to make
	sed -nE 's/^([a-z-]+):.*## (.*)/\1\t\2/p' Makefile | expand -t 16

demo: $(STAMP) ## a digest from sample feeds: no key, no account, no network
	$(BIN)/news-digest demo

digest: $(STAMP) ## today's digest from live feeds
	$(BIN)/news-digest run

test: $(STAMP) ## the tests, in little more than a minute; `make check` has those that take longer
	$(PYTEST) $(QUICK) $(ARGS)

check: lint types coverage ## format, lint, types, all tests that need no service, coverage of the core

lint: $(STAMP)
	$(BIN)/ruff format --check -q . && $(BIN)/ruff check -q .

types: $(STAMP)
	$(BIN)/mypy

coverage: $(STAMP)
	$(PYTEST) $(ALL) --cov --cov-report= $(ARGS)
	$(BIN)/python -m tests.core_coverage

fmt: $(STAMP) ## format, and fix what can be fixed
	$(BIN)/ruff format -q . ; $(BIN)/ruff check -q --fix .

docs: $(STAMP) ## write the tables of docs/ anew from the code
	$(BIN)/python -m tests.pages

prove: $(STAMP) ## the long proof: hours of interleavings, kills and fuzzing
	$(PIP) install --only-binary :all: atheris==3.0.0 >&2 || \
		echo "no wheel of atheris for this Python: the fuzzers make their inputs at random" >&2
	HYPOTHESIS_PROFILE=prove $(BIN)/python -m pytest -q -m "prove or not openhands" tests/machine tests/prove $(ARGS)

test-openhands: $(STAMP) ## against the real OpenHands services on loopback; installs them beside once (600 MB)
	$(BIN)/python tests/openhands/environment.py >/dev/null
	$(BIN)/python -m pytest -q -m openhands $(ARGS)

bench: $(STAMP) ## the benchmarks that need nothing beyond this checkout
	for script in $(filter-out benchmarks/feeds_%,$(wildcard benchmarks/*.py)); do echo "== $$script"; $(BIN)/python $$script || exit 1; done

lock: $(STAMP) ## write requirements.lock anew from pyproject.toml
	$(PIP) install "uv>=0.5" >&2
	$(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
		--no-emit-find-links --no-header --all-extras --group dev $(ARGS) pyproject.toml -o requirements.lock

clean: ## remove the environment and what tools leave behind
	rm -rf .venv .hypothesis .mypy_cache .pytest_cache .ruff_cache .coverage .coverage.*

$(STAMP): pyproject.toml requirements.lock
	if [ -z "$(PYTHON)" ]; then \
		echo "news-digest needs Python 3.11 or newer with its venv module (Debian: apt install python3-venv);" \
			"none was found. PYTHON=/path/to/python names one." >&2; exit 2; fi
	echo "installing into $(CURDIR)/.venv with $(PYTHON), once; this takes about a minute" >&2
	{ "$(PYTHON)" -m venv .venv && $(PIP) install --require-hashes -r requirements.lock && \
	  $(PIP) install --no-deps --no-build-isolation -e . ; } >&2
	touch $@
