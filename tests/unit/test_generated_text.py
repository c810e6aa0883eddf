"""Generated text: what it promises about every style, and sentence pairs checked by hand."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from hyperbaton import _core, cli
from hyperbaton.base.errors import Cancelled, OptionError
from hyperbaton.corpus import Bitext, Links
from hyperbaton.data import STYLES, GeneratedText, generate
from hyperbaton.data.derivation import Deriver
from hyperbaton.data.grammar import Move, Rule, compile_rules

Range = tuple[float, float]

GOLDEN = Path(__file__).parents[1] / "golden" / "generated"

# Hashes of generate(200, seed=7): they change when a grammar or lexicon does, and at no other time.
SIGNATURES = {
    "chinese": "9688ef27c9299b2bc43b0ed06b6ee7a3",
    "japanese": "e718505332f55f39bd01e85dc681290e",
}


@pytest.fixture(scope="module", params=list(STYLES))
def clean(request: pytest.FixtureRequest) -> GeneratedText:
    return generate(1500, style=request.param, noise=0.0)


@pytest.mark.parametrize("style", list(STYLES))
def test_columns_fit_together(style: str) -> None:
    generated = generate(300, seed=3, style=style, noise=0.2)
    generated.true_links.check(generated.bitext.source, generated.bitext.target)
    generated.bitext.need_links().check(generated.bitext.source, generated.bitext.target)
    for s in range(len(generated)):
        tree = " ".join(generated.source_trees[s])
        leaves = re.findall(r"\((\S+) ([^\s()]+)\)", tree)
        assert [word for _, word in leaves] == generated.bitext.source[s]
        assert [tag for tag, _ in leaves] == generated.source_tags[s]
        assert len(generated.bitext.target[s]) == len(generated.target_tags[s])
        assert _is_one_bracket(tree)


def _is_one_bracket(tree: str) -> bool:
    depths = np.cumsum([{"(": 1, ")": -1}.get(c, 0) for c in tree])
    return bool(depths[-1] == 0 and (depths[:-1] > 0).all() and re.fullmatch(r"(\([A-Z]+ |[^\s()]+\)|\)| )+", tree))


@pytest.mark.parametrize("style", list(STYLES))
def test_the_seed_decides(style: str) -> None:
    generated = generate(200, seed=7, style=style)
    assert generated.bitext.signature() == SIGNATURES[style]
    assert generate(200, seed=8, style=style).bitext.signature() != SIGNATURES[style]


def test_larger_text_begins_with_the_smaller() -> None:
    small, large = generate(60, style="japanese"), generate(150, style="japanese")
    for name in ("source", "target", "links", "true.links", "source.tags", "target.tags", "source.trees"):
        assert list(small._columns()[name]) == list(large._columns()[name])[:60]


def test_noise_disturbs_links_words_and_order() -> None:
    """Words that change places are of the same kind: the sentence has the same words, in another order."""
    clean, noisy = generate(400, noise=0.0), generate(400, noise=0.1)
    assert list(clean.bitext.need_links()) == list(clean.true_links)
    observed, true = (set(_flat(links)) for links in (noisy.bitext.need_links(), noisy.true_links))
    assert 0.85 < len(observed & true) / len(true) < 0.95
    assert 0.01 < len(observed - true) / len(true) < 0.08
    sources = zip(clean.bitext.source, noisy.bitext.source, strict=True)
    assert 0.95 < np.mean([a == b for x, y in sources for a, b in zip(x, y, strict=True)]) < 0.995
    targets = zip(clean.bitext.target, noisy.bitext.target, strict=True)
    assert np.mean([sorted(x) == sorted(y) and x != y for x, y in targets]) > 0.05


WRONG_ENGLISH = {
    "parts of an expression apart": r"\baccording (?!to)|\bapart (?!from)|\bfront (?!of)|\bsake (?!of)|\bable (?!to)",
    "a and an": r"\ba [aeiou](?!se)|\ban [^aeiou]",
    "number": r"\b(they|we|you) (are|were) an? |\b(they|we|you) (is|was)\b|\bI (is|are|were)\b",
    "comparative": r"\bmore (good|big|new|old|tall|busy|young|small) ",
    "future after a conjunction": r"\b(if|when) (he|she|they|we|you|I) will\b",
    "nouns without plural": r"\b(moneys|newses|informations|musics|a (money|news|information|music|tea))\b",
    "an adverb twice": r"\b(also|always|often|already|only|finally|perhaps) \1\b",
    "two articles": r"\b(a|an|the) (a|an|the)\b",
}


@pytest.mark.parametrize("style", list(STYLES))
@pytest.mark.parametrize("noise", [0.0, 0.2])
def test_english_is_grammatical(style: str, noise: float) -> None:
    lines = [" ".join(words) for words in generate(1500, style=style, noise=noise, vocabulary=500).bitext.target]
    for what, pattern in WRONG_ENGLISH.items():
        assert [line for line in lines if re.search(pattern, line)] == [], what


def _flat(links: Links) -> list[tuple[int, int, int]]:
    return [(s, i, j) for s, points in enumerate(links) for i, j in points]


def test_lengths_and_phenomena(clean: GeneratedText) -> None:
    lengths = clean.bitext.source.lengths
    assert 14 < lengths.mean() < 20 and lengths.min() >= 3 and 30 < lengths.max() < 60
    for side, text in enumerate((clean.bitext.source, clean.bitext.target)):
        n_links = np.concatenate(
            [
                np.bincount([point[side] for point in points], minlength=n)
                for points, n in zip(clean.true_links, text.lengths, strict=True)
            ]
        )
        assert (n_links == 0).mean() > 0.02  # untranslated, or inserted
        assert (n_links > 1).mean() > 0.02  # translated by several words, or translating several


def test_some_movements_are_long(clean: GeneratedText) -> None:
    order, offsets = _core.visit_orders(clean.true_links.points, clean.true_links.offsets, 1)
    jumps = np.concatenate([np.diff(order[a:b].astype(int)) for a, b in pairwise(offsets)])
    assert (abs(jumps) > 15).sum() > 50


@pytest.mark.parametrize(
    ("style", "monotone", "forward", "backward"),
    [
        ("chinese", (0.52, 0.64), (0.18, 0.28), (0.14, 0.24)),  # Ni 2011, Table 4: 0.60, 0.24, 0.16
        ("japanese", (0.22, 0.40), (0.25, 0.38), (0.28, 0.46)),
    ],
)
def test_distances_of_phrases(style: str, monotone: Range, forward: Range, backward: Range) -> None:
    generated = generate(200, style=style, noise=0.0)
    pairs = zip(generated.true_links, generated.bitext.source.lengths, generated.bitext.target.lengths, strict=True)
    d = np.array([d for pair in pairs for d in _phrase_distances(*pair)])
    d = d[abs(d) <= 15]
    for share, (low, high) in [((d == 0).mean(), monotone), ((d < 0).mean(), forward), ((d > 0).mean(), backward)]:
        assert low < share < high


def _phrase_distances(points: list[tuple[int, int]], n_source: int, n_target: int, longest: int = 8) -> list[int]:
    """d of every consistent phrase pair without unlinked words at the target edges."""
    before = -1
    previous = []  # for each target position, the last source word of the nearest linked target word to the left
    for j in range(n_target):
        previous.append(before)
        before = max((i for i, k in points if k == j), default=before)
    distances = []
    for start in range(n_source):
        for end in range(start + 1, min(n_source, start + longest) + 1):
            inside = [j for i, j in points if start <= i < end]
            if not inside or max(inside) - min(inside) >= longest:
                continue
            if all(start <= i < end for i, j in points if min(inside) <= j <= max(inside)):
                distances.append(previous[min(inside)] + 1 - start)
    return distances


def test_vocabulary() -> None:
    small, large = (len(generate(1000, vocabulary=v).bitext.source.vocabulary) for v in (500, 8000))
    assert 400 < small < 900 and large > 2000


def _golden(style: str) -> list[list[str]]:
    blocks = (GOLDEN / f"{style}.txt").read_text(encoding="utf-8").strip().split("\n\n")
    return [block.split("\n") for block in blocks[1:]]


@pytest.mark.parametrize("style", list(STYLES))
def test_golden_sentences(style: str) -> None:
    root, _ = STYLES[style]().build(500)
    for what, number, source, target, links, tree in _golden(style):
        pair = Deriver(root, seed=1).derive(int(number))
        points = sorted((i, j) for j, word in enumerate(pair.target) for i in word.sources)
        assert " ".join(pair.source) == source, what
        assert " ".join(word.word for word in pair.target) == target, what
        assert " ".join(f"{i}-{j}" for i, j in points) == links, what
        assert pair.tree == tree, what


def test_written_files_read_back(tmp_path: Path) -> None:
    generate(70, style="japanese").write(tmp_path / "small", 20, 10)
    arguments = "generate --style japanese --sentences 90 --dev 20 --test 10 --quiet --output"
    result = CliRunner().invoke(cli.Program(), [*arguments.split(), str(tmp_path / "large")])
    assert result.exit_code == 0, result.output
    small, large = tmp_path / "small", tmp_path / "large"
    names = {file.name for file in small.iterdir()}
    assert len(names) == 21 and {file.name for file in large.iterdir()} == names
    for name in names:
        before, after = ((folder / name).read_text(encoding="utf-8").splitlines() for folder in (small, large))
        assert after[: len(before)] == before
        assert len(before) == {"train": 40, "dev": 20, "test": 10}[name.split(".")[0]]
    bitext = Bitext.read(small / "dev.source", small / "dev.target", small / "dev.links")
    expected = generate(20, style="japanese")
    assert list(bitext.source) == list(expected.bitext.source)
    assert list(bitext.need_links()) == list(expected.bitext.need_links())


def test_mistakes_are_named() -> None:
    with pytest.raises(OptionError, match=r"style must be one of chinese, japanese, not 'klingon'"):
        generate(1, style="klingon")
    with pytest.raises(OptionError, match=r"cannot take 500 dev and 500 test pairs from 10: make more or take fewer"):
        generate(10).split(500, 500)
    with pytest.raises(Cancelled):
        generate(10, progress=lambda done, total: False)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (Rule("IP", "NP-SBJ", "NP-SBJ"), r"grammar rule IP → NP-SBJ: 'NP-SBJ'"),
        (Rule("IP", "VV:lai", "comes"), r"grammar rule IP → VV:lai: 'comes'"),
        (Rule("IP", "P:a P:b", "the+P"), r"P names 2 parts"),
        (Rule("IP", "P:a", Move("the", when="P:a")), r"the last target must have no condition"),
    ],
)
def test_a_rule_with_an_unknown_name_is_refused(rule: Rule, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        compile_rules([rule], {}, "IP")


@pytest.mark.parametrize("style", list(STYLES))
def test_examples_of_the_documentation(style: str) -> None:
    page = (Path(__file__).parents[2] / "docs" / "generated-text.md").read_text(encoding="utf-8")
    examples = re.findall(rf"```{style}\n(.*)\n(.*)\n```", page)
    generated = generate(60, style=style, noise=0.0)
    pairs = {(" ".join(x), " ".join(y)) for x, y in zip(generated.bitext.source, generated.bitext.target, strict=True)}
    assert len(examples) == 3 and set(examples) <= pairs
