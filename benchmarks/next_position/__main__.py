"""Speed and accuracy of the jump models: GO13's 9-CLASS, PAIR and SEQUENCE.

    python -m benchmarks.next_position accuracy SRC TGT LINKS --tags F --test SRC TGT LINKS --test-tags F -o RESULTS
    python -m benchmarks.next_position speed SRC TGT LINKS [--tags F] [--sizes 5000 20000]
    python -m benchmarks.next_position stream SRC TGT LINKS [--tags F] [--device cuda] [--device-memory all 8G] [--core]

    python -m benchmarks.next_position cubic
    python -m benchmarks.next_position pack SRC TGT LINKS [--tags F] -o PACK.npz
    python -m benchmarks.next_position gpu PACK.npz -o RESULTS [--device cuda]

`accuracy` trains all models and draws GO13 Fig. 5. `speed` times objective and gradient by backend. `stream` trains with
PyTorch, with all features on the device or as many as a limit allows. `cubic` compares the running sums with eq. 2 as
printed. `pack` writes the input of `gpu`, which needs only NumPy and PyTorch: words, tags and jumps as numbers. `gpu`
computes the features itself, times objective and gradient, and trains to convergence; if the pack includes test text, it
prints accuracy and mean log-probability on it.
"""

from __future__ import annotations

import argparse
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)

    corpus = argparse.ArgumentParser(add_help=False)
    corpus.add_argument("files", nargs=3, metavar=("SRC", "TGT", "LINKS"))
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
    speed.add_argument("--torch", nargs="*", default=["cpu"], help="devices of PyTorch")

    stream = commands.add_parser("stream", parents=[corpus])
    stream.add_argument("--model", default="sequence")
    stream.add_argument("--device", default="cuda")
    stream.add_argument("--device-memory", nargs="+", default=["all"], help="limits to try, e.g. all 8G")
    stream.add_argument("--variance", type=float, default=0.003)
    stream.add_argument("--max-passes", type=int, default=150)
    stream.add_argument("--threads", type=int, default=0)
    stream.add_argument("--core", action="store_true", help="compute the objective in the core too")

    cubic = commands.add_parser("cubic")
    cubic.add_argument("--lengths", type=int, nargs="+", default=[10, 20, 30, 40, 50, 60])

    pack = commands.add_parser("pack", parents=[corpus])
    pack.add_argument("--test", nargs=3, metavar=("SRC", "TGT", "LINKS"), help="held-out text to pack with it")
    pack.add_argument("--test-tags")
    pack.add_argument("-o", "--output", type=Path, required=True)

    gpu = commands.add_parser("gpu")
    gpu.add_argument("pack", type=Path)
    gpu.add_argument("--device", default="cuda")
    gpu.add_argument("--size", type=int, default=0, help="first sentences; 0 takes all")
    gpu.add_argument("--min-count", type=int, default=4)
    gpu.add_argument("--variances", type=float, nargs="+", default=[0.1])
    gpu.add_argument("--max-passes", type=int, default=300)
    gpu.add_argument("--tolerance", type=float, default=1e-3)
    gpu.add_argument("--models", nargs="+", default=["pair", "sequence"])
    gpu.add_argument("--train", nargs="*", default=["float64"], help="number types to train with")
    gpu.add_argument("-o", "--output", type=Path, required=True)

    arguments = parser.parse_args()
    # Each command imports what it needs: `gpu` must run without the package.
    if arguments.command == "accuracy":
        from benchmarks.next_position import accuracy as chosen
    elif arguments.command == "speed":
        from benchmarks.next_position import speed as chosen
    elif arguments.command == "stream":
        from benchmarks.next_position import stream as chosen
    elif arguments.command == "cubic":
        from benchmarks.next_position import cubic as chosen
    elif arguments.command == "pack":
        from benchmarks.next_position import pack as chosen
    else:
        from benchmarks.next_position import gpu as chosen
    chosen.run(arguments)


if __name__ == "__main__":
    main()
