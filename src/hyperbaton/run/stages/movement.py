"""The size of the corpus and its movements: distances of phrases and words, orientations, jumps by tag."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from hyperbaton.align import visit_order
from hyperbaton.base.arrays import Array
from hyperbaton.base.counted import counted
from hyperbaton.base.forms import JsonObject
from hyperbaton.corpus import Bitext, Links, Tags, Text
from hyperbaton.phrases import Extraction, Samples, extract, orientation_set
from hyperbaton.run.cost import Rate
from hyperbaton.run.plan import Plan
from hyperbaton.run.stage import SPLITS, Work, read_json
from hyperbaton.run.texts import Texts

SETS = ("three", "five", "msd", "hier-mslr")
FARTHEST_JUMP = 5  # XI11's jumps
N_TAGS = 12


AFTER = ("align",)
RATES = {"": Rate(0.2, 0.03, 55, 2)}


def plan(plan: Plan) -> None:
    options = {"splits": list(SPLITS), "max_length": plan.experiment.options(Extraction).max_length}
    plan.add("movement", "movement", options, plan.text(*SPLITS, links=True))


def run(work: Work) -> None:
    texts = Texts(work.inputs)
    bitexts = {split: texts.bitext(split) for split in work.options["splits"]}
    corpus = {split: _sizes(bitext) for split, bitext in bitexts.items()}
    train = bitexts["train"]
    samples = extract(train, work.options["max_length"], threads=work.threads)
    tags = Tags.read(texts.path("train", "tags"), train.source) if texts.has("train", "tags") else None
    movement: JsonObject = {
        "distances": _histogram(samples.distance_before),
        "orientations": {name: _classes(samples, name) for name in SETS},
    }
    movement |= count_jumps(train.source, train.need_links(), tags, threads=work.threads)
    work.write_json("movement.json", {"corpus": corpus, "movement": movement})


def figures(plan: Plan, root: Path) -> JsonObject:
    return dict(read_json(plan.stages["movement"].folder(root) / "movement.json"))


def finding(results: JsonObject) -> str:
    distances = {int(d): n for d, n in results["movement"]["distances"].items()}
    total = max(sum(distances.values()), 1)
    moved = sum(n for d, n in distances.items() if d)
    far = sum(n for d, n in distances.items() if abs(d) >= 5)
    pairs = results["corpus"]["train"]["pairs"]
    return (
        f"In {counted(pairs, 'sentence pair')} {100 * moved / total:.0f}% of the phrase pairs move, "
        f"{100 * far / total:.0f}% of all by five words or more."
    )


def count_jumps(source: Text, links: Links, tags: Tags | None, *, threads: int | None = None) -> JsonObject:
    """Distances between source words that links visit consecutively, also by the tag of the word reached."""
    jumps = visit_order(links, threads=threads).jumps(source.lengths)
    inner = jumps.next < source.lengths[jumps.sentence]
    counts: JsonObject = {"word_distortions": _histogram((jumps.next - jumps.current - 1)[inner])}
    if tags is not None:
        where = source.offsets[jumps.sentence[inner]] + jumps.next[inner]
        counts["jumps_by_tag"] = _by_tag(tags, where, jumps.next[inner] - jumps.current[inner])
    return counts


def _sizes(bitext: Bitext) -> JsonObject:
    links, source, target = bitext.need_links(), bitext.source, bitext.target
    sentence = np.repeat(np.arange(len(bitext)), np.diff(links.offsets))
    linked = [
        len(np.unique(side.offsets[sentence] + links.points[:, column])) for column, side in enumerate((source, target))
    ]
    return {
        "pairs": len(bitext),
        "source_tokens": source.n_tokens,
        "target_tokens": target.n_tokens,
        "source_types": len(np.unique(source.tokens)),
        "target_types": len(np.unique(target.tokens)),
        "links": len(links.points),
        "unaligned_source": source.n_tokens - linked[0],
        "unaligned_target": target.n_tokens - linked[1],
        "mean_source_length": source.n_tokens / max(len(bitext), 1),
        "mean_target_length": target.n_tokens / max(len(bitext), 1),
    }


def _histogram(values: Array) -> dict[str, int]:
    """Counts of all values, so that a picture and a table have the same total."""
    distinct, counts = np.unique(values, return_counts=True)
    return {str(value): n for value, n in zip(distinct.tolist(), counts.tolist(), strict=True)}


def _classes(samples: Samples, name: str) -> dict[str, int]:
    classes = orientation_set(name)
    counts = np.bincount(classes.classify(samples), minlength=len(classes))
    return {label: int(n) for label, n in zip(classes.names, counts, strict=True)}


def _by_tag(tags: Tags, where: npt.NDArray[np.int64], jump: npt.NDArray[np.int64]) -> dict[str, dict[str, int]]:
    """Jumps (1 is to the next word) by the tag of the word reached, for the most frequent tags: XI11 Fig. 1 and 2."""
    labels = tags.labels[where].astype(np.int64)
    clipped = np.clip(jump, -FARTHEST_JUMP, FARTHEST_JUMP)
    common = np.argsort(-np.bincount(labels, minlength=len(tags.vocabulary)), kind="stable")[:N_TAGS]
    by_tag = {}
    for label in common.tolist():
        here = clipped[labels == label]
        if len(here):
            by_tag[tags.vocabulary.word(label)] = _histogram(here)
    return by_tag
