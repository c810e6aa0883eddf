"""Linked sentence pairs as one self-contained HTML page, those with the worst scores first.

Each pair is two rows of words with lines between the linked ones. The opacity of lines and words shows the aligner's
confidence in the links: the mean of both posteriors. The word under the pointer and its linked words are highlighted.
Without scripts there are no lines, but every word lists its links on hovering.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape

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


def pair_page(bitext: Bitext, scores: StoredScores, chosen: Sequence[int], title: str) -> str:
    """The page of the chosen sentence pairs of a bitext with links, in their order."""
    gains = pair_gains(bitext, scores.logprobs)
    articles = "\n".join(_article(bitext, scores, s, float(gains[s])) for s in chosen)
    keys = "".join(f'<span class="key" style="--sure:{sure}">{sure}</span> ' for sure in (0.1, 0.4, 0.7, 1.0))
    about = (
        f"<p>{len(chosen):,} of {counted(len(bitext), 'sentence pair')}, the smallest gain first. The gain is what the "
        "words of a pair gain in log-probability by knowing the other side, over their frequencies, in nats per word.</p>"
        f'<p>Confidence of links: {keys}<span class="key unlinked">unlinked</span>. Point at a word to see its links.</p>'
    )
    return whole_page(title, "pairs", f"<main>\n<header><h1>{escape(title)}</h1>{about}</header>\n{articles}\n</main>\n")


def _article(bitext: Bitext, scores: StoredScores, s: int, gain: float) -> str:
    links = bitext.need_links()[s]
    sure = np.clip(scores.confidences[scores.offsets[s] : scores.offsets[s + 1]], 0, 1).tolist()
    sure = sure if len(sure) == len(links) else [0.0] * len(links)  # a pair without scores
    rows = [(i, j, round(p, 3)) for (i, j), p in zip(links, sure, strict=True)]
    texts = bitext.source[s], bitext.target[s]
    if np.isnan(gain):
        said = "<span>no score</span>"
    else:
        to_target, to_source = scores.logprobs[s].tolist()
        said = (
            f"<span>gain <b>{_signed(gain)}</b></span><span>log p(target | source) {_signed(to_target)}</span>"
            f"<span>log p(source | target) {_signed(to_source)}</span>"
        )
    sides = "".join(
        _side(name, texts[side], [(row[side], texts[1 - side][row[1 - side]], row[2]) for row in rows])
        for side, name in enumerate(("source", "target"))
    )
    return (
        f"<article><h2><span>line <b>{s + 1:,}</b></span>{said}<span>{counted(len(links), 'link')}</span></h2>"
        f'<div class="pair" data-links="{escape(json.dumps(rows))}">{sides}</div></article>'
    )


def _side(name: str, words: Sequence[str], links: Sequence[tuple[int, str, float]]) -> str:
    """A row of words; `links` are a position, the word it is linked to, and the confidence."""
    partners: list[list[tuple[str, float]]] = [[] for _ in words]
    for at, other, sure in links:
        partners[at].append((other, sure))
    items = []
    for word, others in zip(words, partners, strict=True):
        title = ", ".join(f"{other} {sure:.2f}" for other, sure in others) or "no link"
        state = f'class="word" style="--sure:{max(sure for _, sure in others)}"' if others else 'class="word unlinked"'
        items.append(f'<li {state} title="{escape(title)}">{escape(word)}</li>')
    empty = "" if words else '<li class="empty">an empty line</li>'
    return f'<ul class="side {name}" dir="auto" aria-label="{name}">{"".join(items)}{empty}</ul>'


def _signed(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")
