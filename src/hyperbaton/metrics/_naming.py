"""Metrics by name: `bleu`, `BLEU`, or with options `bleu:tokenize=none:lowercase=yes`."""

from __future__ import annotations

from typing import Any

from hyperbaton.base.errors import OptionError
from hyperbaton.base.options import Option, from_mapping, options_of
from hyperbaton.base.registry import Registry
from hyperbaton.metrics._metric import Metric

metrics: Registry[Metric] = Registry("metric", "hyperbaton.metrics", Metric)

_SWITCHES = {"yes": True, "true": True, "no": False, "false": False}


def make_metric(text: str) -> Metric:
    """Make a metric from its name and options.

    >>> make_metric("chrF:word-order=2").word_order
    2
    >>> make_metric("bleu:token=none")
    Traceback (most recent call last):
        ...
    hyperbaton.base.errors.OptionError: unknown option 'token'; known: tokenize, lowercase, smooth, max-order
    """
    name, *settings = text.strip().split(":")
    kind = metrics[name.lower()]
    known = {opt.flag: opt for opt in options_of(kind)}
    values: dict[str, Any] = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals:
            raise OptionError(f"options of a metric are written name:option=value, not {text!r}")
        opt = known.get(key.replace("_", "-"))
        values[key] = value if opt is None else _parsed(opt, value)
    return from_mapping(kind, values)


def _parsed(opt: Option, value: str) -> Any:
    try:
        if opt.type is bool:
            return _SWITCHES[value.lower()]
        return opt.type(value) if opt.type in (int, float) else value
    except (KeyError, ValueError) as error:
        raise OptionError(f"{opt.flag} must be of type {opt.type.__name__}, not {value!r}") from error
