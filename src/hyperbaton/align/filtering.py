"""Filtering of sentence pairs that are not translations, by the scores of an aligner.

The log-probability of a sentence given its translation is high if its words are common, even if the translation is wrong.
The score must measure how much the translation helps: the *gain* of a pair is its mean log-probability per word minus the
mean log relative frequency of its words in the text, in nats per word, averaged over both directions:

    gain = ½ Σ_sides ( log p(words | other side) − Σ_words log f(word) ) / number of words

with f the relative frequency of a lower-cased word, after adding 1 to each count.

An aligner gives any pair in its training text a high probability, because it learns words that occur nowhere else as
translations of each other. Scores must come from a model trained on other pairs. `cross_logprobs` trains two models, one
on each half of a text, and scores each half with the model of the other.

Pairs can also be chosen for the text to translate, by its n-grams (`corpus.selection`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hyperbaton.align.aligners.hmm import Aligner
from hyperbaton.align.normalization import Normalization
from hyperbaton.align.scores import StoredScores
from hyperbaton.base.numeric import log
from hyperbaton.base.options import CheckedOptions, option
from hyperbaton.base.outputs import Destination, check_places
from hyperbaton.base.progress import Progress
from hyperbaton.base.resources import Resources
from hyperbaton.corpus import Bitext, Links, Text
from hyperbaton.corpus.clean import output_names, write_pairs
from hyperbaton.corpus.files import AnyPath
from hyperbaton.corpus.selection import INSTANCES, LONGEST, first_instances


@dataclass(frozen=True)
class Filtering(CheckedOptions):
    """Criteria for keeping sentence pairs."""

    min_gain: float = option(-1.0, "smallest gain kept, in nats per word")
    keep: float | None = option(
        None, "keep this fraction of the pairs, the best ones, instead of using min-gain", minimum=0, maximum=1
    )
    instances: int = option(INSTANCES, "matching: keep this many instances of each n-gram, the first ones", minimum=1)
    longest: int = option(LONGEST, "matching: number of words of the longest n-grams", minimum=1)


@dataclass(frozen=True)
class FilterReport:
    """Numbers of pairs read, kept, and dropped for lack of a score; the smallest gain kept, if any."""

    n_read: int
    n_kept: int
    n_unscored: int
    smallest_gain: float | None

    def to_json(self) -> dict[str, object]:
        return {**vars(self)}


def pair_gains(bitext: Bitext, logprobs: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The gain of each sentence pair, NaN if it has no score.

    Arguments:
        logprobs: of target and source per word, (n_pairs, 2), from `Aligner.score`.

    >>> bitext = Bitext.of(["a", "b"], ["x", "x"])
    >>> pair_gains(bitext, np.array([[-0.5, -0.5], [np.nan, np.nan]])).round(2).tolist()
    [-0.15, nan]
    """
    by_frequency = np.stack([_frequency_logprobs(bitext.target), _frequency_logprobs(bitext.source)], axis=1)
    return (logprobs - by_frequency).mean(axis=1)


def cross_logprobs(
    bitext: Bitext, *, threads: int | None = None, progress: Progress | None = None
) -> npt.NDArray[np.float64]:
    """Log-probabilities per word, (n_pairs, 2): even and odd pairs, each scored by an aligner trained on the others.

    NaN for pairs with an empty side.
    """
    logprobs = np.full((len(bitext), 2), np.nan)
    halves = [np.arange(half, len(bitext), 2) for half in (0, 1)]
    resources = Resources.of(threads, progress)
    for n, (half, other) in enumerate((halves, halves[::-1])):
        aligner = Aligner().fit(bitext.select(other), threads=threads, progress=resources.part(n, of=2).progress)
        no_links = Links.of([[]] * len(half))
        logprobs[half] = aligner.score(bitext.select(half), no_links, threads=threads).logprobs
    return logprobs


def _frequency_logprobs(text: Text) -> npt.NDArray[np.float64]:
    """The mean log relative frequency of the words of each sentence; 0 for an empty one."""
    words = Normalization(lowercase=True).apply(text).text
    counts = np.bincount(words.tokens, minlength=len(words.vocabulary)) + 1.0
    sums = np.concatenate([[0.0], np.cumsum(log(counts / counts.sum())[words.tokens])])
    return np.asarray((sums[words.offsets[1:]] - sums[words.offsets[:-1]]) / np.maximum(words.lengths, 1))


def choose_pairs(gains: npt.NDArray[np.float64], options: Filtering | None = None) -> npt.NDArray[np.bool_]:
    """Choose the pairs to keep; pairs without a gain are dropped. With `keep`, ties go to earlier pairs.

    >>> choose_pairs(np.array([0.5, -2.0, np.nan, 0.1])).tolist()
    [True, False, False, True]
    >>> choose_pairs(np.array([0.5, -2.0, np.nan, 0.1]), Filtering(keep=0.25)).tolist()
    [True, False, False, False]
    """
    options = options or Filtering()
    if options.keep is None:
        return np.asarray(gains >= options.min_gain)
    order = np.argsort(-gains, kind="stable")  # those without a gain come last
    chosen = np.zeros(len(gains), bool)
    chosen[order[: int(options.keep * len(gains) + 1e-9)]] = True
    return chosen & ~np.isnan(gains)


def filter_files(
    source: AnyPath,
    target: AnyPath,
    prefix: AnyPath,
    options: Filtering | None = None,
    *,
    scores: AnyPath | None = None,
    matching: Sequence[AnyPath] = (),
    also: Sequence[AnyPath] = (),
    compression: str = "",
    threads: int | None = None,
    progress: Progress | None = None,
) -> FilterReport:
    """Write the pairs that translate each other, or those that match other texts, to new files, all of them or none.

    Arguments:
        prefix: prefix of the names of the new files, followed by the old extensions, as in `clean_files`.
        scores: the file that `align --scores` wrote for these texts; without it, see `cross_logprobs`.
        matching: source texts; only pairs that `first_instances` chooses for them are kept, without `scores` all of these.
        also: files with one line for each sentence pair (links, tags, trees, scores), reduced to the same lines.
        compression: suffix of the new files (.gz, .xz, .zst), or none.
    """
    options = options or Filtering()
    names, scored = output_names(source, target, also, prefix, compression), [] if scores is None else [scores]
    check_places([Destination("--output", name) for name in names], [source, target, *also, *scored, *matching])
    bitext = Bitext.read(source, target, empty=True)
    gains = np.full(len(bitext), np.inf)
    if scores is not None:
        stored = StoredScores.read(scores)
        stored.check(len(bitext))
        gains = pair_gains(bitext, stored.logprobs)
    elif not matching:
        gains = pair_gains(bitext, cross_logprobs(bitext, threads=threads, progress=progress))
    kept = np.flatnonzero(choose_pairs(gains, options))
    if matching:
        numbers = first_instances(bitext.source.select(kept), [Text.read(path) for path in matching], options.longest)
        kept = kept[numbers <= options.instances]
    write_pairs(names, bitext, also, kept)
    smallest = float(gains[kept].min()) if len(kept) else np.inf
    return FilterReport(len(bitext), len(kept), int(np.isnan(gains).sum()), smallest if smallest < np.inf else None)
