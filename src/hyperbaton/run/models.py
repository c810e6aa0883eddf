"""The models of an experiment: `[models.NAME]` tables with a `model`, its own options, and its use in systems."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any, Self

from hyperbaton.base.options import option, options_of, to_mapping
from hyperbaton.models import MODELS, ReorderingModel
from hyperbaton.phrases import ReorderingType, RuleLimits, orientation_set
from hyperbaton.run.corpus import Corpus
from hyperbaton.run.experiment import Experiment, without_none
from hyperbaton.run.keys import KeyTable
from hyperbaton.run.texts import FROM_CORPUS

RULES = "rules"  # as a model: replaces phrases in a hierarchical system
# Keys of a model's table besides the model's own options.
OWN_KEYS = ("model", "direction", "annotations", "inside", "scaled", "weights_per_class", "table")


@dataclass(frozen=True)
class NamedModel:
    """A model of the experiment.

    `sides`: an orientation model is trained once for each. `annotations`: annotations used in training besides the
    bitext. `table`: the type of lexicalized table that represents it in a system, with a weight for each class as in
    Moses; `is_counted`: the table is counted from the phrases, not made from the model.
    """

    name: str
    model: str
    options: dict[str, object]
    sides: tuple[str, ...]
    annotations: tuple[str, ...]
    inside: bool
    scaled: float | None
    table: str | None
    is_counted: bool
    per_class: bool = False  # a weight for each class; tables always have them

    @property
    def cls(self) -> type[ReorderingModel]:
        return MODELS[self.model]

    def stage(self, kind: str, side: str) -> str:
        """The stage of a kind for a side; the default side, towards the previous phrase, has no suffix."""
        return f"{kind}.{self.name}" + (".after" if side == "after" else "")

    def use(self, side: str) -> str:
        """The name for a side in systems."""
        return f"{self.name}.after" if side == "after" and len(self.sides) > 1 else self.name

    def over_rules(self) -> NamedModel:
        """The model in a system with rules: trained, with the weights of a table, if it has one for phrases."""
        return replace(self, table=None, is_counted=False, per_class=self.per_class or self.table is not None)

    def resolved(self) -> dict[str, object]:
        values = {"model": self.model, "annotations": list(self.annotations), "inside": self.inside, **self.options}
        sides = None if self.sides == ("",) else list(self.sides)
        use = {"scaled": self.scaled, "weights-per-class": self.per_class or None, "table": self.table, "sides": sides}
        return values | without_none(use)


@dataclass(frozen=True)
class Rules:
    """Hierarchical rules that a system may have instead of phrases: `model = "rules"`."""

    limits: RuleLimits
    for_texts: bool = option(False, "keep only rules that can match the texts to tune on and to test")

    def resolved(self) -> dict[str, object]:
        return {"model": RULES, **to_mapping(self.limits), "for-texts": self.for_texts}


@dataclass(frozen=True)
class Models:
    """The reordering models of an experiment, and its rules, by their names."""

    reordering: dict[str, NamedModel]
    rules: dict[str, Rules]

    def members(self, names: Collection[str]) -> list[NamedModel]:
        """The models among the members of a system."""
        models = [self.reordering[name] for name in names if name in self.reordering]
        return [model.over_rules() for model in models] if any(name in self.rules for name in names) else models

    def resolved(self) -> dict[str, object]:
        return {name: model.resolved() for name, model in (self.reordering | self.rules).items()}

    @classmethod
    def read(cls, table: KeyTable, experiment: Experiment) -> Self:
        """Read `[models.*]`."""
        if not table.rest:
            raise table.error("NAME", f"missing; name at least one model: {', '.join(MODELS.names())}")
        corpus = experiment.options(Corpus)
        reordering, rules = {}, {}
        for key in list(table.rest):
            name = table.name(key, "model")
            part = table.table(key)
            if part.rest.get("model", name) == RULES:
                part.take("model", str, name)
                for_texts = part.take("for_texts", bool, False)
                rules[name] = Rules(part.options(RuleLimits, ("model", "for_texts")), for_texts)
            else:
                reordering[name] = _read_model(part, name, corpus)
        return cls(reordering, rules)


def _read_model(table: KeyTable, name: str, corpus: Corpus) -> NamedModel:
    model = table.choice("model", table.take("model", str, name), [*MODELS.names(), RULES]).replace("-", "_")
    cls = MODELS[model]
    directions = ReorderingType.DIRECTIONS
    names = {opt.name for opt in options_of(cls)}
    has_orientations = "orientations" in names
    sides: tuple[str, ...] = ("",)
    direction = None
    if "direction" in table:
        direction = table.choice("direction", table.take("direction", str, ""), directions)
        if "side" not in names:
            raise table.error("direction", f"does not apply to the model {model}, which has no orientations")
        if "side" in table:
            raise table.error("side", "give a direction or a side, not both")
        sides = tuple(directions[direction])
    wanted = [a for a in cls.uses if a in FROM_CORPUS and corpus.has(FROM_CORPUS[a])]
    annotations = table.take_names("annotations", wanted, cls.uses)
    for annotation in annotations:
        column = FROM_CORPUS.get(annotation)
        if column is not None and not corpus.has(column):
            raise table.error("annotations", f"{annotation} need corpus.train.{column} and those of dev and test")
    inside = table.take("inside", bool, False)
    scaled = table.take("scaled", float, 0.0) if "scaled" in table else None
    per_class = table.take("weights_per_class", bool, False)
    as_table = table.take("table", bool, cls.is_table)
    if has_orientations and isinstance(orientations := table.rest.get("orientations"), str):
        table.trying(lambda: orientation_set(orientations), "orientations")
    untrained: Any = table.options(cls, OWN_KEYS)
    if scaled is not None and (not has_orientations or scaled <= 0):
        raise table.error("scaled", "must be a β above 0, and is for orientation models only")
    if per_class and not has_orientations:
        raise table.error("weights_per_class", f"does not apply to the model {model}, which has no orientations")
    options = to_mapping(untrained)
    kind = None if direction is None or not as_table else untrained.moses_table(direction)
    if as_table and kind is None and not cls.is_table:
        raise table.error("table", "needs a direction and Moses' orientations, over all classes, without tags and coverage")
    is_counted = kind is not None and untrained.estimates_like_moses
    return NamedModel(name, model, options, sides, tuple(annotations), inside, scaled, kind, is_counted, per_class)
