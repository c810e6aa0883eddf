"""The contract of pickling: a pickled or copied object gives the same results."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from hyperbaton.align.aligners.hmm import Aligner
from hyperbaton.corpus import Annotations, Bitext, Tags, Trees
from hyperbaton.corpus.classes import word_classes
from hyperbaton.data import generate
from hyperbaton.decode import Decoding, NBest, System, TokenTranslator, annotate
from hyperbaton.learn import LEARNERS
from hyperbaton.lm import LanguageModel
from hyperbaton.models import MODELS, load_model
from hyperbaton.phrases import PhraseTable, extract
from tests.contract.quick import quick

N_TRANSLATED = 5


def _pickled(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


WAYS = {"pickle": _pickled, "deepcopy": copy.deepcopy}


@pytest.fixture(params=WAYS.values(), ids=WAYS)
def again(request: pytest.FixtureRequest) -> Callable[[Any], Any]:
    way: Callable[[Any], Any] = request.param
    return way


class Parts(NamedTuple):
    """A bitext, all that models can be trained with besides, and a system without a reordering model."""

    bitext: Bitext
    tag_lines: list[str]
    tree_lines: list[str]
    annotations: dict[str, Any]
    base: System


@pytest.fixture(scope="module")
def parts() -> Parts:
    made = generate(120, style="japanese", seed=4)
    bitext = made.bitext
    tag_lines, tree_lines = ([" ".join(line) for line in text] for text in (made.source_tags, made.source_trees))
    annotations = {
        "source_tags": Tags.of(tag_lines, bitext.source),
        "source_trees": Trees.of(tree_lines, bitext.source),
        "source_classes": word_classes(bitext.source, 5, runs=1),
        "target_classes": word_classes(bitext.target, 5, runs=1),
    }
    lm = LanguageModel.estimate(bitext.target, 2, discount_fallback=True)
    options = Decoding(stack=20, pop_limit=20)
    base = System.of(PhraseTable.build(bitext, extract(bitext, 4)), [lm], options=options)
    return Parts(bitext, tag_lines, tree_lines, annotations, base)


def answers(translator: TokenTranslator, parts: Parts) -> Any:
    lines = [" ".join(line) for line in parts.bitext.source][:N_TRANSLATED]
    translations = translator.translate_batch(
        lines,
        NBest(3),
        annotations=annotate(lines, tags=parts.tag_lines[:N_TRANSLATED], trees=parts.tree_lines[:N_TRANSLATED]),
    )
    return translations.text.tokens.tolist(), translations.features.tolist()


@pytest.mark.parametrize("name", MODELS.names())
def test_a_translator_with_any_model(name: str, parts: Parts, again: Callable[[Any], Any], tmp_path: Path) -> None:
    cls = MODELS[name]
    # Classes and tags exclude one another in jump models.
    known = [a for a in cls.uses if a != "source_classes" or "source_tags" not in cls.uses]
    model = cls(**quick(name)).fit(parts.bitext, Annotations(**{a: parts.annotations[a] for a in known}))
    base = parts.base
    translator = TokenTranslator(System.of(base.table, base.lms, {"M": model}, options=base.options), threads=1)
    expected = answers(translator, parts)
    # The translator was used: it holds objects of the core by now.
    assert answers(again(translator), parts) == expected
    model.save(tmp_path / "model")
    loaded = again(load_model(tmp_path / "model"))
    system = System.of(base.table, base.lms, {"M": loaded}, options=base.options)
    assert answers(TokenTranslator(system, threads=1), parts) == expected


def test_an_aligner(parts: Parts, again: Callable[[Any], Any]) -> None:
    aligner = Aligner(model1_iterations=2, hmm_iterations=2).fit(parts.bitext)
    before, after = (a.posteriors(parts.bitext, 0.001) for a in (aligner, again(aligner)))
    assert np.array_equal(before.values, after.values)
    again(Aligner())


def test_texts_and_language_models(parts: Parts, again: Callable[[Any], Any]) -> None:
    word = parts.bitext.source.vocabulary.word(3)
    copied = again(parts.bitext)
    assert parts.bitext.source.vocabulary.number(word) == copied.source.vocabulary.number(word) == 3
    lm = parts.base.lms["LM0"]
    assert lm.score(parts.bitext.target).tolist() == again(lm).score(parts.bitext.target).tolist()


@pytest.mark.parametrize("name", LEARNERS.names())
def test_learners(name: str, again: Callable[[Any], Any]) -> None:
    rng = np.random.default_rng(1)
    rows = rng.random((60, 4))
    labels = (rows[:, 0] > 0.5).astype(int)
    learner = LEARNERS[name]().fit(rows, labels)
    assert again(learner).predict(rows).tolist() == learner.predict(rows).tolist()
