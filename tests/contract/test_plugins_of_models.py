"""Models take learners, minimizers and feature sets with their own options, as text or as instances."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from hyperbaton import _core
from hyperbaton.base.errors import OptionError
from hyperbaton.base.options import from_mapping, plugin, to_mapping
from hyperbaton.corpus import Bitext
from hyperbaton.data import generate
from hyperbaton.learn import LEARNERS, KernelModel, Learner
from hyperbaton.learn.minimizers import MINIMIZERS
from hyperbaton.learn.sgd import Sgd
from hyperbaton.models import MODELS, OrientationModel, load_model
from hyperbaton.phrases import Occurrences, Samples, extract


@pytest.fixture(scope="module")
def parts() -> dict[str, Bitext]:
    return generate(150, style="chinese", seed=4).bitext.split({"train": 120, "test": 30}, seed=1)


@pytest.fixture(scope="module")
def held_out(parts: dict[str, Bitext]) -> Samples:
    return extract(parts["test"], 4)


def fitted(name: str, parts: dict[str, Bitext], **options: object) -> OrientationModel:
    model = MODELS[name](max_length=4, **options)
    assert isinstance(model, OrientationModel)
    return model.fit(parts["train"])


def add_file(package: ModuleType, folder: Path, name: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put one file into a folder of plug-ins, for one test."""
    (folder / f"{name}.py").write_text(text, encoding="utf-8")
    monkeypatch.setattr(package, "__path__", [*package.__path__, str(folder)])
    importlib.invalidate_caches()


@pytest.mark.parametrize("learner", LEARNERS.names())
@pytest.mark.parametrize("scope", ["clusters", "global"])
def test_every_learner_trains_a_model(
    learner: str, scope: str, parts: dict[str, Bitext], held_out: Samples, tmp_path: Path
) -> None:
    few = "" if learner == "relative_frequency" else ":max-passes=3"
    model = fitted("maxent", parts, learner=f"{learner}{few}", scope=scope)
    logprobs = model.sample_logprobs(parts["test"], held_out)
    assert np.allclose(np.exp(logprobs).sum(axis=1), 1)
    model.save(tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert isinstance(loaded, OrientationModel) and np.array_equal(
        loaded.sample_logprobs(parts["test"], held_out), logprobs
    )


def test_kernels_are_stored(parts: dict[str, Bitext], held_out: Samples, tmp_path: Path) -> None:
    classes = "1 .5 0; .5 1 .5; 0 .5 1"
    learner = f"mmr:kernel=gaussian:gamma=0.5:output-kernel={classes}:max-passes=5"
    model = fitted("mmr", parts, learner=learner, scope="global")
    assert isinstance(model.global_, KernelModel)  # type: ignore[attr-defined]
    before = model.sample_logprobs(parts["test"], held_out)
    model.save(tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert isinstance(loaded, OrientationModel)
    assert np.array_equal(loaded.sample_logprobs(parts["test"], held_out), before)
    linear = fitted("mmr", parts, learner=f"mmr:output-kernel={classes}", scope="global")
    assert not np.array_equal(linear.sample_logprobs(parts["test"], held_out), before)
    with pytest.raises(OptionError, match="set kernel to linear"):
        fitted("mmr", parts, learner=learner)


def test_algorithm_1_drops_the_rows_that_are_solved(parts: dict[str, Bitext], held_out: Samples) -> None:
    """A model's rows are made again when most have left the active set; the visits end at nearly the same weights."""
    literal = fitted("dual_mlr", parts, learner="dual_eg:literal=yes:max-passes=60")
    assert to_mapping(literal)["learner"] == "dual_eg:variance=0.1:max-passes=60:literal=yes"
    spelled = fitted("dual_mlr", parts, learner="dual_eg:step=fixed:initial=1e-4:recheck=no:max-passes=60")
    learner = plugin(spelled, "learner")
    assert (learner.step, learner.initial, learner.recheck, learner.variance) == ("fixed", 1e-4, False, 0.1)
    assert to_mapping(spelled)["learner"] == "dual_eg:variance=0.1:initial=0.0001:step=fixed:max-passes=60:recheck=no"
    kept = fitted("dual_mlr", parts, learner="dual_eg:step=fixed:initial=1e-4:max-passes=60:epsilon=0.001")
    first, second, third = (model.sample_logprobs(parts["test"], held_out) for model in (literal, spelled, kept))
    assert np.array_equal(first, second)
    np.testing.assert_allclose(np.exp(first), np.exp(third), atol=0.03)
    history, all_rows = literal.history_, kept.history_["bytes"]  # type: ignore[attr-defined]
    assert history["bytes"][0] == all_rows[0] == all_rows[-1] > 4 * history["bytes"][-1]
    assert len({len(values) for values in history.values()}) == 1 and (np.diff(history["active"]) <= 0).all()
    assert (np.diff(history["objective"]) <= 1e-9).all()


def test_an_instance_works_like_text(parts: dict[str, Bitext], held_out: Samples) -> None:
    texts = fitted("maxent", parts, learner="sgd:variance=0.5:max-passes=2:tolerance=0.0001")
    instances = fitted("maxent", parts, learner=Sgd(variance=0.5, max_passes=2))
    assert to_mapping(texts) == to_mapping(instances)
    # The default of dual_mlr has 30 passes: another number survives saving, also the learner's own default, 100.
    for default in ("dual_eg:max-passes=100", "lbfgs:tolerance=1e-05"):
        model = from_mapping(MODELS["dual_mlr"], {"learner": default})
        again = from_mapping(MODELS["dual_mlr"], to_mapping(model))
        assert plugin(again, "learner").get_params() == plugin(model, "learner").get_params()
    one, two = (model.sample_logprobs(parts["test"], held_out) for model in (texts, instances))
    assert np.array_equal(one, two)
    with pytest.raises(OptionError, match="not a learner: 3"):
        fitted("maxent", parts, learner=3)


def test_feature_sets_have_options(parts: dict[str, Bitext]) -> None:
    near, far = (fitted("maxent", parts, features=f"context:far={far}", scope="global") for far in (1, 20))
    assert near.feature_set_.n_features < far.feature_set_.n_features  # type: ignore[attr-defined]
    loose = fitted("maxent", parts, features="statistical:smoothing=3", scope="global", learner="lbfgs:max-passes=2")
    assert loose.feature_set_.smoothing == 3  # type: ignore[attr-defined]


def test_feature_sets_are_joined(parts: dict[str, Bitext], held_out: Samples, tmp_path: Path) -> None:
    """The columns of one set follow those of the other; a joined set is stored, described and pruned like its parts."""
    named = "aligned-words:min-count=3+statistical:smoothing=3.0"
    model = fitted("dpr", parts, features=named, global_learner="sgd:max-passes=2", prune=0.05)
    assert to_mapping(model)["features"] == named.replace("-words", "_words")
    again = fitted("dpr", parts, features=model.feature_set_, global_learner="sgd:max-passes=2", prune=0.05)  # type: ignore[attr-defined]
    assert again.feature_set_ is not model.feature_set_  # type: ignore[attr-defined]
    model.save(tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert isinstance(loaded, OrientationModel)
    probabilities = [m.sample_logprobs(parts["test"], held_out) for m in (model, again, loaded)]
    assert all(np.array_equal(probabilities[0], others) for others in probabilities[1:])
    evidence = loaded.evidence(Occurrences.of_samples(parts["test"], held_out))
    kinds = {feature.partition(":")[0] for of_pair in evidence for feature, _ in of_pair}
    assert {"link", "context", "log(1 + pair count)", "always"} <= kinds
    with pytest.raises(OptionError, match="features dpr\\+bag: unknown feature 'bag'"):
        fitted("dpr", parts, features="dpr+bag")


def test_errors_name_the_option_and_the_known_ones() -> None:
    for text, message in {
        "lbfsg": r"learner lbfsg: unknown learner 'lbfsg' \(did you mean lbfgs\?\)",
        "lbfgs:passes=3": r"learner lbfgs:passes=3: unknown option 'passes' \(did you mean max-passes\?\); known: i",
        "lbfgs:max-passes=0": r"learner lbfgs:max-passes=0: max-passes must be at least 1, not 0",
        "lbfgs:max-passes=x": r"max-passes must be a whole number, not 'x'",
    }.items():
        with pytest.raises(OptionError, match=message):
            MODELS["maxent"](learner=text)
    with pytest.raises(OptionError, match="cannot be trained by iis; use one of: lbfgs, adagrad"):
        MODELS["pair"](learner="iis", min_count=1).fit(Bitext.of(["a b"], ["c d"], [[(0, 0), (1, 1)]]))


def test_every_minimizer_is_offered_by_some_model() -> None:
    assert {"lbfgs", "adagrad", "iis"} <= set(MINIMIZERS.names())


LEARNER = '''"""Class frequencies of each feature: a learner in one file of Python."""

from dataclasses import dataclass

import numpy as np
from hyperbaton import _core
from hyperbaton.base.options import option
from hyperbaton.learn import Learner


@dataclass(eq=False)
class ByFeature(Learner):
    """Log frequencies of the classes by feature."""

    smoothing: float = option(1.0, "pseudo-count", minimum=1e-9)

    def _trainer(self, training):
        return _core.python_trainer(self._learn)

    def _learn(self, *, indptr, indices, values, labels, n_features, n_classes, **_):
        counts = np.full((n_features, n_classes), self.smoothing)
        np.add.at(counts, (indices, np.repeat(labels, np.diff(indptr))), values)
        return np.log(counts / counts.sum(axis=1, keepdims=True)), np.zeros(1)
'''


def test_a_learner_in_python_is_one_file(
    parts: dict[str, Bitext], held_out: Samples, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import hyperbaton.learn

    add_file(hyperbaton.learn, tmp_path, "by_feature", LEARNER, monkeypatch)
    assert "by_feature" in LEARNERS.names()
    chance = -np.log(3)
    for scope in ("clusters", "global"):
        model = fitted("mms", parts, learner="by_feature:smoothing=2", scope=scope)
        logprobs = model.sample_logprobs(parts["test"], held_out)
        assert logprobs[np.arange(len(held_out)), model.labels(held_out)].mean() > chance


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ([[[0.0, 0.0]], [0.0]], "must return a tuple of two: weights, and its objective by pass"),
        ((np.zeros((2, 2)), [0.0]), r"must return weights of the shape \(n_features, n_classes\)"),
        (([0.0, 0.0], [0.0]), r"must return weights of the shape \(n_features, n_classes\)"),
        (([[0.0, 0.0]], [[0.0]]), "must return its objective by pass: a list or an array of one dimension"),
        (([[0.0, 0.0]], []), "must return its objective by pass"),
        (([[0.0, "x"]], [0.0]), "could not convert string to float"),
        (([[0, 1]], [0]), None),
    ],
)
def test_the_answer_of_a_learner_in_python_is_checked(answer: object, message: str | None) -> None:
    class Answering(Learner):
        def _trainer(self, training: object) -> _core.Trainer:
            return _core.python_trainer(lambda **_: answer)

    if message is None:
        assert Answering(intercept=False).fit([[1.0], [1.0]], [0, 1]).predict([[1.0]]).tolist() == [1]
        return
    with pytest.raises(Exception, match=message):
        Answering(intercept=False).fit([[1.0], [1.0]], [0, 1])


FEATURES = '''"""The first word of the target phrase: a feature set in one file."""

from dataclasses import dataclass

from hyperbaton.base.options import option
from hyperbaton.features._templates import Template, TemplateFeatures


@dataclass
class FirstWords(TemplateFeatures):
    """First words of the target phrase."""

    words: int = option(1, "how many", minimum=1, maximum=4)

    def templates(self):
        for n in range(1, self.words + 1):
            yield Template("first", "target", "inside", 0, n)
'''


def test_a_feature_set_with_an_option_is_one_file(
    parts: dict[str, Bitext], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import hyperbaton.features

    add_file(hyperbaton.features, tmp_path, "first_words", FEATURES, monkeypatch)
    one, two = (fitted("maxent", parts, features=f"first_words:words={n}", scope="global") for n in (1, 2))
    assert one.feature_set_.n_features < two.feature_set_.n_features  # type: ignore[attr-defined]
