"""Generated bitext of any size, with true links, tags and trees.

>>> generated = generate(n_sentences=3, style="chinese", noise=0.0)
>>> len(generated), list(generated.bitext.need_links()) == list(generated.true_links)
(3, True)
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.errors import Cancelled, OptionError
from hyperbaton.base.options import from_mapping, option
from hyperbaton.base.progress import Progress
from hyperbaton.corpus import Bitext, Links, Text
from hyperbaton.corpus.files import write_files
from hyperbaton.data.derivation import Deriver
from hyperbaton.data.noise import Noise, Point
from hyperbaton.data.style import STYLES

BLOCK = 500  # sentence pairs between two reports of progress


@dataclass(frozen=True)
class Language:
    """The kind of generated text: a language and its noise."""

    style: str = option("chinese", "style of the source language", choices=STYLES.names)
    noise: float = option(0.05, "noise rate for words, word order and observed links", minimum=0, maximum=1)
    vocabulary: int = option(4000, "approximate size of the source vocabulary", minimum=500)


@dataclass(frozen=True)
class GeneratedText:
    """Generated sentence pairs; line s of every member belongs to sentence pair s.

    The bitext has the observed links. Trees are bracketed text, cut at the
    spaces: `" ".join(source_trees[s])` is the tree of s.
    """

    bitext: Bitext
    true_links: Links
    source_tags: Text
    target_tags: Text
    source_trees: Text

    def __len__(self) -> int:
        return len(self.bitext)

    def select(self, sentences: npt.ArrayLike) -> GeneratedText:
        """The chosen sentence pairs, in that order."""
        numbers = np.asarray(sentences, np.int64)
        return GeneratedText(**{name: column.select(numbers) for name, column in vars(self).items()})

    def split(self, n_dev: int | None = None, n_test: int | None = None) -> dict[str, GeneratedText]:
        """Divide into train, dev and test; dev and test have 500 pairs, or a tenth of all if that is less, by default.

        dev and test are taken from the start: with the same seed they are the same, however large train is.
        """
        held_out = min(500, len(self) // 10)
        n_dev, n_test = (held_out if n is None else n for n in (n_dev, n_test))
        n_train = len(self) - n_dev - n_test
        if min(n_train, n_dev, n_test) < 0:
            raise OptionError(f"cannot take {n_dev} dev and {n_test} test pairs from {len(self)}: make more or take fewer")
        cuts = {"train": (n_dev + n_test, len(self)), "dev": (0, n_dev), "test": (n_dev, n_dev + n_test)}
        return {name: self.select(np.arange(*span)) for name, span in cuts.items()}

    def write(
        self, folder: str | PathLike[str], n_dev: int | None = None, n_test: int | None = None
    ) -> dict[str, GeneratedText]:
        """Write train, dev and test as text files, train.source, train.target, train.links, …; returns the parts."""
        parts = self.split(n_dev, n_test)
        files = {
            str(Path(folder) / f"{name}.{ending}"): column.pieces()
            for name, part in parts.items()
            for ending, column in part._columns().items()
        }
        write_files(files)
        return parts

    def _columns(self) -> Mapping[str, Text | Links]:
        return {
            "source": self.bitext.source,
            "target": self.bitext.target,
            "links": self.bitext.need_links(),
            "true.links": self.true_links,
            "source.tags": self.source_tags,
            "target.tags": self.target_tags,
            "source.trees": self.source_trees,
        }


def generate(
    n_sentences: int = 10_000, *, seed: int = 1, progress: Progress | None = None, **language: Any
) -> GeneratedText:
    """Generate sentence pairs; pair i depends on seed and i alone, so that a larger text begins with the smaller one.

    Arguments:
        language: the options of `Language`, by name: style, noise, vocabulary. The language itself does not depend
            on the seed.
    """
    if n_sentences < 0 or seed < 0:
        raise OptionError(f"n_sentences and seed must be at least 0, not {n_sentences} and {seed}")
    options = from_mapping(Language, language)
    root, lexicon = STYLES[options.style]().build(options.vocabulary)
    deriver, noise = Deriver(root, seed), Noise(options.noise, lexicon)
    texts = [_core.TextBuilder(_core.Vocabulary(), False) for _ in range(5)]
    links, true_links = _LinkColumn(), _LinkColumn()
    for i in range(n_sentences):
        pair = deriver.derive(i)
        noise.disturb(pair, deriver.draw)
        points = sorted({(s, t) for t, word in enumerate(pair.target) for s in word.sources})
        true_links.add(points)
        links.add(noise.observe(points, len(pair.source), len(pair.target), deriver.draw))
        target = [word.word for word in pair.target]
        target_tags = [word.tag for word in pair.target]
        for text, line in zip(texts, (pair.source, target, pair.source_tags, target_tags, [pair.tree]), strict=True):
            text.feed(f"{' '.join(line)}\n".encode())
        if progress and i % BLOCK == 0 and progress(i, n_sentences) is False:
            raise Cancelled("stopped while generating text")
    for text in texts:
        text.finish()
    source, target_text, source_tags, target_tags_text, trees = (Text.taken(text, None)[0] for text in texts)
    bitext = Bitext(source, target_text, links.take())
    return GeneratedText(bitext, true_links.take(), source_tags, target_tags_text, trees)


class _LinkColumn:
    """Collects links as numbers."""

    def __init__(self) -> None:
        self.points, self.offsets = array("H"), array("q", [0])

    def add(self, points: list[Point]) -> None:
        for point in points:
            self.points.extend(point)
        self.offsets.append(len(self.points) // 2)

    def take(self) -> Links:
        return Links(np.array(self.points, np.uint16).reshape(-1, 2), np.array(self.offsets, np.int64))
