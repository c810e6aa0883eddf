"""The aligner `neural`: its forward pass against plain NumPy and PyTorch, saved models, commands."""

from __future__ import annotations

import copy
import pickle
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.fuzz.networks import untrained_neural

from hyperbaton import _core
from hyperbaton.align import Aligner, evaluate_links, load_aligner
from hyperbaton.align.aligners.neural import Neural
from hyperbaton.base.errors import Cancelled, HyperbatonError, MissingExtra, OptionError, installing
from hyperbaton.base.store import Artefact
from hyperbaton.corpus import Bitext, Text
from hyperbaton.corpus.files import write_pieces
from hyperbaton.data import generate
from tests.oracles import link_network as oracle
from tests.program import hyperbaton

SIDES = ("source", "target")
TINY: dict[str, Any] = {"teacher_size": 16, "teacher_epochs": 2, "epochs": 2, "hidden": 6, "word_size": 9, "vector_size": 8}


@pytest.fixture(scope="module")
def bitext() -> Bitext:
    return generate(60, seed=3).bitext


@pytest.fixture(scope="module")
def untrained(bitext: Bitext) -> Neural:
    return untrained_neural(bitext)


@pytest.fixture(scope="module")
def saved(untrained: Neural, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("neural") / "model"
    untrained.save(path, smallest=0)
    return path


def hide_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    # Other tests may have imported them; the packages go too, which remember their modules.
    for name in [name for name in sys.modules if name.startswith(("hyperbaton.network", "hyperbaton.align.neural"))]:
        monkeypatch.delitem(sys.modules, name)


def words_of(text: Text, s: int) -> np.ndarray:
    return text.tokens[text.offsets[s] : text.offsets[s + 1]]


def test_the_forward_pass_is_that_of_the_formulas(bitext: Bitext, untrained: Neural) -> None:
    models = Aligner().fit(bitext, threads=1).posteriors(bitext, 0.0, threads=1)
    found = untrained.posteriors(bitext, 0.0, threads=2)
    sides = untrained.normalize(bitext)
    for s in range(0, len(bitext), 7):
        rows = [
            tuple(untrained.rows_[f"{name}.{part}"][words_of(side.text, s)].tolist() for part in ("words", "stems"))
            for name, side in zip(SIDES, sides, strict=True)
        ]
        n, m = len(rows[0][0]), len(rows[1][0])
        part = slice(models.links.offsets[s], models.links.offsets[s + 1])
        q, r = (models.values[part, way].reshape(n, m).astype(np.float64) for way in (0, 1))
        expected = oracle.correct(untrained.network_, rows[0], rows[1], q, r)
        for way in (0, 1):
            assert np.allclose(found.values[part, way].reshape(n, m), expected[way], atol=2e-4)


def test_threads_and_groups_change_no_bit(bitext: Bitext, untrained: Neural) -> None:
    one, two = (untrained.posteriors(bitext, 0.01, threads=n) for n in (1, 2))
    assert np.array_equal(one.values, two.values) and np.array_equal(one.links.points, two.links.points)
    alone = untrained.posteriors(bitext.select(np.array([17])), 0.01, threads=1)
    part = slice(one.links.offsets[17], one.links.offsets[18])
    assert np.array_equal(alone.values, one.values[part])


def test_a_saved_model_is_read_by_its_kind(bitext: Bitext, untrained: Neural, saved: Path) -> None:
    loaded = Aligner.load(saved)
    assert type(loaded) is Neural
    links = untrained.align(bitext, threads=1)
    for other in (loaded, pickle.loads(pickle.dumps(untrained))):
        assert np.array_equal(other.align(bitext, threads=1).points, links.points)
    assert not np.array_equal(Aligner().fit(bitext, threads=1).align(bitext, threads=1).points, links.points)
    scores = loaded.score(bitext, links, threads=1)
    assert scores.posteriors.max() <= 1 and (scores.confidences >= 0.1).mean() > 0.9


def test_given_posteriors_are_used_like_those_of_the_network(bitext: Bitext, untrained: Neural) -> None:
    sides = [side.text.core_tokens for side in untrained.normalize(bitext)]
    models, found = untrained.model_, untrained.posteriors(bitext, 0.0, threads=1)
    shape = found.links.points, found.links.offsets
    given = _core.GivenPosteriors(*shape, found.values)
    links = [models.directed_links(each, *sides, 0.15, 2, None) for each in (given, untrained.student_)]
    assert all(np.array_equal(x, y) for ways in zip(*links, strict=True) for x, y in zip(*ways, strict=True))
    scores = [models.score_links(each, *sides, *shape, 1, None) for each in (given, untrained.student_)]
    assert all(np.array_equal(*parts) for parts in zip(*scores, strict=True))
    few = np.flatnonzero(found.values.max(1) > 0.9)
    offsets = np.searchsorted(few, shape[1])
    sparse = _core.GivenPosteriors(found.links.points[few], offsets, found.values[few])
    points, ends, values = models.posteriors(sparse, *sides, 1e-6, 1, None)
    assert np.array_equal(points, found.links.points[few]) and np.array_equal(values, found.values[few])
    assert np.array_equal(ends, offsets)
    rest = slice(0, shape[1][-2])
    for wrong, message in (
        (_core.GivenPosteriors(shape[0][rest], shape[1][:-1], found.values[rest]), "do not match the texts"),
        (_core.GivenPosteriors(*shape, found.values[:-1]), "do not match their links"),
        (_core.GivenPosteriors(shape[0] + np.uint16(9), shape[1], found.values), "out of range"),
    ):
        with pytest.raises(HyperbatonError, match=message):
            models.directed_links(wrong, *sides, 0.15, 1, None)


def test_the_seed_is_in_the_manifest(untrained: Neural, tmp_path: Path) -> None:
    seeded = copy.copy(untrained)
    seeded.seed = 7
    seeded.save(tmp_path / "model")
    assert Artefact(tmp_path / "model").manifest["seed"] == 7
    assert Aligner.load(tmp_path / "model").seed == 7


def test_links_for_phrases_leave_fewer_words_unlinked(bitext: Bitext, untrained: Neural) -> None:
    phrases = copy.copy(untrained)
    phrases.for_ = "phrases"
    assert len(phrases.align(bitext, threads=1).points) > len(untrained.align(bitext, threads=1).points)


def test_commands_use_a_saved_model(bitext: Bitext, untrained: Neural, saved: Path, tmp_path: Path) -> None:
    source, target = (tmp_path / name for name in ("text.zh", "text.en"))
    write_pieces(source, bitext.source.pieces())
    write_pieces(target, bitext.target.pieces())
    plain = hyperbaton("align", source, target, "--model", saved).stdout
    links = untrained.align(bitext, threads=1)
    assert plain.splitlines() == [" ".join(f"{i}-{j}" for i, j in links[s]) for s in range(len(bitext))]
    assert hyperbaton("align", source, target, "--model", saved, "--executor", "processes:1").stdout == plain
    assert len(hyperbaton("lexicon", saved).stdout.splitlines()) > 10


def test_empty_and_overlong_sentences_have_no_links(untrained: Neural) -> None:
    words = " ".join(["word"] * 1001)
    odd = Bitext.of(["", "x", words], ["y", "", "y"])
    assert [untrained.align(odd, threads=1)[s] for s in range(3)] == [[], [], []]


def test_a_damaged_model_is_an_error(untrained: Neural, tmp_path: Path) -> None:
    arrays = dict(untrained.network_)
    for name in ("mix", "inner.weight", "source.key.weight", "target.vector", "source.word"):
        other = pickle.loads(pickle.dumps(untrained))
        with pytest.raises(HyperbatonError, match="network"):
            other.take({k: v[:, :-1].copy() if k == name else v for k, v in arrays.items()})
        with pytest.raises(HyperbatonError, match="network"):
            other.take({k: v for k, v in arrays.items() if k != name})


def test_without_pytorch_training_says_what_to_install(bitext: Bitext, monkeypatch: pytest.MonkeyPatch) -> None:
    hide_torch(monkeypatch)
    with pytest.raises(MissingExtra, match=f"^PyTorch is not installed: {re.escape(installing('torch'))}$"):
        Neural().fit(bitext)


class TestPyTorch:
    """What needs PyTorch."""

    @pytest.fixture(autouse=True)
    def torch(self) -> Any:
        return pytest.importorskip("torch")

    def test_a_trained_network_answers_as_pytorch(self, bitext: Bitext) -> None:
        import torch

        from hyperbaton.align.neural.pairs import PairData
        from hyperbaton.align.neural.student import Student, StudentShape
        from hyperbaton.align.neural.training import Training

        aligner = Neural(**TINY)
        Aligner.fit(aligner, bitext, threads=1)
        texts = aligner.prepare(bitext, threads=1)
        training = Training(aligner, texts, 1)
        teachers = [training.teach(number) for number in range(2)]
        assert all(len(history) == 2 and history[1] > history[0] for _, history in teachers)
        assert not np.array_equal(*(arrays["to_target.query.weight"] for arrays, _ in teachers))
        arrays, _ = training.learn([arrays for arrays, _ in teachers])
        student = Student(StudentShape(training.shapes(9, 3, 6), 8)).take(arrays).eval()
        aligner.take(arrays)
        found, data = aligner.posteriors(bitext, 0.0, threads=1), PairData(texts, "cpu", 60)
        with torch.no_grad():
            for s in data.usable[:20]:
                both = student(data.batch(np.array([s])))
                part = slice(found.links.offsets[s], found.links.offsets[s + 1])
                for way, values in enumerate((both.to_target[0, :-1], both.to_source[0, :, :-1])):
                    assert np.allclose(values.exp().numpy().ravel(), found.values[part, way], atol=2e-3)

    def test_saved_teachers_link_when_asked(self, bitext: Bitext, tmp_path: Path) -> None:
        import torch

        from hyperbaton.align.neural.pairs import PairData
        from hyperbaton.align.neural.training import Training

        model, source, target = (tmp_path / name for name in ("model", "text.zh", "text.en"))
        write_pieces(source, bitext.source.pieces())
        write_pieces(target, bitext.target.pieces())
        flags = [f"--{name.replace('_', '-')}={value}" for name, value in TINY.items()]
        command = ("align", source, target, "--confidence", 0.3, "-t", 1)
        printed = hyperbaton(*command, "--aligner", "neural", *flags, "--with-teachers", "--save-model", model).stdout
        loaded, student = load_aligner(model, {"with_teachers": True}), Aligner.load(model)
        assert isinstance(loaded, Neural) and isinstance(student, Neural) and not student.with_teachers
        # Teachers side by side learn the same.
        arguments = ("--aligner", "neural", *flags, "--with-teachers", "--executor", "processes:2")
        assert hyperbaton(*command, *arguments).stdout == printed
        # The mixture, computed pair by pair.
        training = Training(loaded, loaded.prepare(bitext, threads=1), 1)
        teachers = [{k[2:]: v for k, v in loaded.teachers_.items() if k.startswith(f"{number}.")} for number in (0, 1)]
        task, data = training._student_task(training.networks(teachers), 60), PairData(training.texts, "cpu", 60)
        found = loaded.posteriors(bitext, 0.0, threads=1)
        for s in data.usable[:20]:
            with torch.no_grad():
                both = task._mixture(data.batch(np.array([s])))
            part = slice(found.links.offsets[s], found.links.offsets[s + 1])
            for way, values in enumerate((both.to_target[0, :-1], both.to_source[0, :, :-1])):
                assert np.allclose(values.numpy().ravel(), found.values[part, way], atol=2e-3)
        # By commands.
        assert hyperbaton(*command, "--model", model, "--with-teachers").stdout == printed
        assert hyperbaton(*command, "--model", model, "--with-teachers", "--executor", "processes:1").stdout == printed
        assert hyperbaton(*command, "--model", model).stdout != printed
        loaded.confidence = student.confidence = 0.3
        pickled = pickle.loads(pickle.dumps(loaded))
        assert np.array_equal(pickled.align(bitext).points, loaded.align(bitext).points)
        assert not np.array_equal(student.align(bitext).points, loaded.align(bitext).points)
        assert loaded.score(bitext, loaded.align(bitext)).confidences.min() > 0
        odd = Bitext.of(["", " ".join(["word"] * 61)], ["x", "unseen"])
        assert loaded.align(odd)[0] == []

    def test_training_continues_from_a_saved_model(self, bitext: Bitext, tmp_path: Path) -> None:
        import torch

        from hyperbaton.align.neural.training import Training

        path = tmp_path / "model"
        before = Neural(**TINY, with_teachers=True).fit(bitext, threads=1)
        before.save(path)
        some = bitext.select(np.arange(30))
        text = Bitext.of(
            [*(" ".join(line) for line in some.source), "neu neu neu"], [*map(" ".join, some.target), "new new"]
        )
        after = Neural(**TINY, continue_=str(path))
        Aligner.fit(after, text, threads=1)  # the prior is the saved model
        prior = Aligner(prior=str(path)).fit(text, threads=1)
        assert np.array_equal(after.posteriors(text, threads=1).values, prior.posteriors(text, threads=1).values)
        saved = after._before()
        assert saved is not None
        texts, starts = after.prepare(text, 1, saved), after._starts(saved)
        known = saved.known_rows()
        for side, name in enumerate(SIDES):
            rows = after.rows_[f"{name}.words"]
            for word, row in zip(after.vocabularies_[side].words(), rows.tolist(), strict=True):
                old = known.get((f"{name}.words", word), 0)
                assert row > 0 or word in ("neu", "new") or not old  # rare words that are known keep their rows
                reads, predicts = (f"to_{way}" for way in (SIDES[1 - side], name))
                for array, saved_array, part in (
                    (starts[-1], saved.network_, f"{name}.word"),
                    (starts[0], saved._teacher(0), f"{reads}.source.word.weight"),
                    (starts[0], saved._teacher(0), f"{predicts}.context.word.weight"),
                    (starts[0], saved._teacher(0), f"{predicts}.output.weight"),
                ):
                    assert array is not None and np.array_equal(array[part][row], saved_array[part][old])
        # The networks at the start answer as the saved ones, for sentences without new words.
        teacher, old_teacher = (
            Training(options, own, 1).networks([start])[0].eval()
            for options, own, start in ((after, texts, starts[1]), (saved, saved.prepare(bitext, 1), saved._teacher(1)))
        )
        assert torch.equal(teacher.to_target.query.weight, old_teacher.to_target.query.weight)
        after.fit(text, threads=1)
        assert not np.array_equal(after.network_["mix"], saved.network_["mix"])
        again = Neural(**TINY, continue_=str(path)).fit(text, threads=1)
        assert all(np.array_equal(after.network_[name], again.network_[name]) for name in after.network_)

    def test_models_that_cannot_be_continued(self, bitext: Bitext, saved: Path, tmp_path: Path) -> None:
        text, model = tmp_path / "text", tmp_path / "model"
        text.write_text("a b\n", encoding="utf-8")
        Neural(**TINY, with_teachers=True).fit(bitext.select(np.arange(20)), threads=1).save(model)
        command = ("align", text, text, "--aligner", "neural", "--continue")
        for arguments, message in (
            ([saved], f"{saved}: has no teachers; train it with --with-teachers"),
            ([model], f"{model}: was learned with teacher_size 16, not 256"),
            ([model, "--model", model], "--model and --continue: a saved model is not trained, so a prior has no effect"),
        ):
            done = hyperbaton(*command, *arguments)
            assert done.returncode == 1 and done.stderr == f"hyperbaton: error: {message}\n"

    def test_teachers_that_are_not_there(self, saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        text = tmp_path / "text"
        text.write_text("a\n", encoding="utf-8")
        command = ("align", text, text, "--model", saved, "--with-teachers")
        messages = [f"{saved}: has no teachers; train it with --with-teachers"]
        messages += [f"PyTorch is not installed: {installing('torch')}"]
        for message in messages:
            done = hyperbaton(*command)
            assert done.returncode == 1 and done.stderr == f"hyperbaton: error: {message}\n"
            hide_torch(monkeypatch)

    def test_interrupted_training_resumes_and_finds_the_same_network(self, bitext: Bitext, tmp_path: Path) -> None:
        bitext = bitext.select(np.arange(40))
        whole = Neural(**TINY).fit(bitext, threads=1)
        aligner, seen = Neural(**TINY, checkpoint=tmp_path / "model.training"), list[float]()
        with pytest.raises(Cancelled):
            aligner.fit(bitext, threads=1, progress=lambda done, total: done / total < 0.7)
        assert sorted(path.name for path in tmp_path.iterdir()) == ["model.training.teacher.0", "model.training.teacher.1"]
        aligner.fit(bitext, threads=1, progress=lambda done, total: seen.append(done / total))
        assert not any(0.15 < part < 0.5 for part in seen)  # the first teacher is not trained again
        assert all(np.array_equal(whole.network_[name], array) for name, array in aligner.network_.items())
        aligner.save(tmp_path / "model")
        assert [path.name for path in tmp_path.iterdir()] == ["model"]

    def test_a_sample_of_words_stands_for_all(self) -> None:
        import torch

        from hyperbaton.align.neural.teacher import Teacher, TeacherShape
        from hyperbaton.network.training import ReaderShape

        torch.manual_seed(1)
        side = ReaderShape(n_words=200, n_labels=5, word_size=8, label_size=2, hidden=4)
        unigrams = torch.rand(200).log_softmax(0)
        direction = Teacher(TeacherShape((side, side), samples=40), (unigrams, unigrams)).to_target.train()
        vectors, places, words = torch.randn(1, 3, 8), torch.arange(3), np.array([3, 60, 150])
        exact = direction._normalizer(vectors, places, None).exp()
        sums = [direction._normalizer(vectors, places, direction._candidates(words)).exp() for _ in range(400)]
        assert torch.allclose(torch.stack(sums).mean(0), exact, rtol=0.02)
        always, weights = direction._candidates(words)
        assert set(range(20)) | {60, 150} <= set(always[weights == 0].tolist()) and len(always) == 42
        assert direction.eval()._candidates(words) is None

    def test_stored_posteriors_are_those_of_the_batch(self, bitext: Bitext) -> None:
        from hyperbaton.align.neural.pairs import PairData

        aligner = Neural(**TINY)
        Aligner.fit(aligner, bitext, threads=1)
        data = PairData(aligner.prepare(bitext, threads=1), "cpu", 60)
        data.wanted = data.posteriors(lambda batch: batch.models)
        batch = data.batch(np.array([5, 3, 17]))
        assert batch.wanted is not None
        for stored, computed in zip(batch.wanted, batch.models, strict=True):
            assert np.allclose(stored.numpy(), computed.numpy(), atol=2e-3)

    def test_training_is_repeated_with_a_seed_and_not_worse_than_the_models(self, bitext: Bitext) -> None:
        first, again, other = (Neural(**TINY, seed=seed).fit(bitext, threads=1) for seed in (1, 1, 2))
        assert all(np.array_equal(first.network_[name], again.network_[name]) for name in first.network_)
        assert not np.array_equal(first.network_["inner.weight"], other.network_["inner.weight"])
        gold = bitext.need_links()
        before, after = (
            evaluate_links(a.align(bitext, threads=1), gold).aer for a in (Aligner(confidence=0.15).fit(bitext), first)
        )
        assert after < before + 2

    def test_without_short_pairs_nothing_is_corrected(self) -> None:
        odd = Bitext.of(["", " ".join(["word"] * 61)], ["x", "y"])
        aligner = Neural(**TINY, with_teachers=True).fit(odd, threads=1)
        assert np.array_equal(aligner.align(odd).points, Aligner(confidence=0.15).fit(odd, threads=1).align(odd).points)

    def test_an_unknown_device_is_an_error(self, bitext: Bitext) -> None:
        with pytest.raises(OptionError, match=r"^device nowhere: "):
            Neural(device="nowhere").fit(bitext)
