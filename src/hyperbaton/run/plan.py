"""Plan the stages of an experiment: their inputs, their order and their estimated costs.

The files of `stages` define which stages an experiment has; this file contains their common part.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from hyperbaton.base.forms import JsonObject
from hyperbaton.base.memory import parse_memory
from hyperbaton.corpus.files import read_byte_lines
from hyperbaton.run.cost import Rate, Size, cost_of
from hyperbaton.run.experiment import Experiment
from hyperbaton.run.models import FROM_CORPUS, NamedModel
from hyperbaton.run.stage import CORPUS, SPLITS, File, Stage
from hyperbaton.run.stages import stage_modules
from hyperbaton.run.translation import shown_limit


@dataclass
class Plan:
    """The stages of an experiment, ordered so that each comes after its inputs.

    Besides all stages by name, it has the stage of each split, the aligner's stage, those of word classes by annotation,
    and trained models by their names in systems. For systems that translate reordered text, a separate stage replaces the
    corpus and the links, with its own distortion limit.
    """

    experiment: Experiment
    size: Size
    memory: int | None = None  # bytes: the limit for all stages together
    stages: dict[str, Stage] = field(default_factory=dict)
    corpus: dict[str, Stage] = field(default_factory=dict)
    links: Stage | None = None
    classes: dict[str, Stage] = field(default_factory=dict)
    trained: dict[str, Stage] = field(default_factory=dict)
    preordered: dict[str, Stage] = field(default_factory=dict)
    preordered_limit: int = 0

    def text(self, *splits: str) -> dict[str, Stage]:
        """Splits as inputs of a stage."""
        return {f"{CORPUS}{split}": self.corpus[split] for split in splits}

    def text_of(self, system: str, split: str) -> dict[str, Stage | File]:
        """Splits as inputs of a system's stage, reordered if the system translates reordered text."""
        return {f"{CORPUS}{split}": self.preordered.get(system, self.corpus[split])}

    def limit_of(self, system: str, limit: int) -> int:
        """The distortion limit of a system, given the usual one."""
        return self.preordered_limit if system in self.preordered else limit

    def add(
        self,
        name: str,
        kind: str,
        options: JsonObject,
        sub: str = "",
        times: int = 1,
        *,
        splits: Sequence[str] = (),
        keeps_to_memory: bool = False,
        **inputs: Stage | File | None,
    ) -> Stage:
        """Add a stage that reads splits of the corpus and other inputs; inputs that are None are left out.

        For its cost: the variant of its work (`sub`, one of the RATES of its kind), the number of repetitions, and
        whether its memory use stays within the limit.
        """
        sources = {key: value for key, value in inputs.items() if value is not None} | self.text(*splits)
        return self.add_with(name, kind, options, sources, sub, times, keeps_to_memory=keeps_to_memory)

    def add_with(
        self,
        name: str,
        kind: str,
        options: JsonObject,
        inputs: dict[str, Stage | File],
        sub: str = "",
        times: int = 1,
        *,
        keeps_to_memory: bool = False,
    ) -> Stage:
        """Add a stage whose inputs have names that are not identifiers."""
        limit = self.memory if keeps_to_memory else None
        cost = cost_of(stage_modules()[kind].RATES, sub, self.size, times, limit)
        self.stages[name] = Stage(name, kind, options, inputs, cost)
        return self.stages[name]

    def __iter__(self) -> Iterator[Stage]:
        return iter(self.stages.values())

    def __len__(self) -> int:
        return len(self.stages)

    def of_kind(self, kind: str) -> list[Stage]:
        """All stages of a kind."""
        return [stage for stage in self if stage.kind == kind]

    def inputs(self, *splits: str) -> dict[str, File]:
        """The files that the experiment reads for the given splits, or all, by split and column."""
        files = self.experiment.corpus.files
        wanted = [split for split in files if split in (splits or SPLITS)]
        return {f"{split}.{column}": File(path) for split in wanted for column, path in files[split].items()}

    def models(self, system: str) -> list[NamedModel]:
        """The models of a system, without sparse features and rules."""
        experiment = self.experiment
        return [experiment.models[n] for n in experiment.translation.systems[system] if n in experiment.models]

    def columns(self, system: str) -> list[str]:
        """The columns of the corpus that the models of a system read."""
        annotations = {a for model in self.models(system) for a in model.annotations}
        return [column for annotation, column in FROM_CORPUS.items() if annotation in annotations]

    def slowest(self, system: str, rates: Mapping[str, Rate]) -> str:
        """The model of a system that takes longest."""
        kinds = [model.model for model in self.models(system)]
        return max(kinds, key=lambda kind: cost_of(rates, kind, self.size).seconds, default="")

    @staticmethod
    def train_name(model: NamedModel, side: str) -> str:
        """The stage that trains a model for a side; the default side, towards the previous phrase, has no suffix."""
        return f"train.{model.name}" + (".after" if side == "after" else "")

    @staticmethod
    def evaluate_name(model: NamedModel, side: str) -> str:
        """The stage that evaluates a model for a side."""
        return Plan.train_name(model, side).replace("train.", "evaluate.", 1)

    @staticmethod
    def use_name(model: NamedModel, side: str) -> str:
        """The name of a model for a side in systems."""
        return f"{model.name}.after" if side == "after" and len(model.sides) > 1 else model.name

    @staticmethod
    def tune_name(system: str, run: int) -> str:
        """The stage of a tuning run of a system."""
        return f"tune.{system}.{run + 1}"

    @staticmethod
    def translate_name(system: str, run: int, limit: int) -> str:
        """The stage that translates with a tuning run of a system."""
        return f"translate.{system}.{Plan.output_name(run, limit)}"

    @staticmethod
    def output_name(run: int, limit: int) -> str:
        """The name of an output among those of a system."""
        return f"{run + 1}.{shown_limit(limit)}"


def make_plan(experiment: Experiment, memory: str | None = None) -> Plan:
    """Plan the stages of an experiment; `memory` overrides the limit of the experiment."""
    amount = experiment.memory if memory is None else memory
    plan = Plan(experiment, size_of(experiment), None if amount is None else parse_memory(amount))
    for module in stage_modules().values():
        module.plan(plan)
    return plan


def size_of(experiment: Experiment) -> Size:
    """Count the lines of each split, before cleaning."""
    corpus = experiment.corpus
    if corpus.generating is not None:
        n = corpus.generating
        return Size(n.sentences - n.dev - n.test, n.dev, n.test)

    def lines(split: str) -> int:
        limits = corpus.limits[split]
        wanted = limits.skip + limits.lines if limits.lines else None
        return max(sum(1 for _ in islice(read_byte_lines(corpus.files[split]["source"]), wanted)) - limits.skip, 0)

    return Size(*(lines(split) for split in SPLITS))
