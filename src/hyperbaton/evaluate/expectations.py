"""What each reordering model of a system expected at every step of a translation, and what the search chose.

An orientation model gives class probabilities of the current phrase (side `before`) or of the previous one (side `after`,
which is charged when the next phrase is known). A jump model gives probabilities of the next source word. A step model
gives scores of the remaining words: word by word if it can be called from Python; a model in the core scores the options
that could have followed the same phrases.

The steps of a derivation are its rules. Jump models are evaluated at linked source words, in target order, and their
expectations belong to the innermost rule around the word. As in phrases, jumps between adjacent words of one rule count
only if the model is charged inside.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, singledispatch
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from hyperbaton.align import VisitOrders
from hyperbaton.base import numeric
from hyperbaton.base.arrays import Array, Integers, offsets_of
from hyperbaton.base.errors import OptionError
from hyperbaton.corpus import Annotations, Text
from hyperbaton.decode import ModelUse, ReorderingTable, Step, Translations
from hyperbaton.decode.derivations import Derivations
from hyperbaton.decode.scorers import scores_of
from hyperbaton.models import JumpLogProbs, PerJump, PerOption, PerStep, StepModel, needed
from hyperbaton.phrases import OrientationSet, TranslationOptions

Expectation = dict[str, object]


class Path:
    """One translation: its steps, its options, its sentence alone, and the sentence's annotations."""

    def __init__(self, found: Translations, piece: int, path: int) -> None:
        self.found, self.piece, self.path = found, piece, path
        self.steps: list[Step] = found.steps(path)
        self.options = found.path_options(path)
        alone = np.array([piece])
        self.source: Text = found.batch.source.select(alone)
        self.annotations: Annotations = found.batch.annotations.select(alone)

    @cached_property
    def classes(self) -> dict[str, npt.NDArray[np.uint8]]:
        """The orientation classes of the steps, by model."""
        return self.found.step_classes(self.piece, self.path)

    def own_options(self) -> TranslationOptions:
        """The options of the steps, of this sentence alone."""
        all_options = self.found.batch.options
        return TranslationOptions.of(
            [
                (0, step.begin, step.end, " ".join(step.target), all_options.links[int(o)])
                for step, o in zip(self.steps, self.options, strict=True)
            ]
        )


def expectations(found: Translations, piece: int, path: int) -> list[list[Expectation]]:
    """For each step of a translation, the expectations of each reordering model.

    Every expectation has `model` and `shape`. For orientations: `side`, `span` (the phrase it is about), `classes` (name
    → probability) and `chosen`. For jumps: `from` (a source word, −1 is the start), `words` (a probability for each
    source word and the end) and `chosen`. For steps: `words` (source word → share among the remaining ones), `scores` (by
    source word) and `chosen`. A model in the core scores, for each word, the best option that starts there and is about
    as long as the chosen phrase.
    """
    way = Path(found, piece, path)
    if isinstance(found, Derivations):
        return _of_derivation(found, way)
    told: list[list[Expectation]] = [[] for _ in way.steps]
    for name, use in found.system.reordering.items():
        columns: list[Sequence[Expectation | None]] = []  # one for each side of a table
        if isinstance(use, ReorderingTable):
            columns = _of_table(name, use, way)
        elif isinstance(use, ModelUse):
            columns = [expected(use.model, name, way)]
        for column in columns:
            for at, row in enumerate(column):
                if row is not None:
                    told[at].append({"model": name, **row})
    return told


def _of_derivation(found: Derivations, way: Path) -> list[list[Expectation]]:
    """The expectations of jump models at each word of a derivation, by segment."""
    segments = found.segments(way.path)
    told: list[list[Expectation]] = [[] for _ in segments]
    innermost, of_target = (
        {word: number for number, segment in enumerate(segments) for word in range(*(segment.source, segment.target)[side])}
        for side in (0, 1)
    )
    first = dict(sorted(found.links_of(way.path), reverse=True))  # the first target word of each
    for name, use in found.system.reordering.items():
        if isinstance(use, ModelUse) and isinstance(use.model, PerJump):
            matrix = np.asarray(_jumps(use.model, way)[0], np.float64)
            for current, word in pairwise([-1, *found.order(way.path)]):
                between = range(first.get(current, -1), first[word] + 1)
                if not use.inside and len({of_target.get(j) for j in between}) == 1:
                    continue
                told[innermost[word]].append({"model": name, **_jump(current, matrix[current + 1], word)})
    return told


@singledispatch
def expected(model: object, name: str, way: Path) -> Sequence[Expectation | None]:
    """The expectations of a model at each step; None if it has none."""
    return []


@expected.register(PerOption)
def _(model: PerOption, name: str, way: Path) -> Sequence[Expectation | None]:
    logprobs = model.option_logprobs(way.source, way.own_options(), *needed(model, way.annotations))
    scores, spans = scores_of(model, np.asarray(logprobs)), [(step.begin, step.end) for step in way.steps]
    probabilities = numeric.exp(scores.step_logprobs(np.arange(len(spans)), spans, way.source.n_tokens))
    return _classes(way, way.classes[name][:, 0], probabilities, scores.orientations, scores.side)


@expected.register(PerJump)
def _(model: PerJump, name: str, way: Path) -> Sequence[Expectation | None]:
    jumps = _jumps(model, way)
    matrix = np.asarray(jumps[0], np.float64)
    remaining = getattr(model, "candidates", "all") == "remaining"
    alone = JumpLogProbs(
        matrix.ravel(), np.array([0, matrix.size]), way.source.lengths, getattr(jumps, "class_weights", None)
    )
    rows: list[Expectation | None] = []
    current = -1
    covered: list[int] = []
    for step, option in zip(way.steps, way.options.tolist(), strict=True):
        visits = _visits(way.found.batch.options.links[option])
        row = _row_left(alone, current, covered) if remaining else matrix[current + 1]
        covered += range(step.begin, step.end)
        if not visits or row is None:  # a phrase without links makes no jump
            rows.append(None)
        else:
            rows.append(_jump(current, row, step.begin + visits[0]))
        current = step.begin + visits[-1] if visits else current
    return rows


def _jumps(model: PerJump, way: Path) -> JumpLogProbs | Sequence[Array]:
    """The scores of a jump model for the single sentence."""
    return model.jump_logprobs(way.source, *needed(model, way.annotations))


def _jump(current: int, row: numeric.Floats, chosen: int) -> Expectation:
    """The expectation of a jump model after a word, from its log-probabilities of the next one."""
    words = [round(p, 6) for p in numeric.exp(row).tolist()]
    return {"shape": "next_position", "from": current, "words": words, "chosen": chosen}


def _row_left(logprobs: JumpLogProbs, current: int, covered: list[int]) -> numeric.Floats | None:
    """log P(NP | CP, covered) of the single sentence; None if unknown.

    Visit orders do not define a coverage without a current word, as after phrases without links at the start.
    """
    if current < 0 and covered:
        masked = logprobs[0][0].copy()
        masked[covered] = -np.inf
        return None if logprobs.class_weights is not None else numeric.log_softmax(masked[None])[0]
    order = [word for word in covered if word != current] + ([] if current < 0 else [current])
    visits = VisitOrders(np.array(order, np.uint16), np.array([0, len(order)]))
    return np.asarray(logprobs.remaining(visits)[0][-1])


def _visits(links: Sequence[tuple[int, int]]) -> list[int]:
    """The linked source words of a phrase pair in the order of their first target words, the visit order of the search.

    >>> _visits([(0, 1), (1, 0), (2, 1)])
    [1, 0, 2]
    """
    first: dict[int, int] = {}
    for i, j in sorted(links):
        first.setdefault(i, j)
    return sorted(first, key=lambda i: (first[i], i))


@expected.register(PerStep)
def _(model: PerStep, name: str, way: Path) -> Sequence[Expectation | None]:
    own_scorer = getattr(type(model), "step_scorer", StepModel.step_scorer)
    if own_scorer is not StepModel.step_scorer or hasattr(model, "search_feature"):
        return _options_left(model, name, way)
    if not isinstance(model, StepModel):
        return []
    order = [word for step in way.steps for word in range(step.begin, step.end)]
    targets = [""] * way.source.n_tokens
    first = {}
    for n, step in enumerate(way.steps):
        first[len([w for s in way.steps[:n] for w in range(s.begin, s.end)])] = n
        targets[step.begin] = " ".join(step.target)
    rows: list[Expectation | None] = [None] * len(way.steps)
    try:
        for at, (left, scores) in enumerate(model.walk(way.source, targets, order, way.annotations)):
            if at in first:
                rows[first[at]] = _words_left([int(word) for word in left], scores, order[at])
    except OptionError:
        return []
    return rows


def _options_left(model: PerStep, name: str, way: Path) -> Sequence[Expectation | None]:
    """Scores of a model in the core for the options that could have been chosen at each step, one for each remaining
    word."""
    options, offsets = way.found.batch.options, way.found.batch.options.sentence_offsets
    if offsets is None or way.found.search_input is None:
        return []
    best: dict[int, dict[int, int]] = {}  # by first word and length; options of a span come best first
    for option in range(int(offsets[way.piece]), int(offsets[way.piece + 1])):
        begin, length = int(options.source.begin[option]), int(options.source.length[option])
        best.setdefault(begin, {}).setdefault(length, option)
    covered: set[int] = set()
    words: list[list[int]] = []
    paths: list[list[int]] = []
    before: list[int] = []
    for step, chosen in zip(way.steps, way.options.tolist(), strict=True):
        words.append([])
        for begin, lengths in sorted(best.items()):
            free = [n for n in lengths if covered.isdisjoint(range(begin, begin + n))]
            if free:
                nearest = min(free, key=lambda n: abs(n - (step.end - step.begin)))
                words[-1].append(begin)
                paths.append([*before, chosen if begin == step.begin else lengths[nearest]])
        before.append(chosen)
        covered |= set(range(step.begin, step.end))
    values = way.found.last_step_values(way.piece, paths)[:, way.found.columns[name][0]] * getattr(model, "nats", 1.0)
    ends = offsets_of([*map(len, words)])
    return [
        _words_left(left, values[a:b], step.begin)
        for left, a, b, step in zip(words, ends[:-1], ends[1:], way.steps, strict=True)
    ]


def _words_left(words: Sequence[int], scores: npt.ArrayLike, chosen: int) -> Expectation:
    """The expectation of a step model: shares of the remaining words."""
    natural = np.asarray(scores, np.float64)
    shares = numeric.exp(numeric.log_softmax(natural)).tolist()
    return {
        "shape": "step",
        "words": {word: round(share, 6) for word, share in zip(words, shares, strict=True)},
        "scores": {word: round(score, 4) for word, score in zip(words, natural.tolist(), strict=True)},
        "chosen": chosen,
    }


def _of_table(name: str, table: ReorderingTable, way: Path) -> list[Sequence[Expectation | None]]:
    """The expectations of a lexicalized table, for each of its sides."""
    batch = way.found.batch
    rows = (batch.sources if table.kind.conditioning == "f" else batch.pairs)[way.options]
    known = batch.pairs[way.options] >= 0
    n = len(table.orientations)
    told: list[Sequence[Expectation | None]] = []
    for i, side in enumerate(table.kind.sides):
        probabilities = np.full((len(rows), n), np.nan)
        probabilities[known] = table.probabilities[rows[known], i * n : (i + 1) * n]
        told.append(_classes(way, way.classes[name][:, i], probabilities, table.orientations, side))
    return told


def _classes(
    way: Path, classes: Integers, probabilities: numeric.Floats, orientations: OrientationSet, side: str
) -> list[Expectation | None]:
    """Class probabilities at each step, and the class of the step."""
    rows: list[Expectation | None] = []
    for at, chosen in enumerate(classes.tolist()):
        about = at - 1 if side == "after" else at
        if about < 0 or np.isnan(probabilities[about]).any():
            rows.append(None)
            continue
        row = probabilities[about]
        span = way.steps[about]
        shown = dict(zip(orientations.names, [round(p, 6) for p in row.tolist()], strict=True))
        rows.append(
            {
                "shape": "orientation",
                "side": side,
                "span": [span.begin, span.end],
                "classes": shown,
                "chosen": orientations.names[chosen],
            }
        )
    return rows
