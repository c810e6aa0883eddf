"""One measurement of translation, in a process of its own."""

from __future__ import annotations

import time
from typing import Any

from hyperbaton.corpus.files import read_lines
from hyperbaton.decode import Decoding, System, Translator, annotate


def translate(system: str, source: str, tags: str | None, n: int, options: dict[str, Any], threads: int) -> dict[str, Any]:
    """Translate the first n lines; seconds to load, wall and processor seconds, words, mean model score."""
    start = time.perf_counter()
    loaded = System.load(system)
    translator = Translator(loaded, Decoding(**options), threads=threads)
    list(translator.batches([""], annotations=annotate([""], tags=None if tags is None else [""])))
    loading = time.perf_counter() - start
    lines = list(read_lines(source))[:n]
    annotations = annotate(lines, tags=None if tags is None else list(read_lines(tags))[:n])
    start, processor = time.perf_counter(), time.process_time()
    scores = [score for batch in translator.batches(lines, annotations=annotations) for score in batch.scores.tolist()]
    return {
        "load_s": loading,
        "seconds": time.perf_counter() - start,
        "processor_s": time.process_time() - processor,
        "words": sum(len(line.split()) for line in lines),
        "score": sum(scores) / len(scores),
    }
