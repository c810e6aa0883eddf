"""Time and memory of language models on one text, and their speed relative to KenLM's in the same run.

    python -m benchmarks.lm train.en test.en --order 5 --memory 4G 256M

Each piece of work runs in a separate process. Estimation of an ARPA file from text is timed for each memory limit with one
thread and with two (peak memory includes mapped files that the system could drop). The processor seconds of its parts
follow, and those of building and storing the tables for scoring. Then the ARPA file is read, and the sentences of the
second text are scored on one thread: by our model from word numbers and from strings, and by KenLM's Python module (pip
install kenlm) from strings. Times are the best of three; `max_difference` is the largest difference between the log10
probabilities of a sentence. `forms` are the sizes of hashed and packed models and the processor time of a query, and
`bits of an n-gram` the columns of packed ones.
"""

from __future__ import annotations

import argparse
import importlib.util
import tempfile

from benchmarks._measure import alone, existing, print_json, print_rows
from benchmarks.lm.work import ask_kenlm, ask_ours, estimate


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text", type=existing)
    parser.add_argument("test", type=existing)
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
