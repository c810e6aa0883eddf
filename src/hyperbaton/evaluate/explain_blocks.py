"""Explain a block model: its features with their weights, as in XI11 Tables 1 and 5."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base import numeric
from hyperbaton.base.errors import OptionError
from hyperbaton.corpus import Vocabulary
from hyperbaton.evaluate.explain import Answer, Question, Rows, answer
from hyperbaton.models.block.questions import SORTS
from hyperbaton.models.block_me import EMPTY_TAG, FAMILIES, JUMPS, BlockMe, BlockQuestions

_ASKS = _core.block_asks()  # the kinds of questions, by number


@dataclass(frozen=True)
class BlockFeature:
    """A feature with the number of its occurrences and α = exp(λ).

    `source` and `target` are words, or tags in the families about tags; the empty target is "". `node`, `coverage` (0
    none, 1 full, 2 partial) and `orientation` (−1 left, 1 right) describe a node of the parse, if the feature is about
    one.
    """

    family: str
    count: int
    alpha: float
    jump: int
    target: str
    source: str
    asked: str
    node: str | None = None
    coverage: int | None = None
    orientation: int | None = None

    def as_json(self) -> dict[str, object]:
        """Everything as plain values."""
        return asdict(self)


@dataclass(frozen=True)
class FeaturesAnswer(Answer):
    """Features of a block model, in the columns of XI11 Tables 1 and 5."""

    features: list[BlockFeature]

    def as_json(self) -> object:
        return [feature.as_json() for feature in self.features]

    def parts(self) -> Iterator[str | Rows]:
        rows = [
            {
                "count": feature.count,
                "exp λ": round(feature.alpha, 2),
                "j": feature.jump,
                "target": feature.target or "∅",
                "source": feature.source,
                "asked": feature.asked,
                "node": feature.node or "",
                "coverage": "" if feature.coverage is None else feature.coverage,
                "orientation": "" if feature.orientation is None else feature.orientation,
            }
            for feature in self.features
        ]
        # Empty columns are left out.
        yield [{key: row[key] for key in row if any(other[key] != "" for other in rows)} for row in rows]


@dataclass(frozen=True)
class TagAnswer(Answer):
    """Jumps of one-word blocks with a tag in training; the farthest jumps include those beyond."""

    tag: str
    counts: dict[int, int]

    def as_json(self) -> object:
        return self._rows()

    def parts(self) -> Iterator[str | Rows]:
        yield self._rows()

    def _rows(self) -> list[dict[str, object]]:
        return [{"jump": jump, "count": count} for jump, count in self.counts.items()]


@answer.register
def _(model: BlockMe, question: Question) -> Answer:
    if question.sentence is not None:
        raise OptionError(f"the model {model.name} explains features: give --phrase, --family or --tag")
    about = question.about if isinstance(question.about, BlockQuestions) else BlockQuestions()
    if about.tag is not None:
        return explain_tag(model, about.tag)
    features = explain_blocks(model, family=about.family, source=question.phrase, top=question.top, sort=about.sort)
    return FeaturesAnswer(features)


def explain_tag(model: BlockMe, tag: str) -> TagAnswer:
    """Explain how far blocks of one source word with a tag jump."""
    if model.tag_vocabulary_ is None:
        raise OptionError(f"the model {model.name} was trained without tags")
    number = model.tag_vocabulary_.number(tag)
    if number < 0:
        raise OptionError(
            f"the model never saw the tag {tag!r}; it knows {', '.join(model.tag_vocabulary_.words()[:20])}, …"
        )
    counts = zip(JUMPS, model.table_.tag_jumps[number].astype(int).tolist(), strict=True)
    return TagAnswer(tag, dict(sorted(counts)))


def explain_blocks(
    model: BlockMe, *, family: str | None = None, source: str | None = None, top: int = 20, sort: str = "weight"
) -> list[BlockFeature]:
    """The strongest or most frequent features of a model.

    Arguments:
        family: only features of this one.
        source: only those of this source phrase (or tag).
        sort: by `weight`, |λ|, or by `count`.
    """
    if family is not None and family not in FAMILIES:
        raise OptionError(f"unknown family of features {family!r}; there are {', '.join(FAMILIES)}")
    if sort not in SORTS:
        raise OptionError(f"features can be sorted by {' or '.join(SORTS)}, not {sort!r}")
    columns = model.features_
    key = np.repeat(np.arange(len(columns["keys"])), np.diff(columns["starts"]))
    kept = np.ones(len(key), bool)
    if family is not None:
        own = [i for i, ask in enumerate(_ASKS) if ask.family == family]
        kept &= np.isin(columns["asks"], own)[key]
    if source is not None:
        kept &= _about(model, source)[key]
    chosen = np.flatnonzero(kept)
    weights, counts = np.abs(model.weights_[chosen]), columns["counts"][chosen].astype(np.int64)
    order = np.lexsort((chosen, -counts, -weights) if sort == "weight" else (chosen, -weights, -counts))
    return [_feature(model, int(f), int(key[f])) for f in chosen[order[:top]]]


def _about(model: BlockMe, source: str) -> npt.NDArray[np.bool_]:
    """Which keys are about a source phrase, or a tag."""
    columns, table = model.features_, model.table_
    tagged = np.isin(columns["asks"], [i for i, ask in enumerate(_ASKS) if ask.about_tags])
    words = np.array([model.source_vocabulary_.number(word) for word in source.split()])
    starts = np.flatnonzero(np.diff(table.source_offsets) == len(words))
    if len(words):
        rows = table.source_words[table.source_offsets[starts][:, None] + np.arange(len(words))]
        starts = starts[(rows == words).all(axis=1)]
    tag = -1 if model.tag_vocabulary_ is None else model.tag_vocabulary_.number(source)
    matching = np.where(tagged, columns["sources"] == max(tag, 0), np.isin(columns["sources"], starts))
    if not len(starts):
        matching &= tagged
    if tag < 0:
        matching &= ~tagged
    if not matching.any():
        raise OptionError(f"the model has no feature for {source!r}")
    return matching


def _feature(model: BlockMe, number: int, key: int) -> BlockFeature:
    columns = model.features_
    ask = _ASKS[int(columns["asks"][key])]
    answer = ask.read(int(columns["as"][key]), int(columns["bs"][key]))
    source, target = int(columns["sources"][key]), int(columns["targets"][key])
    asked = ask.asked
    words = " ".join(_word(_vocabulary(model, ask.of), number) for number in answer.numbers)
    about_node = ask.of == _core.AskedOf.labels
    if words and not about_node:
        asked = f"{asked}: {words}"
    return BlockFeature(
        family=ask.family,
        count=int(columns["counts"][number]),
        alpha=float(numeric.exp(model.weights_[number])),
        jump=JUMPS[int(columns["jumps"][number])],
        target=_target_tag(target) if ask.about_tags else model.table_.target(target, model.target_vocabulary_),
        source=_word(model.tag_vocabulary_, source)
        if ask.about_tags
        else model.table_.source(source, model.source_vocabulary_),
        asked=asked,
        node=words if about_node else None,
        coverage=answer.coverage,
        orientation=None if answer.right is None else 1 if answer.right else -1,
    )


def _vocabulary(model: BlockMe, of: _core.AskedOf) -> Vocabulary | None:
    """The kind of things that the numbers of a question refer to."""
    return {
        _core.AskedOf.source_words: model.source_vocabulary_,
        _core.AskedOf.target_words: model.target_vocabulary_,
        _core.AskedOf.tags: model.tag_vocabulary_,
        _core.AskedOf.labels: model.label_vocabulary_,
    }.get(of)


def _word(vocabulary: Vocabulary | None, number: int) -> str:
    return "<edge>" if vocabulary is None or number == _core.SENTENCE_EDGE else vocabulary.word(number)


def _target_tag(tag: int) -> str:
    """The class of a target, `any` if there are no classes."""
    return "" if tag == EMPTY_TAG else "any" if tag == 0 else f"class {tag}"
