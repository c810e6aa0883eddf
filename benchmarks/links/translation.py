"""Which links translate best: one experiment with links of several settings, tuned three times each.

    export HYPERBATON_DATA=DATA
    python -m benchmarks.links.translation -o FOLDER --parallel 5 --threads 3            # 16 processors
    python -m benchmarks.links.translation -o FOLDER --corpora kyoto --settings links confidence-0.1
    python -m benchmarks.links.translation -o FOLDER --corpora kyoto --models hmm=hmm.model neural=neural.model
    python -m benchmarks.links.translation -o FOLDER --table    # prints the finished cells

Each setting of a corpus is a `hyperbaton run` in a separate folder. Repeating a command continues an interrupted run. The
table has means over the tuning runs (with the standard deviation in brackets): BLEU and RIBES (higher is better), TER and
WER (lower is better), words of the translations per 100 words of the reference, distinct phrase pairs, and the percentage
of unlinked words in the training text. Models are saved aligners, by a name for the table. `corpus` stands for the links
that come with the corpora, by eflomal, trained on the whole text.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
SETTINGS = {
    "links": ["align.for=links"],
    "confidence-0.4": ["align.confidence=0.4"],
    "confidence-0.2": ["align.confidence=0.2"],
    "confidence-0.1": ["align.confidence=0.1"],
    "confidence-0": ["align.confidence=0"],
    "final": ["align.for=links", "align.symmetrization=grow-diag-final"],
    "corpus": [],
    "eflomal": ["align.aligner=eflomal"],  # on the text of the experiment alone; pip install 'hyperbaton[eflomal]'
}
CORPORA = {
    "kyoto": {"train": "kyoto-ja-en/train", "dev": "kyoto-ja-en/dev", "test": "gold-links/ja-en-kftt/gold"},
    "twlaw": {"train": "twlaw-zh-en/train", "dev": "twlaw-zh-en/dev", "test": "twlaw-zh-en/devtest"},
}
PROGRAM = [sys.executable, "-m", "hyperbaton"]
METRICS = ("BLEU", "RIBES", "TER", "WER")


def command(corpus: str, setting: str, folder: Path, threads: int, extra: list[str]) -> list[str]:
    """The run of one cell of the table."""
    changes = [*SETTINGS.get(setting, []), *extra]
    if setting == "corpus":
        for split, path in CORPORA[corpus].items():
            changes.append(f"corpus.{split}.links={path}.links{'' if path.startswith('gold-links') else '.xz'}")
    if setting not in SETTINGS:
        changes += [f"corpus.{split}.links={folder.resolve()}.{split}.links" for split in CORPORA[corpus]]
    program = [*PROGRAM, "run", str(HERE / f"{corpus}.toml"), "-o", str(folder), "--quiet"]
    program += ["--jobs", "3", "--threads", str(threads)]
    return program + [word for change in changes for word in ("--set", change)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--corpora", nargs="+", default=list(CORPORA), choices=list(CORPORA))
    parser.add_argument("--settings", nargs="+", default=list(SETTINGS)[:-1], choices=list(SETTINGS))
    parser.add_argument(
        "--models", nargs="+", default=[], metavar="NAME=FOLDER", help="saved aligners in place of settings"
    )
    parser.add_argument("--set", nargs="+", default=[], metavar="KEY=VALUE", help="changes of the experiment files")
    parser.add_argument("--parallel", type=int, default=1, help="runs at the same time")
    parser.add_argument("--threads", type=int, default=2, help="threads of each")
    parser.add_argument("--table", action="store_true", help="run nothing")
    options = parser.parse_args()
    models = dict(model.split("=", 1) for model in options.models)
    cells = [(corpus, setting) for corpus in options.corpora for setting in models or options.settings]
    options.output.mkdir(parents=True, exist_ok=True)

    def run(cell: tuple[str, str]) -> None:
        folder = options.output / "-".join(cell)
        if cell[1] in models:
            link(cell[0], models[cell[1]], folder, options.threads)
        with folder.with_suffix(".log").open("ab") as log:
            line = command(*cell, folder, options.threads, options.set)
            done = subprocess.run(line, stdout=log, stderr=subprocess.STDOUT)
        print(
            f"{folder.name}: {'done' if done.returncode == 0 else f'failed, see {folder}.log'}", file=sys.stderr, flush=True
        )

    if not options.table:
        with ThreadPoolExecutor(options.parallel) as pool:
            list(pool.map(run, cells))
    print("corpus", "setting", *METRICS, "length", "phrase pairs", "unlinked source, target", sep="\t")
    for corpus, setting in cells:
        folder = options.output / f"{corpus}-{setting}"
        if (folder / "results.json").exists():
            print(corpus, setting, *row(folder), sep="\t")


def link(corpus: str, model: str, folder: Path, threads: int) -> None:
    """Link the texts of a corpus with a saved aligner."""
    experiment = tomllib.loads((HERE / f"{corpus}.toml").read_text())["corpus"]
    for split in CORPORA[corpus]:
        texts = [str(Path(os.environ["HYPERBATON_DATA"]) / experiment[split][side]) for side in ("source", "target")]
        output = f"{folder}.{split}.links"
        if not Path(output).exists():
            line = ["align", *texts, "--model", model, "-o", output, "--quiet", "--threads", str(threads)]
            subprocess.run([*PROGRAM, *line], check=True)


def row(folder: Path) -> list[str]:
    """The columns of one finished run."""
    results = json.loads((folder / "results.json").read_text())
    (system,) = results["translation"]
    scores = [system["scores"][metric] for metric in METRICS]
    reference = results["corpus"]["test"]["target_tokens"]
    lengths = [len(path.read_text().split()) for path in folder.glob("stages/translate.*/hypotheses")]
    train = results["corpus"]["train"]
    unlinked = (100 * train[f"unaligned_{side}"] / train[f"{side}_tokens"] for side in ("source", "target"))
    (targets,) = {np.load(path, mmap_mode="r").shape[0] for path in folder.glob("stages/extract-*/**/*.targets.npy")} or {0}
    return [
        *(f"{score['value']:.2f} ({score['deviation'] or 0:.2f})" for score in scores),
        f"{100 * float(np.mean(lengths)) / reference:.1f}",
        f"{targets:,}",
        ", ".join(f"{share:.1f}" for share in unlinked),
    ]


if __name__ == "__main__":
    main()
