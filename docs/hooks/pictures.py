"""The pictures of the pages, drawn by the package from a sentence pair and from generated text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from matplotlib.figure import Figure

from hyperbaton import MODELS, Bitext
from hyperbaton.corpus import Annotations, Tags
from hyperbaton.data import generate
from hyperbaton.decode import NBest, System, TokenTranslator
from hyperbaton.evaluate import HeldOut, evaluate
from hyperbaton.evaluate.explain_jumps import explain_jumps
from hyperbaton.models import NextPositionModel, OrientationModel
from hyperbaton.phrases import extract, extract_rules
from hyperbaton.report.classification import draw_by_distance
from hyperbaton.report.derivation import draw_derivation, parts_of
from hyperbaton.report.figures import svg_text, with_dark_colours
from hyperbaton.report.jumps import draw_jumps
from hyperbaton.report.movements import draw_distances
from hyperbaton.report.picture import draw_pair

# "He eats rice at home": the place stands before the verb in Chinese.
SENTENCE = Bitext.of(["ta zai jia chi fan"], ["he eats rice at home"], [[(0, 0), (3, 1), (4, 2), (1, 3), (2, 4)]])


_NUMBER = re.compile(r"\d+(?:\.\d+)?")
FOLDER = Path(__file__).parents[1] / "pictures"


def draw() -> dict[str, str]:
    """Each picture as the text of an .svg file, by name."""
    bitext = generate(10_000, seed=1).bitext
    samples = extract(bitext)
    shown = next(s for s, words in enumerate(bitext.source) if 8 <= len(words) <= 10)
    figures = {
        "pair": draw_pair(bitext, shown),
        "distances": draw_distances(samples, f"{len(samples):,} phrase pairs"),
        "precision": _by_distance(),
        "smallest-boxes": draw_pair(SENTENCE, 0),
        "every-box": draw_pair(SENTENCE, 0, every_box=True),
        "jumps": _jumps(),
        "derivation": _derivation(),
    }
    return {name: _svg(figure) for name, figure in figures.items()}


def is_current(name: str, drawn: str) -> bool:
    """Whether the file of a picture shows it; places may differ a little, as they do between versions of matplotlib."""
    path = FOLDER / f"{name}.svg"
    stored = path.read_text(encoding="utf-8") if path.exists() else ""
    if _NUMBER.sub("#", stored) != _NUMBER.sub("#", drawn):
        return False
    pairs = zip(map(float, _NUMBER.findall(stored)), map(float, _NUMBER.findall(drawn)), strict=True)
    return all(abs(a - b) <= 2 for a, b in pairs)


def write() -> Iterator[Path]:
    """Write the pictures whose files show something else; gives their paths."""
    for name, drawn in draw().items():
        if not is_current(name, drawn):
            path = FOLDER / f"{name}.svg"
            path.write_text(drawn, encoding="utf-8")
            yield path


def _by_distance() -> Figure:
    """Three orientation models on generated Chinese-like text."""
    parts = generate(1_500, seed=1).split(n_dev=0, n_test=300)
    results = {}
    for name in ("linear", "lexicalized", "dpr"):
        model = MODELS[name](orientations="three").fit(parts["train"].bitext)
        assert isinstance(model, OrientationModel)
        results[name] = evaluate(model, HeldOut(parts["test"].bitext)).precision_by_distance
    return draw_by_distance(results)


def _jumps() -> Figure:
    """What a jump model expects in a generated Japanese-like sentence, and the order that is right."""
    text = generate(600, style="japanese", seed=1, noise=0.0)
    parts = text.split(n_dev=0, n_test=100)
    train, test = parts["train"], parts["test"]
    model = MODELS["sequence"](learner="lbfgs:max-passes=20")
    assert isinstance(model, NextPositionModel)
    tags = Tags.of([" ".join(tags) for tags in train.source_tags], train.bitext.source)
    model.fit(train.bitext, Annotations(source_tags=tags))
    shown = next(s for s, words in enumerate(test.bitext.source) if 8 <= len(words) <= 10)
    sentence, tags = (" ".join(part[shown]) for part in (test.bitext.source, test.source_tags))
    links = " ".join(f"{i}-{j}" for i, j in test.true_links[shown])
    return draw_jumps(explain_jumps(model, sentence, tags, links))


def _derivation() -> Figure:
    """How rules from generated Chinese-like text translate one of its sentences: the one with the most rules in gaps."""
    bitext = generate(300, seed=1, noise=0.0).bitext
    weights: dict[str, float | list[float]] = {"TranslationModel0": 1.0, "PhrasePenalty0": -0.2, "TranslationModel1": -3.0}
    system = System.of(extract_rules(bitext), weights=weights)
    short = [" ".join(words) for words in bitext.source if 8 <= len(words) <= 11][:40]
    found = TokenTranslator(system).translate_batch(short, NBest())
    deepest = max(
        range(len(short)), key=lambda s: sum(part.parent >= 0 for part in parts_of(found, int(found.path_offsets[s])))
    )
    return draw_derivation(TokenTranslator(system).translate_batch([short[deepest]], NBest()), 0)


def _svg(figure: Figure) -> str:
    """A picture without what differs between machines: the version of matplotlib, and installed fonts."""
    text = re.sub(
        r"<metadata>.*?</metadata>|(?<=font-family: 'DejaVu Sans')[^;]*(?=, sans-serif)",
        "",
        svg_text(figure),
        flags=re.DOTALL,
    )
    return with_dark_colours(
        re.sub(r"(?<!version=\")\d+\.\d+", lambda number: f"{float(number[0]):.2f}".rstrip("0").rstrip("."), text)
    )
