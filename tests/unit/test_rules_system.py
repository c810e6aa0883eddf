"""A system with rules through everything that takes systems: Moses' files, options, services, pages and pictures."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from hyperbaton import _core
from hyperbaton.base.errors import HyperbatonError, InputError, OptionError
from hyperbaton.corpus import Bitext
from hyperbaton.decode import Decoding, ModelUse, NBest, ReorderingTable, System, TokenTranslator
from hyperbaton.decode.moses import export_moses, import_moses
from hyperbaton.decode.options import check_applies
from hyperbaton.decode.scorers import scorer_of
from hyperbaton.decode.sparse import SparseReordering
from hyperbaton.evaluate.expectations import expectations
from hyperbaton.explore import sentence_object
from hyperbaton.lm import LanguageModel
from hyperbaton.models import MODELS, Batch
from hyperbaton.models.lexicalized import Lexicalized
from hyperbaton.phrases import ReorderingType
from hyperbaton.report.derivation import derivation_text, draw_derivation
from hyperbaton.run.experiment import Experiment, parse_experiment
from hyperbaton.run.plan import make_plan
from hyperbaton.serve.dialects.moses import _phrases
from hyperbaton.serve.engine import Engine, EngineRequest
from tests.program import hyperbaton
from tests.rule_tables import rule_table
from tests.stages import do_stages

SOURCE, TARGET = "ta zai jia chi fan", "he eats rice at home"
LINKS = [(0, 0), (1, 3), (2, 4), (3, 1), (4, 2)]
RULES = {
    ("ta", "he"): ([0.5, 0.5, 0.9, 0.5], [(0, 0)]),
    ("zai [X] [X]", "[X,2] at [X,1]"): ([0.5, 0.5, 0.75, 0.5], [(0, 1)]),
    ("jia", "home"): ([0.5, 0.5, 0.5, 0.5], [(0, 0)]),
    ("chi fan", "eats rice"): ([0.5, 0.5, 0.123456789, 0.5], [(0, 0), (1, 1)]),
}
WEIGHTS: dict[str, float | list[float]] = {"TranslationModel0": 1.0, "PhrasePenalty0": -1.0, "TranslationModel1": -1.0}
ARPA = "\\data\\\nngram 1=4\n\n\\1-grams:\n-9 <unk>\n-9 <s>\n-1 </s>\n-1 he\n\n\\end\\\n"


class Near:
    """A jump model: the next word is likeliest."""

    needs = ()

    def jump_logprobs(self, text: Any) -> list[Any]:
        rows = []
        for n in text.lengths.tolist():
            away = -np.abs(np.arange(n + 1)[None, :] - np.arange(n + 1)[:, None]).astype(np.float64)
            rows.append(away - np.log(np.exp(away).sum(axis=1, keepdims=True)))
        return rows


@pytest.fixture(scope="module")
def lm(tmp_path_factory: pytest.TempPathFactory) -> LanguageModel:
    """A language model of one word."""
    path = tmp_path_factory.mktemp("lm") / "lm.arpa"
    path.write_text(ARPA)
    return LanguageModel.read_arpa(path)


@pytest.fixture(scope="module")
def system(lm: LanguageModel) -> System:
    """A system whose best derivation of SOURCE has rules in the gaps of another."""
    return System.of(rule_table(RULES), {"LM0": lm}, weights=WEIGHTS)


@pytest.fixture(scope="module")
def saved(system: System, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The system on disk."""
    path = tmp_path_factory.mktemp("system") / "system"
    system.save(path)
    return path


def test_segments_are_nested_and_add_up(system: System) -> None:
    found = TokenTranslator(system).translate_batch([SOURCE], NBest(3))
    assert found.lines() == [TARGET]
    assert found.links_of(0) == LINKS
    segments = [segment for segment in found.segments(0) if segment.kind == "rule"]
    assert [(s.source, s.target) for s in segments] == [
        ((0, 1), (0, 1)),
        ((1, 5), (1, 5)),
        ((2, 3), (4, 5)),
        ((3, 5), (1, 3)),
    ]
    assert segments[1].rule == ("zai [X] [X]", "[X,2] at [X,1]")
    for path in range(len(found.scores)):
        sums = {name: np.zeros(n) for name, n in system.features.items()}
        for features in [*(s.features for s in found.segments(path)), found.named(found.end_features(path))]:
            for name, values in features.items():
                sums[name] += values
        total = found.named(found.totals[path])
        assert all(np.allclose(sums[name], total[name], atol=1e-4) for name in total)


def test_unknown_and_demanded_words_have_places(system: System) -> None:
    translator = TokenTranslator(system, Decoding(markup=True))
    found = translator.translate_batch(['ta oh <x translation="the house">jia</x>'], NBest())
    uses = {use.kind: use for use in found.rules(0)}  # type: ignore[attr-defined]
    assert uses["unknown"].target_words == (1,)
    assert uses["demanded"].target_words == (2, 3)
    assert (uses["demanded"].begin, uses["demanded"].end) == (2, 3)


def test_empty_sentence(system: System) -> None:
    found = TokenTranslator(system).translate_batch([""], NBest())
    assert [found.segments(path) for path in range(len(found.scores))] in ([], [[]])


def test_moses_and_back(system: System, tmp_path: Path) -> None:
    ini = export_moses(system, tmp_path / "moses")
    again = import_moses(ini)
    assert again.is_hierarchical
    assert (again.weights, again.options.max_span) == (system.weights, system.options.max_span)
    before, after = (TokenTranslator(one).translate_batch([SOURCE, "zai ta zai jia"], NBest(5)) for one in (system, again))
    assert list(before.nbest()) == list(after.nbest())
    assert np.array_equal(before.scores, after.scores)  # scores of rules are written with all digits
    assert sorted(file.name for file in (tmp_path / "moses").iterdir()) == [
        "LM0.arpa.gz",
        "glue-grammar",
        "moses.ini",
        "rule-table.gz",
    ]


Change = Callable[[str], str]


def changed(old: str, new: str) -> Change:
    """A change of a moses.ini."""
    return lambda text: text.replace(old, new)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (changed("[search-algorithm]\n3", "[search-algorithm]\n1"), r"\[mapping\] cannot be imported unless"),
        (
            changed("PhraseDictionaryMemory name=TranslationModel1", "# "),
            "expected a rule table and a glue grammar, found 1",
        ),
        (changed("path=glue-grammar", "path=rule-table.gz"), "not a rule of the standard glue grammar"),
        (changed("path=rule-table.gz", "path=glue-grammar"), "has 4 scores in a row, found 1"),
        (changed("[non-terminals]\nX", "[non-terminals]\nNP"), r"\[non-terminals\] cannot be imported unless.*'NP'"),
        (changed("20\n1000", "20"), "expects two values, of rules and of the glue grammar, found 1"),
        (changed("20\n1000", "20\n30"), "of the glue grammar must be 1000 or more, found 30"),
        (changed("20\n1000", "much\n1000"), "expects a whole number, found 'much'"),
        (changed("KENLM", "Distortion\nKENLM"), "Distortion scores phrases; a system with rules cannot have it"),
        (changed("num-features=1 ", "num-features=2 "), "num-features=2, but the scores of a glue grammar are 1"),
        (changed("[inputtype]\n3", "[rule-limit]\n7"), r"\[rule-limit\] cannot be imported unless its value is '5000'"),
        (changed("[inputtype]\n3", "[unknown-lhs]\nfile"), r"\[unknown-lhs\] cannot be imported"),
    ],
)
def test_chart_files_that_cannot_be_imported(system: System, tmp_path: Path, change: Change, message: str) -> None:
    ini = export_moses(system, tmp_path)
    ini.write_text(change(ini.read_text()))
    with pytest.raises(InputError, match=message) as raised:
        import_moses(ini)
    assert re.match(r"\S+:\d+: ", str(raised.value))


def test_rules_where_phrases_are_expected_and_the_reverse(system: System, tmp_path: Path) -> None:
    ini = export_moses(system, tmp_path)
    text = ini.read_text().replace("[search-algorithm]\n3", "[search-algorithm]\n1").replace("[inputtype]\n3\n", "")
    text = re.sub(".*glue-grammar.*\n", "", text.replace("1 T 1\n", "")).replace("TranslationModel1= -1.0\n", "")
    ini.write_text(text)
    with pytest.raises(InputError, match=r"rule-table.gz:1: expected a phrase table, found a rule table"):
        import_moses(ini)
    export_moses(system, tmp_path)
    (tmp_path / "rule-table").write_text("ta ||| he ||| 1 1 1 1 ||| 0-0 ||| 1 1 1 ||| |||\n")
    ini.write_text(ini.read_text().replace("rule-table.gz", "rule-table"))
    with pytest.raises(InputError, match=r"rule-table:1: expected the label \[X\]"):
        import_moses(ini)


def test_options_of_the_other_kind_are_refused(saved: Path, tmp_path: Path) -> None:
    (tmp_path / "a").write_text(f"{SOURCE}\n")
    done = hyperbaton("translate", saved, tmp_path / "a", "--distortion-limit", "3", "--search", "stack")
    assert done.returncode == 1
    assert "--search and --distortion-limit: not an option of a system with rules; leave it out" in done.stderr
    assert hyperbaton("translate", saved, tmp_path / "a", "--max-span", "3").returncode == 0
    with pytest.raises(OptionError, match="--max-span and --rescore: not an option of a system with phrases"):
        check_applies(["max_span", "rescore", "stack"], hierarchical=False)


def test_reordering_models_cannot_be_exported(system: System, tmp_path: Path) -> None:
    with_model = System.of(rule_table(RULES), reordering={"J": ModelUse(Near())})
    with pytest.raises(OptionError, match="Moses' chart decoder has no reordering models; leave out J"):
        export_moses(with_model, tmp_path)


@pytest.mark.parametrize("inside", [False, True])
def test_jump_models_say_what_they_expected(inside: bool) -> None:
    use = ModelUse(Near(), inside=inside)
    system = System.of(rule_table(RULES), reordering={"J": use}, weights=WEIGHTS | {"J": 0.1})
    found = TokenTranslator(system).translate_batch([SOURCE], NBest())
    rows = expectations(found, 0, 0)
    assert len(rows) == len(found.segments(0))
    told = {row["chosen"]: row for of_segment in rows for row in of_segment}
    visited = {0: -1, 3: 0, 1: 4, 2: 1} | ({4: 3} if inside else {})
    assert {word: row["from"] for word, row in told.items()} == visited
    logprobs = [np.log(row["words"][row["chosen"]]) for row in told.values()]
    end = Near().jump_logprobs(found.batch.source)[0][3][5]  # from the last word visited to the end
    assert np.isclose(sum(logprobs) + end, found.totals[0][found.columns["J"][0]], atol=1e-3)


class Left(Near):
    """The same, over the untranslated words."""

    candidates = "remaining"


@pytest.mark.parametrize("inside", [False, True])
def test_jump_models_over_untranslated_words_say_what_they_expected(inside: bool) -> None:
    rules = RULES | {("chi fan", "eats rice"): ([0.5, 0.5, 0.12, 0.5], [(0, 1)])}  # "fan" has no link
    use = ModelUse(Left(), inside=inside)
    system = System.of(rule_table(rules), reordering={"J": use}, weights=WEIGHTS | {"J": 0.1})
    found = TokenTranslator(system).translate_batch([SOURCE], NBest())
    assert found.lines() == [TARGET]
    told = {row["chosen"]: row for of_segment in expectations(found, 0, 0) for row in of_segment}
    assert {word: row["from"] for word, row in told.items()} == {0: -1, 3: 0, 1: 3, 2: 1}
    translated = {0: [], 3: [0], 1: [0, 3, 4], 2: [0, 1, 3, 4]}
    for word, row in told.items():
        assert sum(row["words"]) == pytest.approx(1, abs=1e-5)
        assert [i for i, p in enumerate(row["words"]) if p == 0] == translated[word]
    logprobs = [np.log(row["words"][row["chosen"]]) for row in told.values()]
    assert found.totals[0][found.columns["J"][0]] == pytest.approx(sum(logprobs), abs=1e-3)


def test_rules_without_gaps_have_the_scores_of_phrases() -> None:
    """Models that rescore derivations and those in the search of phrases are one."""
    pairs: Any = {
        ("a", "x"): ([0.5] * 4, [(0, 0)]),
        ("a b", "y x"): ([0.5] * 4, [(0, 1), (1, 0)]),
        ("b c", "y z"): ([0.5] * 4, [(1, 1)]),
        ("c", "z"): ([0.5] * 4, []),
        ("d e", "w v"): ([0.5] * 4, [(0, 0), (0, 1), (1, 0)]),
    }
    bitext = Bitext.of(
        ["a b c d e", "b a d c"], ["y x z w v", "x y v"], [[(0, 1), (1, 0), (3, 3), (4, 4)], [(0, 0), (1, 1)]]
    )
    models: dict[str, Any] = {
        "LEFT": ModelUse(Left()),
        "IN": ModelUse(Left(), inside=True),
        "POSSIBLE": Lexicalized(orientations="hier-mslr", classes="possible", max_distance=0).fit(bitext),
        "COVERAGE": MODELS["maxent"](features="context:coverage=true", orientations="three", max_distance=0).fit(bitext),
        "OSM": MODELS["osm"](order=3, prune="0").fit(bitext),
        "BLOCK": MODELS["block_me"](min_count=1).fit(bitext),
        "SPARSE": SparseReordering.of_texts("hier-mslr", bitext.source, bitext.target, 9),
    }
    weights: Any = {"LEFT": 0.7, "IN": 0.4, "TranslationModel0": 0.0, "WordPenalty0": 0.0, "PhrasePenalty0": 0.0}
    weights["SPARSE"] = np.sin(np.arange(models["SPARSE"].n_features)).tolist()
    found = []
    for table in (rule_table(pairs), rule_table(pairs).table):
        system = System.of(table, {}, models, weights, Decoding(distortion_limit=0, stack=0))
        extra = {"TranslationModel1": 0.0} if system.is_hierarchical else {"Distortion0": 0.0}
        translator = TokenTranslator(system.with_weights(extra), threads=1)
        translations = translator.translate_batch(["a b c d e", "oh a b oh"], NBest(10))
        columns = [column for name in models for column in translations.columns[name]]
        counts = translations.sparse["SPARSE"].toarray()
        assert counts.sum() > 0
        scores = translations.scores[:, None]
        found.append((list(translations.text), np.hstack([translations.totals[:, columns], counts, scores])))
    (rules, of_rules), (phrases, of_phrases) = found
    assert rules == phrases and len(rules) > 3
    assert np.allclose(of_rules, of_phrases, atol=1e-4)


class Backwards:
    """A jump model over the untranslated words that expects the last of them."""

    needs = ()
    candidates = "remaining"

    def jump_logprobs(self, text: Any) -> list[Any]:
        return [np.tile(np.append(3.0 * np.arange(n), 0.0), (n + 1, 1)) for n in text.lengths.tolist()]


def test_rescoring_chooses_among_the_best_derivations() -> None:
    rules = {("a", "x"): ([0.5] * 4, [(0, 0)]), ("b", "y"): ([0.5] * 4, [(0, 0)])}
    rules |= {("a [X]", "[X,1] x"): ([0.4] * 4, [(0, 1)]), ("a [X]", "x [X,1]"): ([0.45] * 4, [(0, 0)])}
    system = System.of(rule_table(rules), {}, {"LEFT": Backwards()}, {"LEFT": 1.0})
    source = ["a b"] * 3
    first = TokenTranslator(system, Decoding(rescore=1), threads=1)
    assert first.translate(source) == ["x y"] * 3
    translator = TokenTranslator(system, threads=2)
    assert translator.translate(source) == ["y x"] * 3
    found = translator.translate_batch(source, NBest(3))
    assert [" ".join(line) for line in found.text][:3] == ["y x", "x y", "x y"]
    assert np.diff(found.scores[:3]).max() < 0 and found.paths(1) == range(3, 6)
    # A list that is longer than the rescored ones has the scores of the model too.
    assert np.array_equal(first.translate_batch(source, NBest(3)).scores, found.scores)
    forced = translator.translate_batch(["a b"], NBest(), forced=["x y"])
    assert forced.scores.tolist() == found.scores[1:2].tolist()


def test_pages_and_services_show_rules(system: System) -> None:
    found = TokenTranslator(system).translate_batch([SOURCE], NBest(2))
    record = sentence_object(found, 0, n_best=2, expected=True)
    assert record["target"] == TARGET.split()
    assert [(link["source"], link["target"]) for link in record["links"]] == LINKS
    assert record["links"][3]["confidence"] == pytest.approx(0.12346)  # of the rule that the word comes from
    nested = [phrase for phrase in record["phrases"] if phrase["rule"][0] == "jia"]
    assert record["phrases"][nested[0]["parent"]]["rule"] == ("zai [X] [X]", "[X,2] at [X,1]")
    assert all("distance" not in phrase for phrase in record["phrases"])
    assert set(record["search"]) == {"hypotheses", "source_sides", "spans"}
    json.dumps(record)
    engine = Engine("hiero", system, "zh", "en")
    answers: list[Any] = []
    job = engine.job(EngineRequest(answers.append, lines=[SOURCE]), 60)
    job.run([job])
    searched = answers[0].searched[0]
    assert searched.best.links == LINKS
    assert [(row["src-start"], row["src-end"], row["tgt-start"]) for row in _phrases([(searched, searched.paths[0])])] == [
        (0, 0, 0),
        (1, 4, 1),
        (3, 4, 1),
        (2, 2, 4),
    ]


def test_a_derivation_is_drawn(system: System, saved: Path, tmp_path: Path) -> None:
    found = TokenTranslator(system).translate_batch([SOURCE], NBest())
    assert derivation_text(found, 0).splitlines()[3:7] == [
        "ta → he",
        "zai [X] [X] → [X,2] at [X,1]",
        "├─ jia → home",
        "└─ chi fan → eats rice",
    ]
    figure = draw_derivation(found, 0)
    assert [text.get_text() for text in figure.axes[0].texts] == [*SOURCE.split(), *TARGET.split()]
    colour = {text.get_text(): text.get_color() for text in figure.axes[0].texts}
    assert colour["zai"] == colour["at"] != colour["home"] == colour["jia"]
    line = tmp_path / "line"
    line.write_text(f"x\n{SOURCE}\n")
    asked = ("inspect", line, "--system", saved, "--line")
    assert hyperbaton(*asked, "2", "-o", tmp_path / "a.svg").returncode == 0
    assert (tmp_path / "a.svg").read_text().count(">rice<") == 1
    assert "└─ chi fan → eats rice" in hyperbaton(*asked, "2").stdout
    described = json.loads(hyperbaton(*asked, "2", "--json").stdout)
    assert [(link["source"], link["target"]) for link in described["links"]] == LINKS
    assert [phrase["parent"] for phrase in described["phrases"] if phrase["kind"] != "glue"][2:] == [3, 3]
    for arguments, message in (
        ((*asked, "3"), "--line 3: "),
        (("inspect", line), "a sentence pair needs SRC, TGT and LINKS; a translation needs SRC and --system"),
        (("inspect", line, "b", "c", "--system", saved), "leave out TGT, LINKS"),
    ):
        done = hyperbaton(*arguments)
        assert (done.returncode, done.stderr.count("\n")) == (1, 1)
        assert message in done.stderr


def test_phrases_are_drawn_too(tmp_path: Path) -> None:
    from hyperbaton.phrases import PhraseTable, extract

    bitext = Bitext.of(["wo ai ni"], ["i love you"], [[(0, 0), (1, 1), (2, 2)]])
    system = System.of(PhraseTable.build(bitext, extract(bitext)))
    found = TokenTranslator(system).translate_batch(["ni ai wo"], NBest())
    assert derivation_text(found, 0).splitlines()[3:6] == ["ni → you", "ai → love", "wo → i"]
    assert found.links_of(0) == [(0, 0), (1, 1), (2, 2)]


def trained(path: Path, **options: Any) -> Path:
    """A saved orientation model of a few sentence pairs."""
    targets = ["he eats rice at home", "he eats at home", "at home he eats rice"]
    sources = ["ta zai jia chi fan", "ta zai jia chi", "zai jia ta chi fan"]
    links = [LINKS, [(0, 0), (1, 2), (2, 3), (3, 1)], [(i, i) for i in range(5)]]
    Lexicalized(max_distance=0, **options).fit(Bitext.of(sources, targets, links)).save(path)
    return path


def test_orientation_models_of_the_command_line(saved: Path, tmp_path: Path) -> None:
    before = trained(tmp_path / "before", orientations="hier-mslr")
    after = trained(tmp_path / "after", orientations="hier-mslr", side="after")
    (tmp_path / "a").write_text(f"{SOURCE}\nta oh fan\n")
    models = ("--reordering", f"O={before}", "--reordering", f"O.after={after}", "--weights-per-class", "O")
    made = hyperbaton("system", "--from", saved, *models, "-o", tmp_path / "system")
    assert made.returncode == 0, made.stderr
    done = hyperbaton("translate", tmp_path / "system", tmp_path / "a", "--nbest", "3")
    row = done.stdout.splitlines()[0]
    values = re.search(r"O= (\S+) (\S+) (\S+) (\S+) O\.after= (\S+) ", row)
    assert values, row
    # "he" is monotone, "eats rice" discontinuous to the right, "at" to the left, and "home" monotone.
    assert [float(value) < 0 for value in values.groups()] == [True, False, True, True, True]
    assert row.startswith(f"0 ||| {TARGET}  ||| ")
    diagnosed = hyperbaton("diagnose", tmp_path / "system", tmp_path / "a", tmp_path / "a")
    assert diagnosed.returncode == 0, diagnosed.stderr
    (tmp_path / "links").write_text("0-0\n0-0\n")
    refused = hyperbaton("diagnose", tmp_path / "system", tmp_path / "a", tmp_path / "a", "--links", tmp_path / "links")
    assert (refused.returncode, refused.stderr.count("\n")) == (1, 1)
    assert "--links compares orientations of phrase pairs, which a system with rules does not have" in refused.stderr


@pytest.mark.parametrize(
    ("model", "options"),
    [
        ("pair", {"candidates": "remaining", "min_count": 1}),
        ("lexicalized", {"orientations": "hier-mslr", "classes": "possible", "max_distance": 0}),
        ("osm", {"order": 3}),
        ("block_me", {"min_count": 1}),
        ("sparse:hier-mslr", {}),
    ],
)
def test_rescoring_of_the_command_line(model: str, options: dict[str, Any], saved: Path, tmp_path: Path) -> None:
    bitext = Bitext.of([SOURCE, "ta zai jia chi"], [TARGET, "he eats at home"], [LINKS, [(0, 0), (1, 2), (2, 3), (3, 1)]])
    is_sparse = model.startswith("sparse")
    if not is_sparse:
        MODELS[model](**options).fit(bitext).save(tmp_path / "model")
    (tmp_path / "a").write_text(f"{SOURCE}\nta oh fan\n")
    where = model if is_sparse else tmp_path / "model"
    made = hyperbaton("system", "--from", saved, "--reordering", f"J={where}", "-o", tmp_path / "system")
    assert made.returncode == 0, made.stderr
    packed = hyperbaton("pack", tmp_path / "system", "-o", tmp_path / "packed", "--exact")
    assert packed.returncode == 0, packed.stderr
    lists = [
        hyperbaton("translate", tmp_path / name, tmp_path / "a", "--nbest", "3", "--rescore", "50").stdout
        for name in ("system", "packed")
    ]
    assert lists[0] == lists[1]
    assert "J_phr-src-first-" in lists[0] if is_sparse else float(re.search(r"J= (\S+) ", lists[0]).group(1)) < 0  # type: ignore[union-attr]
    traced = hyperbaton("translate", tmp_path / "system", tmp_path / "a", "--trace", tmp_path / "trace")
    assert traced.returncode == 0, traced.stderr
    if not is_sparse:
        piece = json.loads((tmp_path / "trace").read_text().splitlines()[0])["pieces"][0]
        of_phrases = [phrase["features"].get("J", [0.0])[0] for phrase in piece["phrases"]]
        assert sum(of_phrases) == pytest.approx(piece["features"]["J"][0], abs=1e-3)
        assert sum(map(bool, of_phrases)) == (2 if model == "lexicalized" else 4)
    loaded = System.load(tmp_path / "system")
    found = TokenTranslator(loaded).translate_batch([SOURCE], NBest(2))
    record = sentence_object(found, 0, n_best=2, expected=True)
    assert sum(map(len, record["expectations"])) == (0 if is_sparse else 4)


def test_tables_of_phrase_pairs_that_rules_cannot_have(saved: Path, system: System, tmp_path: Path) -> None:
    table = "hier-mslr-bidirectional-fe"
    message = f"a {table} table can only be counted from the output of 'hyperbaton extract -o'; give {table}:FILE or"
    done = hyperbaton("system", "--from", saved, "--reordering", f"O={table}", "-o", tmp_path / "system")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert message in done.stderr
    rows = ReorderingTable(ReorderingType.parse(table), np.full((len(system.table), 8), 0.25, np.float32))
    with pytest.raises(OptionError, match="O scores the pairs of a phrase table, not rules: train 'lexicalized' models"):
        system.with_reordering({"O": rows})


class InCore(Near):
    """A model that makes its own feature of the core: that of a jump model."""

    n_values = 1
    start_weights: ClassVar = [0.7]
    in_chart = True

    def search_feature(self, batch: Batch, weights: list[float]) -> _core.Feature:
        return scorer_of(Near(), ModelUse(self), batch, weights)


class CoverageFeature:
    """A feature of steps, which parts of a derivation do not have."""

    in_chart = True

    def search_feature(self, batch: Batch, weights: list[float]) -> _core.Feature:
        return _core.Distance(weight=weights[0])


def test_a_feature_of_the_core_is_in_the_chart_if_its_kind_can(lm: LanguageModel) -> None:
    found = []
    for model in (Near(), InCore()):
        system = System.of(rule_table(RULES), {"LM0": lm}, {"J": model}, WEIGHTS | {"J": 0.7})
        found.append(TokenTranslator(system).translate_batch([SOURCE], NBest(3)))
    assert System.of(rule_table(RULES), reordering={"J": InCore()}).weights["J"] == [0.7]
    assert ModelUse(InCore()).in_chart
    assert found[0].lines() == found[1].lines() and np.array_equal(found[0].scores, found[1].scores)
    refused = System.of(rule_table(RULES), {"LM0": lm}, {"C": CoverageFeature()})
    with pytest.raises(HyperbatonError, match="C: this kind of feature scores the steps of phrases"):
        TokenTranslator(refused).translate_batch([SOURCE], NBest(1))


def rules_experiment(systems: dict[str, list[str]], **models: object) -> Experiment:
    values = {
        "corpus": {"generate": {"sentences": 200, "dev": 10, "test": 10, "style": "japanese"}},
        "models": {
            "hiero": {"model": "rules", "max-span": 6, "for-texts": True},
            "hier": {"model": "lexicalized", "orientations": "hier-mslr", "direction": "bidirectional", "max-distance": 0},
            **models,
        },
        "lm": {"order": 2},
        "translation": {
            "systems": systems,
            "metrics": ["bleu"],
            "samples": 10,
            "tuning": {"iterations": 1},
            "decoding": {"pop-limit": 20},
        },
    }
    return parse_experiment(values, "exp.toml", Path())


@pytest.mark.slow
def test_reordering_models_in_an_experiment(tmp_path: Path) -> None:
    left = {"model": "pair", "candidates": "remaining"}
    operations = {"model": "osm", "order": 3}
    plan = make_plan(rules_experiment({"chart": ["hiero", "hier", "left", "operations"]}, left=left, operations=operations))
    do_stages(plan, tmp_path)
    tuned = System.load(plan.stages["tune.chart.1"].folder(tmp_path) / "system")
    n_weights = {name: len(weights) for name, weights in tuned.weights.items() if name in tuned.reordering}
    assert n_weights == {"hier": 4, "hier.after": 4, "left": 1, "operations": 5}
