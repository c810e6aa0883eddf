"""A seeded share of the bad inputs of benchmarks/fuzz/bad_inputs.py: one line, the right status, nothing left behind."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from benchmarks.fuzz.bad_inputs import cases, check, prepare

from hyperbaton.cli import verbs

N_CASES = 150


def test_every_verb_has_cases() -> None:
    every = cases()
    commands = [case.command for case in every]
    assert len(every) == len({(case.command, *case.files.values()) for case in every}) >= 300
    for verb in verbs():
        assert any(command.startswith(f"{verb} ") for command in commands), verb


@pytest.mark.slow
def test_bad_inputs(tmp_path: Path) -> None:
    prepare(tmp_path)
    chosen = random.Random(1).sample(cases(), N_CASES)
    faults = {case.command: fault for case in chosen if (fault := check(case, tmp_path))}
    assert faults == {}
