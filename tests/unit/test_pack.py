"""Packed systems: exact ones give the original's translations under all options; what they lack is refused."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from hyperbaton.base.errors import HyperbatonError, OptionError
from hyperbaton.base.store import audit, stored_bytes
from hyperbaton.corpus import Text
from hyperbaton.data import generate
from hyperbaton.decode import Decoding, NBest, System, TokenTranslator
from hyperbaton.decode.assemble import assemble
from hyperbaton.decode.moses import export_moses, import_moses
from hyperbaton.decode.packing import pack
from hyperbaton.lm import LanguageModel
from hyperbaton.models import MODELS
from hyperbaton.phrases import PhraseTable, RuleTable, extract_phrases, extract_rules
from hyperbaton.phrases.pair_values import DistinctRows, LinkedScores
from hyperbaton.tune.system import SystemDecoder
from tests.program import hyperbaton

BITEXT = generate(90, style="japanese", seed=3).bitext
LINES = [" ".join(pair.source) for pair in generate(8, style="japanese", seed=9).bitext]
WORD = LINES[0].split()[0]
# Unknown words, one of which is a word of the target side; demands, walls and zones.
MARKUP = [
    f'<x translation="never seen">{WORD}</x> {LINES[1]} unknown',
    f"{BITEXT.target[0][0]} <zone>{LINES[2]}</zone> <wall/> {LINES[3]}",
    *LINES[4:6],
]
LIMIT = 2


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a system of phrases, `phrases`, and one of rules, `rules`, which lose much when packed."""
    folder = tmp_path_factory.mktemp("systems")
    extract_phrases(BITEXT).save(folder / "extracted", BITEXT)
    LanguageModel.estimate(BITEXT.target, 4, discount_fallback=True).save(folder / "lm")
    for name in ("dpr", "sequence", "osm", "linear_jump"):
        options = {"min_cluster": 3} if name == "dpr" else {}
        MODELS[name](threads=1, **options).fit(BITEXT).save(folder / name)
    parts = {name.upper(): str(folder / name) for name in ("dpr", "sequence", "osm")}
    tables = {"LR": "hier-mslr-bidirectional-fe", "SRC": "msd-backward-f", "SPARSE": "sparse:hier-mslr:words=9"}
    phrases = assemble(
        folder / "extracted", [folder / "lm"], parts | tables, options=Decoding(table_limit=LIMIT, pop_limit=20, stack=10)
    )
    sparse = [0.01 * (i % 7 - 3) for i in range(phrases.features["SPARSE"])]
    phrases.with_weights({"SPARSE": sparse}).save(folder / "phrases")
    models = {"J": MODELS["linear_jump"](threads=1).fit(BITEXT)}
    rules = System.of(extract_rules(BITEXT), [LanguageModel.load(folder / "lm")], models)
    rules.with_options(Decoding(table_limit=LIMIT, pop_limit=20)).save(folder / "rules")
    (folder / "text").write_text("\n".join(LINES) + "\n", encoding="utf-8")
    (folder / "markup").write_text("\n".join(MARKUP) + "\n", encoding="utf-8")
    (folder / "terms").write_text(f"{WORD}\tterm\n", encoding="utf-8")
    return folder


def answers(system: Path, *flags: object) -> list[str]:
    """Everything that the program says about the translations of a text."""
    outputs = [system.parent / name for name in ("nbest", "trace", "links", "graph")]
    names = [
        f for name, path in zip(("trace", "links", "search-graph"), outputs[1:], strict=True) for f in (f"--{name}", path)
    ]
    done = hyperbaton("translate", system, *flags, "--nbest", 5, "--alignment", *names, "-o", outputs[0], "-q", "-t", 1)
    assert done.returncode == 0, done.stderr
    return [path.read_text(encoding="utf-8") for path in outputs]


@pytest.mark.parametrize("kind", ["phrases", "rules"])
def test_exact_packing_changes_nothing(saved: Path, tmp_path: Path, kind: str) -> None:
    original, packed = saved / kind, tmp_path / "packed"
    done = hyperbaton("pack", original, "-o", packed, "--exact", "--json", "-q", "-t", 1)
    assert done.returncode == 0, done.stderr
    before, after = json.loads(done.stdout)
    pairs = "rules" if kind == "rules" else "phrase pairs"
    assert after[pairs] < 0.8 * before[pairs]
    assert after["n-grams"] == before["n-grams"]
    assert after["MiB"] < before["MiB"]
    assert not System.load(packed).located or all(part.location.is_inside(packed) for part in System.load(packed).located)
    searches = [] if kind == "rules" else [("--search", "stack"), ("--search", "refine", "--distortion-limit", 3)]
    for flags in (
        [saved / "text"],
        [saved / "text", "--table-limit", 1, "--glossary", saved / "terms", "--drop-unknown"],
        [saved / "markup", "--markup"],
        *([saved / "text", *search] for search in searches),
        *([saved / "text", "--weight", "LR=0.1", "--weight", "Distortion0=0.2"] for _ in searches[:1]),
    ):
        assert answers(packed, *flags) == answers(original, *flags)


def test_export_to_moses(saved: Path, tmp_path: Path) -> None:
    tables = {"LR": "hier-mslr-bidirectional-fe", "SRC": "msd-backward-f"}
    system = pack(assemble(saved / "extracted", [saved / "lm"], tables, options=Decoding(table_limit=LIMIT)), exact=True)
    again = import_moses(export_moses(system, tmp_path))
    before, after = (TokenTranslator(each, threads=1).translate_batch(LINES, NBest(1)) for each in (system, again))
    assert after.lines() == before.lines()
    assert after.scores == pytest.approx(before.scores, abs=1e-3)


def test_small_packing_translates_nearly_the_same(saved: Path, tmp_path: Path) -> None:
    for kind in ("phrases", "rules"):
        original = System.load(saved / kind)
        pack(original).save(tmp_path / kind)
        pack(original, exact=True).save(tmp_path / "exact")
        assert stored_bytes(tmp_path / kind) < stored_bytes(tmp_path / "exact")
        packed = System.load(tmp_path / kind)
        assert packed.packed is not None and not packed.packed.exact
        first, second = (TokenTranslator(s, threads=1).translate_batch(LINES, NBest(1)) for s in (original, packed))
        assert second.scores == pytest.approx(first.scores, abs=0.5)
        assert sum(a == b for a, b in zip(first.lines(), second.lines(), strict=True)) > len(LINES) / 2


def test_nothing_outside_the_folder_is_needed(saved: Path, tmp_path: Path) -> None:
    """A packed system can be copied; the text processing and the options go with it."""
    shutil.copytree(saved, tmp_path / "parts")
    pack(System.load(tmp_path / "parts" / "phrases"), exact=True).save(tmp_path / "packed")
    shutil.rmtree(tmp_path / "parts")
    shutil.move(tmp_path / "packed", tmp_path / "elsewhere")
    assert audit(tmp_path / "elsewhere").faults == []
    system = System.load(tmp_path / "elsewhere")
    assert system.options == System.load(saved / "phrases").options
    system.save(tmp_path / "again", copy=True)
    assert System.load(tmp_path / "again").packed == system.packed


def test_what_was_dropped_is_refused(saved: Path, tmp_path: Path) -> None:
    small = tmp_path / "small"
    assert hyperbaton("pack", saved / "phrases", "-o", small, "-q").returncode == 0
    text = saved / "text"
    refused = "a packed system no longer has; use the system that it was packed from"
    for arguments, message in (
        (["translate", small, text, "--weight", "LM0=2"], f"another weight of LM0, which ranks .* needs .* {refused}"),
        (["translate", small, text, "--table-limit", 3], "--table-limit 3: the packed system has only the best 2"),
        (["translate", small, text, "--table-limit", 0], "give at most 2, or use the system that it was packed from"),
        (["tune", small, text, text, "-o", tmp_path / "tuned"], f"tuning needs .* {refused}"),
        (["diagnose", small, text, text], f"diagnosis needs .* {refused}"),
        (["pack", small, "-o", tmp_path / "smaller"], f"packing needs .* {refused}"),
        (["system", "--from", small, "-o", tmp_path / "other", "--weight", "WordPenalty0=0"], f"WordPenalty0.* {refused}"),
    ):
        done = hyperbaton(*arguments)
        assert done.returncode == 1, arguments
        assert len(done.stderr.splitlines()) == 1
        assert re.search(message, done.stderr), done.stderr
    system = System.load(small)
    for ask in (
        partial(SystemDecoder, system, LINES[:2]),
        partial(TokenTranslator(system).translate_batch, LINES[:1], NBest(1), forced=["a"]),
    ):
        with pytest.raises(OptionError, match="packed system no longer has"):
            ask()


def test_tables_are_those_of_the_best_pairs(saved: Path) -> None:
    """Against a plain ranking: weighted logs of the scores, the word penalty and the language model's estimate."""
    lm, limits = LanguageModel.load(saved / "lm"), Decoding(table_limit=LIMIT)
    system = System.of(extract_phrases(BITEXT.select(np.arange(30))).table, [lm], options=limits)
    table, weights = system.table, system.weights
    scores = np.log(table.scores[:]) @ np.array(weights["TranslationModel0"])
    scores -= np.array([len(table.target[int(t)].split()) for t in table.targets]) * weights["WordPenalty0"][0]
    logprobs, starts = lm.score_words(Text.of([f"<unk> {table.target[int(t)]}" for t in table.targets]))
    inside = np.array([logprobs[a + 1 : b - 1].sum() for a, b in pairwise(starts)])
    scores += weights["LM0"][0] * inside
    wanted = []
    for begin, end in pairwise(table.offsets):
        best = begin + np.argsort(-scores[begin:end], kind="stable")[:LIMIT]
        wanted += [(int(table.sources[pair]), int(table.targets[pair])) for pair in sorted(best)]
    packed = pack(system, exact=True)
    kept = [
        (packed.table.source[int(s)], packed.table.target[int(t)])
        for s, t in zip(packed.table.sources, packed.table.targets, strict=True)
    ]
    assert len(kept) == len(wanted)
    # Nearly equal scores may be ranked either way: this sum is not rounded as the core's.
    assert len(set(kept) & {(table.source[s], table.target[t]) for s, t in wanted}) > 0.99 * len(wanted)


def test_lexical_weights_follow_from_counts_of_links(saved: Path) -> None:
    """Few are stored: those of pairs that were seen with several sets of links equally often."""
    system = System.load(saved / "phrases")
    packed = pack(system, exact=True).table
    np.testing.assert_array_equal(packed.scores[:], system.table.scores[TokenTranslator(system).best_pairs()])
    assert isinstance(packed.scores, LinkedScores)
    assert 0 < len(packed.scores.rows) < 0.02 * len(packed)


def test_a_system_without_a_limit_keeps_all_pairs(saved: Path) -> None:
    system = System.load(saved / "phrases").with_options(Decoding(table_limit=0))
    packed = pack(system, exact=True)
    assert len(packed.table) == len(system.table)
    TokenTranslator(packed, replace(packed.options, table_limit=20)).translate(LINES[:1])


@pytest.mark.parametrize("bits", [None, 4])
def test_packed_language_models_give_the_same_scores(saved: Path, tmp_path: Path, bits: int | None) -> None:
    lm = LanguageModel.load(saved / "lm")
    lm = lm if bits is None else lm.quantized(bits)
    packed = lm.packed(exact=True)
    assert packed.nbytes < 0.4 * lm.nbytes
    assert packed.n_ngrams == lm.n_ngrams
    assert packed.packed(exact=True) is packed
    text = [*(" ".join(pair.target) for pair in BITEXT), "never seen", ""]
    np.testing.assert_array_equal(packed.score_words(text)[0], lm.score_words(text)[0])
    assert b"".join(packed.arpa_pieces()) == b"".join(lm.arpa_pieces())
    packed.save(tmp_path / "lm")
    assert LanguageModel.load(tmp_path / "lm").score(text).tolist() == lm.score(text).tolist()
    with pytest.raises(HyperbatonError, match="a packed language model cannot be quantised"):
        packed.quantized()
    with pytest.raises(HyperbatonError, match="build the artefact again"):  # as in models packed by earlier versions
        replace(packed, tables=(lm.tables[0], *packed.tables[1:])).score(text)


def test_small_language_models_keep_what_phrases_can_say(saved: Path) -> None:
    """n-grams of words that follow each other in a translation are kept; others lose words that no phrase has."""
    lm = LanguageModel.load(saved / "lm")
    table = extract_phrases(BITEXT.select(np.arange(30))).table
    packed = pack(System.of(table, [lm])).lms["LM0"]
    assert sum(packed.n_ngrams) < 0.8 * sum(lm.n_ngrams)
    bins = lm.quantized()
    for line in TokenTranslator(System.of(table, [bins]), threads=1).translate(LINES):
        words = [word for word in line.split() if table.target.vocabulary.number(word) >= 0]
        if len(words) == len(line.split()):  # no word was copied
            assert packed.score([line]).tolist() == bins.score([line]).tolist()


def test_tables_of_source_phrases_keep_their_rows(saved: Path) -> None:
    system = System.load(saved / "phrases")
    packed = pack(system, exact=True)
    for name in ("LR", "SRC"):
        rows = packed.reordering[name].probabilities  # type: ignore[attr-defined]
        assert isinstance(rows, DistinctRows)
        assert len(rows) == len(packed.table if name == "LR" else packed.table.source)
    assert isinstance(packed.table, PhraseTable) and not isinstance(packed.table, RuleTable)
