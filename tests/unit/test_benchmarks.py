"""Every benchmark that can be run answers --help, and refuses input that does not exist, in one line."""

from __future__ import annotations

import runpy
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__main__")
    for path in ROOT.glob("benchmarks/**/*.py")
    if '__name__ == "__main__"' in path.read_text(encoding="utf-8")
)
NEED_TORCH = {"benchmarks.align.neural.gpu", "benchmarks.encoder.gpu"}
# The arguments of benchmarks that read something, all of which is missing.
MISSING = {
    "align.aligners": "NO",
    "align.calibration": "NO",
    "align.criteria": "NO",
    "align.fertility": "NO",
    "align.filtering": "NO NO",
    "align.neural": "pack NO -o out",
    "align.priors": "NO",
    "align.published": "NO -o out",
    "block.cost": "NO",
    "classes.exchange": "NO",
    "decode": "NO NO",
    "decode.python_steps": "NO NO NO",
    "decode.remaining_words": "NO NO",
    "decode.stages": "NO NO",
    "extract": "NO NO NO",
    "extract.rules": "NO NO NO",
    "encoder": "unpack NO",
    "lm": "NO NO",
    "next_position": "speed NO NO NO",
    "pack": "NO NO NO",
    "serve": "NO",
    "start": "NO",
    "tuning": "NO out",
    "learn.worker": "NO a 1 1 1",
    "links.tables": "NO NO",
    "order": "NO",
    "order.cost": "NO NO NO",
    "orientation.choose": "NO NO NO NO NO NO",
    "orientation.cost": "NO NO NO",
    "processors.wider": "NO NO",
    "raw_text.round_trip": "NO=en",
    "serve.lengths": "NO",
}


def run(module: str, words: list[str], monkeypatch: pytest.MonkeyPatch) -> object:
    """Run a module as `python -m` does, in this process; its exit status or message."""
    if module in NEED_TORCH and find_spec("torch") is None:
        pytest.skip("PyTorch is not installed")
    monkeypatch.setattr(sys, "argv", [module, *words])
    monkeypatch.syspath_prepend(str(ROOT))
    with pytest.raises(SystemExit) as end:
        runpy.run_module(module, run_name="__main__", alter_sys=False)
    return end.value.code


@pytest.mark.filterwarnings("ignore:.*found in sys.modules:RuntimeWarning")
@pytest.mark.parametrize("module", MODULES)
def test_help(module: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(module, ["--help"], monkeypatch) in (0, None)
    assert capsys.readouterr().out.startswith("usage: ")


@pytest.mark.filterwarnings("ignore:.*found in sys.modules:RuntimeWarning")
@pytest.mark.parametrize("module", MISSING)
def test_missing_input(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    said = run(f"benchmarks.{module}", MISSING[module].split(), monkeypatch)
    assert said == "NO: no such file or folder"
    assert capsys.readouterr().out == "" and not list(tmp_path.iterdir())


def test_published_error_rates_beside_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks.align.published import print_comparison

    for n_pairs, rate in ((100, 40.0), (2000, 37.44)):
        cell = f'{{"task": "ja-en", "pairs": {n_pairs}, "aligner": "hmm", "aer": {rate}}}'
        (tmp_path / f"{n_pairs}.json").write_text(cell)
    print_comparison(tmp_path)
    head, _, *rows = capsys.readouterr().out.splitlines()
    assert head.startswith("| gold set | `hmm` here (pairs) | fast_align |")
    assert all(row.count("|") == head.count("|") for row in rows) and len(rows) == 5
    assert next(row for row in rows if "ja-en" in row).startswith("| ja-en | 37.4 (2,000) | 51.1 |")
