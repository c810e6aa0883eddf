"""Raw text in commands: its languages, and a warning where tokens are expected."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated

from hyperbaton.base.errors import OptionError
from hyperbaton.base.outputs import AnyPath
from hyperbaton.cli._common import say
from hyperbaton.cli._parameters import Flag
from hyperbaton.corpus.files import shown
from hyperbaton.corpus.text import raw_word

if TYPE_CHECKING:
    from hyperbaton.corpus.processing import TextProcessing

Languages = Annotated[
    tuple[str, str] | None,
    Flag("Source and target language of raw text, which is tokenized, e.g. de en:tokenizer=none.", metavar="XX XX"),
]
Tokenized = Annotated[bool, Flag("The text is tokenized, even if it looks like raw text.")]
ADVICE = "name its --languages, e.g. de en"


def parse_languages(languages: tuple[str, str] | None, tokenized: bool = False) -> TextProcessing | None:
    """Parse --languages; None if the text is tokenized."""
    if languages is None or tokenized:
        return None
    from hyperbaton.corpus.processing import TextProcessing

    text = TextProcessing.of(languages)
    if text.changes_words:
        raise OptionError("--languages chooses tokenizers; the casing, escapes and placeholders of a text are set by 'run'")
    return text


def warn_of_raw(
    path: AnyPath, sentences: Iterable[Sequence[str]], quiet: bool, advice: str = "tokenize it ('hyperbaton tokenize')"
) -> None:
    """Warn of text that looks raw where tokens are expected."""
    if not quiet and (word := raw_word(sentences)):
        say(f"warning: {shown(path)}: looks like raw text, for example the word {word!r}: {advice}, or add --tokenized")
