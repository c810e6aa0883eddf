"""Numbers of options are finite and within what the core takes, wherever they come from."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import pytest

from hyperbaton.base.errors import OptionError
from hyperbaton.base.forms import Limited, form_fault
from hyperbaton.base.options import LARGEST, check_options, from_mapping, option, parse_settings
from hyperbaton.decode import Decoding
from hyperbaton.lm import Estimation
from hyperbaton.run.keys import KeyTable


@dataclass
class Numbers:
    whole: int = option(1, "a number")
    real: float = option(1.0, "a number")
    limited: int | None = option(None, "a number", minimum=1, maximum=2**40)


@pytest.mark.parametrize(
    ("values", "what"),
    [
        ({"whole": 2**31}, "whole must be at most 2147483647, not 2147483648"),
        ({"whole": -(2**63)}, "whole must be at least -2147483647, not -9223372036854775808"),
        ({"whole": 10**5000}, "whole must be at most 2147483647, not a number of more than 40 digits"),
        ({"whole": True}, "whole must be a whole number, not True"),
        ({"real": math.inf}, "real must be a finite number, not inf"),
        ({"real": math.nan}, "real must be a finite number, not nan"),
        ({"real": 10**400}, "real must be a finite number, not inf"),
        ({"limited": 2**40 + 1}, "limited must be at most 1099511627776, not 1099511627777"),
    ],
)
def test_numbers_out_of_range(values: dict[str, Any], what: str) -> None:
    with pytest.raises(OptionError, match=f"^{what}$"):
        from_mapping(Numbers, values)
    with pytest.raises(OptionError, match=f"^{what}$"):
        check_options(Numbers(**values))
    with pytest.raises(OptionError, match=f"^a.toml: key 't.{what.replace(' ', chr(39) + ': ', 1)}$"):
        KeyTable("a.toml", "t", values).options(Numbers)


def test_numbers_within_range() -> None:
    numbers = from_mapping(Numbers, {"whole": LARGEST, "real": 3, "limited": 2**40})
    assert numbers == Numbers(LARGEST, 3.0, 2**40)
    assert parse_settings(Numbers, ["whole=-5", "real=1e300"]) == Numbers(-5, 1e300)


def test_numbers_too_large_for_the_core() -> None:
    with pytest.raises(OptionError, match="stack must be at most 2147483647"):
        check_options(Decoding(stack=10**20))
    with pytest.raises(OptionError, match="prune must be at most 5 whole numbers"):
        Estimation(prune=f"0 {2**70}")


@pytest.mark.parametrize(
    ("value", "form", "demand"),
    [
        (True, Limited(int), "must be a whole number, not True"),
        (10**50, Limited(str), "must be text, not a number of more than 40 digits"),
        ("c", Limited(str, ["a", "b"]), "must be one of a, b, not 'c'"),
        ([], Limited(dict), "must be a table, not []"),
        ({"x": [1, 0]}, {"x": [Limited(int, minimum=1)]}, "x.1 must be at least 1, not 0"),
    ],
)
def test_one_function_checks_options_and_stored_data(value: object, form: object, demand: str) -> None:
    fault = form_fault(value, form)
    assert fault is not None
    assert fault.demand == demand
