"""Details of the translation of a sentence, as plain values: shown by the page, returned by `/v1/translate`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from hyperbaton.base import numeric
from hyperbaton.base.forms import Json, JsonObject
from hyperbaton.decode import Translations
from hyperbaton.decode.system import TRANSLATION
from hyperbaton.evaluate.expectations import Visits, add_reasons, add_reference, expectations

FORWARD = 2  # the column of p(target | source) among the four usual scores of a phrase table
DIGITS = 5
N_REASONS = 3

Confidences = Mapping[tuple[int, int], float]


def sentence_object(
    translations: Translations,
    piece: int,
    *,
    n_best: int = 0,
    expected: bool = False,
    reference: Sequence[int] | None = None,
    confidences: Confidences | None = None,
) -> JsonObject:
    """The tokens of a sentence and of its translation, phrases, links, scores, and requested details.

    `confidence` of the translation is its share of the probability mass of the n-best list. `distance` is the end of the
    previous phrase minus the start of the phrase. Rules instead have both sides (`rule`), a `kind`, and the number of the
    rule whose gap they fill (`parent`).

    Arguments:
        piece: the number of the sentence in the search.
        n_best: return up to this many translations in `nbest`, the best one first.
        expected: return what each reordering model expected at every phrase in `expectations`.
        reference: the source words in the visit order of a reference, to be included in expectations.
        confidences: of links; by default the phrase table's p(target | source) of the phrase.
    """
    paths = translations.paths(piece)
    record: JsonObject = {"source": translations.batch.source[piece], "limits_lifted": bool(translations.relaxed[piece])}
    if not paths:
        return record | {"target": [], "score": None, "features": {}, "weighted": {}, "phrases": [], "links": []}
    best = paths[0]
    record |= path_object(translations, best)
    record |= {
        "links": _links(translations, best, record["phrases"], confidences),
        "end": _nonzero(translations.named(translations.end_features(best))),
        "search": dict(zip(translations.counted, translations.counts[piece].tolist(), strict=True)),
    }
    if n_best:
        scores = np.asarray(translations.scores[paths.start : paths.stop], np.float64)
        shares = numeric.exp(numeric.log_softmax(scores)).tolist()
        record["confidence"] = _short(shares[0])
        record["nbest"] = [
            path_object(translations, path) | {"confidence": _short(share)}
            for path, share in zip(paths[:n_best], shares[:n_best], strict=True)
        ]
    if expected:
        expected_steps = expectations(translations, piece, best)
        add_reasons(translations, piece, best, expected_steps, N_REASONS)
        if reference is not None:
            add_reference(translations.system, expected_steps, Visits(list(reference), len(record["source"])))
        record["expectations"] = expected_steps
    return record


def path_object(translations: Translations, path: int) -> JsonObject:
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
        "score": _short(float(translations.scores[path])),
        "features": _rounded(features),
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
        links.append({"source": i, "target": j, "confidence": _short(min(confidence, 1.0))})
    return links


def _weighted(translations: Translations, features: Mapping[str, Sequence[float]]) -> dict[str, float]:
    return {name: _short(value) for name, value in translations.weighted(features).items()}


def _nonzero(features: Mapping[str, Sequence[float]]) -> dict[str, list[float]]:
    return _rounded({name: values for name, values in features.items() if any(values)})


def _rounded(features: Mapping[str, Sequence[float]]) -> dict[str, list[float]]:
    return {name: [_short(value) for value in values] for name, values in features.items()}


def _short(value: float) -> float:
    return round(float(value), DIGITS)
