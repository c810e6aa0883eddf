"""Every model has a page, whose commands are right."""

from __future__ import annotations

import re
from pathlib import Path

from hyperbaton.base.options import options_of
from hyperbaton.features import FEATURES
from hyperbaton.models import MODELS

DOCS = Path(__file__).parents[2] / "docs"


def test_every_model_has_a_page_with_commands_that_exist() -> None:
    for name in MODELS:
        page = (DOCS / "models" / f"{name}.md").read_text(encoding="utf-8")
        commands = re.findall(rf"^hyperbaton train {name} .*$", page, re.MULTILINE)
        assert commands, name
        flags = {opt.flag for opt in options_of(MODELS[name])} | {
            "source-classes",
            "target-classes",
            "source-tags",
            "source-trees",
            "memory",  # of `train`
        }
        own = re.sub(r"`(hyperbaton )?(extract|system) [^`]*`|hyperbaton extract --moses", "", page)  # of other commands
        for flag in re.findall(r"--([a-z][a-z-]+)", own):
            assert flag.removeprefix("no-") in flags, (name, flag)


def test_every_feature_set_is_in_the_table() -> None:
    page = (DOCS / "features.md").read_text(encoding="utf-8")
    for name in FEATURES:
        assert f"| `{name}` |" in page, name
