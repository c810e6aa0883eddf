"""Speed and accuracy of the jump models: GO13's 9-CLASS, PAIR and SEQUENCE.

    python -m benchmarks.next_position accuracy SRC TGT LINKS --tags F --test SRC TGT LINKS --test-tags F -o RESULTS
    python -m benchmarks.next_position speed SRC TGT LINKS [--tags F] [--sizes 5000 20000]
    python -m benchmarks.next_position cubic

`accuracy` trains all models and draws GO13 Fig. 5. `speed` times objective and gradient by threads. `cubic` compares the
running sums with eq. 2 as printed.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks._measure import existing


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)

    corpus = argparse.ArgumentParser(add_help=False)
    corpus.add_argument("files", nargs=3, metavar="FILE", help="SRC TGT LINKS", type=existing)
    corpus.add_argument("--tags")
    corpus.add_argument("--size", type=int, default=0, help="first sentence pairs; 0 takes all")

    accuracy = commands.add_parser("accuracy", parents=[corpus])
    accuracy.add_argument("--test", nargs=3, required=True, metavar=("SRC", "TGT", "LINKS"))
    accuracy.add_argument("--test-tags")
    accuracy.add_argument("--models", nargs="+", default=["linear_jump", "nine_class", "pair", "sequence"])
    accuracy.add_argument("--threads", type=int, default=0)
    accuracy.add_argument("-o", "--output", type=Path, required=True)

    speed = commands.add_parser("speed", parents=[corpus])
    speed.add_argument("--sizes", type=int, nargs="+", default=[5000])
    speed.add_argument("--threads", type=int, nargs="+", default=[1, 2])

    cubic = commands.add_parser("cubic")
    cubic.add_argument("--lengths", type=int, nargs="+", default=[10, 20, 30, 40, 50, 60])

    arguments = parser.parse_args()
    if arguments.command == "accuracy":
        from benchmarks.next_position import accuracy as chosen
    elif arguments.command == "speed":
        from benchmarks.next_position import speed as chosen
    else:
        from benchmarks.next_position import cubic as chosen
    chosen.run(arguments)


if __name__ == "__main__":
    main()
