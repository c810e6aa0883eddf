"""Plan the stages of an experiment: their inputs, their order and their estimated costs.

The files of `stages` define which stages an experiment has; this file contains their common part.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from hyperbaton.base.errors import MissingExtra, OptionError
from hyperbaton.base.forms import Json
from hyperbaton.base.memory import parse_memory
from hyperbaton.network.words import check_installed
from hyperbaton.run.cost import Size, cost_of
from hyperbaton.run.experiment import Experiment, read_experiment
from hyperbaton.run.stage import CORPUS, File, Inputs, Stage
from hyperbaton.run.stages import functions, stage_modules


class OtherText(NamedTuple):
    """Text that a system translates instead of the corpus: its name, the stage that makes it, and its distortion limit."""

    name: str
    stage: Stage
    limit: int


@dataclass
class Plan:
    """The stages of an experiment, ordered so that each comes after its inputs.

    `provided` has stages by what they provide for others, which is the name of their inputs: `corpus.train` and the other
    splits, `links`, `source_classes`, `model.NAME`. `other_texts` has the text of systems that do not translate that of
    the corpus.
    """

    experiment: Experiment
    memory: int | None = None  # bytes: the limit for all stages together
    size: Size = Size(0, 0, 0)
    slowness: float = 1.0  # processor seconds that this machine needs for one of the estimated costs
    stages: dict[str, Stage] = field(default_factory=dict)
    provided: dict[str, Stage] = field(default_factory=dict)
    other_texts: dict[str, OtherText] = field(default_factory=dict)

    def inputs(self, *names: str) -> Inputs:
        """The stages that provide these inputs, by name; inputs that no stage provides are left out."""
        return {name: self.provided[name] for name in names if name in self.provided}

    def text(self, *splits: str, links: bool = False) -> Inputs:
        """Splits as inputs of a stage, with the aligner's links, if there are any."""
        return self.inputs(*(f"{CORPUS}{split}" for split in splits), *(["links"] if links else []))

    def text_of(self, system: str, split: str) -> Inputs:
        """A split as input of a system's stage: that of the corpus, unless the system translates other text."""
        other = self.other_texts.get(system)
        return self.text(split) if other is None else {f"{CORPUS}{split}": other.stage}

    def limit_of(self, system: str, limit: int) -> int:
        """The distortion limit of a system, given the usual one."""
        return self.other_texts[system].limit if system in self.other_texts else limit

    def add(
        self,
        name: str,
        kind: str,
        options: Mapping[str, Json],
        inputs: Inputs,
        sub: str = "",
        times: int = 1,
        *,
        keeps_to_memory: bool = False,
    ) -> Stage:
        """Add a stage.

        For its cost: the variant of its work (`sub`, one of the RATES of its kind), the number of repetitions, and
        whether its memory use stays within the limit.
        """
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

    def files(self) -> dict[str, File]:
        """The files that the stages read, by the name of the input."""
        return {name: file for stage in self for name, file in stage.inputs.items() if isinstance(file, File)}

    def folders(self, root: Path) -> dict[str, Path]:
        """The folders of what is provided, in the folder of a run."""
        return {name: stage.folder(root) for name, stage in self.provided.items()}

    def command(self, root: Path) -> str:
        """The command that runs the experiment."""
        return shell("hyperbaton", "run", self.experiment.file, "-o", root)


def shell(*words: object) -> str:
    return shlex.join(map(str, words))


def make_plan(experiment: Experiment, memory: str | None = None) -> Plan:
    """Plan the stages of an experiment; `memory` overrides the limit of the experiment."""
    amount = experiment.memory if memory is None else memory
    plan = Plan(experiment, None if amount is None else parse_memory(amount))
    for add_stages in functions("plan").values():
        add_stages(plan)
    return plan


def plan_file(path: Path, settings: Sequence[str], memory: str | None, root: Path) -> Plan:
    """Plan the experiment of a file; libraries that its unfinished stages in `root` need must be installed."""
    plan = make_plan(read_experiment(path, settings), memory)
    for stage in plan:
        if stage.kind in functions("plugin") and not stage.is_done(root):
            try:
                check_installed(functions("plugin")[stage.kind](stage.options))
            except MissingExtra as error:
                raise OptionError(f"{path}: stage {stage.name}: {error}") from error
    return plan
