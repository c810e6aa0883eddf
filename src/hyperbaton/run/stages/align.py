"""Word links: train the aligner on all splits together, and link those that have no links yet."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Self

import numpy as np

from hyperbaton.align import ALIGNERS, WordAligner
from hyperbaton.base.arrays import offsets_of
from hyperbaton.base.forms import JsonObject
from hyperbaton.base.options import from_mapping, options_of, to_mapping
from hyperbaton.corpus import Bitext, Text
from hyperbaton.corpus.text import joined
from hyperbaton.run.corpus import Corpus
from hyperbaton.run.cost import Rate
from hyperbaton.run.experiment import Experiment, without_none
from hyperbaton.run.keys import KeyTable
from hyperbaton.run.plan import Plan
from hyperbaton.run.stage import SPLITS, File, Work
from hyperbaton.run.texts import Texts


@dataclass(frozen=True)
class Options:
    """The aligner, with its options; None if the corpus has links."""

    aligner: WordAligner | None

    def resolved(self) -> JsonObject:
        if self.aligner is None:
            return {}
        return without_none({"aligner": ALIGNERS.name_of(self.aligner)} | to_mapping(self.aligner))

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
RATES = {"": Rate(0.5, 0.3, 100, 10)}


def plan(plan: Plan) -> None:
    """Plan links, if the corpus has none."""
    aligning = plan.experiment.options(Options)
    if aligning.aligner is not None:
        options = {"aligner": aligning.resolved(), "splits": list(SPLITS)}
        files = {name: File(path) for name, path in aligning.aligner.files().items()}
        plan.provided["links"] = plan.add("align", "align", options, {**files, **plan.text(*SPLITS)})


def plugin(options: JsonObject) -> type:
    return ALIGNERS[options["aligner"]["aligner"]]


def run(work: Work) -> None:
    texts, options = Texts(work.inputs), dict(work.options["aligner"])
    aligner = from_mapping(ALIGNERS[options.pop("aligner")], options)
    aligner.checkpoint = work.scratch / "aligner.training"
    splits = list(work.options["splits"])
    sources, targets = ([Text.read(texts.path(split, side)) for split in splits] for side in ("source", "target"))
    bitext, ends = Bitext(joined(sources), joined(targets)), offsets_of([len(text) for text in sources])
    del sources, targets
    links = aligner.fit(bitext, threads=work.threads).align(bitext, threads=work.threads)
    for split, (begin, end) in zip(splits, pairwise(ends), strict=True):
        if not texts.has(split, "links"):
            links.select(np.arange(begin, end)).write(work.out / f"{split}.links")
