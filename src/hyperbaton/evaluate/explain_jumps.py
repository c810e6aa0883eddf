"""Explain a model for one sentence: P(NP | CP) and a visit order of a jump model, the best steps of a step model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hyperbaton.align import VisitOrders, visit_order
from hyperbaton.base import numeric
from hyperbaton.base.errors import OptionError
from hyperbaton.corpus import Annotations, Links, Tags, Text
from hyperbaton.evaluate.explain import Answer, PlainAnswer, Question, Rows, answer
from hyperbaton.models import JumpLogProbs, NextPositionModel, StepModel


@dataclass(frozen=True)
class JumpExplanation(Answer):
    """The words of a sentence, P(NP | CP) of shape (n + 1, n + 1) in the layout of `JumpLogProbs`, and a visit order.

    For a model over the remaining words, a row is P(NP | CP, visited) at the step of the order that leaves the CP, and 0
    if the order does not visit it.

    `given` says whether the order was given (by links) or chosen by the model: always the most probable unvisited word.
    """

    words: list[str]
    probabilities: npt.NDArray[np.float64]
    order: list[int]
    given: bool

    @property
    def jumps(self) -> list[tuple[int, int]]:
        """(CP, NP) of each jump of the order, from BOS (−1) to EOS (n)."""
        return list(zip([-1, *self.order], [*self.order, len(self.words)], strict=True))

    @property
    def logprob(self) -> float:
        """log P of the order."""
        return float(sum(numeric.log(self.probabilities[i + 1, j]) for i, j in self.jumps))

    def name(self, position: int) -> str:
        """The word at a position, BOS or EOS."""
        return "BOS" if position < 0 else "EOS" if position == len(self.words) else self.words[position]

    def as_json(self) -> dict[str, object]:
        return {**vars(self), "probabilities": self.probabilities.tolist(), "logprob": self.logprob}

    def parts(self) -> Iterator[str | Rows]:
        yield f"{'given' if self.given else 'expected'} order, log p = {self.logprob:.3f}"
        yield f"  {' '.join(self.name(position) for position in self.order)}"
        for i, j in self.jumps:
            row = self.probabilities[i + 1]
            best = int(row.argmax())
            instead = "" if best == j else f"   more probable: {self.name(best)} {row[best]:.3f}"
            yield f"  {self.name(i)} → {self.name(j)}   p = {row[j]:.3f}{instead}"


@answer.register
def _(model: NextPositionModel, question: Question) -> JumpExplanation:
    if question.sentence is None:
        raise OptionError(f"the model {model.name} predicts words in sentences, not phrases: give --sentence")
    return explain_jumps(model, question.sentence, question.source_tags, question.links)


def explain_jumps(
    model: NextPositionModel, sentence: str, tags: str | None = None, links: str | None = None
) -> JumpExplanation:
    """Explain which jumps a model expects in a sentence.

    Arguments:
        tags: a tag for each word, if the model was trained with tags.
        links: word links to a translation, `0-1 1-0`, which give the visit order.
    """
    text = Text.of([sentence])
    n = text.n_tokens
    annotations = Annotations(source_tags=None if tags is None else Tags.of([tags], text))
    logprobs = model.jump_logprobs(text, annotations)
    remaining = model.candidates == "remaining"
    order = _greedy(logprobs, n, remaining) if links is None else _linked(links, n)
    probabilities = numeric.exp(logprobs[0])
    if remaining:
        probabilities[:] = 0
        probabilities[[0, *(word + 1 for word in order)]] = numeric.exp(_steps(logprobs, order))
    return JumpExplanation(text[0], probabilities, order, links is not None)


def _steps(logprobs: JumpLogProbs, order: list[int]) -> npt.NDArray[np.float64]:
    """log P(NP | CP, visited) of BOS and each word of an order of visits of the one sentence."""
    return logprobs.remaining(VisitOrders(np.array(order, np.uint16), np.array([0, len(order)])))[0]


def _greedy(logprobs: JumpLogProbs, n: int, remaining: bool) -> list[int]:
    order: list[int] = []
    while len(order) < n:
        row = _steps(logprobs, order)[-1] if remaining else logprobs[0][order[-1] + 1 if order else 0].copy()
        row[order] = -np.inf
        order.append(int(row[:-1].argmax()))
    return order


def _linked(links: str, n: int) -> list[int]:
    try:
        points = [(int(i), int(j)) for i, j in (point.split("-") for point in links.split())]
    except ValueError:
        raise OptionError(f"expected links like 0-1 1-0, found {links!r}") from None
    if any(not 0 <= i < n or not 0 <= j < 2**16 for i, j in points):
        raise OptionError(f"a link is out of range for the {n} words of the sentence")
    return visit_order(Links.of([points]))[0]


@answer.register
def _(model: StepModel, question: Question) -> PlainAnswer:
    """The steps through a sentence, always to the word with the highest score, and the best alternative of each."""
    if question.sentence is None:
        raise OptionError(f"the model {model.name} scores steps through sentences: give --sentence")
    text = Text.of([question.sentence])
    tags = None if question.source_tags is None else Tags.of([question.source_tags], text)
    words, steps = text[0], list[dict[str, object]]()
    order, lines = list[str](), list[str]()
    for left, scores in model.walk(text, [""] * text.n_tokens, None, Annotations(source_tags=tags)):
        best = [(int(left[at]), float(scores[at])) for at in (-scores).argsort(kind="stable")[:2]]
        (word, score), (other, other_score) = best[0], best[1] if len(best) > 1 else (None, None)
        steps.append({"word": word, "score": score, "other": other, "other_score": other_score})
        instead = "" if other is None else f"   next best: {words[other]} {other_score:.3f}"
        lines.append(f"  {words[word]}   score {score:.3f}{instead}")
        order.append(words[word])
    return PlainAnswer({"words": words, "steps": steps}, [f"expected order: {' '.join(order)}", *lines])
