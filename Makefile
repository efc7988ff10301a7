# Each target makes its virtual environment on first use, from pyproject.toml, and reuses it.
#   make test PYTHON=python3.13 VENV=.venv-3.13     the suite on another Python
#   make test PYTEST='-k loops'                     a part of it
#   make packages installed                         wheel and sdist, used in an empty environment

PYTHON ?= python3
VENV ?= .venv
ORACLES_PYTHON ?= $(PYTHON)
ORACLES_VENV ?= .venv-oracles
BENCH_VENV ?= .venv-bench
INSTALLED ?= .venv-installed
PACKAGE ?= dist/*.whl
PYTEST ?=
JOBS ?= 2

BIN := $(VENV)/bin
# NumPy's threads do not help on matrices of this size, and make timings noisy.
THREADS := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
PIP := PIP_DISABLE_PIP_VERSION_CHECK=1

.PHONY: setup demo docs examples test lint bench oracles golden packages installed clean

setup: $(VENV)/.dev

demo: $(VENV)/.examples
	$(THREADS) $(BIN)/python examples/digits.py
	$(THREADS) $(BIN)/python examples/heat.py

# Runs all examples and the notebook, which draw what they find into examples/build/.
examples: $(VENV)/.examples
	$(THREADS) $(BIN)/python -m pytest -q -n $(JOBS) -m examples tests/test_examples.py $(PYTEST)

# The documentation site, in build/site; its pictures are those that `make examples` draws.
docs: $(VENV)/.docs
	$(BIN)/python docs/site/build.py

test: $(VENV)/.dev
	$(THREADS) $(BIN)/python -m pytest -q -n $(JOBS) $(PYTEST)

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/mypy

bench: $(BENCH_VENV)/.bench
	$(BENCH_VENV)/bin/python -m tests.bench --write

oracles: $(ORACLES_VENV)/.oracles
	$(THREADS) $(ORACLES_VENV)/bin/python -m pytest -q -n $(JOBS) -m oracles $(PYTEST)

# Rewrites what is compared as text: golden files, and generated code in README and docs.
golden: $(VENV)/.dev
	$(BIN)/python -m tests.golden_update
	$(BIN)/python -m tests.documents

# The sdist, and the wheel that is built from it.
packages: $(VENV)/.dev
	rm -rf dist
	$(BIN)/python -m hatchling build -t sdist -d dist
	$(PIP) $(BIN)/python -m pip wheel -q --no-deps --no-build-isolation --no-index -w dist dist/*.gz

# What `packages` made, in an empty environment of PYTHON: `make installed PYTHON=python3.13`.
installed: $(VENV)/.dev
	rm -rf $(INSTALLED) && $(PYTHON) -m venv --without-pip $(INSTALLED)
	$(PIP) $(BIN)/python -m pip --python $(INSTALLED)/bin/python install -q --no-compile $(PACKAGE)
	$(INSTALLED)/bin/python -I tests/support/installed.py $(INSTALLED)

clean:
	rm -rf build dist .venv .venv-* .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(ORACLES_VENV)/bin/python:
	$(ORACLES_PYTHON) -m venv $(ORACLES_VENV)

$(BENCH_VENV)/bin/python:
	$(PYTHON) -m venv $(BENCH_VENV)

$(VENV)/.examples: pyproject.toml | $(VENV)/bin/python
	$(PIP) $(BIN)/python -m pip install -q -e '.[examples]'
	touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/bin/python
	$(PIP) $(BIN)/python -m pip install -q -e '.[dev]'
	touch $@

$(VENV)/.docs: pyproject.toml | $(VENV)/bin/python
	$(PIP) $(BIN)/python -m pip install -q -e '.[docs]'
	touch $@

$(ORACLES_VENV)/.oracles: pyproject.toml | $(ORACLES_VENV)/bin/python
	$(PIP) $(ORACLES_VENV)/bin/python -m pip install -q -e '.[oracles]'
	touch $@

$(BENCH_VENV)/.bench: pyproject.toml | $(BENCH_VENV)/bin/python
	$(PIP) $(BENCH_VENV)/bin/python -m pip install -q -e '.[bench]'
	touch $@
