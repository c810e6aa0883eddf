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
from hyperbaton.evaluate.explain import Answer, PlainAnswer, Question, Rows, answer
from hyperbaton.models.block.features import SORTS
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

    def row(self) -> dict[str, object]:
        """The columns of XI11 Tables 1 and 5."""
        return {
            "count": self.count,
            "exp λ": round(self.alpha, 2),
            "j": self.jump,
            "target": self.target or "∅",
            "source": self.source,
            "asked": self.asked,
            "node": self.node or "",
            "coverage": "" if self.coverage is None else self.coverage,
            "orientation": "" if self.orientation is None else self.orientation,
        }


@dataclass(frozen=True)
class TagAnswer(Answer):
    """Jumps of one-word blocks with a tag in training; the farthest jumps include those beyond."""

    tag: str
    counts: dict[int, int]

    def as_json(self) -> object:
        return next(self.parts())

    def parts(self) -> Iterator[str | Rows]:
        yield [{"jump": jump, "count": count} for jump, count in self.counts.items()]


@answer.register
def _(model: BlockMe, question: Question) -> Answer:
    if question.sentence is not None:
        raise OptionError(f"the model {model.name} explains features: give --phrase, --family or --tag")
    about = question.about if isinstance(question.about, BlockQuestions) else BlockQuestions()
    if about.tag is not None:
        return explain_tag(model, about.tag)
    features = explain_blocks(model, family=about.family, source=question.phrase, top=question.top, sort=about.sort)
    rows = [feature.row() for feature in features]
    # Empty columns are left out.
    shown = [{key: row[key] for key in row if any(other[key] != "" for other in rows)} for row in rows]
    return PlainAnswer([asdict(feature) for feature in features], [shown])


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
        kept &= np.isin(columns["asks"], [i for i, ask in enumerate(_ASKS) if ask.family == family])[key]
    if source is not None:
        kept &= _about(model, source)[key]
    features = np.flatnonzero(kept)
    weights, counts = np.abs(model.weights_[features]), columns["counts"][features].astype(np.int64)
    order = np.lexsort((features, -counts, -weights) if sort == "weight" else (features, -weights, -counts))
    return [_feature(model, int(f), int(key[f])) for f in features[order[:top]]]


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
    vocabularies = {
        _core.AskedOf.source_words: model.source_vocabulary_,
        _core.AskedOf.target_words: model.target_vocabulary_,
        _core.AskedOf.tags: model.tag_vocabulary_,
        _core.AskedOf.labels: model.label_vocabulary_,
    }
    words = " ".join(_word(vocabularies.get(ask.of), number) for number in answer.numbers)
    about_node = ask.of == _core.AskedOf.labels
    if ask.about_tags:  # the class of a target is `any` if there are no classes
        source_name = _word(model.tag_vocabulary_, source)
        target_name = "" if target == EMPTY_TAG else "any" if target == 0 else f"class {target}"
    else:
        source_name = model.table_.source(source, model.source_vocabulary_)
        target_name = model.table_.target(target, model.target_vocabulary_)
    return BlockFeature(
        family=ask.family,
        count=int(columns["counts"][number]),
        alpha=float(numeric.exp(model.weights_[number])),
        jump=JUMPS[int(columns["jumps"][number])],
        target=target_name,
        source=source_name,
        asked=f"{ask.asked}: {words}" if words and not about_node else ask.asked,
        node=words if about_node else None,
        coverage=answer.coverage,
        orientation=None if answer.right is None else 1 if answer.right else -1,
    )


def _word(vocabulary: Vocabulary | None, number: int) -> str:
    return "<edge>" if vocabulary is None or number == _core.SENTENCE_EDGE else vocabulary.word(number)
