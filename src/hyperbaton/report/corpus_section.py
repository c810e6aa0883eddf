"""The sections `corpus` and `movement`: the text, and how it moves (NI11 Fig. 9 and Table 4, GO13, XI11 Fig. 1 and 2)."""

from __future__ import annotations

from collections.abc import Mapping

from hyperbaton.base.counted import counted
from hyperbaton.base.forms import Json
from hyperbaton.report import prose
from hyperbaton.report.curves import commonest_tags, draw_distances_by_tag
from hyperbaton.report.elements import (
    CaptionedFigure,
    Cell,
    Element,
    Group,
    Number,
    Paragraph,
    Section,
    Table,
    TableColumn,
    in_digits,
    is_number,
    number,
)
from hyperbaton.report.figures import DISTANCE, as_distances, numbered
from hyperbaton.report.glossary import about_class
from hyperbaton.report.movements import FARTHEST, draw_distance_bars, draw_distance_shares
from hyperbaton.report.prose import percent

_COUNTS = {
    "pairs": ("sentence pairs", 0),
    "source_tokens": ("source words", 0),
    "target_tokens": ("target words", 0),
    "source_types": ("source vocabulary", 0),
    "target_types": ("target vocabulary", 0),
    "mean_source_length": ("mean source length", 1),
    "mean_target_length": ("mean target length", 1),
    "links": ("links", 0),
    "unaligned_source": ("unlinked source words", 0),
    "unaligned_target": ("unlinked target words", 0),
}


def corpus_section(results: Mapping[str, Json]) -> Section:
    splits = results["corpus"]
    rows = [
        [title, *(number(counts.get(key), digits) for counts in splits.values())]
        for key, (title, digits) in _COUNTS.items()
        if any(key in counts for counts in splits.values())
    ]
    table = Table("corpus", "The corpus by split.", [TableColumn(""), *map(TableColumn, splits)], [Group(rows)])
    sizes = ", ".join(f"{split} {counts['pairs']:,}" for split, counts in splits.items() if is_number(counts.get("pairs")))
    text = Paragraph(f"The texts of the run{f', in sentence pairs: {sizes}' if sizes else ''}.")
    return Section("corpus", "Corpus", [text, table])


def movement_section(results: Mapping[str, Json]) -> Section | None:
    """How far phrases and words of the training text move."""
    movement, elements = results["movement"], list[Element]()
    distances = numbered(movement.get("distances"))
    if total := sum(distances.values()):
        moved = sum(n for d, n in distances.items() if d)
        short = sum(n for d, n in distances.items() if 0 < abs(d) < 4)
        elements += [
            Paragraph(
                f"Of {counted(round(total), 'phrase pair')} of the training text, {percent(moved, total)} move; of these, "
                f"{percent(short, moved)} by fewer than 4 words. The signed distance d is 0 where a phrase "
                "follows the previous one, negative where it jumps forward, positive where it goes back."
            ),
            CaptionedFigure(
                "distances",
                f"Phrase pairs by signed distance d{_beyond(distances)}.",
                draw_distance_bars(distances),
                prose.distances(distances),
            ),
            CaptionedFigure(
                "distance-shares",
                "Share of the movements that are no longer than |d|.",
                draw_distance_shares(distances),
                prose.shares(distances),
            ),
        ]
    words = as_distances(numbered(movement.get("word_distortions")))
    if sum(words.values()):
        figure = draw_distance_bars(words, DISTANCE, "jumps (%)")
        caption = f"Jumps from source word i to the word j translated next, by distance d = i + 1 − j{_beyond(words)}."
        elements.append(CaptionedFigure("word-distortions", caption, figure, prose.distances(words)))
    if by_tag := _by_tag(movement.get("jumps_by_tag") or {}):
        caption = "Jumps between source words by the tag of the word reached, the most frequent tags"
        ends = sorted({d for counts in by_tag.values() for d in counts})
        caption += f"; farther jumps are counted at d = {in_digits(ends[0], 0)} and {in_digits(ends[-1], 0)}."
        commonest = {tag: by_tag[tag] for tag in commonest_tags(by_tag)}
        elements.append(CaptionedFigure("jumps-by-tag", caption, draw_distances_by_tag(by_tag), prose.tags(commonest)))
    if sets := movement.get("orientations"):
        elements.append(_classes(sets))
    if elements and not isinstance(elements[0], Paragraph):
        elements.insert(0, Paragraph("How far words and phrases of the training text move."))
    return Section("movement", "Movement", elements) if elements else None


def _beyond(counts: Mapping[int, float]) -> str:
    """What a picture of distances leaves out."""
    beyond = sum(n for d, n in counts.items() if abs(d) > FARTHEST)
    return f"; {beyond:,.0f} ({percent(beyond, sum(counts.values()))}) are beyond ±{FARTHEST}" if beyond else ""


def _by_tag(jumps: Mapping[str, Mapping[str, int]]) -> dict[str, dict[int, float]]:
    """Convert counts by jump, where 1 reaches the next word (XI11), to counts by signed distance."""
    by_tag = {tag: {1 - jump: n for jump, n in numbered(counts).items()} for tag, counts in jumps.items()}
    return {tag: dict(sorted(counts.items())) for tag, counts in by_tag.items() if sum(counts.values())}


def _classes(sets: Mapping[str, Mapping[str, int]]) -> Table:
    groups = []
    for name, classes in sets.items():
        total = max(sum(classes.values()), 1)
        rows: list[list[Cell]] = [[kind, Number(n), Number(100 * n / total, 1)] for kind, n in classes.items()]
        groups.append(Group(rows, name))
    columns = [TableColumn("class"), TableColumn("phrase pairs"), TableColumn("%")]
    about = {name: about_class(name) for name in (*sets, *(kind for classes in sets.values() for kind in classes))}
    caption = "Phrase pairs of the training text by orientation class."
    return Table("orientations", caption, columns, groups, about=about)
