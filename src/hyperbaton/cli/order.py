from __future__ import annotations

import math
import sys
from dataclasses import asdict, is_dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from hyperbaton.base.errors import OptionError
from hyperbaton.base.forms import JsonObject
from hyperbaton.cli._common import print_json, print_table, say
from hyperbaton.cli._parameters import READS, WRITES_FILE, Argument, Flag, Json, Seed
from hyperbaton.cli._resources import ThreadOptions
from hyperbaton.corpus import Bitext, Dependencies, Tags
from hyperbaton.evaluate.word_order import LIMITS, WordOrder, jumps_by_tag, measure_order, order_by_relation

UNITS = {"crossings": "per link", "mean_distance": "words"}


def order(
    source: Annotated[str, Argument("SRC", "Tokenized source text."), READS],
    target: Annotated[str, Argument("TGT", "Tokenized target text."), READS],
    links: Annotated[str, Argument("LINKS", "Word links."), READS],
    output: Annotated[Path | None, Flag("Picture to write: .svg, .png or .pdf.", "-o"), WRITES_FILE] = None,
    per_line: Annotated[bool, Flag("Print the measures of each sentence pair.")] = False,
    tags: Annotated[str | None, Flag("Tags of the source words: also print jumps by tag."), READS] = None,
    dependencies: Annotated[
        str | None, Flag("CoNLL-U file of SRC: also print the order of head and dependent by relation."), READS
    ] = None,
    against: Annotated[
        tuple[str, str, str] | None, Flag("Compare with another text or pair of languages.", metavar="SRC TGT LINKS"), READS
    ] = None,
    limits: Annotated[str, Flag("Distortion limits; phrase pairs beyond each are counted.", metavar="N,N,…")] = ",".join(
        map(str, LIMITS)
    ),
    max_length: Annotated[int, Flag("Longest phrase, in words.", minimum=1, maximum=255)] = 8,
    samples: Annotated[int, Flag("Number of bootstrap samples for the intervals.", minimum=1)] = 1000,
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
        hyperbaton order a.ja a.en a.links -o order.svg --against b.zh b.en b.links
        hyperbaton order train.zh train.en train.links --per-line > train.order.tsv
    """
    n = common.n_threads
    measure = partial(measure_order, max_length=max_length, limits=_limits(limits), threads=n)
    if per_line and (tags or dependencies or against or output):
        raise OptionError("--per-line prints the measures of each pair and nothing else")
    with common.bars() as bars:
        bitext = Bitext.read(source, target, links, empty=True)
        measured = measure(bitext, progress=bars.stage("measure"))
        if per_line:
            _print_lines(measured, bitext)
            return
        other = None
        if against is not None:
            other = measure(Bitext.read(*against, empty=True), progress=bars.stage("measure the other"))
        jumps = [] if tags is None else jumps_by_tag(bitext, Tags.read(tags, bitext.source), threads=n)
        trees = None if dependencies is None else Dependencies.read(dependencies, bitext.source)
        result = _result(measured, other, len(bitext), samples, seed)
        result |= {"tags": _plain(jumps), "relations": [] if trees is None else _plain(order_by_relation(bitext, trees))}
    if output is not None:
        from hyperbaton.report.figures import write_figure
        from hyperbaton.report.movements import draw_order

        names = {source: measured} | ({} if other is None or against is None else {against[0]: other})
        write_figure(draw_order(names, jumps), output)
        say(f"wrote {output}", common.quiet)
    if as_json:
        print_json(result)
        return
    print_table(_rows(result))
    for rows in filter(None, (result["tags"], result["relations"])):
        print()
        print_table([_rounded({name: cell for name, cell in row.items() if name != "by_distance"}) for row in rows])


def _limits(text: str) -> list[int]:
    try:
        limits = sorted({int(part) for part in text.split(",")})
    except ValueError:
        limits = [-1]
    if limits[0] < 0 or limits[-1] > 10**6:
        raise OptionError(f"--limits expects comma-separated numbers of words, not {text!r}")
    return limits


def _result(measured: WordOrder, other: WordOrder | None, n_pairs: int, samples: int, seed: int) -> JsonObject:
    """The measures, for JSON."""
    result: JsonObject = {
        "pairs": n_pairs,
        "links": measured.n_links,
        "phrase_pairs": measured.n_phrases,
        "measures": measured.estimates(samples=samples, seed=seed),
    }
    if other is not None:
        values, differences = other.values(), measured.differences(other, samples=samples, seed=seed)
        result["against"] = {name: {"value": values[name], "delta": differences[name]} for name in measured.names}
    return _plain(result)


def _plain(value: Any) -> Any:
    """A value for JSON, with None for NaN."""
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, dict):
        return {name: _plain(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(member) for member in value]
    return None if isinstance(value, float) and math.isnan(value) else value


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
    return {name: "" if cell is None else round(cell, 1) if isinstance(cell, float) else cell for name, cell in row.items()}


def _print_lines(measured: WordOrder, bitext: Bitext) -> None:
    n_links = (bitext.need_links().offsets[1:] - bitext.need_links().offsets[:-1]).tolist()
    sys.stdout.write("\t".join(["line", "links", *measured.names]) + "\n")
    for line, (n, values) in enumerate(zip(n_links, measured.per_pair().tolist(), strict=True), start=1):
        cells = ("" if math.isnan(value) else f"{value:.4g}" for value in values)
        sys.stdout.write("\t".join([str(line), str(n), *cells]) + "\n")
