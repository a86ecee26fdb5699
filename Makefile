PYTHON ?= python3
BIN := .venv/bin
# What runs mapper, and what tests and the site need beside it: each is installed when it is first needed.
READY := .venv/.ready
TESTED := .venv/.tested
DOCUMENTED := .venv/.documented

.PHONY: solve test compiled-tiling compiled-others slow bench fuzz docs notebooks certify papers lint style types fast clean

$(READY): pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip setuptools
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(DOCUMENTED): $(READY)
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	touch $@

$(TESTED): $(DOCUMENTED)
	$(BIN)/python -m pip install --quiet --editable '.[test]'
	touch $@

solve: $(READY)
	$(BIN)/mapper solve --objective edp

style: $(TESTED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(TESTED)
	$(BIN)/mypy

lint: style types

# A process of its own for each core.
fast: style
	$(BIN)/python -m pytest -q -n auto --dist worksteal

# Programs that tests start read bytecode, also where Python is told to keep none.
# Types are checked while what most tests need is compiled, in two parts that keep two cores busy: compiled by the tests,
# much of it is compiled by each of their processes, or runs as plain Python until it is.
test: $(TESTED)
	$(BIN)/python -m compileall -q src arch checkers codegen formulations models sim solver tests docs bench
	$(MAKE) --jobs 2 --no-print-directory compiled-others types compiled-tiling
	$(MAKE) --no-print-directory fast

compiled-tiling: $(READY)
	$(BIN)/mapper warm-up tiling

compiled-others: $(READY)
	$(BIN)/mapper warm-up modulo_schedule pe_allocation algorithm_selection trace_partition hierarchy

slow: $(TESTED)
	$(BIN)/python -m pytest -q -m slow -n auto --dist worksteal --durations 20

bench: $(TESTED)
	$(BIN)/python -m pip install --quiet --editable '.[bench]'
	$(BIN)/python -m bench

fuzz: $(TESTED)
	$(BIN)/python -m pip install --quiet --editable '.[fuzz]'
	$(BIN)/python -m tests.fuzz

notebooks: $(DOCUMENTED)
	$(BIN)/python -m docs.lessons.render -o build/notebooks --to notebook

docs: $(DOCUMENTED)
	$(BIN)/python -m docs.lessons.render -o build/lessons
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --clean

certify: $(READY)
	$(BIN)/python -m bench.certify

papers: $(DOCUMENTED)
	$(BIN)/python -m docs.papers

clean:
	rm -rf .venv build dist src/*.egg-info
