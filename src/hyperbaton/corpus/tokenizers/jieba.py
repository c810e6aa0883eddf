"""Chinese words and tags by jieba."""

from __future__ import annotations

import logging
import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from hyperbaton.base.errors import importing
from hyperbaton.corpus.tokenizers import Tokenizer


@dataclass
class Jieba(Tokenizer):
    """Chinese: words by jieba's dictionary and hidden Markov model, with its tags."""

    has_tags: ClassVar[bool] = True
    language_code: ClassVar[str] = "zh"

    @cached_property
    def engine(self) -> Any:
        with warnings.catch_warnings(), importing("jieba", "chinese", "jieba"):
            # Its sources contain escapes and imports that newer Pythons warn about.
            warnings.simplefilter("ignore")
            import jieba
            import jieba.posseg

            jieba.setLogLevel(logging.ERROR)
            words = jieba.Tokenizer()
            # Its default initialisation uses a cache in the shared folder for temporary files, which any user could have
            # put there; reading the dictionary itself costs less than a second.
            words.FREQ, words.total = words.gen_pfdict(words.get_dict_file())
            words.initialized = True
            return jieba.posseg.POSTokenizer(words)

    def split(self, line: str) -> list[tuple[str, str]]:
        # The tagger splits words even if its tags are not used, so that words do not depend on the use of tags.
        return [(pair.word, pair.flag) for pair in self.engine.cut(line)]
