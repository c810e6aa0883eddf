"""Language models against lmplz and KenLM's query (tests/golden/lm/README.md says how the files were made)."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from hyperbaton.corpus import Text
from hyperbaton.lm import LanguageModel


@pytest.fixture(scope="module", params=[3, 5])
def order(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.mark.parametrize("memory", ["4G", "50K"])
def test_estimates_are_those_of_lmplz_to_the_last_digit(golden: Path, order: int, memory: str) -> None:
    text = Text.read(golden / "moses" / "train.tgt")
    model = LanguageModel.estimate(text, order, discount_fallback=True, memory=memory)
    wanted = gzip.decompress((golden / "lm" / f"lm{order}.arpa.gz").read_bytes())
    assert sorted(b"".join(model.arpa_pieces()).split(b"\n")) == sorted(wanted.split(b"\n"))


def test_scores_are_those_of_kenlm(golden: Path, order: int, tmp_path: Path) -> None:
    LanguageModel.read_arpa(golden / "lm" / f"lm{order}.arpa.gz").save(tmp_path / "lm")
    model = LanguageModel.load(tmp_path / "lm")
    test = Text.read(golden / "moses" / "test.tgt")
    lines = (golden / "lm" / f"lm{order}.sentence-log10.txt").read_text().splitlines()
    wanted = [float(line.split()[1]) for line in lines if line.startswith("Total:")]
    np.testing.assert_allclose(model.score(test) / np.log(10), wanted, atol=2e-5)

    numbers = [line.split("\t")[1] for line in (golden / "lm" / f"lm{order}.perplexity.txt").read_text().splitlines()]
    perplexity = model.perplexity(test)
    assert [perplexity.including_unknown, perplexity.excluding_unknown] == pytest.approx(
        [float(n) for n in numbers[:2]], rel=1e-6
    )
    assert [perplexity.n_unknown, perplexity.n_tokens] == [int(n) for n in numbers[2:4]]
    assert model.quantized(8).perplexity(test).including_unknown == pytest.approx(perplexity.including_unknown, rel=0.01)
