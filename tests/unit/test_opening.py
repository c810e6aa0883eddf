"""Opening a system reads none of its phrase table, however large it is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from hyperbaton.corpus import Vocabulary
from hyperbaton.decode import System
from hyperbaton.phrases import Phrases, PhraseTable
from hyperbaton.phrases.pair_values import LinkSets, PlainCounts, PlainScores

OPEN = """
import sys
from pathlib import Path
from hyperbaton.decode import System

def mib():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 2**20

System.load(sys.argv[1])  # imports what is needed
before = mib()
system = System.load(sys.argv[2])
print(mib() - before)
"""


def system(n_phrases: int) -> System:
    words = Vocabulary.of([f"w{i:03}" for i in range(1000)])  # in byte order, like the phrases
    numbers = np.arange(n_phrases)
    flat = np.stack([numbers // 1000, numbers % 1000], axis=1).astype(np.uint32).reshape(-1)
    phrases = Phrases.of(np.arange(0, 2 * n_phrases + 1, 2), flat, words)
    rows = np.arange(n_phrases + 1)
    scores = PlainScores(np.full((n_phrases, 4), 0.5, np.float32))
    counts = PlainCounts(np.ones((n_phrases, 3), np.float32))
    links = LinkSets(numbers.astype(np.uint32), rows, np.zeros((n_phrases, 2), np.uint8))
    return System.of(PhraseTable(phrases, phrases, rows, numbers.astype(np.uint32), scores, counts, links))


@pytest.mark.skipif(sys.platform != "linux", reason="the memory of the process is read from /proc")
def test_opening_does_not_read_the_table(tmp_path: Path) -> None:
    for name, n_phrases in (("small", 10), ("large", 500_000)):
        system(n_phrases).save(tmp_path / name)
    size = sum(file.stat().st_size for file in (tmp_path / "large").iterdir()) / 2**20
    command = [sys.executable, "-c", OPEN, str(tmp_path / "small"), str(tmp_path / "large")]
    grown = float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert size > 30
    assert grown < size / 5
