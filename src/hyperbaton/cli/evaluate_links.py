from __future__ import annotations

import dataclasses
from typing import Annotated

from hyperbaton.align.evaluation import evaluate_links as evaluate
from hyperbaton.align.link_files import read_links
from hyperbaton.cli._common import need_as_many_lines, print_result
from hyperbaton.cli._parameters import READS, Argument, Flag, Json


def evaluate_links(
    links: Annotated[str, Argument("LINKS", "Links to score, i-j."), READS],
    gold: Annotated[str, Argument("GOLD", "Hand-made (sure) links."), READS],
    possible: Annotated[str | None, Flag("Hand-made links that are right but not required."), READS] = None,
    json: Json = False,
) -> None:
    """Score links against hand-made ones: alignment error rate, precision, recall, F1.

    All are percentages over all sentence pairs (Och and Ney 2003): precision counts possible links as right, recall
    counts sure links only; a lower alignment error rate (aer) is better.

    Examples:

        hyperbaton evaluate-links my.links gold.links
        hyperbaton evaluate-links my.links sure.links --possible possible.links --json
    """
    scored, others = read_links(links), [read_links(path) for path in (gold, possible) if path is not None]
    for path, other in zip((gold, possible), others, strict=False):
        need_as_many_lines(str(path), len(other), links, len(scored))
    row = dataclasses.asdict(evaluate(scored, *others))
    print_result(row, [{name: round(value, 2) for name, value in row.items()}], json)
