"""The commands `lm` and `perplexity`, and errors for bad language models."""

from __future__ import annotations

import gzip
import json
import lzma
import signal
from pathlib import Path

import numpy as np
import pytest

from hyperbaton import _core
from hyperbaton.base.errors import ArtefactError, Cancelled, InputError, OptionError
from hyperbaton.corpus import Text
from hyperbaton.lm import Estimation, LanguageModel
from tests.program import hyperbaton

GOOD = r"""
\data\
ngram 1=4
ngram 2=2
ngram 3=1

\1-grams:
-1	<s>	-0.5
-1	</s>
-1	a	-0.25
-1	b

\2-grams:
-0.5	<s> a	-0.125
-0.5	a b

\3-grams:
-0.25	<s> a b

\end\
"""

# (what is replaced, by what) → line and message.
DAMAGES = [
    ("\\data\\", "data", 2, "expected \\data\\, the start of an ARPA file, found 'data'"),
    ("ngram 2=2", "ngram 3=2", 4, "expected the count of the 2-grams, found that of the 3-grams"),
    ("ngram 2=2", "ngram 2=two", 4, "expected 'ngram ORDER=COUNT', found 'ngram 2=two'"),
    ("ngram 2=2", "ngram 2=3", 16, "expected 3 2-grams, as \\data\\ says, found 2"),
    ("ngram 2=2", "ngram 2=1", 15, "expected no more than 1 2-grams, as \\data\\ says"),
    ("\\2-grams:", "\\3-grams:", 13, "expected \\2-grams:, found '\\3-grams:'"),
    ("-0.5	a b", "-0.5x	a b", 15, "expected a log10 probability, found '-0.5x'"),
    ("-0.5	a b", "0.5	a b", 15, "expected a log10 probability, at most 0, found '0.5'"),
    ("-0.5	a b", "nan	a b", 15, "expected a log10 probability, found 'nan'"),
    ("-0.5	a b", "-0.5	a", 15, "expected 2 words, found 1"),
    ("-0.5	a b", "-0.5	a b c", 15, "expected a back-off weight after 2 words, found 'c'"),
    ("-0.5	a b", "-0.5	a b	-1	-1", 15, "expected the end of the line after the back-off weight, found '-1'"),
    ("-0.5	a b", "-0.5	a c", 15, "the word 'c' is not among the 1-grams"),
    ("-0.5	a b", "-0.5	<s> a", 15, "the n-gram is a duplicate"),
    ("-1	</s>", "-1	a", 10, "the n-gram is a duplicate"),
    ("<s> a b", "<s> a b	-0.5", 18, "expected no back-off weight in the highest order, found '-0.5'"),
    ("-1	</s>", "-1	<unk>", 8, "the 1-grams lack '</s>'"),
    ("\\end\\\n", "", 19, "the file ends here without \\end\\: is it cut off?"),
    ("\\end\\", "\\end\\\nmore", 21, "expected nothing after \\end\\, found 'more'"),
    ("-1	b\n", "-1	\x01\n", 11, "control character"),
]


@pytest.mark.parametrize(("old", "new", "line", "message"), DAMAGES)
def test_damaged_arpa_files(tmp_path: Path, old: str, new: str, line: int, message: str) -> None:
    assert old in GOOD
    path = tmp_path / "bad.arpa.gz"
    path.write_bytes(gzip.compress(GOOD.replace(old, new, 1).encode()))
    with pytest.raises(InputError) as raised:
        LanguageModel.read_arpa(path)
    assert str(raised.value).startswith(f"{path}:{line}: {message}")


def test_forms_that_other_programs_write() -> None:
    """Spaces for tabs, Windows line ends, <UNK>, zero back-off weights in the highest order."""
    same = GOOD.replace("\t", " ").replace("\n", "\r\n").replace("<s> a b", "<s> a b 0")
    plain, odd = LanguageModel.parse_arpa(GOOD), LanguageModel.parse_arpa(same)
    assert b"".join(plain.arpa_pieces()) == b"".join(odd.arpa_pieces())
    capital = LanguageModel.parse_arpa(GOOD.replace("1=4", "1=5").replace("-1	b", "-1	b\n-3	<UNK>"))
    assert capital.score_words(["x"])[0][0] / np.log(10) == pytest.approx(-3.5)
    assert plain.score_words(["x"])[0][0] / np.log(10) == pytest.approx(-100.5)


def test_texts_and_options_that_make_no_sense(tmp_path: Path) -> None:
    text = Text.of(["a b", "c </s>"])
    with pytest.raises(InputError, match="'</s>' is reserved for the edges of sentences"):
        LanguageModel.estimate(text, 2)
    with pytest.raises(InputError, match="no sentences"):
        LanguageModel.estimate(Text.of([]), 2)
    with pytest.raises(InputError, match=r"too small or too odd for a model of order 1: .* or --discount-fallback"):
        LanguageModel.estimate(Text.of(["a b"]), 2)
    for prune in ("1", "0 2 1", "x", "0 0 0 0", ""):
        with pytest.raises(OptionError, match="prune must be"):
            Estimation(3, prune)
    with pytest.raises(OptionError, match="order must be at most 9"):
        Estimation(10)
    with pytest.raises(OptionError, match="1 to 8 bits"):
        LanguageModel.parse_arpa(GOOD).quantized(9)
    with pytest.raises(InputError, match="empty text"):
        LanguageModel.parse_arpa(GOOD).perplexity([])
    with pytest.raises(Cancelled):
        LanguageModel.estimate(Text.of(["a b"]), 2, discount_fallback=True, progress=lambda done, total: False)


def test_damaged_artefacts(tmp_path: Path) -> None:
    LanguageModel.parse_arpa(GOOD).save(tmp_path / "lm")
    slots = tmp_path / "lm" / "ngrams.2.slots.npy"
    content = slots.read_bytes()
    slots.write_bytes(content[:-1])
    with pytest.raises(ArtefactError, match="has 191 bytes instead of 192"):
        LanguageModel.load(tmp_path / "lm")


def test_verbs(golden: Path, tmp_path: Path) -> None:
    train, test = golden / "moses" / "train.tgt", golden / "moses" / "test.tgt"
    made = hyperbaton(
        "lm", train, "-o", tmp_path / "lm", "--order", 3, "--discount-fallback", "--arpa", tmp_path / "lm.arpa.xz", "--json"
    )
    assert made.returncode == 0, made.stderr
    assert json.loads(made.stdout)["n_ngrams"][0] == json.loads(made.stdout)["n_words"] == 61

    cut = hyperbaton("lm", train, "-o", tmp_path / "cut", "--order", 3, "--discount-fallback", "--memory", "161M")
    assert cut.returncode == 0, cut.stderr
    arrays = sorted((tmp_path / "lm").glob("*.npy"))
    assert arrays and all(array.read_bytes() == (tmp_path / "cut" / array.name).read_bytes() for array in arrays)

    # An ARPA file alone is written without making the tables.
    alone = hyperbaton("lm", train, "--order", 3, "--discount-fallback", "--arpa", tmp_path / "alone.arpa", "--json")
    assert json.loads(alone.stdout)["n_ngrams"] == json.loads(made.stdout)["n_ngrams"] and "bytes" not in alone.stdout
    assert (tmp_path / "alone.arpa").read_bytes() == lzma.decompress((tmp_path / "lm.arpa.xz").read_bytes())

    small = hyperbaton("lm", tmp_path / "lm.arpa.xz", "-o", tmp_path / "small", "--quantize", 8, "--quiet")
    assert (small.returncode, small.stdout, small.stderr) == (0, "", "")
    back = hyperbaton("lm", tmp_path / "lm", "--arpa", "-", "--quiet")
    assert back.stdout == b"".join(LanguageModel.read_arpa(tmp_path / "lm.arpa.xz").arpa_pieces()).decode()

    answers = [hyperbaton("perplexity", tmp_path / name, test, "--json") for name in ("lm", "lm.arpa.xz", "small")]
    exact, same, near = (json.loads(answer.stdout) for answer in answers)
    assert exact == same and exact["n_tokens"] == 704
    assert near["including_unknown"] == pytest.approx(exact["including_unknown"], rel=0.01)
    each = hyperbaton("perplexity", tmp_path / "lm", test, "--sentences")
    assert sum(map(float, each.stdout.split())) == pytest.approx(exact["logprob"], abs=1e-3)

    wrong = hyperbaton("lm", tmp_path / "lm", "--arpa", "-", "--order", 3)
    assert wrong.returncode == 1 and "is already a model" in wrong.stderr
    nothing = hyperbaton("lm", train)
    assert nothing.returncode == 1 and "no output: give -o LM" in nothing.stderr


def test_counting_one_order_can_be_interrupted() -> None:
    words = np.random.default_rng(1).integers(3, 200_000, 3_000_000, dtype=np.uint32)
    words[:199_997] = np.arange(3, 200_000)
    tree = _core.NgramTree(words, np.array([0, len(words)]), n_words=200_000, thresholds=[0, 0])
    tree.add_level()
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.02)
        with pytest.raises(KeyboardInterrupt):
            tree.add_level()
    finally:
        signal.signal(signal.SIGALRM, before)
    assert len(tree.count_ngrams()) == 1, "the order was not finished first"
