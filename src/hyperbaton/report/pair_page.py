"""Linked sentence pairs as one self-contained HTML page, those with the worst scores first.

Each pair is two rows of words with lines between the linked ones. The opacity of lines and words shows the aligner's
confidence in the links: the mean of both posteriors. The word under the pointer and its linked words are highlighted.
Without scripts there are no lines, but every word lists its links on hovering.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from hyperbaton.align import StoredScores, pair_gains
from hyperbaton.base.counted import counted
from hyperbaton.corpus import Bitext
from hyperbaton.report.page import whole_page


def choose_shown(gains: npt.NDArray[np.float64], n: int, *, worst: bool = False, seed: int = 0) -> list[int]:
    """Which pairs to show, the smallest gain first: n at random, or the n worst; pairs without a gain come first.

    >>> choose_shown(np.array([0.5, -2.0, np.nan, 0.1]), 2, worst=True)
    [2, 1]
    """
    keys = np.where(np.isnan(gains), -np.inf, gains)
    every = np.arange(len(keys))
    if not worst and n < len(keys):
        every = np.sort(np.random.default_rng(seed).choice(len(keys), n, replace=False))
    order = every[np.argsort(keys[every], kind="stable")]
    return [int(s) for s in order[:n]]


def _pair(bitext: Bitext, scores: StoredScores, s: int, gain: float) -> dict[str, object]:
    """A sentence pair as its template needs it: each word with the words it is linked to and their confidences."""
    links = bitext.need_links()[s]
    sure = np.clip(scores.confidences[scores.offsets[s] : scores.offsets[s + 1]], 0, 1).tolist()
    sure = sure if len(sure) == len(links) else [0.0] * len(links)  # a pair without scores
    rows = [(i, j, round(p, 3)) for (i, j), p in zip(links, sure, strict=True)]
    texts = bitext.source[s], bitext.target[s]
    source, target = (
        [
            (word, [(texts[1 - side][row[1 - side]], row[2]) for row in rows if row[side] == k])
            for k, word in enumerate(texts[side])
        ]
        for side in (0, 1)
    )
    return {
        "line": s + 1,
        "gain": None if np.isnan(gain) else gain,
        "logprobs": scores.logprobs[s].tolist(),
        "n_links": counted(len(links), "link"),
        "links": json.dumps(rows),
        "source": source,
        "target": target,
    }


def pair_page(bitext: Bitext, scores: StoredScores, sentences: Sequence[int], title: str) -> str:
    """The page of the chosen sentence pairs of a bitext with links, in their order."""
    gains = pair_gains(bitext, scores.logprobs)
    pairs = [_pair(bitext, scores, s, float(gains[s])) for s in sentences]
    return whole_page("pairs", title, "links pairs", "links", pairs=pairs, n_pairs=counted(len(bitext), "sentence pair"))
