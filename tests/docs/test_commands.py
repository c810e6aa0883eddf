"""Every command that a page shows has options that exist."""

from __future__ import annotations

import re
from pathlib import Path

import typer

from hyperbaton.cli import build, verbs

ROOT = Path(__file__).parents[2]
GLOBAL = {"--help", "--version", "--install-completion", "--show-completion"}


def test_commands_in_pages_exist() -> None:
    program = typer.main.get_command(build())
    known = {
        verb: {flag for option in program.commands[verb].params for flag in (*option.opts, *option.secondary_opts)}  # type: ignore[attr-defined]
        for verb in verbs()
    }
    seen = set()
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        text = page.read_text(encoding="utf-8").replace("\\\n", " ")
        for verb, rest in re.findall(r"(?:^|`|\| )\s*hyperbaton ([a-z][a-z-]*)([^`\n]*)", text, re.MULTILINE):
            if verb not in known:
                continue  # a sentence that begins with the name
            seen.add(verb)
            for flag in re.findall(r"(?<![\w-])--[a-z][a-z-]*", rest.partition(" | ")[0]):
                assert flag in known[verb] | GLOBAL, f"{page.name}: hyperbaton {verb} has no option {flag}"
    assert len(seen) > len(verbs()) // 2
