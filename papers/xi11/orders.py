"""Orders of source words by links: jumps of words with a tag, and the agreement of two sets of links."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Self

import numpy as np

from hyperbaton.align import Aligner, read_links, visit_order
from hyperbaton.base.arrays import offsets_of
from hyperbaton.base.forms import JsonObject
from hyperbaton.corpus import Bitext, Links
from hyperbaton.metrics import Orders, Outputs, make_metric
from papers.corpora import existing
from papers.protocol import Computation, Result, Setting
from papers.xi11.texts import TEXTS, TRAINING, Part, news_files, text_files, text_folder


@dataclass(frozen=True)
class TagJumps:
    """Jumps to linked words with a tag from the linked word visited before: counts of −5 … 5, and of farther ones.

    `unit` is what distances count: all words, or linked words alone, so that a jump over an unlinked word is not far.
    """

    text: str
    tag: str
    unit: str
    counts: dict[str, int]
    farther_back: int
    farther_forward: int

    @classmethod
    def of(cls, part: Part, text: str, tags: tuple[str, ...], unit: str) -> TagJumps:
        """Count the jumps to words with the first of these tags that the text has, or else with any tag."""
        names = part.tags.vocabulary.words()
        tag = next((tag for tag in tags if tag in names), names[0])
        source = part.bitext.source
        jumps = visit_order(part.bitext.need_links()).jumps(source.lengths)
        inside = jumps.next < source.lengths[jumps.sentence]
        begin = source.offsets[jumps.sentence[inside]]
        words = begin + jumps.next[inside]
        last = begin + jumps.current[inside]  # the place before the sentence at its start
        if unit == "linked words":
            is_linked = np.zeros(source.n_tokens, bool)
            is_linked[words] = True
            n_before = offsets_of(is_linked)
            places, last_places = n_before[words], n_before[last + 1] - 1
        else:
            places, last_places = words, last
        distances = (places - last_places)[part.tags.labels[words] == names.index(tag)]
        counts = {str(jump): int((distances == jump).sum()) for jump in range(-5, 6) if jump}
        return cls(text, tag, unit, counts, int((distances < -5).sum()), int((distances > 5).sum()))


@dataclass(frozen=True)
class JumpCounts(Result):
    """Jumps of nouns and of nouns of time (Figures 1 and 2)."""

    nouns: list[TagJumps]
    times: list[TagJumps]

    @classmethod
    def from_json(cls, fields: JsonObject) -> Self:
        return cls(**{key: [TagJumps(**counts) for counts in fields[key]] for key in ("nouns", "times")})


@dataclass(frozen=True)
class Jumps(Computation[JumpCounts]):
    """Figures 1 and 2."""

    n_train: int
    training: str = TRAINING

    result_type: ClassVar[type[Result]] = JumpCounts

    @property
    def name(self) -> str:
        return "jumps"

    def corpus_files(self, data: Path) -> list[Path]:
        return text_files(data)

    def work(self, setting: Setting) -> JumpCounts:
        parts = {text: part.with_trees() for text, part in _parts(setting, self.n_train, "train").items()}

        def counts(*tags: str) -> list[TagJumps]:
            units = ("linked words", "words")
            return [TagJumps.of(part, TEXTS[text], tags, unit) for unit in units for text, part in parts.items()]

        return JumpCounts(counts("NN", "N"), counts("NT", "T"))


@dataclass(frozen=True)
class LinkAgreement(Result):
    """PDscore of the references with other links (title → text → score)."""

    scores: dict[str, dict[str, float]]


@dataclass(frozen=True)
class Agreement(Computation[LinkAgreement]):
    """The upper bound of Table 2. There is one reference for each sentence, so it is that of another set of its links."""

    n_train: int
    training: str = TRAINING

    result_type: ClassVar[type[Result]] = LinkAgreement

    @property
    def name(self) -> str:
        return "agreement"

    def corpus_files(self, data: Path) -> list[Path]:
        return text_files(data)

    def work(self, setting: Setting) -> LinkAgreement:
        tests = {text: part.bitext for text, part in _parts(setting, self.n_train, "test").items()}
        bitexts = [_parts(setting, self.n_train, "train")["laws"].bitext, *tests.values()]
        source = [" ".join(words) for bitext in bitexts for words in bitext.source]
        target = [" ".join(words) for bitext in bitexts for words in bitext.target]
        aligner = Aligner().fit(Bitext.of(source, target), threads=setting.threads)
        scores = {"our aligner's links": {text: pdscore(aligner.align(bitext), bitext) for text, bitext in tests.items()}}
        if setting.data is not None:
            possible = read_links(existing(news_files(setting.data)[3]), tests["news"])
            scores["sure and possible links"] = {"news": pdscore(possible, tests["news"])}
        return LinkAgreement(scores)


def _parts(setting: Setting, n_train: int, laws: str) -> Mapping[str, Part]:
    """A part of the laws, and the news, which have no generated counterpart."""
    folder = text_folder(setting, n_train)
    names = {"laws": laws} | ({} if setting.data is None else {"news": "news"})
    return {text: Part.read(folder / name) for text, name in names.items()}


def pdscore(links: Links, bitext: Bitext) -> float:
    """PDscore of the order that some links give the source words of a bitext, given its own links.

    >>> bitext = Bitext.of(["a b"], ["A B"], [[(0, 0), (1, 1)]])
    >>> pdscore(Links.of([[(0, 1), (1, 0)]]), bitext), pdscore(bitext.need_links(), bitext)
    (0.0, 100.0)
    """
    visits = [visit_order(each) for each in (links, bitext.need_links())]
    order, reference = (Orders(each.positions, each.offsets) for each in visits)
    return make_metric("pdscore").value(Outputs.of_orders(order, reference))
