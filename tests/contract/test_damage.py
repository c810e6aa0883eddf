"""Every kind of artefact answers damage with a result or one line: in numbers, types and fields of all that it stores.

Checksums are forged: what is left are the declarations of arrays and manifests, and the checks of numbers. Each kind is
damaged in a process of its own, which an access outside an array would end.
"""

from __future__ import annotations

import contextlib
import copy
import json
import operator
import os
import resource
import shutil
import signal
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial, reduce
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from benchmarks.fuzz.networks import untrained_encoder, untrained_neural, untrained_orientations

from hyperbaton import _core
from hyperbaton.align import Aligner
from hyperbaton.base.describe import describe
from hyperbaton.base.errors import HyperbatonError, OptionError
from hyperbaton.base.resources import Resources
from hyperbaton.base.store import MANIFEST, audit, manifest_checksum
from hyperbaton.corpus import Bitext
from hyperbaton.corpus.processing import TextProcessing, TextSide
from hyperbaton.data import generate
from hyperbaton.decode import Decoding, ReorderingTable, System, TokenTranslator
from hyperbaton.decode.assemble import assemble
from hyperbaton.decode.moses import export_moses
from hyperbaton.decode.packing import pack
from hyperbaton.evaluate import HeldOut, evaluate
from hyperbaton.evaluate.explain import Question, explain
from hyperbaton.lm import LanguageModel
from hyperbaton.models import MODELS, load_model
from hyperbaton.phrases import (
    ExtractedPhrases,
    Extraction,
    PhraseTable,
    Pruning,
    ReorderingType,
    RuleTable,
    Samples,
    extract,
    extract_phrases,
    extract_rules,
    prune,
)
from hyperbaton.phrases.pruning import prune_rules
from hyperbaton.phrases.reordering import reordering_probabilities
from hyperbaton.phrases.table import phrase_lexicon
from hyperbaton.tune import Candidates, Tuning, TuningRecord, tune
from tests.contract.made_up_decoder import START, MadeUp

BITEXT = generate(30, style="japanese", seed=4).bitext
TEST = BITEXT.select(np.arange(2))
LINES = [" ".join(pair.source) for pair in TEST]
TEXT = TextProcessing(
    TextSide("ja", casing="truecase").learn(BITEXT.source), TextSide("en", casing="lowercase").learn(BITEXT.target)
)
QUESTIONS = (Question(sentence=LINES[0]), Question(phrase=LINES[0].split()[0]))
NETWORKS = {"encoder": untrained_encoder, "encoder_orientation": untrained_orientations}
SHORT = Extraction(max_length=4)
PRUNING = Pruning(significance="none", top=1)
SHARE = 3  # one damage in so many is done: all take minutes
SECONDS = 60  # of processor time for one damage
MEMORY = 2 << 30


class Stored(NamedTuple):
    """How an artefact is made, and everything that reads it."""

    make: Callable[[Path], object]
    use: Callable[[Path], object]


def _system(rules: bool, path: Path, **options: Any) -> None:
    lm = LanguageModel.estimate(BITEXT.target, 2, discount_fallback=True)
    lm.save(path.parent / "lm")
    models = {"JUMP": MODELS["linear_jump"](threads=1).fit(BITEXT)}
    if rules:
        made = System.of(extract_rules(BITEXT), [lm], models)
    else:
        extract_phrases(BITEXT, SHORT).save(path.parent / "phrases", BITEXT)
        tables = {"LR": "hier-mslr-bidirectional-fe", "SPARSE": "sparse:hier-mslr:words=5"}
        made = assemble(path.parent / "phrases", [path.parent / "lm"], tables).with_text(TEXT)
    made.save(path, **options)


def _pack(path: Path, *, exact: bool = False) -> None:
    """A packed system with every kind of part that packing changes."""
    lm = LanguageModel.estimate(BITEXT.target, 3, discount_fallback=True)
    extracted, kind = extract_phrases(BITEXT, SHORT), ReorderingType.parse("hier-mslr-bidirectional-fe")
    table = ReorderingTable(kind, reordering_probabilities(extracted.orientations, kind).astype(np.float32))
    models = {"LR": table, "SEQ": MODELS["sequence"](threads=1).fit(BITEXT), "OSM": MODELS["osm"](threads=1).fit(BITEXT)}
    pack(System.of(extracted.table, [lm], models, options=Decoding(table_limit=2)), exact=exact).save(path)


def _search(system: System) -> None:
    """Translate two lines in a small search."""
    small = replace(system.options, pop_limit=20, stack=20)
    TokenTranslator(system.with_options(small), threads=1).translate(LINES)


def _translate(path: Path) -> None:
    system = System.load(path)
    _search(system)
    with contextlib.suppress(OptionError):  # Moses has no reordering models for rules
        export_moses(system, path.parent / "moses")


def _use_phrases(path: Path) -> None:
    phrases = ExtractedPhrases.load(path)
    list(phrase_lexicon(phrases.table))
    phrases.table.options_of(LINES[0].split()[0])
    prune(phrases, BITEXT, PRUNING)
    _search(assemble(path, reordering={"LR": "hier-mslr-bidirectional-fe"}))


def _use_text(path: Path) -> None:
    for side in TextProcessing.load(path).sides.values():
        side.as_written(side.as_trained(LINES[0].split()))


def _use_rules(path: Path) -> None:
    rules = RuleTable.load(path)
    for question in QUESTIONS:
        explain(rules, question).as_json()
    prune_rules(rules, PRUNING)
    _search(System.of(rules))


def _use_lm(path: Path) -> None:
    lm = LanguageModel.load(path)
    lm.perplexity(TEST.target)
    lm.write_arpa(path.parent / "arpa", threads=1)


def _align(path: Path) -> None:
    aligner = Aligner.load(path)
    aligner.align(TEST, threads=1)
    aligner.lexical_table().translations(LINES[0].split()[0])


def _tune(path: Path, most: int) -> None:
    """Tune until the system has translated `most` times, from the state at the path on, if there is one."""
    decoder = MadeUp(6, 20, 5)

    def decode(weights: np.ndarray) -> Candidates:
        if decoder.calls == most:
            raise KeyboardInterrupt
        return decoder(weights)

    options = Tuning(iterations=2, metric="bleu:tokenize=none")
    with contextlib.suppress(KeyboardInterrupt):
        tune(decode, START, [decoder.references], options, resources=Resources(1), record=TuningRecord(path))


def _use_model(path: Path) -> None:
    model = load_model(path)
    evaluate(model, HeldOut(TEST))
    for question in (Question(), *QUESTIONS):
        with contextlib.suppress(OptionError):  # not all models answer all questions
            explain(model, question).as_json()
    table = PhraseTable.build(TEST, extract(TEST, 3))
    _search(System.of(table, reordering={"M": model}))


def _save_model(name: str, path: Path) -> None:
    (NETWORKS[name](BITEXT) if name in NETWORKS else MODELS[name](threads=1).fit(BITEXT)).save(path)


STORED: dict[str, Stored] = {
    "bitext": Stored(BITEXT.save, lambda path: extract(Bitext.load(path))),
    "samples": Stored(
        lambda path: extract(BITEXT, 4).save(path), lambda path: PhraseTable.build(BITEXT, Samples.load(path))
    ),
    "phrase-table": Stored(
        lambda path: PhraseTable.build(BITEXT, extract(BITEXT, 4)).save(path),
        lambda path: _search(assemble(path)),
    ),
    "phrases": Stored(lambda path: extract_phrases(BITEXT, SHORT).save(path, BITEXT), _use_phrases),
    "rules": Stored(lambda path: extract_rules(BITEXT).save(path), _use_rules),
    "lm": Stored(lambda path: LanguageModel.estimate(BITEXT.target, 3, discount_fallback=True).save(path), _use_lm),
    "lm with bins": Stored(
        lambda path: LanguageModel.estimate(BITEXT.target, 3, discount_fallback=True).quantized(4).save(path), _use_lm
    ),
    "packed lm": Stored(
        lambda path: LanguageModel.estimate(BITEXT.target, 3, discount_fallback=True).packed(exact=True).save(path), _use_lm
    ),
    "packed system": Stored(_pack, lambda path: _search(System.load(path))),
    "exact packed system": Stored(partial(_pack, exact=True), lambda path: _search(System.load(path))),
    "aligner": Stored(lambda path: Aligner().fit(BITEXT, threads=1).save(path), _align),
    "neural aligner": Stored(lambda path: untrained_neural(BITEXT).save(path), _align),
    "text-processing": Stored(lambda path: TEXT.save(path), _use_text),
    "tuning": Stored(partial(_tune, most=1), partial(_tune, most=9)),
    "system": Stored(lambda path: _system(False, path, copy=True), _translate),
    "system of references": Stored(lambda path: _system(False, path), _translate),
    "system of rules": Stored(lambda path: _system(True, path), _translate),
    **{name: Stored(lambda path, name=name: _save_model(name, path), _use_model) for name in MODELS.names()},
}


@pytest.fixture(scope="module", params=STORED)
def kind(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Stored, Path]:
    path = tmp_path_factory.mktemp("kind") / "artefact"
    STORED[request.param].make(path)
    STORED[request.param].use(path)
    return STORED[request.param], path


def _write_array(artefact: Path, where: Path, array: np.ndarray) -> None:
    """Replace an array, with its entry in the manifest."""
    (artefact / where).unlink()
    np.save(artefact / where, array)
    manifest = json.loads((artefact / where.parent / MANIFEST).read_text(encoding="utf-8"))
    checksum = f"{_core.checksum(np.frombuffer(array.tobytes(), np.uint8)):016x}"
    manifest["arrays"][where.stem] = {"dtype": array.dtype.str, "shape": list(array.shape), "checksum": checksum}
    _write_manifest(artefact, where.parent, manifest)


def _write_manifest(artefact: Path, where: Path, manifest: dict[str, Any]) -> None:
    """Replace a manifest, and correct the checksums of the artefacts that contain this one."""
    manifest["checksum"] = manifest_checksum(manifest)
    (artefact / where / MANIFEST).unlink()
    (artefact / where / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
    if where.parts:
        around = json.loads((artefact / where.parent / MANIFEST).read_text(encoding="utf-8"))
        around["parts"][where.name]["checksum"] = manifest["checksum"]
        _write_manifest(artefact, where.parent, around)


Damage = tuple[str, Callable[[Path], None]]


def _numbers(path: Path) -> Iterator[Damage]:
    """Extreme numbers at the beginning, in the middle and at the end of each array, and its numbers at other places."""
    for file in sorted(path.rglob("*.npy")):
        array = np.load(file)
        where, n = file.relative_to(path), array.size
        if array.dtype.kind == "f":
            values: tuple[Any, ...] = (np.inf, np.nan, -np.inf, -1.0)
        else:
            least, most = np.iinfo(array.dtype).min, np.iinfo(array.dtype).max
            values = (most, least or most - 1, most // 2 + 1, most)
        places: list[Any] = [0, n // 2, n - 1, slice(None)]
        for place, value in zip(places, values, strict=True) if n else ():
            changed = array.copy()
            changed.reshape(-1)[place] = value
            yield f"{where} {place} {value}", partial(_write_array, where=where, array=changed)
        yield f"{where} moved", partial(_write_array, where=where, array=np.roll(array.reshape(-1), 1).reshape(array.shape))


def _types(path: Path) -> Iterator[Damage]:
    """Each array as one of another type, and with another number of dimensions."""
    for file in sorted(path.rglob("*.npy")):
        array = np.load(file)
        other = {"f": "i", "i": "f", "u": "i"}[array.dtype.kind] + str(array.dtype.itemsize)
        retyped = array.astype("i2" if other in ("f1", "i1") else other)
        for what, changed in (("type", retyped), ("dimensions", array[None])):
            where = file.relative_to(path)
            yield f"{where} {what}", partial(_write_array, where=where, array=changed)


# Values of other types, and of the same one.
ODD: dict[type, tuple[Any, ...]] = {
    str: (None, -1, [], ""),
    int: (None, "x", -1, 2**40),
    float: (None, "x", -1.5),
    bool: (None, "x", 1),
    list: (None, "x", {}, [None], []),
    dict: (None, "x", 1.5, []),
    type(None): ("x", 1.5),
}


def _fields(path: Path) -> Iterator[Damage]:
    """Each field of each manifest with values of other types; of the arrays, the fields of one.

    Of an artefact inside another, which is read in the same way as alone, with one such value.
    """
    for file in sorted(path.rglob(MANIFEST)):
        manifest = json.loads(file.read_text(encoding="utf-8"))
        for keys in _places(manifest):
            if keys[0] in ("format", "checksum") or (
                keys[0] == "arrays" and keys[1:2] not in ([], [min(manifest["arrays"])])
            ):
                continue
            value = reduce(operator.getitem, keys, manifest)
            where = file.parent.relative_to(path)
            for odd in ODD[type(value)][: 1 if where.parts else None]:
                changed = copy.deepcopy(manifest)
                reduce(operator.getitem, keys[:-1], changed)[keys[-1]] = odd
                label = f"{where}/{'.'.join(map(str, keys))} {odd!r}"
                yield label, partial(_write_manifest, where=where, manifest=changed)


def _places(value: Any) -> Iterator[list[Any]]:
    for key in value if isinstance(value, dict) else range(min(len(value), 2)):
        yield [key]
        if isinstance(value[key], dict | list):
            yield from ([key, *rest] for rest in _places(value[key]))


@pytest.mark.parametrize("damages", [_numbers, _types, _fields])
def test_damage_is_a_result_or_one_line(
    kind: tuple[Stored, Path], tmp_path: Path, damages: Callable[[Path], Iterator[Damage]]
) -> None:
    stored, path = kind
    # Neither the audit nor the description looks at numbers: the one compares checksums, the other reads no array.
    use = stored.use if damages is _numbers else partial(_read, stored.use)
    assert _faults(use, path, tmp_path, damages, must_fail=damages is _types) == []
    assert not audit(path).faults


def _read(use: Callable[[Path], object], path: Path) -> None:
    audit(path)
    describe(path)
    use(path)


def _faults(
    use: Callable[[Path], object],
    path: Path,
    folder: Path,
    damages: Callable[[Path], Iterator[Damage]],
    must_fail: bool,
) -> list[str]:
    """What went wrong: exceptions that are not the program's own, and ends of the process; another one then goes on."""
    report = folder / "report"
    report.touch()
    faults: list[str] = []
    lines: list[str] = []
    while True:
        n_before = len(lines)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # no other thread of the tests is in the core
            process = os.fork()
        if process == 0:
            _become(use, path, folder / "copies", damages, must_fail, report)
        status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        lines = report.read_text(encoding="utf-8").splitlines()
        if status == 0:
            return faults + [line for line in lines if line.startswith("!")]
        assert len(lines) > n_before
        faults.append(f"{lines[-1]}: ended with status {status}")


def _become(
    use: Callable[[Path], object],
    path: Path,
    folder: Path,
    damages: Callable[[Path], Iterator[Damage]],
    must_fail: bool,
    report: Path,
) -> None:
    """Do the damages that are not in the report; does not return."""
    status = 1
    try:
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        n_done = sum(line.startswith("?") for line in report.read_text(encoding="utf-8").splitlines())
        with report.open("a", encoding="utf-8") as lines:
            for label, damage in islice(damages(path), SHARE * n_done, None, SHARE):
                print("?", label, file=lines, flush=True)
                signal.setitimer(signal.ITIMER_PROF, SECONDS)
                if fault := _fault(use, path, folder, damage, must_fail):
                    print("!", label, fault, file=lines, flush=True)
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def _fault(
    use: Callable[[Path], object], path: Path, folder: Path, damage: Callable[[Path], None], must_fail: bool
) -> str | None:
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(path.parent, folder, symlinks=True, copy_function=os.link)  # a damaged file replaces its link
    copied = folder / path.name
    damage(copied)
    try:
        use(copied)
    except HyperbatonError as error:
        return "two lines" if "\n" in str(error) else None
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        at = " ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in frames[-4:])
        return f"{type(error).__name__}: {error} ({at})"
    return "nothing was refused" if must_fail else None
