"""Moses' pipeline from aligned text to scored tables, for comparison."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np

from hyperbaton.align.lexical import LexicalTable
from hyperbaton.corpus import Bitext

# The commands of Moses' training script for these steps, on one machine: the sorts run at the same time.
MOSES = """
set -euo pipefail
export LC_ALL=C
cd "$1"
time_from=$(date +%s.%N)
stage() { now=$(date +%s.%N); echo "$1 $(echo "$now - $time_from" | bc)"; time_from=$now; }
extract train.tgt train.src train.links extract "$2" orientation --model wbe-msd --GZOutput >extract.log 2>&1
stage extract
for part in extract extract.inv extract.o; do gunzip -c $part.gz | sort -T . | gzip -c >$part.sorted.gz & done
wait
score extract.sorted.gz lex.f2e half.f2e.gz >score.log 2>&1
score extract.inv.sorted.gz lex.e2f half.inv.gz --Inverse >score-inverse.log 2>&1
gunzip -c half.inv.gz | sort -T . | gzip -c >half.e2f.gz
consolidate half.f2e.gz half.e2f.gz /dev/stdout 2>consolidate.log | gzip -c >phrase-table.gz
lexical-reordering-score extract.o.sorted.gz 0.5 reordering-table. --model "wbe msd wbe-msd-bidirectional-fe" \\
  >reordering.log 2>&1
stage score
"""
PROGRAMS = ("extract", "score", "consolidate", "lexical-reordering-score", "bc")


def write_lexical(bitext: Bitext, folder: Path) -> None:
    """Write Moses' lexical tables, so that its pipeline need not build them and their time is not counted."""
    table = LexicalTable.from_links(bitext)
    source, target = [*table.source.words(), "NULL"], [*table.target.words(), "NULL"]
    rows = np.repeat(np.arange(len(source)), np.diff(table.offsets))
    with (folder / "lex.f2e").open("w") as forward, (folder / "lex.e2f").open("w") as backward:
        for s, t, (p, q) in zip(rows.tolist(), table.targets.tolist(), table.probabilities.tolist(), strict=True):
            forward.write(f"{target[t]} {source[s]} {p:.7f}\n")
            backward.write(f"{source[s]} {target[t]} {q:.7f}\n")


def moses_chain(folder: Path, max_length: int) -> dict[str, float]:
    """Seconds of Moses' `extract`, and of its pipeline from there to scored tables."""
    command = ["bash", "-c", MOSES, "moses", str(folder), str(max_length)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return {name: float(seconds) for name, seconds in (line.split() for line in done.stdout.splitlines())}
