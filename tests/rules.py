"""Rules of the core as those of the oracle."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.resources import Resources
from hyperbaton.phrases.rules import RuleWork
from tests.oracles.rules import Rule


def rules_of_runs(work: RuleWork) -> Iterator[tuple[Rule, np.float32, int]]:
    """The rules of all runs with their counts, and the number of times that each was seen."""
    vocabularies = [vocabulary.words() for vocabulary in (work.source, work.target)]
    for run in work.runs(Resources(work.threads)):
        columns = _core.read_rules(run, work.symbols)
        for k, (count, times) in enumerate(zip(columns["counts"], columns["times"], strict=True)):
            source, target = (
                tuple(words[w] for w in _row(columns, f"{side}_words", f"{side}_offsets", k))
                for side, words in zip(("source", "target"), vocabularies, strict=True)
            )
            links = tuple((int(s), int(t)) for s, t in _row(columns, "links", "link_offsets", k))
            yield Rule(source, target, links), count, int(times)


def _row(columns: dict[str, npt.NDArray[np.generic]], values: str, offsets: str, k: int) -> npt.NDArray[np.generic]:
    begin, end = columns[offsets][k : k + 2]
    return columns[values][begin:end]
