"""`pack` and `unpack`: the ends of training elsewhere that need hyperbaton."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

from hyperbaton.align import visit_order
from hyperbaton.corpus import Annotations, Bitext
from hyperbaton.models._next_position import JumpTraining
from hyperbaton.models.encoder import Encoder


def read(files: list[str], tags: str | None, n: int | None = None) -> tuple[Bitext, Annotations]:
    bitext = Bitext.read(*files)
    annotations = Annotations.read({"source_tags": tags}, bitext.source, bitext.target)
    if n is not None and n < len(bitext):
        chosen = np.arange(n)
        return bitext.select(chosen), annotations.select(chosen)
    return bitext, annotations


def prepared(model: Encoder, bitext: Bitext, annotations: Annotations, *, trains: bool) -> dict[str, np.ndarray]:
    """The arrays of `Sentences`, as small as they can be."""
    visits = visit_order(bitext.need_links())
    if trains:
        model.n_jumps_ = len(visits.jumps(bitext.source.lengths).next)
        model.vocabulary_, model.source_classes_ = bitext.source.vocabulary, None
        model.tag_vocabulary_ = None if annotations.source_tags is None else annotations.source_tags.vocabulary
        model.signature_ = bitext.signature()
    known = model._known(bitext.source, annotations)
    if trains:
        model.prepare(JumpTraining(known, visits, None))
    words, labels = model._rows(known)
    narrow = np.uint16 if len(np.unique(model.word_rows_)) < 2**16 else np.uint32
    columns = {
        "words": words.astype(narrow),
        "lengths": known.text.lengths.astype(np.uint16),
        "visits": visits.positions.astype(np.uint16),
        "n_visits": np.diff(visits.offsets).astype(np.uint16),
    }
    return columns | ({} if labels is None else {"labels": labels.astype(np.uint8)})


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.encoder", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    pack, unpack = verbs.add_parser("pack"), verbs.add_parser("unpack")
    unpack.add_argument("folder", type=Path)
    for verb in (pack, unpack):
        verb.add_argument("text", nargs=3, metavar="SRC/TGT/LINKS")
        verb.add_argument("--source-tags")
        verb.add_argument("-o", "--output", type=Path, required=True)
        verb.add_argument("-n", type=int, help="sentence pairs, the first ones")
    pack.add_argument("--held-out", nargs="*", default=[], metavar="NAME=SRC,TGT,LINKS,TAGS")
    unpack.add_argument("--job", required=True, help="as gpu.py calls it, e.g. 420000-all")
    args = parser.parse_args()
    bitext, annotations = read(args.text, args.source_tags, args.n)
    model = Encoder(threads=1)
    train = prepared(model, bitext, annotations, trains=True)
    if args.verb == "pack":
        args.output.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(args.output / "train.npz", **train)
        sizes = {"n_words": int(model.word_rows_.max()) + 1, "n_labels": model.n_labels_ + 3 if model.n_labels_ else 0}
        (args.output / "sizes.json").write_text(json.dumps(sizes))
        for held_out in args.held_out:
            name, _, files = held_out.partition("=")
            *texts, tags = files.split(",")
            part = prepared(model, *read(texts, tags or None), trains=False)
            np.savez_compressed(args.output / f"heldout-{name}.npz", **part)
        return
    arrays: dict[str, np.ndarray] = {}
    for path in sorted(args.folder.glob(f"{args.job}.*.npz")):
        arrays |= np.load(path)
    # The embedding of words comes in parts.
    arrays["word"] = np.concatenate([arrays.pop(name) for name in sorted(arrays) if name.startswith("word.")])
    results = [json.loads(line) for line in (args.folder / "results.jsonl").read_text().splitlines()]
    result = next(result for result in results if result["job"].replace(" ", "-").replace("=", "") == args.job)
    for name, value in result["options"].items():
        setattr(model, name, value)
    model.take(arrays, result["history"])
    model.train_seconds_, model.train_peak_mib_ = result["seconds"], 0.0
    model.save(args.output)


if __name__ == "__main__":
    main()
