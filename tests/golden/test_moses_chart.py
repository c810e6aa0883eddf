"""Parity with Moses' chart decoder: scores, features and words of n-best lists, and derivations."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from hyperbaton.decode import Decoding, NBest, System, TokenTranslator
from hyperbaton.decode.derivations import Derivations
from hyperbaton.decode.moses import import_moses
from hyperbaton.lm import LanguageModel
from hyperbaton.phrases.rules import read_rules
from tests.golden.test_moses_decode import parse

GOLDEN = Path(__file__).parent / "moses"
LINES = (GOLDEN / "decode" / "input.src").read_text(encoding="utf-8").splitlines()
WEIGHTS = {  # those of hiero.moses.ini
    "UnknownWordPenalty0": 1.0,
    "WordPenalty0": -1.0,
    "PhrasePenalty0": 0.2,
    "TranslationModel0": [0.2] * 4,
    "TranslationModel1": 1.0,
    "LM0": 0.5,
}
DIGITS = {"rel": 2e-5, "abs": 2e-4}  # Moses writes six


@pytest.fixture(scope="module")
def found() -> Derivations:
    lm = LanguageModel.read_arpa(GOLDEN.parent / "lm" / "lm5.arpa.gz")
    system = System.of(read_rules(GOLDEN / "hiero" / "rule-table.xz"), [lm], {}, WEIGHTS, Decoding(max_span=20))
    translations = TokenTranslator(system).translate_batch(LINES, NBest(5, distinct=True))
    assert isinstance(translations, Derivations)
    return translations


def test_nbest(found: Derivations) -> None:
    """Every list has Moses' scores, or better ones; where the words are the same, so are the features and links."""
    with gzip.open(GOLDEN / "hiero" / "pop1000.nbest5.gz", "rt", encoding="utf-8") as file:
        expected = parse(file.read().splitlines())
    for s, golden in expected.items():
        first, last = found.path_offsets[s : s + 2].tolist()
        assert last - first == len(golden)
        for path, line in zip(range(first, last), golden, strict=True):
            assert found.scores[path] >= line.total - 2e-4 - 2e-5 * abs(line.total)
        same = {" ".join(found.text[path]): path for path in range(first, last)}
        assert len([line for line in golden if line.words in same]) >= len(golden) - 1
        for line in golden:
            if line.words not in same:
                continue
            path = same[line.words]
            ours = found.named(found.totals[path])
            for name, values in line.features.items():
                assert ours[name] == pytest.approx(values, **DIGITS)
            # Moses counts the start of the sentence on both sides, and its end.
            links = {f"{i + 1}-{j + 1}" for i, j in _links(found, path)}
            edges = {"0-0", f"{len(LINES[s].split()) + 1}-{len(line.words.split()) + 1}"}
            assert links | edges == set(line.segments.split())


def _links(found: Derivations, path: int) -> list[tuple[int, int]]:
    first, last = found.word_links.offsets[path : path + 2]
    return [(i, j) for i, j in found.word_links.points[first:last].tolist()]


def test_derivations(found: Derivations) -> None:
    """The spans of the rules of the best derivations are Moses', where their scores are the same."""
    golden: dict[int, set[tuple[int, int]]] = {}
    with gzip.open(GOLDEN / "hiero" / "pop1000.trace.gz", "rt", encoding="utf-8") as file:
        for line in file:
            _, _, number, span, *_ = line.split(" ")
            begin, _, end = span.strip("[]:").partition("..")
            golden.setdefault(int(number), set()).add((int(begin), int(end)))
    n_same = 0
    for s, spans in golden.items():
        rules = found.rules(int(found.path_offsets[s]))
        n_words = len(LINES[s].split())
        # With the start of the sentence as word 0, and ends that are included; glue rules begin there.
        ours = {(0 if rule.kind in ("glue", "start") else rule.begin + 1, rule.end) for rule in rules} | {(0, n_words + 1)}
        n_same += ours == spans
    assert n_same >= len(golden) - 2  # of equal derivations any may come first


def test_import(found: Derivations, tmp_path: Path) -> None:
    """Moses' own file gives the same system."""
    text = (GOLDEN / "hiero" / "hiero.moses.ini").read_text(encoding="utf-8")
    for name, path in {
        "rule-table.gz": GOLDEN / "hiero" / "rule-table.xz",
        "glue-grammar": GOLDEN / "hiero" / "glue-grammar",
        "../lm/lm5.x86-64.arpa.gz": GOLDEN.parent / "lm" / "lm5.arpa.gz",
    }.items():
        text = text.replace(f"path={name}", f"path={path}")
    (tmp_path / "moses.ini").write_text(text, encoding="utf-8")
    system = import_moses(tmp_path)
    assert system.weights == found.system.weights
    assert (system.options.max_span, system.options.pop_limit, system.options.table_limit) == (20, 1000, 20)
    again = TokenTranslator(system).translate_batch(LINES[:3], NBest(5, distinct=True))
    assert list(again.nbest()) == list(found.nbest())[: len(again.scores)]


def test_threads_make_no_difference(found: Derivations) -> None:
    for threads in (1, 3):
        again = TokenTranslator(found.system, threads=threads).translate_batch(LINES, NBest(5, distinct=True))
        assert again.scores.tolist() == found.scores.tolist()
        assert again.features.tolist() == found.features.tolist()
        assert list(again.nbest(alignment=True)) == list(found.nbest(alignment=True))
