"""The pieces of work that are measured, each in a separate process."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from hyperbaton.base.resources import Resources
from hyperbaton.corpus import Bitext
from hyperbaton.phrases import (
    Extraction,
    ReorderingType,
    extract,
    extract_phrases,
    reordering_probabilities,
)
from hyperbaton.phrases.moses import write_moses

REORDERING = "wbe-msd-bidirectional-fe"


def samples(paths: list[str], n: int, max_length: int, threads: int) -> dict[str, Any]:
    """Extraction alone: from a bitext in memory to sample columns."""
    bitext = Bitext.read(*paths).select(np.arange(n))
    start = time.perf_counter()
    samples = extract(bitext, max_length, threads=threads)
    return {"seconds": time.perf_counter() - start, "samples": len(samples)}


def tables(paths: list[str], max_length: int, threads: int, folder: str) -> dict[str, Any]:
    """The whole pipeline: from text files to scored phrase and reordering tables, gzipped."""
    start = time.process_time()
    bitext = Bitext.read(*paths)
    extracted = extract_phrases(bitext, Extraction(max_length), resources=Resources.of(threads))
    kind = ReorderingType.parse(REORDERING)
    probabilities = reordering_probabilities(extracted.orientations, kind, threads=threads)
    scored = time.process_time()
    files = write_moses(folder, extracted.table, [(kind, probabilities)])
    return {
        "pairs": len(extracted.table),
        "processor_s": time.process_time() - start,
        "writing_s": time.process_time() - scored,
        "file_mib": sum(file.stat().st_size for file in files) / 2**20,
    }
