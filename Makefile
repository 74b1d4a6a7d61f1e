#: make lab    sets everything up and opens JupyterLab on the first notebook
#: make test   runs all checks and tests
#:
#: CPU=1                    torch without CUDA (smaller download on Linux), until `make clean`; CPU=0: with it, I know
#: PYTHON=python3.12        the Python to build the environment with
#: LAB_ARGS=--no-browser    passed on to jupyter lab
#: PYTEST_ARGS='-k rank'    passed on to pytest;  JOBS=4 runs the tests in 4 processes
#: PYODIDE=folder          a release of Pyodide, for pages whose Live needs no internet
#:

PYTHON ?= python3
JOBS ?= 2
CPU_INDEX ?= https://download.pytorch.org/whl/cpu
CPU ?= $(if $(wildcard .venv/.cpu),1)

RUN := .venv/bin/python
RUN_ALONE := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(RUN)
PYTEST = $(RUN_ALONE) -m pytest -n $(JOBS) --dist loadfile $(PYTEST_ARGS)
STAMP := .venv/.installed$(if $(filter 1,$(CPU)),-cpu)
# Progress bars for the first, long download; afterwards only what goes wrong.
QUIET := $(if $(wildcard .venv/lib/python*/site-packages/torch-*.dist-info),--quiet)
INSTALL := $(RUN) -m pip install --disable-pip-version-check $(QUIET) -c constraints.txt
PREPARE = @sh tools/environment.sh "$(PYTHON)" "$(CPU)" "$(firstword $(MAKECMDGOALS) env)"
# JupyterLab does not start as root, which everybody is in a container, unless it is told to.
ALLOW_ROOT = $(if $(filter 0,$(shell id -u)),--allow-root)

.DEFAULT_GOAL := help
.PHONY: help lab env test test-long test-all test-env lint format notebooks editions site class clean

help: ## list the targets
	@sed -n 's/^#: \{0,1\}//p' Makefile
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  \1\t\2/' | expand -t 14

lab: env ## open JupyterLab (makes the environment first)
	@$(if $(ALLOW_ROOT),echo "neuroviz: you are root: JupyterLab gets $(ALLOW_ROOT)")
	$(RUN) -m jupyterlab --notebook-dir=. notebooks/00_start.ipynb $(ALLOW_ROOT) $(LAB_ARGS)

env: $(STAMP) ## make the environment in .venv
test-env: $(STAMP)-dev web/node_modules/.installed ## the environment, with what the tests need

# Each stamp is touched last: an interrupted installation has none, and the next call goes on.
$(STAMP): pyproject.toml constraints.txt $(wildcard beyond/pyproject.toml)
	$(PREPARE)
	$(if $(filter 1,$(CPU)),$(INSTALL) --no-deps --upgrade --index-url $(CPU_INDEX) torch)
	$(INSTALL) -e ".[notebooks,torch,workers,class]" -e beyond
	@touch $@
$(STAMP)-dev $(STAMP)-book: $(STAMP)-%: $(STAMP)
	$(PREPARE)
	$(INSTALL) -e ".[notebooks]" -e beyond --group $*
	@touch $@
web/node_modules/.installed: web/package-lock.json
	@sh tools/node.sh

test: lint ## ruff, then pytest: of tests with many cases a few
	$(PYTEST)
test-long: test-env ## the tests that take more than 1.5 seconds each
	$(PYTEST) --long
test-all: lint ## both with every case, and every notebook in a browser
	$(PYTEST) --full
lint: test-env ## ruff only
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
format: test-env ## rewrite the code the way ruff wants it
	$(RUN) -m ruff check --fix --exit-zero .
	$(RUN) -m ruff format .
notebooks: env ## write every notebooks/NN_name.ipynb from its .py
	$(RUN) -m tools.notebooks
editions: env ## build editions/student and editions/instructor; EDITIONS=--run also runs them all
	$(RUN) -m tools.editions $(EDITIONS)
site: $(STAMP)-book ## all of it for any page host, in build/book/site; SITE="00_start" for the pages of one notebook
	$(RUN_ALONE) -m tools.book --jobs $(JOBS) $(if $(PYODIDE),--pyodide $(PYODIDE)) $(or $(SITE),--lab)
class: site ## build the pages, then serve them to a class; CLASS_ARGS=--help
	$(RUN) -m neuroviz class $(CLASS_ARGS)
clean: ## remove the environment and every cache
	rm -rf .venv .venv-new .pytest_cache .ruff_cache build dist
	find . \( -name __pycache__ -o -name .ipynb_checkpoints \) -type d -prune -exec rm -rf {} +

include tools/maintenance.mk
