"""One set of links from those of two directions (Och and Ney 2003), with the heuristics and results of Moses' `symal`.

| method | keeps |
|---|---|
| intersection | points in both directions |
| union | points in either direction |
| grow | the intersection; repeatedly adds points of the union next to a kept point that cover a new word |
| grow-diag | grow with diagonal neighbours too |
| grow-diag-final | grow-diag, and then points of the union that cover a new source or target word |
| grow-diag-final-and | grow-diag, and then points of the union that cover a new source and a new target word |

Points are tried by target position, then source position; in the final step those of `backward` come before those of
`forward`. The result depends on this order where points compete. As in `symal`, `forward` is the direction in which a
source word has at most one target word, `backward` the one in which a target word has at most one source word.
"""

from __future__ import annotations

from hyperbaton import _core
from hyperbaton.base.counted import counted
from hyperbaton.base.errors import InputError, OptionError
from hyperbaton.base.progress import Progress, n_threads
from hyperbaton.corpus import Links

METHODS = ("intersection", "union", "grow", "grow-diag", "grow-diag-final", "grow-diag-final-and")


def symmetrize(
    forward: Links,
    backward: Links,
    method: str = "grow-diag-final-and",
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Links:
    """Join the links of two directions. Both contain (source, target) points of the same sentence pairs.

    >>> forward, backward = Links.of([[(0, 0), (1, 1), (2, 1)]]), Links.of([[(0, 0), (2, 1), (2, 2)]])
    >>> symmetrize(forward, backward, "intersection")[0]
    [(0, 0), (2, 1)]
    >>> symmetrize(forward, backward)[0]
    [(0, 0), (1, 1), (2, 1), (2, 2)]
    """
    if method not in METHODS:
        raise OptionError(f"unknown symmetrisation {method!r}; known: {', '.join(METHODS)}")
    if len(forward) != len(backward):
        raise InputError(f"{counted(len(forward), 'line')} of forward links, but {len(backward)} of backward links")
    sides = forward.points, forward.offsets, backward.points, backward.offsets
    return Links(*_core.symmetrize(*sides, method, n_threads(threads), progress))
