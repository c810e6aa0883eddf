"""Write what the program says about itself into the pages: `make docs-write`.

`<!-- @list models -->` in a page is followed by the list of models and `<!-- /@ -->`, so the page is complete where it is
read: in the repository, on the site, in an editor. The pages of `api/` and `commands/` consist of such a part below their
title, and appear and disappear with what they describe. Pictures are drawn by the package from generated text.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

import api
import reference
import results

from hyperbaton.cli import verbs

DOCS = reference.DOCS
# What can stand in a page as `<!-- @NAME ARGUMENT -->`.
_PARTS: dict[str, Callable[..., str]] = {
    "api": api.contents,
    "command": reference.command,
    "commands": reference.commands,
    "list": reference.plugin_list,
    "options": reference.plugin_options,
    "precision": results.precision,
    "predicted": results.predicted,
}
# All text between the marks is replaced, including the conflict marks of a merge.
_PART = re.compile(r"^<!-- @(\S+)(?: (\S+))? -->\n(?:(?:(?!<!-- @).*\n)*?<!-- /@ -->\n)?", re.MULTILINE)


def filled(text: str, page: str = "") -> str:
    """A page with its parts as the program gives them now."""

    def part(match: re.Match[str]) -> str:
        name, argument = match.groups()
        if name not in _PARTS:
            raise SystemExit(f"{page}: nothing is called @{name}; there are {', '.join(_PARTS)}")
        mark = f"{name} {argument}" if argument else name
        return f"<!-- @{mark} -->\n\n{_PARTS[name](*([argument] if argument else [])).strip()}\n\n<!-- /@ -->\n"

    return _PART.sub(part, f"{text.rstrip()}\n")


def pages() -> dict[Path, str]:
    """Every page of the documentation as it should be."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(DOCS.rglob("*.md"))}
    for folder, about in (("api", "api"), ("commands", "command")):
        names = api.folders() if folder == "api" else verbs()
        titles = {DOCS / folder / f"{name}.md": f"{'hyperbaton.' * (folder == 'api')}{name}" for name in names}
        for path in [path for path in texts if path.parent == DOCS / folder and path.stem != "index"]:
            if path not in titles:
                del texts[path]
        for path, title in titles.items():
            texts.setdefault(path, f"# {title}\n\n<!-- @{about} {path.stem} -->\n")
    return {path: filled(text, str(path)) for path, text in texts.items()}


def stale() -> dict[Path, str]:
    """The pages that are not as they should be, with their text; an empty one should not be there."""
    wanted = pages()
    there = {path: path.read_text(encoding="utf-8") for path in DOCS.rglob("*.md")}
    return {path: wanted.get(path, "") for path in there | wanted if there.get(path) != wanted.get(path)}


def main() -> None:
    """Bring all pages and pictures up to date."""
    import pictures

    for path, text in stale().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8") if text else path.unlink()
        print(path.relative_to(DOCS.parent))
    for path in pictures.write():
        print(path.relative_to(DOCS.parent))


if __name__ == "__main__":
    sys.exit(main())
