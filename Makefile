# make lists the targets; every target makes its own virtual environment first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/installed
DEV_STAMP := $(VENV)/installed-dev
CHECKED := build/sanitize
TESTS ?= tests/unit tests/property tests/contract tests/golden
SOURCES := $(shell find core bindings -name '*.cc' -o -name '*.hh') CMakeLists.txt core/CMakeLists.txt pyproject.toml

.PHONY: help install demo docs test core-test check sanitize format clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 16

LOG := $(VENV)/install.log
INSTALL := $(BIN)/python tools/install.py $(LOG)

$(STAMP): $(SOURCES)
	@test -x $(BIN)/python || { echo "making a virtual environment in $(VENV)"; $(PYTHON) -m venv $(VENV); }
	@: > $(LOG)
	@echo "installing build tools"
	@$(INSTALL) "scikit-build-core>=1.0" "nanobind>=2.9" cmake ninja setuptools wheel
	@echo "installing hyperbaton and what it needs; compiling its core takes a few minutes"
	@$(INSTALL) --no-build-isolation --editable .
	@cp build/*/_core.pyi src/hyperbaton/_core.pyi
	@touch $@

$(DEV_STAMP): $(STAMP)
	@echo "installing what tests, checks and documentation need (the extra 'dev' of pyproject.toml)"
	@$(INSTALL) "hyperbaton[dev]"
	@touch $@

install: $(STAMP) ## make the virtual environment in .venv and install hyperbaton into it

demo: $(STAMP) ## an experiment on generated text, from text to report
	@$(BIN)/hyperbaton demo

docs: $(DEV_STAMP) ## build the documentation into site/
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo site/index.html

test: $(DEV_STAMP) ## run all tests
	$(BIN)/python -m pytest -n 2

core-test: $(STAMP) ## tests of the core in C++, plain and with checks of memory and undefined behaviour
	@for checks in OFF ON; do \
	  $(BIN)/cmake -S core -B build/core-$$checks -DHYPERBATON_SANITIZE=$$checks > /dev/null && \
	  $(BIN)/cmake --build build/core-$$checks --parallel 2 && build/core-$$checks/core_tests || exit 1; \
	done

check: $(DEV_STAMP) ## format, lint, types, fast tests: about a minute
	$(BIN)/ruff format --check src tests benchmarks tools docs/hooks
	$(BIN)/ruff check src tests benchmarks tools docs/hooks
	find core bindings -name '*.cc' -o -name '*.hh' | xargs $(BIN)/clang-format --dry-run --Werror
	$(BIN)/mypy
	$(BIN)/python -m pytest -n 2 -m "not slow"

sanitize: $(DEV_STAMP) ## fast tests with a core that checks memory and undefined behaviour (C++ by GCC or Clang on Linux)
	@$(BIN)/cmake -S . -B $(CHECKED) -G Ninja -DHYPERBATON_SANITIZE=ON -DPython_EXECUTABLE=$(abspath $(BIN)/python) > /dev/null
	$(BIN)/cmake --build $(CHECKED) --target _core
	PYTHONPATH=tests/sanitize HYPERBATON_CORE=$(abspath $(CHECKED)) \
	  LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libstdc++.so)" \
	  ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 $(BIN)/python -m pytest --capture=sys -m "not slow" $(TESTS)

format: $(DEV_STAMP) ## rewrite the sources in the house style
	$(BIN)/ruff format src tests benchmarks tools docs/hooks
	$(BIN)/ruff check --fix src tests benchmarks tools docs/hooks
	find core bindings -name '*.cc' -o -name '*.hh' | xargs $(BIN)/clang-format -i

clean: ## remove what was built
	rm -rf $(VENV) build dist site
