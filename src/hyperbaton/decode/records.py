"""Translations as plain values: a sentence with its phrases, links and scores, for traces, pages and the service."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from hyperbaton.base import numeric
from hyperbaton.base.forms import Json, JsonObject
from hyperbaton.decode.result import Translations
from hyperbaton.decode.system import TRANSLATION

FORWARD = 2  # the column of p(target | source) among the four usual scores of a phrase table
DIGITS = 5

Confidences = Mapping[tuple[int, int], float]


def piece_record(translations: Translations, piece: int, confidences: Confidences | None = None) -> JsonObject:
    """The tokens of a sentence and of its best translation, phrases, links and scores.

    `distance` is the end of the previous phrase minus the start of the phrase. Rules instead have both sides (`rule`), a
    `kind`, and the number of the rule whose gap they fill (`parent`). `confidences` are those of links; by default the
    phrase table's p(target | source) of the phrase.
    """
    paths = translations.paths(piece)
    record: JsonObject = {"source": translations.batch.source[piece], "limits_lifted": bool(translations.relaxed[piece])}
    if not paths:
        return record | {"target": [], "score": None, "features": {}, "weighted": {}, "phrases": [], "links": []}
    best = paths[0]
    record |= path_record(translations, best)
    return record | {
        "links": _links(translations, best, record["phrases"], confidences),
        "end": _nonzero(translations.named(translations.end_features(best))),
        "search": dict(zip(translations.counted, translations.counts[piece].tolist(), strict=True)),
    }


def traces(translations: Translations, first: int = 0) -> Iterator[JsonObject]:
    """One object for each sentence; sentences are numbered from `first`.

    `second_order` is the best translation with a different order of the source words, and `costs_more` its score
    difference; None if there is none in the n-best list.
    """
    for sentence in range(len(translations)):
        pieces = range(int(translations.pieces[sentence]), int(translations.pieces[sentence + 1]))
        yield {"sentence": first + sentence, "pieces": [_traced(translations, piece) for piece in pieces]}


def _traced(translations: Translations, piece: int) -> JsonObject:
    record, paths = piece_record(translations, piece), translations.paths(piece)
    if not paths:
        return record
    order = translations.order(paths[0])
    second = next((path for path in paths[1:] if translations.order(path) != order), None)
    if second is None:
        return record | {"second_order": None}
    difference = float(translations.scores[paths[0]] - translations.scores[second])
    return record | {"second_order": path_record(translations, second) | {"costs_more": rounded(difference)}}


def path_record(translations: Translations, path: int) -> JsonObject:
    """One translation: its words, score, features and phrases."""
    features = translations.named(translations.totals[path])
    phrases: list[JsonObject] = []
    end = 0
    for segment in translations.segments(path):
        phrase: JsonObject = {"source": list(segment.source), "target": list(segment.target)}
        if segment.rule is None:
            phrase["distance"] = end - segment.source[0]
        else:
            phrase |= {"kind": segment.kind, "parent": segment.parent, "rule": segment.rule}
        weighted = _weighted(translations, segment.features)
        phrases.append(phrase | {"features": _nonzero(segment.features), "weighted": weighted})
        end = segment.source[1]
    return {
        "target": translations.text[path],
        "score": rounded(translations.scores[path]),
        "features": _all_rounded(features),
        "weighted": _weighted(translations, features),
        "phrases": phrases,
    }


def _links(
    translations: Translations, path: int, phrases: Sequence[Mapping[str, Json]], confidences: Confidences | None
) -> list[JsonObject]:
    """The links inside the phrases of a translation, with their confidences."""
    of_word: dict[int, float] = {}  # a rule precedes those in its gaps: the innermost one counts
    for phrase in phrases:
        scores = phrase["features"].get(TRANSLATION, [])
        probability = float(numeric.exp(np.array(scores[FORWARD]))) if len(scores) == 4 else 1.0
        of_word |= dict.fromkeys(range(*phrase["source"]), probability)
    links = []
    for i, j in translations.links_of(path):
        confidence = of_word[i] if confidences is None else confidences.get((i, j), 0.0)
        links.append({"source": i, "target": j, "confidence": rounded(min(confidence, 1.0))})
    return links


def _weighted(translations: Translations, features: Mapping[str, Sequence[float]]) -> dict[str, float]:
    return {name: rounded(value) for name, value in translations.weighted(features).items()}


def _nonzero(features: Mapping[str, Sequence[float]]) -> dict[str, list[float]]:
    return _all_rounded({name: values for name, values in features.items() if any(values)})


def _all_rounded(features: Mapping[str, Sequence[float]]) -> dict[str, list[float]]:
    return {name: [rounded(value) for value in values] for name, values in features.items()}


def rounded(value: float) -> float:
    return round(float(value), DIGITS)
