"""Names of languages, and language detection: the language of the system whose vocabulary covers most of the text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from hyperbaton import _core
from hyperbaton.corpus.processing import TextSide
from hyperbaton.corpus.tokenizers import Tokenizer
from hyperbaton.serve.engine import Engine

NAMES = {
    "ar": "Arabic",
    "bg": "Bulgarian",
    "cs": "Czech",
    "da": "Danish",
    "de": "German",
    "el": "Greek",
    "en": "English",
    "es": "Spanish",
    "et": "Estonian",
    "fa": "Persian",
    "fi": "Finnish",
    "fr": "French",
    "he": "Hebrew",
    "hi": "Hindi",
    "hu": "Hungarian",
    "id": "Indonesian",
    "it": "Italian",
    "ja": "Japanese",
    "ko": "Korean",
    "lt": "Lithuanian",
    "lv": "Latvian",
    "nl": "Dutch",
    "no": "Norwegian",
    "pl": "Polish",
    "pt": "Portuguese",
    "ro": "Romanian",
    "ru": "Russian",
    "sk": "Slovak",
    "sl": "Slovenian",
    "sv": "Swedish",
    "th": "Thai",
    "tr": "Turkish",
    "uk": "Ukrainian",
    "vi": "Vietnamese",
    "zh": "Chinese",
}
LONGEST = 1000  # characters that are examined


def name_of(code: str) -> str:
    """The English name of a language.

    >>> name_of("de"), name_of("xx")
    ('German', 'xx')
    """
    return NAMES.get(code, code)


def base_code(code: str) -> str:
    """A code without its region or script, in lower case.

    >>> base_code("EN-US"), base_code("zh_Hans")
    ('en', 'zh')
    """
    return code.replace("_", "-").partition("-")[0].lower()


class _Known(NamedTuple):
    code: str
    side: TextSide
    tokenizer: Tokenizer
    words: _core.Vocabulary


class Detector:
    """Distinguishes the languages of systems by the words in their phrase tables."""

    def __init__(self, engines: Sequence[Engine]) -> None:
        known: dict[str, _Known] = {}
        for engine in engines:
            table, text = engine.system.table, engine.text
            for code, side, vocabulary in (
                (engine.source, text.source, table.source.vocabulary),
                (engine.target, text.target, table.target.vocabulary),
            ):
                known.setdefault(code, _Known(code, side, side.make_tokenizer(), vocabulary.lookup))
        self._known = list(known.values())

    def detect(self, text: str, among: Iterable[str] | None = None) -> list[tuple[str, float]]:
        """Languages, all or those in `among`, with the percentage of the text that they cover; best first."""
        wanted = None if among is None else set(among)
        found = [
            (item.code, self._share(item, text[:LONGEST])) for item in self._known if wanted is None or item.code in wanted
        ]
        return sorted(found, key=lambda item: -item[1])

    def _share(self, item: _Known, text: str) -> float:
        """The percentage of the letters of a text that belong to known words."""
        raw = item.tokenizer(text)[0]
        tokens = [token for token in item.side.as_trained(raw) if any(c.isalpha() for c in token)]
        n_letters = sum(map(len, tokens))
        n_known = sum(len(token) for token in tokens if item.words.find(token) >= 0 or item.words.find(token.lower()) >= 0)
        return round(100 * n_known / n_letters, 1) if n_letters else 0.0
