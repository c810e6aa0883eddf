"""The command `order`."""

from __future__ import annotations

import math
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from hyperbaton.base.errors import OptionError
from hyperbaton.base.forms import JsonObject
from hyperbaton.cli import Json, Seed
from hyperbaton.cli._common import print_json, print_table, say
from hyperbaton.cli._paths import READS, WRITES_FILE
from hyperbaton.cli._resources import ThreadOptions
from hyperbaton.corpus import Bitext, Dependencies, Tags
from hyperbaton.evaluate.word_order import LIMITS, Value, WordOrder, jumps_by_tag, measure_order, order_by_relation

HELP_GROUP = "Links and words"

UNITS = {"crossings": "per link", "mean_distance": "words"}


def order(
    source: Annotated[str, typer.Argument(metavar="SRC", help="Tokenized source text."), READS],
    target: Annotated[str, typer.Argument(metavar="TGT", help="Tokenized target text."), READS],
    links: Annotated[str, typer.Argument(metavar="LINKS", help="Word links."), READS],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Picture to write: .svg, .png or .pdf."), WRITES_FILE
    ] = None,
    per_line: Annotated[bool, typer.Option("--per-line", help="Print the measures of each sentence pair.")] = False,
    tags: Annotated[str | None, typer.Option(help="Tags of the source words: also print jumps by tag."), READS] = None,
    dependencies: Annotated[
        str | None, typer.Option(help="CoNLL-U file of SRC: also print the order of head and dependent by relation."), READS
    ] = None,
    against: Annotated[
        tuple[str, str, str] | None,
        typer.Option(metavar="SRC TGT LINKS", help="Compare with another text or pair of languages."),
        READS,
    ] = None,
    limits: Annotated[
        str, typer.Option(help="Comma-separated distortion limits; phrase pairs beyond each are counted.")
    ] = ",".join(map(str, LIMITS)),
    max_length: Annotated[int, typer.Option(help="Longest phrase, in words.", min=1, max=255)] = 8,
    samples: Annotated[int, typer.Option(help="Number of bootstrap samples for the intervals.", min=1)] = 1000,
    seed: Seed = 0,
    *,
    common: ThreadOptions,
    as_json: Json = False,
) -> None:
    """Measure how much word order differs between two languages.

    Prints the share of links that cross no other, crossings per link, the share of phrase pairs that follow the previous
    one, their mean distance, Kendall's tau (as the percentage of word pairs in the same order), the fuzzy reordering
    score, and the share of phrase pairs beyond each distortion limit, with 95% intervals. --per-line prints these
    measures for each pair, for filtering: the line, its links, and the measures, empty if there is nothing to measure.

    Examples:

        hyperbaton order train.zh train.en train.links

        hyperbaton order train.ja train.en train.links --tags train.ja.pos -o order.svg --against zh.zh zh.en zh.links

        hyperbaton order train.zh train.en train.links --per-line > train.order.tsv
    """
    chosen, n = _limits(limits), common.n_threads
    if per_line and (tags or dependencies or against or output):
        raise OptionError("--per-line prints the measures of each pair and nothing else")
    with common.bars() as bars:
        bitext = Bitext.read(source, target, links, empty=True)
        found = measure_order(bitext, max_length=max_length, limits=chosen, threads=n, progress=bars.stage("measure"))
        if per_line:
            _print_lines(found, bitext)
            return
        other = None
        if against is not None:
            beside = Bitext.read(*against, empty=True)
            other = measure_order(
                beside,
                max_length=max_length,
                limits=chosen,
                threads=n,
                progress=bars.stage("measure the other"),
            )
        jumps = [] if tags is None else jumps_by_tag(bitext, Tags.read(tags, bitext.source), threads=n)
        trees = None if dependencies is None else Dependencies.read(dependencies, bitext.source)
        relations = [] if trees is None else order_by_relation(bitext, trees)
        result = _result(found, other, len(bitext), samples, seed)
    if output is not None:
        from hyperbaton.report.figures import write_figure
        from hyperbaton.report.movements import draw_order

        names = {source: found} | ({} if other is None or against is None else {against[0]: other})
        write_figure(draw_order(names, jumps), output)
        say(f"wrote {output}", common.quiet)
    if as_json:
        print_json(result | {"tags": list(map(_plain, jumps)), "relations": list(map(_plain, relations))})
        return
    print_table(_rows(result))
    if jumps:
        print()
        print_table([_rounded({k: v for k, v in asdict(row).items() if k != "by_distance"}) for row in jumps])
    if relations:
        print()
        print_table([_rounded(asdict(row)) for row in relations])


def _limits(text: str) -> list[int]:
    try:
        limits = sorted({int(part) for part in text.split(",")})
    except ValueError:
        limits = [-1]
    if limits[0] < 0 or limits[-1] > 10**6:
        raise OptionError(f"--limits expects comma-separated numbers of words, not {text!r}")
    return limits


def _result(found: WordOrder, other: WordOrder | None, n_pairs: int, samples: int, seed: int) -> JsonObject:
    """The measures, for JSON."""
    estimates = found.estimates(samples=samples, seed=seed)
    result: JsonObject = {
        "pairs": n_pairs,
        "links": found.n_links,
        "phrase_pairs": found.n_phrases,
        "measures": {name: _value(value) for name, value in estimates.items()},
    }
    if other is not None:
        values, differences = other.values(), found.differences(other, samples=samples, seed=seed)
        result["against"] = {
            name: {"value": _number(values[name]), "delta": _value(differences[name])} for name in found.names
        }
    return result


def _value(value: Value) -> JsonObject:
    return {"value": _number(value.value), "interval": [_number(end) for end in value.interval]}


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


def _plain(row: Any) -> JsonObject:
    values = asdict(row)
    return {name: _number(value) if isinstance(value, float) else value for name, value in values.items()}


def _rows(result: JsonObject) -> list[JsonObject]:
    """The measures as rows of a table."""
    rows = []
    for name, measured in result["measures"].items():
        row = {"measure": name, "unit": UNITS.get(name, "%"), **_cells(measured, "value", "95%")}
        if "against" in result:
            other = result["against"][name]
            row |= {"against": _shown(other["value"]), **_cells(other["delta"], "delta", "delta 95%")}
        rows.append(row)
    return rows


def _cells(measured: JsonObject, value: str, interval: str) -> dict[str, str]:
    low, high = measured["interval"]
    return {value: _shown(measured["value"]), interval: "" if low is None else f"{_shown(low)} to {_shown(high)}"}


def _shown(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _rounded(row: JsonObject) -> JsonObject:
    return {
        name: ("" if math.isnan(value) else round(value, 1)) if isinstance(value, float) else value
        for name, value in row.items()
    }


def _print_lines(found: WordOrder, bitext: Bitext) -> None:
    n_links = (bitext.need_links().offsets[1:] - bitext.need_links().offsets[:-1]).tolist()
    sys.stdout.write("\t".join(["line", "links", *found.names]) + "\n")
    for line, (n, values) in enumerate(zip(n_links, found.per_pair().tolist(), strict=True), start=1):
        cells = ("" if math.isnan(value) else f"{value:.4g}" for value in values)
        sys.stdout.write("\t".join([str(line), str(n), *cells]) + "\n")
