"""Xiang, Ge and Ittycheriah 2011: smoothed priors of jumps and features of the source parse in a joint model of blocks.

The text consists of sentences with trees and others without. There is one cell for each test text (`laws`, `news`) and
each variant of tuning and use: `laws-five` tunes five times, in `laws-shared` all rows have the weights tuned for ME, in
`laws-alone` the model is the only translation model, and so on. `features` has the model's own features and counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hyperbaton.base.forms import JsonObject
from hyperbaton.corpus import Annotations, Bitext, Tags, Text, Trees
from hyperbaton.corpus.files import write_pieces
from hyperbaton.data import generate
from hyperbaton.evaluate.explain_blocks import BlockFeature, TagAnswer, explain_blocks, explain_tag
from hyperbaton.models.block_me import BlockMe
from hyperbaton.report.block_jumps import draw_tag_jumps
from hyperbaton.report.elements import CaptionedFigure, Element, Number
from hyperbaton.report.elements import Cell as TableCell
from hyperbaton.reproduce._corpora import TWLAW, made_once
from hyperbaton.reproduce._experiments import (
    experiment_result,
    run_experiment,
    search,
    search_options,
    translation_table,
    tuned_weights,
)
from hyperbaton.reproduce._page import PAPER, paper_table, table
from hyperbaton.reproduce._paper import Cell, Paper, PaperItem, Result, Results

_BASE = "lexical,context,tags,coverage"
_COVERAGE, _SIBLINGS = "parse-coverage", "sibling-word,sibling-tag"
ROWS: dict[str, tuple[str, str]] = {
    "ME": ("flat", _BASE),
    "prior": ("smoothed", _BASE),
    "cov": ("flat", f"{_BASE},{_COVERAGE}"),
    "sib": ("flat", f"{_BASE},{_SIBLINGS}"),
    "cov-sib": ("flat", f"{_BASE},{_COVERAGE},{_SIBLINGS}"),
    "all": ("smoothed", f"{_BASE},{_COVERAGE},{_SIBLINGS}"),
    "cov-ancestors": ("flat", f"{_BASE},{_COVERAGE},ancestor-coverage"),
    "all-ancestors": ("smoothed", f"{_BASE},{_COVERAGE},{_SIBLINGS},ancestor-coverage"),
}
OWN = ("ME", "prior", "cov", "sib", "cov-sib", "all")  # rows of the paper
TITLES = {
    "PBT": "PBT",
    "ME": "ME",
    "prior": "+ prior",
    "cov": "+ parse coverage",
    "sib": "+ siblings",
    "cov-sib": "+ both",
    "all": "+ prior and both",
    "cov-ancestors": "+ parse coverage of all ancestors",
    "all-ancestors": "+ prior and both, all ancestors",
}
# PDscore on Test-278 and Test-52; BLEU and TER on newswire, then weblog.
TABLE_2 = {
    "ME": (44.58, 48.96),
    "prior": (45.12, 49.22),
    "cov": (45.00, 49.03),
    "sib": (45.43, 49.20),
    "cov-sib": (46.16, 49.45),
    "all": (47.68, 51.04),
}
TABLE_3 = {
    "PBT": (29.71, 59.40),
    "ME": (32.12, 56.78),
    "prior": (32.46, 56.41),
    "cov": (32.48, 56.50),
    "sib": (32.73, 56.26),
    "cov-sib": (32.94, 55.97),
    "all": (33.15, 55.62),
}
TABLE_4 = {
    "PBT": (20.07, 62.90),
    "ME": (22.42, 60.36),
    "prior": (22.70, 60.11),
    "cov": (22.69, 60.14),
    "sib": (22.91, 59.92),
    "cov-sib": (23.04, 59.78),
    "all": (23.25, 59.56),
}
TEXTS = {"laws": "laws of Taiwan", "news": "news, hand-made links"}
TREES = 6_761  # number of training sentences with trees


@dataclass(frozen=True)
class CellVariant:
    """How the rows of a cell are tuned and tested; its name is that of the cell, after the text's."""

    title: str = ""
    rows: tuple[str, ...] = OWN
    texts: tuple[str, ...] = tuple(TEXTS)
    runs: int = 3
    train: int = 20_000
    alone: bool = False  # the only translation model
    shared: bool = False  # all rows use the tuned weights of ME


VARIANTS = {
    "": CellVariant(),
    "five": CellVariant("five tuning runs", ("ME", "all"), runs=5),
    "shared": CellVariant("all rows with ME's weights", shared=True),
    "ancestors": CellVariant(
        "coverage of all ancestors", ("ME", "cov", "cov-ancestors", "all", "all-ancestors"), ("laws",)
    ),
    "alone": CellVariant("the only translation model", texts=("laws",), alone=True),
    "trees": CellVariant("only sentences with trees", train=TREES),
}
QUICK = ("", "alone", "shared")
DE = ("的", "之")  # laws use the second; the one with more features is shown
UNKNOWN_TAG = "n"  # for words without a known tag: mostly nouns
COLUMNS = ("source", "target", "links", "tags", "trees")


class Xi11(Paper):
    """Smoothed priors and syntactic features in maximum entropy models of blocks (Xiang et al. 2011)."""

    title = "Xiang, Ge and Ittycheriah 2011: improving reordering with smoothed priors and syntactic features"
    items = (
        PaperItem("Table 1", "parse sibling features of “de”"),
        PaperItem("Table 2", "PDscore"),
        PaperItem("Table 3", "translation, first text"),
        PaperItem("Table 4", "translation, second text"),
        PaperItem("Table 5", "parse sibling features of verbs after prepositional phrases"),
        PaperItem("Figure 1", "jumps of nouns"),
        PaperItem("Figure 2", "jumps of nouns of time"),
    )
    differences = (
        "The text is 20,000 sentence pairs of laws, 6,761 of them with trees; the paper has a million with trees. α is "
        "chosen on held-out sentences, and a step's own jump is left out of its prior.",
        "The two test texts are laws (PDscore by automatic links) and 450 sentences of news with hand-made links.",
        "The model is added to the phrase table's scores; as the only translation model, a little of p(t | s) chooses "
        "the options of a phrase.",
        "Weights are tuned for each row, three times; scores are means. Groups of the tables say where it is otherwise.",
    )

    def cells(self) -> Sequence[Cell]:
        quick = self.setting.quick
        texts = ("laws",) if self.setting.data is None else tuple(TEXTS)
        cells = [Cell("features", {"train": self._size(VARIANTS[""])})]
        for name, variant in VARIANTS.items():
            if quick and name not in QUICK:
                continue
            for text in (text for text in texts if text in variant.texts):
                options = {
                    "text": text,
                    "variant": name,
                    "train": self._size(variant),
                    "runs": 1 if quick else variant.runs,
                    "rows": ["ME", "all"] if quick else list(variant.rows),
                    **search_options(self.setting),
                }
                cells.append(Cell("-".join(filter(None, (text, name))), options, experiment=not variant.shared))
        return cells

    def _size(self, variant: CellVariant) -> int:
        return 600 if self.setting.quick else variant.train

    def work(self, cell: Cell) -> Result:
        if cell.name == "features":
            return self._features(self._text(cell.options["train"]))
        return self._shared(cell)

    def _shared(self, cell: Cell) -> Result:
        """Tune ME, then test all rows with its weights, from its best run on the development text."""
        setting, rows = self.setting, cell.options["rows"]
        root = setting.output / f"runs-{cell.name}"
        values = self.experiment(cell)
        tuning = {**values["translation"], "systems": {"ME": ["ME"]}, "baselines": ["ME"]}
        first = values | {"models": {"ME": values["models"]["ME"]}, "translation": tuning}
        weights = tuned_weights(run_experiment(setting, cell.name, first, root), root, "ME")
        # The remaining free weights change no translation.
        fixed = {name: value for name, value in weights.items() if name not in ("ME", "UnknownWordPenalty0")}
        fix = {"PBT": fixed, **{row: fixed | {row: weights["ME"]} for row in rows}}
        tuning = {**values["translation"], "fix": fix, "tuning-runs": 1, "tuning": {"iterations": 1}}
        second = values | {"translation": tuning}
        return experiment_result(run_experiment(setting, cell.name, second, root), root)

    def experiment(self, cell: Cell) -> JsonObject:
        folder, quick = self._text(cell.options["train"]), self.setting.quick
        variant, rows = VARIANTS[cell.options["variant"]], cell.options["rows"]
        splits = {"train": "train", "dev": "dev", "test": "news" if cell.options["text"] == "news" else "test"}
        learner = f"lbfgs:max-passes={5 if quick else 40}"
        models = {
            name: {"model": "block_me", "prior": ROWS[name][0], "families": ROWS[name][1], "learner": learner}
            for name in rows
        }
        translation: JsonObject = {
            "systems": {"PBT": [], **{name: [name] for name in rows}},
            "limits": [6],
            "tuning-runs": cell.options["runs"],
            "baselines": ["PBT", "ME"],
            "metrics": ["bleu", "ter", "pdscore"],
            **search(self.setting, pop_limit=300, stack=100),
        }
        if variant.alone:
            # The table's own scores only choose the options of each phrase.
            translation["fix"] = {name: {"TranslationModel0": [0, 0, 0.02, 0]} for name in rows}
            translation["decoding"]["table-limit"] = 50
        corpus: dict[str, JsonObject] = {
            split: {c: str((folder / f"{part}.{c}").resolve()) for c in COLUMNS} for split, part in splits.items()
        }
        if self.setting.tuning_lines:
            corpus["dev"]["lines"] = self.setting.tuning_lines
        return {"corpus": corpus, "lm": {"order": 3 if quick else 4}, "models": models, "translation": translation}

    def _text(self, n_train: int) -> Path:
        """The files of the text, made once."""
        data, seed = self.setting.data, self.setting.seed

        def make(folder: Path) -> None:
            if data is None:
                _write_generated(folder, n_train, seed)
            else:
                _write_corpora(data, folder, n_train, seed)

        return made_once(self.setting.output / "texts" / str(n_train), make)

    def _features(self, folder: Path) -> Result:
        bitext = Bitext.read(folder / "train.source", folder / "train.target", folder / "train.links", empty=True)
        files = {"source_tags": folder / "train.tags", "source_trees": folder / "train.trees"}
        model = BlockMe(learner=f"lbfgs:max-passes={5 if self.setting.quick else 40}", threads=self.setting.threads)
        model.fit(bitext, Annotations.read(files, bitext.source))
        tags = model.tag_vocabulary_.words() if model.tag_vocabulary_ is not None else []
        known = [word for word in DE if model.source_vocabulary_.number(word) >= 0]
        words: list[str | None] = [*known] or [None]
        found = [explain_blocks(model, family="sibling-word", source=word, top=12, sort="count") for word in words]
        de = max(found, key=lambda features: sum(feature.count for feature in features))
        verbs = next((tag for tag in ("v", "VV", "V") if tag in tags), None)
        siblings = explain_blocks(model, family="sibling-tag", source=verbs, top=4000, sort="count")
        prepositional = [f for f in siblings if f.node == "PP"] or siblings
        nouns = {"Figure 1": ("n", "NN", "N"), "Figure 2": ("t", "NT", "T")}
        jumps: JsonObject = {}
        for item, names in nouns.items():
            tag = next((name for name in names if name in tags), tags[0] if tags else None)
            if tag is not None:
                jumps[item] = {"tag": tag, "counts": {str(j): n for j, n in explain_tag(model, tag).counts.items()}}
        return {
            "Table 1": [_row(f) for f in de],
            "Table 5": [_row(f) for f in prepositional[:12]],
            "jumps": jumps,
            "alpha": model.alpha_,
            "n_features": model.n_features,
        }

    def elements(self, item: PaperItem, results: Results) -> list[Element]:
        if item.name in ("Table 1", "Table 5"):
            return self._feature_table(item, results)
        if item.name in ("Figure 1", "Figure 2"):
            return self._jump_picture(item, results)
        return self._translation_tables(item, results)

    def _feature_table(self, item: PaperItem, results: Results) -> list[Element]:
        found = results.get("features")
        if not found or not found[item.name]:
            return []
        columns = list(found[item.name][0])
        rows: list[list[TableCell]] = [
            [Number(row[c], 2 if c == "exp λ" else 0) if isinstance(row[c], int | float) else row[c] for c in columns]
            for row in found[item.name]
        ]
        note = {
            "Table 1": "In the paper the empty target of “de” is favoured (2.0 to 3.4) by a covered QP or NP on its right "
            "and by an open CP on its left.",
            "Table 5": "In the paper features of an open PP on the left have exp λ above 1, those of a covered one below.",
        }[item.name]
        return [table(item.key, "The most frequent features.", columns, [("", rows)], note)]

    def _jump_picture(self, item: PaperItem, results: Results) -> list[Element]:
        found = results.get("features", {}).get("jumps", {}).get(item.name)
        if not found:
            return []
        answer = TagAnswer(found["tag"], {int(j): int(n) for j, n in found["counts"].items()})
        return [CaptionedFigure(item.key, f"Jumps of one-word blocks with the tag {found['tag']}.", draw_tag_jumps(answer))]

    def _translation_tables(self, item: PaperItem, results: Results) -> list[Element]:
        metrics = ("PDscore",) if item.name == "Table 2" else ("BLEU", "TER")
        texts = {"Table 2": tuple(TEXTS), "Table 3": ("laws",), "Table 4": ("news",)}[item.name]
        shown = {
            ", ".join(filter(None, (TEXTS[text], variant.title))): results[cell]
            for text in texts
            for name, variant in VARIANTS.items()
            if (cell := "-".join(filter(None, (text, name)))) in results
        }
        if not shown:
            return []
        ours = translation_table(item.key, "Ours.", shown, TITLES, "ME", metrics)
        numbers: dict[str, tuple[float, float]] = {"Table 2": TABLE_2, "Table 3": TABLE_3, "Table 4": TABLE_4}[item.name]
        columns = ("Test-278", "Test-52") if item.name == "Table 2" else metrics
        return [ours, paper_table(item.key, columns, TITLES, numbers, PAPER)]


def _row(feature: BlockFeature) -> JsonObject:
    return {
        "count": feature.count,
        "exp λ": round(feature.alpha, 3),
        "jump": feature.jump,
        "target": feature.target or "∅",
        "source": feature.source,
        "node": feature.node or "",
        "coverage": feature.coverage,
        "orientation": feature.orientation,
    }


def _write_generated(folder: Path, n_train: int, seed: int) -> None:
    made = generate(n_train + 60, style="chinese", seed=seed).split(30, 30)
    for name, part in made.items():
        text = part.bitext.source
        tags = Tags.of([" ".join(line) for line in part.source_tags], text)
        trees = Trees.of([" ".join(line) for line in part.source_trees], text)
        _write(folder / name, part.bitext, tags, trees)


def _write_corpora(data: Path, folder: Path, n_train: int, seed: int) -> None:
    """Sentence pairs with trees, filled up with others without, and news with hand-made links."""
    tag_of: dict[str, str] = {}
    for split, name in (("train", "train"), ("dev", "dev"), ("test", "devtest")):
        files = TWLAW.columns(data, name)
        bitext = Bitext.read(files["source"], files["target"], files["links"])
        tags = Tags.read(files["tags"], bitext.source)
        trees = Trees.read(data / "trees" / f"{TWLAW.folder}.{name}.trees.xz", bitext.source)
        chosen = np.flatnonzero(np.diff(trees.offsets))
        if split == "train":
            tag_of = _most_frequent_tags(bitext.source, tags)
            lengths = bitext.source.lengths
            others = np.setdiff1d(np.flatnonzero((lengths >= 5) & (lengths <= 40)), chosen)
            more = np.random.default_rng(seed).permutation(others)[: max(n_train - len(chosen), 0)]
            chosen = np.sort(np.concatenate([chosen[:n_train], more]))
        _write(folder / split, bitext.select(chosen), tags.select(chosen), trees.select(chosen))
    gold = data / "gold-links" / "zh-en-tsinghua"
    if gold.is_dir():
        bitext = Bitext.read(gold / "gold.zh", gold / "gold.en", gold / "gold.sure.links", empty=True)
        lines = [" ".join(tag_of.get(word, UNKNOWN_TAG) for word in sentence) for sentence in bitext.source]
        trees = Trees.read(gold / "gold.zh.tree", bitext.source)
        _write(folder / "news", bitext, Tags.of(lines, bitext.source), trees)


def _most_frequent_tags(text: Text, tags: Tags) -> dict[str, str]:
    """The most frequent tag of each word."""
    n = len(tags.vocabulary)
    both, counts = np.unique(text.tokens.astype(np.int64) * n + tags.labels, return_counts=True)
    order = np.argsort(counts, kind="stable")  # the most frequent one is written last
    return {text.vocabulary.word(pair // n): tags.vocabulary.word(pair % n) for pair in both[order].tolist()}


def _write(prefix: Path, bitext: Bitext, tags: Tags, trees: Trees) -> None:
    columns = {
        "source": bitext.source.pieces(),
        "target": bitext.target.pieces(),
        "links": bitext.need_links().pieces(),
        "tags": tags.pieces(),
        "trees": trees.pieces(bitext.source),
    }
    for name, pieces in columns.items():
        write_pieces(prefix.with_name(f"{prefix.name}.{name}"), pieces)
