"""The translation part of an experiment: systems, limits, tuning, metrics and what is compared with what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hyperbaton.base.errors import OptionError
from hyperbaton.base.options import Option, option, to_mapping
from hyperbaton.decode import Decoding
from hyperbaton.metrics import METRICS, make_metric
from hyperbaton.run.keys import Table
from hyperbaton.run.models import NamedModel
from hyperbaton.tune import OPTIMIZERS, Tuning

NO_LIMIT = -1
DEFAULT_METRICS = ("bleu", "nist", "meteor", "wer", "ter", "pdscore")
KEYS = (
    "systems",
    "limits",
    "tune_limit",
    "tuning_runs",
    "n_best",
    "baselines",
    "metrics",
    "samples",
    "sentences",
    "fix",
    "tuning",
    "decoding",
)


@dataclass(frozen=True)
class Counts:
    """Numbers of the translation part."""

    tuning_runs: int = option(
        1, "number of tuning runs per system, with different seeds; the report has the mean", minimum=1
    )
    n_best: int = option(100, "tuning: number of translations per sentence and iteration", minimum=2)
    samples: int = option(1000, "number of samples drawn for intervals and p-values", minimum=1)
    sentences: int = option(10, "number of sentences in the report, those where systems differ most", minimum=0)


@dataclass(frozen=True)
class Translation:
    """How systems are made, tuned, run and compared. A limit of -1 is none."""

    systems: dict[str, tuple[str, ...]]  # name → models
    limits: tuple[int, ...]
    tune_limit: int
    baselines: tuple[str, ...]
    metrics: tuple[str, ...]
    fix: dict[str, dict[str, float | list[float]]]  # weights that tuning leaves alone, by system and feature
    counts: Counts
    tuning: Tuning
    decoding: Decoding

    def resolved(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "systems": {name: list(models) for name, models in self.systems.items()},
            "limits": [shown_limit(limit) for limit in self.limits],
            "tune-limit": shown_limit(self.tune_limit),
            "baselines": list(self.baselines),
            "metrics": list(self.metrics),
            "fix": self.fix,
            **to_mapping(self.counts),
            "tuning": to_mapping(self.tuning),
            "decoding": to_mapping(self.decoding),
        }


def shown_limit(limit: int) -> int | str:
    """A limit as experiment files have it."""
    return "none" if limit == NO_LIMIT else limit


def read_translation(table: Table, models: Mapping[str, NamedModel]) -> Translation:
    """Read `[translation]`."""
    systems = _read_systems(table, models)
    limits = tuple(_limit(table, "limits", value) for value in table.take("limits", list, [6]))
    if not limits or len(set(limits)) != len(limits):
        raise table.error("limits", 'must be a list of different distortion limits, for example [6, 10, "none"]')
    tune_limit = _limit(table, "tune_limit", table.rest.pop("tune_limit", limits[0] if limits[0] >= 0 else "none"))
    baselines = tuple(table.take_list("baselines", str, list(systems)[:1]))
    for baseline in baselines:
        table.choice("baselines", baseline, systems)
    named = tuple(table.take_list("metrics", str, list(DEFAULT_METRICS)))
    for name in named:
        table.choice("metrics", name.partition(":")[0].lower(), METRICS.names())
        table.trying(lambda name=name: make_metric(name), "metrics")  # type: ignore[misc]
    fix = _read_fix(table.table("fix"), systems)
    tuning = table.table("tuning").options(Tuning)
    table.trying(lambda: make_metric(tuning.metric), "tuning")
    table.trying(lambda: OPTIMIZERS.make(tuning.optimizer), "tuning")
    decoding = table.table("decoding").options(Decoding)
    counts = table.options(Counts, KEYS)
    return Translation(systems, limits, tune_limit, baselines, named, fix, counts, tuning, decoding)


def _read_systems(table: Table, models: Mapping[str, NamedModel]) -> dict[str, tuple[str, ...]]:
    """Each system and its models; unless systems are named, every model has one of its own."""
    if "systems" not in table:
        return {name: () if model.cls.is_distance else (name,) for name, model in models.items()}
    named = table.table("systems")
    systems = {}
    for key in list(named.rest):
        name = named.written[key]
        members = named.take_list(key, str, [])
        for member in members:
            named.choice(key, member, models)
        if not all(c.isalnum() or c in "-_+." for c in name):
            raise named.error(key, "a system's name may contain only letters, digits and -_+.")
        systems[name] = tuple(members)
    return systems


def _read_fix(table: Table, systems: Mapping[str, Any]) -> dict[str, dict[str, float | list[float]]]:
    """The weights that are fixed in each system; whether a system has such a feature is known when it is built."""
    fix: dict[str, dict[str, float | list[float]]] = {}
    for key in list(table.rest):
        system = table.choice(key, table.written[key], systems)
        weights = table.table(key)
        fix[system] = {}
        for feature, value in weights.rest.items():
            values = value if isinstance(value, list) else [value]
            if not values or any(isinstance(v, bool) or not isinstance(v, int | float) for v in values):
                raise weights.error(feature, f"a weight is a number, or a list of numbers, not {value!r}")
            fix[system][weights.written[feature]] = [float(v) for v in values]
    return fix


def _limit(table: Table, key: str, value: Any) -> int:
    if value == "none":
        return NO_LIMIT
    try:
        return int(Option(key, int, minimum=0).check(value))
    except OptionError:
        raise table.error(key, f'a limit is a number of words or "none", not {value!r}') from None
