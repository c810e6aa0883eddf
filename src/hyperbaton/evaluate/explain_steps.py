"""Explain a step model for one sentence: the order with the highest score at each step, and the alternatives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from hyperbaton.base.errors import OptionError
from hyperbaton.corpus import Annotations, Tags, Text
from hyperbaton.evaluate.explain import Answer, Question, Rows, answer
from hyperbaton.models import StepModel


class ScoredStep(NamedTuple):
    """A chosen word with its score, and the best alternative."""

    word: int
    score: float
    other: int | None
    other_score: float | None


@dataclass(frozen=True)
class StepAnswer(Answer):
    """The words of a sentence, and the steps through it, always to the word with the highest score."""

    words: list[str]
    steps: list[ScoredStep]

    def as_json(self) -> object:
        return {"words": self.words, "steps": [step._asdict() for step in self.steps]}

    def parts(self) -> Iterator[str | Rows]:
        yield f"expected order: {' '.join(self.words[step.word] for step in self.steps)}"
        for step in self.steps:
            instead = "" if step.other is None else f"   next best: {self.words[step.other]} {step.other_score:.3f}"
            yield f"  {self.words[step.word]}   score {step.score:.3f}{instead}"


@answer.register
def _(model: StepModel, question: Question) -> StepAnswer:
    if question.sentence is None:
        raise OptionError(f"the model {model.name} scores steps through sentences: give --sentence")
    text = Text.of([question.sentence])
    tags = None if question.source_tags is None else Tags.of([question.source_tags], text)
    steps = []
    for left, scores in model.walk(text, [""] * text.n_tokens, None, Annotations(source_tags=tags)):
        order = (-scores).argsort(kind="stable")
        best, other = int(order[0]), None if len(order) < 2 else int(order[1])
        steps.append(
            ScoredStep(
                int(left[best]),
                float(scores[best]),
                None if other is None else int(left[other]),
                None if other is None else float(scores[other]),
            )
        )
    return StepAnswer(text[0], steps)
