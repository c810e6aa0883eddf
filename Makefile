# make lists the targets; every target makes its own virtual environment first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/installed
DEV_STAMP := $(VENV)/installed-dev
CHECKED := build/sanitize
# What reads bytes that others wrote: the decoders, the readers of artefacts, tables and text, and the parsers of the service.
TESTS ?= tests/property/test_decode.py tests/property/test_hierarchical.py tests/property/test_operations.py \
  tests/property/test_fuzz_moses.py tests/property/test_fuzz_readers.py tests/property/test_rules.py tests/property/test_lm.py \
  tests/property/test_table.py tests/golden tests/unit/test_translate.py tests/unit/test_rules_system.py \
  tests/unit/test_damaged_artefacts.py tests/unit/test_reading_artefacts.py tests/unit/test_store.py \
  tests/unit/test_tables.py tests/unit/test_moses_tables.py tests/unit/test_lm.py tests/unit/test_bad_input.py \
  tests/unit/test_serve_attacks.py tests/unit/test_serve_dialects.py tests/unit/test_short_requests.py tests/unit/test_serve.py
SOURCES := $(shell find core bindings -name '*.cc' -o -name '*.hh') CMakeLists.txt core/CMakeLists.txt pyproject.toml

PYTHON_SOURCES := src tests benchmarks papers tools docs/hooks
PROSE := src core bindings benchmarks papers tools docs README.md CONTRIBUTING.md RELEASING.md SECURITY.md CHANGELOG.md
# Neighbouring tests share what a module prepares: each process starts with a run of them and takes others when it is done.
# Some tests wait for other processes: three share two processors. They start the interpreter many times: compiled modules
# must be kept. Libraries with threads of their own would keep processors busy that other tests could use.
PYTEST := env -u PYTHONDONTWRITEBYTECODE OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 3 --dist worksteal

.PHONY: help install torch demo docs docs-write test core-test core-checks lint check stubs sanitize wheel format clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 16

LOG := $(VENV)/install.log
INSTALL := $(BIN)/python tools/install.py $(LOG)

$(STAMP): $(SOURCES)
	@test -x $(BIN)/python || { echo "making a virtual environment in $(VENV)"; $(PYTHON) -m venv $(VENV); }
	@: > $(LOG)
	@echo "installing build tools"
	@$(INSTALL) "scikit-build-core>=1.0" "nanobind>=3.1,<4" "nanobind-backend>=1,<2" "setuptools-scm>=8" cmake ninja
	@echo "installing hyperbaton and what it needs; compiling its core takes a few minutes"
	@$(INSTALL) --no-build-isolation --editable .
	@cp "$$(ls -t build/*/_core.pyi | head -1)" src/hyperbaton/_core.pyi
	@touch $@

$(DEV_STAMP): $(STAMP)
	@echo "installing what tests, checks and documentation need (the extra 'dev' of pyproject.toml)"
	@$(INSTALL) "hyperbaton[dev]"
	@touch $@

install: $(STAMP) ## make the virtual environment in .venv and install hyperbaton into it

# pip reads what a wheel needs before it downloads the wheel since version 23.2.
torch: $(DEV_STAMP) ## install PyTorch without CUDA, for the tests that need it, where the package index has such a build
	@echo "installing PyTorch's CPU build"
	@$(INSTALL) "pip>=23.2"
	@$(INSTALL) --constraint tools/torch.txt "hyperbaton[torch]" \
	  || echo "PyTorch is not installed: the package index has no build without CUDA. The tests that need it are skipped."

demo: $(STAMP) ## an experiment on generated text, from text to report
	@$(BIN)/hyperbaton demo

docs: $(DEV_STAMP) ## build the documentation into site/
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo site/index.html

docs-write: $(DEV_STAMP) ## write options, commands, Python reference and pictures into the pages of docs/
	@$(BIN)/python docs/hooks/write.py

test: $(DEV_STAMP) ## run all tests
	$(PYTEST)

core-test: $(STAMP) ## tests of the core in C++, as it was installed
	@$(BIN)/cmake -S core -B build/core -DHYPERBATON_CORE_LIBRARY="$$(ls -t $(CURDIR)/build/*/core/libhyperbaton_core.a | head -1)" > /dev/null
	@$(BIN)/cmake --build build/core --parallel 2 && build/core/core_tests

core-checks: $(STAMP) ## the same tests with checks of memory and undefined behaviour
	@$(BIN)/cmake -S core -B build/core-checked -DHYPERBATON_SANITIZE=ON -DHYPERBATON_OPTIMIZATION=-O0 -DCMAKE_BUILD_TYPE=None > /dev/null
	@$(BIN)/cmake --build build/core-checked --parallel 2 && build/core-checked/core_tests

lint: $(DEV_STAMP) ## format, lint, spelling and types
	$(BIN)/ruff format --check $(PYTHON_SOURCES)
	$(BIN)/ruff check $(PYTHON_SOURCES)
	find core bindings -name '*.cc' -o -name '*.hh' | xargs $(BIN)/clang-format --dry-run --Werror
	$(BIN)/codespell $(PROSE)
	$(BIN)/python tools/prose.py $(PROSE)
	$(BIN)/mypy

stubs: $(STAMP) ## tell type checkers the classes of models and learners, after adding one
	$(BIN)/python tools/stubs.py

check: lint ## format, lint, spelling, types, fast tests: a few minutes
	$(PYTEST) -m "not slow"

sanitize: $(DEV_STAMP) ## fast tests of decoders, readers and the service with a core that checks memory and undefined behaviour (Linux)
	@$(BIN)/cmake -S . -B $(CHECKED) -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN)/ninja) -DHYPERBATON_SANITIZE=ON -DHYPERBATON_OPTIMIZATION=-O1 -DPython_EXECUTABLE=$(abspath $(BIN)/python) > /dev/null
	$(BIN)/cmake --build $(CHECKED) --target _core
	PYTHONPATH=$(abspath tests/sanitize) HYPERBATON_CORE=$(abspath $(CHECKED)) \
	  LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libstdc++.so)" \
	  ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 $(PYTEST) --capture=sys -m "not slow" $(TESTS)

wheel: $(STAMP) ## build the source archive and from it the wheel into dist/, and test the wheel in an empty environment
	@$(INSTALL) build twine "abi3audit>=0.0.20" pytest
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/twine check --strict dist/*
	HYPERBATON_DIST=$(abspath dist) $(BIN)/python -m pytest --rootdir tests/wheel --confcutdir tests/wheel -c /dev/null tests/wheel

format: $(DEV_STAMP) ## rewrite the sources in the house style
	$(BIN)/ruff format $(PYTHON_SOURCES)
	$(BIN)/ruff check --fix $(PYTHON_SOURCES)
	find core bindings -name '*.cc' -o -name '*.hh' | xargs $(BIN)/clang-format -i

clean: ## remove what was built
	rm -rf $(VENV) build dist site
