"""The base class of aligners, which learn from a bitext and link its words."""

from __future__ import annotations

import abc
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar

from hyperbaton.align.normalization import Normalization, Removal, read_words, restore_links
from hyperbaton.align.scores import AlignmentScores
from hyperbaton.align.symmetrization import METHODS, symmetrize
from hyperbaton.base.errors import OptionError
from hyperbaton.base.options import Arguments, CheckedOptions, option
from hyperbaton.base.progress import Progress, default_threads
from hyperbaton.base.registry import Registry
from hyperbaton.base.shown import ShowsChanges
from hyperbaton.base.store import Kind, read_artefact
from hyperbaton.base.workers import Workers
from hyperbaton.corpus import Bitext, Links, Vocabulary

KIND = "aligner"
SMALLEST_SAVED = 1e-6  # pairs below this in both directions are not saved
# Optional methods, and what an aligner without them cannot do.
_NO_MODELS = "can neither load nor save models"
_OPTIONAL = {"save": _NO_MODELS, "score": "does not score links: leave out --scores and --format"}
Vocabularies = tuple[Vocabulary, Vocabulary]
Removals = tuple[Removal, Removal]


@dataclass
class WordAligner(ShowsChanges, CheckedOptions, abc.ABC):
    """Options and steps common to all aligners: normalise words, link in both directions, and symmetrise.

    An aligner may also define `fit`, if it learns something for other text, `score`, and `save` with `load`. It is saved as
    an artefact of the kind `aligner` whose detail `aligner` is its name; `load_aligner` opens it.
    """

    symmetrization: str = option("grow-diag-final-and", "how the links of the two directions are combined", choices=METHODS)
    lowercase: bool = option(True, "ignore case")
    stem: int = option(0, "compare only this many leading letters of a word; 0 compares all", minimum=0)
    drop_source: str | None = option(None, "file of source words to leave without links, such as particles", path=True)
    drop_target: str | None = option(None, "file of target words to leave without links, such as articles", path=True)
    seed: int = field(default=1, kw_only=True)  # for aligners whose training is random
    checkpoint: Path | None = field(default=None, kw_only=True)  # for the states of a long training, which it resumes from
    workers: Workers = field(
        default=Workers(), kw_only=True, repr=False
    )  # for parts of a training that do not depend on each other

    # Options that choose links, which are not those of the saved model.
    link_options: ClassVar[tuple[str, ...]] = ("symmetrization",)

    def linking(self) -> Arguments:
        """The values of the options that choose links."""
        return {name: getattr(self, name) for name in self.link_options}

    @abc.abstractmethod
    def directed_links(self, bitext: Bitext, threads: int, progress: Progress | None) -> tuple[Links, Links]:
        """Links of a normalised bitext: with at most one target word for each source word, and the reverse."""

    def fit(self, bitext: Bitext, *, threads: int | None = None, progress: Progress | None = None) -> WordAligner:
        """Learn from a bitext; an aligner that trains and links in one step does nothing here."""
        return self

    def align(self, bitext: Bitext, *, threads: int | None = None, progress: Progress | None = None) -> Links:
        """Link the words of a bitext. A sentence pair with an empty side has no links."""
        source, target = self.normalize(bitext)
        forward, backward = self.directed_links(Bitext(source.text, target.text), threads or default_threads(), progress)
        return restore_links(symmetrize(forward, backward, self.symmetrization, threads=threads), source, target)

    def align_pair(self, source: str, target: str) -> list[tuple[int, int]]:
        """Link the words of one sentence pair, tokenized; for services that receive sentences one at a time."""
        return self.align(Bitext.of([source], [target]), threads=1)[0]

    def score(
        self, bitext: Bitext, links: Links | None = None, *, threads: int | None = None, progress: Progress | None = None
    ) -> AlignmentScores:
        """Score links, those of the bitext or others, and each sentence pair by the model."""
        self.require("score")
        raise NotImplementedError

    def save(self, path: str | PathLike[str], smallest: float = SMALLEST_SAVED) -> None:
        """Write the model as an artefact; pairs of words with probabilities below `smallest` may be left out."""
        self.require("save")

    @classmethod
    def load(cls, path: str | PathLike[str]) -> WordAligner:
        """Open a saved model of this aligner."""
        raise OptionError(f"the aligner {cls.__name__} {_NO_MODELS}")

    def defines(self, method: str) -> bool:
        """Whether the aligner has its own version of an optional method: `fit`, `save` or `score`."""
        return getattr(type(self), method) is not getattr(WordAligner, method)

    def require(self, method: str) -> None:
        """Raise OptionError if the aligner does not define `save` or `score`."""
        if not self.defines(method):
            raise OptionError(f"the aligner {ALIGNERS.name_of(self)} {_OPTIONAL[method]}")

    def files(self) -> dict[str, Path]:
        """Files whose content the links depend on, by the option that names them."""
        named = {"drop_source": self.drop_source, "drop_target": self.drop_target}
        return {option: Path(path) for option, path in named.items() if path is not None}

    def normalize(self, bitext: Bitext, vocabularies: Vocabularies | None = None) -> Removals:
        """Both sides as the aligner sees them, with the original positions of the remaining words."""
        source, target = self.normalizations()
        return (
            source.apply(bitext.source, vocabularies and vocabularies[0]),
            target.apply(bitext.target, vocabularies and vocabularies[1]),
        )

    def normalizations(self) -> tuple[Normalization, Normalization]:
        """How source and target words are normalised."""

        def rule(drop: str | None) -> Normalization:
            return Normalization(self.lowercase, self.stem, frozenset() if drop is None else read_words(drop))

        return rule(self.drop_source), rule(self.drop_target)


ALIGNERS: Registry[WordAligner] = Registry("aligner", "hyperbaton.align.aligners", WordAligner)


def saved_class(path: str | PathLike[str]) -> type[WordAligner]:
    kind = Kind(KIND, about={"details": {"aligner?": str}})
    return ALIGNERS[read_artefact(path, kind, lambda artefact: artefact.details.get("aligner", "hmm"))]


def load_aligner(path: str | PathLike[str], like: Arguments | None = None) -> WordAligner:
    """Open a saved aligner of any name; `like` has values for its `link_options`, instead of the saved ones."""
    aligner = saved_class(path).load(path)
    for name in set(aligner.link_options) & set(like or {}):
        setattr(aligner, name, (like or {})[name])
    return aligner


def align(
    bitext: Bitext,
    aligner: str = "hmm",
    *,
    threads: int | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Links:
    """Learn from a bitext and link its words; options are those of the aligner.

    >>> bitext = Bitext.of(["das haus", "das buch", "ein buch"], ["the house", "the book", "a book"])
    >>> align(bitext, symmetrization="intersection")[1]
    [(0, 0), (1, 1)]
    """
    chosen = ALIGNERS[aligner](**options)
    return chosen.fit(bitext, threads=threads, progress=progress).align(bitext, threads=threads)
