"""The ways to learn weights of jumps agree: L-BFGS of the core, of PyTorch, and AdaGrad."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from hyperbaton import _core
from hyperbaton.align import visit_order
from hyperbaton.base.errors import MissingExtra, OptionError
from hyperbaton.base.executors import Sharding
from hyperbaton.base.options import plugin
from hyperbaton.base.resources import Resources
from hyperbaton.base.scratch import Scratch
from hyperbaton.corpus import Annotations, Bitext, Tags
from hyperbaton.data import generate
from hyperbaton.evaluate import HeldOut, evaluate
from hyperbaton.models import MODELS
from hyperbaton.models.jumps.lists import feature_lists
from hyperbaton.models.jumps.weights import N_CONSTANTS, JumpWeights
from hyperbaton.models.shapes.next_position import JumpTraining
from tests.clocks import PATIENCE

NAMES = ("pair", "sequence")
CANDIDATES = ("all", "remaining")
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
@pytest.mark.parametrize("candidates", CANDIDATES)
def test_torch_computes_the_same_objective_and_gradient(name: str, candidates: str, corpus: tuple[Bitext, Tags]) -> None:
    torch = pytest.importorskip("torch")
    from hyperbaton.models.jumps.torch_objective import TorchObjective

    bitext, tags = corpus
    fitted = model(name, learner="lbfgs:max-passes=1", candidates=candidates)
    fitted.fit(bitext, Annotations(source_tags=tags))
    training = JumpTraining(fitted._known(bitext.source, Annotations(source_tags=tags)), visit_order(bitext.need_links()))
    core = fitted.core_objective(training, cached=True)
    other = TorchObjective(fitted.lists(training), fitted.planes)
    weights = np.random.default_rng(1).normal(size=(N_CONSTANTS + len(fitted.keys_), fitted.planes))
    value, gradient = core(weights)
    torch_value, torch_gradient = other(torch.from_numpy(weights))
    assert np.isclose(torch_value, value, rtol=1e-12)
    assert np.allclose(torch_gradient.numpy(), gradient, rtol=1e-9, atol=1e-9)
    # Blocks of few sentences, one, some or none of which stay where PyTorch computes.
    for room in (None, 10_000, 0):
        on_disk = training._replace(resources=Resources(threads=1, scratch=Scratch(20_000)))
        streamed = TorchObjective(fitted.lists(on_disk), fitted.planes, room=room, block=2000)
        kept = [block.kept is not None for block in streamed.blocks]
        assert len(kept) > 5 and not any(kept)
        for _ in range(2):  # the second time with what was kept
            streamed_value, streamed_gradient = streamed(torch.from_numpy(weights))
            assert np.isclose(streamed_value, value, rtol=1e-12)
            assert np.allclose(streamed_gradient.numpy(), gradient, rtol=1e-9, atol=1e-9)
        n_kept = sum(block.kept is not None for block in streamed.blocks)
        assert n_kept == len(kept) if room is None else n_kept == 0 if room == 0 else n_kept < len(kept)
    single = TorchObjective(fitted.lists(training), fitted.planes, dtype=torch.float32)
    assert np.isclose(single(torch.from_numpy(weights).float())[0], value, rtol=1e-4)


@pytest.mark.parametrize("name", NAMES)
def test_torch_reaches_the_same_optimum(name: str, corpus: tuple[Bitext, Tags]) -> None:
    pytest.importorskip("torch")
    options = "variance=0.1:tolerance=1e-5:gain=0:max-passes=300"
    both = [
        model(name, learner=f"{minimizer}:{options}").fit(corpus[0], Annotations(source_tags=corpus[1]))
        for minimizer in ("lbfgs", "torch")
    ]
    values = [objective(fitted, corpus) for fitted in both]
    assert values[1] == pytest.approx(values[0], rel=1e-6)
    assert both[0].objective_[-1] == pytest.approx(values[0], rel=1e-9)
    assert np.allclose(both[0].weights_, both[1].weights_, atol=1e-3)


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


@pytest.mark.parametrize("minimizer", ["lbfgs", "torch"])
def test_training_stops_when_it_gains_little(minimizer: str, corpus: tuple[Bitext, Tags]) -> None:
    if minimizer == "torch":
        pytest.importorskip("torch")
    gain, over = 0.01, 5
    learner = f"{minimizer}:variance=0.1:tolerance=1e-5:max-passes=300"
    long, short = (model("pair", learner=learner + end).fit(corpus[0]).objective_ for end in ("", f":gain={gain}"))
    assert np.array_equal(short, long[: len(short)])
    fall = (short[:-over] - short[over:]) / (over * short[over:])
    assert len(short) < len(long) and fall[-1] <= gain and (fall[:-1] > gain).all()


def test_wrong_use_of_coverage_says_so(corpus: tuple[Bitext, Tags]) -> None:
    with pytest.raises(OptionError, match="--coverage needs --candidates remaining"):
        model("pair", coverage=True).fit(corpus[0])
    with pytest.raises(OptionError, match="cannot be trained with PyTorch"):
        model("pair", coverage=True, candidates="remaining", learner="torch").fit(corpus[0])


def test_wrong_options_of_torch_say_so(corpus: tuple[Bitext, Tags]) -> None:
    with pytest.raises(OptionError, match="warmup"):
        model("pair", learner="torch:warmup=1").fit(corpus[0])
    with pytest.raises(OptionError, match="device-memory must be an amount like 512M"):
        model("pair", learner="torch:device-memory=much").fit(corpus[0])


def test_a_missing_device_is_named(corpus: tuple[Bitext, Tags]) -> None:
    pytest.importorskip("torch")
    with pytest.raises(OptionError, match="device gpu: Expected one of cpu, cuda"):
        model("pair", learner="torch:device=gpu").fit(corpus[0])


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
            touched.append(
                np.unique(np.concatenate([np.arange(N_CONSTANTS), feature_lists(one, fitted.keys_).ids, classes]))
            )
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
def test_adagrad_does_not_depend_on_threads_and_is_a_good_start(corpus: tuple[Bitext, Tags], tmp_path: Path) -> None:
    # 100,000 sentences have two parts.
    made = generate(400, style="japanese", seed=3).bitext
    made = made.select(np.resize(np.argsort(made.source.lengths, kind="stable")[:8], 100_000))
    one, two = (model("sequence", learner="adagrad:variance=0.003", threads=n).fit(made) for n in (1, 2))
    assert np.array_equal(one.weights_, two.weights_) and np.array_equal(one.objective_, two.objective_)
    few = "lbfgs:variance=0.003:max-passes=3"
    cold, warm = (model("sequence", learner=few + end).fit(made) for end in (":warmup=0", ":warmup=2"))
    assert warm.objective_[-1] < cold.objective_[-1]
    for options in ({"cache": False}, {}):
        both = [model("sequence", learner=BEST + end, **options).fit(corpus[0]) for end in (":warmup=0", ":warmup=2")]
        assert both[1].objective_[-1] == pytest.approx(both[0].objective_[-1], rel=1e-6)
        assert both[1].objective_[0] < both[0].objective_[0]
    shards = model("sequence", learner=BEST + ":warmup=2").fit(corpus[0], sharding=Sharding(tmp_path, 2))
    assert shards.objective_[-1] == pytest.approx(both[0].objective_[-1], rel=1e-6)
    with pytest.raises(OptionError, match="this model has no AdaGrad to start from: leave warmup out"):
        MODELS["block_me"](learner="lbfgs:warmup=1").fit(generate(20, seed=1).bitext)


def test_adagrad_in_shards_comes_near(
    corpus: tuple[Bitext, Tags], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    learner, flat = "adagrad:variance=0.1:max-passes=6", _flat(corpus)
    whole = model("pair", learner=learner, min_count=2).fit(corpus[0])
    shards = model("pair", learner=learner, min_count=2).fit(corpus[0], sharding=Sharding(tmp_path, 3))
    gains = [flat - objective(fitted, corpus) for fitted in (whole, shards)]
    assert 0.8 * gains[0] < gains[1] < 1.1 * gains[0] and not caplog.records
    model("pair", learner="adagrad:variance=0.1", min_count=2).fit(corpus[0], sharding=Sharding(tmp_path, 6))
    (record,) = caplog.records
    assert "averages of 6 parts" in record.message and "lbfgs:variance=0.1:warmup=2" in record.message


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


def test_torch_may_be_missing(corpus: tuple[Bitext, Tags], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    for module in ("hyperbaton.models.jumps.torch_objective", "hyperbaton.learn.minimizers._lbfgs_torch"):
        monkeypatch.delitem(sys.modules, module, raising=False)
        monkeypatch.delattr(module, raising=False)
    with pytest.raises(MissingExtra, match=r"hyperbaton\[torch\]"):
        model("pair", learner="torch").fit(corpus[0])


def test_features_found_by_torch_alone_are_ours(corpus: tuple[Bitext, Tags], tmp_path: Path) -> None:
    """What `benchmarks.next_position gpu` finds on a machine without the package."""
    torch = pytest.importorskip("torch")
    from benchmarks.next_position.torch_features import count_keys, feature_lists, read_pack

    bitext, tags = corpus
    fitted = model("pair", min_count=2, learner="lbfgs:max-passes=1").fit(bitext, Annotations(source_tags=tags))
    visits = visit_order(bitext.need_links())
    arrays = {"tokens": bitext.source.tokens, "tags": tags.labels, "lengths": bitext.source.lengths}
    arrays |= {"visits": visits.positions, "n_visits": np.diff(visits.offsets)}
    np.savez(tmp_path / "pack.npz", **arrays)
    packed = read_pack(tmp_path / "pack.npz", 0, torch.device("cpu"))
    keys = count_keys(packed, 2)
    assert np.array_equal(keys.numpy().view(np.uint64) ^ np.uint64(1 << 63), fitted.keys_)
    ours = fitted.lists(JumpTraining(fitted._known(bitext.source, Annotations(source_tags=tags)), visits))
    lists = feature_lists(packed, keys)
    for name in ("lengths", "counts", "ids", "next", "n_features"):
        assert np.array_equal(np.asarray(lists[name]), np.asarray(getattr(ours, name))), name


@pytest.mark.parametrize("name", ["models/jumps/torch_objective.py", "learn/minimizers/_lbfgs_torch.py"])
def test_the_torch_backend_needs_nothing_of_ours(name: str) -> None:
    pytest.importorskip("torch")
    file = Path(sys.modules[JumpWeights.__module__].__file__ or "").parents[2] / name
    code = (
        f"import runpy, sys; runpy.run_path({str(file)!r}); assert not any(m.startswith('hyperbaton') for m in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_torch_backend_has_the_constants_of_the_core() -> None:
    file = Path(sys.modules[JumpWeights.__module__].__file__ or "").with_name("torch_objective.py")
    code = file.read_text(encoding="utf-8").splitlines()
    assert f"N_CONSTANTS = {N_CONSTANTS}" in code and f"N_DISTANCES = {(N_CONSTANTS - 2) // 2}" in code
    minimizer = file.parents[2] / "learn" / "minimizers" / "_lbfgs_torch.py"
    assert f"_GAIN_STEPS = {_core.GAIN_STEPS}" in minimizer.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("name", NAMES)
def test_mapped_features_and_one_shard_give_the_same_weights(
    name: str, corpus: tuple[Bitext, Tags], tmp_path: Path
) -> None:
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
        for how in ({"scratch": Scratch(20_000)}, {"sharding": Sharding(tmp_path, 1)}):
            other = model(name, **each).fit(bitext, annotations, **how)
            assert np.array_equal(whole.weights_, other.weights_) and np.array_equal(whole.objective_, other.objective_)
    shards = model(name, **options).fit(bitext, annotations, sharding=Sharding(tmp_path, 50))  # more than sentences
    assert np.abs(whole.weights_ - shards.weights_).max() < 1e-6


INTERRUPTED = """
import os, signal, sys
from pathlib import Path
from hyperbaton.data import generate
from hyperbaton.models import MODELS
from hyperbaton.models.shapes import training_states

training_states.SECONDS = 0
passes = []

def progress(done, total):
    passes.append(done)
    if total == 25 and done == 7:
        os.kill(os.getpid(), signal.SIGKILL)

model = MODELS["pair"](learner=sys.argv[2], min_count=2, checkpoint=Path(sys.argv[1]))
model.fit(generate(40, style="japanese", seed=2).bitext, progress=progress)
"""


@pytest.mark.parametrize("minimizer", ["lbfgs", "adagrad", "torch"])
def test_killed_training_resumes_and_finds_the_same_weights(
    minimizer: str, corpus: tuple[Bitext, Tags], tmp_path: Path
) -> None:
    if minimizer == "torch":
        pytest.importorskip("torch")
    options = {"learner": f"{minimizer}:variance=0.1:max-passes=25", "min_count": 2}
    whole, state = model("pair", **options).fit(corpus[0]), tmp_path / "model.training"
    killed = subprocess.run([sys.executable, "-c", INTERRUPTED, str(state), options["learner"]], timeout=PATIENCE)
    assert killed.returncode < 0 and state.is_dir()
    passes = []
    again = model("pair", checkpoint=state, **options)
    again.fit(corpus[0], progress=lambda done, total: passes.append(done) if total == 25 else None)
    assert min(passes) >= 5
    assert np.array_equal(whole.weights_, again.weights_) and np.array_equal(whole.objective_, again.objective_)
    # Other options begin anew; saving the model removes the state.
    other, passes = model("pair", checkpoint=state, **(options | {"min_count": 3})), []
    other.fit(corpus[0], progress=lambda done, total: passes.append(done) if total == 25 else None)
    assert min(passes) < 5
    other.save(tmp_path / "model")
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_models_that_have_no_shards_say_so(corpus: tuple[Bitext, Tags], tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="nine_class is trained in memory, in one process: only pair and sequence"):
        MODELS["nine_class"]().fit(corpus[0], sharding=Sharding(tmp_path, 2))  # type: ignore[call-arg]
    with pytest.raises(OptionError, match="this model cannot be trained by iis; use one of: lbfgs, adagrad"):
        model("pair", learner="iis").fit(corpus[0], sharding=Sharding(tmp_path, 2))
