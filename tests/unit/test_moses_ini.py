"""A moses.ini is applied or refused, section by section, with file and line."""

from __future__ import annotations

import gzip
import logging
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from hyperbaton.base.errors import HyperbatonError, OptionError
from hyperbaton.decode import System
from hyperbaton.decode.moses import OF_PHRASES, SHORT, import_moses
from hyperbaton.lm import LanguageModel
from hyperbaton.phrases.moses import read_phrase_table
from tests.program import hyperbaton

ARPA = """\\data\\
ngram 1=4

\\1-grams:
-1 <unk>
-99 <s>
-1 </s>
-0.5 x

\\end\\
"""
FILES = {
    "table": "wo ||| x ||| 0.5 0.5 ||| 0-0 ||| 1 1 1\nwo ai ||| x x ||| 0.1 0.2 ||| 0-0 1-1 ||| 1 1 1\n",
    "reordering": "wo ||| x ||| 0.5 0.3 0.2 0.5 0.3 0.2\nwo ai ||| x x ||| 0.4 0.3 0.3 0.4 0.3 0.3\n",
    "lm.arpa": ARPA,
    "moses.ini": """[distortion-limit]
6
[feature]
UnknownWordPenalty
WordPenalty
PhrasePenalty
PhraseDictionaryMemory name=TranslationModel0 num-features=2 path=table input-factor=0 output-factor=0
LexicalReordering name=LexicalReordering0 num-features=6 type=wbe-msd-bidirectional-fe-allff path=reordering
Distortion
KENLM name=LM0 factor=0 path=lm.arpa order=1
[weight]
UnknownWordPenalty0= 1
WordPenalty0= -1
PhrasePenalty0= 0.2
TranslationModel0= 0.2 0.2
LexicalReordering0= 0.3 0.3 0.3 0.3 0.3 0.3
Distortion0= 0.3
LM0= 0.5
""",
}

Change = Callable[[dict[str, str]], None]


def folder(path: Path, change: Change = lambda files: None) -> Path:
    files = dict(FILES)
    change(files)
    for name, text in files.items():
        (path / name).write_text(text, encoding="utf-8")
    return path


def edit(old: str, new: str, name: str = "moses.ini") -> Change:
    """Replace the first occurrence of a text in a file."""

    def change(files: dict[str, str]) -> None:
        assert old in files[name]
        files[name] = files[name].replace(old, new, 1)

    return change


def add(text: str) -> Change:
    """Add lines at the end of the moses.ini, from line 19 on."""
    return lambda files: files.update({"moses.ini": files["moses.ini"] + text})


BROKEN: dict[str, tuple[Change, str]] = {
    # Sections
    "stack": (add("[stack]\n-3\n"), "moses.ini:20: [stack]: stack must be at least 0, not -3"),
    "huge stack": (add(f"[stack]\n{10**20}\n"), "moses.ini:20: [stack]: stack must be at most"),
    "pop limit": (
        add("[cube-pruning-pop-limit]\n0\n"),
        "moses.ini:20: [cube-pruning-pop-limit]: pop-limit must be at least",
    ),
    "distortion limit": (edit("6", "-2"), "moses.ini:2: [distortion-limit]: distortion-limit must be at least -1, not -2"),
    "no whole number": (add("[stack]\n2.5\n"), "moses.ini:20: [stack] expects a whole number, found '2.5'"),
    "threshold": (
        add("[beam-threshold]\nnan\n"),
        "moses.ini:20: [beam-threshold]: threshold must be a finite number, not nan",
    ),
    "no value": (add("[stack]\n"), "moses.ini:19: [stack] expects one value, found 0"),
    "two values": (add("[stack]\n1\n2\n"), "moses.ini:21: [stack] expects one value, found 2"),
    "phrase length": (
        add("[max-phrase-length]\n0\n"),
        "moses.ini:20: [max-phrase-length] expects a whole number of at least 1",
    ),
    "flag": (add("[drop-unknown]\nmaybe\n"), "moses.ini:20: [drop-unknown] expects true or false, found 'maybe'"),
    "search": (
        add("[search-algorithm]\n4\n"),
        "moses.ini:20: [search-algorithm] cannot be imported unless its value is 0 or 1 or 3",
    ),
    "markup": (add("[xml-input]\ninclusive\n"), "moses.ini:20: [xml-input] cannot be imported unless"),
    "section twice": (add("[stack]\n9\n[stack]\n9\n"), "moses.ini:21: [stack] occurs twice, first in line 19"),
    "no such section": (add("[stacks]\n9\n"), "moses.ini:19: [stacks] is not a section of Moses"),
    "both names": (add("[s]\n9\n[stack]\n9\n"), "moses.ini:21: [stack] occurs twice, first in line 19"),
    "short name": (add("[sd]\n9\n"), "moses.ini:20: [sd] cannot be imported unless its value is '0'; found '9'"),
    "short name of an old weight": (add("[w]\n-1\n"), "moses.ini:19: [w] cannot be imported: the format of Moses"),
    "unknown short name": (add("[q]\n1\n"), "moses.ini:19: [q] is not a section of Moses"),
    "old format": (
        add("[ttable-file]\n0 0 0 5 t\n"),
        "moses.ini:19: [ttable-file] cannot be imported: the format of Moses",
    ),
    "lattices": (
        add("[inputtype]\n2\n"),
        "moses.ini:20: [inputtype] cannot be imported unless its value is '0'; found '2'",
    ),
    "flag is on": (
        add("[minimum-bayes-risk]\n"),
        "moses.ini:19: [minimum-bayes-risk] cannot be imported unless its value is 'false'; found nothing",
    ),
    "own options": (add("# hyperbaton: speed=9\n"), "moses.ini:19: unknown option 'speed'"),
    # Features
    "unknown feature": (edit("PhrasePenalty", "Psychic"), "moses.ini:6: unknown feature Psychic"),
    "feature twice": (
        edit("name=LM0", "name=TranslationModel0"),
        "moses.ini:10: the feature TranslationModel0 is already defined in line 7",
    ),
    "kind twice": (edit("Distortion\n", "Distortion\nDistortion\n"), "moses.ini:10: there is another feature Distortion0"),
    "two tables": (
        edit("Distortion\n", "PhraseDictionaryMemory path=table\n"),
        "moses.ini:9: expected one phrase table, found 2",
    ),
    "unknown key": (edit("input-factor", "sparse"), "moses.ini:7: PhraseDictionaryMemory with sparse= cannot be imported"),
    "factor": (
        edit("factor=0 path=lm", "factor=1 path=lm"),
        "moses.ini:10: KENLM with factor=1 cannot be imported, only factor=0",
    ),
    "key twice": (edit("order=1", "order=1 order=2"), "moses.ini:10: KENLM has order= twice"),
    "no key": (edit("order=1", "lazy"), "moses.ini:10: expected key=value after KENLM, found 'lazy'"),
    "default scores": (
        edit("type=wbe", "default-scores=0 type=wbe"),
        "moses.ini:8: LexicalReordering with default-scores= cannot be imported",
    ),
    "number of scores": (
        edit("num-features=2", "num-features=5"),
        "moses.ini:7: num-features=5, but the scores in a row of",
    ),
    "number of classes": (
        edit("num-features=6", "num-features=8"),
        "moses.ini:8: num-features=8, but the features of type=",
    ),
    "no number": (edit("num-features=2", "num-features=x"), "moses.ini:7: num-features must be a whole number, found 'x'"),
    "table limit": (
        edit("input-factor", "table-limit=-1 input-factor"),
        "moses.ini:7: table-limit: table-limit must be at least",
    ),
    "order": (
        edit("KENLM name=LM0 factor=0 path=lm.arpa order=1", "SRILM name=LM0 path=lm.arpa order=0"),
        "moses.ini:10: SRILM with order=0 cannot",
    ),
    "no such file": (edit("lm.arpa", "lm9.arpa"), "moses.ini:10: there is no file lm9.arpa"),
    "no path": (edit("path=lm.arpa", ""), "moses.ini:10: KENLM names no path"),
    "variable": (
        edit("lm.arpa", "${MOSES_NOWHERE}/lm"),
        "moses.ini:10: the path ${MOSES_NOWHERE}/lm needs the environment variable MOSES_NOWHERE",
    ),
    "no type": (edit("type=wbe-msd-bidirectional-fe-allff", ""), "moses.ini:8: unknown part '' of the reordering type"),
    "wrong type": (edit("wbe-msd-bidirectional-fe-allff", "wbe-mslr-bidirectional-fe"), "reordering:1: a wbe-mslr"),
    # Weights
    "weight of nothing": (edit("LM0= 0.5", "LM1= 0.5"), "moses.ini:18: there is a weight for LM1, but no such feature"),
    "no weight": (edit("LM0= 0.5\n", ""), "moses.ini:10: there is no weight for LM0"),
    "too few weights": (edit("Model0= 0.2 0.2", "Model0= 0.2"), "moses.ini:15: TranslationModel0 needs 2 weights, found 1"),
    "too many weights": (edit("LM0= 0.5", "LM0= 0.5 1"), "moses.ini:18: LM0 needs 1 weights, found 2"),
    "weights twice": (add("LM0= 1\n"), "moses.ini:19: the weights of LM0 are already given in line 18"),
    "infinite weight": (edit("LM0= 0.5", "LM0= inf"), "moses.ini:18: the weights of LM0 must be finite numbers"),
    "no weight given": (edit("LM0= 0.5", "LM0="), "moses.ini:18: expected weights like 'LM0= 0.5', found 'LM0='"),
    # Tables
    "score below 0": (edit("0.1", "-0.1", "table"), "table:2: expected a score of at least 0, found '-0.1'"),
    "infinite score": (edit("0.1", "inf", "table"), "table:2: expected a number, found 'inf'"),
    "scores of a row": (edit("0.1 0.2", "0.1", "table"), "table:2: expected 2 scores, found 1"),
    "probability below 0": (edit("0.4", "-1", "reordering"), "reordering:2: expected a score of at least 0, found '-1'"),
    "no probability": (edit("0.4", "nan", "reordering"), "reordering:2: expected a number, found 'nan'"),
    "pair twice": (
        edit("wo ai ||| x x", "wo ||| x", "reordering"),
        "reordering:2: the phrase is already in an earlier line",
    ),
    "log probability": (edit("-0.5 x", "-inf x", "lm.arpa"), "lm.arpa:8: expected a log10 probability, found '-inf'"),
    "back-off": (edit("-1 </s>", "-1 </s> nan", "lm.arpa"), "lm.arpa:7: expected a back-off weight"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_what_cannot_be_imported_is_named(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    change, message = BROKEN[case]
    monkeypatch.delenv("MOSES_NOWHERE", raising=False)
    with pytest.raises(HyperbatonError) as raised:
        import_moses(folder(tmp_path, change))
    assert str(raised.value).startswith(f"{tmp_path}/{message}")


def test_a_table_that_is_cut_off(tmp_path: Path) -> None:
    path = folder(tmp_path)
    content = gzip.compress(FILES["table"].encode() * 50)
    (path / "table").write_bytes(content[: len(content) - 12])
    with pytest.raises(HyperbatonError, match=r"table:\d+: the gzip file is damaged or cut off"):
        import_moses(path)


def test_every_section_that_changes_translations_is_applied(tmp_path: Path) -> None:
    text = (
        "[early-distortion-cost]\nyes\n[stack]\n7\n[search-algorithm]\n1\n[cube-pruning-pop-limit]\n70\n[beam-threshold]\n"
        "0.25\n[drop-unknown]\n[monotone-at-punctuation]\ntrue\n[xml-input]\nexclusive\n[max-phrase-length]\n1\n"
        "[stack-diversity]\n0\n[early-discarding-threshold]\n0.0\n[mapping]\n0  T 0\n"
    )
    plain, changed = (tmp_path / name for name in ("plain", "changed"))
    for path in (plain, changed):
        path.mkdir()
    system = import_moses(folder(changed, add(text)))
    options = system.options
    assert (options.early_distortion, options.stack, options.search, options.pop_limit) == (True, 7, "cube", 70)
    assert (options.threshold, options.drop_unknown, options.monotone_at_punctuation) == (0.25, True, True)
    assert (options.markup, options.distortion_limit, options.future_distortion) == (True, 6, False)
    assert len(system.table) == 1
    # Missing sections have Moses' defaults: no distortion limit, for one.
    system = import_moses(folder(plain, edit("[distortion-limit]\n6\n", "")))
    assert (system.options.distortion_limit, system.options.search, system.options.stack) == (-1, "stack", 200)
    assert (system.options.threshold, system.options.table_limit, len(system.table)) == (1e-5, 20, 2)


def test_a_flag_may_say_no(tmp_path: Path) -> None:
    assert not import_moses(folder(tmp_path, add("[early-distortion-cost]\nfalse\n"))).options.early_distortion


def test_variables_in_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOSES_MODELS", str(folder(tmp_path)))
    (tmp_path / "sub" / "sub").mkdir(parents=True)
    ini = tmp_path / "sub" / "sub" / "moses.ini"
    ini.write_text(FILES["moses.ini"].replace("path=", "path=${MOSES_MODELS}/"), encoding="utf-8")
    assert len(import_moses(ini).table) == 2


def test_sections_without_effect_are_named_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        import_moses(folder(tmp_path, add("[threads]\n4\n[verbose]\n1\n")))
    expected = f"{tmp_path}/moses.ini: ignored, since translations do not depend on it: [threads], [verbose]"
    assert [record.getMessage() for record in caplog.records] == [expected]


def test_short_names_mean_what_they_mean_on_the_command_line(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        options = import_moses(folder(tmp_path, add("[v]\n1\n[s]\n7\n[cbp]\n70\n"))).options
    assert (options.stack, options.pop_limit) == (7, 70)
    assert [record.getMessage().removeprefix(f"{tmp_path}/moses.ini: ") for record in caplog.records] == [
        "ignored, since translations do not depend on it: [v]",
        "read [s] as [stack], [cbp] as [cube-pruning-pop-limit]; Moses ignores short names in this file",
    ]


def test_the_page_of_moses_ini_names_every_section() -> None:
    page = (Path(__file__).parents[2] / "docs" / "moses-ini.md").read_text(encoding="utf-8")
    names = [name for group in OF_PHRASES for name in group]
    assert len(names) == len(set(names))
    assert [name for name in names if f"`{name}`" not in page] == []
    assert [short for short, name in SHORT.items() if f"`{short}` ({name})" not in page or name not in names] == []


def test_names_of_models_are_not_used_twice(tmp_path: Path) -> None:
    path = folder(tmp_path)
    table, lm = read_phrase_table(path / "table"), LanguageModel.read_arpa(path / "lm.arpa")
    model = import_moses(path).reordering["LexicalReordering0"]
    for name in ("LM0", "Distortion0"):
        with pytest.raises(OptionError, match=f"there are two features named {name}; give the model another name"):
            System.of(table, [lm], {name: model})
    with pytest.raises(OptionError, match=re.escape("a model cannot be named 'a b'")):
        System.of(table, [lm], {"a b": model})
    parts = ["--phrases", path / "table", "--lm", path / "lm.arpa", "-o", tmp_path / "out"]
    for names, message in (
        (("X", "X"), f"--reordering gives X twice, '{kind_file(path)}' and '{kind_file(path)}'"),
        (("X", "LM0"), "there are two features named LM0"),
    ):
        flags = [part for name in names for part in ("--reordering", f"{name}={kind_file(path)}")]
        done = hyperbaton("system", *parts, *flags)
        assert done.returncode == 1 and message in done.stderr
        assert not (tmp_path / "out").exists()


def kind_file(path: Path) -> str:
    return f"wbe-msd-bidirectional-fe:{path}/reordering"
