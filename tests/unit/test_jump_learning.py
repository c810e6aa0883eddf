"""The ways to learn weights of jumps agree: L-BFGS and AdaGrad, in memory or in mapped files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from hyperbaton import _core
from hyperbaton.align import visit_order
from hyperbaton.base.errors import OptionError
from hyperbaton.base.options import plugin
from hyperbaton.base.scratch import Scratch
from hyperbaton.corpus import Annotations, Bitext, Tags
from hyperbaton.data import generate
from hyperbaton.evaluate import HeldOut, evaluate
from hyperbaton.models import MODELS
from hyperbaton.models.jumps.weights import N_CONSTANTS, JumpWeights
from hyperbaton.models.shapes.next_position import JumpTraining
from tests.clocks import PATIENCE

NAMES = ("pair", "sequence")
BEST = "lbfgs:variance=0.1:tolerance=1e-5:gain=0:max-passes=300"
QUICK = {name: f"adagrad:variance=0.1:max-passes=30:step={step}" for name, step in (("pair", 0.1), ("sequence", 0.02))}


@pytest.fixture(scope="module")
def corpus() -> tuple[Bitext, Tags]:
    made = generate(40, style="japanese", seed=2)
    return made.bitext, Tags.of([" ".join(line) for line in made.source_tags], made.bitext.source)


def model(name: str, **options: object) -> JumpWeights:
    made = MODELS[name](**options)
    assert isinstance(made, JumpWeights)
    return made


def objective(fitted: JumpWeights, corpus: tuple[Bitext, Tags]) -> float:
    """The objective at the weights found."""
    bitext, tags = corpus
    training = JumpTraining(fitted._known(bitext.source, Annotations(source_tags=tags)), visit_order(bitext.need_links()))
    value, _ = fitted.core_objective(training, cached=True)(fitted.weights_)
    return float(value + (fitted.weights_**2).sum() / (2 * plugin(fitted, "learner").variance))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("coverage", [False, True])
def test_the_optimum_over_remaining_words_is_found(name: str, coverage: bool, corpus: tuple[Bitext, Tags]) -> None:
    """No change of a weight lowers the objective, and the text is more probable given the remaining words."""
    bitext, annotations = corpus[0], Annotations(source_tags=corpus[1])
    fitted = model(name, learner=BEST, candidates="remaining", coverage=coverage).fit(bitext, annotations)
    training = JumpTraining(fitted._known(bitext.source, annotations), visit_order(bitext.need_links()))
    core = fitted.core_objective(training, cached=True)
    _, gradient = core(fitted.weights_)
    _, at_start = core(np.zeros_like(fitted.weights_))
    assert np.abs(gradient + fitted.weights_ / 0.1).max() < 1e-4 * np.abs(at_start).max()
    if coverage:
        assert np.abs(fitted.weights_[-_core.N_CANDIDATE_CLASSES :]).max() > 0
    evaluation = evaluate(fitted, HeldOut(bitext, annotations))
    over_all = evaluate(model(name, learner=BEST).fit(bitext, annotations), HeldOut(bitext, annotations))
    assert evaluation.mean_logprob > over_all.remaining_mean_logprob > over_all.mean_logprob
    quick = model(name, learner=QUICK[name], candidates="remaining", coverage=coverage).fit(bitext, annotations)
    least, start = objective(fitted, corpus), float(core(np.zeros_like(fitted.weights_))[0])
    assert least < objective(quick, corpus) < least + 0.05 * (start - least)


def test_training_stops_when_it_gains_little(corpus: tuple[Bitext, Tags]) -> None:
    gain, over = 0.01, _core.GAIN_STEPS
    learner = "lbfgs:variance=0.1:tolerance=1e-5:max-passes=300"
    long, short = (model("pair", learner=learner + end).fit(corpus[0]).objective_ for end in ("", f":gain={gain}"))
    assert np.array_equal(short, long[: len(short)])
    fall = (short[:-over] - short[over:]) / (over * short[over:])
    assert len(short) < len(long) and fall[-1] <= gain and (fall[:-1] > gain).all()


def test_wrong_use_of_coverage_says_so(corpus: tuple[Bitext, Tags]) -> None:
    with pytest.raises(OptionError, match="--coverage needs --candidates remaining"):
        model("pair", coverage=True).fit(corpus[0])


@pytest.mark.parametrize("name", NAMES)
def test_adagrad_comes_near(name: str, corpus: tuple[Bitext, Tags]) -> None:
    best = model(name, learner=BEST).fit(corpus[0], Annotations(source_tags=corpus[1]))
    quick = model(name, learner=QUICK[name]).fit(corpus[0], Annotations(source_tags=corpus[1]))
    least = objective(best, corpus)
    start = _flat(corpus)
    assert least < objective(quick, corpus) < least + 0.05 * (start - least)


@pytest.mark.parametrize("name", NAMES)
def test_adagrad_goes_forward_and_backward_in_falling_steps(name: str, corpus: tuple[Bitext, Tags]) -> None:
    bitext, annotations = corpus[0], Annotations(source_tags=corpus[1])
    options = {"candidates": "remaining", "coverage": True, "min_count": 2}
    fitted = model(name, learner="adagrad:variance=0.1:max-passes=2", **options).fit(bitext, annotations)
    training = JumpTraining(fitted._known(bitext.source, annotations), visit_order(bitext.need_links()))
    sentences, touched = [], []
    for s in range(len(bitext.source)):
        one = JumpTraining(training.source.select(np.array([s])), training.visits.select(np.array([s])))
        if len(one.visits.positions):
            sentences.append(fitted.core_objective(one, cached=True))
            classes = np.arange(fitted.n_features - _core.N_CANDIDATE_CLASSES, fitted.n_features)
            ids = one.features(fitted.keys_).lists(one.core(), None, 0, 1, n_threads=1, progress=None)[1]
            touched.append(np.unique(np.concatenate([np.arange(N_CONSTANTS), ids, classes])))
    counts, n = np.bincount(np.concatenate(touched), minlength=fitted.n_features), len(sentences)
    weights, squares = np.zeros(fitted.weights_.shape), np.full(fitted.weights_.shape, 1e-8)
    for t, s in enumerate([*range(n), *reversed(range(n))]):
        own, step = touched[s], {"pair": 0.1, "sequence": 0.02}[name] * (1 - t / (2 * n))
        gradient = sentences[s](weights)[1][own] + weights[own] / (0.1 * counts[own, None])
        squares[own] += gradient**2
        weights[own] -= step * gradient / np.sqrt(squares[own])
    # In single precision; a first gradient that is all but zero is rounding, and moves its weight as far as any other.
    assert np.isclose(fitted.weights_, weights, rtol=1e-3, atol=1e-5).mean() > 0.99


@pytest.mark.slow
def test_adagrad_does_not_depend_on_threads_and_is_a_good_start(corpus: tuple[Bitext, Tags]) -> None:
    # 100,000 sentences have two parts.
    made = generate(400, style="japanese", seed=3).bitext
    made = made.select(np.resize(np.argsort(made.source.lengths, kind="stable")[:8], 100_000))
    one, two = (model("sequence", learner="adagrad:variance=0.003", threads=n).fit(made) for n in (1, 2))
    assert np.array_equal(one.weights_, two.weights_) and np.array_equal(one.objective_, two.objective_)
    few = "lbfgs:variance=0.003:max-passes=3"
    some = made.select(np.arange(5000))
    cold, warm = (model("sequence", learner=few + end).fit(some) for end in (":warmup=0", ":warmup=2"))
    assert warm.objective_[-1] < cold.objective_[-1]
    for options in ({"cache": False}, {}):
        both = [model("sequence", learner=BEST + end, **options).fit(corpus[0]) for end in (":warmup=0", ":warmup=2")]
        assert both[1].objective_[-1] == pytest.approx(both[0].objective_[-1], rel=1e-6)
        assert both[1].objective_[0] < both[0].objective_[0]
    with pytest.raises(OptionError, match="this model has no AdaGrad to start from: leave warmup out"):
        MODELS["block_me"](learner="lbfgs:warmup=1").fit(generate(20, seed=1).bitext)


def _flat(corpus: tuple[Bitext, Tags]) -> float:
    """The objective where all weights are 0."""
    visits = visit_order(corpus[0].need_links())
    jumps = visits.jumps(corpus[0].source.lengths)
    n = corpus[0].source.lengths[jumps.sentence]
    return float(np.log(np.where(jumps.current < 0, n + 1, n)).sum())


def test_features_can_be_computed_again_in_every_pass(corpus: tuple[Bitext, Tags]) -> None:
    kept, anew = (model("sequence", learner="lbfgs:max-passes=4", cache=cache).fit(corpus[0]) for cache in (True, False))
    assert np.array_equal(kept.weights_, anew.weights_)


def test_some_of_the_sentences_can_be_learned_from(corpus: tuple[Bitext, Tags]) -> None:
    bitext, tags = corpus
    few = model("pair", max_sentences=10).fit(bitext, Annotations(source_tags=tags))
    chosen = np.arange(10) * len(bitext) // 10  # all have links
    alone = model("pair").fit(bitext.select(chosen), Annotations(source_tags=tags.select(chosen)))
    assert few.n_jumps_ == alone.n_jumps_ and np.array_equal(few.weights_, alone.weights_)
    assert model("pair", max_sentences=1000).fit(bitext).n_jumps_ == model("pair").fit(bitext).n_jumps_


@pytest.mark.parametrize("name", NAMES)
def test_mapped_features_give_the_same_weights(name: str, corpus: tuple[Bitext, Tags]) -> None:
    bitext, annotations = corpus[0], Annotations(source_tags=corpus[1])
    options = {
        "candidates": "remaining",
        "coverage": True,
        "min_count": 2,
        "learner": "lbfgs:variance=0.1:max-passes=9:warmup=0",
    }
    learners = ("adagrad:variance=0.1", "lbfgs:variance=0.1:max-passes=9:warmup=1", options["learner"])
    for each in ({**options, "learner": learner} for learner in learners):
        whole = model(name, **each).fit(bitext, annotations)
        other = model(name, **each).fit(bitext, annotations, scratch=Scratch(20_000))
        assert np.array_equal(whole.weights_, other.weights_) and np.array_equal(whole.objective_, other.objective_)


INTERRUPTED = """
import os, signal, sys
from pathlib import Path
from hyperbaton.data import generate
from hyperbaton.models import MODELS
from hyperbaton.base import training_states

training_states.SECONDS = 0
passes = []

def progress(done, total):
    passes.append(done)
    if done == 352:  # after 7 of 25 passes, which are 900 of 1,000 steps after the features
        os.kill(os.getpid(), signal.SIGKILL)

model = MODELS["pair"](learner=sys.argv[2], min_count=2, checkpoint=Path(sys.argv[1]))
model.fit(generate(40, style="japanese", seed=2).bitext, progress=progress)
"""


@pytest.mark.parametrize("minimizer", ["lbfgs", "adagrad"])
def test_killed_training_resumes_and_finds_the_same_weights(
    minimizer: str, corpus: tuple[Bitext, Tags], tmp_path: Path
) -> None:
    options = {"learner": f"{minimizer}:variance=0.1:max-passes=25", "min_count": 2}
    whole, state = model("pair", **options).fit(corpus[0]), tmp_path / "model.training"
    killed = subprocess.run([sys.executable, "-c", INTERRUPTED, str(state), options["learner"]], timeout=PATIENCE)
    assert killed.returncode < 0 and state.is_dir()
    passes = []
    again = model("pair", checkpoint=state, **options)
    again.fit(corpus[0], progress=lambda done, total: passes.append((done - 100) // 36) if done > 100 else None)
    assert min(passes) >= 5
    assert np.array_equal(whole.weights_, again.weights_) and np.array_equal(whole.objective_, again.objective_)
    # Other options begin anew; saving the model removes the state.
    other, passes = model("pair", checkpoint=state, **(options | {"min_count": 3})), []
    other.fit(corpus[0], progress=lambda done, total: passes.append((done - 100) // 36) if done > 100 else None)
    assert min(passes) < 5
    other.save(tmp_path / "model")
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_models_that_are_trained_in_memory_say_so(corpus: tuple[Bitext, Tags]) -> None:
    with pytest.raises(OptionError, match="nine_class is trained in memory: only pair and sequence"):
        MODELS["nine_class"]().fit(corpus[0], scratch=Scratch(20_000))  # type: ignore[call-arg]
    with pytest.raises(OptionError, match="this model cannot be trained by iis; use one of: lbfgs, adagrad"):
        model("pair", learner="iis").fit(corpus[0])
