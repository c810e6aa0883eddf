"""What each reordering model of a system expected at every step of a translation, why, and what the search chose.

An orientation model gives class probabilities of the current phrase (side `before`) or of the previous one (side `after`,
which is charged when the next phrase is known). A jump model gives probabilities of the next source word. A step model
gives scores of the remaining words: word by word if it can be called from Python; a model in the core scores the options
that could have followed the same phrases.

The steps of a derivation are its rules. Jump models in the chart are evaluated at linked source words, in target order,
and their expectations belong to the innermost rule around the word. As in phrases, jumps between adjacent words of one
rule count only if the model is charged inside. Models that rescore derivations are evaluated at the phrases that these are
read as, and their expectations belong to the innermost rule around the first word.

For an orientation model with weights, the reasons are its features: each adds to the score of every class, and its weight
for a class is taken relative to the mean of all classes, since only differences matter. A jump model is evaluated again
without each word and without each tag: the weight of a word is log P(j | i) − log P(j | i, without that word).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, singledispatch
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hyperbaton.align import VisitOrders
from hyperbaton.base import numeric
from hyperbaton.base.arrays import Integers, offsets_of
from hyperbaton.base.errors import OptionError
from hyperbaton.base.forms import JsonObject
from hyperbaton.corpus import Annotations, Tags, Text
from hyperbaton.decode import ModelUse, ReorderingTable, Step, System, Translations
from hyperbaton.decode.derivations import Derivations
from hyperbaton.decode.reordering import Reordering
from hyperbaton.decode.scorers import orientations_of, scores_of
from hyperbaton.models import Declared, JumpLogProbs, OrientationModel, PerJump, PerOption, PerStep, StepModel, needed
from hyperbaton.phrases import DistanceSet, MosesSet, Occurrences, OrientationSet, TranslationOptions

Expectation = dict[str, object]


class Path:
    """One translation: its steps, its options, its sentence alone, and the sentence's annotations."""

    def __init__(self, translations: Translations, piece: int, path: int) -> None:
        self.translations, self.piece, self.path = translations, piece, path
        self.steps: list[Step] = translations.steps(path)
        self.options = translations.path_options(path)
        alone = np.array([piece])
        self.source: Text = translations.batch.source.select(alone)
        self.annotations: Annotations = translations.batch.annotations.select(alone)

    @cached_property
    def classes(self) -> dict[str, npt.NDArray[np.uint8]]:
        """The orientation classes of the steps, by model."""
        return self.translations.step_classes(self.piece, self.path)

    def step_options(self) -> TranslationOptions:
        """The options of the steps, of this sentence alone."""
        links, steps = self.translations.batch.options.links, zip(self.steps, self.options.tolist(), strict=True)
        return TranslationOptions.of([(0, s.begin, s.end, " ".join(s.target), links[option]) for s, option in steps])


def expectations(translations: Translations, piece: int, path: int) -> list[list[Expectation]]:
    """For each step of a translation, the expectations of each reordering model.

    Every expectation has `model` and `shape`. For orientations: `side`, `span` (the phrase it is about), `classes` (name
    → probability) and `chosen`. For jumps: `from` (a source word, −1 is the start), `words` (a probability for each
    source word and the end) and `chosen`. For steps: `words` (source word → share among the remaining ones), `scores` (by
    source word) and `chosen`. A model in the core scores, for each word, the best option that starts there and is about
    as long as the chosen phrase.
    """
    if isinstance(translations, Derivations):
        return _of_derivation(translations, piece, path)
    return _of_phrases(Path(translations, piece, path), translations.system.reordering)


def _of_phrases(way: Path, models: Mapping[str, Reordering]) -> list[list[Expectation]]:
    told: list[list[Expectation]] = [[] for _ in way.steps]
    for name, use in models.items():
        columns: Sequence[Sequence[Expectation | None]] = []  # one for each side of a table
        if isinstance(use, ReorderingTable):
            columns = _of_table(name, use, way)
        elif isinstance(use, ModelUse):
            columns = [expected(use.model, name, way)]
        for column in columns:
            for rows, row in zip(told, column, strict=False):  # a model without expectations has no rows
                rows += [{"model": name, **row}] if row is not None else []
    return told


def _of_derivation(translations: Derivations, piece: int, path: int) -> list[list[Expectation]]:
    """The expectations at each word of a derivation, by segment."""
    way, segments = Path(translations, piece, path), translations.segments(path)
    told: list[list[Expectation]] = [[] for _ in segments]
    innermost = {word: number for number, segment in enumerate(segments) for word in range(*segment.source)}
    of_target = {word: number for number, segment in enumerate(segments) for word in range(*segment.target)}
    first = dict(sorted(translations.links_of(way.path), reverse=True))  # the first target word of each
    order = translations.order(way.path)
    models = translations.system.reordering
    for name, use in models.items():
        if isinstance(use, ModelUse) and isinstance(use.model, PerJump) and use.in_chart:
            jumps = _jumps(use.model, way)
            for current, word in pairwise([-1, *order]):
                between = range(first.get(current, -1), first[word] + 1)
                if use.inside or len({of_target.get(j) for j in between}) > 1:
                    told[innermost[word]].append({"model": name, **_jump(current, jumps[0][current + 1], word)})
    if translations.phrases is not None:
        phrases = Path(translations.phrases, piece, path)
        rescoring = {name: use for name, use in models.items() if not use.in_chart}
        for step, rows in zip(phrases.steps, _of_phrases(phrases, rescoring), strict=True):
            told[innermost[step.begin]] += rows
    return told


@singledispatch
def expected(model: object, name: str, way: Path) -> Sequence[Expectation | None]:
    """The expectations of a model at each step; None if it has none."""
    return []


@expected.register(PerOption)
def _(model: PerOption, name: str, way: Path) -> Sequence[Expectation | None]:
    logprobs = model.option_logprobs(way.source, way.step_options(), *needed(model, way.annotations))
    scores, spans = scores_of(model, np.asarray(logprobs)), [(step.begin, step.end) for step in way.steps]
    probabilities = numeric.exp(scores.step_logprobs(np.arange(len(spans)), spans, way.source.n_tokens))
    return _classes(way, way.classes[name][:, 0], probabilities, scores.orientations, scores.side)


@expected.register(PerJump)
def _(model: PerJump, name: str, way: Path) -> Sequence[Expectation | None]:
    jumps, remaining = _jumps(model, way), Declared.of(model).only_remaining
    rows: list[Expectation | None] = []
    current, covered = -1, list[int]()
    for step, option in zip(way.steps, way.options.tolist(), strict=True):
        visits = _visits(way.translations.batch.options.links[option])
        row = _row_left(jumps, current, covered) if remaining else jumps[0][current + 1]
        covered += range(step.begin, step.end)
        # A phrase without links makes no jump.
        rows.append(_jump(current, row, step.begin + visits[0]) if visits and row is not None else None)
        current = step.begin + visits[-1] if visits else current
    return rows


def _jumps(model: PerJump, way: Path) -> JumpLogProbs:
    return JumpLogProbs.of(model.jump_logprobs(way.source, *needed(model, way.annotations)))


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
    scorer = getattr(type(model), "step_scorer", StepModel.step_scorer)
    if scorer is not StepModel.step_scorer or Declared.of(model).search_feature is not None:
        return _options_left(model, name, way)
    if not isinstance(model, StepModel):
        return []
    order = [word for step in way.steps for word in range(step.begin, step.end)]
    targets, first, n_words = [""] * way.source.n_tokens, {}, 0  # `first`: steps by the number of words before them
    for n, step in enumerate(way.steps):
        first[n_words], targets[step.begin] = n, " ".join(step.target)
        n_words += step.end - step.begin
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
    options, offsets = way.translations.batch.options, way.translations.batch.options.sentence_offsets
    if offsets is None or way.translations.search_input is None:
        return []
    best: dict[int, dict[int, int]] = {}  # by first word and length; options of a span come best first
    for option in range(int(offsets[way.piece]), int(offsets[way.piece + 1])):
        begin, length = int(options.source.begin[option]), int(options.source.length[option])
        best.setdefault(begin, {}).setdefault(length, option)
    covered: set[int] = set()
    words: list[list[int]] = []
    paths: list[list[int]] = []
    path = way.options.tolist()
    for number, (step, option) in enumerate(zip(way.steps, path, strict=True)):
        words.append([])
        for begin, lengths in sorted(best.items()):
            free = [n for n in lengths if covered.isdisjoint(range(begin, begin + n))]
            if free:
                nearest = min(free, key=lambda n: abs(n - (step.end - step.begin)))
                words[-1].append(begin)
                paths.append([*path[:number], option if begin == step.begin else lengths[nearest]])
        covered |= set(range(step.begin, step.end))
    values = (
        way.translations.last_step_values(way.piece, paths)[:, way.translations.columns[name][0]] * Declared.of(model).nats
    )
    ends = offsets_of([*map(len, words)])
    return [
        _words_left(left, values[a:b], step.begin)
        for left, a, b, step in zip(words, ends[:-1], ends[1:], way.steps, strict=True)
    ]


def _words_left(words: Sequence[int], scores: npt.ArrayLike, chosen: int) -> Expectation:
    """The expectation of a step model: shares of the remaining words."""
    natural = np.asarray(scores, np.float64)
    shares = [round(share, 6) for share in numeric.exp(numeric.log_softmax(natural)).tolist()]
    rounded = [round(score, 4) for score in natural.tolist()]
    by_word = {"words": dict(zip(words, shares, strict=True)), "scores": dict(zip(words, rounded, strict=True))}
    return {"shape": "step", **by_word, "chosen": chosen}


def _of_table(name: str, table: ReorderingTable, way: Path) -> list[Sequence[Expectation | None]]:
    """The expectations of a lexicalized table, for each of its sides."""
    batch = way.translations.batch
    rows = (batch.sources if table.kind.conditioning == "f" else batch.pairs)[way.options]
    in_table = batch.pairs[way.options] >= 0
    n = len(table.orientations)
    columns: list[Sequence[Expectation | None]] = []
    for i, side in enumerate(table.kind.sides):
        probabilities = np.full((len(rows), n), np.nan)
        probabilities[in_table] = table.probabilities[rows[in_table], i * n : (i + 1) * n]
        columns.append(_classes(way, way.classes[name][:, i], probabilities, table.orientations, side))
    return columns


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
        span = [way.steps[about].begin, way.steps[about].end]
        rounded = [round(p, 6) for p in probabilities[about].tolist()]
        row: Expectation = {"shape": "orientation", "side": side, "span": span}
        row["classes"] = dict(zip(orientations.names, rounded, strict=True))
        rows.append(row | {"chosen": orientations.names[chosen]})
    return rows


UNKNOWN = "\ue000"  # from a private range: it never occurs as a word or tag
_LEAST = 0.005  # weights nearer to zero are not reported


def add_reasons(
    translations: Translations, piece: int, path: int, expectations: Sequence[Sequence[JsonObject]], n_reasons: int
) -> None:
    """Add `reasons` to expectations: the strongest features for the chosen class or word, and for the most likely one."""
    if isinstance(translations, Derivations):
        translations = translations.phrases or translations
    way = Path(translations, piece, path)
    numbers = {(step.begin, step.end): number for number, step in enumerate(way.steps)}
    for name, use in translations.system.reordering.items():
        rows = [row for step in expectations for row in step if row["model"] == name]
        if not isinstance(use, ModelUse) or not rows:
            continue
        if isinstance(use.model, OrientationModel):
            evidence = use.model.evidence(Occurrences.of_options(way.source, way.step_options()))
            for row in rows:
                if features := evidence[numbers[tuple(row["span"])]]:
                    bars = {row["chosen"], max(row["classes"], key=row["classes"].__getitem__)}
                    columns = {bar: use.model.class_names.index(bar) for bar in sorted(bars)}
                    margins = {bar: [(f, float(w[k] - np.mean(w))) for f, w in features] for bar, k in columns.items()}
                    _add(row, margins, n_reasons)
        elif isinstance(use.model, PerJump):
            (annotations,) = needed(use.model, way.annotations) or (Annotations(),)
            jump_reasons(use.model, way.source, annotations, rows, n_reasons)


def jump_reasons(
    model: PerJump, source: Text, annotations: Annotations, expectations: Sequence[JsonObject], n_reasons: int
) -> None:
    """Add `reasons` to expectations of the next word in a sentence."""
    words = source[0]
    tags = annotations.source_tags
    labels = [] if tags is None else tags[0]
    lines = [" ".join(words), *_each_unknown(words), *[" ".join(words)] * len(labels)]
    tag_lines = [*[" ".join(labels)] * (1 + len(words)), *_each_unknown(labels)]
    names = ["", *(f"{word} ({k})" for k, word in enumerate(words, 1))]
    names += [f"tag {label} ({k})" for k, label in enumerate(labels, 1)]
    text = Text.of(lines)
    changed = Annotations(source_tags=None if tags is None else Tags.of(tag_lines, text))
    matrices = model.jump_logprobs(text, *needed(model, changed))
    for expectation in expectations:
        row = expectation["from"] + 1
        probabilities = expectation["words"]
        bars = {expectation["chosen"], max(range(len(probabilities)), key=lambda j: probabilities[j])}
        here, *without = (np.asarray(matrices[k])[row] for k in range(len(names)))
        lost = {bar: [float(here[bar] - other[bar]) for other in without] for bar in sorted(bars)}
        _add(expectation, {bar: list(zip(names[1:], values, strict=True)) for bar, values in lost.items()}, n_reasons)


def _each_unknown(words: Sequence[str]) -> list[str]:
    return [" ".join([*words[:k], UNKNOWN, *words[k + 1 :]]) for k in range(len(words))]


def _add(expectation: JsonObject, weights: Mapping[Any, Sequence[tuple[str, float]]], n: int) -> None:
    """Add the n largest weights of each bar of an expectation as its `reasons`, if there are any."""
    expectation["reasons"] = {}
    for bar, pairs in weights.items():
        heaviest = sorted((pair for pair in pairs if abs(pair[1]) >= _LEAST), key=lambda pair: -abs(pair[1]))[:n]
        if heaviest:
            expectation["reasons"][str(bar)] = [[name, round(weight, 4)] for name, weight in heaviest]


class Visits(NamedTuple):
    """The order in which a reference visits the words of a sentence of `n_words`.

    >>> Visits([2, 0, 1], 4).after(2), Visits([2, 0, 1], 4).after(1), Visits([2, 0, 1], 4).after(3)
    (0, 4, None)
    """

    order: list[int]
    n_words: int

    def after(self, word: int) -> int | None:
        """The word visited after another one (−1 is the start); n_words at the end, None for an unvisited word."""
        behind = [*self.order, self.n_words]
        if word < 0:
            return behind[0]
        return behind[self.order.index(word) + 1] if word in self.order else None

    def orientation(self, span: Sequence[int], side: str, orientations: OrientationSet) -> str | None:
        """The class of a span's movement in the reference; None if it is not visited there, or nothing follows."""
        begin, end = span
        visited = [word for word in self.order if begin <= word < end]
        if not visited:
            return None
        if side == "before":
            at = self.order.index(visited[0])
            other = self.order[at - 1] if at else -1
            distance = other + 1 - begin
        else:
            following = self.after(visited[-1])
            if following is None or following == self.n_words:
                return None
            other, distance = following, end - following
        if isinstance(orientations, DistanceSet):
            return orientations.names[int(orientations.classify_distances(np.array([distance], np.int16))[0])]
        if not isinstance(orientations, MosesSet):
            return None
        is_left = other < begin
        next_to_it = other in (begin - 1, end)
        forward = is_left == (side == "before")  # the two phrases are in source order
        four = (0 if forward else 1) if next_to_it else (3 if forward else 2)
        return orientations.names[orientations.merge[four]]


def add_reference(system: System, expectations: Sequence[Sequence[JsonObject]], visits: Visits) -> None:
    """Add `reference` to the expectations of a translation: what the reference does there, None if unknown."""
    last = -1  # the word visited before a step
    for step in expectations:
        for expectation in step:
            if expectation["shape"] == "orientation":
                use: Any = system.reordering[expectation["model"]]
                orientations = orientations_of(use.model if isinstance(use, ModelUse) else use)
                expectation["reference"] = visits.orientation(expectation["span"], expectation["side"], orientations)
            else:
                expectation["reference"] = visits.after(expectation.get("from", last))
                last = expectation["chosen"]
