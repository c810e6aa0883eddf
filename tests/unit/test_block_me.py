"""The block model as a whole: effect of the parse, requirements, storage and explanations."""

from __future__ import annotations

import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hyperbaton.base.errors import Cancelled, InputError, OptionError
from hyperbaton.base.options import to_mapping
from hyperbaton.corpus import Annotations, Bitext, Links, Tags, Text, Trees
from hyperbaton.corpus.classes import word_classes
from hyperbaton.data import generate
from hyperbaton.decode import Decoding, System, TokenTranslator, annotate
from hyperbaton.evaluate import HeldOut, evaluate
from hyperbaton.evaluate.explain_blocks import explain_blocks, explain_tag
from hyperbaton.models import load_model
from hyperbaton.models.block_me import BlockMe
from hyperbaton.phrases import PhraseTable, extract
from hyperbaton.report.jumps import draw_tag_jumps
from tests.clocks import PATIENCE

LEXICAL = "lexical,context,tags,coverage"


class Parts:
    """Generated text for training and testing, with all that is known about it."""

    def __init__(self) -> None:
        made = generate(320, style="chinese", seed=4)
        self.bitext = made.bitext
        self.tags = Tags.of([" ".join(line) for line in made.source_tags], made.bitext.source)
        self.trees = Trees.of([" ".join(line) for line in made.source_trees], made.bitext.source)

    def known(self, sentences: Any) -> Annotations:
        return Annotations(source_tags=self.tags, source_trees=self.trees).select(sentences)


@pytest.fixture(scope="module")
def parts() -> Parts:
    return Parts()


TRAIN, TEST = np.arange(250), np.arange(250, 320)


@pytest.fixture(scope="module")
def model(parts: Parts) -> BlockMe:
    classes = word_classes(parts.bitext.target, 8, runs=1)
    return BlockMe(learner="lbfgs:max-passes=25").fit(
        parts.bitext.select(TRAIN), replace(parts.known(TRAIN), target_classes=classes)
    )


INTERRUPTED = """
import os, signal, sys
from pathlib import Path
from hyperbaton.base import training_states
from tests.unit.test_block_me import Parts, TRAIN, small_model

training_states.SECONDS = 0
parts, state = Parts(), Path(sys.argv[1])

def progress(done, total):
    if total == 9 and done == 6 and state.exists():  # not in the models that choose alpha
        os.kill(os.getpid(), signal.SIGKILL)

small_model(checkpoint=state).fit(parts.bitext.select(TRAIN), parts.known(TRAIN), progress=progress)
"""


def small_model(**options: Any) -> BlockMe:
    return BlockMe(families="lexical,tags,parse-coverage", learner="lbfgs:max-passes=9", threads=1, **options)


def test_killed_training_resumes_and_finds_the_same_weights(parts: Parts, tmp_path: Path) -> None:
    bitext, known, state = parts.bitext.select(TRAIN), parts.known(TRAIN), tmp_path / "model.training"
    whole = small_model().fit(bitext, known)
    root = Path(__file__).parents[2]
    killed = subprocess.run([sys.executable, "-c", INTERRUPTED, str(state)], cwd=root, timeout=PATIENCE)
    assert killed.returncode < 0 and state.is_dir()

    def passes(annotations: Annotations) -> tuple[BlockMe, list[int]]:
        seen = []
        again = small_model(checkpoint=state)
        again.fit(bitext, annotations, progress=lambda done, total: seen.append(done) if total == 9 else None)
        return again, seen

    again, seen = passes(known)
    assert min(seen) >= 4  # alpha is not chosen again either
    assert again.alpha_ == whole.alpha_
    assert np.array_equal(whole.weights_, again.weights_) and np.array_equal(whole.objective_, again.objective_)
    other, seen = passes(replace(known, source_trees=None))  # another training
    assert min(seen) < 4
    other.save(tmp_path / "model")
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def sibling_language(n: int, seed: int) -> tuple[Bitext, dict[str, Any], list[int]]:
    """Sentences X a m c z with a phrase X of one to three words, c always first.

    Where X comes next, m follows its neighbour a (jump 1); where X comes last, m is reached from z after it (jump −2).
    When m is translated, a and c on its sides are translated either way, the words around it are the same, and so are those
    before its translation: two words without links, drawn at random. The coverage of X, no neighbour, tells all.
    """
    draw = random.Random(seed)
    source, target, links, tags, trees, places = [], [], [], [], [], []
    for _ in range(n):
        k = draw.randint(1, 3)
        words = [draw.choice("ABCDEFGH") for _ in range(k)]
        a, m, c, z = k, k + 1, k + 2, k + 3
        early = draw.random() < 0.5
        order = [c, *range(k), a, None, None, m, z] if early else [c, a, z, None, None, m, *range(k)]
        sentence = [*words, "a", "m", "c", "z"]
        source.append(" ".join(sentence))
        target.append(" ".join(draw.choice("uvw") if i is None else sentence[i].lower() + "'" for i in order))
        links.append([(i, j) for j, i in enumerate(order) if i is not None])
        tags.append(" ".join(["x"] * k + ["y"] * 4))
        inner = " ".join(f"(x {word})" for word in words)
        trees.append(f"(S (X {inner}) (A a) (M m) (C c) (Z z))")
        places.append(m)
    bitext = Bitext.of(source, target, links)
    return bitext, Annotations(Tags.of(tags, bitext.source), Trees.of(trees, bitext.source)), places


def test_only_the_parse_tells_where_to_go() -> None:
    train, known, _ = sibling_language(400, 1)
    test, held_out, places = sibling_language(200, 2)
    accuracy, logprob = {}, {}
    for families in (LEXICAL, f"{LEXICAL},parse-coverage", f"{LEXICAL},sibling-word", f"{LEXICAL},sibling-tag"):
        model = BlockMe(families=families).fit(train, known)
        scores = model.path_scores(test, held_out)
        here = scores["begin"] == np.array(places)[scores["sentence"]]
        assert here.sum() == len(test)
        accuracy[families] = scores["jump_right"][here].mean()
        logprob[families] = scores["jump_logprob"][here].mean()
    plain, _, word, tag = accuracy
    assert accuracy[plain] < 0.65 and logprob[plain] < np.log(0.6)
    for families in (word, tag):
        assert accuracy[families] > 0.97 and logprob[families] > np.log(0.8)


def test_training_helps_on_unseen_text(parts: Parts, model: BlockMe) -> None:
    test, known = parts.bitext.select(TEST), parts.known(TEST)
    after = evaluate(model, HeldOut(test, known)).as_json()
    untrained = BlockMe(learner="lbfgs:max-passes=25")
    vars(untrained).update(vars(model))
    vars(untrained).pop("_core_model", None)
    untrained.weights_ = np.zeros_like(model.weights_)
    before = evaluate(untrained, HeldOut(test, known)).as_json()
    assert after["mean_logprob"] > before["mean_logprob"] and after["jump_accuracy"] > before["jump_accuracy"]
    assert after["n"] == len(model.path_scores(test, known)["jump"])


def test_the_share_of_a_pair_in_the_prior_is_chosen_on_held_out_sentences(parts: Parts, tmp_path: Path) -> None:
    """Here half of the pairs are seen once: a large α, which trusts the one jump of such a pair, does harm."""
    train, test = parts.bitext.select(TRAIN), parts.bitext.select(TEST)
    known, held_out = parts.known(TRAIN), parts.known(TEST)
    chosen, paper = (BlockMe(alpha=alpha, learner="lbfgs:max-passes=10").fit(train, known) for alpha in (None, 0.9))
    assert chosen.alpha is None and chosen.alpha_ < 0.9 == paper.alpha_
    ours, theirs = (model.path_scores(test, held_out)["jump_logprob"].mean() for model in (chosen, paper))
    assert ours > theirs
    chosen.save(tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert isinstance(loaded, BlockMe) and loaded.alpha_ == chosen.alpha_ and loaded.summary()["alpha"] == chosen.alpha_
    few = BlockMe(learner="lbfgs:max-passes=1").fit(train.select(np.arange(20)), known.select(np.arange(20)))
    assert few.alpha_ == 0.15


def test_saved_and_loaded_gives_the_same_scores(parts: Parts, model: BlockMe, tmp_path: Path) -> None:
    model.save(tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert (
        isinstance(loaded, BlockMe)
        and to_mapping(loaded) == to_mapping(model)
        and loaded.sides_.rules == model.sides_.rules
    )
    before, after = (m.path_scores(parts.bitext.select(TEST), parts.known(TEST)) for m in (model, loaded))
    assert all(np.array_equal(before[name], after[name]) for name in before)
    loaded.save(tmp_path / "again")


def test_a_text_without_tags_or_trees(parts: Parts, model: BlockMe) -> None:
    """Families that need them are off in training; trees may be missing later, tags may not."""
    plain = BlockMe(learner="lbfgs:max-passes=3").fit(parts.bitext.select(TRAIN))
    assert plain.summary()["families"] == ["lexical", "context", "coverage"]
    assert plain.reads == ()
    plain.path_scores(parts.bitext.select(TEST))
    tagged = BlockMe(learner="lbfgs:max-passes=3").fit(
        parts.bitext.select(TRAIN), Annotations(source_tags=parts.tags.select(TRAIN))
    )
    assert tagged.summary()["families"] == ["lexical", "context", "tags", "coverage"]
    assert (
        model.path_scores(parts.bitext.select(TEST), Annotations(source_tags=parts.tags.select(TEST)))["sum"].min() > 0.999
    )
    with pytest.raises(OptionError, match="trained with tags"):
        model.path_scores(parts.bitext.select(TEST))


def test_threads_do_not_matter_and_training_can_be_cancelled(parts: Parts) -> None:
    train, known = parts.bitext.select(TRAIN), parts.known(TRAIN)
    for learner in ("lbfgs", "iis"):
        one, two = (BlockMe(learner=f"{learner}:max-passes=4", threads=n).fit(train, known).weights_ for n in (1, 2))
        assert np.array_equal(one, two)
    with pytest.raises(Cancelled):
        BlockMe().fit(train, progress=lambda done, total: False)


def test_wrong_use_says_so(parts: Parts) -> None:
    with pytest.raises(OptionError, match="call fit first"):
        BlockMe().path_scores(parts.bitext)
    with pytest.raises(OptionError, match="unknown family of features 'words'"):
        BlockMe(families="lexical,words").fit(parts.bitext)
    none = Bitext(parts.bitext.source, parts.bitext.target, Links.of([[] for _ in range(len(parts.bitext))]))
    with pytest.raises(InputError, match="no sentence pair has links"):
        BlockMe().fit(none)


@pytest.mark.parametrize("weights", [{"Block0": 0.3}, {"Block0": 1.0, "TranslationModel0": [0.0, 0.0, 0.02, 0.0]}])
def test_a_system_translates_with_it(parts: Parts, model: BlockMe, weights: dict[str, Any], tmp_path: Path) -> None:
    """As a feature among others, and as the translation model itself; with stored system, unknown words and no trees."""
    train = parts.bitext.select(TRAIN)
    table = PhraseTable.build(train, extract(train))
    System.of(table, reordering={"Block0": model}, weights=weights, options=Decoding(stack=20)).save(tmp_path / "system")
    system = System.load(tmp_path / "system")
    lines = [*(" ".join(parts.bitext.source[s]) for s in TEST[:8]), "qqq rrr", ""]
    tags = [*(" ".join(parts.tags[s]) for s in TEST[:8]), "N V", ""]
    pieces = parts.trees.select(TEST[:8]).pieces(parts.bitext.source.select(TEST[:8]))
    trees = [*b"".join(pieces).decode().splitlines(), "", ""]
    known = annotate(lines, tags=tags, trees=trees)
    translated = TokenTranslator(system, threads=1).translate(lines, annotations=known)
    assert len(translated) == 10 and translated[8] and not translated[9]
    assert len(TokenTranslator(system, threads=2).translate(lines, annotations=known.only(["source_tags"]))) == 10
    assert TokenTranslator(system, threads=2).translate(lines, annotations=known) == translated
    with pytest.raises(OptionError, match="trained with tags"):
        TokenTranslator(system).translate(lines)
    with pytest.raises(InputError, match="only 2 lines of trees"):
        annotate(lines, trees=trees[:2])
    few = annotate(lines[:2], tags=tags[:2], trees=trees[:2])
    with pytest.raises(InputError, match="only 2 lines of tags"):
        TokenTranslator(system).translate(lines, annotations=few)
    assert known.source_trees is not None
    other = replace(known, source_trees=known.source_trees.select([*range(8), 0, 9]))
    with pytest.raises(InputError, match=r"trees:9: a tree of \d+ words for 2 words"):
        TokenTranslator(system).translate(lines, annotations=other)


def test_explain_shows_the_features_of_the_paper(model: BlockMe) -> None:
    rows = explain_blocks(model, family="sibling-tag", top=5, sort="count")
    assert [row.count for row in rows] == sorted((row.count for row in rows), reverse=True)
    assert all(row.node and row.coverage in (0, 1, 2) and row.orientation in (-1, 1) and row.alpha > 0 for row in rows)
    strongest = explain_blocks(model, top=50)
    strengths = [abs(np.log(row.alpha)) for row in strongest]
    assert strengths == sorted(strengths, reverse=True)
    word = explain_blocks(model, family="lexical", top=1)[0].source
    assert all(row.source == word for row in explain_blocks(model, source=word, top=5))
    with pytest.raises(OptionError, match="no feature for 'nowhere'"):
        explain_blocks(model, source="nowhere")


def test_pictures_of_jumps(model: BlockMe) -> None:
    assert model.tag_vocabulary_ is not None
    tag = model.tag_vocabulary_.word(0)
    (axes,) = draw_tag_jumps(explain_tag(model, tag)).axes
    assert [bar.get_height() for bar in axes.patches] == model.table_.tag_jumps[0, ::-1].tolist()
    with pytest.raises(OptionError, match="never saw the tag 'Q'"):
        explain_tag(model, "Q")


def test_sentences_may_be_empty_or_unknown(model: BlockMe) -> None:
    bitext = Bitext(Text.of(["xxx yyy", "zzz"]), Text.of(["uuu", "vvv"]), Links.of([[(0, 0)], []]))
    scores = model.path_scores(bitext, Annotations(source_tags=Tags.of(["Q Q", "Q"], bitext.source)))
    assert scores["sum"] == pytest.approx(np.ones(2)) and np.isfinite(scores["logprob"]).all()
