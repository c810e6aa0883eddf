"""Coverage at the time a phrase is translated: its possible classes, and the state of the words around it.

In samples of a bitext, the source words linked to target words left of the sample are covered; in translation, the words
translated so far. The core treats both in the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.options import Arguments

if TYPE_CHECKING:
    from hyperbaton.corpus import Bitext
    from hyperbaton.phrases.samples import Samples

# The number of coverage states of a phrase.
COVERAGE_STATES: int = _core.COVERAGE_STATES

Spans = Sequence[tuple[int, int]]


def possible_of_samples(
    classes: _core.PossibleClasses, n_classes: int, bitext: Bitext, samples: Samples
) -> npt.NDArray[np.bool_]:
    """Whether each sample can have each class, (n_samples, n_classes)."""
    return _unpacked(_core.possible_of_samples(**_places(bitext, samples), classes=classes), n_classes)


def possible_of_spans(
    classes: _core.PossibleClasses, n_classes: int, visited: npt.NDArray[np.bool_], spans: Spans
) -> npt.NDArray[np.bool_]:
    """Whether each span can have each class, (n_spans, n_classes), given the visited words, (n_words,) or a row per span.

    >>> from hyperbaton.phrases import orientation_set
    >>> classes = orientation_set("mslr").possible_classes
    >>> possible_of_spans(classes, 4, np.array([True, True, False, False]), [(2, 3), (3, 4)]).tolist()
    [[True, False, False, True], [False, False, False, True]]
    """
    rows = _spread(visited, len(spans))
    masks = [classes.mask(visited=row, begin=b, end=e) for row, (b, e) in zip(rows, spans, strict=True)]
    return _unpacked(np.array(masks, np.uint32), n_classes)


def states_of_samples(bitext: Bitext, samples: Samples) -> npt.NDArray[np.uint8]:
    """The coverage state of each sample, as a number below `COVERAGE_STATES`."""
    return _core.coverage_states_of_samples(**_places(bitext, samples))


def states_of_spans(visited: npt.NDArray[np.bool_], spans: Spans) -> npt.NDArray[np.uint8]:
    """The coverage state of each span, given the visited words, (n_words,) or a row per span."""
    rows = _spread(visited, len(spans))
    states = [_core.coverage_state(visited=row, begin=b, end=e) for row, (b, e) in zip(rows, spans, strict=True)]
    return np.array(states, np.uint8)


def _places(bitext: Bitext, samples: Samples) -> Arguments:
    links = bitext.need_links()
    return {
        "sentence": samples.sentence,
        "source_begin": samples.source_begin,
        "source_length": samples.source_length,
        "target_begin": samples.target_begin,
        "points": links.points,
        "link_offsets": links.offsets,
        "source_offsets": bitext.source.offsets,
    }


def _spread(visited: npt.NDArray[np.bool_], n: int) -> npt.NDArray[np.bool_]:
    return np.ascontiguousarray(np.broadcast_to(visited, (n, visited.shape[-1])), bool)


def _unpacked(bits: npt.NDArray[np.uint32], n_classes: int) -> npt.NDArray[np.bool_]:
    return (bits[:, None] >> np.arange(n_classes, dtype=np.uint32)) & 1 == 1
