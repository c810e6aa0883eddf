from __future__ import annotations

from pathlib import Path
from typing import Annotated

from hyperbaton.base.counted import counted
from hyperbaton.base.errors import OptionError
from hyperbaton.base.outputs import is_stdout
from hyperbaton.cli._common import say
from hyperbaton.cli._parameters import READS, WRITES_FILE, Argument, Flag, names_plugin
from hyperbaton.cli._resources import ThreadOptions
from hyperbaton.corpus.files import writing_outputs
from hyperbaton.corpus.raw import RawLines
from hyperbaton.corpus.raw import tokenize as tokenize_lines
from hyperbaton.corpus.tokenizers import TOKENIZERS, make_tokenizer


def tokenize(
    name: Annotated[str, Argument("NAME", "The tokenizer."), names_plugin(TOKENIZERS)],
    text: Annotated[Path, Argument("RAW", "Raw text, one sentence per line."), READS] = Path("-"),
    tags: Annotated[Path | None, Flag("File for the tags of the tokens.", metavar="FILE"), WRITES_FILE] = None,
    language: Annotated[str | None, Flag("Two-letter language code, for sacremoses.", metavar="XX")] = None,
    moses_escapes: Annotated[bool, Flag("sacremoses: write &apos; and so on, as Moses does.")] = False,
    output: Annotated[Path, Flag("File to write; - is stdout.", "-o"), WRITES_FILE] = Path("-"),
    repair: Annotated[bool, Flag("Replace broken lines with empty ones instead of stopping.")] = False,
    *,
    common: ThreadOptions,
) -> None:
    """Split raw text into tokens, line by line.

    Examples:

        hyperbaton tokenize sacremoses --language de < raw.de > tokens.de
        hyperbaton tokenize jieba raw.zh --tags tokens.zh.pos -o tokens.zh
    """
    tokenizer = make_tokenizer(name, language, escapes=moses_escapes)
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
