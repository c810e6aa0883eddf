"""The lexicalized model over other units than words, and its ladder of smoothing."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from hyperbaton.base.errors import OptionError
from hyperbaton.corpus import Annotations, Bitext, Tags, Text
from hyperbaton.corpus.classes import word_classes
from hyperbaton.data import generate
from hyperbaton.decode import Decoding, NBest, System, TokenTranslator
from hyperbaton.decode.assemble import assemble
from hyperbaton.decode.moses import export_moses, import_moses
from hyperbaton.evaluate import HeldOut, evaluate
from hyperbaton.models import load_model
from hyperbaton.models.dual_mlr import DualMlr
from hyperbaton.models.lexicalized import Lexicalized
from hyperbaton.phrases import PhraseTable, TranslationOptions, extract

MONOTONE = [(0, 0), (1, 1)]
SWAPPED = [(0, 1), (1, 0)]


@pytest.fixture(scope="module")
def small() -> Bitext:
    return Bitext.of(["a b", "a b", "a c"], ["x y", "y x", "x z"], [MONOTONE, SWAPPED, MONOTONE])


def test_the_ladder_goes_from_the_pair_to_source_to_target_to_all(small: Bitext) -> None:
    model = Lexicalized(orientations="msd", towards="ladder", smoothing=0.5, max_length=1).fit(small)
    # Towards the previous phrase: a is M, S (it comes second), M; b is M, D; c is M.
    totals = model.class_counts_ + 1.0

    def step(counts: list[int], towards: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
        return (np.array(counts) + 1.5 * towards) / (sum(counts) + 1.5)

    everything = totals / totals.sum()
    by_source, by_target = model.sources_, model.targets_
    assert by_target is not None and len(by_source.keys) == 3 and len(by_target.keys) == 3
    of_b, of_y = [1, 0, 1], [1, 0, 1]
    expected = step(of_b, step(of_b, step(of_y, everything)))
    options = TranslationOptions.of([(0, 1, 2, "y", [(0, 0)]), (0, 1, 2, "z", [(0, 0)]), (0, 2, 3, "y", [])])
    probabilities = np.exp(model.option_logprobs(Text.of(["a b q"]), options))
    np.testing.assert_allclose(probabilities[0], expected)
    # The pair b z was never seen: p(o | b), towards p(o | z). Nor was q: p(o | y).
    np.testing.assert_allclose(probabilities[1], step(of_b, step([1, 0, 0], everything)))
    np.testing.assert_allclose(probabilities[2], step(of_y, everything))


class Parts:
    def __init__(self) -> None:
        made = generate(260, style="japanese", seed=5)
        self.bitext = made.bitext
        self.tags = Tags.of([" ".join(line) for line in made.source_tags], made.bitext.source)
        self.train, self.test = np.arange(220), np.arange(220, 260)
        self.classes = {
            "source_classes": word_classes(self.bitext.source, 8, runs=1),
            "target_classes": word_classes(self.bitext.target, 8, runs=1),
        }

    def known(self, units: str, sentences: np.ndarray) -> Annotations:  # type: ignore[type-arg]
        if units == "classes":
            return Annotations(**self.classes)
        if units == "tags":
            return Annotations(source_tags=self.tags.select(sentences), target_classes=self.classes["target_classes"])
        return Annotations()


@pytest.fixture(scope="module")
def parts() -> Parts:
    return Parts()


@pytest.mark.parametrize("units", ["words", "classes", "tags"])
def test_units_are_learned_stored_evaluated_and_searched_with(parts: Parts, units: str, tmp_path: Path) -> None:
    train, test = parts.bitext.select(parts.train), parts.bitext.select(parts.test)
    model = Lexicalized(orientations="hier-mslr", units=units, towards="ladder").fit(train, parts.known(units, parts.train))
    model.save(tmp_path / "model")
    again = load_model(tmp_path / "model")
    tags = Annotations(source_tags=parts.tags.select(parts.test)) if units == "tags" else Annotations()
    first, second = (evaluate(m, HeldOut(test, tags)).as_json() for m in (model, again))
    assert first == second
    assert first["perplexity"] == pytest.approx(np.exp(-first["mean_logprob"]))
    assert model.moses_table("backward") == (None if units == "tags" else "hier-mslr-backward-fe")
    table = PhraseTable.build(train, extract(train, 4))
    translator = TokenTranslator(System.of(table, (), {"LR": again}), Decoding(pop_limit=30), threads=1)
    lines = [" ".join(words) for words in test.source][:3]
    assert all(translator.translate(lines, annotations=tags.select([0, 1, 2])))


def test_units_say_what_they_need(parts: Parts) -> None:
    train = parts.bitext.select(parts.train)
    with pytest.raises(OptionError, match="units=classes needs --source-classes and --target-classes"):
        Lexicalized(units="classes").fit(train)
    with pytest.raises(OptionError, match="units=tags needs --source-tags and --target-classes"):
        Lexicalized(units="tags").fit(train, Annotations(target_classes=parts.classes["target_classes"]))
    model = Lexicalized(units="tags").fit(train, parts.known("tags", parts.train))
    with pytest.raises(OptionError, match="was trained with tags: give the tags of the sentences"):
        model.sample_logprobs(train, extract(train, 3))


@pytest.mark.parametrize(("units", "towards", "conditioning"), [("words", "backoff", "f"), ("classes", "ladder", "fe")])
def test_tables_and_their_export_have_what_the_model_says(
    parts: Parts, units: str, towards: str, conditioning: str, tmp_path: Path
) -> None:
    train = parts.bitext.select(parts.train)
    table = PhraseTable.build(train, extract(train, 3))
    table.save(tmp_path / "phrases")
    folders, expected = [], []
    pairs = [(source, target, table.source[source], table.target[target]) for source, target in pairs_of(table)]
    lines = [line for _, _, line, _ in pairs]
    options = TranslationOptions.of([(i, 0, len(line.split()), target, []) for i, (_, _, line, target) in enumerate(pairs)])
    for side in ("before", "after"):
        model = Lexicalized(orientations="msd", side=side, units=units, towards=towards, conditioning=conditioning)
        model.fit(train, parts.known(units, parts.train)).save(tmp_path / side)
        folders.append(str(tmp_path / side))
        expected.append(np.exp(model.option_logprobs(Text.of(lines), options)))
    name = f"wbe-msd-bidirectional-{conditioning}"
    system = assemble(tmp_path / "phrases", (), {"LR": f"{name}:{','.join(folders)}"})
    probabilities = system.reordering["LR"].probabilities
    rows = np.array([source for source, *_ in pairs]) if conditioning == "f" else slice(None)
    np.testing.assert_allclose(probabilities[rows], np.concatenate(expected, axis=1), rtol=1e-6)
    again = import_moses(export_moses(system, tmp_path / "moses"))
    np.testing.assert_allclose(again.reordering["LR"].probabilities, probabilities, rtol=1e-4)
    with pytest.raises(OptionError, match="needs 2 models, for before and after"):
        assemble(tmp_path / "phrases", (), {"LR": f"{name}:{folders[0]}"})
    with pytest.raises(OptionError, match=r"before: not an orientation model with .* --side after"):
        assemble(tmp_path / "phrases", (), {"LR": f"{name}:{folders[0]},{folders[0]}"})


def test_a_classifier_becomes_a_table_of_its_averages(parts: Parts, tmp_path: Path) -> None:
    """The table of a model that looks at context has the mean of its probabilities over the samples of each pair."""
    train = parts.bitext.select(parts.train)
    files = [str(tmp_path / name) for name in ("source", "target", "links")]
    for text, file in zip((train.source, train.target), files[:2], strict=True):
        Path(file).write_text("".join(f"{' '.join(words)}\n" for words in text), encoding="utf-8")
    train.need_links().write(files[2])
    samples = extract(train, 3)
    table = PhraseTable.build(train, samples)
    table.save(tmp_path / "phrases")
    expected = np.zeros((len(table), 6))
    rows = {pair: row for row, pair in enumerate((table.source[s], table.target[t]) for s, t in pairs_of(table))}
    of_samples = [rows[sample.source, sample.target] for sample in samples]
    for column, side in ((0, "before"), (3, "after")):
        model = DualMlr(orientations="msd", side=side, max_length=3, features="aligned_words+statistical").fit(train)
        model.save(tmp_path / side)
        np.add.at(expected[:, column : column + 3], of_samples, np.exp(model.sample_logprobs(train, samples)))
    expected /= np.bincount(of_samples)[:, None]
    name, folders = "wbe-msd-bidirectional-fe", f"{tmp_path / 'before'},{tmp_path / 'after'}"
    with pytest.raises(OptionError, match=r"dual_mlr looks at context, .* add :SOURCE,TARGET,LINKS"):
        assemble(tmp_path / "phrases", (), {"dual": f"{name}:{folders}"})
    with pytest.raises(OptionError, match="expected a text of three files"):
        assemble(tmp_path / "phrases", (), {"dual": f"{name}:{folders}:{files[0]}"})
    system = assemble(tmp_path / "phrases", (), {"dual": f"{name}:{folders}:{','.join(files)}"})
    probabilities = system.reordering["dual"].probabilities
    np.testing.assert_allclose(probabilities, expected, rtol=1e-5)
    np.testing.assert_allclose(probabilities.reshape(-1, 3).sum(axis=1), 1, rtol=1e-5)
    again = import_moses(export_moses(system, tmp_path / "moses"))
    lines = gzip.decompress((tmp_path / "moses" / f"reordering-table.dual.{name}.gz").read_bytes()).splitlines()
    assert len(lines) == len(table) and all(len(line.split(b" ||| ")[2].split()) == 6 for line in lines)
    for words in parts.bitext.select(parts.test).source[:3]:
        translator = TokenTranslator(again, Decoding(pop_limit=30), threads=1)
        begin = 0
        for step in translator.translate_batch([" ".join(words)], NBest(1)).steps(0):
            row = rows.get((" ".join(words[step.begin : step.end]), " ".join(step.target)))
            if row is not None and step.begin == begin:  # a monotone step; after it the next phrase decides the rest
                np.testing.assert_allclose(step.features["dual"][0], np.log(expected[row, 0]), rtol=1e-3)
            begin = step.end


def pairs_of(table: PhraseTable) -> list[tuple[int, int]]:
    return list(zip(table.sources.tolist(), table.targets.tolist(), strict=True))


def test_models_of_tags_or_of_the_ladder_have_no_table() -> None:
    assert Lexicalized(orientations="msd", units="tags").moses_table("backward") is None
    assert Lexicalized(orientations="msd", towards="ladder", conditioning="f").moses_table("backward") is None
