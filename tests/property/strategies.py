"""Random bitexts for property tests."""

from __future__ import annotations

from hypothesis import strategies as st


@st.composite
def link_matrices(draw: st.DrawFn, longest: int = 7) -> tuple[int, int, set[tuple[int, int]]]:
    """(source length, target length, links): empty, full, sparse, one-to-many, crossing."""
    n, m = draw(st.integers(1, longest)), draw(st.integers(1, longest))
    points = [(i, j) for i in range(n) for j in range(m)]
    kind = draw(st.sampled_from(["any", "empty", "full", "permutation", "column"]))
    if kind == "empty":
        return n, m, set()
    if kind == "full":
        return n, m, set(points)
    if kind == "permutation":
        return n, m, set(zip(range(n), draw(st.permutations(range(m))), strict=False))
    if kind == "column":
        j = draw(st.integers(0, m - 1))
        return n, m, {(i, j) for i in range(n)}
    return n, m, draw(st.sets(st.sampled_from(points), max_size=2 * max(n, m)))
