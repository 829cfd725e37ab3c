## make demo     train five methods and write a report    make test       all checks, a tenth of the random ones
## make install  install the command into .venv           make test-long  all checks in full
## make docs     build the documentation                 make notebooks  run the example notebooks
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help install demo test test-long lint types unit unit-long browser web docs notebooks bench format clean

help:
	@sed -n 's/^## //p' Makefile

install: $(READY)

# The pins are constraints for the package, its extras and its build backend alike.
$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "scdn needs Python 3.11 or newer; say which with make PYTHON=..."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	PIP_CONSTRAINT=constraints.txt $(BIN)/pip install --quiet --disable-pip-version-check \
		--editable '.[paper,federation,studio,tune,export,privacy,dev]'
	@$(BIN)/python -c "from scdn.control.solve import warm_up; warm_up()"  # compiles the kernels once
	@touch $@

# Five methods on MNIST in the paper's dynamic network; on digits if MNIST cannot be fetched.
demo: install
	@mkdir -p out
	$(BIN)/scdn scenario draw examples/paper-dynamic.toml -o out/network.png
	@$(BIN)/scdn data check mnist >/dev/null 2>&1 || $(BIN)/scdn data fetch mnist || \
		{ echo "MNIST cannot be fetched here: using the small data set digits instead"; \
		  $(BIN)/scdn data fetch digits; }
	@data=mnist; $(BIN)/scdn data check mnist >/dev/null 2>&1 || data=digits; \
		$(BIN)/scdn compare examples/paper-dynamic.toml --methods mission,sc-dn,max-vfl,gsp,vafl \
		--seeds 3 --jobs 2 --set learning.dataset=$$data --out out/demo-$$data && \
		printf '\n%s\n%s\n' "Open out/demo-$$data/report.html: accuracy by energy, missions, churn and the server's path." \
		"Or replay the runs and plan by hand:  $(BIN)/scdn studio out/demo-$$data"

test: lint types unit docs

test-long: lint types unit-long docs

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: install
	$(BIN)/mypy

unit: install browser
	$(BIN)/pytest

# The studio's page is tested in Debian's Chromium, which is installed if possible.
browser:
	@command -v chromium >/dev/null 2>&1 || \
		{ apt-get update && apt-get install -y --no-install-recommends chromium; } >/dev/null 2>&1 || \
		echo "*** NO CHROMIUM, AND IT CANNOT BE INSTALLED HERE: BROWSER TESTS ARE SKIPPED ***"

# Builds the studio's page from its sources; needs Node.
web:
	cd web && npm install --no-save --no-audit --no-fund && npm run build

unit-long: install browser
	SCDN_TEST_LONG=1 $(BIN)/pytest

docs: install
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

# Every cell of examples/*.ipynb, in a folder of its own; needs no Jupyter.
notebooks: install
	$(BIN)/pytest -n 0 -v tests/test_notebooks.py

bench: install
	@mkdir -p out
	$(BIN)/python benchmarks/path_loss.py
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/solvers.py
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/feasibility_and_sensitivity.py
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/training_speed.py
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/fixed_networks.py reach
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/fixed_networks.py margin
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/real_networks.py run out/real-networks.json
	$(BIN)/python benchmarks/studio.py

format: install
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) web/node_modules out site build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
