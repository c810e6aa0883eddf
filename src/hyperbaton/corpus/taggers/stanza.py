"""Tags by Stanza."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from hyperbaton.base.errors import OptionError, importing
from hyperbaton.base.options import option
from hyperbaton.corpus.taggers import Tagger


@dataclass
class Stanza(Tagger):
    """Any language that Stanza has models for."""

    language: str = option("en", "code of the language")
    tags: str = option("universal", "universal tags, or those of the language", choices=("universal", "fine"))

    @cached_property
    def engine(self) -> Any:
        with importing("Stanza", "stanza", "stanza"):
            import stanza
        try:
            return stanza.Pipeline(
                self.language,
                processors="tokenize,pos",
                tokenize_pretokenized=True,
                download_method=None,
                verbose=False,
            )
        except Exception as error:  # of several types, all for missing models
            hint = f"python -c \"import stanza; stanza.download('{self.language}')\""
            reason = str(error).strip().partition("\n")[0]
            raise OptionError(f"Stanza has no models of {self.language!r} ({reason}): {hint}") from error

    def label(self, sentences: Sequence[Sequence[str]]) -> Iterable[Sequence[str]]:
        document = self.engine([list(sentence) for sentence in sentences])
        for sentence in document.sentences:
            yield [(word.upos if self.tags == "universal" else word.xpos) or "" for word in sentence.words]
