# `make lab` and `make test` are all that is needed; `make` alone lists the rest.

PYTHON ?= python3
LAB_ARGS ?=
PYTEST_ARGS ?=
BENCH_ARGS ?=
JOBS ?= 2
CPU_INDEX ?= https://download.pytorch.org/whl/cpu

BIN := .venv/bin

# CPU=1 fetches a torch without CUDA, and the environment remembers it (.venv/.cpu) until `make clean`.
# CPU=0 says "with CUDA, I know".
ifeq ($(CPU),1)
  STAMP := .venv/.installed-cpu
else ifneq ($(wildcard .venv/.cpu),)
  STAMP := .venv/.installed-cpu
  override CPU := 1
else
  STAMP := .venv/.installed
endif
# Progress bars for the first, long download; afterwards only what goes wrong.
QUIET := $(if $(wildcard .venv/lib/python*/site-packages/torch-*.dist-info),--quiet)
INSTALL := $(BIN)/python -m pip install --disable-pip-version-check $(QUIET) -c constraints.txt
ifeq ($(CPU),1)
  # Only torch itself comes from there; what it needs comes with the rest.
  TORCH := $(INSTALL) --no-deps --upgrade --index-url $(CPU_INDEX) torch
endif

.DEFAULT_GOAL := help
.PHONY: help lab env test test-all test-env lint format notebooks editions site pictures javascript links constraints bench formal clean

help: ## list the targets
	@echo "make lab    sets everything up and opens JupyterLab on the first notebook"
	@echo "make test   runs all checks and tests"
	@echo
	@grep -E '^[a-z-]+:.*## ' Makefile | sed -E 's/^([a-z-]+):.*## (.*)/  \1\t\2/' | expand -t 14
	@echo
	@echo "CPU=1                    torch without CUDA (smaller download on Linux)"
	@echo "PYTHON=python3.12        the Python to build the environment with"
	@echo "LAB_ARGS=--no-browser    passed on to jupyter lab"
	@echo "PYTEST_ARGS='-k rank'    passed on to pytest;  JOBS=4 runs the tests in 4 processes"
	@echo "BENCH_ARGS=--quick       a minute, writes nothing;  --large also takes what lasts minutes each"

# JupyterLab does not start as root, which everybody is in a container, unless it is told to.
ALLOW_ROOT = $(if $(filter 0,$(shell id -u)),--allow-root)

lab: env ## open JupyterLab (makes the environment first)
	@$(if $(ALLOW_ROOT),echo "neuroviz: you are root: JupyterLab gets $(ALLOW_ROOT)")
	$(BIN)/python -m jupyterlab --notebook-dir=. notebooks/00_start.ipynb $(ALLOW_ROOT) $(LAB_ARGS)

env: $(STAMP) .venv/etc/jupyter/labconfig/default_setting_overrides.json ## make the environment in .venv

# Each stamp is touched last: an interrupted installation has none, and the next call goes on.
$(STAMP): pyproject.toml constraints.txt $(wildcard beyond/pyproject.toml)
	@command -v $(PYTHON) >/dev/null || { echo "neuroviz: there is no $(PYTHON) here; name your Python (3.11 or newer):  make lab PYTHON=…" >&2; exit 1; }
	@$(PYTHON) tools/environment.py "$(CPU)" "$(firstword $(MAKECMDGOALS) env)"
	$(TORCH)
	$(INSTALL) -e ".[notebooks,torch,workers]" -e beyond
	@touch $@

$(STAMP)-tests: $(STAMP)
	@$(PYTHON) tools/environment.py "$(CPU)" "$(firstword $(MAKECMDGOALS) env)"
	$(INSTALL) -e ".[notebooks,torch,workers]" -e beyond --group dev
	@touch $@

# What only one command needs is fetched with its first call.
$(STAMP)-book: $(STAMP)
	@$(PYTHON) tools/environment.py "$(CPU)" "$(firstword $(MAKECMDGOALS) env)"
	$(INSTALL) -e ".[notebooks]" -e beyond --group book
	@touch $@

# No "Jupyter news" window over the first notebook.
.venv/etc/jupyter/labconfig/%.json: binder/labconfig/%.json $(STAMP)
	@mkdir -p $(@D)
	@cp $< $@

# What the scenes are checked with. A reader needs no node: the bundles are there.
web/node_modules/.installed: web/package-lock.json
	@if command -v npm >/dev/null; then \
	  cd web && npm ci --no-audit --no-fund --no-progress --ignore-scripts --loglevel=error && touch node_modules/.installed || \
	    echo "neuroviz: npm did not get what web/ needs; its tests are left out"; \
	else echo "neuroviz: there is no node here; the tests of web/ are left out"; fi

test-env: env $(STAMP)-tests web/node_modules/.installed ## the environment, with what the tests need

test: lint ## ruff, then pytest: everything, of tests with many cases 20 of them
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(JOBS) --dist loadfile $(PYTEST_ARGS)

test-all: lint ## the same with every case, and every notebook in a browser
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(JOBS) --dist loadfile --full $(PYTEST_ARGS)

lint: test-env ## ruff only
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .

format: test-env ## rewrite the code the way ruff wants it
	$(BIN)/python -m ruff check --fix --exit-zero .
	$(BIN)/python -m ruff format .

notebooks: env ## write every notebooks/NN_name.ipynb from its .py
	$(BIN)/python -m tools.notebooks

editions: env ## build editions/student and editions/instructor; EDITIONS=--run also runs them all
	$(BIN)/python -m tools.editions $(EDITIONS)

site: env $(STAMP)-book ## all of it for any page host, in build/book/site; SITE="00_start" for the pages of one notebook
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m tools.book --jobs $(JOBS) $(or $(SITE),--lab)

pictures: test-env ## take the README's picture anew, in a real browser
	NEUROVIZ_PICTURES=docs/pictures $(BIN)/python -m pytest tests/test_browser.py

javascript: ## build the scripts of panels and of the site anew (needs node)
	cd web && npm ci --no-audit --no-fund --ignore-scripts && npm run build

links: env ## write the repository's address (pyproject.toml) wherever else it stands
	$(BIN)/python -m tools.links

constraints: ## resolve the versions in constraints.txt anew (torch stays)
	$(PYTHON) -m venv --clear .venv-new
	.venv-new/bin/python -m pip install --quiet --upgrade pip
	.venv-new/bin/python -m pip install "$$(grep '^torch==' constraints.txt)" -e ".[notebooks,torch,workers]" -e beyond --group dev
	.venv-new/bin/python -m tools.constraints
	rm -rf .venv-new

bench: test-env ## run all benchmarks and write their tables (benchmarks/README.md), some minutes
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks $(BENCH_ARGS)

formal: ## check the proofs in formal/ with Coq (Debian: coq, libcoq-mathcomp-algebra)
	@mkdir -p build/formal && cp formal/*.v build/formal
	cd build/formal && for file in *.v; do coqc -q -w none $$file || exit 1; done

clean: ## remove the environment and every cache
	rm -rf .venv .venv-new .pytest_cache .ruff_cache build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
	find . -name .ipynb_checkpoints -type d -prune -exec rm -rf {} +
