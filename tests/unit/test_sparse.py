"""Sparse reordering features: names, values and scores against a count by hand, tuning, files of weights."""

from __future__ import annotations

import re
from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from hyperbaton import _core
from hyperbaton.base.errors import HyperbatonError, InputError, OptionError
from hyperbaton.base.resources import Resources
from hyperbaton.data import generate
from hyperbaton.decode import Decoding, NBest, ReorderingTable, System, TokenTranslator
from hyperbaton.decode.moses import export_moses, import_moses
from hyperbaton.decode.sparse import Labels, SparseReordering, read_weights, weight_lines
from hyperbaton.lm import LanguageModel
from hyperbaton.phrases import PhraseTable, ReorderingType, extract
from hyperbaton.tune import Tuning, TuningRecord, tune
from hyperbaton.tune.system import SystemDecoder
from tests.oracles import decode as oracle
from tests.oracles.mira import mira

NUMBERS = {"hier-mslr": {"M": 0, "S": 1, "DL": 2, "DR": 3}, "msd": {"M": 0, "S": 1, "DL": 2, "DR": 2}}


def by_hand(source: list[str], path: list[oracle.Step], labels: tuple[Labels, ...], kind: str) -> Counter[str]:
    """Sparse features of a translation, as Moses' decoder counts them."""
    counts: Counter[str] = Counter()
    numbers = NUMBERS[kind]
    covered: set[int] = set()
    blocks = oracle.stack_orientations(path)

    def fire(place: str, side: str, position: str, word: str, c: int) -> None:
        for known in labels:
            number = known.vocabulary.number(word)
            if known.side == side and number >= 0:
                label = known.names.word(int(known.numbers[number]))
                label = f"cluster_{label}" if known.is_cluster else label
                counts[f"{place}-{'src' if side == 'source' else 'tgt'}-{position}-{known.name}-{label}-{c}"] += 1

    def fire_phrase(place: str, step: oracle.Step, c: int) -> None:
        fire(place, "source", "first", source[step.begin], c)
        fire(place, "source", "last", source[step.end - 1], c)
        if step.target:
            fire(place, "target", "first", step.target[0], c)
            fire(place, "target", "last", step.target[-1], c)

    for i, step in enumerate(path):
        previous = path[i - 1] if i else None
        before = blocks[i] if kind.startswith("hier") else oracle.phrase_orientation(previous, step)
        fire_phrase("phr", step, numbers[before])
        if numbers[before] >= 2:
            start, end = (previous.begin, previous.end) if previous else (0, 0)
            between = range(end, step.begin) if end <= step.begin else range(step.end, start)
            for word in between:
                fire("btn", "source", "first", source[word], numbers[before])
        covered |= set(range(step.begin, step.end))
        if previous:
            after = (
                oracle.coverage_orientation(previous, step, covered)
                if kind.startswith("hier")
                else oracle.phrase_orientation(previous, step)
            )
            fire_phrase("stk", previous, numbers[after])
    return counts


class Parts:
    def __init__(self) -> None:
        made = generate(260, style="japanese", seed=6).bitext
        self.train, self.test = made.select(np.arange(200)), made.select(np.arange(200, 260))
        self.table = PhraseTable.build(self.train, extract(self.train, 4))
        self.lm = LanguageModel.estimate(self.train.target, 3, discount_fallback=True)
        words = self.train.source.vocabulary.words()
        self.clusters = Labels.of_clusters("source", "parity", {w: str(len(w) % 3) for w in words})

    def model(self, kind: str) -> SparseReordering:
        plain = SparseReordering.of_texts(kind, self.train.source, self.train.target, 20)
        return SparseReordering(kind, (*plain.labels, self.clusters))

    def system(self, kind: str, weights: list[float] | float = 0.0) -> System:
        return System.of(self.table, [self.lm], {"SPARSE": self.model(kind)}, {"SPARSE": weights})


@pytest.fixture(scope="module")
def parts() -> Parts:
    return Parts()


@pytest.mark.parametrize("kind", NUMBERS)
def test_features_and_scores_are_those_counted_by_hand(parts: Parts, kind: str, tmp_path: Path) -> None:
    model = parts.model(kind)
    assert len(set(model.names)) == len(model.names) == model.n_features > 500
    rng = np.random.default_rng(1)
    system = parts.system(kind, rng.normal(0, 0.5, model.n_features).round(3).tolist())
    system.save(tmp_path / "system")
    system = System.load(tmp_path / "system")
    lines = [" ".join(words) for words in parts.test.source][:12]
    options = Decoding(distortion_limit=-1, pop_limit=60)
    translations = TokenTranslator(system, options, threads=1).translate_batch(lines, NBest(8))
    weights = np.array(system.weights["SPARSE"])
    n_between = 0
    for path in range(len(translations.scores)):
        sentence = int(np.searchsorted(translations.path_offsets, path, side="right")) - 1
        steps = [oracle.Step(s.begin, s.end, tuple(s.target)) for s in translations.steps(path)]
        expected = by_hand(lines[sentence].split(), steps, model.labels, kind)
        row = translations.sparse["SPARSE"][[path]].toarray()[0]
        assert {name: int(n) for name, n in zip(model.names, row, strict=True) if n} == dict(expected)
        dense = oracle.dot(
            translations.named(translations.totals[path]), {n: w for n, w in system.weights.items() if n != "SPARSE"}
        )
        assert dense + float(row @ weights) == pytest.approx(translations.scores[path], abs=2e-3)
        n_between += sum(n for name, n in expected.items() if name.startswith("btn"))
    assert n_between > 50
    line = next(translations.nbest())
    assert " SPARSE_phr-src-first-" in line and "SPARSE= " not in line


@pytest.mark.parametrize("optimizer", ["mira:passes=8:min-lists=2", "pro:draws=300:min-lists=2"])
def test_tuning_learns_sparse_weights(parts: Parts, optimizer: str, tmp_path: Path) -> None:
    lines = [" ".join(words) for words in parts.test.source]
    references = [[" ".join(words) for words in parts.test.target]]
    decoder = SystemDecoder(parts.system("hier-mslr"), lines, n_best=20, options=Decoding(pop_limit=60), threads=1)
    options = Tuning(optimizer=optimizer, iterations=3)
    tuned = tune(
        decoder, decoder.start, references, options, resources=Resources(1), record=TuningRecord(tmp_path / "tuning")
    )
    after = decoder.with_weights(tuned.weights)
    assert tuned.failure is None and tuned.score > tuned.history[0].score
    n_learned = sum(weight != 0 for weight in after.weights["SPARSE"])
    assert 20 < n_learned < parts.model("hier-mslr").n_features
    again = tune(
        decoder, decoder.start, references, options, resources=Resources(1), record=TuningRecord(tmp_path / "tuning")
    )
    assert np.array_equal(again.weights, tuned.weights)


def test_unsupported_combinations_are_refused(parts: Parts) -> None:
    lines = [" ".join(words) for words in parts.test.source][:5]
    references = [[" ".join(words) for words in parts.test.target][:5]]
    system = parts.system("hier-mslr")
    decoder = SystemDecoder(system, lines, n_best=5, options=Decoding(pop_limit=20), threads=1)
    with pytest.raises(OptionError, match="mert cannot tune sparse features"):
        tune(decoder, decoder.start, references, Tuning(optimizer="mert", iterations=2), resources=Resources(1))
    decoder = SystemDecoder(system, lines, n_best=5, options=Decoding(pop_limit=20), threads=1, fix={"LM0": 1.0})
    with pytest.raises(OptionError, match="sparse features cannot be tuned while weights are fixed"):
        options = Tuning(optimizer="mira", iterations=2)
        tune(decoder, decoder.start, references, options, fixed=decoder.fixed, resources=Resources(1))
    with pytest.raises(OptionError, match="need Moses' orientations"):
        SparseReordering("three", ())


def test_files_of_weights(parts: Parts, tmp_path: Path) -> None:
    model = parts.model("msd")
    weights = np.random.default_rng(2).normal(size=model.n_features)
    weights[::3] = 0
    file = tmp_path / "weights"
    file.write_bytes(b"".join(weight_lines("LexicalReordering0", model, weights.tolist())) + b"Other_x 1\n")
    assert read_weights(file, "LexicalReordering0", model) == weights.tolist()
    for line, message in (
        ("LexicalReordering0_x", "expected a feature"),
        ("LexicalReordering0_x 1", "no sparse feature 'x'"),
    ):
        file.write_text(line + "\n", encoding="utf-8")
        with pytest.raises(InputError, match=message):
            read_weights(file, "LexicalReordering0", model)


def key_of(labels: Labels) -> tuple[str, str, bool]:
    return labels.side, labels.name, labels.is_cluster


def labels_of(labels: Labels) -> dict[str, str]:
    """The label of each word."""
    numbers = zip(labels.vocabulary.words(), labels.numbers.tolist(), strict=True)
    return {word: labels.names.word(number) for word, number in numbers}


def test_moses_gets_and_gives_sparse_features(parts: Parts, tmp_path: Path) -> None:
    kind = ReorderingType.parse("hier-mslr-bidirectional-fe")
    rng = np.random.default_rng(3)
    table = ReorderingTable(kind, rng.uniform(0.1, 1, (len(parts.table), 8)).astype(np.float32))
    both = (("source", parts.train.source), ("target", parts.train.target))
    clusters = [Labels.of_clusters(s, "lengths", {w: f"c{len(w) % 3}" for w in x.vocabulary.words()}) for s, x in both]
    model = SparseReordering("hier-mslr", (*parts.model("hier-mslr").labels[:2], *clusters))
    weights = np.where(rng.random(model.n_features) < 0.3, rng.normal(0, 0.3, model.n_features).round(3), 0.0)
    system = System.of(parts.table, [parts.lm], {"LR": table, "SPARSE": model}, {"SPARSE": weights.tolist()})
    ini = export_moses(system, tmp_path / "model")
    text = ini.read_text(encoding="utf-8")
    assert "sparse-phrase=1 sparse-stack=1 sparse-between=1 sparse-words-source-top20=sparse-words-source-top20.LR" in text
    assert "[weight-file]\nsparse-weights\n" in text
    names = (tmp_path / "model" / "sparse-weights").read_text(encoding="utf-8").splitlines()
    assert names[0].startswith("LR_phr-src-first-top20-")
    # Every kind of feature is there: of this phrase, the previous one and the words between, both sides, words and classes.
    kinds = {f"{place}-{side}-{at}" for place in ("phr", "stk") for side in ("src", "tgt") for at in ("first", "last")}
    for kind, labels in product([*kinds, "btn-src-first"], ("top20-[^_]+", "lengths-cluster_c[0-2]")):
        assert any(re.match(f"LR_{kind}-{labels}-[0-3] ", name) for name in names), (kind, labels)
    again = import_moses(ini)
    found = again.sparse["LR.sparse"]
    assert dict(zip(found.names, again.weights["LR.sparse"], strict=True)) == dict(zip(model.names, weights, strict=True))
    for before, after in zip(sorted(model.labels, key=key_of), sorted(found.labels, key=key_of), strict=True):
        assert key_of(before) == key_of(after) and labels_of(before) == labels_of(after)
    lines = [" ".join(words) for words in parts.test.source][:6]
    assert TokenTranslator(again, threads=1).translate(lines) == TokenTranslator(
        system, system.options, threads=1
    ).translate(lines)
    (tmp_path / "model" / "sparse-weights").write_text("Other_x 1\n", encoding="utf-8")
    with pytest.raises(InputError, match="has the sparse weight 'Other_x 1'"):
        import_moses(ini)
    alone = System.of(parts.table, [parts.lm], {"SPARSE": model})
    with pytest.raises(OptionError, match="no reordering model like SPARSE"):
        export_moses(alone, tmp_path / "alone")


def test_mira_over_sparse_rows_is_the_plain_loop() -> None:
    rng = np.random.default_rng(4)
    sizes = rng.integers(1, 8, 25)
    lists = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    dense = np.where(rng.random((lists[-1], 40)) < 0.2, rng.integers(1, 3, (lists[-1], 40)), 0.0)
    dense[:, :3] = rng.normal(size=(lists[-1], 3))
    rows = csr_array(dense)
    how = {"gains": rng.random(len(dense)), "start": rng.normal(0, 0.1, 40)}
    orders = np.array([rng.permutation(25) for _ in range(6)], np.uint32)
    arrays = {"values": rows.data, "columns": rows.indices.astype(np.int32), "row_offsets": rows.indptr.astype(np.int64)}
    arrays["lists"] = lists
    given = {**how, "orders": orders.ravel(), "max_step": 0.05, "progress": None}
    candidates = _core.SparseCandidates(**arrays)
    expected = mira(dense, lists, how["gains"], how["start"], orders, 0.05)
    assert np.array_equal(_core.sparse_mira(candidates=candidates, **given), expected)
    assert not np.array_equal(expected[0], expected[-1])
    for changes, message in (
        ({"gains": how["gains"][1:]}, "a gain for each candidate"),
        ({"orders": given["orders"] + np.uint32(1)}, "an order of the sentences for each pass"),
    ):
        with pytest.raises(HyperbatonError, match=message):
            _core.sparse_mira(**{"candidates": candidates, **given, **changes})
    unsorted = _core.SparseCandidates(**(arrays | {"columns": arrays["columns"][::-1].copy()}))
    with pytest.raises(HyperbatonError, match="columns of a row must increase"):
        _core.sparse_mira(candidates=unsorted, **given)
    with pytest.raises(_core.Cancelled):
        _core.sparse_mira(candidates=candidates, **(given | {"progress": lambda done, total: done < 2}))
