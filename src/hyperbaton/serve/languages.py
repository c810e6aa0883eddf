"""Names of languages, and language detection: the language of the system whose vocabulary covers most of the text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hyperbaton import _core
from hyperbaton.corpus import Vocabulary
from hyperbaton.corpus.processing import TextSide
from hyperbaton.corpus.tokenizers import Tokenizer
from hyperbaton.serve.engine import Engine

_NAMES = """
ar Arabic bg Bulgarian cs Czech da Danish de German el Greek en English es Spanish et Estonian fa Persian fi Finnish
fr French he Hebrew hi Hindi hu Hungarian id Indonesian it Italian ja Japanese ko Korean lt Lithuanian lv Latvian nl
Dutch no Norwegian pl Polish pt Portuguese ro Romanian ru Russian sk Slovak sl Slovenian sv Swedish th Thai tr Turkish
uk Ukrainian vi Vietnamese zh Chinese"""
NAMES = dict(zip(_NAMES.split()[::2], _NAMES.split()[1::2], strict=True))
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


class Detector:
    """Distinguishes the languages of systems by the words in their phrase tables."""

    def __init__(self, engines: Sequence[Engine]) -> None:
        self._languages: dict[str, tuple[TextSide, Tokenizer, Vocabulary]] = {}
        for engine in engines:
            table, text = engine.system.table, engine.text
            for code, side, vocabulary in (
                (engine.source, text.source, table.source.vocabulary),
                (engine.target, text.target, table.target.vocabulary),
            ):
                self._languages.setdefault(code, (side, side.make_tokenizer(), vocabulary))

    def detect(self, text: str, among: Iterable[str] | None = None) -> list[tuple[str, float]]:
        """Languages, all or those in `among`, with the percentage of the text that they cover; best first."""
        codes = self._languages if among is None else self._languages.keys() & set(among)
        shares = [(code, self._share(code, text[:LONGEST])) for code in self._languages if code in codes]
        return sorted(shares, key=lambda item: -item[1])

    def _share(self, code: str, text: str) -> float:
        """The percentage of the letters of a text that belong to words of a language."""
        side, tokenizer, vocabulary = self._languages[code]
        tokens = [token for token in side.as_trained(tokenizer(text)[0]) if any(c.isalpha() for c in token)]
        n_letters = sum(map(len, tokens))
        forms = list({form: None for token in tokens for form in (token, token.lower())})
        numbers = vocabulary.find_all(Vocabulary.of(forms)).tolist()
        known = {form for form, number in zip(forms, numbers, strict=True) if number != _core.UNKNOWN_WORD}
        n_known = sum(len(token) for token in tokens if not known.isdisjoint((token, token.lower())))
        return round(100 * n_known / n_letters, 1) if n_letters else 0.0
