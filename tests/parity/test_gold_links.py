"""Alignment error rates on hand-made links, which a change of the aligner must not raise."""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from hyperbaton.align import align, evaluate_links, read_links
from hyperbaton.corpus import Bitext
from hyperbaton.corpus.files import read_lines

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("HYPERBATON_DATA", ROOT.parent / "shared" / "data"))


@pytest.mark.slow
@pytest.mark.skipif(not (DATA / "gold-links").is_dir(), reason="the corpora are not here")
@pytest.mark.parametrize(
    ("gold", "train", "languages", "names", "worst"),
    [
        ("ja-en-kftt", "kyoto-ja-en", ("ja", "en"), ("gold.links", None), 48.0),
        ("zh-en-tsinghua", "twlaw-zh-en", ("zh", "en"), ("gold.sure.links", "gold.possible.links"), 34.0),
    ],
)
def test_error_rate(gold: str, train: str, languages: tuple[str, str], names: tuple[str, str | None], worst: float) -> None:
    folder = DATA / "gold-links" / gold
    texts = []
    for language in languages:
        hand_made = list(read_lines(folder / f"gold.{language}"))
        texts.append(hand_made + list(islice(read_lines(DATA / train / f"train.{language}.xz"), 4000)))
    sure = read_links(folder / names[0])
    possible = None if names[1] is None else read_links(folder / names[1])
    links = align(Bitext.of(texts[0], texts[1])).select(np.arange(len(sure)))
    assert evaluate_links(links, sure, possible).aer < worst
