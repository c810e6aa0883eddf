"""Data flows one way: a folder imports folders to its left, and base."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "src" / "hyperbaton"
ORDER = [
    "network",
    "corpus",
    "align",
    "phrases",
    "features",
    "learn",
    "lm",
    "models",
    "decode",
    "tune",
    "evaluate",
    "report",
    "run",
    "explore",
    "serve",
    "integrations",
]
LEAVES = {"learn", "metrics", "network"}  # import base alone
AHEAD = {
    "data": {"corpus", "align"},
    "decode": {"metrics"},
    "tune": {"metrics"},
    "evaluate": {"metrics"},
    "report": {"metrics", "data"},
    "run": {"metrics", "data"},
    "explore": {"metrics"},
}


# Folders of the core, each with those that its files may include besides their own, base and testing.
CORE = {
    "base": set(),
    "corpus": set(),
    "metrics": set(),
    "tune": set(),
    "learn": set(),
    "align": {"corpus", "network"},
    "lm": {"corpus"},
    "phrases": {"align", "corpus"},
    "rules": {"align", "corpus", "phrases"},
    "features": {"align", "corpus", "phrases"},
    "block": {"align", "corpus", "features", "learn", "phrases"},
    "operations": {"align", "corpus", "phrases"},
    "network": set(),
    "next_position": {"features", "learn", "network", "phrases"},
    "decode": {"block", "corpus", "lm", "operations", "phrases"},
    "hierarchical": {"corpus", "decode", "phrases", "rules"},
    "testing": set(),
}


@cache
def nodes(path: Path) -> list[ast.AST]:
    """What the layers of a file show in: its imports and classes."""
    tree = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return [node for node in tree if isinstance(node, ast.ImportFrom | ast.Import | ast.ClassDef)]


def modules(path: Path) -> Iterator[list[str]]:
    """The modules of the package that a file imports, as parts of their names."""
    for node in nodes(path):
        names = []
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            module = node.module or ""
            names = [f"{module}.{alias.name}" for alias in node.names] if module == "hyperbaton" else [module]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            parts = name.split(".")
            if parts[0] == "hyperbaton" and len(parts) > 1:
                yield parts


def imports(path: Path) -> Iterator[str]:
    """The folders of the package that a file imports."""
    return (parts[1] for parts in modules(path))


def allowed(folder: str) -> set[str]:
    own = {folder, "base", "_core"}
    if folder in LEAVES:
        return own
    left = set(ORDER[: ORDER.index(folder)]) if folder in ORDER else set()
    return own | left | AHEAD.get(folder, set())


def test_every_folder_imports_only_what_is_left_of_it() -> None:
    for path in PACKAGE.rglob("*.py"):
        folder = path.relative_to(PACKAGE).parts[0]
        if folder in ("__init__.py", "__main__.py"):
            continue
        for imported in imports(path):
            # The program may import everything, and nothing imports the program.
            fits = imported in allowed(folder) if folder != "cli" else imported != "__main__"
            assert fits, f"{path.relative_to(PACKAGE)} imports {imported}"


def module_names() -> dict[str, Path]:
    """The files of the package by the names of their modules."""
    names = {".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts): path for path in PACKAGE.rglob("*.py")}
    return {name.removesuffix(".__init__"): path for name, path in names.items()}


def imported_modules(path: Path, known: dict[str, Path]) -> set[str]:
    """The modules that a file imports, also inside functions and for type checkers, without the package's face."""
    names = set[str]()
    for node in nodes(path):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            full = (f"{node.module}.{alias.name}" for alias in node.names)
            names |= {name if name in known else str(node.module) for name in full}
    return (names & known.keys()) - {"hyperbaton"}


def check_circles(graph: dict[str, set[str]]) -> None:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail("modules import each other in a circle: " + " → ".join(reversed(error.args[1])))


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Each module can be read without a module that needs it; an import inside a function counts too."""
    known = module_names()
    check_circles({name: imported_modules(path, known) - {name} for name, path in known.items()})


def test_a_circle_is_named() -> None:
    with pytest.raises(pytest.fail.Exception, match=r"in a circle: (a → b → a|b → a → b)"):
        check_circles({"a": {"b"}, "b": {"a"}, "c": {"a"}})


def test_private_modules_stay_in_their_folder() -> None:
    for path in PACKAGE.rglob("*.py"):
        here = ["hyperbaton", *path.relative_to(PACKAGE).parts[:-1]]
        for parts in modules(path):
            for i, part in enumerate(parts):
                if part.startswith("_") and part not in ("_core", "__main__"):
                    assert here[:i] == parts[:i], f"{path.relative_to(PACKAGE)} imports {'.'.join(parts)}"


def test_fenced_packages_have_one_door() -> None:
    """Only they import their modules, and what they import of their folder does not import them."""
    fences = (["decode", "raw"], ["decode", "moses"], ["phrases", "rules"])
    for fence in (["hyperbaton", *names] for names in fences):
        inside = PACKAGE.joinpath(*fence[1:])
        for path in PACKAGE.rglob("*.py"):
            for parts in modules(path):
                assert inside in path.parents or parts[:3] != fence or len(parts) == 3, f"{path} imports {'.'.join(parts)}"
        used = {tuple(parts) for path in inside.glob("*.py") for parts in modules(path) if parts[:2] == fence[:2]}
        for parts in used - {tuple(parts) for parts in used if list(parts[:3]) == fence}:
            path = PACKAGE.joinpath(*parts[1:]).with_suffix(".py")
            assert fence not in [imported[:3] for imported in modules(path)], f"{path} and {fence} import each other"


def test_a_class_name_means_one_thing() -> None:
    """Plug-ins are named after their files, and options of stages are found as Options."""
    registries = {"aligners", "features", "learn", "metrics", "minimizers", "models", "smoothings"}
    registries |= {"taggers", "tokenizers"}
    homes: dict[str, list[str]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in nodes(path):
            if isinstance(node, ast.ClassDef):
                plugin = path.parent.name in registries and node.name.lower().strip("_") == path.stem.replace("_", "")
                found_by_name = path.parent.name == "stages" and node.name == "Options"
                if not plugin and not found_by_name:
                    homes.setdefault(node.name, []).append(path.relative_to(PACKAGE).as_posix())
    assert {name: files for name, files in homes.items() if len(files) > 1} == {}


def test_folders_of_the_core_include_only_what_they_may() -> None:
    core = PACKAGE.parents[1] / "core"
    for path in core.rglob("*.[ch][ch]"):
        folder = path.relative_to(core).parts[0]
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith('#include "'):
                included = line.split('"')[1].partition("/")[0]
                assert included in {folder, "base", "testing", *CORE[folder]}, f"{path.relative_to(core)}: {line}"


def test_core_has_no_python_no_files_and_no_printing() -> None:
    core = PACKAGE.parents[1] / "core"
    forbidden = ("nanobind", "Python.h", "<iostream>", "<fstream>", "<filesystem>", 'printf("', "std::cout")
    for path in core.rglob("*.[ch][ch]"):
        if path.stem.endswith("_test"):
            continue
        text = path.read_text(encoding="utf-8")
        for word in forbidden:
            assert word not in text, f"{path.name}: {word}"


def test_bound_functions_have_few_parameters() -> None:
    """Related values come as one object, so that no two numbers in a row can be taken for each other."""
    stub = ast.parse((PACKAGE / "_core.pyi").read_text(encoding="utf-8"))
    for node in ast.walk(stub):
        if isinstance(node, ast.FunctionDef):
            names = [argument.arg for argument in node.args.posonlyargs + node.args.args + node.args.kwonlyargs]
            assert len([name for name in names if name != "self"]) <= 8, f"{node.name}({', '.join(names)})"


def test_objects_come_back_from_their_arrays_in_one_way() -> None:
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name == "from_arrays":
                assert ast.unparse(node.args).removeprefix("cls, ") in ("arrays: Arrays", "arrays: store.Arrays"), path
