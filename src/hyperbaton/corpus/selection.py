"""Selection of training sentences by the n-grams of the text to translate (XI11, section 7.1).

XI11 trains on the sentences with the first 20 instances of each n-gram of up to 15 words of the test text, searching the
best corpora first. An instance is an occurrence, so the sentences kept depend on their order.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from hyperbaton.base.arrays import ranges
from hyperbaton.corpus.text import Text

INSTANCES, LONGEST = 20, 15


def first_instances(text: Text, others: Sequence[Text], longest: int = LONGEST) -> npt.NDArray[np.int64]:
    """For each sentence, the smallest number of an instance in it of an n-gram of other texts; the largest int64 if none.

    Each n-gram's instances are numbered from 1 in order of the text. XI11 keeps sentences with numbers up to 20.

    >>> text = Text.of(["a b", "a c", "a b c", "d"])
    >>> (first_instances(text, [Text.of(["a b c"])]) <= 1).tolist()
    [True, True, True, False]
    >>> first_instances(text, [Text.of(["b c a"])], longest=1)[:3].tolist()
    [1, 1, 2]
    """
    texts = [text, *(other.over(text.vocabulary) for other in others)]
    tokens = np.concatenate([each.tokens for each in texts]).astype(np.int64)
    left = np.concatenate([np.repeat(each.lengths, each.lengths) - ranges(0, each.lengths) for each in texts])
    n_words, sentence = int(tokens.max(initial=0)) + 1, np.repeat(np.arange(len(text)), text.lengths)
    smallest = np.full(len(text), np.iinfo(np.int64).max)
    # The places where n-grams of the other texts start, and the numbers of these; n words extend n − 1.
    starts, numbers = np.arange(len(left)), np.zeros(len(left), np.int64)
    for n in range(1, longest + 1):
        fits = left[starts] >= n
        starts, numbers = starts[fits], numbers[fits]
        numbers = np.unique(numbers * n_words + tokens[starts + n - 1], return_inverse=True)[1]
        wanted = np.zeros(numbers.max(initial=-1) + 1, bool)
        wanted[numbers[starts >= text.n_tokens]] = True
        starts, numbers = starts[wanted[numbers]], numbers[wanted[numbers]]
        inside = starts < text.n_tokens
        if not inside.any():
            break
        order = np.argsort(numbers[inside], kind="stable")
        instances = ranges(1, np.bincount(numbers[inside]))
        np.minimum.at(smallest, sentence[starts[inside][order]], instances)
    return smallest
