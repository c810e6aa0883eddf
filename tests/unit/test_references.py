"""Systems that refer to their parts: sizes, moved and changed parts, copies, tuned systems."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from hyperbaton.base.errors import ArtefactError
from hyperbaton.cli import Program
from hyperbaton.corpus import Bitext
from hyperbaton.decode import NBest, System, TokenTranslator
from hyperbaton.decode.assemble import assemble
from hyperbaton.decode.moses import export_moses, import_moses
from hyperbaton.lm import LanguageModel
from hyperbaton.models import MODELS, load_model
from hyperbaton.phrases import extract_phrases
from tests.program import hyperbaton

GOLDEN = Path(__file__).parents[1] / "golden" / "moses"
LINES = (GOLDEN / "decode" / "input.src").read_text(encoding="utf-8").splitlines()[:20]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An experiment: phrases, a language model, a reordering model, and a system of these and a counted table."""
    folder = tmp_path_factory.mktemp("experiment")
    sides = {}
    for side in ("src", "tgt", "links"):
        sides[side] = folder / side
        lines = (GOLDEN / f"train.{side}").read_text(encoding="utf-8").splitlines(keepends=True)[:150]
        sides[side].write_text("".join(lines), encoding="utf-8")
    bitext = Bitext.read(*sides.values())
    extract_phrases(bitext).save(folder / "phrases", bitext)
    LanguageModel.estimate(bitext.target, 3, discount_fallback=True).save(folder / "lm")
    MODELS["lexicalized"]().fit(bitext).save(folder / "lr")
    reordering = {"LR": str(folder / "lr"), "T": "wbe-msd-bidirectional-fe"}
    assemble(folder / "phrases", [folder / "lm"], reordering).save(folder / "systems" / "plain")
    return folder


@pytest.fixture
def experiment(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path / "experiment")
    return tmp_path / "experiment"


def scores(system: System) -> list[float]:
    return [float(score) for score in TokenTranslator(system, threads=1).translate_batch(LINES, NBest(1)).scores]


def references(system: Path) -> dict[str, str]:
    manifest = json.loads((system / "manifest.json").read_text(encoding="utf-8"))
    return {name: entry["path"] for name, entry in manifest["details"]["references"].items()}


def test_a_system_refers_to_its_parts_by_relative_paths(made: Path, experiment: Path) -> None:
    plain = experiment / "systems" / "plain"
    assert references(plain) == {"TranslationModel0": "../../phrases", "LM0": "../../lm", "LR": "../../lr"}
    assert sorted(path.name for path in plain.iterdir()) == [
        "index.ranks.npy", "lm.0.words.npy", "manifest.json", "reordering.1.numbers.npy", "reordering.1.rows.npy",
    ]  # fmt: skip
    # The experiment was moved as a whole.
    assert scores(System.load(plain)) == scores(System.load(made / "systems" / "plain"))


def test_a_copy_needs_nothing_else(made: Path, tmp_path: Path) -> None:
    system = System.load(made / "systems" / "plain")
    system.save(tmp_path / "whole", copy=True)
    assert references(tmp_path / "whole") == {}
    assert scores(System.load(tmp_path / "whole")) == scores(system)


def test_a_system_that_exists_is_copied_by_the_command(made: Path, tmp_path: Path) -> None:
    plain, whole = made / "systems" / "plain", tmp_path / "whole"
    command = ["system", "-o", str(whole), "--from", str(plain), "--copy", "--weight", "LM0=0.7"]
    done = CliRunner().invoke(Program(), command)
    assert done.exit_code == 0, done.output
    assert references(whole) == {} and System.load(whole).weights["LM0"] == [0.7]
    assert scores(System.load(whole)) == scores(System.load(plain).with_weights({"LM0": 0.7}))
    wrong = CliRunner().invoke(Program(), [*command, "--phrases", str(made / "phrases")])
    assert "--from names the tables and language models" in str(wrong.exception)


def test_other_weights_refer_to_the_same_parts_without_chains(experiment: Path) -> None:
    plain = System.load(experiment / "systems" / "plain").with_weights({"LM0": 0.7})
    plain.save(experiment / "tuned")
    # The counted table lies in the first system alone, everything else where it always was.
    parts = {"TranslationModel0": "../phrases", "LM0": "../lm", "LR": "../lr", "T": "../systems/plain"}
    assert references(experiment / "tuned") == parts
    System.load(experiment / "tuned").with_weights({"LM0": 0.8}).save(experiment / "again")
    assert references(experiment / "again") == parts
    assert scores(System.load(experiment / "tuned")) == scores(plain)


def test_a_system_that_replaces_the_one_with_its_parts_keeps_them(experiment: Path) -> None:
    plain = experiment / "systems" / "plain"
    before = System.load(plain)
    expected = scores(before)
    before.save(plain, copy=True)
    System.load(plain).with_weights({"LM0": 0.5}).save(plain)
    assert references(plain) == {}
    assert scores(System.load(plain)) == expected


def test_missing_or_changed_parts(experiment: Path) -> None:
    plain, lm = experiment / "systems" / "plain", experiment / "lm"
    advice = "put it back, or build the system again, with --copy if its parts may be moved or deleted"
    lm.rename(experiment / "elsewhere")
    with pytest.raises(ArtefactError, match=f"plain: cannot open its part LM0: .*/lm: no such artefact; {advice}$"):
        System.load(plain)
    LanguageModel.estimate(Bitext.of(["a"], ["b c d"]).target, 2, discount_fallback=True).save(lm)
    message = rf"plain: its part LM0 \(.*/lm\) is no longer what the system was built with; {advice}$"
    with pytest.raises(ArtefactError, match=message):
        System.load(plain)


def test_an_identical_rebuilt_part_is_accepted(experiment: Path) -> None:
    bitext = Bitext.read(experiment / "src", experiment / "tgt", experiment / "links")
    shutil.rmtree(experiment / "lr")
    MODELS["lexicalized"]().fit(bitext).save(experiment / "lr")
    System.load(experiment / "systems" / "plain")


def test_tables_of_moses_are_stored_in_the_system(tmp_path: Path) -> None:
    import_moses(GOLDEN / "decode" / "wbe-msd.moses.ini").save(tmp_path / "system")
    assert references(tmp_path / "system") == {}
    system = System.load(tmp_path / "system")
    system.save(tmp_path / "tuned")
    assert set(references(tmp_path / "tuned").values()) == {"../system", "../system/lm.0"}
    export_moses(System.load(tmp_path / "tuned"), tmp_path / "moses")
    assert scores(import_moses(tmp_path / "moses")) == pytest.approx(scores(system), rel=1e-3)


def test_a_model_is_added_to_a_tuned_system(made: Path, tmp_path: Path) -> None:
    tuned = System.load(made / "systems" / "plain").with_weights({"LM0": 0.05, "LR": 0.02, "WordPenalty0": -0.4})
    tuned.save(tmp_path / "tuned")
    command = ["system", "--from", tmp_path / "tuned", "-o", tmp_path / "new"]
    done = hyperbaton(*command, "--reordering", f"MORE={made / 'lr'}", "--reordering", "C=hier-msd-fe")
    assert done.returncode == 0 and "warning" not in done.stderr, done.stderr
    new = System.load(tmp_path / "new")
    assert {name: weight for name, weight in new.weights.items() if name in tuned.weights} == tuned.weights
    # A tenth of the usual weights, as that of the language model.
    assert new.weights["MORE"] == pytest.approx([0.03]) and new.weights["C"] == pytest.approx([0.03] * 3)
    assert references(tmp_path / "new")["MORE"].endswith("experiment0/lr") and new.options == tuned.options
    assert scores(new.with_weights({"MORE": 0.0, "C": 0.0})) == scores(tuned)
    assert hyperbaton(*command, "--reordering", f"LR={made / 'lr'}").stderr.endswith(
        "named LR; give the model another name\n"
    )
    same = tuned.with_reordering({"MORE": load_model(made / "lr")}, {"MORE": 0.2})
    assert same.weights["MORE"] == [0.2] and same.lms == tuned.lms


def test_a_model_of_another_language_is_warned_about(made: Path, tmp_path: Path) -> None:
    bitext = Bitext.of(["das haus brennt", "ein buch"], ["the house burns", "a book"], [[(0, 0), (1, 1), (2, 2)], [(1, 1)]])
    MODELS["lexicalized"]().fit(bitext).save(tmp_path / "german")
    for base in (["--from", made / "systems" / "plain"], ["--phrases", made / "phrases", "--lm", made / "lm"]):
        done = hyperbaton("system", "-o", tmp_path / "new", *base, "--reordering", f"DE={tmp_path / 'german'}")
        assert "the model knows only 0% of the words in the system's source phrases" in done.stderr
