"""Translations of the test split: the text, its links to the source, and the derivations."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import replace

from hyperbaton.base.forms import JsonObject
from hyperbaton.corpus import Links
from hyperbaton.corpus.files import write_pieces
from hyperbaton.decode import System, TokenTranslator
from hyperbaton.decode.result import Translations
from hyperbaton.run.cost import Rate
from hyperbaton.run.plan import Plan
from hyperbaton.run.stage import Work, read_json
from hyperbaton.run.texts import Texts
from hyperbaton.run.translation import Translation, translate_name, tune_name

# Sentences translated in pieces have no complete derivation: use the longest that the decoder accepts.
MAX_WORDS = 2000

AFTER = ("tune",)
RATES = {
    "": Rate(0.4, 5, 70, 8, "test"),
    "block_me": Rate(0.4, 6, 70, 10, "test"),
    "rules": Rate(0.4, 20, 100, 18, "test"),
}


def plan(plan: Plan) -> None:
    """Plan the translation of the test text by every system, with the weights of each run, at every limit."""
    translation = plan.experiment.options(Translation)
    for system in translation.systems:
        text, assembled = plan.text_of(system, "test"), plan.stages[f"system.{system}"]
        slowest = translation.slowest(system, RATES, plan.size)
        for run, limit in translation.outputs:
            inputs = text | {"system": assembled, "weights": plan.stages[tune_name(system, run)]}
            options = {"limit": plan.limit_of(system, limit), "columns": translation.columns(system)}
            plan.add(translate_name(system, run, limit), "translate", options, inputs, slowest)


def run(work: Work) -> None:
    texts = Texts(work.inputs)
    system = System.load(work.inputs["system"] / "system")
    if "weights" in work.inputs:
        system = system.with_weights(read_json(work.inputs["weights"] / "weights.json")["weights"])
    decoding = replace(system.limited(work.options["limit"]), max_words=MAX_WORDS)
    translator = TokenTranslator(system, decoding, threads=work.threads)
    source = texts.lines("test", "source")
    started = time.perf_counter()
    batches = list(translator.batches(source, annotations=texts.for_decoder("test", work.options["columns"])))
    seconds = time.perf_counter() - started
    write_pieces(work.out / "hypotheses", ("".join(f"{line}\n" for line in part.lines()).encode() for part in batches))
    links = [part.links() for part in batches]
    if texts.has("test", "order"):  # reordered text: metrics need the original order
        links = [_in_old_order(links, texts.lines("test", "order"))]
    write_pieces(work.out / "links", (piece for part in links for piece in part.pieces()))
    with (work.out / "segments.jsonl").open("w", encoding="utf-8") as file:
        for part in batches:
            file.writelines(json.dumps(derivation, ensure_ascii=False) + "\n" for derivation in _derivations(part))
    n_words = sum(len(line.split()) for line in source)
    work.write_json("speed.json", {"seconds": seconds, "words": n_words, "threads": work.threads})


def _in_old_order(parts: list[Links], orders: list[str]) -> Links:
    """Map links of reordered sentences to the original order; `orders` are the old positions of words."""
    rows = []
    for line, order in zip((line for part in parts for line in part), orders, strict=True):
        old = [int(position) for position in order.split()]
        rows.append(sorted((old[i], j) for i, j in line))
    return Links.of(rows)


def _derivations(translations: Translations) -> Iterator[JsonObject]:
    """The segments of each best translation, in target order, with every feature's weighted score."""
    for first_piece in translations.pieces[:-1].tolist():
        path = next(iter(translations.paths(first_piece)), None)
        if path is None:
            yield {"total": None, "segments": []}
            continue
        segments, end = [], 0
        for step in translations.steps(path):
            segment = {"source": [step.begin, step.end], "target": step.target, "jump": step.begin - end}
            scores = {name: round(value, 4) for name, value in translations.weighted(step.features).items()}
            segments.append(segment | {"scores": scores})
            end = step.end
        yield {"total": round(float(translations.scores[path]), 4), "segments": segments}
