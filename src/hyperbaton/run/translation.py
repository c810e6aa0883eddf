"""The translation part of an experiment, `[translation]`: systems, limits, tuning, metrics and comparisons.

Tuning is imported where its options are read: every stage that translates imports this module, and few of them tune.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Self

from hyperbaton.base.errors import OptionError
from hyperbaton.base.forms import Json, JsonObject
from hyperbaton.base.options import CheckedOptions, Option, option, to_mapping
from hyperbaton.decode import Decoding
from hyperbaton.decode.sparse import SparseReordering
from hyperbaton.decode.system import (
    DISTORTION,
    GLUE,
    LARGEST_WEIGHT,
    PHRASE_PENALTY,
    TRANSLATION,
    UNKNOWN_WORD,
    WORD_PENALTY,
)
from hyperbaton.metrics import METRICS, make_metric
from hyperbaton.run.cost import Rate, Size, cost_of
from hyperbaton.run.experiment import Experiment
from hyperbaton.run.keys import KeyTable
from hyperbaton.run.models import Models, NamedModel
from hyperbaton.run.texts import FROM_CORPUS

if TYPE_CHECKING:
    from hyperbaton.tune import Length, Tuning

NO_LIMIT = -1  # as a distortion limit
DEFAULT_METRICS = ("bleu", "nist", "meteor", "wer", "ter", "pdscore")
KEYS = (
    *("systems", "limits", "tune_limit", "baselines", "metrics", "fix", "sparse", "tuning", "decoding"),
    *("length", "at_length"),
)


@dataclass(frozen=True)
class Counts:
    """Numeric options of the translation part."""

    tuning_runs: int = option(
        1, "number of tuning runs per system, with different seeds; the report has the mean", minimum=1, maximum=1000
    )
    n_best: int = option(100, "tuning: number of translations per sentence and iteration", minimum=2)
    samples: int = option(1000, "number of samples drawn for intervals and p-values", minimum=1)
    sentences: int = option(30, "number of sentences in the report, those where systems differ most", minimum=0)


@dataclass(frozen=True)
class Sparse(CheckedOptions):
    """Sparse reordering features of a system."""

    orientations: str = option("hier-mslr", "orientation set of the features, one of Moses'")
    words: int = option(80, "number of the most frequent words of each side; 0 takes none", minimum=0)
    classes: bool = option(False, "features of word classes as well, those of [classes]")

    def __post_init__(self) -> None:
        super().__post_init__()
        SparseReordering(self.orientations, ())
        if not self.words and not self.classes:
            raise OptionError("no words and no classes, so there is no feature")


@dataclass(frozen=True)
class Translation:
    """How systems are built, tuned, run and compared.

    A limit is a distortion limit or, for a system with rules, the longest span under a rule; -1 is none.
    """

    systems: dict[str, tuple[str, ...]]  # name → models and sparse features
    limits: tuple[int, ...]
    tune_limit: int
    baselines: tuple[str, ...]
    metrics: tuple[str, ...]
    fix: dict[str, dict[str, list[float]]]  # weights that are not tuned, by system and feature
    counts: Counts
    tuning: Tuning
    length: Length
    decoding: Decoding
    models: Models
    sparse: dict[str, Sparse] = field(default_factory=dict)
    tuning_of: dict[str, Tuning] = field(default_factory=dict)  # tuning options of single systems

    @property
    def runs(self) -> range:
        """The tuning runs of every system."""
        return range(self.counts.tuning_runs)

    @property
    def outputs(self) -> list[tuple[int, int]]:
        return list(itertools.product(self.runs, self.limits))

    def rules_of(self, system: str) -> str | None:
        """The name of the rules of a system, if it is hierarchical."""
        return next((name for name in self.systems[system] if name in self.models.rules), None)

    def models_of(self, system: str) -> list[NamedModel]:
        """The models of a system, without sparse features and rules."""
        return self.models.members(self.systems[system])

    def columns(self, system: str) -> list[str]:
        """The columns of the corpus that the models of a system read."""
        annotations = {a for model in self.models_of(system) for a in model.annotations}
        return [column for annotation, column in FROM_CORPUS.items() if annotation in annotations]

    def slowest(self, system: str, rates: Mapping[str, Rate], size: Size) -> str:
        """The model of a system that takes longest, or `rules`."""
        kinds = [model.model for model in self.models_of(system)] + ["rules"] * (self.rules_of(system) is not None)
        return max(kinds, key=lambda kind: cost_of(rates, kind, size).seconds, default="")

    def resolved(self) -> JsonObject:
        return {
            "systems": {name: list(models) for name, models in self.systems.items()},
            "limits": [shown_limit(limit) for limit in self.limits],
            "tune-limit": shown_limit(self.tune_limit),
            "baselines": list(self.baselines),
            "metrics": list(self.metrics),
            "fix": self.fix,
            **to_mapping(self.counts),
            **to_mapping(self.length),
            "sparse": {name: to_mapping(features) for name, features in self.sparse.items()},
            "tuning": to_mapping(self.tuning) | {name: to_mapping(tuning) for name, tuning in self.tuning_of.items()},
            "decoding": to_mapping(self.decoding),
        }

    @classmethod
    def read(cls, table: KeyTable, experiment: Experiment) -> Self:
        """Read `[translation]`."""
        from hyperbaton.tune import Length

        models = experiment.options(Models)
        sparse = _read_sparse(table.table("sparse"), models)
        systems = _read_systems(table, models, sparse)
        limits = tuple(_limit(table, "limits", value) for value in table.take("limits", list, [6]))
        if not limits or len(set(limits)) != len(limits):
            raise table.error("limits", 'must be a list of different distortion limits, for example [6, 10, "none"]')
        tune_limit = _limit(table, "tune_limit", table.rest.pop("tune_limit", limits[0] if limits[0] >= 0 else "none"))
        baselines = tuple(table.take_names("baselines", list(systems)[:1], systems))
        metrics = tuple(table.take_list("metrics", str, list(DEFAULT_METRICS)))
        for name in metrics:
            table.choice("metrics", name.partition(":")[0].lower(), METRICS.names())
            table.trying(partial(make_metric, name), "metrics")
        fix = _read_fix(table.table("fix"), systems, models)
        tuning, tuning_of = _read_tuning(table.table("tuning"), systems)
        for system, members in systems.items():
            optimizer = tuning_of.get(system, tuning).optimizer
            if any(name in sparse for name in members) and optimizer.startswith("mert"):
                what = f'mert cannot tune sparse features; set optimizer = "mira" in [translation.tuning.{system}]'
                raise table.error(f"systems.{system}", what)
        decoding = table.table("decoding").options(Decoding)
        length = table.some_options(Length)
        counts = table.options(Counts, KEYS)
        options = (counts, tuning, length, decoding, models, sparse, tuning_of)
        return cls(systems, limits, tune_limit, baselines, metrics, fix, *options)


def shown_limit(limit: int) -> int | str:
    """A limit as written in experiment files."""
    return "none" if limit == NO_LIMIT else limit


def tune_name(system: str, run: int) -> str:
    """The stage of a tuning run of a system."""
    return f"tune.{system}.{run + 1}"


def translate_name(system: str, run: int, limit: int) -> str:
    """The stage that translates with a tuning run of a system."""
    return f"translate.{system}.{output_name(run, limit)}"


def output_name(run: int, limit: int) -> str:
    """The name of an output among those of a system."""
    return f"{run + 1}.{shown_limit(limit)}"


def outputs_among(stages: Iterable[str], system: str, run: int = 0) -> dict[str, str]:
    """The stages that translate with a tuning run of a system, by the names of their outputs."""
    start = f"translate.{system}."
    return {stage.removeprefix(start): stage for stage in stages if stage.startswith(f"{start}{run + 1}.")}


def _read_sparse(table: KeyTable, models: Models) -> dict[str, Sparse]:
    """Sparse features by their names in systems."""
    features = {}
    for key in list(table.rest):
        name = table.name(key, "feature")
        if name in models.reordering or name in models.rules:
            raise table.error(key, "a model already has this name")
        features[name] = table.table(key).options(Sparse)
    return features


def _read_tuning(table: KeyTable, systems: Mapping[str, Json]) -> tuple[Tuning, dict[str, Tuning]]:
    """Options of tuning, and on top of them those of systems with their own table."""
    from hyperbaton.tune import Tuning

    tables = {key: table.table(key) for key in list(table.rest) if isinstance(table.rest[key], dict)}
    general = table.options(Tuning, systems)
    of_systems = {}
    for key, part in tables.items():
        system = table.choice(key, table.written[key], systems)
        keys = list(part.rest)
        tuning = part.options(Tuning)
        of_systems[system] = replace(general, **{name: getattr(tuning, name) for name in keys})
    return general, of_systems


def _read_systems(table: KeyTable, all_models: Models, sparse: Mapping[str, Sparse]) -> dict[str, tuple[str, ...]]:
    """Each system and its models; unless systems are named, there is one for every model and for all rules."""
    models, rules = all_models.reordering, all_models.rules
    if "systems" not in table:
        distances = [name for name, model in models.items() if model.cls.is_distance]
        return {name: () if name in distances else (name,) for name in [*models, *rules]}
    named = table.table("systems")
    systems = {}
    for key in list(named.rest):
        name = named.name(key, "system")
        members = named.take_names(key, [], [*models, *sparse, *rules])
        if sum(member in rules for member in members) > 1:
            raise named.error(key, "a system can have only one set of rules")
        systems[name] = tuple(members)
    return systems


def _read_fix(table: KeyTable, systems: Mapping[str, Collection[str]], models: Models) -> dict[str, dict[str, list[float]]]:
    """The fixed weights of each system; how many weights a feature has is known when the system is built."""
    fix: dict[str, dict[str, list[float]]] = {}
    for key in list(table.rest):
        system = table.choice(key, table.written[key], systems)
        weights = table.table(key)
        features = _features(systems[system], models)
        fix[system] = {}
        for feature, value in weights.rest.items():
            values = value if isinstance(value, list) else [value]
            if not values or any(isinstance(v, bool) or not isinstance(v, int | float) for v in values):
                raise weights.error(feature, f"a weight is a number, or a list of numbers, not {value!r}")
            if not all(abs(v) <= LARGEST_WEIGHT for v in values):
                raise weights.error(feature, f"a weight must be finite, at most {LARGEST_WEIGHT:g}, not {value!r}")
            name = weights.written[feature]
            if name not in features:  # one weight of a feature is FEATURE_0, FEATURE_1, …
                weights.choice(feature, re.sub(r"_\d+$", "", name), features)
            fix[system][name] = [float(v) for v in values]
    return fix


def _features(members: Collection[str], models: Models) -> list[str]:
    """The names of the features of a system."""
    trained = {
        model.name: [model.name] if model.table else list(map(model.use, model.sides)) for model in models.members(members)
    }
    names = [feature for name in members if name not in models.rules for feature in trained.get(name, [name])]
    of_table = GLUE if any(name in models.rules for name in members) else DISTORTION
    return [*names, of_table, "LM0", WORD_PENALTY, PHRASE_PENALTY, TRANSLATION, UNKNOWN_WORD]


def _limit(table: KeyTable, key: str, value: Json) -> int:
    if value == "none":
        return NO_LIMIT
    try:
        return int(Option(key, int, minimum=0).check(value))
    except OptionError:
        raise table.error(key, f'a limit is a number of words or "none", not {value!r}') from None
