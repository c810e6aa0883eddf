"""The command `evaluate-links`."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import typer

from hyperbaton.align.evaluation import evaluate_links as evaluate
from hyperbaton.align.reading import read_links
from hyperbaton.cli import Json
from hyperbaton.cli._common import need_as_many_lines, print_json, print_table
from hyperbaton.cli._paths import READS

HELP_GROUP = "Links and words"


def evaluate_links(
    links: Annotated[str, typer.Argument(help="Links to score, i-j."), READS],
    gold: Annotated[str, typer.Argument(help="Hand-made (sure) links."), READS],
    possible: Annotated[str | None, typer.Option(help="Hand-made links that are right but not required."), READS] = None,
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
    scores = evaluate(scored, *others)
    row = dataclasses.asdict(scores)
    if json:
        print_json(row)
    else:
        print_table([{name: round(value, 2) for name, value in row.items()}])
