"""Explain what a model has learned: about a phrase, in a sentence, or overall. Each shape has its own implementation.

The weight of a feature for a class is given relative to the mean of all classes, since only differences matter in
p(o) ∝ exp(w_o · φ).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import singledispatch

import numpy as np
import numpy.typing as npt

from hyperbaton.base import numeric
from hyperbaton.base.arrays import Array
from hyperbaton.base.errors import OptionError
from hyperbaton.base.options import to_mapping
from hyperbaton.corpus import Annotations, Tags, Text
from hyperbaton.models import MODELS, OrientationModel, Questions, ReorderingModel, normalised
from hyperbaton.phrases import Occurrences, RuleTable, TranslationOptions
from hyperbaton.phrases.coverage import possible_of_spans, states_of_spans

LogProbs = npt.NDArray[np.float64]
Rows = Sequence[dict[str, object]]
Evidence = list[tuple[str, float]]


@dataclass(frozen=True)
class Question:
    """A question to a model: about a source phrase or a sentence; without either, about the model.

    Arguments:
        span: only these words of the sentence, first and one past the last, with the `target` phrase if there is one.
        translated: words of the sentence that are already translated, for models that use the coverage.
        top: number of phrases and features to show; `everything` shows all.
        source_tags, links: of the sentence, as text.
        about: questions for this kind of model only (`ReorderingModel.questions`).
    """

    phrase: str | None = None
    sentence: str | None = None
    span: tuple[int, int] | None = None
    target: str = ""
    translated: tuple[int, ...] | None = None
    top: int = 5
    everything: bool = False
    source_tags: str | None = None
    links: str | None = None
    about: Questions = Questions()

    @property
    def is_empty(self) -> bool:
        """Whether the question is about the whole model."""
        return self.phrase is None and self.sentence is None and self.about.is_empty


class Answer(ABC):
    """The answer of a model."""

    @abstractmethod
    def as_json(self) -> object:
        """Everything as plain values."""

    @abstractmethod
    def parts(self) -> Iterator[str | Rows]:
        """For people: lines, and tables as rows."""

    def __str__(self) -> str:
        """The answer as text; columns are separated by tabs."""
        lines: list[str] = []
        for part in self.parts():
            rows = [part] if isinstance(part, str) else [*map(list, part[:1]), *(row.values() for row in part)]
            lines += [row if isinstance(row, str) else "\t".join(map(str, row)) for row in rows]
        return "\n".join(lines)


@dataclass(frozen=True)
class PlainAnswer(Answer):
    """An answer as plain values, with lines and tables for people."""

    values: object
    shown: Sequence[str | Rows]

    def as_json(self) -> object:
        return self.values

    def parts(self) -> Iterator[str | Rows]:
        return iter(self.shown)


def explain(model: ReorderingModel | RuleTable, question: Question) -> Answer:
    """Explain what a model has learned, or which rules of a table apply."""
    if question.phrase is not None and question.sentence is not None:
        raise OptionError("give --phrase or --sentence, not both")
    if question.is_empty and isinstance(model, ReorderingModel):
        return _describe(model)
    return answer(model, question)


@singledispatch
def answer(model: ReorderingModel | RuleTable, question: Question) -> Answer:
    """Answer a question; a question to a model is not empty."""
    raise OptionError(f"the model {getattr(model, 'name', '')} has a shape that cannot be explained")


def _describe(model: ReorderingModel) -> PlainAnswer:
    """A description of a model: its name, its training data, its options."""
    options, summary = to_mapping(model), model.summary()
    sizes = {name: value for name, value in summary.items() if not isinstance(value, dict | list)}
    shown: list[str | Rows] = [
        f"{model.name}: {MODELS.describe(model.name)}",
        [{"trained on": name.replace("_", " "), "value": value} for name, value in sizes.items()],
        [{"option": name, "value": "" if value is None else value} for name, value in options.items()],
    ]
    return PlainAnswer({"model": model.name, "options": options, **summary}, shown)


@dataclass(frozen=True)
class Explanation:
    """The explanation of one phrase: training counts and probabilities by class, and features with weights."""

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

    def as_json(self) -> dict[str, object]:
        return {**vars(self), "expected": self.expected}

    @property
    def title(self) -> str:
        where = "" if self.span is None else f"{self.span[0]}-{self.span[1]} "
        return f"{where}{self.phrase}{'' if self.target is None else f' → {self.target}'}: {self.expected}"

    def briefly(self) -> Iterator[str]:
        """One line for the phrase, and the features in favour of the expected class."""
        samples = "" if self.counts is None else f", {sum(self.counts.values())} samples"
        yield f"{self.title}, p = {self.probabilities[self.expected]:.3f}{samples}"
        yield from self._features(self.expected)

    def wholly(self) -> Iterator[str]:
        """Every class, with the features in its favour."""
        yield self.title
        for name, probability in self.probabilities.items():
            count = "" if self.counts is None else f"{self.counts[name]:>8} samples"
            yield f"  {name:<8} p = {probability:.3f} {count}"
            yield from self._features(name)

    def _features(self, name: str) -> Iterator[str]:
        for feature, weight in self.features.get(name, []):
            yield f"      {weight:+.3f}  {feature}"


@dataclass(frozen=True)
class PhraseAnswer(Answer):
    """The explanations of an orientation model for one phrase, or for those of a sentence."""

    model: str
    question: Question
    explanations: list[Explanation]
    note: str = ""

    def as_json(self) -> object:
        return [explanation.as_json() for explanation in self.explanations]

    def parts(self) -> Iterator[str | Rows]:
        asked = self.question
        if self.note:
            yield self.note
        if asked.everything or asked.span or asked.phrase is not None:
            if asked.sentence is not None and not asked.span:
                yield from self._summary(len(self.explanations))
            for explanation in self.explanations:
                yield from explanation.wholly()
            return
        yield from self._summary(asked.top)
        for explanation in stand_out(self.explanations)[: asked.top]:
            yield from explanation.briefly()

    def _summary(self, n_shown: int) -> Iterator[str]:
        if not self.explanations:
            yield f"no phrase of the sentence has enough training samples for {self.model}; --span asks about any phrase"
            return
        counts = Counter(explanation.expected for explanation in self.explanations)
        expected = ", ".join(f"{name} for {count}" for name, count in counts.most_common())
        yield f"{len(self.explanations)} phrases of the sentence are known; expected: {expected}"
        if n_shown < len(self.explanations):
            yield f"the {n_shown} most notable ones (--all shows all):"


@answer.register
def _(model: OrientationModel, question: Question) -> Answer:
    translated = question.translated
    if translated is not None and question.sentence is None:
        raise OptionError("--translated needs --sentence")
    if question.phrase is not None:
        explanations = [_explain_phrase(model, question.phrase, question.top)]
    elif question.sentence is not None:
        explanations = _explain_sentence(model, question.sentence, question)
    else:
        raise OptionError(f"the model {model.name} explains phrases and sentences: give --phrase or --sentence")
    note = ""
    if translated is None and (model.classes == "possible" or model.coverage_weights_ is not None):
        note = "probabilities over all classes, regardless of the coverage; --translated 0-3,5 gives the translated words"
    return PhraseAnswer(model.name, question, explanations, note)


def _explain_phrase(model: OrientationModel, phrase: str, top: int) -> Explanation:
    """Explain what was learned about a source phrase: for each class the strongest features in its favour."""
    if not phrase.split():
        raise OptionError("the phrase is empty")
    alone = TranslationOptions.of([(0, 0, len(phrase.split()), "", [])])
    weights = model.phrase_weights(" ".join(phrase.split()))
    features = {name: _strongest(weights, k, top) for k, name in enumerate(model.class_names)} if weights else {}
    text = Text.of([phrase])
    counts = model.counts_of(Occurrences.of_options(text, alone))
    (explanation,) = _explanations(model, text, alone, model.option_logprobs(text, alone), counts, [features])
    return replace(explanation, span=None)


def _explain_sentence(model: OrientationModel, sentence: str, question: Question) -> list[Explanation]:
    """Explain, for phrases of a sentence, the expected movement and the decisive features.

    Without a span, these are all phrases with at least 10 training samples. If translated words are given, phrases with
    such words are left out, and a model over possible classes gives impossible ones no probability; otherwise
    probabilities are over all classes.
    """
    text, annotations, span = Text.of([sentence]), Annotations(), question.span
    if model.needs:
        if question.source_tags is None:
            hint = "give --source-tags, the output of 'hyperbaton tag'"
            raise OptionError(f"the model {model.name} needs the tags of a sentence to explain it: {hint}")
        annotations = Annotations(source_tags=Tags.of([question.source_tags], text))
    n = int(text.lengths[0])
    if span is not None and not 0 <= span[0] < span[1] <= n:
        raise OptionError(f"the span {span[0]}-{span[1]} is out of range for the {n} words of the sentence")
    visited = None
    if question.translated is not None:
        if any(not 0 <= word < n for word in question.translated):
            raise OptionError(f"--translated names words that are not among the {n} words of the sentence")
        if span is not None and any(span[0] <= word < span[1] for word in question.translated):
            raise OptionError(f"a word of the span {span[0]}-{span[1]} is already translated")
        visited = np.zeros(n, bool)
        visited[list(question.translated)] = True
    longest = min(model.max_length, 255)
    spans = [span] if span else [(i, j) for i in range(n) for j in range(i + 1, min(i + longest, n) + 1)]
    if visited is not None:
        spans = [(i, j) for i, j in spans if not visited[i:j].any()]

    def occurrences() -> tuple[TranslationOptions, Occurrences]:
        options = TranslationOptions.of([(0, i, j, question.target, []) for i, j in spans])
        return options, Occurrences.of_options(text, options, annotations.source_tags)

    options, phrases = occurrences()
    if span is None and (support := model.support(phrases)) is not None:
        spans = [s for s, count in zip(spans, support, strict=True) if count >= 10]
        options, phrases = occurrences()
    logprobs = model.option_logprobs(text, options, annotations)
    if visited is not None:
        possible = states = None
        if model.classes == "possible":
            possible = possible_of_spans(model.set.possible_classes, len(model.set), visited, spans)
        if model.coverage_weights_ is not None:
            states = states_of_spans(visited, spans)
        logprobs = normalised(model.coverage_weights_, logprobs, possible, states)
    features = [
        {model.class_names[k]: _strongest(weights, int(k), question.top)} if weights else {}
        for k, weights in zip(logprobs.argmax(axis=1), model.evidence(phrases), strict=True)
    ]
    return _explanations(model, text, options, logprobs, model.counts_of(phrases), features)


def stand_out(explanations: list[Explanation]) -> list[Explanation]:
    """Sort phrases by how notable they are.

    First those whose expected class differs from that of most phrases, then the others, the most certain ones first.
    """
    counts = Counter(explanation.expected for explanation in explanations)
    usual = max(counts, key=lambda name: counts[name], default=None)
    return sorted(explanations, key=lambda e: (e.expected == usual, -e.probabilities[e.expected]))


def _strongest(weights: list[tuple[str, Array]], k: int, top: int) -> Evidence:
    """The features whose weight for class k is largest relative to the mean of the classes."""
    margins = [(name, float(w[k] - np.mean(w))) for name, w in weights]
    return sorted(margins, key=lambda item: -abs(item[1]))[:top]


def _explanations(
    model: OrientationModel,
    text: Text,
    options: TranslationOptions,
    logprobs: LogProbs,
    counts: Array | None,
    features: list[dict[str, Evidence]],
) -> list[Explanation]:
    words, names, result = text[0], model.class_names, []
    for i, row in enumerate(numeric.exp(logprobs).tolist()):
        begin = int(options.source.begin[i])
        span = begin, begin + int(options.source.length[i])
        target = " ".join(options.target[i]) or None
        seen = None if counts is None else dict(zip(names, counts[i].astype(int).tolist(), strict=True))
        probabilities = dict(zip(names, row, strict=True))
        result.append(Explanation(" ".join(words[slice(*span)]), span, target, seen, probabilities, features[i]))
    return result
