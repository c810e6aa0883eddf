"""The output of `hyperbaton extract`: the phrase table and the orientations of its pairs' samples, in one artefact."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike

from hyperbaton.base.forms import within
from hyperbaton.base.options import to_mapping
from hyperbaton.base.progress import Progress
from hyperbaton.base.scratch import Scratch
from hyperbaton.base.store import Artefact, Kind, read_artefact, save
from hyperbaton.corpus import Bitext
from hyperbaton.phrases.inventory import Inventory
from hyperbaton.phrases.pair_orientations import PairOrientations
from hyperbaton.phrases.samples import Extraction, extract
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

    The samples themselves are not stored; `hyperbaton.phrases.extract` finds them again.
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

        With `scratch` the work is done in pieces that fit into its memory, with the same result.
        """
        max_length = (extraction or Extraction()).max_length
        samples = extract(bitext, max_length, threads=threads, progress=progress, scratch=scratch)
        inventory = Inventory.of(bitext, samples, threads=threads, progress=progress, scratch=scratch)
        table = PhraseTable.build(
            bitext, samples, scoring, inventory=inventory, threads=threads, progress=progress, scratch=scratch
        )
        return cls(table, PairOrientations.of(inventory, samples, scratch))

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
        arrays = {**self.table.arrays("table"), **self.orientations.arrays("orientations", self.table)}
        options = {**to_mapping(extraction or Extraction()), **to_mapping(scoring or Scoring()), **(pruning or {})}
        details = {
            "n_sentences": len(bitext),
            "n_samples": len(self.orientations),
            "n_source_phrases": len(self.table.source),
            "n_target_phrases": len(self.table.target),
            "n_pairs": len(self.table),
        }
        save(path, STORED, arrays, options=options, inputs={"bitext": bitext.signature()}, details=details)

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
