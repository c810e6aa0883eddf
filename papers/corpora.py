"""The texts of the papers' experiments: corpora in a folder, or generated text instead."""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from hyperbaton.base import numeric
from hyperbaton.base.arrays import ranges
from hyperbaton.base.errors import InputError
from hyperbaton.base.forms import JsonObject
from hyperbaton.corpus import Bitext
from hyperbaton.corpus.files import read_byte_lines, write_pieces
from hyperbaton.data import generate
from papers.protocol import Setting

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class PaperCorpus:
    """A corpus: its folder, its source language, and the style of the text that is generated instead."""

    folder: str
    source: str
    style: str
    tags: bool = True
    test: str = "devtest"  # the split for testing systems; if it is dev, they are tuned on its first lines
    n_tuning: int = 0

    def files(self, data: Path, split: str) -> dict[str, Path]:
        """The files of a split, named like the columns of `run`; a split may be in a separate folder."""
        ends = {"source": self.source, "target": "en", "links": "links"}
        ends |= {"tags": f"{self.source}.pos"} if self.tags else {}
        prefix = data / (split if "/" in split else f"{self.folder}/{split}")
        return {column: Path(f"{prefix}.{end}") for column, end in ends.items()}

    def experiment_files(self, data: Path) -> list[Path]:
        """All files of an experiment."""
        return [file for split in ("train", "dev", self.test) for file in self.files(data, split).values()]

    def columns(self, data: Path, split: str) -> dict[str, str]:
        """The files of a split as they exist, compressed or not."""
        return {column: str(existing(file).resolve()) for column, file in self.files(data, split).items()}

    def training_text(self, setting: Setting, n_generated: int) -> Bitext:
        """The training split with links, or generated pairs."""
        if setting.data is None:
            return generate(n_generated, style=self.style, seed=setting.seed).bitext
        columns = self.columns(setting.data, "train")
        return _read(columns["source"], columns["target"], columns["links"])

    def joined(self, data: Path, texts: Path, splits: Sequence[str]) -> dict[str, str]:
        """The columns of several splits, concatenated, written once."""
        columns = [self.columns(data, split) for split in splits]

        def write(folder: Path) -> None:
            for name in columns[0]:
                lines = (line + b"\n" for files in columns for line in read_byte_lines(files[name]))
                write_pieces(folder / name, lines)

        folder = made_once(texts / f"{self.folder}-{'-'.join(splits)}", write)
        return {name: str((folder / name).resolve()) for name in columns[0]}

    def experiment_corpus(
        self, setting: Setting, n_train: int, *, n_generated: int, n_test: int = 0, longest: int = 60
    ) -> dict[str, JsonObject]:
        """`[corpus]` of an experiment file: a number of training lines with `longest` words at most, or generated text."""
        if setting.data is None:
            return {"generate": {"style": self.style, "sentences": n_generated + 60, "dev": 30, "test": 30}}
        n_tuning = min(filter(None, (self.n_tuning, setting.tuning_lines)), default=0)
        limits = {
            "train": {"lines": n_train, "max-length": longest},
            "dev": {"max-length": 40, "lines": n_tuning},
            "test": {"skip": self.n_tuning, "lines": n_test},
        }
        splits = {"train": "train", "dev": "dev", "test": self.test}
        return {split: self.columns(setting.data, name) | limits[split] for split, name in splits.items()}


TWLAW = PaperCorpus("twlaw-zh-en", "zh", "chinese")
KYOTO = PaperCorpus("kyoto-ja-en", "ja", "japanese", test="gold-links/ja-en-kftt/gold")
TATOEBA = PaperCorpus("tatoeba-ar-en", "ar", "japanese", tags=False, test="dev", n_tuning=600)


def check_corpora(data: Path, files: Iterable[Path]) -> None:
    """Raise InputError, naming what is missing, unless the folder of the corpora has all these files."""
    if not data.is_dir():
        raise InputError("there is no such folder of corpora", data)
    missing = [f"{file.relative_to(data)}.xz" for file in dict.fromkeys(files) if _found(file) is None]
    if missing:
        more = f" and {len(missing) - 3} more files" if len(missing) > 4 else ""
        named = ", ".join(missing[:3] if more else missing)
        raise InputError(f"the folder of the corpora lacks {named}{more}", data)


def _found(file: Path) -> Path | None:
    return next((path for path in (file, Path(f"{file}.xz")) if path.is_file()), None)


def existing(file: Path) -> Path:
    """The file, or its compressed form."""
    found = _found(file)
    if found is None:
        raise InputError("there is no such file; --data names the folder of the corpora", f"{file}.xz")
    return found


def made_once(folder: Path, write: Callable[[Path], None]) -> Path:
    """A folder of texts shared by several cells, filled by the first of them."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # until the file is closed
        if not (folder / "complete").exists():
            write(folder)
            (folder / "complete").touch()
    return folder


@cache
def _read(source: str, target: str, links: str) -> Bitext:
    """Read once: consecutive cells use the same text."""
    return Bitext.read(source, target, links)


def within(bitext: Bitext, longest: int = 100, ratio: float = 2.0) -> Bitext:
    """The sentence pairs within a limit on length and on the ratio of lengths."""
    n, m = bitext.source.lengths, bitext.target.lengths
    return bitext.select(np.flatnonzero((n <= longest) & (m <= longest) & (n <= ratio * m) & (m <= ratio * n)))


def random_part(bitext: Bitext, size: int, seed: int) -> Ints:
    """A random sample of n sentence pairs from the whole text."""
    return np.sort(np.random.default_rng(seed).permutation(len(bitext))[:size])


def contiguous_part(bitext: Bitext, size: int, seed: int) -> Ints:
    """A run of n adjacent sentence pairs, from a random position."""
    start = int(np.random.default_rng(seed).integers(max(len(bitext) - size, 0) + 1))
    return np.arange(start, min(start + size, len(bitext)))


def repetitive_part(bitext: Bitext, size: int, seed: int, order: int = 4, shortest: int = 6, most: int = 100) -> Ints:
    """The n sentence pairs whose source n-grams recur most in the text, by the mean of the logs of their counts.

    Counts are capped at `most`, and each sentence counts once however often it occurs: otherwise a few formulas would
    make up the whole. Ties are broken at random.

    >>> text = Bitext.of(["a b c d e f", "x y z u v w", "a b c d e g", "a b c d e f"], ["t"] * 4)
    >>> repetitive_part(text, 2, 1).tolist()
    [0, 2]
    """
    tokens, lengths = bitext.source.tokens.astype(np.uint64), bitext.source.lengths
    rng = np.random.default_rng(seed)
    n_grams = np.maximum(lengths - order + 1, 0)
    sentence = np.repeat(np.arange(len(lengths)), n_grams)
    firsts = ranges(bitext.source.offsets[:-1], n_grams)
    keys = np.zeros(len(sentence), np.uint64)
    for k in range(order):
        keys = (keys ^ tokens[firsts + k]) * np.uint64(0x9E3779B97F4A7C15)
        keys ^= keys >> np.uint64(29)
    _, inverse, counts = np.unique(keys, return_inverse=True, return_counts=True)
    logs = numeric.log(np.minimum(counts[inverse], most))
    means = np.bincount(sentence, logs, minlength=len(lengths)) / np.maximum(n_grams, 1)
    # A sentence is identified by its n-grams; of equal ones the first is kept.
    sums = np.zeros(len(lengths), np.uint64)
    np.add.at(sums, sentence, keys)
    first = np.zeros(len(lengths), bool)
    first[np.unique(sums, return_index=True)[1]] = True
    chosen = np.flatnonzero(first & (lengths >= shortest))
    ranked = chosen[np.lexsort((rng.random(len(chosen)), -means[chosen]))]
    return np.sort(ranked[:size])


PARTS = {"random": random_part, "contiguous": contiguous_part, "repetitive": repetitive_part}
