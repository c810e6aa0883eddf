"""Symmetrisation as its definition reads."""

from __future__ import annotations


def joined(forward: list[tuple[int, int]], backward: list[tuple[int, int]], method: str) -> set[tuple[int, int]]:
    """The definition, point by point."""
    ahead, back = set(forward), set(backward)
    union = ahead | back
    if method == "union":
        return union
    kept = ahead & back
    near = [(-1, 0), (0, -1), (1, 0), (0, 1)]
    if "diag" in method:
        near += [(-1, -1), (-1, 1), (1, -1), (1, 1)]

    def covered(side: int) -> set[int]:
        return {p[side] for p in kept}

    added = "grow" in method
    while added:
        added = False
        last = (-1, -1)
        while waiting := sorted((j, i) for i, j in kept if (j, i) > last):
            last = waiting[0]
            j, i = last
            for di, dj in near:
                p = (i + di, j + dj)
                new = p[0] not in covered(0) or p[1] not in covered(1)
                if p in union and p not in kept and new:
                    kept.add(p)
                    added = True
    if "final" in method:
        for direction in (back, ahead):
            for p in sorted(direction, key=lambda q: (q[1], q[0])):
                new = [p[0] not in covered(0), p[1] not in covered(1)]
                if p not in kept and (all(new) if method.endswith("and") else any(new)):
                    kept.add(p)
    return kept
