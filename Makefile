# make demo   see it work            make test       every check, a tenth of the random ones
# make install  just the command     make test-long  every check in full
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help install demo test test-long lint types unit unit-long docs bench format clean

help:
	@sed -n 's/^# //p' Makefile

install: $(READY)

# The pins are constraints for the package, its extras and its build backend alike.
$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "scdn needs Python 3.11 or newer; say which with make PYTHON=..."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	PIP_CONSTRAINT=constraints.txt $(BIN)/pip install --quiet --disable-pip-version-check \
		--editable '.[paper,dev]'
	@$(BIN)/python -c "from scdn.control.solve import warm_up; warm_up()"  # compiles the kernels once
	@touch $@

demo: install
	@mkdir -p out
	$(BIN)/scdn scenario show examples/wildfire.toml
	$(BIN)/scdn scenario draw examples/wildfire.toml -o out/wildfire.png
	$(BIN)/scdn scenario request examples/wildfire.toml -o out/request.json
	$(BIN)/scdn plan out/request.json --draw out/plan.png --draw out/plan.html
	@echo
	@echo "Look at out/wildfire.png (the network) and out/plan.png (its first round's plan),"
	@echo "or open out/plan.html and turn it around."

test: lint types unit docs

test-long: lint types unit-long docs

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: install
	$(BIN)/mypy

unit: install
	$(BIN)/pytest

unit-long: install
	SCDN_TEST_LONG=1 $(BIN)/pytest

docs: install
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

bench: install
	$(BIN)/python benchmarks/world.py
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/control.py
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/truth.py

format: install
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) out site build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
