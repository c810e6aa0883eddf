"""Processor time and memory of the way to a gzipped rule table in Moses' form, beside Moses' own programs.

    python -m benchmarks.extract.rules SRC TGT LINKS [--pairs 30000] [--rounds 2]

Moses' programs, `extract-rules`, `score` and `consolidate`, must be on PATH. They are run as its training script does, with
sorts between them; building lexical tables counts for us alone. Each way is measured with everything it starts, in turn.
"""

from __future__ import annotations

import argparse
import gzip
import sys
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks._measure import cost_of, existing, print_rows
from benchmarks.extract.moses import write_lexical
from hyperbaton.corpus import Bitext
from hyperbaton.corpus.files import read_lines
from hyperbaton.phrases.rules import RULE_FILE

MOSES = """
set -euo pipefail
export LC_ALL=C
cd "$0"
extract-rules train.tgt train.src train.links extract --MaxSpan 10 --GZOutput
for part in extract extract.inv; do gunzip -c $part.gz | sort -T . | gzip -c >$part.sorted.gz; done
score extract.sorted.gz lex.f2e half.f2e.gz --Hierarchical
score extract.inv.sorted.gz lex.e2f half.inv.gz --Hierarchical --Inverse
gunzip -c half.inv.gz | sort -T . | gzip -c >half.e2f.gz
consolidate half.f2e.gz half.e2f.gz /dev/stdout --Hierarchical | gzip -c >rule-table.gz
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs=3, metavar="FILE", help="SRC TGT LINKS", type=existing)
    parser.add_argument("--pairs", type=int, default=30_000)
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    with TemporaryDirectory() as name:
        folder = Path(name)
        paths = [folder / file for file in ("train.src", "train.tgt", "train.links")]
        for path, whole in zip(paths, options.files, strict=True):
            path.write_text("".join(f"{line}\n" for line in islice(read_lines(whole), options.pairs)), encoding="utf-8")
        write_lexical(Bitext.read(*paths), folder)
        ours = [sys.executable, "-m", "hyperbaton", "extract", "--hierarchical", *map(str, paths)]
        ours += ["--moses", str(folder / "ours"), "-t", "1", "-q"]
        commands = {"hyperbaton": ours, "moses": ["/bin/bash", "-c", f"({MOSES}) 2>/dev/null", str(folder)]}
        rounds = [{name: cost_of(command) for name, command in commands.items()} for _ in range(options.rounds)]
        seconds = {name: min(each[name][0] for each in rounds) for name in commands}
        tables = [gzip.decompress(path.read_bytes()) for path in (folder / "ours" / RULE_FILE, folder / RULE_FILE)]
        print_rows(
            {
                "program": name,
                "rules": table.count(b"\n"),
                "processor s": seconds[name],
                "relative": seconds[name] / seconds["hyperbaton"],
                "peak MiB": max(each[name][1] for each in rounds),
            }
            for name, table in zip(commands, tables, strict=True)
        )
        rows = [set(table.splitlines()) for table in tables]
        print(f"{len(rows[0] - rows[1])} of our rows are not in the other table, in any place")


if __name__ == "__main__":
    main()
