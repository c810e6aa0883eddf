"""What a model of jumps expects in one sentence: P(NP | CP), and a visit order through it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hyperbaton.align import visit_order
from hyperbaton.base import numeric
from hyperbaton.base.errors import OptionError
from hyperbaton.corpus import Annotations, Links, Tags, Text
from hyperbaton.evaluate.explain import Answer, Question, Rows, answer
from hyperbaton.models import NextPositionModel


@dataclass(frozen=True)
class JumpExplanation(Answer):
    """The words of a sentence, P(NP | CP) of shape (n + 1, n + 1) as `JumpLogProbs` has it, and an order of visits.

    `given` says whether the order was given (by links) or is the model's own: always the most probable word that
    was not visited yet.
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

    def as_json(self) -> dict[str, Any]:
        """Everything as plain values."""
        return {
            "words": self.words,
            "probabilities": self.probabilities.tolist(),
            "order": self.order,
            "given": self.given,
            "logprob": self.logprob,
        }

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
        raise OptionError(f"the model {model.name} knows words in sentences, no phrases: give --sentence")
    return explain_jumps(model, question.sentence, question.source_tags, question.links)


def explain_jumps(
    model: NextPositionModel, sentence: str, tags: str | None = None, links: str | None = None
) -> JumpExplanation:
    """Tell which jumps a model expects in a sentence.

    Arguments:
        tags: a tag for each word, if the model was trained with tags.
        links: word links to a translation, `0-1 1-0`, that give the visit order.
    """
    text = Text.of([sentence])
    n = text.n_tokens
    annotations = Annotations(source_tags=None if tags is None else Tags.of([tags], text))
    probabilities = numeric.exp(model.jump_logprobs(text, annotations)[0])
    order = _greedy(probabilities) if links is None else _linked(links, n)
    return JumpExplanation(text[0], probabilities, order, links is not None)


def _greedy(probabilities: npt.NDArray[np.float64]) -> list[int]:
    order: list[int] = []
    free = np.ones(len(probabilities) - 1, bool)
    current = -1
    while free.any():
        current = int(np.where(free, probabilities[current + 1, :-1], -1).argmax())
        free[current] = False
        order.append(current)
    return order


def _linked(links: str, n: int) -> list[int]:
    try:
        points = [(int(i), int(j)) for i, j in (point.split("-") for point in links.split())]
    except ValueError:
        raise OptionError(f"links are pairs of numbers like 0-1 1-0, not {links!r}") from None
    if any(not 0 <= i < n or not 0 <= j < 2**16 for i, j in points):
        raise OptionError(f"a link leaves the {n} words of the sentence")
    return visit_order(Links.of([points]))[0]
