"""Values of the command line: from words to the types of the parameters.

typer converts them with pydantic, which takes longer to import than a sentence to translate.
"""

from __future__ import annotations

import typing
from typing import Any

import typer

from hyperbaton.base.options import parse_value


class Converter:
    """Converts the words given for one parameter, in place of typer's own converter."""

    def __init__(self, kind: Any) -> None:
        self._kind = kind

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """The value in the type of the parameter, which defaults have already."""
        if value is None:
            return () if param.multiple or param.nargs == -1 else None
        members = typing.get_args(self._kind)  # of list[T]
        try:
            return [parse_value(members[0], word) for word in value] if members else parse_value(self._kind, value)
        except ValueError as error:
            raise typer.BadParameter(str(error), ctx=ctx, param=param) from None


def convert_values(params: list[Any]) -> list[Any]:
    """Make parameters convert their values with `Converter`; older versions of typer do without pydantic anyway."""
    for param in params:
        if hasattr(param, "get_runtime_param"):
            converter = Converter(param.type_descriptor.annotation)
            param.get_runtime_param = lambda converter=converter: converter
    return params
