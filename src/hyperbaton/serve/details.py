"""Everything about the translation of a sentence, as plain values: what the page shows and `/v1/translate` returns."""

from __future__ import annotations

from typing import Any

import numpy as np

from hyperbaton.base import numeric
from hyperbaton.corpus import Bitext
from hyperbaton.decode.raw import Translated
from hyperbaton.decode.system import TRANSLATION
from hyperbaton.evaluate.expectations import expectations
from hyperbaton.serve.engine import Engine, Searched

FORWARD = 2  # the column of p(target | source) among the four usual scores of a phrase table


def sentence_details(engine: Engine, searched: Searched, *, n_best: int = 0, expected: bool = False) -> dict[str, Any]:
    """The tokens of a sentence and of its translation, phrases, links, scores, and what else is asked for.

    `confidence` of the translation is its share among the n best that were searched, of a link the aligner's mean
    posterior, or without an aligner the phrase table's p(target | source) of its phrase.
    """
    found, paths = searched.found, searched.paths
    told: dict[str, Any] = {
        "source": searched.sentence.tokens,
        "limits_lifted": bool(found.relaxed[searched.piece]),
    }
    if not paths:
        return told | {"target": [], "text": "", "score": None, "phrases": [], "links": []}
    best = paths[0]
    hypotheses, spans, cut = found.counts[searched.piece].tolist()
    told |= _path(engine, searched, best)
    told |= {
        "links": _links(engine, searched, searched.translated(best), told["phrases"]),
        "end": _nonzero(found.named(found.features[int(found.step_offsets[best + 1]) + best])),
        "search": {"hypotheses": hypotheses, "spans": spans, "spans_cut": cut},
    }
    if n_best:
        scores = np.asarray(found.scores[paths.start : paths.stop], np.float64)
        shares = numeric.exp(numeric.log_softmax(scores)).tolist()
        told["confidence"] = round(shares[0], 6)
        told["nbest"] = [
            _path(engine, searched, path) | {"confidence": round(share, 6)}
            for path, share in zip(paths[:n_best], shares[:n_best], strict=True)
        ]
    if expected:
        told["expectations"] = expectations(found, searched.piece, best)
    return told


def _path(engine: Engine, searched: Searched, path: int) -> dict[str, Any]:
    """One translation: its text, score, features and phrases."""
    found, weights = searched.found, engine.system.weights
    features = found.named(found.totals[path])
    translated = searched.translated(path)
    return {
        "target": translated.tokens,
        "text": engine.raw.write_sentence(searched.sentence, translated),
        "score": float(found.scores[path]),
        "features": features,
        "weighted": _weighted(features, weights),
        "phrases": _phrases(searched, path, weights),
    }


def _phrases(searched: Searched, path: int, weights: Any) -> list[dict[str, Any]]:
    phrases, at, end = [], 0, 0
    for step in searched.found.steps(path):
        phrases.append(
            {
                "source": [step.begin, step.end],
                "target": [at, at + len(step.target)],
                "distance": end - step.begin,
                "features": _nonzero(step.features),
                "weighted": _weighted(step.features, weights),
            }
        )
        at, end = at + len(step.target), step.end
    return phrases


def _links(
    engine: Engine, searched: Searched, translated: Translated, phrases: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    confidences: dict[tuple[int, int], float] = {}
    if engine.aligner is not None and translated.tokens and searched.sentence.tokens:
        bitext = Bitext.of([searched.sentence.line], [" ".join(translated.tokens)])
        posteriors = engine.aligner.posteriors(bitext, 1e-6, threads=1)
        means = posteriors.values.mean(axis=1).tolist()
        confidences = dict(zip(posteriors.links[0], means, strict=True))
    else:
        for phrase in phrases:
            scores = phrase["features"].get(TRANSLATION, [])
            value = float(numeric.exp(np.array(scores[FORWARD]))) if len(scores) == 4 else 1.0
            for j in range(*phrase["target"]):
                confidences |= {(i, j): value for i in range(*phrase["source"])}
    return [
        {"source": i, "target": j, "confidence": round(min(confidences.get((i, j), 0.0), 1.0), 6)}
        for i, j in translated.links
    ]


def _weighted(features: dict[str, list[float]], weights: Any) -> dict[str, float]:
    sums = {name: sum(w * v for w, v in zip(weights[name], values, strict=True)) for name, values in features.items()}
    return {name: round(value, 6) for name, value in sums.items() if value}


def _nonzero(features: dict[str, list[float]]) -> dict[str, list[float]]:
    return {name: values for name, values in features.items() if any(values)}
