"""One measurement of translation, in a separate process."""

from __future__ import annotations

import time
from itertools import cycle, islice
from typing import Any

from hyperbaton.corpus.files import read_lines
from hyperbaton.decode import Decoding, System, TokenTranslator, annotate


def translate(
    system: str, source: str, tags: str | None, n: int, options: dict[str, Any], threads: int, length: int = 0
) -> dict[str, Any]:
    """Translate the first n lines; seconds to load, wall and processor seconds, words, model scores.

    With `length`, every line is cut or repeated to that many words.
    """
    start = time.perf_counter()
    loaded = System.load(system)
    translator = TokenTranslator(loaded, Decoding(**options), threads=threads)
    list(translator.batches([""], annotations=annotate([""], tags=None if tags is None else [""])))
    loading = time.perf_counter() - start
    lines = [of_length(line, length) for line in list(read_lines(source))[:n]]
    labels = None if tags is None else [of_length(line, length) for line in list(read_lines(tags))[:n]]
    annotations = annotate(lines, tags=labels)
    start, processor = time.perf_counter(), time.process_time()
    scores = [score for batch in translator.batches(lines, annotations=annotations) for score in batch.scores.tolist()]
    return {
        "load_s": loading,
        "seconds": time.perf_counter() - start,
        "processor_s": time.process_time() - processor,
        "sentences": len(lines),
        "words": sum(len(line.split()) for line in lines),
        "scores": scores,
    }


def of_length(line: str, length: int) -> str:
    """A line cut or repeated to a number of words; 0 leaves it unchanged.

    >>> of_length("a b c", 5), of_length("a b c", 2)
    ('a b c a b', 'a b')
    """
    words = line.split()
    return " ".join(islice(cycle(words), length)) if length and words else line
