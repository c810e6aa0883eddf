"""Output of translations as bytes: translations or n-best lists, traces, links, search graphs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from hyperbaton.decode.annotated import AnnotatedLines
from hyperbaton.decode.result import Translations
from hyperbaton.decode.trace import TRACED, traces
from hyperbaton.decode.translator import NBest, Translator


@dataclass(frozen=True)
class TranslationOutputs:
    """The requested outputs, of `output`, `trace`, `links` and `search-graph`, and the content of `output`.

    `nbest` is the length of the lists in Moses' format, 0 for plain translations; `raw` reads and writes raw text, with
    `html` pages instead of lines, and has no output but `output`.
    """

    names: tuple[str, ...] = ("output",)
    nbest: int = 0
    distinct: bool = False
    alignment: bool = False
    raw: bool = False
    html: bool = False

    def write(
        self, translator: Translator, groups: Iterable[AnnotatedLines], first: int = 0
    ) -> Iterator[tuple[int, dict[str, bytes]]]:
        """Translate groups of lines, starting from line `first`: yields the number of lines, and each output."""
        if self.raw:
            from hyperbaton.decode.raw import RawTranslator  # here, since its patterns are slow to compile

            raw = RawTranslator(translator)
            for group in groups:
                answers = raw.translate(group.lines, html=self.html)
                yield len(answers), {"output": "".join(f"{line}\n" for line in answers).encode()}
            return
        traced = "trace" in self.names
        n_best = NBest(max(self.nbest, TRACED if traced else 1), self.distinct and not traced)
        for translations in translator.groups(groups, n_best, graph="search-graph" in self.names):
            yield len(translations), {name: b"".join(self._pieces(name, translations, first)) for name in self.names}
            first += len(translations)

    def _pieces(self, name: str, translations: Translations, first: int) -> Iterable[bytes]:
        if name == "links":
            return translations.links().pieces()
        rows: Iterable[str]
        if name == "trace":
            rows = (json.dumps(item, ensure_ascii=False) for item in traces(translations, first))
        elif name == "search-graph":
            rows = translations.graph(first)
        else:
            rows = translations.nbest(first, self.alignment, self.nbest) if self.nbest else translations.lines()
        return (f"{row}\n".encode() for row in rows)
