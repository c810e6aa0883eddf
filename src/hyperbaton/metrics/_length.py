"""The length ratio: words of translations for each word of the references, of several the one closest in length."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hyperbaton.metrics._metric import Statistics
from hyperbaton.metrics._outputs import Outputs
from hyperbaton.metrics._words import Ints

SHORTEST, LONGEST = 0.95, 1.05  # ratios outside make scores hard to compare


def closest_length(lengths: Ints, references: Ints) -> Ints:
    """Of the lengths of references, (n_references, n), the one closest to each; of two equally close the shorter."""
    distance = 2 * np.abs(references - lengths) + (references > lengths)  # twice, and one more for the longer of two
    return references[distance.argmin(axis=0), np.arange(len(lengths))]


def count_words(outputs: Outputs) -> Statistics:
    """The words of each hypothesis and of its reference, (n_hypotheses, 2)."""
    hypotheses, *references = (
        np.array([len(line.split()) for line in text], np.int64) for text in (outputs.hypotheses, *outputs.references)
    )
    every = np.stack([reference[outputs.line] for reference in references])
    return np.column_stack([hypotheses, closest_length(hypotheses, every)]).astype(np.float64)


def length_ratio(runs: Sequence[Outputs]) -> float:
    """The mean length ratio of several outputs; 1 without words.

    >>> length_ratio([Outputs.of(["a b", "c"], ["a b c", "d"])])
    0.75
    """
    sums = [count_words(outputs).sum(axis=0).tolist() for outputs in runs]
    return float(np.mean([words / reference if reference else 1.0 for words, reference in sums]))


def length_warning(ratio: float, expected: float = 1.0) -> str | None:
    """A remark on a length that makes scores hard to compare, or that is not as expected; None for others.

    >>> length_warning(0.97), length_warning(1.1, 1.08), length_warning(0.9)
    (None, None, 'the translations have 0.90 words for each word of the references, which changes BLEU and TER by itself')
    >>> length_warning(0.97, 1.1)
    'the translations have 0.97 words for each word of the references, and 1.10 are expected'
    """
    if SHORTEST <= ratio / expected <= LONGEST:
        return None
    effect = "which changes BLEU and TER by itself" if expected == 1 else f"and {expected:.2f} are expected"
    return f"the translations have {ratio:.2f} words for each word of the references, {effect}"
