# `make demo` and `make test` do all set-up on a machine with Python 3.10 or later. With a C compiler
# every NVML program runs on the fake; without one the demo still runs and says what is missing.

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --quiet --disable-pip-version-check
JOBS   ?= auto
TORCH_REQUIREMENT ?= torch==2.13.0

SOURCES := pyproject.toml hatch_build.py $(wildcard fakes/nvml/shim/*.c fakes/nvml/shim/*.h fakes/nvml/shim/*.inc chaos/sandbox/*.c)

.DEFAULT_GOAL := help
.PHONY: help demo test check drills bench long clients generate clean

help:  ## what there is to make
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 16

# An upgrade of the system's Python leaves a virtual environment that runs, or finds, nothing any more.
WORKS := import os, sys, sysconfig; sys.exit(not os.path.isdir(sysconfig.get_path("purelib")))
ifneq ($(shell $(BIN)/python -c '$(WORKS)' 2>/dev/null && echo yes),yes)
.PHONY: $(BIN)/python
endif

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
	    { echo "gputui needs Python 3.10 or later; set PYTHON=python3.x" >&2; exit 1; }
	@$(PYTHON) -m venv $(if $(wildcard $(VENV)/pyvenv.cfg),--clear) $(VENV) || \
	    { rm -rf $(VENV); echo "could not make a virtual environment; on Debian: apt install python3-venv" >&2; exit 1; }

$(VENV)/.installed: $(BIN)/python $(SOURCES)
	@echo "installing gputui into $(VENV) ..."
	@$(PIP) install --editable .
	@touch $@

$(VENV)/.test: $(VENV)/.installed
	@echo "installing what the tests need into $(VENV) ..."
	@$(PIP) install --editable '.[test]'
	@touch $@

$(VENV)/.dev: $(VENV)/.test
	@echo "installing what the checks need into $(VENV) ..."
	@$(PIP) install --editable '.[test,dev]'
	@touch $@

$(VENV)/.torch: $(VENV)/.test
	@echo "installing $(TORCH_REQUIREMENT) into $(VENV) ..."
	@$(PIP) install '$(TORCH_REQUIREMENT)'
	@touch $@

demo: $(VENV)/.installed  ## the monitor on a fake server that runs into trouble
	@$(BIN)/gputui --demo

test: $(VENV)/.test $(if $(TORCH),$(VENV)/.torch)  ## the tests (TORCH=1 installs torch for those that use it)
	$(BIN)/python -m pytest -n $(JOBS) -m 'not long' $(ARGS)

check: $(VENV)/.dev  ## style, types, layers, Python 3.10
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/vermin --quiet --no-tips --violations --target=3.10- --eval-annotations \
	    --exclude tomllib gputui fakes chaos gpuchaos_pytest hatch_build.py

drills: $(VENV)/.installed  ## the scenario library, each judged in virtual time
	$(BIN)/gpuchaos test $(wildcard scenarios/*.yaml scenarios/*/*.yaml)

bench: $(VENV)/.test  ## side by side with the programs people use today
	@for script in bench/*.py; do $(BIN)/python $$script || exit 1; done

long: $(VENV)/.test  ## what takes longer than the tests may
	$(BIN)/python -m pytest -n $(JOBS) -m long $(ARGS)

clients:  ## fetch the programs from elsewhere that the tests run on the fake (Debian)
	@tests/clients/get_nvtop.sh .cache/nvtop

generate: $(VENV)/.dev  ## the NVML table, from the public header; the index of commands and the schema of scenarios, from the code
	$(BIN)/python -m fakes.nvml.shim.generate
	$(BIN)/python -m fakes.commands.generate
	$(BIN)/gpuchaos schema > scenarios/scenario.schema.json

clean:  ## everything that make has made
	rm -rf $(VENV) .cache .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
	find fakes chaos \( -name '*.so' -o -name '_*.bin' \) -delete
