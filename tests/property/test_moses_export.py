"""A system that is exported to Moses' files and imported again is the same system, whatever its options."""

from __future__ import annotations

import tempfile
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperbaton.decode import Decoding, NBest, ReorderingTable, System, TokenTranslator
from hyperbaton.decode.moses import export_moses, import_moses
from hyperbaton.lm import LanguageModel
from hyperbaton.phrases import PhraseTable, ReorderingType
from hyperbaton.phrases.moses import read_phrase_table

LINES = ["a b c d", "d , c q b a", "", "q", '<n translation="z">c</n> <wall/> a b', "b a d c b a d c"]
WORDS = {"a": ["x", "x y"], "b": ["y", "z"], "c": ["z", "x"], "d": ["y"], ",": [","]}
PAIRS = {
    **{(s, t): i for i, (s, t) in enumerate((s, t) for s, ts in WORDS.items() for t in ts)},
    ("a b", "x y"): 10,
    ("a b", "y x"): 11,
    ("b c", "z"): 12,
    ("c d b a", "x x"): 13,
}
KINDS = ("wbe-msd-bidirectional-fe", "hier-mslr-bidirectional-fe", "phrase-mslr-backward-f", "wbe-leftright-forward-fe")


@cache
def table(n_scores: int) -> PhraseTable:
    rng = np.random.default_rng(n_scores)
    rows = (f"{s} ||| {t} ||| {' '.join(map(str, rng.uniform(0, 1, n_scores)))} ||| 0-0 ||| 1 1 1" for s, t in PAIRS)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table"
        path.write_text("\n".join(rows) + "\n", encoding="utf-8")
        return read_phrase_table(path)


@cache
def lm(seed: int) -> LanguageModel:
    rng = np.random.default_rng(seed)
    words = ["<unk>", "<s>", "</s>", "x", "y", "z"]
    lines = [f"{-rng.uniform(0.2, 3)} {word} {-rng.uniform(0, 1)}" for word in words]
    pairs = [f"{-rng.uniform(0.2, 3)} {pair}" for pair in ("<s> x", "x y", "y z", "z </s>")]
    text = [
        "\\data\\",
        f"ngram 1={len(lines)}",
        f"ngram 2={len(pairs)}",
        "",
        "\\1-grams:",
        *lines,
        "",
        "\\2-grams:",
        *pairs,
    ]
    return LanguageModel.parse_arpa("\n".join([*text, "", "\\end\\", ""]))


weights = st.floats(-2, 2, allow_nan=False).map(lambda value: value / 3)
decoding = st.builds(
    Decoding,
    search=st.sampled_from(["stack", "cube"]),
    stack=st.sampled_from([0, 1, 3, 200]),
    pop_limit=st.sampled_from([1, 5, 1000]),
    threshold=st.sampled_from([0.0, 1e-5, 0.1, 1 / 3]),
    distortion_limit=st.sampled_from([-1, 0, 2, 6]),
    table_limit=st.sampled_from([0, 1, 20]),
    early_distortion=st.booleans(),
    future_distortion=st.booleans(),
    drop_unknown=st.booleans(),
    monotone_at_punctuation=st.booleans(),
    markup=st.booleans(),
    max_words=st.sampled_from([3, 250]),
)


@st.composite
def systems(draw: st.DrawFn) -> System:
    phrases = table(draw(st.integers(1, 4)))
    rng = np.random.default_rng(draw(st.integers(0, 9)))
    reordering: dict[str, Any] = {}
    for name in draw(st.sets(st.sampled_from(["LR", "LexicalReordering1", "R.x"]))):
        kind = ReorderingType.parse(draw(st.sampled_from(KINDS)))
        n = len(phrases.source) if kind.conditioning == "f" else len(phrases)
        rows = rng.uniform(0, 1, (n, len(kind.sides) * len(kind.set))).astype(np.float32)
        rows[rng.uniform(size=n) < 0.2] = np.nan
        reordering[name] = ReorderingTable(kind, rows, draw(st.booleans()))
    names = draw(st.lists(st.sampled_from(["LM0", "LM1", "big"]), unique=True, max_size=2))
    options = draw(decoding)
    if options.max_words < 250:
        options.markup = False  # a sentence with markup is not cut
    system = System.of(phrases, {name: lm(i) for i, name in enumerate(names)}, reordering, None, options)
    return system.with_weights({name: [draw(weights) for _ in range(n)] for name, n in system.features.items()})


@settings(max_examples=60, deadline=None)
@given(system=systems())
def test_an_exported_system_is_the_same_when_it_is_imported(system: System) -> None:
    with tempfile.TemporaryDirectory() as folder:
        back = import_moses(export_moses(system, folder))
    assert asdict(back.options) == asdict(system.options)
    assert dict(back.weights) == dict(system.weights)
    theirs, ours = (
        list(TokenTranslator(each, threads=1).translate_batch(LINES, NBest(5)).nbest(alignment=True))
        for each in (back, system)
    )
    assert theirs == ours
