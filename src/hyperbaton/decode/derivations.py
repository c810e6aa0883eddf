"""Translations by a hierarchical system: each is a derivation, a tree of rules (Chiang 2007)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.forms import JsonObject
from hyperbaton.base.store import Arrays
from hyperbaton.corpus import Links, Text
from hyperbaton.decode.request import Request
from hyperbaton.decode.result import Segment, Translations, feature_columns
from hyperbaton.decode.system import System
from hyperbaton.models import Batch
from hyperbaton.phrases import Spans, TranslationOptions
from hyperbaton.phrases.rules import SOURCE_GAPS, TARGET_GAPS

# Rules that are not in the table, by the core's numbers for them.
_UNKNOWN, _DEMANDED, _GLUE, _START = -1, -2, -3, -4
_KINDS = {_UNKNOWN: "unknown", _DEMANDED: "demanded", _GLUE: "glue", _START: "start"}
_SHARED = ("path_offsets", "scores", "counts", "graph_offsets", "graph_places", "graph_scores")


class RuleUse(NamedTuple):
    """A rule of a derivation: its source span, both sides, and its features, unweighted.

    `parent` is the number of the rule whose gap it fills, -1 at the top; `kind` is rule, unknown, demanded, glue or
    start. `target_begin` and `target_end` are the target span, including gaps; `source_words` and `target_words` are the
    positions of its words outside the gaps. A glue rule spans the part that it adds.
    """

    begin: int
    end: int
    source: list[str]
    target: list[str]
    parent: int
    kind: str
    features: dict[str, list[float]]
    target_begin: int
    target_end: int
    source_words: tuple[int, ...]
    target_words: tuple[int, ...]


@dataclass(frozen=True, kw_only=True, repr=False)
class Derivations(Translations):
    """Translations whose steps are rules: each rule precedes those in its gaps, and glue rules run from left to right.

    A step's target side has `[X,1]` and `[X,2]` for its gaps. The last row of a translation's features belongs to the end
    of the sentence. `phrases` are the same translations as the models that rescored them saw them, with the features of
    these models.
    """

    counted: ClassVar[tuple[str, ...]] = ("hypotheses", "source_sides", "spans")  # source sides that matched spans

    words: Text
    word_links: Links
    parents: npt.NDArray[np.int32]
    graph_targets: Text
    phrases: Translations | None = None

    @classmethod
    def of(
        cls,
        system: System,
        request: Request,
        names: Sequence[str],
        arrays: Arrays,
        phrases: Batch | None = None,
        search_input: _core.DecodeInput | None = None,
    ) -> Derivations:
        """Wrap the core's result for a request; `names` are the features of its columns.

        If it was rescored, `phrases` and `search_input` are what the models got.
        """
        begin, pairs = arrays["step_begin"], arrays["step_pair"]
        n_pieces, features, of_phrases = len(request.source), arrays["features"], None
        options = TranslationOptions(
            Spans(arrays["step_sentence"], begin, arrays["step_end"] - begin),
            request.spelled(arrays["step_target"], arrays["step_target_offsets"]),
            Links(arrays["step_links"], arrays["step_link_offsets"]),
            np.searchsorted(arrays["step_sentence"], np.arange(n_pieces + 1)).astype(np.int64),
        )
        shared: dict[str, Any] = {"system": system, "pieces": request.pieces.offsets}
        shared |= {"relaxed": np.zeros(n_pieces, np.uint8)} | {name: arrays[name] for name in _SHARED}
        if phrases is not None and search_input is not None:
            of_phrases = Translations(
                batch=phrases,
                columns=feature_columns(system, search_input.columns),
                step_offsets=arrays["phrase_offsets"],
                options=arrays["phrases"],
                features=arrays["phrase_features"],
                search_input=search_input,
                **shared,
            )
            names = [*names, *search_input.columns]
            features = np.hstack([features, _by_rule(arrays)])
        return cls(
            batch=Batch(request.source, options, pairs, request.annotations, request.table),
            columns=feature_columns(system, names),
            step_offsets=arrays["step_offsets"],
            options=np.arange(len(begin), dtype=np.int64),
            features=features,
            phrases=of_phrases,
            **shared,
            words=request.spelled(arrays["words"], arrays["word_offsets"]),
            word_links=Links(arrays["links"], arrays["link_offsets"]),
            parents=arrays["step_parent"],
            graph_targets=request.spelled(arrays["graph_targets"], arrays["graph_target_offsets"]),
        )

    @property
    def text(self) -> Text:
        """All translations, one line each."""
        return self.words

    @cached_property
    def sparse(self) -> JsonObject:
        """As for phrases, which sparse features count."""
        return {} if self.phrases is None else self.phrases.sparse

    @property
    def _best(self) -> _core.BestPhrases:
        """Whole translations, each a single phrase."""
        paths = np.arange(len(self.words) + 1)
        return _core.BestPhrases(pieces=self.pieces, path_offsets=self.path_offsets, step_offsets=paths, steps=paths[:-1])

    @property
    def _phrases(self) -> tuple[Text, Links, npt.NDArray[np.uint16]]:
        return self.words, self.word_links, np.zeros(len(self.words), np.uint16)

    def rules(self, path: int) -> list[RuleUse]:
        """The rules of a derivation."""
        first = int(self.step_offsets[path])
        steps = self.steps(path)
        parents = self.parents[first : first + len(steps)].tolist()
        children: list[list[int]] = [[] for _ in steps]  # of each rule, in the order of its source gaps
        for number, parent in enumerate(parents):
            if parent >= 0:
                children[parent].append(number)
        kinds = [_KINDS.get(pair, "rule") for pair in self.batch.pairs[first : first + len(steps)].tolist()]
        placed = _place_targets([step.target for step in steps], kinds, parents, children)
        uses = []
        for i, (step, kind) in enumerate(zip(steps, kinds, strict=True)):
            if kind == "rule":
                source = self.system.table.source[int(self.batch.sources[first + i])].split(" ")
            elif kind in ("glue", "start"):
                source = [*SOURCE_GAPS, *SOURCE_GAPS] if kind == "glue" else []
            else:
                source = self.batch.source[int(self.batch.options.source.sentence[first + i])][step.begin : step.end]
            spans = [(steps[child].begin, steps[child].end) for child in children[i]]
            begin, end = spans[0] if kind == "glue" else (step.begin, step.end)
            inside = {word for span in spans for word in range(*span)}
            words = tuple(word for word in range(begin, end) if word not in inside)
            uses.append(
                RuleUse(
                    begin, end, source, step.target, parents[i], kind, step.features, *placed[i][:2], words, placed[i][2]
                )
            )
        return uses

    def segments(self, path: int) -> list[Segment]:
        """The rules of a derivation, each before those in its gaps; the start of the sentence is not one."""
        uses = [use for use in self.rules(path) if use.kind != "start"]
        n_left_out = len(self.steps(path)) - len(uses)
        return [
            Segment(
                (use.begin, use.end),
                (use.target_begin, use.target_end),
                use.features,
                use.kind,
                use.parent - n_left_out if use.parent >= 0 else -1,
                (" ".join(use.source), " ".join(use.target)),
            )
            for use in uses
        ]

    def end_features(self, path: int) -> npt.NDArray[np.float32]:
        """The values of the start and the end of the sentence."""
        first, end = int(self.step_offsets[path]), super().end_features(path)
        has_start = first < int(self.step_offsets[path + 1]) and self.batch.pairs[first] == _START
        return end + self.features[first + path] if has_start else end

    def links_of(self, path: int) -> list[tuple[int, int]]:
        """The links of a translation, by source word."""
        return sorted(self.word_links[path])

    def order(self, path: int) -> list[int]:
        """The linked source words in the order of their target words, each once."""
        points = sorted(self.links_of(path), key=lambda point: (point[1], point[0]))
        return list(dict.fromkeys(i for i, _ in points))

    def longest_jump(self, path: int) -> int:
        """The longest jump between linked source words in target order."""
        order = [-1, *self.order(path)]
        return max((abs(j - i - 1) for i, j in pairwise(order)), default=0)

    def graph(self, first: int = 0) -> Iterator[str]:
        """Lines of the search graph: each is a path to a hypothesis; sentences are numbered from `first`."""
        for sentence in range(len(self)):
            for row in range(*self.graph_offsets[self.pieces[[sentence, sentence + 1]]].tolist()):
                hypothesis, begin, end, _, *children = self.graph_places[row].tolist()
                line = f"{first + sentence} hyp={hypothesis} covered={begin}-{end - 1} score={self.graph_scores[row]:g}"
                below = [child for child in children if child >= 0]
                yield f"{line} gaps={','.join(map(str, below))} out={' '.join(self.graph_targets[row])}"

    def _alignment(self, path: int) -> str:
        return " ".join(f"{i}-{j}" for i, j in self.links_of(path))


def _by_rule(arrays: Arrays) -> npt.NDArray[np.float32]:
    """The values of phrases, added up for the steps that they belong to, and those of the ends of translations."""
    steps, phrases, values = arrays["step_offsets"], arrays["phrase_offsets"], arrays["phrase_features"]
    numbers = np.arange(len(steps) - 1)
    of_phrases = arrays["phrase_steps"] + np.repeat(steps[:-1] + numbers, np.diff(phrases))
    rows = np.insert(of_phrases, phrases[1:], steps[1:] + numbers)
    sums = np.zeros((steps[-1] + len(numbers), values.shape[1]), np.float32)
    np.add.at(sums, rows, values)
    return sums


def _place_targets(
    targets: Sequence[Sequence[str]], kinds: Sequence[str], parents: Sequence[int], children: Sequence[Sequence[int]]
) -> list[tuple[int, int, tuple[int, ...]]]:
    """The target span of each rule of a derivation, and the positions of its words outside the gaps.

    >>> _place_targets([["[X,1]"], ["[X,2]", "of", "[X,1]"], ["a"], ["b"]], ["glue", "rule", "rule", "rule"],
    ...     [-1, 0, 1, 1], [[1], [2, 3], [], []])
    [(0, 3, ()), (0, 3, (1,)), (2, 3, (2,)), (0, 1, (0,))]
    """
    n = len(targets)
    parts = [list(_parts(targets[i], kinds[i], children[i])) for i in range(n)]
    lengths, begins, words = [0] * n, [0] * n, list[list[int]]([] for _ in range(n))
    for i in reversed(range(n)):  # a rule precedes those in its gaps
        lengths[i] = sum(1 if child is None else lengths[child] for child in parts[i])
    top = 0  # where the next rule begins that is in no gap
    for i, parent in enumerate(parents):
        if parent < 0:
            begins[i], top = top, top + lengths[i]
        at = begins[i]
        for child in parts[i]:
            if child is None:
                words[i].append(at)
                at += 1
            else:
                begins[child] = at
                at += lengths[child]
    return [(begins[i], begins[i] + lengths[i], tuple(words[i])) for i in range(n)]


def _parts(target: Sequence[str], kind: str, children: Sequence[int]) -> Iterator[int | None]:
    """The parts of a target side, from left to right: the rules in its gaps, and None for each word."""
    if kind in ("glue", "start"):
        yield from children
        return
    for symbol in target:
        yield children[TARGET_GAPS.index(symbol)] if kind == "rule" and symbol in TARGET_GAPS else None
