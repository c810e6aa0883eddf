"""Why a model expects a movement: what it learned about a phrase, and what decides in a sentence.

The weight of a feature for a class is told against the mean of all classes, since only differences matter in
p(o) ∝ exp(w_o · φ).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperbaton.base import numeric
from hyperbaton.base.errors import OptionError
from hyperbaton.corpus import Text
from hyperbaton.models import OrientationModel
from hyperbaton.phrases import Occurrences, Options

Evidence = list[tuple[str, float]]


@dataclass(frozen=True)
class Explanation:
    """What a model says about one phrase: training counts and probabilities by class, and features with weights."""

    phrase: str
    span: tuple[int, int] | None
    target: str | None
    counts: dict[str, int] | None
    probabilities: dict[str, float]
    features: dict[str, Evidence]

    @property
    def expected(self) -> str:
        """The most likely class."""
        return max(self.probabilities, key=lambda name: self.probabilities[name])

    def as_json(self) -> dict[str, Any]:
        """Everything as plain values."""
        return {**vars(self), "expected": self.expected}


def explain_phrase(model: OrientationModel, phrase: str, top: int = 10) -> Explanation:
    """Tell what was learned about a source phrase: per class the features that speak most for it."""
    if not phrase.split():
        raise OptionError("the phrase is empty")
    alone = Options.of([(0, 0, len(phrase.split()), "", [])])
    weights = model.phrase_weights(" ".join(phrase.split()))
    features = {name: _strongest(weights, k, top) for k, name in enumerate(model.class_names)} if weights else {}
    return _explanations(model, Text.of([phrase]), alone, [features], spans=False)[0]


def explain_sentence(
    model: OrientationModel,
    sentence: str,
    span: tuple[int, int] | None = None,
    target: str = "",
    top: int = 5,
) -> list[Explanation]:
    """Tell, for phrases of a sentence, which movement is expected and which features decide.

    Arguments:
        span: first word and the one behind the last; without it, all phrases with at least 10 training samples.
        target: the target phrase, if features should see one.
    """
    text = Text.of([sentence])
    n = int(text.lengths[0])
    if span is not None and not 0 <= span[0] < span[1] <= n:
        raise OptionError(f"the span {span[0]}-{span[1]} does not lie in the {n} words of the sentence")
    longest = min(model.max_length, 255)
    spans = [span] if span else [(i, j) for i in range(n) for j in range(i + 1, min(i + longest, n) + 1)]
    options = Options.of([(0, i, j, target, []) for i, j in spans])
    if span is None:
        support = model.support(Occurrences.of_options(text, options))
        if support is not None:
            spans = [s for s, count in zip(spans, support, strict=True) if count >= 10]
            options = Options.of([(0, i, j, target, []) for i, j in spans])
    chosen = model.option_logprobs(text, options).argmax(axis=1)
    evidence = model.evidence(Occurrences.of_options(text, options))
    features = [
        {model.class_names[k]: _strongest(found, int(k), top)} if found else {}
        for k, found in zip(chosen, evidence, strict=True)
    ]
    return _explanations(model, text, options, features, spans=True)


def stand_out(explanations: list[Explanation]) -> list[Explanation]:
    """Phrases in the order in which they are worth looking at.

    First those for which another class is expected than for most phrases, then the others, the most certain ones first.
    """
    counts = Counter(explanation.expected for explanation in explanations)
    usual = max(counts, key=lambda name: counts[name], default=None)
    return sorted(explanations, key=lambda e: (e.expected == usual, -e.probabilities[e.expected]))


def _strongest(weights: list[tuple[str, Any]], k: int, top: int) -> Evidence:
    """The features whose weight for class k is largest against the mean of the classes."""
    told = [(name, float(w[k] - np.mean(w))) for name, w in weights]
    return sorted(told, key=lambda item: -abs(item[1]))[:top]


def _explanations(
    model: OrientationModel, text: Text, options: Options, features: list[dict[str, Evidence]], spans: bool
) -> list[Explanation]:
    logprobs = model.option_logprobs(text, options)
    counts = model.counts_of(Occurrences.of_options(text, options))
    words, result = text[0], []
    for i, row in enumerate(numeric.exp(logprobs).tolist()):
        begin = int(options.source.begin[i])
        end = begin + int(options.source.length[i])
        result.append(
            Explanation(
                phrase=" ".join(words[begin:end]),
                span=(begin, end) if spans else None,
                target=" ".join(options.target[i]) or None,
                counts=None
                if counts is None
                else dict(zip(model.class_names, counts[i].astype(int).tolist(), strict=True)),
                probabilities=dict(zip(model.class_names, row, strict=True)),
                features=features[i],
            )
        )
    return result
