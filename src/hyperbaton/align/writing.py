"""Links as text: Pharaoh, JSON lines, or GIZA++'s A3."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator

from hyperbaton.align.scores import DIGITS, AlignmentScores
from hyperbaton.base import numeric
from hyperbaton.corpus import Bitext

PLAIN = "pharaoh"
FORMATS = (PLAIN, "json", "giza")


def format_links(bitext: Bitext, scores: AlignmentScores | None, format: str, first: int = 0) -> Iterator[bytes]:
    """The links of a bitext in one of FORMATS; all but `pharaoh` need the scores.

    Arguments:
        first: the number of sentence pairs before these.

    `json` is an object on each line: `source` and `target` (words), `links` (positions), `posteriors` (two for each
    link) and `logprobs` (two, or null). `giza` is an A3 file of three lines for each pair, in which source words
    generate target words and the score is p(target words | source sentence); a target word with several links
    is listed after each of its source words.

    >>> import numpy as np
    >>> scores = AlignmentScores(np.array([[0.5, 1.0]], np.float32), np.array([[-1.0, -2.0]]))
    >>> bitext = Bitext.of(["das Haus"], ["house"], [[(1, 0)]])
    >>> print(b"".join(format_links(bitext, scores, "giza")).decode(), end="")
    # Sentence pair (1) source length 2 target length 1 alignment score : 0.367879
    house
    NULL ({ }) das ({ }) Haus ({ 1 })
    """
    links = bitext.need_links()
    if format == PLAIN or scores is None:
        yield from links.pieces()
        return
    rows = _json_rows(bitext, scores) if format == "json" else _giza_rows(bitext, scores, first)
    for row in rows:
        yield row.encode()


def _json_rows(bitext: Bitext, scores: AlignmentScores) -> Iterator[str]:
    links = bitext.need_links()
    posteriors = [[round(value, DIGITS) for value in both] for both in scores.posteriors.tolist()]
    for s, logprobs in enumerate(scores.logprobs.tolist()):
        row = {
            "source": bitext.source[s],
            "target": bitext.target[s],
            "links": links[s],
            "posteriors": posteriors[links.offsets[s] : links.offsets[s + 1]],
            "logprobs": None if math.isnan(logprobs[0]) else [round(value, DIGITS) for value in logprobs],
        }
        yield json.dumps(row, ensure_ascii=False) + "\n"


def _giza_rows(bitext: Bitext, scores: AlignmentScores, first: int) -> Iterator[str]:
    links = bitext.need_links()
    for s, (logprob, _) in enumerate(scores.logprobs.tolist()):
        src, tgt = bitext.source[s], bitext.target[s]
        generated: list[list[int]] = [[] for _ in src]
        for i, j in links[s]:
            generated[i].append(j + 1)
        linked = {j for positions in generated for j in positions}
        nothing = [j for j in range(1, len(tgt) + 1) if j not in linked]
        words = zip(["NULL", *src], [nothing, *generated], strict=True)
        score = 0.0 if math.isnan(logprob) else float(numeric.exp(logprob * len(tgt)))
        head = f"# Sentence pair ({first + s + 1}) source length {len(src)} target length {len(tgt)}"
        yield f"{head} alignment score : {score:g}\n{' '.join(tgt)}\n"
        yield " ".join(f"{word} ({{ {''.join(f'{j} ' for j in positions)}}})" for word, positions in words) + "\n"
