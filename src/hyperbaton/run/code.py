"""A digest of the code that a stage runs: its file, all files of the package that its `run` needs, and the compiled core.

Imports are read from the sources, without importing anything. In the file of a stage only those count whose names `run`
uses, directly or through other definitions of the file: what only planning and reporting use does not change its output.
Plug-ins are imported by name only when they are used, so only those named in the stage's options count. Thus a change to a
model retrains only that model, and a change to a reader repeats everything.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from hyperbaton import _core

PACKAGE = "hyperbaton"


def code_key(module: str, options: Mapping[str, object]) -> str:
    """The digest of the code that `run` of a module needs with these options."""
    words = {word.replace("-", "_") for word in _words(options)}
    seen: dict[str, Path] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        file = None if name in seen else _file(name)
        if file is None:
            continue
        seen[name] = file
        waiting += _imports(name, file, "run" if name == module else None)
        waiting += [f"{package}.{word}" for package in _registries(file) for word in words]
    digest = hashlib.sha256(_core_key().encode())
    for name, file in sorted(seen.items()):
        digest.update(f"{name} {_content(file)}\n".encode())
    return digest.hexdigest()


def _words(value: object) -> Iterator[str]:
    """Every word of the options, including names of plug-ins."""
    if isinstance(value, str):
        yield from re.findall(r"[A-Za-z_][\w-]*", value)
    elif isinstance(value, Mapping):
        for key, member in value.items():
            yield from _words(key)
            yield from _words(member)
    elif isinstance(value, list | tuple):
        for member in value:
            yield from _words(member)


@cache
def _file(module: str) -> Path | None:
    """The source of a module of the package; None if there is no such module."""
    parts = module.split(".")
    package = importlib.util.find_spec(PACKAGE)
    if parts[0] != PACKAGE or package is None or package.submodule_search_locations is None:
        return None
    for folder in map(Path, package.submodule_search_locations):
        base = folder.joinpath(*parts[1:])
        for file in (base / "__init__.py", base.with_suffix(".py")):
            if file.is_file():
                return file
    return None


@cache
def _tree(file: Path) -> ast.Module:
    return ast.parse(file.read_bytes())


@cache
def _imports(module: str, file: Path, function: str | None) -> list[str]:
    """The modules that a file, or only one function of it, imports, with their packages."""
    names = {module.rpartition(".")[0]}
    for node in _run_nodes(_tree(file)) if function is None else _needed_nodes(_tree(file), function):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            names |= {node.module, *(_home(node.module, alias.name) for alias in node.names)}
    return sorted(name for name in names if name.startswith(PACKAGE))


def _home(module: str, name: str) -> str:
    """The module that `from module import name` imports: one inside it, or that of a lazy name."""
    home = _lazy_names(module).get(name)
    if home is None:
        return f"{module}.{name}"
    return _home(home, name) if name in _lazy_names(home) else home


@cache
def _lazy_names(package: str) -> dict[str, str]:
    """The names that a package imports when they are first used, with their modules."""
    file = _file(package)
    blocks = [] if file is None else [node for node in _tree(file).body if _is_for_checkers(node)]
    imports = [node for block in blocks for node in ast.walk(block) if isinstance(node, ast.ImportFrom)]
    return {alias.name: node.module or "" for node in imports for alias in node.names}


def _is_for_checkers(node: ast.AST) -> bool:
    """Whether a node is only for type checkers: lazy names are listed there, too."""
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def _run_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Every node except those for type checkers."""
    for node in ast.iter_child_nodes(tree):
        if not _is_for_checkers(node):
            yield node
            yield from _run_nodes(node)


def _needed_nodes(tree: ast.Module, function: str) -> Iterator[ast.AST]:
    """Every node of the statements that a function needs: those that bind its name and, in turn, the names in them.

    >>> tree = ast.parse("from a import b; from c import d; x = b\\ndef run(): return x\\ndef plan(): return d")
    >>> [node.module for node in _needed_nodes(tree, "run") if isinstance(node, ast.ImportFrom)]
    ['a']
    """
    binding: dict[str, list[ast.stmt]] = {}
    for statement in tree.body:
        for name in _bound_names(statement):
            binding.setdefault(name, []).append(statement)
    waiting, seen = ["", function], set()  # statements that bind nothing always run
    while waiting:
        name = waiting.pop()
        for statement in () if name in seen else binding.get(name, ()):
            for node in (statement, *_run_nodes(statement)):
                yield node
                waiting += [node.id] if isinstance(node, ast.Name) else []
        seen.add(name)


def _bound_names(statement: ast.stmt) -> set[str]:
    """The names that a statement of a module binds; one empty name if it binds none."""
    if _is_for_checkers(statement):
        return set()
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return {statement.name}
    nodes = list(ast.walk(statement))
    aliases = {alias.asname or alias.name.partition(".")[0] for alias in nodes if isinstance(alias, ast.alias)}
    stored = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return aliases | stored or {""}


@cache
def _registries(file: Path) -> list[str]:
    """The plug-in folders for which a file makes registries."""
    calls = (node for node in ast.walk(_tree(file)) if isinstance(node, ast.Call))
    registries = (call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "Registry")
    folders = (argument for call in registries for argument in call.args[1:2])
    # A registry of the module's own folder is given __name__.
    root = _file(PACKAGE) or Path()
    here = ".".join([PACKAGE, *file.parent.parts[len(root.parent.parts) :]])
    return [str(argument.value) if isinstance(argument, ast.Constant) else here for argument in folders]


@cache
def _content(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


@cache
def _core_key() -> str:
    return _content(Path(str(_core.__file__)))
