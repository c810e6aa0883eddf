"""Whether wider instructions pay off: one source built for plain x86-64 and for x86-64-v3 (AVX2), timed in turn.

    cmake -S . -B build/plain -G Ninja -DPython_EXECUTABLE=$PWD/.venv/bin/python
    cmake -S . -B build/wider -G Ninja -DPython_EXECUTABLE=$PWD/.venv/bin/python -DCMAKE_CXX_FLAGS=-march=x86-64-v3
    cmake --build build/plain --target _core && cmake --build build/wider --target _core
    python -m benchmarks.processors.wider build/plain build/wider --repeats 7

Prints processor seconds, the minimum over all repeats, of look-ups in a language model, sums of features (maxent, dpr),
jump scores (pair, sequence), and a search with a language model and jump scores; their ratio; and whether the results are
bit-identical.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks._measure import existing_path

ROOT = Path(__file__).parents[2]


def measure(n_sentences: int) -> dict[str, tuple[float, str]]:
    """Seconds and a hash of the results of each kernel, with the core of this process."""
    import numpy as np

    from hyperbaton.data import generate
    from hyperbaton.decode import System, TokenTranslator
    from hyperbaton.lm import LanguageModel
    from hyperbaton.models import MODELS
    from hyperbaton.phrases import PhraseTable, extract

    made = generate(n_sentences + 2000, seed=1).split(n_dev=0, n_test=2000)
    train, test = made["train"].bitext, made["test"].bitext
    lm = LanguageModel.estimate(train.target, order=5)
    samples = extract(test)
    few = "lbfgs:max-passes=3"
    models: dict[str, Any] = {name: MODELS[name](learner=few).fit(train) for name in ("maxent", "dpr", "pair", "sequence")}
    work: dict[str, Callable[[], Any]] = {
        "language model": lambda: [lm.score_words(test.target, threads=1)[0] for _ in range(50)].pop(),
        "maxent": lambda: models["maxent"].sample_logprobs(test, samples),
        "dpr": lambda: models["dpr"].sample_logprobs(test, samples),
        "pair": lambda: models["pair"].jump_logprobs(test.source).values,
        "sequence": lambda: models["sequence"].jump_logprobs(test.source).values,
    }
    system = System.of(PhraseTable.build(train, extract(train, 5)), [lm], {"PAIR": models["pair"]})
    lines = [" ".join(line) for line in test.source.select(np.arange(200))]
    work["search"] = lambda: next(TokenTranslator(system, threads=1).batches(lines)).scores
    answers = {}
    for name, ask in work.items():
        ask()  # what is slow the first time
        start = time.process_time()
        values = ask()
        seconds = time.process_time() - start
        answers[name] = (seconds, hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest())
    return answers


def in_core(folder: Path, n_sentences: int) -> dict[str, tuple[float, str]]:
    """Measure with the core of a folder, in a separate process."""
    environment = {
        "PYTHONPATH": os.pathsep.join([str(ROOT / "tests" / "sanitize"), str(ROOT)]),
        "HYPERBATON_CORE": str(folder.resolve()),
        "OMP_NUM_THREADS": "1",
    }
    code = f"import json; from benchmarks.processors.wider import measure; print(json.dumps(measure({n_sentences})))"
    done = subprocess.run([sys.executable, "-c", code], env=os.environ | environment, check=True, capture_output=True)
    answers: dict[str, tuple[float, str]] = json.loads(done.stdout)
    return answers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("plain", type=existing_path)
    parser.add_argument("wider", type=existing_path)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--sentences", type=int, default=4000)
    options = parser.parse_args()
    best: dict[str, list[float]] = {}
    bits: dict[str, set[str]] = {}
    for _ in range(options.repeats):
        for place, folder in enumerate((options.plain, options.wider)):
            for name, (seconds, digest) in in_core(folder, options.sentences).items():
                own = best.setdefault(name, [float("inf"), float("inf")])
                own[place] = min(own[place], seconds)
                bits.setdefault(name, set()).add(digest)
    print("kernel\tplain (s)\twider (s)\tratio\tsame bits")
    for name, (plain, wider) in best.items():
        print(f"{name}\t{plain:.3f}\t{wider:.3f}\t{plain / wider:.2f}\t{'yes' if len(bits[name]) == 1 else 'no'}")


if __name__ == "__main__":
    main()
