"""Traces of translations: segments, jumps, every model's score of each step, and the cost of a different order."""

from __future__ import annotations

from collections.abc import Iterator

from hyperbaton.base.forms import JsonObject
from hyperbaton.decode.result import Translations

TRACED = 100  # number of translations in which to look for another order


def traces(translations: Translations, first: int = 0) -> Iterator[JsonObject]:
    """One object for each sentence; sentences are numbered from `first`.

    `second_order` is the best translation with a different order of the source words, and its score difference; None if
    there is none in the n-best list.
    """
    for sentence in range(len(translations)):
        pieces = range(int(translations.pieces[sentence]), int(translations.pieces[sentence + 1]))
        yield {"sentence": first + sentence, "pieces": [_piece(translations, piece) for piece in pieces]}


def _piece(translations: Translations, piece: int) -> JsonObject:
    paths = translations.paths(piece)
    record: JsonObject = {
        "source": " ".join(translations.batch.source[piece]),
        "limits_lifted": bool(translations.relaxed[piece]),
    }
    if not paths:
        return record | {"translation": None}
    best = paths[0]
    order = translations.order(best)
    second = next((p for p in paths[1:] if translations.order(p) != order), None)
    return record | {
        "translation": " ".join(translations.text[best]),
        "score": float(translations.scores[best]),
        "features": translations.named(translations.totals[best]),
        "steps": list(_steps(translations, piece, best)),
        "end": _nonzero(translations.named(translations.features[int(translations.step_offsets[best + 1]) + best])),
        "search": dict(zip(translations.counted, translations.counts[piece].tolist(), strict=True)),
        "second_order": None
        if second is None
        else {
            "translation": " ".join(translations.text[second]),
            "score": float(translations.scores[second]),
            "costs_more": float(translations.scores[best] - translations.scores[second]),
            "segments": [[step.begin, step.end] for step in translations.steps(second)],
        },
    }


def _steps(translations: Translations, piece: int, path: int) -> Iterator[JsonObject]:
    for record, step in zip(translations.records(piece, path), translations.steps(path), strict=True):
        yield record | {
            "features": _nonzero(step.features),
            "weighted": {name: round(value, 6) for name, value in translations.weighted(step.features).items()},
        }


def _nonzero(features: dict[str, list[float]]) -> dict[str, list[float]]:
    return {name: values for name, values in features.items() if any(values)}
