"""Why a model expected a movement: the features with the largest weights, or the words that matter most.

For an orientation model with weights, the reasons are its features: each adds to the score of every class, and its weight
for a class is taken relative to the mean of all classes, since only differences matter. A jump model is evaluated again
without each word and without each tag: the weight of a word is log P(j | i) − log P(j | i, without that word).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hyperbaton.base.forms import JsonObject
from hyperbaton.corpus import Annotations, Tags, Text
from hyperbaton.decode import ModelUse, Translations
from hyperbaton.evaluate.expectations import Path
from hyperbaton.models import OrientationModel, PerJump, needed
from hyperbaton.phrases import Occurrences, TranslationOptions

UNKNOWN = "\ue000"  # from a private range: it never occurs as a word or tag
_LEAST = 0.005  # weights nearer to zero are not reported


def add_reasons(
    translations: Translations, piece: int, path: int, expectations: Sequence[Sequence[JsonObject]], n_reasons: int
) -> None:
    """Add `reasons` to expectations: the strongest features for the chosen class or word, and for the most likely one."""
    walk = Path(translations, piece, path)
    numbers = {(step.begin, step.end): number for number, step in enumerate(walk.steps)}
    for name, use in translations.system.reordering.items():
        own = [expectation for step in expectations for expectation in step if expectation["model"] == name]
        if not isinstance(use, ModelUse) or not own:
            continue
        model = use.model
        if isinstance(model, OrientationModel):
            about = [(numbers[expectation["span"][0], expectation["span"][1]], expectation) for expectation in own]
            class_reasons(model, walk.source, walk.own_options(), about, n_reasons)
        elif isinstance(model, PerJump):

            def logprobs(source: Text, annotations: Annotations, model: Any = model) -> Any:
                return model.jump_logprobs(source, *needed(model, annotations))

            (annotations,) = needed(model, walk.annotations) or (Annotations(),)
            jump_reasons(logprobs, walk.source, annotations, own, n_reasons)


def class_reasons(
    model: OrientationModel,
    source: Text,
    options: TranslationOptions,
    expectations: Sequence[tuple[int, JsonObject]],
    n_reasons: int,
) -> None:
    """Add `reasons` to expectations of orientation classes, each with the number of its option."""
    evidence = model.evidence(Occurrences.of_options(source, options))
    names = list(model.class_names)
    for number, expectation in expectations:
        if not evidence[number]:
            continue
        classes = expectation["classes"]
        bars = {expectation["chosen"], max(classes, key=lambda name: classes[name])}
        reasons = {
            bar: _heaviest([(name, float(w[names.index(bar)] - np.mean(w))) for name, w in evidence[number]], n_reasons)
            for bar in sorted(bars)
        }
        expectation["reasons"] = {bar: rows for bar, rows in reasons.items() if rows}


def jump_reasons(
    jump_logprobs: Callable[[Text, Annotations], Any],
    source: Text,
    annotations: Annotations,
    expectations: Sequence[JsonObject],
    n_reasons: int,
) -> None:
    """Add `reasons` to expectations of the next word in a sentence."""
    words = source[0]
    tags = annotations.source_tags
    labels = [] if tags is None else tags[0]
    lines, tag_lines, names = [" ".join(words)], [" ".join(labels)], [""]
    for k, word in enumerate(words):
        lines.append(" ".join([*words[:k], UNKNOWN, *words[k + 1 :]]))
        tag_lines.append(" ".join(labels))
        names.append(f"{word} ({k + 1})")
    for k, label in enumerate(labels):
        lines.append(" ".join(words))
        tag_lines.append(" ".join([*labels[:k], UNKNOWN, *labels[k + 1 :]]))
        names.append(f"tag {label} ({k + 1})")
    text = Text.of(lines)
    matrices = jump_logprobs(text, Annotations(source_tags=None if tags is None else Tags.of(tag_lines, text)))
    for expectation in expectations:
        row = expectation["from"] + 1
        probabilities = expectation["words"]
        bars = {expectation["chosen"], max(range(len(probabilities)), key=lambda j: probabilities[j])}
        here = np.asarray(matrices[0])[row]
        without = np.stack([np.asarray(matrices[k])[row] for k in range(1, len(names))])
        reasons = {
            str(bar): _heaviest(list(zip(names[1:], (here[bar] - without[:, bar]).tolist(), strict=True)), n_reasons)
            for bar in sorted(bars)
        }
        expectation["reasons"] = {bar: rows for bar, rows in reasons.items() if rows}


def _heaviest(weights: Sequence[tuple[str, float]], n: int) -> list[list[str | float]]:
    """The n largest, as plain values."""
    heaviest = sorted((pair for pair in weights if abs(pair[1]) >= _LEAST), key=lambda pair: -abs(pair[1]))[:n]
    return [[name, round(weight, 4)] for name, weight in heaviest]
