"""Tables of a page, with the paper's numbers next to ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from hyperbaton.report.elements import Cell, Group, Number, Table, TableColumn

THEIRS = "paper"  # the row or column with the paper's own numbers


def mean(values: Sequence[float], decimals: int = 1) -> Number | None:
    """A mean with its deviation, if there are several values; None without any."""
    if not values:
        return None
    average, deviation = summarize(values)
    return Number(average, decimals, spread=deviation if len(values) > 1 else None)


def table(
    name: str, caption: str, columns: Sequence[str], groups: Sequence[tuple[str, Sequence[Sequence[Cell]]]], note: str = ""
) -> Table:
    """A table with titles of columns and titled groups of rows; a missing cell is a dash."""
    return Table(
        name, caption, [TableColumn(title) for title in columns], [Group(rows, title) for title, rows in groups], note
    )


def paper_table(
    key: str,
    columns: Sequence[str],
    titles: Mapping[str, str],
    numbers: Mapping[str, Sequence[float | None]],
    group: str = "",
) -> Table:
    """The numbers of a paper's table, by system, next to a table of ours; counts are whole numbers."""
    rows: list[list[Cell]] = [
        [titles[name], *(None if value is None else Number(value, 2 * isinstance(value, float)) for value in values)]
        for name, values in numbers.items()
    ]
    return table(f"{key}-paper", "The paper's.", ["", *columns], [(group, rows)])


def summarize(values: Sequence[float]) -> tuple[float, float]:
    """Mean and standard deviation (n − 1) of repeats; the deviation of one repeat is 0.

    >>> summarize([60.0, 62.0])
    (61.0, 1.4142135623730951)
    """
    return float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else 0.0


def paired_test(first: Sequence[float], second: Sequence[float]) -> float | None:
    """p of the two-sided paired t-test that both have the same mean; None if there are fewer than two pairs.

    >>> round(paired_test([60.0, 62.0, 61.0], [58.0, 59.5, 59.2]), 4)
    0.0097
    """
    if len(first) < 2 or len(first) != len(second):
        return None
    differences = np.subtract(first, second)
    if np.ptp(differences) == 0:
        return 1.0 if differences[0] == 0 else 0.0
    from scipy import stats  # slow to load, and seldom needed

    return float(stats.ttest_rel(first, second).pvalue)
