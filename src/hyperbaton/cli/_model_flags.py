"""The options of all models as flags of one verb: a flag that is not given leaves the model's own default."""

from __future__ import annotations

import dataclasses
from typing import Any

import typer

from hyperbaton.base.errors import OptionError
from hyperbaton.base.options import Option, from_mapping, option, options_of
from hyperbaton.models import MODELS, ReorderingModel


def _all_options() -> dict[str, tuple[Option, dict[str, Any]]]:
    """Each option by name, with the models that have it and their defaults."""
    found: dict[str, tuple[Option, dict[str, Any]]] = {}
    for model in MODELS:
        for opt in options_of(MODELS[model]):
            found.setdefault(opt.name, (opt, {}))[1][model] = opt.default
    return found


def _help(opt: Option, defaults: dict[str, Any]) -> str:
    """The option's help, which models have it unless all do, and its defaults."""
    values = {str(value) for value in defaults.values()}
    if len(values) == 1:
        told = f"default {values.pop()}"
        return (
            f"{opt.help} [{told}]"
            if len(defaults) == len(MODELS.names())
            else f"{', '.join(defaults)}: {opt.help} [{told}]"
        )
    return f"{opt.help} [default {', '.join(f'{model}: {value}' for model, value in defaults.items())}]"


ModelFlags = dataclasses.make_dataclass(
    "ModelFlags",
    [
        (name, opt.type | None, option(None, _help(opt, defaults), choices=opt.choices))
        for name, (opt, defaults) in _all_options().items()
    ],
    namespace={"__module__": __name__},
)


def make_model(name: str, flags: Any) -> ReorderingModel:
    """The model of that name with the options that were given."""
    cls = MODELS[name]
    given = {field.name: getattr(flags, field.name) for field in dataclasses.fields(flags)}
    given = {key: value for key, value in given.items() if value is not None}
    own = {opt.name for opt in options_of(cls)}
    for key in given:
        if key not in own:
            known = ", ".join(f"--{opt.flag}" for opt in options_of(cls))
            raise OptionError(f"the model {name} has no option --{key.replace('_', '-')}; it has {known}")
    try:
        return from_mapping(cls, given)
    except OptionError as error:
        raise typer.BadParameter(f"--{error}") from None
