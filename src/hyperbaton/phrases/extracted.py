"""The output of `hyperbaton extract`: the phrase table and the orientations of its pairs' samples, in one artefact."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from os import PathLike

from hyperbaton.base.arrays import Array
from hyperbaton.base.forms import within
from hyperbaton.base.options import to_mapping
from hyperbaton.base.progress import Progress
from hyperbaton.base.resources import Resources
from hyperbaton.base.scratch import Scratch
from hyperbaton.base.store import Arrays, Artefact, Kind, read_artefact, save
from hyperbaton.corpus import Bitext
from hyperbaton.phrases.pair_orientations import PairOrientations
from hyperbaton.phrases.samples import Extraction
from hyperbaton.phrases.table import PhraseTable, Scoring

KIND = "phrases"
STORED = Kind(
    KIND,
    {
        **within("table", PhraseTable.LAYOUT),
        **within("orientations", PairOrientations.LAYOUT, n_source_phrases="table.source.n"),
    },
    {"options": {"min-count": int}, "details": {"n_sentences": int}},
)


@dataclass(frozen=True)
class ExtractedPhrases:
    """The scored phrase pairs of a bitext, and the orientations of their samples.

    The samples themselves are not stored; `hyperbaton.phrases.extract` recomputes them.
    """

    table: PhraseTable
    orientations: PairOrientations

    @classmethod
    def of(
        cls,
        bitext: Bitext,
        extraction: Extraction | None = None,
        scoring: Scoring | None = None,
        *,
        threads: int | None = None,
        progress: Progress | None = None,
        scratch: Scratch | None = None,
    ) -> ExtractedPhrases:
        """Extract and score the phrase pairs of a bitext with links.

        With `scratch` the work is done in pieces that fit into its memory; the result does not change.
        """
        from hyperbaton.phrases.shards import extract_phrases  # not needed to read extracted phrases

        return extract_phrases(bitext, Resources.of(threads, progress, scratch), extraction, scoring)

    def save(
        self,
        path: str | PathLike[str],
        bitext: Bitext,
        extraction: Extraction | None = None,
        scoring: Scoring | None = None,
        *,
        pruning: Mapping[str, object] | None = None,
    ) -> None:
        """Write everything as one artefact; `pruning` describes how it was pruned."""
        options = {**to_mapping(extraction or Extraction()), **to_mapping(scoring or Scoring()), **(pruning or {})}
        _save(path, self._arrays(), options, bitext, self._sizes())

    @classmethod
    def write(
        cls,
        path: str | PathLike[str],
        make: Callable[[], ExtractedPhrases],
        bitext: Bitext,
        extraction: Extraction | None = None,
        scoring: Scoring | None = None,
    ) -> ExtractedPhrases:
        """Write the result of `make`, and open it; an array's temporary file is removed once the array is written."""
        made = make()
        arrays, sizes = made._arrays(), made._sizes()
        del made
        options = {**to_mapping(extraction or Extraction()), **to_mapping(scoring or Scoring())}
        _save(path, ((name, arrays.pop(name)) for name in list(arrays)), options, bitext, sizes)
        return cls.load(path)

    def _arrays(self) -> dict[str, Array]:
        return {**self.table.arrays("table"), **self.orientations.arrays("orientations", self.table)}

    def _sizes(self) -> dict[str, int]:
        return {
            "n_samples": len(self.orientations),
            "n_source_phrases": len(self.table.source),
            "n_target_phrases": len(self.table.target),
            "n_pairs": len(self.table),
        }

    def check(self) -> None:
        """Raise DamagedError unless all offsets and numbers fit; for code that reads all of them without the core."""
        self.table.check()
        self.orientations.check()

    @classmethod
    def load(cls, path: str | PathLike[str]) -> ExtractedPhrases:
        """Open the artefact, memory-mapped."""
        return read_artefact(path, STORED, cls._read)

    @classmethod
    def _read(cls, artefact: Artefact) -> ExtractedPhrases:
        table = PhraseTable.from_arrays(artefact.group("table"))
        return cls(table, PairOrientations.from_arrays(artefact.group("orientations"), table))


def _save(
    path: str | PathLike[str],
    arrays: Arrays | Iterable[tuple[str, Array]],
    options: Mapping[str, object],
    bitext: Bitext,
    sizes: Mapping[str, int],
) -> None:
    details = {"n_sentences": len(bitext), **sizes}
    save(path, STORED, arrays, options=options, inputs={"bitext": bitext.signature()}, details=details)
