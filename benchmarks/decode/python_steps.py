"""Translation with a step model written in Python, by search.

    python -m benchmarks.decode.python_steps SRC PHRASES LM [--lines 20] [--searches cube:200:6 refine:100:6:40]

The model charges untranslated words before a phrase. Searches are written as for `python -m benchmarks.decode`. Prints
processor seconds and the mean model score of each, one thread.
"""

from __future__ import annotations

import argparse
import time
from itertools import islice
from typing import Any

import numpy as np

from benchmarks._measure import existing, print_rows
from benchmarks.decode.__main__ import parse_search
from hyperbaton.corpus.files import read_lines
from hyperbaton.decode import Decoding, System, TokenTranslator
from hyperbaton.lm import LanguageModel
from hyperbaton.phrases import ExtractedPhrases


class SkippedWords:
    """A step model."""

    def step_scores(self, steps: Any) -> tuple[Any, Any]:
        before = np.arange(steps.coverage.shape[1]) < np.asarray(steps.begin)[:, None]
        return -(before & ~np.asarray(steps.coverage, bool)).sum(1).astype(float), np.zeros(len(steps), int)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", metavar="SRC", type=existing)
    parser.add_argument("phrases", metavar="PHRASES", type=existing)
    parser.add_argument("lm", metavar="LM", type=existing)
    parser.add_argument("--lines", type=int, default=20)
    parser.add_argument("--searches", nargs="+", default=["cube:200:6", "refine:100:6:40", "refine:200:6:40", "stack:40:6"])
    options = parser.parse_args()
    table, lm = ExtractedPhrases.load(options.phrases).table, LanguageModel.load(options.lm)
    system = System.of(table, [lm], {"skipped": SkippedWords()}, {"skipped": 0.3})
    lines = list(islice(read_lines(options.source), options.lines))
    rows = []
    for search in options.searches:
        translator = TokenTranslator(system, Decoding(**parse_search(search)), threads=1)
        start = time.process_time()
        scores = [score for batch in translator.batches(lines) for score in batch.scores.tolist()]
        seconds = time.process_time() - start
        rows.append({"search": search, "processor s": seconds, "score": f"{np.mean(scores):.4f}"})
    print_rows(rows)


if __name__ == "__main__":
    main()
