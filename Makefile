# Every target does its own set-up; what it installs and caches stays in this folder (pip's own cache aside).
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
CACHE  := $(CURDIR)/.cache

# The versions that are installed; LOCK=/dev/null takes the newest.
LOCK   ?= constraints.txt

export MPLCONFIGDIR := $(CACHE)/matplotlib
export TORCH_HOME := $(CACHE)/torch
export HF_HOME := $(CACHE)/huggingface
export TORCHINDUCTOR_CACHE_DIR := $(CACHE)/inductor
export TRITON_CACHE_DIR := $(CACHE)/triton
export MYPY_CACHE_DIR := $(CACHE)/mypy
export RUFF_CACHE_DIR := $(CACHE)/ruff
export ONEPEAK_CACHE := $(CACHE)/onepeak
export UV_CACHE_DIR := $(CACHE)/uv
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test test-slow lint types docs site-and-types unit format setup dist lock sbom clean

demo: $(VENV)/.demo  ## the paper's seven methods and peak on the embedded data set; called again, it goes on
	$(BIN)/onepeak demo

test: lint site-and-types unit  ## what CI runs

site-and-types: setup  ## each keeps one core at work
	@$(MAKE) --no-print-directory -j2 types docs

lint: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: setup
	$(BIN)/mypy

unit: setup
	OMP_NUM_THREADS=1 $(BIN)/pytest -n 2 --dist worksteal --basetemp=$(CACHE)/pytest

test-slow: setup  ## statistics and training that take minutes
	$(BIN)/pytest --basetemp=$(CACHE)/pytest -m slow

docs: setup  ## the site, in docs/_build/html; a warning is an error
	OMP_NUM_THREADS=1 $(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html

format: setup
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

setup: $(VENV)/.installed

# uv unpacks on all cores and compiles only what is imported, so it takes a third of pip's time; where it cannot be had
# or finds no index (it does not read pip's settings), pip does the same. Where a version of constraints.txt cannot be
# had, the newest that pyproject.toml allows is taken.
define install
	$(PYTHON) -c 'import sys; sys.exit("onepeak needs Python >= 3.11, this is " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@mkdir -p $(CACHE)
	@echo "Installing $(1) into $(VENV): about 6 GB with torch, a few minutes"
	$(BIN)/python -m pip install --quiet uv && { \
	$(BIN)/uv pip install --python $(BIN)/python --constraints $(LOCK) --editable '$(1)' \
	|| $(BIN)/uv pip install --python $(BIN)/python --editable '$(1)'; } \
	|| $(BIN)/python -m pip install --editable '$(1)'
endef

$(VENV)/.installed: pyproject.toml constraints.txt
	$(call install,.[dev])
	touch $(VENV)/.demo $@

$(VENV)/.demo: pyproject.toml constraints.txt
	$(call install,.[serve])
	touch $@

dist: $(BIN)/uv  ## wheel and sdist, in dist/
	$(BIN)/uv build --quiet --out-dir dist

lock: $(BIN)/uv  ## constraints.txt: the newest versions that pyproject.toml allows, for every Python and system
	$(BIN)/uv pip compile pyproject.toml --extra dev --extra bench --universal --python-version 3.11 --upgrade \
	--quiet --no-header --no-annotate --output-file constraints.txt

sbom: $(BIN)/uv  ## dist/sbom.json: what `pip install onepeak[all]` brings at these versions, with licences, in CycloneDX
	@mkdir -p dist
	$(BIN)/uv venv --quiet --clear $(CACHE)/sbom
	$(BIN)/uv pip install --quiet --python $(CACHE)/sbom --constraints constraints.txt '.[all]'
	$(BIN)/uv tool run --from 'cyclonedx-bom==7.*' cyclonedx-py environment $(CACHE)/sbom/bin/python \
	--pyproject pyproject.toml --output-reproducible --output-file dist/sbom.json
	rm -rf $(CACHE)/sbom

$(BIN)/uv:
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet uv

clean:
	rm -rf $(VENV) .cache dist docs/_build docs/_generated
