"""The elementary functions of the core: accurate, and used instead of those of a library."""

from __future__ import annotations

import math
import re
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from hyperbaton.base import numeric

ROOT = Path(__file__).parents[2]


def ulps(value: float, true: Decimal) -> float:
    """How many units in the last place a value is off."""
    with localcontext(prec=60):
        return float(abs(Decimal(value) - true) / Decimal(math.ulp(float(true))))


@settings(deadline=None, max_examples=500)
@given(st.one_of(st.floats(-745, 709), st.floats(-1, 1), st.floats(-1e-9, 1e-9)))
def test_exp_is_within_one_unit(x: float) -> None:
    with localcontext(prec=60):
        true = Decimal(x).exp()
    # Below the normal numbers a result is rounded a second time.
    assert ulps(float(numeric.exp(x)), true) <= (0.6 if true > Decimal(2) ** -1022 else 1)


POSITIVE = st.one_of(st.floats(5e-324, 1.7e308), st.floats(0.5, 2), st.floats(1 - 1e-9, 1 + 1e-9))


@settings(deadline=None, max_examples=500)
@given(POSITIVE)
def test_log_is_within_one_unit(x: float) -> None:
    with localcontext(prec=60):
        true = Decimal(x).ln()
    assert numeric.log(x) == 0 if x == 1 else ulps(float(numeric.log(x)), true) <= 1


@settings(deadline=None, max_examples=500)
@given(st.one_of(st.floats(-0.999999, 1e6), st.floats(-0.5, 0.5), st.floats(-1e-9, 1e-9)))
def test_log1p_is_within_one_and_a_half_units(x: float) -> None:
    with localcontext(prec=400):
        true = (1 + Decimal(x)).ln()
    assert numeric.log1p(x) == 0 if x == 0 else abs(x) < 1e-300 or ulps(float(numeric.log1p(x)), true) <= 1.5


def test_edges() -> None:
    inf = math.inf
    assert numeric.exp([-inf, -800.0, 0.0, 710.0, inf]).tolist() == [0, 0, 1, inf, inf]
    assert numeric.log([0.0, 1.0, inf]).tolist() == [-inf, 0, inf]
    assert np.isnan(numeric.log([-1.0, math.nan])).all() and np.isnan(numeric.exp(math.nan))
    assert numeric.log1p([-1.0, 0.0, inf]).tolist() == [-inf, 0, inf]
    assert numeric.power([0.0, 2.0, 3.0], 3).tolist() == [0, 8, 27] and numeric.power(0.0, 0.5) == 0
    assert numeric.power(2.0, 0.5) == pytest.approx(math.sqrt(2), rel=1e-15)
    assert numeric.exp(np.zeros((2, 0, 3))).shape == (2, 0, 3)


@given(st.integers(0, 4), st.integers(0, 4), st.integers(1, 4), st.integers(0, 10**6))
def test_products_are_sums_in_order(n: int, inner: int, width: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    left, right = rng.normal(size=(n, inner)), rng.normal(size=(inner, width))
    product = numeric.product(left, right)
    assert product.shape == (n, width)
    for i, j in np.ndindex(n, width):
        total = 0.0
        for k in range(inner):
            total += float(left[i, k]) * float(right[k, j])
        assert product[i, j] == total
    assert np.array_equal(numeric.product(left, right[:, 0]), product[:, 0])


def test_normal_numbers_have_the_right_moments() -> None:
    values = numeric.normal(np.random.default_rng(1), (500, 40))
    assert values.shape == (500, 40)
    assert abs(values.mean()) < 0.03 and abs(values.std() - 1) < 0.03 and abs((values**4).mean() - 3) < 0.15


@given(st.lists(st.dictionaries(st.integers(0, 4), st.floats(-9, 9)), max_size=6), st.lists(st.floats(-9, 9), min_size=5))
def test_sparse_products_add_terms_in_order(rows: list[dict[int, float]], vector: list[float]) -> None:
    matrix = csr_array(
        (
            np.array([value for row in rows for value in row.values()]),
            np.array([column for row in rows for column in row], np.int64),
            np.cumsum([0, *map(len, rows)]),
        ),
        shape=(len(rows), len(vector)),
    )
    wanted = []
    for row in rows:
        wanted.append(0.0)
        for column, value in row.items():
            wanted[-1] += value * vector[column]
    assert numeric.sparse_product(matrix, np.array(vector)).tolist() == wanted


def test_softmax_of_large_scores() -> None:
    logprobs = numeric.log_softmax(np.array([[1000.0, 1000.0], [0.0, -1000.0]]))
    assert logprobs.tolist() == [[-float(numeric.log(2.0))] * 2, [0.0, -1000.0]]
    assert float(Fraction(numeric.LOG_2)) == numeric.log(2.0)


# log10 of estimated probabilities is the C library's, as it is in lmplz.
LIBRARY = {"core/lm/kneser_ney.cc"}


def test_no_function_of_a_library_enters_results() -> None:
    """Their last bits depend on the processor: docs/design/same-everywhere.md."""
    of_cpp = re.compile(
        r"std::(exp|exp2|expm1|log|log2|log10|log1p|pow|sin|cos|tanh|erf|lgamma|cbrt|hypot|fma)f?\b|long double"
    )
    of_numpy = re.compile(
        r"np\.(exp|log|log2|log10|log1p|power|logaddexp|hypot|dot|matmul|einsum|linalg\.norm)\(|math\.(exp|log)|[\w)\]] @ "
    )
    calls = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for folder, pattern, pictures in (("core", of_cpp, "-"), ("bindings", of_cpp, "-"), ("src", of_numpy, "report"))
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in (".cc", ".hh", ".py") and str(path.relative_to(ROOT)) not in LIBRARY
        if pictures not in path.parts and not re.search(r"^import torch$", text := path.read_text("utf-8"), re.MULTILINE)
        for line in text.splitlines()
        if pattern.search(line) and not line.lstrip().startswith((">>>", "#", "//"))
    ]
    assert calls == []
