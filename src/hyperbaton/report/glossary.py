"""Titles of metrics, and explanations of words in a report, shown on hovering: metrics, orientation classes, tags."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from importlib.resources import files
from typing import Literal

from hyperbaton.metrics import METRICS, higher_is_better, metric_or_none

_WORDS: dict[str, dict[str, str]] = tomllib.loads(files(__package__).joinpath("glossary.toml").read_text(encoding="utf-8"))
# NIST runs from 0 to about 10; the others from 0 to 100.
_DECIMALS = {"NIST": 3}


def title_of(name: str) -> str:
    """A metric's title, with its given options.

    >>> title_of("bleu"), title_of("bleu:tokenize=none"), title_of("mine")
    ('BLEU', 'BLEU:tokenize=none', 'mine')
    """
    metric = metric_or_none(name)
    _, colon, options = name.partition(":")
    return name if metric is None else metric.title + colon + options


def wanted(name: str) -> Literal["high", "low"]:
    """Which scores of a metric are better.

    >>> wanted("TER"), wanted("BLEU")
    ('low', 'high')
    """
    return "high" if higher_is_better(name) else "low"


def decimals_of(name: str) -> int:
    """The number of digits of a metric."""
    return _DECIMALS.get(title_of(name).partition(":")[0], 2)


def about_metrics(names: Iterable[str]) -> dict[str, str]:
    """What metrics measure, by their titles in a report.

    >>> list(about_metrics(["wer", "mine"]))
    ['WER']
    """
    about = {METRICS[name].title.lower(): METRICS.describe(name) for name in METRICS}
    return {title: about[stem] for title in map(title_of, names) if (stem := title.partition(":")[0].lower()) in about}


def about_class(name: str) -> str:
    """What an orientation class or set is; "" if unknown.

    >>> about_class("left"), about_class("hier-msd"), about_class("mine")
    ('before the previous phrase in the source', "monotone, swap, discontinuous: Moses' classes", '')
    >>> about_class("-5<d<0"), about_class("d≥5")
    ('a jump forward: source words are skipped', 'a jump back, before the end of the previous phrase')
    """
    if re.fullmatch(r"[-\d<≤≥>]*d[-\d<≤≥>]+", name):  # an interval of the distance
        forward = name.endswith("<0") or "≤-" in name
        return f"a jump {'forward: source words are skipped' if forward else 'back, before the end of the previous phrase'}"
    return _WORDS["classes"].get(name, _WORDS["sets"].get(name.rpartition("-")[2], ""))


def about_tag(tag: str) -> str:
    """The meaning of a part-of-speech tag; "" if unknown."""
    tags = _WORDS["tags"]
    return tags.get(tag, tags.get(tag.partition("-")[0], ""))
