"""Models of the shape *per step*: the score of a translation option, given the coverage.

A step extends a hypothesis of the search by an option. The model is given the translated source words, the previous
phrase, and its own state after the previous step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hyperbaton import _core
from hyperbaton.align import visit_order
from hyperbaton.base import numeric
from hyperbaton.base.arrays import Array
from hyperbaton.base.errors import OptionError
from hyperbaton.corpus import Annotations, Bitext, Text
from hyperbaton.corpus.annotations import NOTHING
from hyperbaton.models.shapes.base import ReorderingModel
from hyperbaton.models.shapes.batch import Batch, Steps
from hyperbaton.models.shapes.protocols import PerStep
from hyperbaton.phrases import TranslationOptions

_GIVEN_PAIR = -2  # an option that is neither in the phrase table nor an unknown word


def python_steps(model: PerStep | StepModel, batch: Batch, weight: float) -> _core.StepScorer:
    """A step scorer for the decoder that calls a Python method `step_scores(steps)`."""

    def ask(sentence: int, states: Array, coverage: Array, begin: Array, end: Array, options: Array) -> tuple[Array, Array]:
        steps = Steps(batch, sentence, states, coverage.astype(np.bool_), begin, end, options)
        scores, behind = model.step_scores(steps)
        return np.ascontiguousarray(scores, np.float32), np.ascontiguousarray(behind, np.int64)

    return _core.PythonSteps(function=ask, weight=weight)


@dataclass(eq=False)
class StepModel(ReorderingModel):
    """Base of step models: a score of a step, given the coverage.

    A model adds options, `fit`, `step_scores`, `_arrays` and `_restore`.

    A model that scores in the core overrides `step_scorer` and `path_scores` instead of `step_scores`. A model with
    several values for a step, with a weight for each, has `n_values`, `start_weights` and `search_feature(batch,
    weights)`.
    """

    shape: ClassVar = "step"
    nats: ClassVar[float] = 1.0  # per unit of the score, or of the first value if a model has several

    def step_scores(self, steps: Steps) -> tuple[Array, Array]:
        """Natural logs of probabilities of steps, or any score where higher is better, and the states after them."""
        raise OptionError(f"the model {self.name} scores steps only in the core, for the search")

    def step_scorer(self, batch: Batch, weight: float) -> _core.StepScorer:
        """The model as the decoder's step scorer; a scorer in the core is faster than this one, which calls
        `step_scores`."""
        return python_steps(self, batch, weight)

    def path_scores(self, bitext: Bitext, annotations: Annotations = NOTHING) -> dict[str, Array]:
        """Compare the steps defined by the links of a bitext with the other remaining words, as columns.

        The path follows the visit order word by word. `sentence` and `begin` identify the step; `logprob` is the log of
        its share in exp(score) of all remaining words, `right` says whether none of them scores higher.
        """
        self._check_fitted()
        links = bitext.need_links()
        orders = visit_order(links)
        columns: dict[str, list[float]] = {"sentence": [], "begin": [], "logprob": [], "right": []}
        for s in range(len(bitext)):
            order, target = orders[s], bitext.target[s]
            linked: dict[int, list[str]] = {}
            for i, j in links[s]:
                linked.setdefault(i, []).append(target[j])
            targets = [" ".join(linked.get(i, [])) for i in range(len(bitext.source[s]))]
            alone = np.array([s])
            walk = self.walk(bitext.source.select(alone), targets, order, annotations.select(alone))
            for word, (left, scores) in zip(order, walk, strict=True):
                at = int(np.searchsorted(left, word))
                values = (s, word, float(numeric.log_softmax(scores)[at]), bool(scores[at] >= scores.max()))
                for name, value in zip(columns, values, strict=True):
                    columns[name].append(value)
        return {name: np.array(values) for name, values in columns.items()}

    def walk(
        self, source: Text, targets: Sequence[str], order: Sequence[int] | None, annotations: Annotations = NOTHING
    ) -> Iterator[tuple[Array, Array]]:
        """Walk through a sentence word by word; yields at each step the remaining words, increasing, and their scores.

        Arguments:
            targets: the translation of each word.
            order: the words in the order of the steps; by default, all of them, always the one with the highest score.
        """
        n_words = len(targets)
        rows: list[tuple[int, int, int, str, list[tuple[int, int]]]] = [
            (0, i, i + 1, target, [(0, j) for j in range(len(target.split()))]) for i, target in enumerate(targets)
        ]
        batch = Batch(source, TranslationOptions.of(rows), np.full(n_words, _GIVEN_PAIR, np.int64), annotations)
        coverage, state, previous = np.zeros(n_words, bool), 0, (0, 0)
        left = sorted(range(n_words) if order is None else order)
        for k in range(len(left)):
            n = len(left)
            steps = Steps(
                batch,
                0,
                np.full(n, state, np.int64),
                np.tile(coverage, (n, 1)),
                np.full(n, previous[0], np.int32),
                np.full(n, previous[1], np.int32),
                np.array(left, np.int64),
            )
            scores, states = (np.asarray(column) for column in self.step_scores(steps))
            yield np.array(left), scores
            at = int(scores.argmax()) if order is None else left.index(order[k])
            word = left.pop(at)
            coverage[word], state, previous = True, int(states[at]), (word, word + 1)
