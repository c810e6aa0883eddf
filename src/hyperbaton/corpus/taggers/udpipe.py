"""Tags by UDPipe 1."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from hyperbaton.base.errors import InputError, OptionError, importing
from hyperbaton.base.options import option
from hyperbaton.corpus.taggers import Tagger


@dataclass
class Udpipe(Tagger):
    """Any language that UDPipe 1 has a model for."""

    model: str = option("", "file of the model, such as german-gsd-ud-2.5-191206.udpipe", path=True)
    tags: str = option("universal", "universal tags, or those of the language", choices=("universal", "fine"))

    @cached_property
    def engine(self) -> Any:
        if not self.model:
            raise OptionError("udpipe needs the file of a model, for example udpipe:model=german-gsd-ud-2.5-191206.udpipe")
        with importing("ufal.udpipe", "udpipe", "ufal ufal.udpipe"):
            import ufal.udpipe
        if not Path(self.model).is_file():
            raise InputError("there is no such file; models are at https://hdl.handle.net/11234/1-3131", self.model)
        model = ufal.udpipe.Model.load(self.model)
        if model is None:
            raise InputError("is not a model of UDPipe 1", self.model)
        return model

    def label(self, sentences: Sequence[Sequence[str]]) -> Iterable[Sequence[str]]:
        return (self._tags(sentence) for sentence in sentences)

    def _tags(self, sentence: Sequence[str]) -> list[str]:
        model = self.engine
        from ufal.udpipe import ProcessingError, Sentence

        words, error = Sentence(), ProcessingError()
        for token in sentence:
            words.addWord(token)
        if not model.tag(words, model.DEFAULT, error):
            raise InputError(f"the model gives no tags: {error.message}", self.model)
        rows = list(words.words)[1:]  # the first row is the root
        return [row.upostag if self.tags == "universal" else row.xpostag for row in rows]
