"""The command `tokenize`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hyperbaton.base.counted import counted
from hyperbaton.base.errors import OptionError
from hyperbaton.base.outputs import is_stdout
from hyperbaton.cli._common import say
from hyperbaton.cli._paths import READS, WRITES_FILE
from hyperbaton.cli._resources import ThreadOptions
from hyperbaton.corpus.files import writing_outputs
from hyperbaton.corpus.raw import RawLines
from hyperbaton.corpus.raw import tokenize as tokenize_lines
from hyperbaton.corpus.tokenizers import make_tokenizer

HELP_GROUP = "Start here"


def tokenize(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The tokenizer: none, sacremoses, jieba, fugashi.")],
    text: Annotated[Path, typer.Argument(metavar="RAW", help="Raw text, one sentence per line."), READS] = Path("-"),
    tags: Annotated[Path | None, typer.Option(metavar="FILE", help="File for the tags of the tokens."), WRITES_FILE] = None,
    language: Annotated[str | None, typer.Option(metavar="XX", help="Two-letter language code, for sacremoses.")] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write; - is stdout."), WRITES_FILE] = Path("-"),
    repair: Annotated[
        bool, typer.Option("--repair", help="Replace broken lines with empty ones instead of stopping.")
    ] = False,
    *,
    common: ThreadOptions,
) -> None:
    """Split raw text into tokens, line by line.

    Examples:

        hyperbaton tokenize sacremoses --language de < raw.de > tokens.de

        hyperbaton tokenize jieba raw.zh --tags tokens.zh.pos -o tokens.zh
    """
    tokenizer = make_tokenizer(name, language)
    if tags is not None and not tokenizer.has_tags:
        raise OptionError(f"the tokenizer {name} does not produce tags")
    outputs = {"--output": output} if tags is None else {"--output": output, "--tags": tags}
    lines, n_lines = RawLines(text, repair), 0
    with writing_outputs(outputs) as opened:
        for tokens, labels in tokenize_lines(lines, tokenizer, common.n_threads):
            opened["--output"].write(tokens)
            if tags is not None:
                opened["--tags"].write(labels)
            n_lines += tokens.count(b"\n")
    if not is_stdout(output):
        say(f"{output}: {counted(n_lines, 'line')}", common.quiet)
