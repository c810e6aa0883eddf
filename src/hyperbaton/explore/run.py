"""The folder of a finished run: its systems, their options and weights, and their texts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from hyperbaton.base.errors import InputError, OptionError
from hyperbaton.base.forms import Form, Json, JsonObject
from hyperbaton.corpus import Links, Tags, Text
from hyperbaton.decode import Decoding, System
from hyperbaton.metrics import make_metric
from hyperbaton.report.results import RESULTS
from hyperbaton.run.stage import CORPUS, STAGE_FILE, read_json
from hyperbaton.run.stages.translate import MAX_WORDS
from hyperbaton.run.status import PLAN, json_field, read_plan
from hyperbaton.run.texts import Texts
from hyperbaton.run.translation import NO_LIMIT, outputs_among, tune_name


@dataclass(frozen=True)
class TestOutput:
    """One translation of the test text by a system: its name among the system's outputs, and how it was made."""

    system: str
    name: str  # of the run of tuning, and of the limit: 1.6
    limit: int
    columns: list[str]
    folder: Path


class Run:
    """A finished run; its test text is explored."""

    def __init__(self, root: Path) -> None:
        if not (root / RESULTS).is_file():
            what = "the run is not finished" if (root / PLAN).is_file() else "no finished run of an experiment"
            raise InputError(f"{what} (there is no {RESULTS}); 'hyperbaton run EXPERIMENT.toml -o' makes one", root)
        self.root = root
        self._results = read_json(root / RESULTS)
        self.title: str = self.result(str, "title")
        self.metrics: list[str] = self.result([str], "options", "translation", "metrics")
        self.models: dict[str, list[str]] = self.result({"*": [object]}, "options", "translation", "systems")
        self._folders = read_plan(root)

    def result(self, form: Form, *keys: str) -> Json:
        """A value of the results, by its keys."""
        return json_field(self.root / RESULTS, self._results, form, *keys)

    @property
    def systems(self) -> list[str]:
        """The names of the systems, in the order of the experiment file."""
        return list(self.models)

    def folder(self, stage: str) -> Path:
        """The folder of a stage."""
        if stage not in self._folders or not (self._folders[stage] / STAGE_FILE).is_file():
            raise InputError(f"the stage {stage} is missing; run the experiment again", self.root)
        return self._folders[stage]

    @cached_property
    def texts(self) -> Texts:
        """The columns of the test text."""
        stage = f"{CORPUS}test" if f"{CORPUS}test" in self._folders else "corpus"
        links = {"links": self.folder("align")} if "align" in self._folders else {}
        return Texts({**links, f"{CORPUS}test": self.folder(stage)})

    @cached_property
    def source(self) -> Text:
        """The source side of the test text."""
        return Text.read(self.texts.path("test", "source"))

    @cached_property
    def target(self) -> Text:
        """The references."""
        return Text.read(self.texts.path("test", "target"), None)

    @cached_property
    def tags(self) -> Tags | None:
        """Tags of the source words, if the experiment has any."""
        return Tags.read(self.texts.path("test", "tags"), self.source) if self.texts.has("test", "tags") else None

    @cached_property
    def links(self) -> Links:
        """The links of the reference."""
        return Links.read(self.texts.path("test", "links"), self.source, self.target)

    def output(self, system: str, limit: int | None = None) -> TestOutput:
        """The translation of the first tuning run, at a given limit or at that of the report's sentences."""
        if system not in self.systems:
            raise OptionError(f"the run has no system {system!r}; it has: {', '.join(self.systems) or 'none'}")
        outputs: dict[int, TestOutput] = {}
        for name, stage in outputs_among(self._folders, system).items():
            file = self.folder(stage) / STAGE_FILE
            options = json_field(file, read_json(file), {"limit": int, "columns": [object]}, "options")
            outputs[options["limit"]] = TestOutput(system, name, options["limit"], options["columns"], file.parent)
        if not outputs:
            raise InputError(f"the run has no translations of the system {system}", self.root)
        if limit is None:
            written = self.result(object, "options", "translation", "tune-limit")
            limit = NO_LIMIT if written == "none" else self.result(int, "options", "translation", "tune-limit")
            limit = limit if limit in outputs else next(iter(outputs))
        if limit not in outputs:
            raise OptionError(f"the run has no distortion limit {limit}; it has: {', '.join(map(str, outputs))}")
        return outputs[limit]

    def weights(self, output: TestOutput) -> dict[str, list[float]]:
        """The tuned weights of a system."""
        file = self.folder(tune_name(output.system, 0)) / "weights.json"
        return json_field(file, read_json(file), {"*": [float]}, "weights")

    def load(self, output: TestOutput) -> tuple[System, Decoding]:
        """The system with its tuned weights, and the options of its translations."""
        system = System.load(self.folder(f"system.{output.system}") / "system").with_weights(self.weights(output))
        return system, replace(system.limited(output.limit), max_words=MAX_WORDS)

    @property
    def movement(self) -> JsonObject:
        """How words move in the training text: `word_distortions` are jumps by their distance."""
        return self.result({"word_distortions": {"#": int}}, "movement")

    def system_scores(self, output: TestOutput) -> dict[str, float]:
        """The scores of a translation of the whole test text, by metric; empty if the results have none."""
        limit = None if output.limit < 0 else output.limit
        for row in self.result([{"scores": {"*": {"value": float}}}], "translation"):
            if (row.get("system"), row.get("limit")) == (output.system, limit):
                return {name: score["value"] for name, score in row["scores"].items()}
        return {}

    def scores(self, output: TestOutput) -> dict[str, list[float]]:
        """The score of each test sentence by each metric of the run."""
        folder = self.folder(f"measure.{output.system}")
        scores = {}
        for i, name in enumerate(self.metrics):
            metric = make_metric(name)
            values = metric.score(np.load(folder / f"{i}.{output.name}.npy", allow_pickle=False))
            scores[metric.title] = np.round(values, 2).tolist()
        return scores
