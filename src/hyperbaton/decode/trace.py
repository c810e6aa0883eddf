"""How translations came about: segments, jumps, every model's score of each step, and the price of another order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hyperbaton.decode.result import Step, Translations

TRACED = 100  # translations among which another order is looked for


def traces(found: Translations, first: int = 0) -> Iterator[dict[str, Any]]:
    """One object for each sentence; sentences are numbered from `first`.

    `second_order` is the best translation that takes the source words in another order, and what it costs more; None where
    there is none among those that were asked for.
    """
    for sentence in range(len(found)):
        pieces = range(int(found.pieces[sentence]), int(found.pieces[sentence + 1]))
        yield {"sentence": first + sentence, "pieces": [_piece(found, piece) for piece in pieces]}


def _piece(found: Translations, piece: int) -> dict[str, Any]:
    paths = range(int(found.path_offsets[piece]), int(found.path_offsets[piece + 1]))
    told: dict[str, Any] = {"source": " ".join(found.block.source[piece]), "limits_lifted": bool(found.relaxed[piece])}
    if not paths:
        return told | {"translation": None}
    best = paths[0]
    steps = found.steps(best)
    order = _order(steps)
    second = next((p for p in paths[1:] if _order(found.steps(p)) != order), None)
    hypotheses, spans, cut = found.counts[piece].tolist()
    return told | {
        "translation": " ".join(found.text[best]),
        "score": float(found.scores[best]),
        "features": found.named(found.totals[best]),
        "steps": list(_steps(found, piece, steps)),
        "end": _nonzero(found.named(found.features[int(found.step_offsets[best + 1]) + best])),
        "search": {"hypotheses": hypotheses, "spans": spans, "spans_cut": cut},
        "second_order": None
        if second is None
        else {
            "translation": " ".join(found.text[second]),
            "score": float(found.scores[second]),
            "costs_more": float(found.scores[best] - found.scores[second]),
            "segments": [[step.begin, step.end] for step in found.steps(second)],
        },
    }


def _steps(found: Translations, piece: int, steps: list[Step]) -> Iterator[dict[str, Any]]:
    words = found.block.source[piece]
    weights = found.system.weights
    end = 0
    for step in steps:
        weighted = {
            name: sum(w * v for w, v in zip(weights[name], values, strict=True)) for name, values in step.features.items()
        }
        yield {
            "span": [step.begin, step.end],
            "source": " ".join(words[step.begin : step.end]),
            "target": " ".join(step.target),
            "distance": end - step.begin,
            "features": _nonzero(step.features),
            "weighted": {name: round(value, 6) for name, value in weighted.items() if value},
        }
        end = step.end


def _nonzero(features: dict[str, list[float]]) -> dict[str, list[float]]:
    return {name: values for name, values in features.items() if any(values)}


def _order(steps: list[Step]) -> list[int]:
    """The source words in the order of translation."""
    return [word for step in steps for word in range(step.begin, step.end)]
