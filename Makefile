# make demo · make test · make test-long · make check · make docs · make studio · make bench
PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/.installed
# Tensors of this size run fastest on one thread; the test runner gives each core a process instead. Each process begins
# with half of the tests in order (worksteal), so that it shares fixtures of a file instead of preparing them twice.
export OMP_NUM_THREADS ?= 1

.PHONY: demo test test-long check quick docs studio bench clean

$(INSTALLED): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "regard needs Python 3.11 or newer: make demo PYTHON=python3.12")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet -c constraints.txt -e ".[dev,gpu,data,onnx,studio,bulk,docs]"
	@touch $@

demo: $(INSTALLED)  ## train, translate and look, in about three minutes
	$(BIN)/regard demo
	@echo 'To type regard without a path: source $(BIN)/activate'

check: $(INSTALLED)  ## lint, types and import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: check  ## everything that must hold after each change
	PYTHONDONTWRITEBYTECODE=1 $(BIN)/pytest -n 2 --dist worksteal -m "not long"

test-long: check  ## the same and the tests that take long: before a release
	PYTHONDONTWRITEBYTECODE=1 REGARD_CHECK_ALL_SHAPES=1 $(BIN)/pytest -n 2 --dist worksteal

quick: $(INSTALLED)  ## the tests that train nothing
	PYTHONDONTWRITEBYTECODE=1 $(BIN)/pytest -n 2 --dist worksteal -m "not slow and not long"

docs: $(INSTALLED)  ## the site: story, guides, reference, results; open site/index.html
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo 'Open site/index.html'

studio:  ## build the page of the studio into src/regard/server/page; needs Node 20 and npm
	cd studio && npm install --no-save --no-audit --no-fund && npm run check && npm test && npm run build

bench: $(INSTALLED)  ## the figures in docs/results.md
	$(BIN)/regard bench

clean:
	rm -rf .venv build dist site .mypy_cache .ruff_cache .import_linter_cache
