"""Cut raw text into tokens."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from hyperbaton.base.errors import OptionError
from hyperbaton.base.progress import n_threads
from hyperbaton.cli import Threads
from hyperbaton.cli._paths import READS, WRITES_FILE
from hyperbaton.corpus.files import write_pieces
from hyperbaton.corpus.raw import RawLines
from hyperbaton.corpus.raw import tokenize as tokenize_lines
from hyperbaton.corpus.tokenizers import make_tokenizer


def tokenize(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The tokenizer: none, sacremoses, jieba, fugashi.")],
    text: Annotated[Path, typer.Argument(metavar="RAW", help="Raw text, one sentence per line."), READS] = Path("-"),
    tags: Annotated[Path | None, typer.Option(metavar="FILE", help="File for the tags of the tokens."), WRITES_FILE] = None,
    language: Annotated[str | None, typer.Option(metavar="XX", help="Two-letter language code, for sacremoses.")] = None,
    repair: Annotated[
        bool, typer.Option("--repair", help="Replace broken lines with empty ones instead of stopping.")
    ] = False,
    threads: Threads = 0,
) -> None:
    """Split raw text into tokens, line by line.

    Examples:

        hyperbaton tokenize sacremoses --language de < raw.de > tokens.de

        hyperbaton tokenize jieba --tags tokens.zh.pos < raw.zh > tokens.zh
    """
    tokenizer = make_tokenizer(name, language)
    if tags is not None and not tokenizer.has_tags:
        raise OptionError(f"the tokenizer {name} does not produce tags")
    blocks = tokenize_lines(RawLines(text, repair), tokenizer, n_threads(threads))
    if tags is None:
        write_pieces("-", (tokens for tokens, _ in blocks))
        return

    def tags_while_printing_tokens() -> Iterator[bytes]:
        for tokens, labels in blocks:
            sys.stdout.buffer.write(tokens)
            yield labels
        sys.stdout.buffer.flush()

    write_pieces(tags, tags_while_printing_tokens())
