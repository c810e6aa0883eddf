"""The output of `hyperbaton extract`: samples, phrase table, and the samples of each pair, in one artefact."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike

from hyperbaton.base.forms import within
from hyperbaton.base.options import to_mapping
from hyperbaton.base.progress import Progress
from hyperbaton.base.scratch import Scratch
from hyperbaton.base.store import Artefact, Kind, check_offsets, read_artefact, save
from hyperbaton.corpus import Bitext
from hyperbaton.phrases.inventory import Inventory
from hyperbaton.phrases.samples import Extraction, Samples, extract
from hyperbaton.phrases.table import PhraseTable, Scoring

KIND = "phrases"
STORED = Kind(
    KIND,
    {
        **within("samples", Samples.LAYOUT),
        **within("table", PhraseTable.LAYOUT),
        "pairs.offsets": "i8 table.source.n+1",
        "pairs.targets": "u4 n_pairs",
        "pairs.sample_offsets": "i8 n_pairs+1",
        "pairs.sample_order": "u4 n_ordered",
    },
    {"options": {"min-count": int}, "details": {"n_sentences": int}},
)


@dataclass(frozen=True)
class ExtractedPhrases:
    """Samples of a bitext, the inventory of their phrases, and the scored phrase table."""

    samples: Samples
    inventory: Inventory
    table: PhraseTable

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
        return cls(samples, inventory, table)

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
        inventory = self.inventory
        arrays = {
            **self.samples.arrays("samples"),
            **self.table.arrays("table"),
            "pairs.offsets": inventory.offsets,
            "pairs.targets": inventory.targets,
            "pairs.sample_offsets": inventory.sample_offsets,
            "pairs.sample_order": inventory.sample_order,
        }
        options = {**to_mapping(extraction or Extraction()), **to_mapping(scoring or Scoring()), **(pruning or {})}
        details = {
            "n_sentences": len(bitext),
            "n_samples": len(self.samples),
            "n_source_phrases": len(inventory.source),
            "n_target_phrases": len(inventory.target),
            "n_pairs": len(self.table),
        }
        save(path, STORED, arrays, options=options, inputs={"bitext": bitext.signature()}, details=details)

    def check(self) -> None:
        """Raise DamagedError unless all offsets and numbers fit; for code that reads all of them without the core."""
        self.table.check()
        self.inventory.check(len(self.samples))
        check_offsets(self.samples.offsets, len(self.samples))

    @classmethod
    def load(cls, path: str | PathLike[str]) -> ExtractedPhrases:
        """Open the artefact, memory-mapped."""
        return read_artefact(path, STORED, cls._read)

    @classmethod
    def _read(cls, artefact: Artefact) -> ExtractedPhrases:
        table, pairs = PhraseTable.from_arrays(artefact.group("table")), artefact.group("pairs")
        columns = (pairs[name] for name in ("offsets", "targets", "sample_offsets", "sample_order"))
        inventory = Inventory(table.source, table.target, *columns)
        check_offsets(inventory.offsets, inventory.n_pairs)
        return cls(Samples.from_arrays(artefact.group("samples")), inventory, table)
