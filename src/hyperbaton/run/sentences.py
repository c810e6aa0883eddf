"""The sentences of a report: those where the systems differ most, in each way that translations can differ."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from hyperbaton.base.forms import Json, JsonObject
from hyperbaton.corpus.files import read_lines
from hyperbaton.run.plan import Plan
from hyperbaton.run.texts import Texts
from hyperbaton.run.translation import NO_LIMIT, Translation, translate_name

SHORTEST, LONGEST = 6, 30  # words in a sentence shown in the report


def shown_sentences(
    plan: Plan, root: Path, limit: int, spread: Sequence[float], pair: Sequence[str] | None
) -> list[JsonObject]:
    """The test sentences where two systems differ most, or all if no pair is given, with the derivations of all."""
    translation, texts = plan.experiment.options(Translation), Texts(plan.folders(root))
    source, reference = (texts.lines("test", column) for column in ("source", "target"))
    tags = texts.lines("test", "tags") if texts.has("test", "tags") else None
    derivations = {}
    systems = [system for system in translation.systems if system not in plan.other_texts]
    for system in systems:
        folder = plan.stages[translate_name(system, 0, limit)].folder(root)
        derivations[system] = [json.loads(line) for line in read_lines(folder / "segments.jsonl")]
    fit = [s for s, line in enumerate(source) if SHORTEST <= len(line.split()) <= LONGEST]
    compared = [system for system in systems if pair is None or system in pair]
    differs = {s: difference([derivations[system][s] for system in compared]) for s in fit}
    shown = []
    for s in choose(differs, spread, translation.counts.sentences):
        sentence: JsonObject = {"id": s + 1, "limit": None if limit == NO_LIMIT else limit, "differs": differs[s]}
        sentence |= {"source": source[s].split(), "reference": reference[s].split()}
        sentence |= {} if tags is None else {"tags": tags[s].split()}
        sentence["hypotheses"] = [{"system": system, **derivations[system][s]} for system in systems]
        shown.append(sentence)
    return shown


def difference(derivations: Sequence[Mapping[str, Json]]) -> str:
    """How the translations of a sentence differ: in order, words, both, only phrases, or not at all.

    >>> one, two = ({"segments": [{"source": [k, k + 1], "target": [w]} for k, w in row]} for row in (
    ...     [(0, "a"), (1, "b")], [(1, "b"), (0, "a")]))
    >>> difference([one, two]), difference([one, one])
    ('order', '')
    """
    orders, words, phrases = set(), set(), set()
    for derivation in derivations:
        segments = derivation["segments"]
        phrases.add(tuple(tuple(segment["source"]) for segment in segments))
        orders.add(tuple(i for segment in segments for i in range(*segment["source"])))
        words.add(tuple(sorted(word for segment in segments for word in segment["target"])))
    kinds = [name for name, values in (("order", orders), ("words", words)) if len(values) > 1]
    return " and ".join(kinds) or ("phrases" if len(phrases) > 1 else "")


def choose(differs: Mapping[int, str], spread: Sequence[float], n: int) -> list[int]:
    """Choose n sentences, from each kind of difference in turn, those with the largest score difference first.

    If nothing differs, as with a single system, the first sentences are chosen.

    >>> choose({0: "words", 1: "words", 2: "order", 3: ""}, [9.0, 8.0, 1.0, 0.0], 2)
    [0, 2]
    """
    if not any(differs.values()):
        return list(differs)[:n]
    rows: dict[str, list[int]] = {}
    for s in sorted(differs, key=lambda s: (-spread[s], s)):
        if differs[s]:
            rows.setdefault(differs[s], []).append(s)
    turns = itertools.chain.from_iterable(itertools.zip_longest(*rows.values()))
    return [s for s in turns if s is not None][:n]
