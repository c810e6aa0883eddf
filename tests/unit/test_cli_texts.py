"""`clean` and `tokenize`: where they write, and when they are silent."""

from __future__ import annotations

from pathlib import Path

from tests.program import hyperbaton


def test_tokenize_writes_a_file(tmp_path: Path) -> None:
    (tmp_path / "raw").write_text("it  works\n\n", encoding="utf-8")
    done = hyperbaton("tokenize", "none", tmp_path / "raw", "-o", tmp_path / "tokens")
    assert (done.returncode, done.stdout) == (0, "") and done.stderr == f"{tmp_path / 'tokens'}: 2 lines\n"
    assert (tmp_path / "tokens").read_text(encoding="utf-8") == "it works\n\n"
    assert hyperbaton("tokenize", "none", tmp_path / "raw", "-o", tmp_path / "again", "--quiet").stderr == ""
    assert hyperbaton("tokenize", "none", text="it  works\n").stdout == "it works\n"
    assert hyperbaton("tokenize", "none", tmp_path / "raw", "-o", tmp_path / "raw").returncode == 1


def test_clean_can_be_quiet(tmp_path: Path) -> None:
    """A ratio that drops many pairs is warned of, unless --quiet is given."""
    (tmp_path / "raw.zh").write_text("a b c d e f g h\n" * 50 + "a b\n" * 50, encoding="utf-8")
    (tmp_path / "raw.en").write_text("a\n" * 50 + "a b\n" * 50, encoding="utf-8")
    command = ["clean", tmp_path / "raw.zh", tmp_path / "raw.en", "-o", tmp_path / "new", "--ratio", 3]
    warned, silent = hyperbaton(*command), hyperbaton(*command, "-q")
    assert warned.returncode == silent.returncode == 0
    assert "warning: --ratio" in warned.stderr and silent.stderr == "" and warned.stdout == silent.stdout
