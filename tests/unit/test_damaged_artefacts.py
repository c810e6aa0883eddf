"""Damaged artefacts of every kind end in a result or one line, and with --verify in one line."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from hyperbaton import _core
from hyperbaton.base.describe import describe, description_rows
from hyperbaton.base.errors import ArtefactError, DamagedError, HyperbatonError
from hyperbaton.base.store import manifest_checksum, verify
from hyperbaton.corpus import Bitext
from hyperbaton.decode import System, TokenTranslator
from hyperbaton.decode.assemble import assemble
from hyperbaton.decode.moses import export_moses
from hyperbaton.lm import LanguageModel
from hyperbaton.models import MODELS, OrientationModel, StepModel, load_model
from hyperbaton.phrases import ExtractedPhrases, PhraseTable, Pruning, extract, extract_phrases, prune
from hyperbaton.phrases.table import phrase_lexicon
from tests.clocks import PATIENCE
from tests.program import hyperbaton

ROOT = Path(__file__).parents[2]
SENTENCES = ["wo ai ni", "ni ai wo", "wo"]
LINKS = [[(0, 0), (1, 1), (2, 2)], [(0, 0), (1, 1), (2, 2)], [(0, 0)]]
SPAN = np.iinfo(np.int64)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    bitext = Bitext.of(SENTENCES, ["i love you", "you love me", "i"], LINKS)
    lm = LanguageModel.estimate(bitext.target, 2, discount_fallback=True)
    folder = tmp_path_factory.mktemp("saved")
    System.of(PhraseTable.build(bitext, extract(bitext)), [lm]).save(folder / "system")
    return folder / "system"


def test_a_bounded_share_of_the_mutations() -> None:
    """What `python -m benchmarks.fuzz.artefacts` does with more cases."""
    command = [sys.executable, "-m", "benchmarks.fuzz.artefacts", "--cases", "20", "--seed", "7"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("damage\tverified\tsame\terror\tsilent\tcrash")


@pytest.mark.parametrize(
    ("array", "value"),
    [
        ("table.targets", 2**32 - 1),
        ("table.targets", 10_000),
        ("table.source.begins", 2**32 - 1),
        ("table.source.begins", 2**31),
        ("table.target.begins", 2**31),
        ("table.target.words", 2**31),
        ("table.offsets", SPAN.max),
        ("table.links.offsets", SPAN.max),
        ("table.links.points", 255),
        ("table.links.numbers", 2**32 - 1),
        ("index.ranks", 0),
        ("index.ranks", 12_345_678),
        ("lm.0.words", 2**32 - 2),
        ("lm.0/ngrams.2.slots", 0),
        ("lm.0/ngrams.2.slots", 255),
        ("lm.0/ngrams.1.slots", 0x7F),
        ("lm.0/vocabulary.offsets", -5),
    ],
)
def test_no_number_of_a_damaged_table_leads_outside(saved: Path, tmp_path: Path, array: str, value: int) -> None:
    """All of an array's inner values are replaced: the answer is another translation or an error, in a moment."""
    shutil.copytree(saved, tmp_path / "system")
    file = np.lib.format.open_memmap(tmp_path / "system" / f"{array}.npy", mode="r+")
    file.reshape(-1)[1:-1] = value
    file.flush()
    for use in (_translate, _export):
        try:
            use(tmp_path / "system")
        except HyperbatonError as error:
            assert "\n" not in str(error)


def _translate(system: Path) -> None:
    assert len(TokenTranslator(System.load(system), threads=1).translate(SENTENCES)) == 3


def _export(system: Path) -> None:
    export_moses(System.load(system), system.parent / "moses")


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, -1.0])
def test_invalid_scores_do_not_reach_the_search(saved: Path, tmp_path: Path, value: float) -> None:
    """They must not reach the search, whose sorting relies on an order of scores."""
    shutil.copytree(saved, tmp_path / "system")
    for name in ("table.lexical", "lm.0/ngrams.2.slots"):
        file = np.lib.format.open_memmap(tmp_path / "system" / f"{name}.npy", mode="r+")
        if file.dtype == np.float32:
            file[...] = value
        else:
            file[:, 8:12] = np.frombuffer(np.float32(value).tobytes(), np.uint8)
        file.flush()
    translations = next(TokenTranslator(System.load(tmp_path / "system"), threads=1).batches(SENTENCES))
    assert np.isfinite(translations.scores).all()


def test_checksum_sees_every_change() -> None:
    content = np.arange(1000, dtype=np.uint8)
    sums = {_core.checksum(content)}
    for at in range(len(content)):
        changed = content.copy()
        changed[at] ^= 1
        sums.add(_core.checksum(changed))
    sums |= {_core.checksum(content[:n].copy()) for n in range(100)}
    assert len(sums) == 1101


def test_the_verbs(saved: Path, tmp_path: Path) -> None:
    assert json.loads(hyperbaton("show", saved, "--json").stdout) == describe(saved)
    shown = hyperbaton("show", saved).stdout.splitlines()
    assert shown[:2] == ["part\tgroup\tname\tvalue", "\tabout\tkind\tsystem"]
    assert "\tweight\tLM0\t0.5" in shown
    assert "lm.0\tdetail\torder\t2" in shown
    assert hyperbaton("verify", saved, saved / "lm.0").returncode == 0

    damaged = tmp_path / "system"
    shutil.copytree(saved, damaged)
    file = np.lib.format.open_memmap(damaged / "lm.0" / "ngrams.1.slots.npy", mode="r+")
    file[3, 8] ^= 1
    file.flush()
    (tmp_path / "text").write_text("wo ai ni\n", encoding="utf-8")
    verified = hyperbaton("verify", damaged, saved, tmp_path / "nowhere")
    line = f"{damaged}/lm.0/ngrams.1.slots.npy: damaged (its checksum differs); build the artefact again"
    missing = f"hyperbaton: {tmp_path}/nowhere: no such artefact"
    assert (verified.returncode, verified.stderr) == (1, f"hyperbaton: {line}\n{missing}\n")
    assert [row.split("\t")[1] for row in verified.stdout.splitlines()] == ["state", "damaged", "sound", "missing"]
    assert hyperbaton("translate", damaged, tmp_path / "text", "-q").returncode == 0
    refused = hyperbaton("translate", damaged, tmp_path / "text", "-q", "--verify")
    assert (refused.returncode, refused.stdout, refused.stderr) == (1, "", f"hyperbaton: error: {line}\n")


def test_odd_values_are_shown_as_they_are() -> None:
    about = {"kind": "system", "path": "x", "version": "1", "mib": 0.0, "seed": None, "arrays": {}, "parts": {}}
    odd = {"details": {"a": [None, {"b": []}]}, "weights": {"LM0": ["x", 0.5], "LM1": None}, "options": {}, "inputs": {}}
    rows = {row["name"]: row["value"] for row in description_rows(about | odd)}
    assert (rows["LM0"], rows["LM1"], rows["a.0"]) == ("x 0.5", "none", "none")


def test_what_a_system_refers_to_is_verified_too(tmp_path: Path) -> None:
    bitext = Bitext.of(SENTENCES, SENTENCES, [[(0, 0), (1, 1), (2, 2)]] * 2 + [[(0, 0)]])
    PhraseTable.build(bitext, extract(bitext)).save(tmp_path / "table")
    assemble(tmp_path / "table").save(tmp_path / "system")
    verify(tmp_path / "system")
    file = np.lib.format.open_memmap(tmp_path / "table" / "phrase-table.lexical.npy", mode="r+")
    file[0, 0] = 0.123
    file.flush()
    with pytest.raises(ArtefactError, match=r"table/phrase-table\.lexical\.npy: damaged \(its checksum differs"):
        verify(tmp_path / "system")
    (tmp_path / "table").rename(tmp_path / "elsewhere")
    with pytest.raises(ArtefactError, match=r"table: no such artefact"):
        verify(tmp_path / "system")


def test_an_invalid_count_in_a_forged_manifest_is_a_one_line_error(tmp_path: Path) -> None:
    bitext = Bitext.of(["wo ai ni"], ["i love you"], [[(0, 0), (1, 1), (2, 2)]])
    extract_phrases(bitext).save(tmp_path / "phrases", bitext)
    file = tmp_path / "phrases" / "manifest.json"
    manifest = json.loads(file.read_text(encoding="utf-8"))
    manifest["options"]["min-count"] = float("inf")
    manifest["checksum"] = manifest_checksum(manifest)
    file.write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(ArtefactError, match=r"damaged \('options\.min-count' is a number, not a whole number\)"):
        assemble(tmp_path / "phrases", reordering={"LR": "msd-bidirectional-fe"})


@pytest.fixture(scope="module")
def extracted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    bitext = Bitext.of(SENTENCES, ["i love you", "you love me", "i"], LINKS)
    folder = tmp_path_factory.mktemp("extracted") / "phrases"
    extract_phrases(bitext).save(folder, bitext)
    return folder


def _lexicon(folder: Path) -> None:
    list(phrase_lexicon(ExtractedPhrases.load(folder).table))


def _translations(folder: Path) -> None:
    for phrase in SENTENCES:
        ExtractedPhrases.load(folder).table.options_of(phrase)


def _pruned(folder: Path) -> None:
    bitext = Bitext.of(SENTENCES, ["i love you", "you love me", "i"], LINKS)
    prune(ExtractedPhrases.load(folder), bitext, Pruning(significance="none", top=1))


@pytest.mark.parametrize("value", [-1, 2**31, SPAN.max // 2])
@pytest.mark.parametrize(
    ("array", "use"),
    [
        ("table.source.words", _lexicon),
        ("table.target.words", _translations),
        ("table.source.begins", _translations),
        ("table.targets", _lexicon),
        ("table.targets", _translations),
        ("table.offsets", _translations),
        ("table.phrase_counts.pairs", _pruned),
    ],
)
def test_numbers_that_python_reads_are_checked(
    extracted: Path, tmp_path: Path, array: str, value: int, use: Callable[[Path], None]
) -> None:
    shutil.copytree(extracted, tmp_path / "phrases")
    file = np.lib.format.open_memmap(tmp_path / "phrases" / f"{array}.npy", mode="r+")
    file[1:-1] = np.array(value).astype(file.dtype)
    file.flush()
    with pytest.raises(DamagedError, match=r"a stored array is damaged \(.*\); 'hyperbaton verify' names the file"):
        use(tmp_path / "phrases")


def test_the_lexicon_of_damaged_phrases_is_one_line(extracted: Path, tmp_path: Path) -> None:
    shutil.copytree(extracted, tmp_path / "phrases")
    file = np.lib.format.open_memmap(tmp_path / "phrases" / "table.source.words.npy", mode="r+")
    file[0] ^= 1 << 20
    file.flush()
    done = hyperbaton("lexicon", tmp_path / "phrases")
    line = "hyperbaton: error: a stored array is damaged (the number of a word is out of range); 'hyperbaton verify' names"
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"{line} the file\n"


def _forge(folder: Path, array: str, dtype: str, shape: tuple[int, ...]) -> None:
    """Change the type and shape of an array in its header and in the manifest."""
    file, manifest_file = folder / f"{array}.npy", folder / "manifest.json"
    manifest = json.loads(manifest_file.read_text(encoding="utf-8"))
    data = np.load(file).tobytes()
    np.save(file, np.frombuffer(data, dtype).reshape(shape))
    manifest["arrays"][array] |= {"dtype": dtype, "shape": list(np.load(file).shape)}
    manifest["checksum"] = manifest_checksum(manifest)
    manifest_file.write_text(json.dumps(manifest), encoding="utf-8")


@pytest.mark.parametrize(
    "name", ["block_me", "dpr", "lexicalized", "linear", "linear_jump", "maxent", "nine_class", "osm", "pair"]
)
def test_models_declare_their_arrays(tmp_path: Path, name: str) -> None:
    """With another type or another number of dimensions, every array of a model is refused by its name."""
    bitext = Bitext.of(SENTENCES * 9, ["i love you", "you love me", "i"] * 9, LINKS * 9)
    MODELS[name]().fit(bitext).save(tmp_path / "model")
    arrays = json.loads((tmp_path / "model" / "manifest.json").read_text(encoding="utf-8"))["arrays"]
    for array, entry in arrays.items():
        other = {"f": "<i", "i": "<f", "u": "<i"}[entry["dtype"][1]] + entry["dtype"][2]
        for dtype, shape in (
            ("|i1" if other.endswith("1") else other, tuple(entry["shape"])),
            (entry["dtype"], (1, *entry["shape"])),
        ):
            shutil.rmtree(tmp_path / "forged", ignore_errors=True)
            shutil.copytree(tmp_path / "model", tmp_path / "forged")
            _forge(tmp_path / "forged", array, dtype, shape)
            with pytest.raises(ArtefactError, match=rf"damaged \(array '{re.escape(array)}' is"):
                load_model(tmp_path / "forged")


def test_a_mistake_in_a_model_is_not_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bitext = Bitext.of(SENTENCES, ["i love you", "you love me", "i"], LINKS)
    MODELS["linear"]().fit(bitext).save(tmp_path / "model")
    monkeypatch.setattr(MODELS["linear"], "_restore", lambda self, state: state.arays)
    with pytest.raises(AttributeError, match="arays"):
        load_model(tmp_path / "model")


def test_a_model_that_declares_nothing_is_read_as_it_was_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bitext = Bitext.of(SENTENCES, ["i love you", "you love me", "i"], LINKS)
    monkeypatch.setattr(MODELS["linear"], "_layout", lambda self: {})
    MODELS["linear"]().fit(bitext).save(tmp_path / "model")
    assert load_model(tmp_path / "model", OrientationModel).name == "linear"
    with pytest.raises(ArtefactError, match="model: expected a StepModel, found the model linear"):
        load_model(tmp_path / "model", StepModel)
    monkeypatch.setattr(MODELS["linear"], "_restore", lambda self, state: state.arrays["beta"])
    with pytest.raises(ArtefactError, match=r"model/manifest\.json: lists no array 'beta'"):
        load_model(tmp_path / "model")


def test_a_system_that_is_replaced_while_it_is_opened(saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its parts are opened later than its manifest."""
    shutil.copytree(saved, tmp_path / "system")
    system, load, n_loaded = System.load(saved), LanguageModel.load, 0

    def replaced_before(path: Path) -> LanguageModel:
        nonlocal n_loaded
        n_loaded += 1
        if n_loaded == 1:
            system.with_weights({"LM0": 0.25}).save(tmp_path / "system", copy=True)
            shutil.rmtree(path)
            system.with_weights({"LM0": 0.125}).save(tmp_path / "system", copy=True)
        return load(path)

    monkeypatch.setattr(LanguageModel, "load", replaced_before)
    assert System.load(tmp_path / "system").weights["LM0"][0] in (0.25, 0.125)
