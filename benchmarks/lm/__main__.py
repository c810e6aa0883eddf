"""Time and memory of language models on one text, and their speed beside KenLM's in the same run.

    python -m benchmarks.lm train.en test.en --order 5 --memory 4G 256M

Each piece of work runs in a separate process. The way from text to an ARPA file is timed for each memory limit with one
thread and with two (its peak memory holds mapped files that the system could drop); then come the processor seconds of its
parts, and of making and storing the tables for questions. Then the ARPA file is read, and the sentences of the second text
are scored on one thread, by us from word numbers and from strings, and by KenLM's Python module (pip install kenlm), which
takes strings; times are the best of three, and `max_difference` is the largest difference of a sentence's log10.
"""

from __future__ import annotations

import argparse
import importlib.util
import tempfile

from benchmarks._measure import alone, print_json, print_rows
from benchmarks.lm.work import ask_kenlm, ask_ours, estimate


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text")
    parser.add_argument("test")
    parser.add_argument("--order", type=int, default=5)
    parser.add_argument("--memory", nargs="+", default=["4G", "256M"])
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print_rows([alone(estimate, args.text, folder, args.order, memory, n) for memory in args.memory for n in (1, 2)])
        ours = alone(ask_ours, folder, args.test)
        print_json({"ours": ours})
        if importlib.util.find_spec("kenlm"):
            theirs = alone(ask_kenlm, folder, args.test)
            ratios = {
                "reading": theirs["read"] / ours["read"],
                "scoring numbers": theirs["strings"] / ours["numbers"],
                "scoring strings": theirs["strings"] / ours["strings"],
            }
            print_json({"kenlm": theirs, "times as fast as kenlm": ratios})


if __name__ == "__main__":
    main()
