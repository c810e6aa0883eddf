"""Measures of word order against plain counting, and what is known of generated and real text."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperbaton.align import Aligner
from hyperbaton.corpus import Bitext, Dependencies, Links, Tags, read_conllu
from hyperbaton.data import generate
from hyperbaton.evaluate.word_order import jumps_by_tag, measure_order, order_by_relation
from hyperbaton.phrases import extract
from tests.program import hyperbaton

points = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=10, unique=True)


@given(st.lists(points, min_size=1, max_size=4))
def test_measures_are_those_of_plain_counting(lists: list[list[tuple[int, int]]]) -> None:
    words = " ".join("abcdef")
    bitext = Bitext.of([words] * len(lists), [words] * len(lists), lists)
    measures = measure_order(bitext, limits=[1])
    rows = measures.per_pair()
    for s, links in enumerate(lists):
        cross = [(a, b) for a, b in combinations(links, 2) if (a[0] - b[0]) * (a[1] - b[1]) < 0]
        straight = [link for link in links if not any(link in pair for pair in cross)]
        own = dict(zip(measures.names, rows[s].tolist(), strict=True))
        if not links:
            assert np.isnan(own["crossings"])
            continue
        assert own["crossings"] == pytest.approx(len(cross) / len(links))
        assert own["monotone_links"] == pytest.approx(100 * len(straight) / len(links))
        distances = np.abs(extract(bitext.select([s])).distance_before)
        if len(distances):
            assert own["mean_distance"] == pytest.approx(distances.mean())
            assert own["beyond_1"] == pytest.approx(100 * np.mean(distances > 1))


def test_monotone_text_is_monotone() -> None:
    bitext = Bitext.of(["a b c"] * 3, ["x y z"] * 3, [[(0, 0), (1, 1), (2, 2)]] * 3)
    values = measure_order(bitext).values()
    assert [values[name] for name in ("monotone_links", "monotone_phrases", "kendall", "fuzzy_reordering")] == [100] * 4
    assert [values[name] for name in ("crossings", "mean_distance", "beyond_2")] == [0] * 3


def test_styles_of_generated_text_differ_as_they_should() -> None:
    japanese, chinese = (measure_order(generate(400, style=style, seed=1).bitext) for style in ("japanese", "chinese"))
    differences = japanese.differences(chinese, samples=200)
    assert differences["kendall"].interval[1] < 0 < differences["mean_distance"].interval[0]
    for name, value in japanese.estimates(samples=200).items():
        assert value.interval[0] <= value.value <= value.interval[1], name


def test_jumps_by_tag_add_up() -> None:
    bitext = generate(200, seed=4).bitext
    tags = Tags.of([" ".join(f"T{len(word) % 3}" for word in words) for words in bitext.source], bitext.source)
    rows = jumps_by_tag(bitext, tags)
    visited = {(s, i) for s, links in enumerate(bitext.need_links()) for i, _ in links}
    assert sum(row.n for row in rows) == len(visited) == sum(sum(row.by_distance) for row in rows)
    assert all(row.monotone + row.forward + row.back == pytest.approx(100) for row in rows)


CONLLU = """1\tta\t_\tPRON\t_\t_\t2\tnsubj\t_\t_
2\tchi\t_\tVERB\t_\t_\t0\troot\t_\t_
3\tfan\t_\tNOUN\t_\t_\t2\tobj\t_\t_

"""


def test_heads_and_dependents(tmp_path: Path) -> None:
    (tmp_path / "s.conllu").write_text(CONLLU * 2)
    # Subject before the verb in both; the object after it in the source, before it in one of the targets.
    bitext = Bitext.of(
        ["ta chi fan"] * 2, ["he eats rice", "he rice eats"], [[(0, 0), (1, 1), (2, 2)], [(0, 0), (1, 2), (2, 1)]]
    )
    rows = {row.relation: row for row in order_by_relation(bitext, Dependencies.read(tmp_path / "s.conllu", bitext.source))}
    assert set(rows) == {"nsubj", "obj"}
    subject, thing = rows["nsubj"], rows["obj"]
    assert (subject.source_first, subject.target_first, subject.same_order) == (100, 100, 100)
    assert (thing.n, thing.source_first, thing.target_first, thing.same_order) == (2, 0, 50, 50)


def test_the_verb(tmp_path: Path) -> None:
    for style in ("japanese", "chinese"):
        generate(150, style=style, seed=1).write(tmp_path / style, 10, 10)
    text, other = (
        [tmp_path / style / f"train.{side}" for side in ("source", "target", "links")] for style in ("japanese", "chinese")
    )
    done = hyperbaton(
        "order",
        *text,
        "--against",
        *other,
        "--tags",
        f"{text[0]}.tags",
        "--samples",
        "50",
        "--json",
        "-o",
        tmp_path / "o.svg",
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["measures"]["kendall"]["value"] < result["against"]["kendall"]["value"]
    assert result["tags"][0]["n"] > 0 and "<svg" in (tmp_path / "o.svg").read_text()
    lines = hyperbaton("order", *text, "--per-line").stdout.splitlines()
    assert lines[0].startswith("line\tlinks\tmonotone_links") and len(lines) == 131


@pytest.mark.slow
def test_japanese_objects_precede_their_verbs_and_english_ones_follow(corpora: Path) -> None:
    folder = corpora / "trees" / "ud-pud"
    source, trees = read_conllu(folder / "ja.conllu.xz")
    target, _ = read_conllu(folder / "en.conllu.xz")
    bitext = Bitext(source, target)
    links = Aligner(symmetrization="intersection").fit(bitext).align(bitext)
    bitext = replace(bitext, links=links)
    thing = {row.relation: row for row in order_by_relation(bitext, trees)}["obj"]
    assert thing.source_first > 99 and thing.target_first < 50 and thing.n_linked > 100


def test_an_empty_text_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "e").write_text("")
    done = hyperbaton("order", *[tmp_path / "e"] * 3)
    assert (done.returncode, done.stdout) == (1, "") and "no sentence pairs to measure" in done.stderr
    assert len(measure_order(Bitext.of(["a"], ["b"], [[]])).values()) == 13
    assert Links.of([[]]).points.shape == (0, 2)


def test_text_without_links_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("\n\n")
    done = hyperbaton("order", *[tmp_path / "x"] * 3)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "hyperbaton: error: nothing to measure: no sentence pair has links\n"


def test_measures_that_count_nothing_say_nothing(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("a b c\na\n")
    (tmp_path / "links").write_text("0-0 0-2\n\n")  # no phrase pair of one word on each side
    files = [tmp_path / "x", tmp_path / "x", tmp_path / "links"]
    done = hyperbaton("order", *files, "--max-length", 1, "--against", *files, "-o", tmp_path / "x.svg")
    assert done.returncode == 0 and "Warning" not in done.stderr
    one = measure_order(Bitext.of(["a"], ["a"], [[(0, 0)]]))
    estimates = one.estimates()  # warnings are errors here
    assert any(math.isnan(end) for value in estimates.values() for end in value.interval)
