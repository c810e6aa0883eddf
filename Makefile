# make lists the targets; every target makes its own virtual environment first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/installed
SOURCES := $(shell find core bindings -name '*.cc' -o -name '*.hh') CMakeLists.txt pyproject.toml

.PHONY: help install demo docs test check format clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 16

$(STAMP): $(SOURCES)
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check "scikit-build-core>=1.0" "nanobind>=2.9" cmake ninja setuptools wheel
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --editable ".[dev]"
	@cp build/*/_core.pyi src/hyperbaton/_core.pyi
	@touch $@

install: $(STAMP) ## make the virtual environment in .venv and install hyperbaton into it

demo: $(STAMP) ## an experiment on generated text, from text to report
	@$(BIN)/hyperbaton demo

docs: $(STAMP) ## build the documentation into site/
	@$(BIN)/mkdocs build --strict --quiet

test: $(STAMP) ## run all tests
	$(BIN)/python -m pytest -n 2

check: $(STAMP) ## format, lint, types, fast tests: about a minute
	$(BIN)/ruff format --check src tests benchmarks docs/hooks
	$(BIN)/ruff check src tests benchmarks docs/hooks
	find core bindings -name '*.cc' -o -name '*.hh' | xargs $(BIN)/clang-format --dry-run --Werror
	$(BIN)/mypy
	$(BIN)/python -m pytest -n 2 -m "not slow"

format: $(STAMP) ## rewrite the sources in the house style
	$(BIN)/ruff format src tests benchmarks docs/hooks
	$(BIN)/ruff check --fix src tests benchmarks docs/hooks
	find core bindings -name '*.cc' -o -name '*.hh' | xargs $(BIN)/clang-format -i

clean: ## remove what was built
	rm -rf $(VENV) build dist site
