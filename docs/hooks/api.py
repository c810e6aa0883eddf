"""The reference of the Python interface: a page for each folder of the package, made from what it exports.

A name is public if it stands in `__all__` of `hyperbaton` or of one of its folders. Its page has the signature, the
docstring, options or fields, and every public method, those of base classes by name. The heading of a class begins with
"class", because addresses on a page do not distinguish `Estimate` from `estimate`.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import textwrap
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache, cached_property
from types import GenericAlias, ModuleType, UnionType
from typing import Any, get_args

from reference import table

import hyperbaton
from hyperbaton.base.options import options_of
from hyperbaton.base.registry import Registry

_WIDTH = 100


@cache
def folders() -> dict[str, ModuleType]:
    """The folders of the package that export something, by name."""
    names = [module.name for module in pkgutil.iter_modules(hyperbaton.__path__) if module.ispkg]
    modules = {name: importlib.import_module(f"hyperbaton.{name}") for name in sorted(names)}
    return {name: module for name, module in modules.items() if public(module)}


def public(module: ModuleType) -> dict[str, Any]:
    """Return the exports of a module by name, without the modules among them."""
    exported = {name: getattr(module, name) for name in getattr(module, "__all__", ())}
    return {name: value for name, value in exported.items() if not isinstance(value, ModuleType)}


def contents(folder: str = "") -> str:
    """What a folder exports; without one, what `hyperbaton` itself exports, and the folders."""
    if folder:
        module = folders()[folder]
        names = sorted(public(module), key=str.lower)
        rows = [[_link(n, public(module)[n]), _summary(public(module)[n])] for n in names]
        entries = [_entry(name, public(module)[name]) for name in names]
        return "\n\n".join([_docstring(module), table(["name", "about"], rows), *entries])
    rows, entries = [], []
    for name, value in public(hyperbaton).items():
        if name.startswith("__"):
            continue
        home = next((f"{folder}.md" for folder, module in folders().items() if public(module).get(name) is value), "")
        rows.append([_link(name, value, home), _summary(value)])
        if not home:
            entries.append(_entry(name, value))
    places = [[f"[`hyperbaton.{name}`]({name}.md)", _first_line(module)] for name, module in folders().items()]
    return "\n\n".join([table(["name", "about"], rows), "## Folders", table(["folder", "about"], places), *entries])


def _title(name: str, value: Any) -> str:
    return f"class {name}" if inspect.isclass(value) and not isinstance(value, GenericAlias) else name


def _link(name: str, value: Any, page: str = "") -> str:
    return f"[`{name}`]({page}#{_title(name, value).lower().replace(' ', '-')})"


def _entry(name: str, value: Any) -> str:
    if isinstance(value, Registry):
        plugins = [key for key in value if value[key].__module__.startswith("hyperbaton.")]
        rows = [[f"`{name}[{key!r}]`", f"`{value[key].__name__}`", value.describe(key)] for key in plugins]
        about = f"Every {value.kind} by its name: a name gives its class, and iterating gives the names."
        return f"## {name}\n\n{about}\n\n{table(['written', 'class', 'about'], rows)}"
    if isinstance(value, GenericAlias):  # of NumPy, whose own docstring is about all arrays
        return f"## {name}\n\n```python\n{name} = NDArray[{get_args(get_args(value)[1])[0].__name__}]\n```"
    if inspect.isclass(value):
        return "\n\n".join(_class(name, value))
    if callable(value) and hasattr(value, "__name__"):
        return f"## {name}\n\n{_signature(name, value)}\n\n{_docstring(value)}"
    return f"## {name}\n\n```python\n{name} = {_kind(value) if isinstance(value, UnionType) else repr(value)}\n```"


def _class(name: str, cls: type) -> Iterator[str]:
    yield f"## {_title(name, cls)}"
    if not inspect.isabstract(cls) and not hasattr(cls, "_is_protocol"):
        yield _signature(name, cls)
    yield _docstring(cls)
    if is_dataclass(cls) and (options := options_of(cls)):
        rows = [[f"`{opt.name}`", "–" if opt.default is None else f"`{opt.default!r}`", opt.help] for opt in options]
        yield table(["option", "default", "about"], rows)
    elif columns := _fields(cls):
        yield table(["field", "type"], [[f"`{field}`", f"`{kind}`"] for field, kind in columns.items()])
    inherited: dict[str, list[str]] = {}
    for member in dir(cls):
        home = next((base for base in cls.__mro__ if member in vars(base)), object)
        if member.startswith("_") or not home.__module__.startswith("hyperbaton") or member in _fields(cls):
            continue
        if home is cls:
            yield from _member(cls, member, inspect.getattr_static(cls, member))
        else:
            inherited.setdefault(home.__name__, []).append(f"`{member}`")
    for base, members in inherited.items():
        yield f"From `{base}`: {', '.join(members)}."


def _member(owner: type, name: str, value: Any) -> Iterator[str]:
    shown = f"{owner.__name__}.{name}"
    if isinstance(value, property | cached_property):
        getter = value.func if isinstance(value, cached_property) else value.fget
        called = f"```python\n{shown}: {_kind(getattr(getter, '__annotations__', {}).get('return', 'Any'))}\n```"
    elif isinstance(value, staticmethod | classmethod):
        called = _signature(shown, value.__func__, skip=isinstance(value, classmethod))
    elif callable(value):
        called = _signature(shown, value, skip=True)
    else:
        return  # a constant of the class
    yield f"### {shown}\n\n{called}\n\n{_docstring(getattr(owner, name)) or _implemented(owner, name)}"


def _implemented(owner: type, name: str) -> str:
    """What a method without a docstring implements, if it is one of another toolkit's class."""
    bases = [base for base in owner.__mro__ if name in vars(base) and not base.__module__.startswith("hyperbaton")]
    return f"Implements `{bases[0].__module__.partition('.')[0]}`'s `{bases[0].__name__}.{name}`." if bases else ""


def _fields(cls: type) -> dict[str, str]:
    """The fields of a dataclass or a named tuple, with their types."""
    if is_dataclass(cls):
        return {f.name: _kind(f.type) for f in fields(cls) if not f.name.startswith("_")}
    return {name: _kind(cls.__annotations__.get(name, Any)) for name in getattr(cls, "_fields", ())}


def _signature(name: str, function: Any, skip: bool = False) -> str:
    """How it is called, as a block of code; on several lines where one would be too long."""
    try:
        signature = inspect.signature(function)
    except ValueError:  # of the compiled core: its docstring starts with it
        return ""
    words, kind = [], None
    parameters = list(signature.parameters.values())[skip:]
    for parameter in parameters:
        if parameter.kind is parameter.KEYWORD_ONLY and kind not in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL):
            words.append("*")
        kind = parameter.kind
        stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(kind, "")
        word = f"{stars}{parameter.name}"
        annotated = parameter.annotation is not parameter.empty
        if annotated:
            word += f": {_kind(parameter.annotation)}"
        if parameter.default is not parameter.empty:
            default = repr(parameter.default)
            word += f"{' = ' if annotated else '='}{'…' if default.startswith('<') or len(default) > 40 else default}"
        words.append(word)
    result = "" if signature.return_annotation is signature.empty else f" -> {_kind(signature.return_annotation)}"
    if inspect.isclass(function):
        result = ""
    line = f"{name}({', '.join(words)}){result}"
    if len(line) > _WIDTH:
        line = f"{name}(\n{''.join(f'    {word},{chr(10)}' for word in words)}){result}"
    return f"```python\n{line}\n```"


def _kind(annotation: Any) -> str:
    """A type as one would write it, without the modules of names."""
    text = getattr(annotation, "__forward_arg__", annotation)  # of named tuples
    text = text if isinstance(text, str) else inspect.formatannotation(text)
    return re.sub(r"\b(?:\w+\.)+(?=\w)", "", text)


def _docstring(value: Any) -> str:
    """A docstring as Markdown: examples and arguments stand out, everything else is as it is written."""
    paragraphs = []
    for paragraph in (inspect.getdoc(value) or "").split("\n\n"):
        if paragraph.lstrip().startswith(">>>"):
            paragraphs.append(f"```pycon\n{textwrap.dedent(paragraph)}\n```")
        elif paragraph.startswith("Arguments:"):
            paragraphs.append("\n".join(_arguments(textwrap.dedent(paragraph.partition("\n")[2]))))
        elif paragraph.startswith("    "):
            paragraphs.append(f"```text\n{textwrap.dedent(paragraph)}\n```")
        else:
            paragraphs.append(paragraph.replace("<", "&lt;"))
    return "\n\n".join(paragraphs)


def _arguments(text: str) -> Iterator[str]:
    for line in text.splitlines():
        name, colon, about = line.partition(": ")
        if colon and re.fullmatch(r"[\w, *]+", name) and not line.startswith(" "):
            yield f"- `{name}`: {about}"
        else:
            yield f"  {line.strip()}"


def _summary(value: Any) -> str:
    if isinstance(value, Registry):
        return f"Every {value.kind} by its name."
    if inspect.isclass(value) or inspect.isfunction(value):
        return _first_line(value)
    return ""


def _first_line(value: Any) -> str:
    return " ".join((inspect.getdoc(value) or "").partition("\n\n")[0].split())
