"""Audits against plain counting; faults that are put into a text; the page; messages about bad input."""

from __future__ import annotations

import base64
import gzip
import json
import random
import re
import sys
from itertools import combinations, pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperbaton import audit
from hyperbaton.align import Aligner, VisitOrders
from hyperbaton.corpus import Annotations, Bitext, Tags, Text
from hyperbaton.data import generate
from hyperbaton.evaluate.audit import Audit, common_steps, moved_phrases, same_movement
from hyperbaton.models import MODELS
from hyperbaton.report.audit import audit_page
from tests.clocks import PATIENCE
from tests.program import hyperbaton

orders = st.integers(0, 7).flatmap(lambda n: st.lists(st.integers(0, 7), max_size=n, unique=True))
# Each letter of the source is a letter of the target.
SOURCE, TARGET = "a b c d e f g h", "s t u v w x y z"


@pytest.fixture(scope="module")
def aligner() -> Aligner:
    """An aligner of letters in any order."""
    rng, letters = random.Random(1), list(zip(SOURCE.split(), TARGET.split(), strict=True))
    pairs = [rng.sample(letters, 3) for _ in range(400)] + [[letter] for letter in letters] * 20
    return Aligner().fit(
        Bitext.of(
            [" ".join(a for a, _ in pair) for pair in pairs], [" ".join(b for _, b in sorted(pair)) for pair in pairs]
        )
    )


def judged(aligner: Aligner, *targets: str, **more: Any) -> Audit:
    names = {f"system{n}": [TARGET, target] for n, target in enumerate(targets)}
    return audit([SOURCE] * 2, [TARGET] * 2, names, aligner, samples=20, threads=1, **more)


def visits(*lists: list[int]) -> VisitOrders:
    return VisitOrders(np.array([w for order in lists for w in order], np.uint16), np.cumsum([0, *map(len, lists)]))


@given(st.lists(st.tuples(orders, orders), min_size=1, max_size=4))
def test_steps_are_those_of_plain_counting(pairs: list[tuple[list[int], list[int]]]) -> None:
    text = Text.of([SOURCE] * len(pairs))
    token, *distances = common_steps(text, *(visits(*lists) for lists in zip(*pairs, strict=True)))
    expected: dict[int, list[int]] = {}
    for s, both in enumerate(pairs):
        common = sorted(set(both[0]) & set(both[1]))
        for order in both:
            ranks = [common.index(word) for word in order if word in common]
            for before, rank in pairwise([-1, *ranks]):
                expected.setdefault(8 * s + common[rank], []).append(before + 1 - rank)
    assert expected == dict(zip(token.tolist(), np.transpose(distances).tolist(), strict=True))


@given(orders, orders)
def test_moved_phrases_leave_the_longest_common_order(reference: list[int], order: list[int]) -> None:
    common = [word for word in reference if word in order]
    moved = moved_phrases(reference, order)
    words = [word for phrase in moved for word in phrase.words]
    stays = [word for word in order if word in common and word not in words]
    assert stays == [word for word in common if word not in words]
    longest = max(
        (n for n in range(len(common) + 1) for part in combinations(common, n) if list(part) == _in_order(order, part)),
        default=0,
    )
    assert len(stays) == longest
    for phrase in moved:
        before = [sum(text.index(word) < text.index(phrase.words[0]) for word in stays) for text in (order, reference)]
        assert phrase.passed == before[0] - before[1]


def _in_order(order: list[int], words: tuple[int, ...]) -> list[int]:
    return [word for word in order if word in words]


def test_same_movement() -> None:
    pairs = [(2, 2), (2, 4), (2, 5), (-1, 1), (0, 0), (0, 2), (-6, -3)]
    first, second = np.transpose(pairs)
    assert same_movement(first, second).tolist() == [True, True, False, False, True, False, True]


def test_each_fault_is_found_and_nothing_else(aligner: Aligner) -> None:
    swapped, dropped, more = "s u t v w x y z", "s u v w x y z", "s t u v w s q x y z"
    far = "y s t u v w x z"
    found = judged(aligner, swapped, dropped, more, far)
    assert [len(found.moved(k, 0)) for k in range(4)] == [0] * 4  # the first sentence is the reference
    assert [len(phrase.words) * abs(phrase.passed) for phrase in found.moved(0, 1)] == [1]
    assert [(phrase.words, phrase.passed) for phrase in found.moved(3, 1)] == [([6], -6)]
    assert [word for word, _ in found[1].findings["system1"]["missing"]] == [1]
    assert {6} <= {word for word, _ in found[1].findings["system2"]["added"]} <= {5, 6}
    rows = [row for row in found.rows() if row["line"] == 2]
    assert [(row["long_moves"], row["swaps"], row["missing"]) for row in rows[:2]] == [(0, 1, 0), (0, 0, 1)]
    assert rows[3]["long_moves"] == 1 and rows[3]["moved_words"] == ["g -6"] and rows[1]["missing_words"] == ["b"]
    assert not any(row[kind] for row in found.rows() if row["line"] == 1 for kind in ("missing", "added", "swaps"))


def test_the_reference_as_a_system_is_perfect_and_the_tables_are_whole(aligner: Aligner) -> None:
    tags = Annotations(source_tags=Tags.of(["N N V N N N V N"] * 2, Text.of([SOURCE] * 2)))
    moving = audit([SOURCE] * 6, ["u s t v w x y z"] * 6, {"same": ["u s t v w x y z"] * 6, "none": [TARGET] * 6}, aligner)
    measures = {row["measure"]: row for row in moving.measures}
    for name in ("BLEU", "Kendall", "PDscore", "length %", "movement recall %", "movement precision %"):
        assert measures[name]["systems"]["same"]["value"] == pytest.approx(100), name
    assert measures["movement recall %"]["systems"]["none"]["value"] == 0
    assert measures["PDscore"]["systems"]["none"]["p_holm"] < 0.05
    assert measures["added words %"]["reference"]["value"] == measures["added words %"]["systems"]["same"]["value"]
    assert {row["movement"]: row["n"] for row in moving.movements if row["by"] == "class"} == {
        "discontinuous left": 6,
        "discontinuous right": 12,
    }
    found = judged(aligner, TARGET, annotations=tags)
    assert not found.movements and json.dumps(found.as_json()) and "2 sentences" in repr(found)
    assert "<svg" in found[0]._repr_html_()
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=list))
        assert [row["line"] for row in found.to_pandas()] == [1, 2]


def test_movements_by_tag(aligner: Aligner) -> None:
    tags = Annotations(source_tags=Tags.of(["N N V N N N V N"] * 6, Text.of([SOURCE] * 6)))
    systems = {"same": ["u s t v w x y z"] * 6, "none": [TARGET] * 6}
    found = audit([SOURCE] * 6, ["u s t v w x y z"] * 6, systems, aligner, annotations=tags, samples=10)
    rows = {row["movement"]: row for row in found.movements if row["by"] == "tag"}
    assert rows["V forward 1–2"]["n"] == 6
    assert rows["V forward 1–2"]["systems"] == {
        "same": {"recall": 100, "precision": 100},
        "none": {"recall": 0, "precision": 0},
    }


def test_without_a_reference(aligner: Aligner) -> None:
    training = Bitext.of([SOURCE] * 8, [TARGET] * 8, [[(i, i) for i in range(8)]] * 8)
    jumps = MODELS["linear_jump"](threads=1).fit(training)
    systems = {"good": [TARGET] * 3, "bad": ["z s t u v w x y", TARGET, TARGET]}
    found = audit([SOURCE] * 3, None, systems, aligner, jumps=jumps, calibration=training, samples=20)
    titles = [row["measure"] for row in found.measures]
    assert titles == ["untranslated words %", "added words %", "log p of jumps"]
    values = found.measures[-1]["systems"]
    assert values["bad"]["value"] < values["good"]["value"]
    finding = found[0].findings["bad"]
    assert finding["percentile"] == 0 and finding["worst"]["probability"] < finding["worst"]["expected"][0][1]
    row = next(row for row in found.rows() if row["system"] == "bad")
    assert row["worst_jump"][0] in ("BOS", "h") and row["expected_words"] and row["order_loss"] is None
    assert "unusual orders" in audit_page(found, "t")


def packed_data(text: str) -> Any:
    packed = re.search(r'id="data">([^<]*)<', text)
    assert packed is not None
    return json.loads(gzip.decompress(base64.b64decode(packed[1])))


@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (390, "dark")])
def test_the_page_in_a_browser(chromium: Any, aligner: Aligner, tmp_path: Path, width: int, scheme: str) -> None:
    found = judged(aligner, "y s t u v w x z", "s u v w x y </b>")
    text = audit_page(found, "a <b>")
    assert [one["line"] for one in packed_data(text)["sentences"]] == [2, 1]
    assert "a &lt;b&gt;" in text and "cannot be told from the aligner’s error" in text
    assert not re.search(r'(?:src|href)="(?!#)', text)
    (tmp_path / "page.html").write_text(text, encoding="utf-8")
    context = chromium.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme)
    page, errors = context.new_page(), list[str]()
    page.set_default_timeout(1000 * PATIENCE)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto((tmp_path / "page.html").as_uri())
    page.wait_for_selector("article")
    assert page.locator("article h3").all_text_contents() == ["Line 2", "Line 1"]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.select_option("#kind", "long")
    assert page.text_content("#count") == "1 of 2 sentences"
    assert "Long move: g, 6 words earlier" in page.locator("article .found").all_text_contents()[0]
    assert page.locator("article .linked path.earlier").count() >= 1
    page.select_option("#system", "system1")
    assert page.text_content("#count") == "0 of 2 sentences"
    page.select_option("#kind", "missing")
    assert page.text_content("#count") == "1 of 2 sentences"
    assert page.locator("li.word.gone").count() >= 1 and not errors
    context.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("audit")
    bitext = generate(120, seed=1).bitext
    for name, part in (("s", bitext.source), ("r", bitext.target)):
        (folder / name).write_bytes(b"".join(part.pieces()))
    lines = (folder / "r").read_text(encoding="utf-8").splitlines()
    turned = [" ".join([*words[3:], *words[:3]]) for words in map(str.split, lines)]
    texts = {"a": turned, "short": lines[:-1], "gap": [*lines[:-1], ""], "other": ["ξ ψ ω"] * 120}
    for name, text in texts.items():
        (folder / name).write_text("".join(f"{line}\n" for line in text), encoding="utf-8")
    Aligner().fit(bitext).save(folder / "aligner")
    links = Aligner().fit(bitext).align(bitext)
    MODELS["linear_jump"]().fit(bitext.with_links(links)).save(folder / "jumps")
    MODELS["lexicalized"]().fit(bitext.with_links(links)).save(folder / "phrases")
    return folder


def test_the_command(folder: Path) -> None:
    done = hyperbaton("audit", "s", "r", "--systems", "r", "a", "--aligner", "aligner", "-o", "page.html", "-q", cwd=folder)
    assert done.returncode == 0 and done.stderr == "" and (folder / "page.html").exists()
    head, *table = done.stdout.splitlines()
    assert head.startswith("measure\ttext\tvalue") and table[0].startswith("BLEU\tr\t100.00")
    done = hyperbaton("audit", "s", "r", "--systems", "a", "--aligner", "aligner", "--per-line", cwd=folder)
    lines = done.stdout.splitlines()
    assert len(lines) == 121 and {line.count("\t") for line in lines} == {lines[0].count("\t")}
    assert "0.0% of the source words are unknown to the aligner" in done.stderr
    done = hyperbaton("audit", "s", "r", "--systems", "a", "--aligner", "aligner", "--per-line", "--json", cwd=folder)
    assert json.loads(done.stdout.splitlines()[7])["line"] == 8
    done = hyperbaton("audit", "s", "-", "--systems", "a", "--train", "s", "r", "--jumps", "jumps", "--json", cwd=folder)
    assert json.loads(done.stdout)["measures"][-1]["measure"] == "log p of jumps"
    done = hyperbaton("audit", "s", "r", "--systems", "gap", "--aligner", "aligner", cwd=folder)
    assert "gap: 1 empty line, all of whose source words are missing" in done.stderr


def test_raw_text(tmp_path: Path) -> None:
    pytest.importorskip("sacremoses")
    texts = {"s": "Das Haus, das Buch.\nEin Buch!\n", "r": "The house, the book.\nA book!\n"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    words = ("audit", "s", "r", "--systems", "r", "--train", "s", "r", "--languages", "de", "en", "-o", "page.html", "-q")
    assert hyperbaton(*words, cwd=tmp_path).returncode == 0
    sentence = packed_data((tmp_path / "page.html").read_text(encoding="utf-8"))["sentences"][0]
    assert sentence["source"] == ["Das", "Haus", ",", "das", "Buch", "."]


def test_bad_input_is_told_in_one_line(folder: Path) -> None:
    def fault(*words: object, status: int = 1) -> str:
        done = hyperbaton("audit", *words, cwd=folder)
        assert done.returncode == status and done.stderr.count("\n") == 1 and done.stdout == "", done.stderr
        return done.stderr

    model = ("--aligner", "aligner")
    assert "short:120: the file ends after 119 lines; s has 120" in fault("s", "r", "--systems", "short", *model)
    assert "gap:120: the line is empty" in fault("s", "gap", "--systems", "r", *model)
    told = fault("s", "other", "--systems", "other", *model)
    assert "the aligner knows only 0% of the words of the target text" in told
    assert "is for the other direction" in fault("r", "s", "--systems", "s", *model)
    assert "give --aligner MODEL, or --train SRC TGT" in fault("s", "r", "--systems", "a")
    assert "--jumps MODEL" in fault("s", "-", "--systems", "a", *model)
    assert "needs a jump model" in fault("s", "-", "--systems", "a", *model, "--jumps", "phrases")
