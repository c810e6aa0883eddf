"""The sections `corpus` and `movement`: the text, and how it moves (NI11 Fig. 9 and Table 4, GO13, XI11 Fig. 1 and 2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperbaton.report.blocks import Block, Cell, Column, Group, Number, Picture, Section, Table, Text, number
from hyperbaton.report.curves import draw_jumps_by_tag
from hyperbaton.report.figures import numbered
from hyperbaton.report.movements import draw_distance_bars, draw_distance_shares

_COUNTS = {
    "pairs": ("sentence pairs", 0),
    "source_tokens": ("source words", 0),
    "target_tokens": ("target words", 0),
    "source_types": ("source vocabulary", 0),
    "target_types": ("target vocabulary", 0),
    "mean_source_length": ("mean source length", 1),
    "mean_target_length": ("mean target length", 1),
    "links": ("links", 0),
    "unaligned_source": ("source words without link", 0),
    "unaligned_target": ("target words without link", 0),
}


def corpus_section(results: Mapping[str, Any]) -> Section | None:
    """Sizes of the splits."""
    splits = results.get("corpus")
    if not splits:
        return None
    shown = {key: told for key, told in _COUNTS.items() if any(key in held for held in splits.values())}
    rows = [[title, *(number(held.get(key), digits) for held in splits.values())] for key, (title, digits) in shown.items()]
    table = Table("corpus", "The corpus by split.", [Column(""), *map(Column, splits)], [Group(rows)])
    return Section("corpus", "Corpus", [table])


def movement_section(results: Mapping[str, Any]) -> Section | None:
    """How far phrases and words of the training text move."""
    movement = results.get("movement")
    if not movement:
        return None
    blocks: list[Block] = []
    distances = {d: int(n) for d, n in numbered(movement.get("distances")).items()}
    if total := sum(distances.values()):
        moved = sum(n for d, n in distances.items() if d)
        short = sum(n for d, n in distances.items() if 0 < abs(d) < 4)
        blocks += [
            Text(
                f"Of {total:,} phrase pairs of the training text, {100 * moved / total:.1f}% move; of these, "
                f"{100 * short / max(moved, 1):.1f}% by fewer than 4 words. The signed distance d is 0 where a phrase "
                "follows the previous one, negative where it jumps forward, positive where it goes back."
            ),
            Picture("distances", "Phrase pairs by signed distance d.", draw_distance_bars(distances)),
            Picture(
                "distance-shares", "Share of the movements that are no longer than |d|.", draw_distance_shares(distances)
            ),
        ]
    words = {d: int(n) for d, n in numbered(movement.get("word_distortions")).items()}
    if sum(words.values()):
        figure = draw_distance_bars(words, "distortion j − i − 1", forward=1)
        blocks.append(Picture("word-distortions", "Jumps between source words by distortion j − i − 1.", figure))
    if by_tag := {tag: numbered(held) for tag, held in (movement.get("jumps_by_tag") or {}).items() if held}:
        caption = "Jumps between source words by the word's tag, the most frequent ones; 1 is the next word."
        blocks.append(Picture("jumps-by-tag", caption, draw_jumps_by_tag(by_tag)))
    if sets := movement.get("orientations"):
        blocks.append(_classes(sets))
    return Section("movement", "Movement", blocks) if blocks else None


def _classes(sets: Mapping[str, Mapping[str, int]]) -> Table:
    groups = []
    for name, classes in sets.items():
        total = max(sum(classes.values()), 1)
        rows: list[list[Cell]] = [[kind, Number(n), Number(100 * n / total, 1)] for kind, n in classes.items()]
        groups.append(Group(rows, name))
    columns = [Column("class"), Column("phrase pairs"), Column("%")]
    return Table("orientations", "Phrase pairs of the training text by orientation class.", columns, groups)
