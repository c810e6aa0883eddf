"""Word classes: edges, files, the verb, and what mkcls itself found."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from hyperbaton.base.errors import Cancelled, InputError, OptionError
from hyperbaton.corpus import Text, Vocabulary
from hyperbaton.corpus.classes import WordClasses, class_criterion, word_classes
from tests.program import hyperbaton

GOLDEN = Path(__file__).parent.parent / "golden" / "mkcls"


@pytest.mark.parametrize(
    ("sentences", "n_classes", "expected", "criterion"),
    [
        ([], 50, [], 0.0),
        (["", ""], 50, [], 0.0),
        (["a"], 50, [2], 0.0),  # two bigrams and two unigrams, each seen once
        (["a a", "a a"], 1, [2], 3 * 2 * np.log(2) - 2 * (4 * np.log(4) + 2 * np.log(2))),
        (["a b"], 1, [2, 2], -2 * 2 * np.log(2)),
        (["b b a"], 3, [2, 3], -2 * 2 * np.log(2)),
    ],
)
def test_small_texts(sentences, n_classes, expected, criterion):
    result = word_classes(Text.of(sentences), n_classes)
    assert result.classes.tolist() == expected
    assert result.classes.dtype == np.uint16
    assert result.criterion == pytest.approx(criterion)


def test_words_that_do_not_occur_have_no_class():
    text = Text.of(["a b a"], Vocabulary.of(["x", "a", "y"]))
    result = word_classes(text, 2, runs=3)
    assert [result[word] for word in ["x", "y", "nowhere"]] == [0, 0, 0]
    assert {result["a"], result["b"]} == {2, 3}


def test_options_are_checked():
    text = Text.of(["a b"])
    with pytest.raises(OptionError, match="classes must be at least 1, not 0"):
        word_classes(text, 0)
    with pytest.raises(OptionError, match="runs must be at least 1"):
        word_classes(text, runs=0)


def test_progress_counts_up_and_cancels():
    text = Text.of(["a b c", "a c"])
    seen = []
    word_classes(text, 2, runs=2, sweeps=3, progress=lambda done, total: seen.append((done, total)))
    assert seen == sorted(seen)
    assert {total for _, total in seen} == {2 * 3 * 3}
    with pytest.raises(Cancelled):
        word_classes(text, 2, progress=lambda done, total: False)


def test_files_come_back(tmp_path):
    text = Text.of(["b a $ é b", "Z b"])
    classes = word_classes(text, 3)
    classes.write(tmp_path / "classes.gz")
    again = WordClasses.read(tmp_path / "classes.gz", text.vocabulary)
    assert (again.classes == classes.classes).all()
    assert (again.n_classes, again.criterion) == (3, None)
    classes.write(tmp_path / "classes")
    lines = (tmp_path / "classes").read_bytes().splitlines()
    assert [line.split(b"\t")[0] for line in lines] == [b"$", b"Z", b"a", b"b", "é".encode()]


@pytest.mark.parametrize(
    ("line", "what"),
    [
        (b"b", "expected a word, a tab and a class number, found 'b'"),
        (b"", "expected a word, a tab and a class number, found ''"),
        (b"b\t3\t4", "expected a word, a tab and a class number"),
        (b"\t3", "expected a word, a tab and a class number"),
        (b"b\tx", "expected a class number from 1 to 65535 (0 is the sentence boundary), found 'x'"),
        (b"b\t0", "found '0'"),
        (b"b\t-2", "found '-2'"),
        (b"b\t70000", "found '70000'"),
        (b"b\t99999999999999999999", "found '99999999999999999999'"),
        (b"a\t5", "the word 'a' already has a class"),
        (b"b\t5\r", "carriage return"),
        (b"\xff\t5", "not valid UTF-8"),
    ],
)
def test_faults_of_a_file_name_file_and_line(tmp_path, line, what):
    path = tmp_path / "classes"
    path.write_bytes(b"other\t2\na\t2\n" + line + b"\n")
    with pytest.raises(InputError) as error:
        WordClasses.read(path, Vocabulary.of(["a", "b"]))
    assert str(error.value).startswith(f"{path}:3: ")
    assert what in str(error.value)


def test_classes_carry_to_other_texts():
    classes = word_classes(Text.of(["a b", "a c"]), 2)
    other = Text.of(["c x a"])
    assert classes.tags(other).tolist() == [classes["c"], 0, classes["a"]]
    with pytest.raises(InputError, match="the word 'x' has no class"):
        class_criterion(other, classes)


def test_as_good_as_mkcls(tmp_path):
    text = Text.read(GOLDEN / "train.tgt")
    theirs = WordClasses.read(GOLDEN / "train.tgt.mkcls10", text.vocabulary)
    assert theirs.n_classes == 10
    one_class = word_classes(text, 1).criterion
    gain = class_criterion(text, theirs) - one_class
    for seed in range(5):
        # Of the gain over a single class, which is much stricter than of the criterion itself.
        assert word_classes(text, 10, runs=1, seed=seed).criterion - one_class > 0.99 * gain
        assert word_classes(text, 10, runs=10, seed=seed).criterion - one_class > 0.997 * gain
    theirs.write(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (GOLDEN / "train.tgt.mkcls10").read_bytes()


def test_the_verb(tmp_path):
    path = tmp_path / "text"
    path.write_text("the cat\nthe dog\n")
    command = ["classes", path, "--classes", 2]
    done = hyperbaton(*command, "--json")
    assert done.stdout == "cat\t3\ndog\t3\nthe\t2\n"
    summary = json.loads(done.stderr)
    assert summary["n_classes"] == 2
    assert summary["history"][-1] == summary["criterion"]
    quiet = hyperbaton(*command, "--quiet")
    assert (quiet.stdout, quiet.stderr) == (done.stdout, "")
