"""A mistake in an experiment file is one line with the key and what is allowed, before any work starts."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from hyperbaton.base.errors import HyperbatonError, InputError, installing
from hyperbaton.lm import Estimation
from hyperbaton.network import words as torch_words
from hyperbaton.run.corpus import Corpus
from hyperbaton.run.experiment import parse_experiment, read_experiment
from hyperbaton.run.models import Models
from hyperbaton.run.plan import make_plan
from hyperbaton.run.translation import Translation
from hyperbaton.tune import Length
from tests.program import hyperbaton

NO_NAMES = ("", ".", "..")  # they would be folders


def values(**changes: Any) -> dict[str, Any]:
    """A small experiment that is right."""
    return {"corpus": {"generate": {"sentences": 1000}}, "models": {"lr": {"model": "lexicalized"}, "pair": {}}} | changes


def message(values: dict[str, Any], folder: Path = Path()) -> str:
    with pytest.raises(HyperbatonError) as caught:
        parse_experiment(values, "exp.toml", folder)
    text = str(caught.value)
    assert "\n" not in text and text.startswith("exp.toml: key '")
    return text.removeprefix("exp.toml: ")


def fixed(**weights: float) -> dict[str, Any]:
    """An experiment with fixed weights of a system."""
    return values(translation={"fix": {"lr": weights}})


def corpus(**changes: Any) -> dict[str, Any]:
    return values(corpus=changes)


def tokenized(**keys: str) -> dict[str, Any]:
    """A corpus of files, which are this one, with tokenizers."""
    split = {"source": __file__, "target": __file__}
    options = {key.replace("_", "-"): value for key, value in keys.items()}
    return corpus(train=split, dev=split, test=split, tokenize=options)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (values(modles={}), "key 'modles': unknown (did you mean models?); allowed: title, seed, memory, corpus"),
        (values(seed="one"), "key 'seed': must be a whole number, not 'one'"),
        (values(seed=True), "key 'seed': must be a whole number, not True"),
        (values(lm={"ordr": 3}), "key 'lm.ordr': unknown (did you mean order?); allowed: order, prune"),
        (values(lm={"order": "3"}), "key 'lm.order': must be a whole number, not '3'"),
        (values(lm={"order": True}), "key 'lm.order': must be a whole number, not True"),
        (values(lm=5), "key 'lm': must be a table, not 5"),
        (values(lm={"order": 0}), "key 'lm.order': must be at least 1, not 0"),
        (
            values(models={"x": {"model": "sequense"}}),
            "key 'models.x.model': unknown value 'sequense' (did you mean sequence?)",
        ),
        (values(models={"x": {}}), "key 'models.x.model': unknown value 'x'; allowed: "),
        (values(models={}), "key 'models.NAME': missing; name at least one model: "),
        (
            values(models={"pair": {"lerner": "lbfgs"}}),
            "key 'models.pair.lerner': unknown (did you mean learner?); allowed: model",
        ),
        (
            values(models={"pair": {"max-passes": 3}}),
            "key 'models.pair.max-passes': an option of the learner: learner = \"lbfgs:max-passes=…\"",
        ),
        (
            values(models={"pair": {"learner": "lbfgs:passes=3"}}),
            "key 'models.pair.learner': lbfgs:passes=3: unknown option 'passes' (did you mean max-passes?); known: ",
        ),
        (values(models={"pair": {"direction": "forward"}}), "key 'models.pair.direction': does not apply"),
        (
            values(models={"pair": {"weights-per-class": True}}),
            "key 'models.pair.weights-per-class': does not apply to the model pair, which has no orientations",
        ),
        (
            values(models={"dual_mlr": {"table": True, "direction": "backward"}}),
            "key 'models.dual_mlr.table': needs a direction and Moses' orientations",
        ),
        (
            values(models={"a": {"model": "lexicalized", "orientations": "fife"}}),
            "key 'models.a.orientations': unknown orientation 'fife' (did you mean five?)",
        ),
        (values(align={"aligner": "giza"}), "key 'align.aligner': unknown value 'giza'; allowed: eflomal, hmm"),
        (values(translation={"limts": [6]}), "key 'translation.limts': unknown (did you mean limits?); allowed: systems"),
        (
            values(translation={"limits": ["6"]}),
            "key 'translation.limits': a limit is a number of words or \"none\", not '6'",
        ),
        (values(translation={"metrics": ["blue"]}), "key 'translation.metrics': unknown value 'blue' (did you mean bleu?)"),
        (values(translation={"baselines": ["msd"]}), "key 'translation.baselines': unknown value 'msd'; allowed: lr, pair"),
        (
            values(translation={"systems": {"s": ["q"]}}),
            "key 'translation.systems.s': unknown value 'q'; allowed: lr, pair",
        ),
        (values(translation={"fix": {"q": {"LM0": 1}}}), "key 'translation.fix.q': unknown value 'q'; allowed: lr, pair"),
        (
            values(translation={"fix": {"pair": {"LM0": "1"}}}),
            "key 'translation.fix.pair.LM0': a weight is a number, or a list of numbers, not '1'",
        ),
        (
            values(translation={"tuning": {"optimizer": "adam"}}),
            "key 'translation.tuning.optimizer': adam: unknown optimizer 'adam'",
        ),
        (
            values(translation={"tuning": {"pair": {"optimizer": "adam"}}}),
            "key 'translation.tuning.pair.optimizer': adam: unknown optimizer 'adam'",
        ),
        (
            values(translation={"tuning": {"q": {"iterations": 2}}}),
            "key 'translation.tuning.q': unknown value 'q'; allowed: lr, pair",
        ),
        (
            values(translation={"sparse": {"few": {}}, "systems": {"s": ["pair", "few"]}, "tuning": {"optimizer": "mert"}}),
            "key 'translation.systems.s': mert cannot tune sparse features; set optimizer = \"mira\" in [",
        ),
        (values(translation={"sparse": {"pair": {}}}), "key 'translation.sparse.pair': a model already has this name"),
        (
            values(translation={"sparse": {"few": {"words": 0}}}),
            "key 'translation.sparse.few': no words and no classes, so there is no feature",
        ),
        (
            values(translation={"sparse": {"few": {"orientations": "three"}}}),
            "key 'translation.sparse.few': sparse features need Moses' orientations, like hier-mslr, not 'three'",
        ),
        (
            corpus(generate={"sentences": 1000}, train={}),
            "key 'corpus.train': corpus.generate and files exclude each other",
        ),
        (
            tokenized(source="fugashi", source_language="zh"),
            "key 'corpus.tokenize.source-language': the tokenizer fugashi is for the language 'ja', not 'zh'; leave it out",
        ),
        (
            tokenized(target="sacremoses", target_language="German"),
            "key 'corpus.tokenize.target-language': a language is a code like en, not 'German'",
        ),
        (corpus(train={"source": "no.zh", "target": "no.en"}), "key 'corpus.train.source': there is no file"),
        (corpus(), "key 'corpus.train': missing; a table with source and target"),
        (corpus(generate={"style": "klingon"}), "key 'corpus.generate.style': must be one of chinese, japanese"),
        (
            corpus(generate={}, tokenize={"source": "nope"}),
            "key 'corpus.tokenize.source': generated text is tokenized: leave out corpus.tokenize",
        ),
        (fixed(Nope=0), "key 'translation.fix.lr.Nope': unknown value 'Nope'; allowed: lr, Distortion0, LM0, WordPenalty0"),
        (fixed(Distortion0=float("nan")), "key 'translation.fix.lr.Distortion0': a weight must be finite, at most"),
        (
            values(models={"lr": {"model": "lexicalized", "weights-per-class": True, "weights_per_class": False}}),
            "key 'models.lr.weights-per-class': given twice, with - and with _",
        ),
        (values(models={"a-b": {"model": "pair"}, "a_b": {"model": "pair"}}), "key 'models.a-b': given twice"),
        *((values(models={name: {"model": "pair"}}), f"key 'models.{name}': a model's name") for name in NO_NAMES),
        *(
            (values(translation={"systems": {name: ["pair"]}}), f"key 'translation.systems.{name}': a system's name")
            for name in NO_NAMES
        ),
        (
            values(translation={"tuning-runs": 1_000_000}),
            "key 'translation.tuning-runs': must be at most 1000, not 1000000",
        ),
        (values(translation={"length": "long"}), "key 'translation': length must be development, training, or a number"),
        (values(translation={"at-length": 1}), "key 'translation.at-length': must be true or false, not 1"),
        (values(memory="lots"), "key 'memory': it must be an amount like 512M, 4G or 2.5GiB, not 'lots'"),
        (corpus(root="${NO_SUCH_VARIABLE}"), "key 'corpus.root': the environment variable NO_SUCH_VARIABLE is not set"),
    ],
)
def test_mistakes_name_the_key_and_what_is_allowed(values: dict[str, Any], expected: str) -> None:
    assert message(values).startswith(expected)


def test_a_tokenizer_may_be_given_its_language() -> None:
    values = tokenized(source="fugashi", source_language="ja", target="none", target_language="en")
    assert parse_experiment(values, "exp.toml", Path()).options(Corpus).tokenizing.source_language == "ja"


def test_settings_replace_keys_whichever_way_they_are_written(tmp_path: Path) -> None:
    file = tmp_path / "exp.toml"
    file.write_text("[corpus.generate]\nsentences = 1000\n[models.pair]\nmin-count = 7\n[lm]\norder = 3\n")
    made = read_experiment(file, ["models.pair.min_count=9", "lm.order=2", "title=two words"])
    pair, lm = made.options(Models).reordering["pair"], made.options(Estimation)
    assert (pair.options["min-count"], lm.order, made.title) == (9, 2, "two words")


def test_a_library_that_an_experiment_needs_is_named_before_it_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch_words, "find_spec", lambda name: None)
    path = tmp_path / "exp.toml"
    for table, stage in (("[models.encoder]", "train.encoder"), ("[models.linear]\n[align]\naligner = 'neural'", "align")):
        for split in ("train", "dev", "test"):
            table = f"[corpus.{split}]\nsource = '{path}'\ntarget = '{path}'\n{table}"
        path.write_text(table, encoding="utf-8")
        done = hyperbaton("run", path, "--dry-run", cwd=tmp_path)
        expected = f"hyperbaton: error: {path}: stage {stage}: PyTorch is not installed: {installing('torch')}\n"
        assert (done.returncode, done.stdout, done.stderr) == (1, "", expected)


def test_a_device_without_end_is_no_experiment() -> None:
    with pytest.raises(InputError, match=r"^/dev/zero: an experiment file has at most 16 MiB"):
        read_experiment(Path("/dev/zero"))


def test_a_broken_file_is_reported_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "exp.toml"
    file.write_text("[corpus\n")
    with pytest.raises(HyperbatonError, match=r"exp.toml: not a TOML file: .*line 1"):
        read_experiment(file)


def test_keys_of_stages_change_with_what_they_depend_on_alone() -> None:
    def keys(**changes: Any) -> dict[str, str]:
        plan = make_plan(parse_experiment(values(**changes), "exp.toml", Path()))
        return {stage.name: stage.key for stage in plan}

    before, after = keys(), keys(models={"lr": {"model": "lexicalized"}, "pair": {"min-count": 3}})
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {name for name in before if ".pair" in name} | {"score"}
    assert keys(title="another") == before
    assert not set(keys(seed=2).values()) & set(before.values()) - {before["movement"]}


def test_a_system_has_its_own_sparse_features_and_tuning_options() -> None:
    translation = {
        "systems": {"plain": ["lr"], "rich": ["lr", "few"]},
        "sparse": {"few": {"classes": True}},
        "tuning": {"optimizer": "mert", "iterations": 3, "rich": {"optimizer": "mira"}},
    }
    plan = make_plan(parse_experiment(values(translation=translation), "exp.toml", Path()))
    tuning = {name: plan.stages[f"tune.{name}.1"].options["tuning"] for name in ("plain", "rich")}
    assert [(how["optimizer"], how["iterations"]) for how in tuning.values()] == [("mert", 3), ("mira", 3)]
    assert {"source_classes", "target_classes"} <= set(plan.stages["system.rich"].inputs)
    assert "source_classes" not in plan.stages["system.plain"].inputs
    again = parse_experiment(values(translation=plan.experiment.resolved()["translation"]), "exp.toml", Path())
    assert again.options(Translation) == plan.experiment.options(Translation)


def test_the_length_of_translations() -> None:
    plan = make_plan(parse_experiment(values(translation={"length": "training", "at-length": True}), "exp.toml", Path()))
    assert plan.experiment.options(Translation).length == Length("training", at_length=True)
    [options] = {repr(stage.options["length"]) for stage in plan.of_kind("tune")}
    assert options == "{'length': 'training', 'at-length': True}"
    resolved = plan.experiment.resolved()["translation"]
    again = parse_experiment(values(translation=resolved), "exp.toml", Path())
    assert again.options(Translation) == plan.experiment.options(Translation)


@pytest.mark.parametrize(
    ("options", "is_counted"), [({}, True), ({"towards": "backoff"}, False), ({"smoothing": 1}, False)]
)
def test_a_table_is_made_from_the_model_where_moses_counts_other_numbers(options: dict[str, Any], is_counted: bool) -> None:
    model = {"model": "lexicalized", "orientations": "msd", "direction": "bidirectional", **options}
    plan = make_plan(parse_experiment(values(models={"lr": model}), "exp.toml", Path()))
    system = plan.stages["system.lr"]
    assert system.options["reordering"]["lr"]["table"] == "wbe-msd-bidirectional-fe"
    assert ({"model.lr", "model.lr.after"} <= set(system.inputs)) != is_counted


def test_an_experiment_says_what_links_are_for(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("a\n")
    splits = {split: {"source": "text", "target": "text"} for split in ("train", "dev", "test")}

    def aligner(**align: Any) -> dict[str, Any]:
        resolved: dict[str, Any] = parse_experiment(corpus(**splits) | {"align": align}, "exp.toml", tmp_path).resolved()
        return resolved["align"]  # type: ignore[no-any-return]

    assert aligner()["for"] == "phrases"
    assert aligner(**{"for": "links"})["for"] == "links"
    assert "for" not in aligner(aligner="eflomal")
    assert "key 'align.for': must be one of links, phrases, not 'words'" in message(
        corpus(**splits) | {"align": {"for": "words"}}, tmp_path
    )


def test_files_that_the_aligner_reads_are_known_by_their_content(tmp_path: Path) -> None:
    def key() -> str:
        splits = {split: {"source": "text", "target": "text"} for split in ("train", "dev", "test")}
        values = corpus(**splits) | {"align": {"drop-source": str(tmp_path / "words"), "prior": str(tmp_path / "model")}}
        return make_plan(parse_experiment(values, "exp.toml", tmp_path)).stages["align"].key

    (tmp_path / "text").write_text("a\n")
    (tmp_path / "model").mkdir()
    keys = set()
    for words, manifest in (("a", "1"), ("a", "2"), ("b", "2"), ("a", "1")):
        (tmp_path / "words").write_text(words)
        (tmp_path / "model" / "manifest.json").write_text(manifest)
        keys.add(key())
    assert len(keys) == 3


def test_the_demo_is_a_plan() -> None:
    plan = make_plan(read_experiment(Path(str(resources.files("hyperbaton.run") / "demo.toml"))))
    assert {"train.sequence", "tune.sequence.1", "translate.hier.1.none", "score"} <= set(plan.stages)


ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("file", sorted(ROOT.glob("benchmarks/order/*.toml")), ids=lambda file: file.stem)
def test_benchmarks_are_plans(file: Path, corpora: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HYPERBATON_DATA", str(corpora))
    assert "score" in make_plan(read_experiment(file)).stages


def test_weights_per_class_reach_the_system() -> None:
    models = {"dpr": {"direction": "bidirectional", "weights-per-class": True}, "pair": {}}
    plan = make_plan(parse_experiment(values(models=models), "exp.toml", Path()))
    options = plan.stages["system.dpr"].options["reordering"]
    assert len(options) == 2 and all(use["per_class"] for use in options.values())
    assert not any(use.get("per_class") for use in plan.stages["system.pair"].options["reordering"].values())


def test_a_classifier_may_be_used_as_a_table() -> None:
    models = {"dual_mlr": {"direction": "bidirectional", "orientations": "msd", "table": True}}
    stage = make_plan(parse_experiment(values(models=models), "exp.toml", Path())).stages["system.dual_mlr"]
    (use,) = stage.options["reordering"].values()
    assert use["table"] == "wbe-msd-bidirectional-fe" and "corpus.train" in stage.inputs
