"""Evaluation of links against hand-made ones (Och and Ney 2003, section 6).

A are the links, S the sure and P the possible hand-made links, S ⊆ P:

    precision = |A ∩ P| / |A|      recall = |A ∩ S| / |S|      AER = 1 - (|A ∩ S| + |A ∩ P|) / (|A| + |S|)

and F1 is the harmonic mean of precision and recall, over all sentence pairs together. All
are percentages, like every metric here. Without possible links P = S, and AER = 100 - F1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hyperbaton.base.counted import counted
from hyperbaton.base.errors import InputError
from hyperbaton.corpus import Links


@dataclass(frozen=True)
class LinkScores:
    """Scores of links, all from 0 to 100; 0 of 0 counts as perfect."""

    aer: float
    precision: float
    recall: float
    f1: float
    n_links: int
    n_sure: int
    n_possible: int


def evaluate_links(links: Links, sure: Links, possible: Links | None = None) -> LinkScores:
    """Score links against hand-made ones; sure links count as possible whether `possible` lists them or not.

    >>> links, sure = Links.of([[(0, 0), (1, 1)]]), Links.of([[(0, 0)]])
    >>> scores = evaluate_links(links, sure, possible=Links.of([[(1, 1)]]))
    >>> scores.aer, scores.precision, scores.recall
    (0.0, 100.0, 100.0)
    >>> round(evaluate_links(links, sure).aer, 1)
    33.3
    """
    for name, gold in (("sure", sure), ("possible", possible)):
        if gold is not None and len(gold) != len(links):
            raise InputError(f"{counted(len(links), 'line')} of links, but {counted(len(gold), 'line')} of {name} links")
    a, s = _keys(links), _keys(sure)
    p = s if possible is None else np.union1d(s, _keys(possible))
    n_sure_hits = len(np.intersect1d(a, s, assume_unique=True))
    n_possible_hits = len(np.intersect1d(a, p, assume_unique=True))
    precision, recall = _percent(n_possible_hits, len(a)), _percent(n_sure_hits, len(s))
    return LinkScores(
        aer=100 - _percent(n_sure_hits + n_possible_hits, len(a) + len(s)),
        precision=precision,
        recall=recall,
        f1=2 * precision * recall / (precision + recall) if precision + recall else 0.0,
        n_links=len(a),
        n_sure=len(s),
        n_possible=len(p),
    )


def _percent(part: int, whole: int) -> float:
    return 100 * part / whole if whole else 100.0


def _keys(links: Links) -> npt.NDArray[np.int64]:
    """One number for each point, combining sentence, source position and target position."""
    sentence = np.repeat(np.arange(len(links), dtype=np.int64), np.diff(links.offsets))
    return (sentence << 32) | (links.points[:, 0].astype(np.int64) << 16) | links.points[:, 1]
