"""The work of XI11: the features of a block model, and systems with block models compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Self

import numpy as np

from hyperbaton.base.forms import JsonObject
from hyperbaton.corpus import Annotations, Bitext
from hyperbaton.corpus.classes import FIRST_CLASS, WordClasses, word_classes
from hyperbaton.evaluate.explain_blocks import BlockFeature, explain_blocks
from hyperbaton.models.block_me import BlockMe
from papers.experiments import Experiment, ExperimentResult, OtherWeights, run_experiment, search_options, tuned_weights
from papers.protocol import Computation, Result, Setting
from papers.xi11.texts import COLUMNS, TEXTS, TRAINING, Part, text_files, text_folder

N_WITH_TREES = 6_761  # training sentences with trees
ALPHA = 0.15  # of the smoothed prior: the value that the cell `features` finds best on held-out sentences
DE = ("的", "之")  # laws use the second; the one with more features is shown


@dataclass(frozen=True)
class BlockModel:
    """A row of the tables: a block model with a prior and families of features."""

    title: str
    prior: str = "flat"
    more_families: tuple[str, ...] = ()

    def options(self, setting: Setting) -> JsonObject:
        """The model in an experiment file."""
        families = ",".join(("lexical", "context", "tags", "coverage", *self.more_families))
        model: JsonObject = {"model": "block_me", "prior": self.prior, "families": families, "learner": learner(setting)}
        prior: JsonObject = {"alpha": ALPHA} if self.prior == "smoothed" else {}
        return model | prior | {"annotations": ["source_tags", "source_trees", "target_classes"]}


def learner(setting: Setting) -> str:
    """The learner of all block models."""
    return f"lbfgs:max-passes={5 if setting.quick else 40}"


_COVERAGE, _SIBLINGS, _ANCESTORS = ("parse-coverage",), ("sibling-word", "sibling-tag"), ("ancestor-coverage",)
MODELS = {
    "ME": BlockModel("ME"),
    "prior": BlockModel("+ prior", "smoothed"),
    "cov": BlockModel("+ parse coverage", "flat", _COVERAGE),
    "sib": BlockModel("+ siblings", "flat", _SIBLINGS),
    "cov-sib": BlockModel("+ both", "flat", _COVERAGE + _SIBLINGS),
    "all": BlockModel("+ prior and both", "smoothed", _COVERAGE + _SIBLINGS),
    "cov-ancestors": BlockModel("+ parse coverage of all ancestors", "flat", _COVERAGE + _ANCESTORS),
    "all-ancestors": BlockModel("+ prior and both, all ancestors", "smoothed", _COVERAGE + _SIBLINGS + _ANCESTORS),
}


@dataclass(frozen=True)
class Variant:
    """How the rows of a cell are tuned and tested; its name is that of the cell, after the text's."""

    title: str = ""
    rows: tuple[str, ...] = ("ME", "prior", "cov", "sib", "cov-sib", "all")  # the paper's
    texts: tuple[str, ...] = tuple(TEXTS)
    n_tuning_runs: int = 1
    n_train: int = 20_000
    alone: bool = False  # the only translation model
    shared: bool = False  # all rows use the tuned weights of ME


VARIANTS = {
    "": Variant(),
    "ends": Variant("only ME and all", ("ME", "all")),
    "five": Variant("five tuning runs", ("ME", "all"), n_tuning_runs=5),
    "shared": Variant("all rows with ME's weights", shared=True),
    "ancestors": Variant("coverage of all ancestors", ("ME", "cov", "cov-ancestors", "all", "all-ancestors"), ("laws",)),
    "alone": Variant("the only translation model", ("ME", "all"), alone=True),
    "trees": Variant("only sentences with trees", n_train=N_WITH_TREES),
}


@dataclass(frozen=True)
class FeatureTables(Result):
    """Features of “de” (Table 1), and of verbs with an open or a covered PP on the left (Table 5)."""

    de: list[BlockFeature]
    verbs: list[BlockFeature]
    alpha: float
    n_features: int

    @classmethod
    def from_json(cls, fields: JsonObject) -> Self:
        features = {key: [BlockFeature(**feature) for feature in fields[key]] for key in ("de", "verbs")}
        return cls(**{**fields, **features})


@dataclass(frozen=True)
class Features(Computation[FeatureTables]):
    """Tables 1 and 5."""

    n_train: int
    training: str = TRAINING

    result_type: ClassVar[type[Result]] = FeatureTables

    @property
    def name(self) -> str:
        return "features"

    def corpus_files(self, data: Path) -> list[Path]:
        return text_files(data)

    def work(self, setting: Setting) -> FeatureTables:
        folder = text_folder(setting, self.n_train)
        train = Part.read(folder / "train")
        classes = word_classes(train.bitext.target, seed=setting.seed, threads=setting.threads)
        model = BlockMe(learner=learner(setting), threads=setting.threads)
        model.fit(train.bitext, Annotations(train.tags, train.trees, target_classes=classes))
        words: list[str | None] = [word for word in DE if model.source_vocabulary_.number(word) >= 0]
        de = max(
            (explain_blocks(model, family="sibling-word", source=word, top=12, sort="count") for word in words or [None]),
            key=lambda features: sum(feature.count for feature in features),
        )
        siblings = explain_blocks(model, family="sibling-tag", source=_verb(model), top=20_000, sort="count")
        left = [f for f in siblings if f.node == "PP" and f.orientation == -1] or siblings
        verbs = [f for coverage in (0, 1) for f in [f for f in left if f.coverage == coverage][:8]]
        return FeatureTables(
            de=_rounded(de),
            verbs=_rounded(_class_words(verbs, classes, train.bitext)),
            alpha=model.alpha_,
            n_features=model.n_features,
        )


def _verb(model: BlockMe) -> str | None:
    """The tag of verbs; generated text has another one than the trees."""
    tags = model.tag_vocabulary_.words() if model.tag_vocabulary_ is not None else []
    return next((tag for tag in ("VV", "V") if tag in tags), None)


def _class_words(features: Sequence[BlockFeature], classes: WordClasses, bitext: Bitext) -> list[BlockFeature]:
    """Features with the three most frequent words of the target's class instead of its number."""
    frequent = np.argsort(-np.bincount(bitext.target.tokens, minlength=len(classes.classes)), kind="stable")
    names = {}
    for number in range(classes.n_classes + FIRST_CLASS):
        words = frequent[classes.classes[frequent] == number][:3]
        names[f"class {number}"] = " ".join(map(bitext.target.vocabulary.word, words.tolist()))
    return [replace(feature, target=names.get(feature.target, feature.target)) for feature in features]


def _rounded(features: Sequence[BlockFeature]) -> list[BlockFeature]:
    return [replace(feature, alpha=round(feature.alpha, 3)) for feature in features]


@dataclass(frozen=True)
class Comparison:
    """What Tables 2, 3 and 4 compare: block models, the rows, on a test text."""

    text: str
    variant: str
    rows: tuple[str, ...]
    n_train: int
    n_tuning_runs: int
    training: str = TRAINING
    alpha: float = ALPHA
    limit: int = 9
    lm_order: int = 5

    @property
    def name(self) -> str:
        """The name of its cell."""
        return "-".join(filter(None, (self.text, self.variant)))

    def corpus_files(self, data: Path) -> list[Path]:
        """The files of its text."""
        return text_files(data)

    def experiment(self, setting: Setting) -> JsonObject:
        """The experiment in which every row is tuned."""
        translation: JsonObject = {
            "systems": {"PBT": [], **{name: [name] for name in self.rows}},
            "limits": [self.limit],
            "tuning-runs": self.n_tuning_runs,
            "baselines": ["PBT", "ME"],
            "metrics": ["bleu", "ter", "pdscore"],
            **search_options(setting, pop_limit=300, stack=100),
        }
        if VARIANTS[self.variant].alone:
            # The table's own scores only choose the options of each phrase.
            translation["fix"] = {name: {"TranslationModel0": [0, 0, 0.02, 0]} for name in self.rows}
            translation["decoding"]["table-limit"] = 50
        return {
            "corpus": self._corpus(setting),
            "lm": {"order": 3 if setting.quick else self.lm_order},
            "models": {name: MODELS[name].options(setting) for name in self.rows},
            "translation": translation,
        }

    def _corpus(self, setting: Setting) -> JsonObject:
        folder = text_folder(setting, self.n_train).resolve()
        prefixes = {"train": "train", "dev": "dev", "test": "news" if self.text == "news" else "test"}
        corpus: JsonObject = {
            split: {column: str(folder / f"{prefix}.{column}") for column in COLUMNS} for split, prefix in prefixes.items()
        }
        if setting.tuning_lines:
            corpus["dev"]["lines"] = setting.tuning_lines
        return corpus


@dataclass(frozen=True)
class SystemComparison(Experiment):
    """A comparison in which every row has its own weights."""

    comparison: Comparison

    @property
    def name(self) -> str:
        return self.comparison.name

    def corpus_files(self, data: Path) -> list[Path]:
        return self.comparison.corpus_files(data)

    def experiment(self, setting: Setting) -> JsonObject:
        return self.comparison.experiment(setting)


@dataclass(frozen=True)
class SharedWeights(OtherWeights):
    """A comparison in which all rows have the weights of ME, from its best run on the development text."""

    comparison: Comparison

    def work(self, setting: Setting) -> ExperimentResult:
        root = setting.output / f"runs-{self.name}"
        experiment = self.comparison.experiment(setting)
        only_me = {**experiment["translation"], "systems": {"ME": ["ME"]}, "baselines": ["ME"]}
        tuning = experiment | {"models": {"ME": experiment["models"]["ME"]}, "translation": only_me}
        weights = tuned_weights(run_experiment(setting, self.name, tuning, root), root, "ME")
        # The remaining free weights change no translation.
        shared = {name: values for name, values in weights.items() if name not in ("ME", "UnknownWordPenalty0")}
        fixed = {"PBT": shared, **{row: shared | {row: weights["ME"]} for row in self.comparison.rows}}
        untuned = {**experiment["translation"], "fix": fixed, "tuning-runs": 1, "tuning": {"iterations": 1}}
        plan = run_experiment(setting, self.name, experiment | {"translation": untuned}, root)
        return ExperimentResult.of(plan, root)
