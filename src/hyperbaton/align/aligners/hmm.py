"""The built-in aligner: IBM model 1, then the hidden Markov model, in both directions, by expectation maximisation.

**Model** (Vogel, Ney and Tillmann 1996; Och and Ney 2003). Each target word comes from a source word or, with a fixed
probability, from nothing; the source position jumps from one target word to the next:

    p(target, positions | source) = Π_j  p(position_j | position_{j-1}) · p(target_j | source word at position_j)

The probability of a jump depends on its signed distance (large distances share ranges), normalised within the sentence,
with separate weights for the first word and for the distance of the last one from the end. The other direction is the
same model with the sides exchanged. Model 1 makes all positions equally likely, and gives the initial translation
probabilities.

**Smoothing**. p(t | s) = (c(s, t) + k(s, t) + λ·f(t)) / (c(s) + k(s) + λ) with f the relative frequency of t: a Dirichlet
prior. Its weight λ, `smoothing`, keeps a rare word from becoming the origin of everything around it. k is a prior count of
word pairs: `alike` for words that are written alike, and `prior_weight` · p(t | s) for translations known to a saved model,
`prior`. The default weight is 20 · √(words of the prior's text / words of this text), at most 1,000: the smaller the text,
the more the prior counts. Model 1 starts from these counts, if there are any, and jumps start from those of the saved
model. With `stem_prior`, a first training on words cut to their first letters adds counts of `stem_weight` ·
p(stem of t | stem of s) · f(t) / f(stem of t), so that rare forms of a word share the statistics of all its forms.

**Agreement** (Liang, Taskar and Klein 2006). With a and b the two directions' posteriors of a link, plain EM maximises
each likelihood with the expected counts a and b. Training by agreement maximises

    log p(target | source) + log p(source | target) + log Σ_links p₁(links | pair) · p₂(links | pair)

approximated as in the paper by products of posteriors, link by link, as counts of both models: a·b. The product never
counts a second link of a word, since the other direction gives that word one origin only, so function words lose all links.
A share ε of each direction's posterior, `freedom`, keeps them: the counts are a·(ε + (1-ε)·b) and b·(ε + (1-ε)·a). ε = 0 is
the paper's method, ε = 1 trains each direction alone by plain EM. A word that comes from nothing is counted in the same
way, with b replaced by the probability that the other direction takes no word from it. Jumps are always counted by each
direction's own posteriors. Only with ε = 1 and λ = k = 0 does the likelihood never decrease from one iteration of a model
to the next; otherwise it is reported but not maximised.

**Links**. For each direction, a word is linked to the origin with the highest mean posterior (a + b) / 2, if that
reaches `confidence`; the two directions are then joined (`symmetrization`). Or `threshold` keeps every link whose mean
posterior reaches it. `precision` then drops the least certain links of each sentence pair until the mean score of the
others, their expected precision, reaches it. Links for inspection should be precise; links for phrase extraction should
leave few words unlinked, since an unlinked word can join every adjacent phrase. `for_` chooses the confidence for either
purpose.

Nothing here is random. Expected counts are whole units, so the number of threads does not change a single link.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.align.base import ALIGNERS, KIND, SMALLEST_SAVED, Removals, Vocabularies, WordAligner
from hyperbaton.align.lexical import LexicalTable
from hyperbaton.align.normalization import Normalization, restore_links
from hyperbaton.align.prior import (
    StemTranslations,
    WordPairCounts,
    alike_words,
    by_source,
    check_languages,
    translations,
    usual_weight,
)
from hyperbaton.align.scores import AlignmentScores, most_certain
from hyperbaton.base.arrays import Array, offsets_of
from hyperbaton.base.errors import DamagedError, OptionError
from hyperbaton.base.forms import JsonObject, within
from hyperbaton.base.options import Arguments, from_mapping, option, to_mapping
from hyperbaton.base.progress import Progress, default_threads
from hyperbaton.base.resources import Resources
from hyperbaton.base.store import MANIFEST, Arrays, Artefact, Kind, read_artefact, save
from hyperbaton.corpus import Bitext, Links, Text, Vocabulary

SIDES = ("source", "target")
STORED = Kind(
    KIND,
    {
        **within("source", Vocabulary.LAYOUT),
        **within("target", Vocabulary.LAYOUT),
        "lexicon.starts": "i8 source.n_words+1",
        "lexicon.targets": "u4 n_entries",
        "lexicon.probabilities": "f4 n_entries 2",
        "null.to-source": "f4 source.n_words",
        "null.to-target": "f4 target.n_words",
        "jumps.to-source": "f4 *",
        "jumps.to-target": "f4 *",
        "logprobs": "f8 n_iterations 2",
        # Of the aligner `neural`.
        **{f"rows?.{side}.{part}": f"i4 {side}.n_words" for side in SIDES for part in ("words", "stems")},
        "network.*": "f2 * *",
        "teachers.*": "f2 ...",
    },
    {"details": {"drop": dict.fromkeys(SIDES, list[str]), "n_words": int, "aligner?": str}},
)
# The default of --confidence by the use of links: `links` was chosen on hand-made links, `phrases` on translations
# (docs/results/align.md). The two are currently equal.
CONFIDENCES = {"links": 0.3, "phrases": 0.3}
SMALLEST_PRIOR = 1e-4  # smallest probability of pairs of a prior model
SMALLEST_STEM = 1e-3  # smallest probability of pairs from stems
STEM_HMM_ITERATIONS = 1  # maximum for the training on stems
# Of model 1; fewer pairs than FEW_PAIRS need more.
MODEL1_ITERATIONS, ITERATIONS_OF_FEW, FEW_PAIRS = 3, 5, 200


def confidence_option(defaults: dict[str, float]) -> Any:
    """The option `confidence`, with its default by the use of links."""
    named = ", ".join(f"{value} for {name}" for name, value in defaults.items())
    return option(None, f"lowest mean posterior of a link in one direction [default: {named}]", minimum=0, maximum=1)


@dataclass(frozen=True)
class Posteriors:
    """Links with p(the target word comes from the source word) and the reverse, in the columns of `values`."""

    links: Links
    values: npt.NDArray[np.float32]  # (n_links, 2)

    def means(self, pair: int) -> dict[tuple[int, int], float]:
        """The mean of both posteriors of each link of a sentence pair."""
        begin, end = self.links.offsets[pair : pair + 2]
        return dict(zip(self.links[pair], self.values[begin:end].mean(axis=1).tolist(), strict=True))


@dataclass
class Aligner(WordAligner):
    """The built-in aligner: IBM model 1 and hidden Markov models of both directions, trained to agree.

    >>> bitext = Bitext.of(["das haus", "das buch", "ein buch"], ["the house", "the book", "a book"])
    >>> aligner = Aligner().fit(bitext)
    >>> aligner.align(bitext)[0]
    [(0, 0), (1, 1)]
    >>> aligner.align_pair("ein haus", "a house")
    [(0, 0), (1, 1)]
    >>> aligner.lexical_table().translations("buch")[0][0]
    'book'
    """

    model1_iterations: int | None = option(
        None,
        f"iterations of IBM model 1 [default: {MODEL1_ITERATIONS}, or {ITERATIONS_OF_FEW} for fewer than "
        f"{FEW_PAIRS} sentence pairs]",
        minimum=0,
    )
    hmm_iterations: int = option(5, "iterations of the hidden Markov model", minimum=0)
    freedom: float = option(
        0.1,
        "how far the two directions may disagree: 0 forces full agreement, 1 trains them independently",
        minimum=0,
        maximum=1,
    )
    smoothing: float = option(10.0, "pseudo-count that pulls translation probabilities towards word frequencies", minimum=0)
    alike: float = option(2.0, "pseudo-count of each pair of equal words, numbers or punctuation marks", minimum=0)
    prior: str | None = option(None, "saved model of the same languages to start from", path=True)
    prior_weight: float | None = option(
        None,
        "pseudo-count of the prior model's translations of a word [default: by the sizes of both texts]",
        minimum=0,
    )
    stem_prior: int = option(4, "learn from words cut to this many letters first; 0 turns it off", minimum=0)
    stem_weight: float = option(5.0, "pseudo-count of the translations of a word's stem", minimum=0)
    null_probability: float = option(0.3, "probability that a word is aligned to nothing", minimum=0.001, maximum=0.999)
    for_: str = option("links", "what the links are used for; sets the default of --confidence", choices=tuple(CONFIDENCES))
    confidence: float | None = confidence_option(CONFIDENCES)
    threshold: float | None = option(
        None, "keep every link with at least this mean posterior, instead of symmetrizing", minimum=0, maximum=1
    )
    precision: float | None = option(
        None,
        "drop the least certain links of each sentence pair until the mean score of the others reaches this value",
        minimum=0,
        maximum=1,
    )
    confidences: ClassVar[dict[str, float]] = CONFIDENCES
    link_options: ClassVar[tuple[str, ...]] = ("for_", "symmetrization", "confidence", "threshold", "precision")
    max_length: int = option(1000, "longer sentences are skipped in training and get no links", minimum=1, maximum=5000)

    def fit(self, bitext: Bitext, *, threads: int | None = None, progress: Progress | None = None) -> Aligner:
        """Learn from a bitext; its links, if any, are ignored."""
        self.normalizations_ = super().normalizations()
        source, target = (side.text for side in super().normalize(bitext))
        self.vocabularies_ = source.vocabulary, target.vocabulary
        self.n_words_ = source.n_tokens + target.n_tokens
        n_before, n_model1 = self._stem_iterations(source, target), self._n_model1(source)
        n_own = n_model1 + self.hmm_iterations
        whole = Resources.of(threads, progress)
        after = whole.part(n_before, of=n_before + n_own, size=n_own)
        before = whole.part(0, of=n_before + n_own, size=n_before).progress if n_before else None
        training = _core.AlignerTraining(
            source.core_tokens,
            target.core_tokens,
            n_source_words=len(self.vocabularies_[0]),
            n_target_words=len(self.vocabularies_[1]),
            options=_core.AlignerOptions(
                null_probability=self.null_probability,
                smoothing=self.smoothing,
                freedom=self.freedom,
                max_length=self.max_length,
            ),
            prior=self._prior(source, target, threads, before),
            n_threads=whole.threads,
        )
        logprobs = []  # before each round: p(target | source), the reverse
        for number in range(n_own):
            chained = number >= n_model1
            training.count(chained=chained, progress=after.part(number, of=n_own).progress)
            logprobs.append(training.renew(chained=chained))
        self.logprobs_ = np.array(logprobs, np.float64).reshape(-1, 2)
        self.model_ = training.take_model()
        return self

    def _prior(
        self, source: Text, target: Text, threads: int | None, progress: Progress | None
    ) -> _core.AlignerPrior | None:
        """The prior of the words of both normalised texts; `progress` is that of training on stems."""
        parts, jumps = [alike_words(self.vocabularies_, self.alike)] if self.alike else [], None
        if (path := self.prior_model()) is not None:
            model = Aligner.load(path)
            for name in ("lowercase", "stem"):
                if getattr(model, name) != getattr(self, name):
                    raise OptionError(
                        f"the prior model {path} was learned with {name} {getattr(model, name)}, "
                        f"not {getattr(self, name)}: words must be normalised alike"
                    )
            check_languages(f"the prior model {path}", model.vocabularies_, (source, target))
            lexicon = model.model_.lexicon(SMALLEST_PRIOR)
            weight = usual_weight(model.n_words_, self.n_words_) if self.prior_weight is None else self.prior_weight
            parts.append(translations(model.vocabularies_, self.vocabularies_, lexicon, weight))
            jumps = model.model_.jump_weights()
        stems = self._of_stems(source, target, threads, progress) if self._stem_iterations(source, target) else None
        if stems is None and not any(len(part.sources) for part in parts):
            return None
        parts.append(WordPairCounts(np.zeros(0, np.uint32), np.zeros(0, np.uint32), np.zeros((0, 2), np.float32)))
        starts, targets, values = by_source(len(source.vocabulary), WordPairCounts.joined(parts), stems)
        return _core.AlignerPrior(starts=starts, targets=targets, counts=values, jumps=jumps)

    def prior_model(self) -> str | None:
        """The saved model to start from."""
        return self.prior

    def _stem_iterations(self, source: Text, target: Text) -> int:
        """Iterations of the training on stems; none if no word of the normalised texts is longer than a stem."""
        words = (word for text in (source, target) for word in text.vocabulary.words())
        if not self.stem_prior or not self.stem_weight or all(len(word) <= self.stem_prior for word in words):
            return 0
        return self._n_model1(source) + min(self.hmm_iterations, STEM_HMM_ITERATIONS)

    def _n_model1(self, text: Text) -> int:
        if self.model1_iterations is not None:
            return self.model1_iterations
        return ITERATIONS_OF_FEW if len(text) < FEW_PAIRS else MODEL1_ITERATIONS

    def _of_stems(self, source: Text, target: Text, threads: int | None, progress: Progress | None) -> StemTranslations:
        """Translations of stems as translations of words."""
        options = {f.name: getattr(self, f.name) for f in fields(Aligner)} | {
            "lowercase": False,
            "stem": self.stem_prior,
            "drop_source": None,
            "drop_target": None,
            "prior": None,
            "stem_prior": 0,
            "hmm_iterations": min(self.hmm_iterations, STEM_HMM_ITERATIONS),
        }
        stems = Aligner(**options)
        stems.fit(Bitext(source, target), threads=threads, progress=progress)
        numbers = [
            rule.numbers(text.vocabulary, forms)
            for rule, text, forms in zip(stems.normalizations_, (source, target), stems.vocabularies_, strict=True)
        ]
        lexicon = stems.model_.lexicon(SMALLEST_STEM)
        del stems.model_  # large
        return StemTranslations((source, target), (numbers[0], numbers[1]), lexicon, self.stem_weight, SMALLEST_STEM)

    def files(self) -> dict[str, Path]:
        # A manifest has the checksums of all parts of the model.
        return super().files() | ({} if self.prior is None else {"prior": Path(self.prior) / MANIFEST})

    def normalizations(self) -> tuple[Normalization, Normalization]:
        return self.normalizations_ if hasattr(self, "normalizations_") else super().normalizations()

    def normalize(self, bitext: Bitext, vocabularies: Vocabularies | None = None) -> Removals:
        return super().normalize(bitext, vocabularies or self._fitted().vocabularies_)

    def align(self, bitext: Bitext, *, threads: int | None = None, progress: Progress | None = None) -> Links:
        """Link the words of a bitext, seen in training or not.

        A sentence pair with a side that is empty or longer than `max_length` has no links.
        """
        if self.precision is None:
            return self._links(bitext, threads, progress)
        first, second = (Resources.of(threads, progress).part(n, of=2).progress for n in range(2))
        links = self._links(bitext, threads, first)
        return most_certain(links, self.score(bitext, links, threads=threads, progress=second).confidences, self.precision)

    def _links(self, bitext: Bitext, threads: int | None, progress: Progress | None) -> Links:
        """Links chosen by their posteriors, before `precision` drops any."""
        if self.threshold is None:
            return super().align(bitext, threads=threads, progress=progress)
        posteriors = self.posteriors(bitext, self.threshold, threads=threads, progress=progress)
        sure = posteriors.values.mean(axis=1) >= self.threshold
        kept = offsets_of(sure)
        return Links(posteriors.links.points[sure], kept[posteriors.links.offsets])

    def directed_links(self, bitext: Bitext, threads: int, progress: Progress | None) -> tuple[Links, Links]:
        confidence = self.confidences[self.for_] if self.confidence is None else self.confidence
        source, target = bitext.source, bitext.target
        to_target, to_source = self._fitted().model_.directed_links(
            self._correction(source, target, threads),
            source.core_tokens,
            target.core_tokens,
            confidence,
            threads,
            progress,
        )
        return Links(*to_source), Links(*to_target)

    def posteriors(
        self,
        bitext: Bitext,
        threshold: float = 0.01,
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Posteriors:
        """Return every link whose posterior reaches the threshold in at least one direction."""
        source, target = self.normalize(bitext)
        n_threads = threads or default_threads()
        points, offsets, values = self._fitted().model_.posteriors(
            self._correction(source.text, target.text, n_threads),
            source.text.core_tokens,
            target.text.core_tokens,
            threshold,
            n_threads,
            progress,
        )
        return Posteriors(restore_links(Links(points, offsets), source, target), values)

    def score(
        self,
        bitext: Bitext,
        links: Links | None = None,
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> AlignmentScores:
        """Score links, those of the bitext or others, and each sentence pair by the model.

        Links of words that the aligner leaves out have posteriors of 0. Log-probabilities are means over the words that it
        uses, in nats; a pair with a side that is empty or longer than `max_length` has none (NaN).

        >>> bitext = Bitext.of(["das haus", "das buch", "ein buch"], ["the house", "the book", "a book"])
        >>> aligner = Aligner().fit(bitext)
        >>> scores = aligner.score(bitext, aligner.align(bitext))
        >>> scores.posteriors.shape, scores.logprobs.shape, bool((scores.logprobs < 0).all())
        ((6, 2), (3, 2), True)
        """
        links = bitext.need_links() if links is None else links
        links.check(bitext.source, bitext.target)
        sides = self.normalize(bitext)
        points, inside = _reduced_points(links, sides)
        n_inside = offsets_of(inside)
        n_threads = threads or default_threads()
        of_links, logprobs = self._fitted().model_.score_links(
            self._correction(sides[0].text, sides[1].text, n_threads),
            sides[0].text.core_tokens,
            sides[1].text.core_tokens,
            points[inside],
            n_inside[links.offsets],
            n_threads,
            progress,
        )
        posteriors = np.zeros((len(points), 2), np.float32)
        posteriors[inside] = of_links
        n_words = np.stack([sides[1].text.lengths, sides[0].text.lengths], axis=1)
        return AlignmentScores(posteriors, logprobs / np.maximum(n_words, 1))

    def lexical_table(self, smallest: float = 1e-5) -> LexicalTable:
        """The translation probabilities of normalised words, if one of the two reaches `smallest`.

        `PhraseTable.build` accepts it for its lexical weights, instead of link frequencies.
        """
        starts, targets, probabilities = self._fitted().model_.lexicon(smallest)
        nulls = self.model_.null_emissions()
        pairs = LexicalTable.with_empty_words(*self.vocabularies_, starts, targets, probabilities, *nulls)
        return replace(pairs, normalizations=self.normalizations_)

    def save(self, path: str | PathLike[str], smallest: float = SMALLEST_SAVED) -> None:
        """Write the model as an artefact.

        Pairs of words whose probabilities are below `smallest` in both directions are left out; with 0 none is, and the
        loaded model is bit-identical.
        """
        arrays = {**self._fitted()._model_arrays(smallest), "logprobs": self.logprobs_}
        for side, vocabulary in zip(SIDES, self.vocabularies_, strict=True):
            arrays |= vocabulary.arrays(side)
        save(path, STORED, arrays, options=to_mapping(self), seed=self._saved_seed(), details=self._details())

    def _saved_seed(self) -> int | None:
        """The seed that the model depends on, if it does."""
        return None

    def _details(self) -> JsonObject:
        """Saved values other than arrays and options."""
        drops = {side: sorted(rule.drop) for side, rule in zip(SIDES, self.normalizations_, strict=True)}
        return {"drop": drops, "n_words": self.n_words_}

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Aligner:
        """Open a saved model of this aligner or a derived one; the words to leave out are saved with it."""
        return read_artefact(path, STORED, _read, content=True)

    def _restore(self, artefact: Artefact) -> None:
        drops, arrays = artefact.details["drop"], artefact.arrays()
        self.n_words_ = artefact.details["n_words"]
        source, target = (Normalization(self.lowercase, self.stem, frozenset(drops[side])) for side in SIDES)
        self.normalizations_ = source, target
        words = [Vocabulary.from_arrays(arrays.group(side)) for side in SIDES]
        self.vocabularies_ = words[0], words[1]
        self.logprobs_ = arrays["logprobs"]
        self.model_ = self._model_of(arrays)

    def _model_arrays(self, smallest: float) -> dict[str, Array]:
        """The arrays of the model, without word pairs whose probabilities are below `smallest` in both directions."""
        starts, targets, probabilities = self.model_.lexicon(smallest)
        arrays: dict[str, Array] = {"lexicon.starts": starts, "lexicon.targets": targets}
        arrays["lexicon.probabilities"] = probabilities
        nulls, jumps = self.model_.null_emissions(), self.model_.jump_weights()
        for k, way in ((1, "to-source"), (0, "to-target")):
            arrays[f"null.{way}"], arrays[f"jumps.{way}"] = nulls[k], jumps[k]
        return arrays

    def _model_of(self, arrays: Arrays) -> _core.AlignmentModel:
        return _core.AlignmentModel(
            arrays["lexicon.starts"],
            arrays["lexicon.targets"],
            arrays["lexicon.probabilities"],
            nulls=(arrays["null.to-target"], arrays["null.to-source"]),
            jumps=(arrays["jumps.to-target"], arrays["jumps.to-source"]),
            null_probability=self.null_probability,
            max_length=self.max_length,
        )

    def _correction(self, source: Text, target: Text, threads: int) -> _core.PosteriorCorrection | None:
        """What replaces the posteriors of the model for normalised texts, if anything does."""
        return None

    def __getstate__(self) -> Arguments:
        state = dict(vars(self))
        return state | {"model_": self._model_arrays(0.0)} if "model_" in state else state

    def __setstate__(self, state: Arguments) -> None:
        vars(self).update(state)
        if "model_" in state:
            self.model_ = self._model_of(state["model_"])

    def _fitted(self) -> Aligner:
        if not hasattr(self, "model_"):
            raise OptionError("the aligner has learned nothing yet: call fit, or load a saved one")
        return self


def _read(artefact: Artefact) -> Aligner:
    name = artefact.details.get("aligner", "hmm")
    cls = ALIGNERS[name]
    if not issubclass(cls, Aligner):
        raise DamagedError(f"an aligner {name} cannot be loaded")
    aligner = from_mapping(cls, artefact.options)
    aligner._restore(artefact)
    return aligner


def _reduced_points(links: Links, sides: Removals) -> tuple[npt.NDArray[np.uint16], npt.NDArray[np.bool_]]:
    """Links between full sentences as links between reduced ones; False for links of words that were left out."""
    sentence = np.repeat(np.arange(len(links)), np.diff(links.offsets))
    points, inside = links.points.copy(), np.ones(len(links.points), bool)
    for side, removal in enumerate(sides):
        # Positions are sorted within a sentence, so these numbers are sorted throughout the text.
        owner = np.repeat(np.arange(len(links), dtype=np.int64), removal.text.lengths)
        left = (owner << 16) | removal.positions
        wanted = (sentence << 16) | links.points[:, side]
        at = np.searchsorted(left, wanted)
        inside &= (at < len(left)) & (np.append(left, -1)[at] == wanted)
        points[:, side] = at - removal.text.offsets[sentence]
    return points, inside
