"""Tags by a pipeline of spaCy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from hyperbaton.base.errors import OptionError, importing
from hyperbaton.base.options import option
from hyperbaton.corpus.taggers import Tagger

# Parts of a pipeline that do not change tags.
UNUSED = ("parser", "senter", "ner", "lemmatizer", "trainable_lemmatizer", "entity_linker", "textcat", "textcat_multilabel")


@dataclass
class Spacy(Tagger):
    """Any language that spaCy has a pipeline for."""

    model: str = option("", "name or folder of the pipeline, such as de_core_news_sm")
    tags: str = option("fine", "the pipeline's own tags, or universal ones", choices=("fine", "universal"))

    @cached_property
    def engine(self) -> Any:
        if not self.model:
            raise OptionError("spacy needs the name of a pipeline, for example spacy:model=de_core_news_sm")
        with importing("spaCy", "spacy", "spacy"):
            import spacy
        try:
            return spacy.load(self.model, exclude=UNUSED)
        except OSError as error:
            raise OptionError(f"spaCy has no pipeline {self.model!r}: python -m spacy download {self.model}") from error

    def label(self, sentences: Sequence[Sequence[str]]) -> Iterable[Sequence[str]]:
        pipeline = self.engine
        from spacy.tokens import Doc

        for doc in pipeline.pipe(Doc(pipeline.vocab, words=list(sentence)) for sentence in sentences):
            tags = [token.tag_ if self.tags == "fine" else token.pos_ for token in doc]
            if not any(tags):
                raise OptionError(f"the pipeline {self.model!r} gives no {self.tags} tags; choose another one")
            yield tags
