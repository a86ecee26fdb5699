PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.PHONY: solve test slow bench fuzz docs certify papers lint clean

$(READY): pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip setuptools
	$(BIN)/python -m pip install --quiet --editable '.[test,docs]'
	touch $(READY)

solve: $(READY)
	$(BIN)/mapper solve --objective edp

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# A process of its own for each core.
test: lint
	$(BIN)/python -m pytest -q -n auto --dist worksteal

slow: $(READY)
	$(BIN)/python -m pytest -q -m slow -n auto --dist worksteal --durations 20

bench: $(READY)
	$(BIN)/python -m pip install --quiet --editable '.[bench]'
	$(BIN)/python -m bench

fuzz: $(READY)
	$(BIN)/python -m pip install --quiet --editable '.[fuzz]'
	$(BIN)/python -m tests.fuzz

docs: $(READY)
	$(BIN)/python -m docs.lessons.render -o build/lessons
	$(BIN)/python -m mkdocs build --quiet --clean

certify: $(READY)
	$(BIN)/python -m bench.certify

papers: $(READY)
	$(BIN)/python -m docs.papers

clean:
	rm -rf .venv build dist src/*.egg-info
