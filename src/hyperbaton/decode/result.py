"""Translations of a batch of sentences, as columns, and their output forms: lines, n-best lists, steps, traces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.arrays import gather
from hyperbaton.base.forms import JsonObject
from hyperbaton.base.shown import Display
from hyperbaton.corpus import Links, Text
from hyperbaton.decode.sparse import StepColumns
from hyperbaton.decode.system import UNKNOWN_WORD, System
from hyperbaton.models import Batch

NO_CLASS = _core.NO_CLASS
TRACED = 100  # number of translations in which to look for another order


class Step(NamedTuple):
    """One phrase of a translation: source span, target words, and its features, unweighted."""

    begin: int
    end: int
    target: list[str]
    features: dict[str, list[float]]


class Segment(NamedTuple):
    """A part of a translation for display: a phrase, or a rule with everything in its gaps; spans are half-open.

    `kind` is phrase, or the kind of a `RuleUse`; `parent` is the number of the segment whose gap it fills, -1 at the top;
    `rule` has both sides of a rule.
    """

    source: tuple[int, int]
    target: tuple[int, int]
    features: dict[str, list[float]]
    kind: str = "phrase"
    parent: int = -1
    rule: tuple[str, str] | None = None


def feature_columns(system: System, names: Iterable[str]) -> dict[str, list[int]]:
    """The core's columns of values, by the names of their features, in the order of n-best lists."""
    columns: dict[str, list[int]] = {name: [] for name in system.features}
    for column, name in enumerate(names):
        columns[name].append(column)
    return columns


@dataclass(frozen=True, repr=False)
class Translations(Display):
    """Translations of sentences, best first.

    Those of sentence s are `path_offsets[pieces[s]]` to `path_offsets[pieces[s + 1]]`: a sentence that was too long has
    several pieces. Steps of translation p are `step_offsets[p]` to `step_offsets[p + 1]`, `options` has the translation
    option of each. `features` has a row for each step and one more for the end of each translation; `columns` gives the
    columns of each feature, in the order of n-best lists.
    """

    counted: ClassVar[tuple[str, ...]] = ("hypotheses", "spans", "spans_cut")  # spans considered, and cut by the limits

    system: System
    batch: Batch
    columns: dict[str, list[int]]
    pieces: npt.NDArray[np.int64]
    path_offsets: npt.NDArray[np.int64]
    step_offsets: npt.NDArray[np.int64]
    options: npt.NDArray[np.int64]
    scores: npt.NDArray[np.float64]
    features: npt.NDArray[np.float32]
    relaxed: npt.NDArray[np.uint8]
    counts: npt.NDArray[np.int64]  # (n_pieces, 3), the counts named in `counted`
    graph_offsets: npt.NDArray[np.int64]  # rows of each piece's search graph, if requested
    graph_places: npt.NDArray[np.int64]  # (n_rows, 5): hypothesis, stack, back, recombined, option; -1 is none
    graph_scores: npt.NDArray[np.float64]  # (n_rows, 3): score, transition, best complete score through here
    search_input: _core.DecodeInput | None = field(default=None, repr=False, compare=False)
    found_options: _core.TranslationOptions | None = field(default=None, repr=False, compare=False)

    def last_step_values(self, piece: int, paths: Sequence[Sequence[int]]) -> npt.NDArray[np.float32]:
        """Unweighted values (n_paths, n_columns) of the last step of paths through a piece, which need not be
        complete."""
        if self.search_input is None or not paths:
            return np.zeros((0, self.features.shape[1]), np.float32)
        return _core.last_step_values(self.search_input, piece, [list(path) for path in paths])

    def step_classes(self, piece: int, path: int) -> dict[str, npt.NDArray[np.uint8]]:
        """The orientation class of each step of a translation of a piece, by the name of the model.

        Shape (n_steps, n), where n is 2 for a table with both sides; `NO_CLASS` if a step has none.
        """
        if self.search_input is None:
            return {}
        names = self.search_input.class_columns
        options = self.path_options(path).tolist()
        if not names or not options:
            return {name: np.zeros((0, names.count(name)), np.uint8) for name in names}
        classes = _core.step_classes(self.search_input, piece, options)
        return {name: classes[:, [column for column, other in enumerate(names) if other == name]] for name in names}

    def __len__(self) -> int:
        return len(self.pieces) - 1

    def paths(self, piece: int) -> range:
        """The translations of a piece, best first."""
        return range(int(self.path_offsets[piece]), int(self.path_offsets[piece + 1]))

    def path_options(self, path: int) -> npt.NDArray[np.int64]:
        """The translation options of the steps of a translation."""
        return self.options[self.step_offsets[path] : self.step_offsets[path + 1]]

    def facts(self) -> dict[str, int]:
        """The number of sentences and of their translations."""
        return {"sentences": len(self), "translations": len(self.scores)}

    @cached_property
    def text(self) -> Text:
        """All translations, one line each."""
        target = self.batch.options.target
        where, offsets = gather(target.offsets, self.options)
        return Text(target.tokens[where], offsets[self.step_offsets], target.vocabulary)

    @cached_property
    def totals(self) -> npt.NDArray[np.float64]:
        """Features of whole translations, (n_translations, n_columns)."""
        starts = self.step_offsets[:-1] + np.arange(len(self.scores))
        if len(starts) == 0:
            return np.zeros((0, self.features.shape[1]))
        return np.add.reduceat(self.features.astype(np.float64), starts, axis=0)

    def lines(self) -> list[str]:
        """The best translation of each sentence; empty if there is none."""
        phrases = self._phrases[0]
        lines = self._best.lines(phrases.core_tokens, phrases.vocabulary.spelling)
        return lines.decode("utf-8", "replace").split("\n")[:-1]

    def links(self) -> Links:
        """The links between each sentence and its best translation: those inside its phrases, shifted into place."""
        phrases, links, begins = self._phrases
        target, source = phrases.offsets, self.batch.source.offsets
        found = self._best.links(
            points=links.points, offsets=links.offsets, begins=begins, target_offsets=target, source_offsets=source
        )
        return Links(*found)

    @property
    def _best(self) -> _core.BestPhrases:
        return _core.BestPhrases(
            pieces=self.pieces, path_offsets=self.path_offsets, step_offsets=self.step_offsets, steps=self.options
        )

    @property
    def _phrases(self) -> tuple[Text, Links, npt.NDArray[np.uint16]]:
        """What the steps of the best translations are: targets, inner links, and where sources begin."""
        options = self.batch.options
        return options.target, options.links, options.source.begin

    def steps(self, path: int) -> list[Step]:
        """The steps of a translation."""
        source, base = self.batch.options.source, int(self.step_offsets[path]) + path
        steps = []
        for i, option in enumerate(self.path_options(path).tolist()):
            begin = int(source.begin[option])
            target = self.batch.options.target[option]
            steps.append(Step(begin, begin + int(source.length[option]), target, self.named(self.features[base + i])))
        return steps

    def segments(self, path: int) -> list[Segment]:
        """The phrases of a translation in target order; with `end_features` their features add up to the total."""
        at, segments = 0, []
        for step in self.steps(path):
            segments.append(Segment((step.begin, step.end), (at, at + len(step.target)), step.features))
            at += len(step.target)
        return segments

    def end_features(self, path: int) -> npt.NDArray[np.float32]:
        """The values of a translation that belong to no segment."""
        return self.features[int(self.step_offsets[path + 1]) + path]

    def links_of(self, path: int) -> list[tuple[int, int]]:
        """The links of a translation, by source word."""
        return sorted(
            (segment.source[0] + i, segment.target[0] + j)
            for segment, option in zip(self.segments(path), self.path_options(path).tolist(), strict=True)
            for i, j in self.batch.options.links[option]
        )

    def order(self, path: int) -> list[int]:
        """The source words in the order of translation."""
        return [word for step in self.steps(path) for word in range(step.begin, step.end)]

    def longest_jump(self, path: int) -> int:
        """The longest jump of a translation in source words."""
        ends = [0, *(step.end for step in self.steps(path))]
        return max((abs(end - step.begin) for end, step in zip(ends, self.steps(path), strict=False)), default=0)

    def named(self, row: npt.NDArray[np.floating]) -> dict[str, list[float]]:
        """A row of features by name, without sparse ones."""
        dense = self.system.dense_features
        return {name: [float(row[c]) for c in columns] for name, columns in self.columns.items() if name in dense}

    def weighted(self, features: Mapping[str, Sequence[float]]) -> dict[str, float]:
        """The weighted sum of the values of each feature, without those that are 0."""
        pairs = ((name, zip(self.system.weights[name], values, strict=True)) for name, values in features.items())
        return {name: total for name, both in pairs if (total := sum(weight * value for weight, value in both))}

    @cached_property
    def sparse(self) -> JsonObject:
        """The counts of each sparse feature of each model in each translation, (n_translations, n_features), CSR."""
        models = self.system.sparse
        n_paths, lengths = len(self.scores), np.diff(self.step_offsets)
        path = np.repeat(np.arange(n_paths), lengths + 1)
        option = np.insert(self.options, self.step_offsets[1:], -1)
        is_first = np.diff(path, prepend=-1) > 0
        by_name = {}
        for name, model in models.items():
            n = model.n_columns // 2
            classes = [self.features[:, self.columns[name][side * n : (side + 1) * n]].argmax(axis=1) for side in (0, 1)]
            by_name[name] = model.values(self.batch, StepColumns(path, option, is_first, classes[0], classes[1], n_paths))
        return by_name

    def graph(self, first: int = 0) -> Iterator[str]:
        """Lines of the search graph, in nearly Moses' format; sentences are numbered from `first`."""
        source, target = self.batch.options.source, self.batch.options.target
        for sentence in range(len(self)):
            for row in range(*self.graph_offsets[self.pieces[[sentence, sentence + 1]]].tolist()):
                hypothesis, stack, back, recombined, option = self.graph_places[row].tolist()
                score, transition, best = self.graph_scores[row].tolist()
                line = f"{first + sentence} hyp={hypothesis} stack={stack} back={back} score={score:g}"
                line += f" transition={transition:g} recombined={recombined} fscore={best:g}"
                if option >= 0:
                    begin, length = int(source.begin[option]), int(source.length[option])
                    line += f" covered={begin}-{begin + length - 1} out={' '.join(target[option])}"
                yield line

    def nbest(self, first: int = 0, alignment: bool = False, most: int | None = None) -> Iterator[str]:
        """Lines of an n-best list in Moses' format; sentences are numbered from `first`, at most `most` lines each."""
        for sentence in range(len(self)):
            for piece in range(int(self.pieces[sentence]), int(self.pieces[sentence + 1])):
                for path in self.paths(piece)[:most]:
                    yield self._nbest_line(first + sentence, path, alignment)

    def _nbest_line(self, number: int, path: int, alignment: bool) -> str:
        words = "".join(f"{word} " for word in self.text[path])
        named = self.named(self.totals[path])
        features = " ".join(
            f"{name}= " + " ".join(f"{value:g}" for value in values)
            for name, values in named.items()
            if name != UNKNOWN_WORD
        )
        for name, model in self.system.sparse.items():
            row = self.sparse[name][[path]]
            features += "".join(f" {name}_{model.names[i]}= {v:g}" for i, v in zip(row.indices, row.data, strict=True))
        line = f"{number} ||| {words} ||| {features} ||| {self.scores[path]:g}"
        return f"{line} ||| {self._alignment(path)}" if alignment else line

    def _alignment(self, path: int) -> str:
        """The segments of a translation, `source=target`."""
        return " ".join(f"{_inclusive(*segment.source)}={_inclusive(*segment.target)}" for segment in self.segments(path))


def _inclusive(begin: int, end: int) -> str:
    """A span in Moses' notation.

    >>> _inclusive(2, 5), _inclusive(2, 3), _inclusive(2, 2)
    ('2-4', '2', '')
    """
    return "" if begin == end else str(begin) if end == begin + 1 else f"{begin}-{end - 1}"
