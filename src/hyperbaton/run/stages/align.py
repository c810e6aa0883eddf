"""Word links: train the aligner on all splits together, and link those that have no links yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from hyperbaton.align import ALIGNERS, WordAligner
from hyperbaton.base.forms import JsonObject
from hyperbaton.base.options import from_mapping, options_of, to_mapping
from hyperbaton.corpus import Bitext, Text
from hyperbaton.run.corpus import Corpus
from hyperbaton.run.cost import Rate
from hyperbaton.run.experiment import Experiment
from hyperbaton.run.keys import KeyTable
from hyperbaton.run.plan import Plan
from hyperbaton.run.stage import SPLITS, File, Work
from hyperbaton.run.texts import Texts


@dataclass(frozen=True)
class Options:
    """The aligner, with its options; None if the corpus has links."""

    aligner: WordAligner | None

    def resolved(self) -> JsonObject:
        """The options as plain values."""
        if self.aligner is None:
            return {}
        values = {"aligner": ALIGNERS.name_of(self.aligner)} | to_mapping(self.aligner)
        return {key: value for key, value in values.items() if value is not None}

    @classmethod
    def read(cls, table: KeyTable, experiment: Experiment) -> Self:
        """Read `[align]`."""
        name = table.choice("aligner", table.take("aligner", str, "hmm"), ALIGNERS.names())
        if any(opt.flag == "for" for opt in options_of(ALIGNERS[name])):
            table.rest.setdefault("for", "phrases")
        aligner = table.options(ALIGNERS[name], ["aligner"])
        return cls(None if experiment.options(Corpus).has("links") else aligner)


AFTER = ("corpus",)
TABLES, ALWAYS = {"align": Options}, True
RATES = {"": Rate(2, 6, 200, 20)}


def plan(plan: Plan) -> None:
    """Plan links, if the corpus has none."""
    how = plan.experiment.options(Options)
    if how.aligner is not None:
        options = {"aligner": how.resolved(), "splits": list(SPLITS)}
        files = {name: File(path) for name, path in how.aligner.files().items()}
        plan.provided["links"] = plan.add("align", "align", options, {**files, **plan.text(*SPLITS)})


def run(work: Work) -> None:
    texts, options = Texts(work.inputs), dict(work.options["aligner"])
    aligner = from_mapping(ALIGNERS[options.pop("aligner")], options)
    splits = list(work.options["splits"])
    source, target = (_joined([str(texts.path(split, side)) for split in splits]) for side in ("source", "target"))
    joined = Bitext(source, target)
    links = aligner.fit(joined, threads=work.threads).align(joined, threads=work.threads)
    start = 0
    for split in splits:
        end = start + len(Text.read(texts.path(split, "source")))
        if not texts.has(split, "links"):
            links.select(np.arange(start, end)).write(work.out / f"{split}.links")
        start = end


def _joined(paths: list[str]) -> Text:
    """Several files as one text."""
    parts: list[Text] = []
    for path in paths:
        parts.append(Text.read(path, parts[-1].vocabulary if parts else None))
    starts = np.cumsum([0, *(part.n_tokens for part in parts)])
    offsets = [part.offsets[1:] + start for part, start in zip(parts, starts[:-1], strict=True)]
    return Text(
        np.concatenate([part.tokens for part in parts]),
        np.concatenate([np.zeros(1, np.int64), *offsets]),
        parts[-1].vocabulary,
    )
