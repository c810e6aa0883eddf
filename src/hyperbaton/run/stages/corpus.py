"""The text of an experiment: files of the three splits, tokenized, cleaned and truncated; or generated text.

Writes train.source, train.target and the available annotations (train.links, train.tags, train.trees), likewise for dev
and test, and `cleaning.json`, which lists what was dropped from each.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from hyperbaton.base.errors import InputError
from hyperbaton.base.forms import JsonObject
from hyperbaton.base.options import from_mapping, to_mapping
from hyperbaton.corpus import Bitext, Links, Tags, Text, Trees
from hyperbaton.corpus.clean import NOT_EMPTY, Cleaning, clean
from hyperbaton.corpus.files import read_lines, read_sentences, write_pieces
from hyperbaton.corpus.placeholders import Protecting, generalize
from hyperbaton.corpus.processing import SIDES, TextProcessing, TextSide
from hyperbaton.corpus.raw import RawLines, tag, tokenize
from hyperbaton.corpus.taggers import TAGGERS
from hyperbaton.corpus.tokenizers import make_tokenizer
from hyperbaton.data import generate
from hyperbaton.run.corpus import Corpus, RawTextOptions
from hyperbaton.run.cost import Rate
from hyperbaton.run.plan import Plan
from hyperbaton.run.stage import CORPUS, SPLITS, File, Inputs, Work, read_json

TABLES, ALWAYS = {"corpus": Corpus, "text": RawTextOptions}, True
RATES = {"": Rate(0.2, 0.02, 60, 1), "generate": Rate(0.3, 0.35, 60, 1)}


def plan(plan: Plan) -> None:
    """Plan a stage for each split, so that a change of the development text retrains nothing; generated text is one
    stage."""
    corpus, text = plan.experiment.options(Corpus), plan.experiment.options(RawTextOptions).processing
    plan.size = corpus.size()
    options = corpus.processing()
    if corpus.generating is not None:
        generated = plan.add("corpus", "corpus", options | {"seed": plan.experiment.seed}, {}, "generate")
        plan.provided |= {f"{CORPUS}{split}": generated for split in SPLITS}
        return
    for split in SPLITS:
        of_split = options | {"splits": {split: to_mapping(corpus.limits[split])}}
        inputs: Inputs = {f"{split}.{column}": File(path) for column, path in corpus.files[split].items()}
        if text is not None and text.changes_words:
            of_split["text"] = text.as_json()
            if split != "train" and text.changes_case:
                inputs["casing"] = plan.provided[f"{CORPUS}train"]  # casing is learned from the training text
        name = f"{CORPUS}{split}"
        plan.provided[name] = plan.add(name, "corpus", of_split, inputs)


def run(work: Work) -> None:
    if "generate" in work.options:
        _generate(work, dict(work.options["generate"]))
        return
    report = {}
    for split, limits in work.options["splits"].items():
        columns = {name.partition(".")[2]: path for name, path in work.inputs.items() if name.startswith(f"{split}.")}
        texts = {side: _tokens(work, split, side, columns) for side in SIDES}
        if "tag" in work.options:
            columns["tags"] = _tags(work, split, texts["source"])
        if "text" in work.options:
            text = TextProcessing.restore(work.options["text"], {})
            if text.changes_case:
                texts = _cased(work, split, texts)
            if text.placeholders:
                texts = _generalized(work, split, texts)
        report[split] = _select(work, split, columns, texts, limits)
    work.write_json("cleaning.json", report)


def commands(plan: Plan, root: Path) -> dict[str, list[str]]:
    return {"corpus": [plan.command(root)]}


def warnings(plan: Plan, root: Path) -> Iterator[str]:
    """What cleaning warns of, if it drops much."""
    for stage in plan.of_kind("corpus"):
        for split, report in read_json(stage.folder(root) / "cleaning.json").items():
            yield from (f"cleaning {split}: {warning}" for warning in report.get("warnings", []))


def _generate(work: Work, options: JsonObject) -> None:
    sentences, n_dev, n_test = (options.pop(name) for name in ("sentences", "dev", "test"))
    parts = generate(sentences, seed=work.options["seed"], **options).split(n_dev, n_test)
    report = {}
    for split, part in parts.items():
        kept, summary = clean(part.bitext, _cleaning(work, split))
        report[split] = summary.to_json()
        part = part.select(kept)
        write_pieces(work.out / f"{split}.source", part.bitext.source.pieces())
        write_pieces(work.out / f"{split}.target", part.bitext.target.pieces())
        write_pieces(work.out / f"{split}.links", part.bitext.need_links().pieces())
        write_pieces(work.out / f"{split}.tags", part.source_tags.pieces())
        write_pieces(work.out / f"{split}.trees", part.source_trees.pieces())
    work.write_json("cleaning.json", report)


def _cleaning(work: Work, split: str) -> Cleaning:
    """The training text is cleaned; of others, only empty sentences are dropped."""
    return from_mapping(Cleaning, work.options["clean"]) if split == "train" else NOT_EMPTY


def _tokens(work: Work, split: str, side: str, columns: dict[str, Path]) -> Path:
    """The file of tokens of one side; a tokenizer with tags provides those of the source if there is no file of tags."""
    name, language = work.options["tokenize"].get(side, "none"), work.options["tokenize"].get(f"{side}-language")
    if name == "none":
        return columns[side]
    how = TextProcessing.restore(work.options["text"], {}).sides[side] if "text" in work.options else TextSide()
    tokenizer = make_tokenizer(name, language, escapes=how.escapes)
    if how.placeholders:
        tokenizer = Protecting(tokenizer)
    raw, tokens, tags = columns[side], work.scratch / f"{split}.{side}", work.scratch / f"{split}.{side}.tags"
    with tokens.open("wb") as token_file, tags.open("wb") as tag_file:
        for token_lines, tag_lines in tokenize(RawLines(raw), tokenizer, work.threads):
            token_file.write(token_lines)
            tag_file.write(tag_lines)
    if side == "source" and tokenizer.has_tags:
        columns.setdefault("tags", tags)
    return tokens


def _tags(work: Work, split: str, tokens: Path) -> Path:
    tags = work.scratch / f"{split}.tags"
    write_pieces(tags, tag(read_sentences(tokens), TAGGERS.make(work.options["tag"]["source"]), work.threads))
    return tags


def _cased(work: Work, split: str, texts: dict[str, Path]) -> dict[str, Path]:
    """Texts in the systems' casing, as learned from the training text."""
    if split == "train":
        plain = TextProcessing.restore(work.options["text"], {})
        learned = TextProcessing(*(plain.sides[side].learn(Text.read(texts[side])) for side in SIDES))
        learned.save(work.out / "casing")
    else:
        learned = TextProcessing.load(work.inputs["casing"] / "casing")
    for side in SIDES:
        cased = work.scratch / f"{split}.{side}.cased"
        as_trained = learned.sides[side].as_trained
        write_pieces(cased, (" ".join([*as_trained(line.split())]).encode() + b"\n" for line in read_lines(texts[side])))
        texts[side] = cased
    return texts


def _generalized(work: Work, split: str, texts: dict[str, Path]) -> dict[str, Path]:
    """Texts with placeholders for the numbers and addresses that occur on both sides of a pair."""
    bitext = Bitext.read(texts["source"], texts["target"], empty=True)
    for side, text in zip(SIDES, generalize(bitext.source, bitext.target), strict=True):
        texts[side] = work.scratch / f"{split}.{side}.generalized"
        write_pieces(texts[side], text.pieces())
    return texts


def _select(work: Work, split: str, columns: dict[str, Path], texts: dict[str, Path], limits: JsonObject) -> JsonObject:
    """Write the selected lines of every column."""
    bitext = Bitext.read(texts["source"], texts["target"], empty=True)
    source, target = bitext.source, bitext.target
    end = limits["skip"] + limits["lines"] if limits["lines"] else len(bitext)
    taken = np.arange(limits["skip"], min(end, len(bitext)))
    if len(taken) == 0:
        raise InputError(f"no line is left after the first {limits['skip']}", texts["source"])
    part = bitext.select(taken)
    cleaning = _cleaning(work, split)
    if limits["max-length"]:
        cleaning = replace(cleaning, max_length=min(cleaning.max_length, limits["max-length"]))
    kept, report = clean(part, cleaning)
    if len(kept) == 0:
        dropped = ", ".join(report.dropped)
        raise InputError(f"no sentence pair of {split} is left after cleaning: {dropped}", texts["source"])
    lines = taken[kept]
    pieces = {"source": source.pieces(lines), "target": target.pieces(lines)}
    if "links" in columns:
        pieces["links"] = Links.read(columns["links"], source, target).pieces(lines)
    if "tags" in columns:
        pieces["tags"] = Tags.read(columns["tags"], source).pieces(lines)
    if "trees" in columns:
        pieces["trees"] = Trees.read(columns["trees"], source).pieces(source, lines)
    for column, part_pieces in pieces.items():
        write_pieces(work.out / f"{split}.{column}", part_pieces)
    return report.to_json()
