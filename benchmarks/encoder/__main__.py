"""`pack` and `unpack`: the steps before and after training on another machine, which need hyperbaton."""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._measure import existing, existing_path
from hyperbaton.align import visit_order
from hyperbaton.base.resources import Resources
from hyperbaton.corpus import Annotations, Bitext
from hyperbaton.models.encoder import Encoder
from hyperbaton.models.encoder_orientation import OrientationEncoder
from hyperbaton.models.shapes.next_position import JumpTraining
from hyperbaton.models.shapes.orientation import TrainingSamples, with_own
from hyperbaton.phrases import Occurrences, extract, near_samples
from hyperbaton.phrases.coverage import COVERAGE_STATES, states_of_samples


def read(files: list[str], tags: str | None, n: int | None = None) -> tuple[Bitext, Annotations]:
    bitext = Bitext.read(*files)
    annotations = Annotations.read({"source_tags": tags}, bitext.source, bitext.target)
    if n is not None and n < len(bitext):
        chosen = np.arange(n)
        return bitext.select(chosen), annotations.select(chosen)
    return bitext, annotations


def prepared(model: Encoder, bitext: Bitext, annotations: Annotations, *, trains: bool) -> dict[str, np.ndarray]:
    """The arrays of `Sentences`, in the smallest possible types."""
    visits = visit_order(bitext.need_links())
    if trains:
        model.n_jumps_ = len(visits.jumps(bitext.source.lengths).next)
        model.vocabulary_, model.source_classes_ = bitext.source.vocabulary, None
        model.tag_vocabulary_ = None if annotations.source_tags is None else annotations.source_tags.vocabulary
        model.signature_ = bitext.signature()
    known = model._known(bitext.source, annotations)
    if trains:
        model.prepare(JumpTraining(known, visits))
    words, labels = model._rows(known)
    narrow = np.uint16 if len(np.unique(model.word_rows_)) < 2**16 else np.uint32
    columns = {
        "words": words.astype(narrow),
        "lengths": known.text.lengths.astype(np.uint16),
        "visits": visits.positions.astype(np.uint16),
        "n_visits": np.diff(visits.offsets).astype(np.uint16),
    }
    return columns | ({} if labels is None else {"labels": labels.astype(np.uint8)})


def oriented(model: OrientationEncoder, bitext: Bitext, annotations: Annotations, *, trains: bool) -> dict[str, Any]:
    """The arrays of `Phrases`, in the smallest possible types; the sizes of the network are those of training."""
    samples = near_samples(extract(bitext, model.max_length), model.max_distance)
    labels = model.labels(samples)
    if trains:
        model.source_vocabulary_, model.target_vocabulary_ = bitext.source.vocabulary, bitext.target.vocabulary
        model.source_classes_ = model.target_classes_ = None
        model.tag_vocabulary_ = None if annotations.source_tags is None else annotations.source_tags.vocabulary
        model.class_counts_ = np.bincount(labels, minlength=len(model.class_names))
        model.coverage_weights_ = None
        model.signature_ = bitext.signature()
    occurrences = model.known(Occurrences.of_samples(bitext, samples, annotations.source_tags))
    possible = with_own(model.possible(bitext, samples), labels)
    training = TrainingSamples(
        occurrences, labels, samples.distance_before, Resources(1), possible, states_of_samples(bitext, samples)
    )
    if trains:
        shape, phrases = model.prepare(training)
        model.shape_ = shape
    else:
        phrases = model.phrases(training)
    columns = phrases._asdict()
    columns["lengths"] = np.diff(columns.pop("offsets")).astype(np.uint16)
    columns["n_phrases"] = np.diff(columns.pop("phrase_offsets")).astype(np.uint32)
    columns["length"] = columns.pop("end") - columns["begin"]
    return {
        name: column.astype(np.uint8 if column.max(initial=0) < 2**8 else np.uint16 if column.max() < 2**16 else np.uint32)
        for name, column in columns.items()
        if column is not None
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.encoder", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    pack, unpack = verbs.add_parser("pack"), verbs.add_parser("unpack")
    unpack.add_argument("folder", type=existing_path)
    for verb in (pack, unpack):
        verb.add_argument("text", nargs=3, metavar="SRC/TGT/LINKS", type=existing)
        verb.add_argument("--source-tags")
        verb.add_argument("-o", "--output", type=Path, required=True)
        verb.add_argument("-n", type=int, help="sentence pairs, the first ones")
        verb.add_argument("--orientations", help="for encoder_orientation: the orientation set")
    pack.add_argument("--held-out", nargs="*", default=[], metavar="NAME=SRC,TGT,LINKS,TAGS")
    unpack.add_argument("--job", required=True, help="as gpu.py calls it, e.g. 420000-all")
    args = parser.parse_args()
    bitext, annotations = read(args.text, args.source_tags, args.n)
    model = OrientationEncoder(orientations=args.orientations) if args.orientations else Encoder(threads=1)
    make = oriented if args.orientations else prepared
    train = make(model, bitext, annotations, trains=True)
    if args.verb == "pack":
        args.output.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(args.output / "train.npz", **train)
        sizes = {"n_words": int(model.word_rows_.max()) + 1, "n_labels": model.n_labels_ + 3 if model.n_labels_ else 0}
        if args.orientations:
            sizes |= {name: getattr(model.shape_, name) for name in ("n_target_words", "n_lengths", "n_classes")}
            sizes["n_states"] = COVERAGE_STATES
        (args.output / "sizes.json").write_text(json.dumps(sizes))
        for held_out in args.held_out:
            name, _, files = held_out.partition("=")
            *texts, tags = files.split(",")
            part = make(model, *read(texts, tags or None), trains=False)
            np.savez_compressed(args.output / f"heldout-{name}.npz", **part)
        return
    arrays: dict[str, np.ndarray] = {}
    for path in sorted(args.folder.glob(f"{args.job}.*.npz")):
        arrays |= np.load(path)
    # Large arrays come in parts.
    cut = sorted(name for name in arrays if re.search(r"\.\d\d$", name))
    for name in {name[:-3] for name in cut}:
        arrays[name] = np.concatenate([arrays.pop(part) for part in cut if part[:-3] == name])
    results = [json.loads(line) for line in (args.folder / "results.jsonl").read_text().splitlines()]
    result = next(result for result in results if result["job"].replace(" ", "-").replace("=", "") == args.job)
    for name, value in result["options"].items():
        setattr(model, name, value)
    model.take(arrays, result["history"])
    if args.orientations:
        model.take_coverage()
    model.train_seconds_, model.train_peak_mib_ = result["seconds"], 0.0
    model.save(args.output)


if __name__ == "__main__":
    main()
