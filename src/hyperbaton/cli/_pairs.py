"""Common parts of the commands that write selected sentence pairs to new files."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from hyperbaton.base.options import Arguments
from hyperbaton.base.outputs import AnyPath, Kind
from hyperbaton.corpus.clean import output_names


class Compression(StrEnum):
    """How new files can be compressed."""

    gz = "gz"
    xz = "xz"
    zst = "zst"


Compress = Annotated[Compression | None, typer.Option("--compress", help="Compress the new files.")]


def suffix(compress: Compression | None) -> str:
    """The suffixes of the new files."""
    return "" if compress is None else f".{compress}"


def new_files(values: Arguments) -> dict[AnyPath, Kind]:
    """The files that -o PREFIX writes."""
    source, target, also = values["source"], values["target"], values["also"] or []
    names = output_names(source, target, also, values["output"], suffix(values["compress"]))
    return dict.fromkeys(names, "file")
