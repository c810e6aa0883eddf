"""Representations at a prompt and in a notebook, and scikit-learn's attribute names."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

import hyperbaton
from hyperbaton import MODELS, Bitext, Text, extract, show
from hyperbaton.align import Aligner
from hyperbaton.base.errors import InputError, OptionError
from hyperbaton.base.options import options_of
from hyperbaton.data import generate
from hyperbaton.decode import System, TokenTranslator
from hyperbaton.lm import LanguageModel
from hyperbaton.metrics import METRICS
from hyperbaton.phrases import PhraseTable, extract_rules

BITEXT = generate(60, seed=1).bitext
SAMPLES = extract(BITEXT)


def test_texts_samples_and_systems_are_short_at_a_prompt() -> None:
    system = System.of(PhraseTable.build(BITEXT, SAMPLES), reordering={"LR": MODELS["lexicalized"]().fit(BITEXT)})
    lm = LanguageModel.estimate(BITEXT.target, order=3, discount_fallback=True)
    rules = extract_rules(BITEXT[:5])
    translator = TokenTranslator(system)
    found = [next(t.batches(["x"])) for t in (translator, TokenTranslator(System.of(rules)))]
    texts = (BITEXT, BITEXT.source, BITEXT.links, SAMPLES)
    for thing in (*texts, lm, system, system.table, rules, translator, *found, METRICS):
        assert repr(thing).startswith(f"<{type(thing).__name__}: ") and len(repr(thing)) < 120
        assert thing._repr_html_().startswith("<table>")  # type: ignore[union-attr]
    assert repr(Text.of(["a"])) == "<Text: 1 sentence, 1 word, 1 vocabulary word>" and "2-grams" in repr(lm)
    assert repr(MODELS).startswith("<Registry: models block_me, dpr,") and len(MODELS) == len(list(MODELS))
    assert "60 sentence pairs" in repr(SAMPLES) and "reordering models LR" in repr(system)


@pytest.mark.parametrize("name", sorted(MODELS))
def test_models_say_which_options_are_not_the_defaults(name: str) -> None:
    kind = MODELS[name]
    assert repr(kind()) == f"{kind.__name__}()"
    assert repr(kind(seed=7)) == f"{kind.__name__}(seed=7)"
    assert "nothing yet" in kind()._repr_html_()


def test_orientation_models_predict_as_in_scikit_learn() -> None:
    model = MODELS["lexicalized"]().fit(BITEXT)
    probabilities = model.predict_proba(BITEXT, SAMPLES)
    assert probabilities.shape == (len(SAMPLES), len(model.classes_))
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    predicted = model.predict(BITEXT)
    assert np.array_equal(predicted, model.predict(BITEXT, SAMPLES)) and set(predicted) <= set(model.classes_)
    true = model.classes_[model.labels(SAMPLES)]
    assert (predicted == true).mean() > 0.6
    assert f"{model.summary()['samples']:,}" in model._repr_html_()


def test_tab_shows_what_is_public() -> None:
    shown = dir(hyperbaton)
    assert {"Bitext", "MODELS", "decode", "align", "run"} <= set(shown) and hyperbaton.decode.Decoding().stack
    assert not {"TYPE_CHECKING", "LazyNames", "annotations", "_names", "base", "cli"} & set(shown)
    assert dir(hyperbaton.decode) == sorted(hyperbaton.decode.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'bitext'"):
        _ = hyperbaton.bitext


def test_a_bitext_is_a_sequence_of_pairs() -> None:
    source, target, links = BITEXT[3]
    assert (source, target, links) == (BITEXT.source[3], BITEXT.target[3], BITEXT.need_links()[3])
    assert [pair.target for pair in BITEXT[:3]] == list(BITEXT.target)[:3] == list(BITEXT.target[:3])
    assert BITEXT[-1] == BITEXT[59] and len(BITEXT[10:]) == 50 and isinstance(BITEXT[::2], hyperbaton.Bitext)
    with pytest.raises(IndexError, match="sentence 60 of 60"):
        _ = BITEXT[60]


def test_links_get_into_a_bitext() -> None:
    bare = hyperbaton.Bitext(BITEXT.source, BITEXT.target)
    with pytest.raises(OptionError, match=r"bitext\.with_links\(hyperbaton\.align\.align\(bitext\)\)"):
        extract(bare)
    assert len(extract(bare.with_links(BITEXT.need_links()))) == len(SAMPLES)
    assert bare[:1].with_links([[(0, 1), (0, 0)]])[0].links == [(0, 0), (0, 1)]
    with pytest.raises(InputError, match="59 lines of links for 60 and 60 sentences"):
        bare.with_links(BITEXT.need_links()[:59])


def test_samples_by_number() -> None:
    sample = SAMPLES[5]
    source, target, _ = BITEXT[sample.sentence]
    assert sample.source == " ".join(source[slice(*sample.source_span)])
    assert sample.target == " ".join(target[slice(*sample.target_span)])
    classes = hyperbaton.orientation_set("hier-mslr")
    assert sample.orientations["hierarchical_after"] == classes.names[classes.classify(SAMPLES, "after")[5]]
    assert [s.distance_before for s in SAMPLES[2:9]] == SAMPLES.distance_before[2:9].tolist()
    assert SAMPLES[-1] == list(SAMPLES)[-1] and SAMPLES[3:4].offsets[-1] == 1
    unknown = type(SAMPLES).from_arrays({name: getattr(SAMPLES, name) for name in SAMPLES.LAYOUT})[5]
    assert unknown == sample._replace(source=None, target=None)
    with pytest.raises(OptionError, match="cannot go backwards"):
        _ = SAMPLES[::-1]


@pytest.mark.parametrize("name", sorted(MODELS))
def test_models_are_checked_when_they_are_made(name: str) -> None:
    with pytest.raises(OptionError, match=r"unknown option 'sead' \(did you mean seed\?\); known: .*threads"):
        MODELS[name](sead=1)  # type: ignore[call-arg]
    for opt in options_of(MODELS[name]):
        if opt.minimum is not None:
            with pytest.raises(OptionError, match=f"^{opt.flag} must be at least"):
                MODELS[name](**{opt.name: opt.minimum - 1})


def test_models_refuse_text() -> None:
    model = MODELS["lexicalized"]().fit(BITEXT)
    asked: list[Any] = [model.predict, model.predict_proba]
    for ask in asked:
        with pytest.raises(OptionError, match=r"predict takes a Bitext, not text: .*explain\(model, Question"):
            ask("ta chi fan")
    for use in (extract, model.fit):
        with pytest.raises(OptionError, match=r"takes a Bitext, not a list: Bitext\.of"):
            use(["ta chi fan"])
    with pytest.raises(OptionError, match="call fit first"):
        MODELS["lexicalized"]().predict(BITEXT)


def test_one_sentence_is_not_taken_for_its_letters() -> None:
    translator = TokenTranslator(System.of(PhraseTable.build(BITEXT, SAMPLES)))
    line = " ".join(BITEXT.source[0])
    assert translator.translate(line) == translator.translate([line])[0]
    with pytest.raises(OptionError, match="put it into a list"):
        next(translator.batches(line))
    with pytest.raises(OptionError, match="put it into a list"):
        Text.of(line)


def test_samples_as_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(importlib, "import_module", _missing)
        for call in (SAMPLES.to_pandas, SAMPLES.to_arrow):
            with pytest.raises(OptionError, match="pip install p"):
                call()
    columns = SAMPLES.readable()
    assert columns["source"][5] == SAMPLES[5].source and set(columns["word_before"]) >= {"monotone", "swap"}
    table: Any = pytest.importorskip("pandas")
    frame = SAMPLES.to_pandas()
    assert isinstance(frame, table.DataFrame) and len(frame) == len(SAMPLES)
    assert tuple(frame.iloc[5][["source", "target"]]) == SAMPLES[5][3:5] and "swap" in set(frame["word_before"])


def test_a_pair_is_drawn() -> None:
    picture = show(BITEXT, 3)
    assert "<svg" in picture._repr_svg_() and BITEXT.source[3][0] in repr(picture)
    assert "<svg" in (BITEXT[3]._repr_svg_() or "") and repr(show(BITEXT[3])) == repr(picture)
    assert hyperbaton.Bitext.of(["a"], ["b"])[0]._repr_svg_() is None
    with pytest.raises(IndexError, match="sentence pair 60 of 60"):
        hyperbaton.show(BITEXT, 60)


def _missing(name: str) -> Any:
    raise ModuleNotFoundError(name)


def test_options_that_differ_are_shown_and_names_complete() -> None:
    assert repr(Aligner()) == "Aligner()" and repr(Aligner(stem=3)) == "Aligner(stem=3)"
    assert "dpr" in MODELS._ipython_key_completions_()


def test_charts_show_themselves_in_notebooks() -> None:
    from matplotlib.figure import Figure

    from hyperbaton.report.curves import draw_costs, draw_distances_by_tag
    from hyperbaton.report.movements import draw_distances

    bitext = Bitext.of(["a b"], ["A B"], [[(0, 0), (1, 1)]])
    for chart in (draw_costs({"a": 1.0}), draw_distances(extract(bitext)), draw_distances_by_tag({"N": {0: 1.0, 1: 0.5}})):
        assert isinstance(chart, Figure) and "<svg" in chart._repr_svg_()  # type: ignore[attr-defined]
