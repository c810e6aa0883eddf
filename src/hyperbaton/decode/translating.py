"""Translate a text group by group: a translation does not depend on the sentences around it, so any worker may do it.

The outputs are bytes: translations or n-best lists, traces, links, search graphs.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice, tee
from typing import TYPE_CHECKING, NamedTuple

from hyperbaton.base.errors import SentenceError
from hyperbaton.base.picklable import Picklable
from hyperbaton.base.resources import Resources
from hyperbaton.base.workers import Shared
from hyperbaton.decode.annotated import AnnotatedLines
from hyperbaton.decode.consensus import Consensus
from hyperbaton.decode.options import Decoding
from hyperbaton.decode.result import TRACED, Translations
from hyperbaton.decode.system import System
from hyperbaton.decode.translator import NBest, TokenTranslator

if TYPE_CHECKING:
    from hyperbaton.decode.markup import Terms
    from hyperbaton.decode.raw import RawTranslator

PART = 4  # groups that a worker translates with one loading of the system


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
    consensus: Consensus = field(default_factory=Consensus)

    def write(
        self, translators: Sequence[TokenTranslator], groups: Iterable[AnnotatedLines], first: int = 0
    ) -> Iterator[tuple[int, dict[str, bytes]]]:
        """Translate groups of lines, starting from line `first`: yields the number of lines, and each output.

        Only a consensus is made by several translators.
        """
        if self.consensus.mbr:
            copies = zip(translators, tee(groups, len(translators)), strict=True)
            for lists in zip(*(each.groups(copy, self.consensus.n_best) for each, copy in copies), strict=True):
                lines = self.consensus.choose(lists, translators[0].threads)
                yield len(lines), {"output": "".join(f"{line}\n" for line in lines).encode()}
            return
        traced = "trace" in self.names
        n_best = NBest(max(self.nbest, TRACED if traced else 1), self.distinct and not traced)
        for translations in translators[0].groups(groups, n_best, graph="search-graph" in self.names):
            yield len(translations), {name: b"".join(self._pieces(name, translations, first)) for name in self.names}
            first += len(translations)

    def write_raw(
        self, translator: RawTranslator, groups: Iterable[AnnotatedLines]
    ) -> Iterator[tuple[int, dict[str, bytes]]]:
        """Translate groups of lines of raw text: yields the number of lines, and the output."""
        for group in groups:
            answers = translator.translate(group.lines, html=self.html)
            yield len(answers), {"output": "".join(f"{line}\n" for line in answers).encode()}

    def _pieces(self, name: str, translations: Translations, first: int) -> Iterable[bytes]:
        if name == "links":
            return translations.links().pieces()
        rows: Iterable[str]
        if name == "trace":
            from hyperbaton.decode.records import traces  # here, since few translations are traced

            rows = (json.dumps(item, ensure_ascii=False) for item in traces(translations, first))
        elif name == "search-graph":
            rows = translations.graph(first)
        else:
            rows = translations.nbest(first, self.alignment, self.nbest) if self.nbest else translations.lines()
        return (f"{row}\n".encode() for row in rows)


class TranslatedPart(NamedTuple):
    """The outputs of some groups of lines by name, and terms that could not be used."""

    n_lines: int
    pieces: dict[str, bytes]
    conflicts: list[str]


def translate_groups(
    system: System,
    groups: Iterable[AnnotatedLines],
    outputs: TranslationOutputs,
    decoding: Decoding,
    glossary: Terms | None,
    resources: Resources,
    others: Sequence[tuple[System, Decoding]] = (),
) -> Iterator[TranslatedPart]:
    """Translate groups of lines, each as soon as it is read, or several in a task; yields the outputs in order.

    `others` are more systems for a consensus.
    """
    shared = [(resources.workers.share(s, s.save, System.load), options) for s, options in [(system, decoding), *others]]
    task = _Translating(shared, outputs, glossary, resources.tasks().threads)
    return resources.workers.map(task, _parts(groups, resources.workers.size(1, PART)))


def _parts(groups: Iterable[AnnotatedLines], size: int) -> Iterator[tuple[int, list[AnnotatedLines]]]:
    """Parts of `size` groups, with the number of lines before each."""
    first, rest = 0, iter(groups)
    while part := list(islice(rest, size)):
        yield first, part
        first += sum(len(group.lines) for group in part)


@dataclass(frozen=True)
class _Translating(Picklable):
    """Translates groups of lines."""

    systems: Sequence[tuple[Shared[System], Decoding]]
    outputs: TranslationOutputs
    glossary: Terms | None
    threads: int

    @cached_property
    def translators(self) -> list[TokenTranslator]:
        return [
            TokenTranslator(system.value, decoding, threads=self.threads, glossary=self.glossary)
            for system, decoding in self.systems
        ]

    @cached_property
    def raw(self) -> RawTranslator:
        from hyperbaton.decode.raw import RawTranslator  # here, since its patterns are slow to compile

        return RawTranslator(self.translators[0])

    def __call__(self, part: tuple[int, list[AnnotatedLines]]) -> TranslatedPart:
        (first, groups), outputs, n_lines = part, self.outputs, 0
        pieces: dict[str, list[bytes]] = {name: [] for name in outputs.names}
        try:
            written = outputs.write_raw(self.raw, groups) if outputs.raw else outputs.write(self.translators, groups, first)
            for n, group in written:
                n_lines += n
                for name, piece in group.items():
                    pieces[name].append(piece)
        except SentenceError as error:
            raise error.moved(first) from error
        conflicts = [] if self.glossary is None else self.glossary.take_conflicts()
        return TranslatedPart(n_lines, {name: b"".join(column) for name, column in pieces.items()}, conflicts)
