"""A folder with the files that pages rely on: texts, links, tags, trees, and the artefacts made from them."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from hyperbaton.corpus import Text
from hyperbaton.data import GeneratedText, generate
from tests.docs.shell import Shell

# One generated text stands for every language: what a page does with it does not depend on the words.
_SOURCES = ("zh", "ja", "de")
_ARTEFACTS = """
hyperbaton align train.zh train.en --save-model aligner --quiet > train.links
hyperbaton classes train.zh --classes 10 --quiet > zh.classes
hyperbaton classes train.en --classes 10 --quiet > en.classes
hyperbaton extract train.zh train.en train.links -o phrases --max-length 5 --moses model \
    --reordering hier-mslr-bidirectional-fe --quiet
hyperbaton lm train.en -o lm --order 3 --arpa lm.arpa.gz --quiet
hyperbaton train dpr train.zh train.en train.links -o dpr --max-length 4 --quiet
hyperbaton train sequence train.ja train.en train.links -o sequence --source-tags train.ja.pos \
    --learner lbfgs:max-passes=5 --quiet
hyperbaton system -o system --phrases phrases --lm lm --reordering LR=hier-mslr-bidirectional-fe --quiet
hyperbaton export moses system model --quiet
"""
_COPIES = {
    "train.zh.classes": "zh.classes",
    "train.ja.classes": "zh.classes",
    "ja.classes": "zh.classes",
    "train.en.classes": "en.classes",
    "clean.zh": "train.zh",
    "clean.en": "train.en",
    "aligned.grow-diag-final-and": "train.links",
    "source.txt": "train.de",
    "target.txt": "train.en",
    "letter.zh": "test.zh",
    "out.en": "test.en",
    "test2.en": "test.en",
    "test.hyp": "test.en",
    "baseline.en": "test.en",
    "out.links": "test.links",
}


def prepare(folder: Path, shell: Shell) -> None:
    """Fill an empty folder."""
    generated = generate(1500, seed=1, vocabulary=500, noise=0.0)
    short = [s for s, words in enumerate(generated.bitext.source) if len(words) <= 11]
    for name, part in generated.select(short).split(n_dev=6, n_test=12).items():
        _write(folder, name, part)
    shell.run(_ARTEFACTS, folder)
    for copy, file in _COPIES.items():
        shutil.copy(folder / file, folder / copy)
    for copy, file in (("raw", "train"), ("web", "train"), ("page", "test")):
        for language in (*_SOURCES, "en", "links"):
            shutil.copy(folder / f"{file}.{language}", folder / f"{copy}.{language}")
    (folder / "letter.ja").write_text("これは本です。\n彼は来た。\n", encoding="utf-8")
    (folder / "terms.tsv").write_text("本\tbook\n", encoding="utf-8")


def _write(folder: Path, name: str, part: GeneratedText) -> None:
    source, target = _few_words(part.bitext.source, part.source_tags), _few_words(part.bitext.target, part.target_tags)
    trees = [_with_leaves(" ".join(tree), line.split()) for tree, line in zip(part.source_trees, source, strict=True)]
    for language in _SOURCES:
        _write_lines(folder / f"{name}.{language}", source)
        _write_lines(folder / f"{name}.{language}.pos", map(" ".join, part.source_tags))
        _write_lines(folder / f"{name}.{language}.trees", trees)
    _write_lines(folder / f"{name}.en", target)
    (folder / f"{name}.links").write_bytes(b"".join(part.bitext.need_links().pieces()))
    _write_lines(folder / f"{name}.ja.conllu", _dependencies(source, part.source_tags))


def _few_words(text: Text, tags: Text) -> list[str]:
    """Lines with a few words of each tag, so that 5-grams of a small text repeat, as those of a large one do."""
    return [
        " ".join(
            word if len(tag) == 1 else f"{tag.lower()}{len(word) % 4}" for word, tag in zip(words, line_tags, strict=True)
        )
        for words, line_tags in zip(text, tags, strict=True)
    ]


def _with_leaves(tree: str, words: Sequence[str]) -> str:
    """A bracketed tree over other words."""
    leaves = iter(words)
    return re.sub(r"[^\s()]+(?=\))", lambda _: next(leaves), tree)


def _dependencies(lines: Iterable[str], tags: Text) -> Iterable[str]:
    """Every word depends on the next one."""
    for line, line_tags in zip(lines, tags, strict=True):
        words = line.split()
        for i, (word, tag) in enumerate(zip(words, line_tags, strict=True), start=1):
            is_last = i == len(words)
            head, relation = ("0", "root") if is_last else (str(i + 1), "dep")
            yield "\t".join([str(i), word, "_", tag, "_", "_", head, relation, "_", "_"])
        yield ""


def annotated_english(folder: Path) -> None:
    """Annotate a small English text that is translated into German, for the page of projection."""
    english, german = ["Anna", "sings", "at", "home"], ["zu", "Hause", "singt", "Anna"]
    tags = ["PROPN", "VERB", "ADP", "NOUN"]
    for name in ("train", "page"):
        (folder / f"{name}.de").write_text(" ".join(german) + "\n", encoding="utf-8")
        (folder / f"{name}.links").write_text("0-3 1-2 2-0 3-1\n", encoding="utf-8")
    (folder / "page.en").write_text("<b>Anna</b> sings <i>at home</i>\n", encoding="utf-8")
    _write_lines(folder / "train.en.conll", [*map("\t".join, zip(english, tags, strict=True)), ""])
    rows = (
        f"{i}\t{word}\t_\t{tag}\t{tag}\t_\t0\troot\t_\t_"
        for i, (word, tag) in enumerate(zip(english, tags, strict=True), 1)
    )
    _write_lines(folder / "train.en.conllu", [*rows, ""])
    span = {"tokens": english, "spans": [{"begin": 0, "end": 1, "label": "PER"}]}
    _write_lines(folder / "names.en.jsonl", [json.dumps(span)])
    _write_lines(folder / "raw.en", ["Anna sings at home."])
    _write_lines(folder / "raw.en.marked", ["<b>Anna</b> sings <i>at home</i>."])
    _write_lines(folder / "raw.de", ["Zu Hause singt Anna."])
    raw = {"text": "Anna sings at home.", "spans": [{"start": 0, "end": 4, "label": "PER"}]}
    _write_lines(folder / "raw.en.jsonl", [json.dumps(raw)])


def _write_lines(path: Path, lines: Iterable[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
